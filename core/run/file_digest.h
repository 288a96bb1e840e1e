/* Looks at a path of this machine, by content. The digests of contents are remembered, by all that stat() says of a file: in memory, and in
 * a file between processes. Threads: any. */
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

/* From now on digests are also taken from this file. The first call counts. What is no such file is not believed. */
void file_digests_keep(const char *path);
void file_digests_save(void); /* what was hashed since; a file that cannot be written is a debug line: it is hashed again next time */
