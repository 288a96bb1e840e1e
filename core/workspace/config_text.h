/* The text of the store's config: the file a person edits, and a copy in the store of its last text without a mistake.
 *
 * The copy tells a truncated file (a full disk under an editor, a power cut) from one that a person shortened. A file is truncated if it is missing, or
 * if it is the copy's beginning and ends within a line or before the version that every config has. The copy is then read instead; only fsck writes it
 * back, since an editor may be writing the file at that moment. Nor does a command edit what is left of it. */
#pragma once

#include "cache/store/store.h"

struct config_text {
        struct blob text; /* the text in force; owns its bytes */
        bool cut;         /* the file is only the first `left` bytes of it */
        bool gone;        /* there is no file; then it is cut or blank, too */
        bool blank;       /* no version in it and no copy: the solvers are lost */
        size_t left;
};
void config_text_done(struct config_text *t);
#define cleanup_config_text cleanup(config_text_done)

int config_text_read(struct store *s, const char *path, struct config_text *ret);
/* Stores the copy of a text that has no mistake, unless it is cut, blank or stored already. `at_once`: as in struct store_update. */
int config_text_keep(struct store *s, const struct config_text *t, bool at_once);
