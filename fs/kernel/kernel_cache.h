/* Records what the kernel was told of files and folders, as far as later answers depend on it. Threads: any.
 *
 * Sizes. The kernel learns a file's size at lookup, long before a value that is not worked out yet has a size. So a computed file that
 * is not ready has a placeholder size (not 0: GNU tar would not even open it) and an attribute timeout of 0. open() waits until the value is
 * there; just before its reply the kernel is told to forget the attributes, so that whatever comes next (fstat, mmap, read, exec) asks again and
 * gets the real size. From then on attributes and pages may be kept for good. Whether a placeholder was ever given out for a file is remembered in
 * a bitmap of hashes, so that opening what was ready all along costs no notification; a collision costs one that was not needed. */
#pragma once

#include <fuse_lowlevel.h>

#include "cache/base/util.h"

struct kernel_cache;

int kernel_cache_new(struct kernel_cache **ret);
struct kernel_cache *kernel_cache_free(struct kernel_cache *k);

void kernel_cache_placeholder(struct kernel_cache *k, uint64_t ino); /* its size was given as one */
bool kernel_cache_had_placeholder(struct kernel_cache *k, uint64_t ino);

/* Listings. The kernel may keep what is sent of one whenever nothing of another generation was sent since its pages were last taken away: two
 * readers may list at once, and the reply to the slower comes after the pages went. */
bool kernel_cache_listing(struct kernel_cache *k, uint64_t ino, uint64_t generation); /* false: take the pages away now */
void kernel_cache_listing_sent(struct kernel_cache *k, uint64_t ino, uint64_t generation, bool first);

/* True if the pages that the kernel keeps of a file carry this token; sets the token in any case. */
bool kernel_cache_pages(struct kernel_cache *k, uint64_t ino, uint64_t token);

/* Tells the kernel to forget the placeholder. A reader that does not look at the size first (sendfile and splice, as in some cats) would
 * still get no more than that: the last page (n bytes at offset), given unasked, makes the file as long as it is.
 *
 * Once for a file, before anybody's open of it is answered, and no open is answered meanwhile. A second time would do harm: it makes the
 * kernel throw away the size that another reader is asking for just now, who would then read on to the placeholder's end, in zeros; and the
 * page could be locked by a read that waits for this very thread. */
void kernel_cache_tell_size(struct kernel_cache *k, struct fuse_session *fuse, fuse_ino_t ino, off_t offset, void *page,
                            size_t n);

/* The same of a file whose value is another one now, pages included. Between kernel_cache_telling() and kernel_cache_told(), which keep other opens waiting:
 * the next open must not be answered before the old pages are gone. The file must not be open anywhere, or a read that holds one of its pages
 * could wait for the opens that wait here. */
void kernel_cache_telling(struct kernel_cache *k);
void kernel_cache_tell_value(struct fuse_session *fuse, fuse_ino_t ino, off_t offset, void *page, size_t n);
void kernel_cache_told(struct kernel_cache *k);
