#include "core/git/oid.h"

#include <errno.h>
#include <nettle/base16.h>

const char *oid_text(const git_oid *oid)
{
        static _Thread_local char text[GIT_OID_HEXSZ + 1];

        return oid_print(text, sizeof(text), oid);
}

char *oid_print(char *ret, size_t size, const git_oid *oid)
{
        char text[GIT_OID_HEXSZ + 1] = "";

        base16_encode_update(text, GIT_OID_RAWSZ, oid->id);
        snprintf(ret, size, "%s", text);
        return ret;
}

int oid_parse_prefix(const char *hex, size_t n, git_oid *ret)
{
        struct base16_decode_ctx context;
        char digits[GIT_OID_HEXSZ + 1] = "0000000000000000000000000000000000000000";
        size_t size = GIT_OID_RAWSZ;

        if (strspn(hex, "0123456789abcdefABCDEF") < n)
                return -EINVAL;
        memcpy(digits, hex, n);
        base16_decode_init(&context);
        return base16_decode_update(&context, &size, ret->id, GIT_OID_HEXSZ, digits) ? 0 : -EINVAL;
}

/* Object ids are hashes themselves. Returns the entry, or its free place. */
static git_oid *oid_set_find(const struct oid_set *s, const git_oid *oid)
{
        size_t i;

        memcpy(&i, oid->id, sizeof(i));
        for (i &= s->room - 1; !oid_is_zero(&s->list[i]) && !oid_equal(&s->list[i], oid); i = (i + 1) & (s->room - 1))
                ;
        return &s->list[i];
}

static void oid_set_grow(struct oid_set *s)
{
        struct oid_set old = *s;

        s->room = old.room ? 2 * old.room : 1024;
        s->list = allocate(s->room, sizeof(*s->list));
        for (size_t i = 0; i < old.room; i++)
                if (!oid_is_zero(&old.list[i]))
                        *oid_set_find(s, &old.list[i]) = old.list[i];
        free(old.list);
}

bool oid_set_add(struct oid_set *s, const git_oid *oid)
{
        git_oid *e;

        if (2 * s->n >= s->room)
                oid_set_grow(s);
        e = oid_set_find(s, oid);
        if (oid_equal(e, oid))
                return false;
        *e = *oid;
        s->n++;
        return true;
}

void oid_set_done(struct oid_set *s)
{
        free(s->list);
}
