#include "core/workspace/config_text.h"

#include "core/workspace/tables.h"
#include "core/recipe/recipe.h"

#define COPY_KEY "config"

void config_text_done(struct config_text *t)
{
        blob_done(&t->text);
}

static bool has_version(struct slice text)
{
        return memmem(text.data, text.size, "version", 7) != NULL;
}

int config_text_read(struct store *s, const char *path, struct config_text *ret)
{
        cleanup_blob struct blob copy = {0};
        struct slice text;
        int r;

        *ret = (struct config_text){0};
        r = read_file(path, CONFIG_SIZE_MAX, &ret->text);
        ret->gone = r == -ENOENT;
        if (r == 0 || ret->gone)
                r = store_fetch(s, TABLE_META, slice_string(COPY_KEY), &copy);
        if (r < 0 && r != -ENOENT) {
                config_text_done(ret);
                return r;
        }
        text = SLICE(ret->text.data ?: "", ret->text.size); /* there may be no file */
        ret->left = text.size;
        ret->cut = r == 0 && text.size < copy.size && memcmp(text.data, copy.data, text.size) == 0 &&
                   (!has_version(text) || ((const char *)text.data)[text.size - 1] != '\n');
        ret->blank = r == -ENOENT && !has_version(text);
        if (ret->cut) {
                blob_done(&ret->text);
                ret->text = copy;
                copy = (struct blob){0};
        }
        return 0;
}

int config_text_keep(struct store *s, const struct config_text *t, bool at_once)
{
        struct store_update u = {.store = s, .at_once = at_once};
        cleanup_blob struct blob copy = {0};
        struct slice text = SLICE(t->text.data, t->text.size);
        int r;

        if (t->cut || t->blank || store_read_only(s))
                return 0;
        r = store_fetch(s, TABLE_META, slice_string(COPY_KEY), &copy);
        if (r == 0 && same_bytes(copy, text))
                return 0;
        u.r = r == -ENOENT ? 0 : MIN(r, 0);
        while (store_update_begins(&u))
                u.r = store_put(u.txn, TABLE_META, slice_string(COPY_KEY), text);
        return u.r;
}
