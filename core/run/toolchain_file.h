/* A file that remembers host_toolchain() between processes: asking every compiler for its version takes longer than answering what is known.
 * It holds for as long as the tools' files are the same (host_tools_moment()), is never kept where one of the tools is a script, which
 * may call anything, and host_toolchain_now(), which builds go by, asks once in each process all the same. */
#pragma once

/* The first call counts; before the first host_toolchain(). */
void host_toolchain_keep(const char *path);
