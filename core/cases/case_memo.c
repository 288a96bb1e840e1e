/* A table of slots: each digest has one, where a case takes the place of another. */
#include "core/cases/case_memo.h"

#define SLOTS 8192

struct case_memo {
        struct cases *cases;
        struct case_info *slots[SLOTS]; /* refs; by the first bytes of the digest; NULL: empty */
};

struct case_memo *case_memo_new(struct cases *c)
{
        struct case_memo *m = allocate(1, sizeof(*m));

        m->cases = c;
        return m;
}

struct case_memo *case_memo_free(struct case_memo *m)
{
        if (!m)
                return NULL;
        for (size_t i = 0; i < SLOTS; i++)
                case_info_unref(m->slots[i]);
        free(m);
        return NULL;
}

int case_memo_find(struct case_memo *m, const struct digest *sha256, struct case_info **ret)
{
        struct case_info **slot = &m->slots[key_get_u32(sha256->bytes) % SLOTS], *info;
        int r;

        if (!*slot || !digest_equal(&(*slot)->sha256, sha256)) {
                r = cases_find_digest(m->cases, sha256, &info);
                if (r < 0)
                        return r;
                case_info_unref(*slot);
                *slot = info;
        }
        *ret = case_info_ref(*slot);
        return 0;
}
