/* Looks at a path of this machine, by content. Digests of contents are remembered, keyed by all that stat() says of a file: in memory, and between
 * processes in a file. Threads: any. */
#pragma once

#include "cache/base/hash.h"

enum file_kind {
        FILE_ABSENT,
        FILE_CONTENT,
        FILE_FOLDER,
        FILE_OTHER, /* a device, or it cannot be read */
        N_FILE_KINDS
};

struct file_look {
        enum file_kind kind;
        struct digest digest; /* FILE_CONTENT: of the bytes; else zero */
        int64_t changed_ns;   /* its ctime, since 1970 */
};
void file_look(const char *path, struct file_look *ret);
/* True for the time of a change that was stamped by a clock ahead of ours: ours was set back since, or a file server's is ahead by more than five
 * minutes. Such a time says nothing about when the change was. */
bool file_time_is_future(int64_t ns);

/* From now on remembered digests are read from this file, too. Only the first call counts. A damaged file is ignored. */
void file_digests_keep(const char *path);
void file_digests_save(void); /* writes the new digests; a file that cannot be written is a debug line: its content is hashed again next time */
