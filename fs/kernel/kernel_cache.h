/* What the kernel has cached of files and folders, as far as later answers depend on it. Threads: any.
 *
 * Sizes. The kernel learns a file's size at lookup, before a value that is not computed yet has a size. So a computed file that is not ready has a
 * placeholder size (not 0: GNU tar would not even open it) and an attribute timeout of 0. open() waits until the value is there. Just before its
 * reply it invalidates the attributes, so that the next fstat, mmap, read or exec asks again and gets the real size. From then on the kernel may keep
 * attributes and pages for good. A bitmap of hashes records the files that ever had a placeholder, so opening any other file costs no
 * notification; a collision costs an unneeded one. */
#pragma once

#include <fuse_lowlevel.h>

#include "cache/base/util.h"

struct kernel_cache;

struct kernel_cache *kernel_cache_new(void);
void kernel_cache_free(struct kernel_cache *k);

/* Call it when the kernel gets a size that may not be that of the next open. The kernel pads its pages with NULs up to this size, so from now on no
 * token is known of them (kernel_cache_swap_token()). */
void kernel_cache_placeholder(struct kernel_cache *k, uint64_t ino);
bool kernel_cache_had_placeholder(struct kernel_cache *k, uint64_t ino);

/* True if the listing that the kernel may have cached of a folder is known to be of this generation. False: the caller must drop its pages now. (They
 * may mix generations: of two readers that list at once, the slower one may get its reply after the drop.) */
bool kernel_cache_listing(struct kernel_cache *k, uint64_t ino, uint64_t generation);
/* Call it for each part of a listing that is sent. `first`: the part is the listing's first. */
void kernel_cache_listing_sent(struct kernel_cache *k, uint64_t ino, uint64_t generation, bool first);

/* True if the pages that the kernel keeps of a file carry this token (a hash of their value); sets the token in any case. */
bool kernel_cache_swap_token(struct kernel_cache *k, uint64_t ino, uint64_t token);

/* Makes the kernel forget the placeholder. A reader that does not ask for the size first (sendfile and splice, as in some cats) would
 * still get no more than the placeholder's size. So the kernel also gets the last page (n bytes at offset), which makes the file long enough.
 *
 * Call it at each open of the file, before its answer. Only the first call for a file tells the kernel; later ones wait for that. (Telling it twice would
 * do harm: the kernel would drop the size that another reader is just asking for, and that reader would read zeros to the placeholder's end. Also, a read
 * that waits for this very thread could hold the page's lock.) */
void kernel_cache_tell_size(struct kernel_cache *k, struct fuse_session *fuse, fuse_ino_t ino, off_t offset, void *page,
                            size_t n);

/* The same for a file whose value has changed: also drops its pages. Call it between kernel_cache_telling() and kernel_cache_told(), which make
 * other opens wait: no open may be answered before the old pages are gone. The file must not be open anywhere: a read that holds one of its pages
 * could wait for those opens. */
void kernel_cache_telling(struct kernel_cache *k);
void kernel_cache_tell_value(struct fuse_session *fuse, fuse_ino_t ino, off_t offset, void *page, size_t n);
void kernel_cache_told(struct kernel_cache *k);
/* The kernel has forgotten a file. Call it between kernel_cache_telling() and kernel_cache_told(), too, and only if the file is not open. */
void kernel_cache_forget(struct kernel_cache *k, fuse_ino_t ino);
