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
