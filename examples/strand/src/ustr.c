#include "ustr.h"

const struct ustr *ustr_get(struct ustr_table *t, struct arena *a, const uint32_t *c, size_t len)
{
        uint64_t h = len;
        struct ustr *s;

        for (size_t i = 0; i < len; i++)
                h = util_mix(h, c[i]);
        if (t->n >= t->nbuckets) {
                size_t n = t->nbuckets ? 2 * t->nbuckets : 64;
                const struct ustr **b = util_alloc(n * sizeof(*b));

                for (size_t i = 0; i < t->nbuckets; i++) {
                        const struct ustr *p, *next;

                        for (p = t->bucket[i]; p; p = next) {
                                next = p->next;
                                ((struct ustr *)p)->next = b[p->hash & (n - 1)];
                                b[p->hash & (n - 1)] = p;
                        }
                }
                free(t->bucket);
                t->bucket = b;
                t->nbuckets = n;
        }
        for (const struct ustr *p = t->bucket[(uint32_t)h & (t->nbuckets - 1)]; p; p = p->next)
                if (p->hash == (uint32_t)h && p->len == len && (!len || !memcmp(p->c, c, 4 * len)))
                        return p;
        s = arena_alloc(a, sizeof(*s) + 4 * len);
        s->len = len;
        s->hash = h;
        if (len)
                memcpy(s->c, c, 4 * len);
        s->next = t->bucket[s->hash & (t->nbuckets - 1)];
        t->bucket[s->hash & (t->nbuckets - 1)] = s;
        t->n++;
        return s;
}

int64_t ustr_find(const struct ustr *s, const struct ustr *t, int64_t from)
{
        for (; from >= 0 && from <= (int64_t)s->len - t->len; from++)
                if (!t->len || !memcmp(s->c + from, t->c, 4 * (size_t)t->len))
                        return from;
        return -1;
}

void ustr_table_free(struct ustr_table *t)
{
        free(t->bucket);
        memset(t, 0, sizeof(*t));
}

void ustr_print(FILE *f, const struct ustr *s)
{
        putc('"', f);
        for (uint32_t i = 0; i < s->len; i++) {
                uint32_t c = s->c[i];

                if (c == '"')
                        fputs("\"\"", f);
                else if (c == '\\' || c < 0x20 || c > 0x7e)
                        fprintf(f, "\\u{%x}", c);
                else
                        putc((int)c, f);
        }
        putc('"', f);
}
