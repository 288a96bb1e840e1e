/* The text of the store's config: the file a person edits, and a copy in the store of what was last read of it without a mistake.
 *
 * The copy tells a file that was cut off (a full disk under an editor, a power cut) from one that somebody made shorter: it is the copy's
 * beginning, and ends within a line, or before the version that every store's has; or there is no file. Such a one is read from the copy;
 * only fsck writes it back, since an editor may be just writing the file. */
#pragma once

#include "cache/store/store.h"

struct config_text {
        struct blob text; /* what counts; owns its bytes */
        bool cut;         /* the file is only the first `left` bytes of it */
        bool gone;        /* there is no file; cut or blank, too */
        bool blank;       /* there is no version in it and no copy: nothing says which solvers there were */
        size_t left;
};
void config_text_done(struct config_text *t);
#define cleanup_config_text cleanup(config_text_done)

int config_text_read(struct store *s, const char *path, struct config_text *ret);
int config_text_keep(struct store *s,
                     const struct config_text *t); /* one that was read without a mistake; nothing when it is known */
