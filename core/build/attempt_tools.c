/* The compilers and build tools of an attempt: they are the key's, and stay what they are while it lasts. */
#include "core/build/attempt.h"

#include "core/run/host.h"
#include "core/build/build_tools.h"

int attempt_tools_changed(void)
{
        return errorf(-EIO, "the compilers or build tools of this machine were changed since this build was asked for: nothing "
                            "is kept of it; ask "
                            "again");
}

/* ccache looks at the compiler's driver only. Other build tools are none of its business: an object stays known when one of them comes or goes. */
static int name_space(struct attempt *a)
{
        char hex[DIGEST_HEX_SIZE];
        struct digest d;
        struct hasher *h = hasher_new();
        int r;

        host_compilers(&d);
        hasher_add(h, d.bytes, DIGEST_SIZE);
        r = build_hash_dependencies(h, a->request->recipe, true);
        hasher_finish(h, &d);
        digest_hex(&d, hex);
        snprintf(a->namespace, sizeof(a->namespace), "CCACHE_NAMESPACE=%s", hex);
        return r;
}

/* The toolchain may have been upgraded since the key was made: then no build of that key can be made any more. */
static int check_key(const struct attempt *a)
{
        const struct build_request *q = a->request;
        struct digest source, key;
        int r = q->key ? history_source(q->history, q->commit, q->recipe->sources, &source) : 0;

        if (r < 0 || !q->key)
                return r;
        build_source_key(q->recipe, a->toolchain, &source, &key);
        return digest_equal(&key, q->key) ? 0 : attempt_tools_changed();
}

static int check_given(const struct attempt *a)
{
        return strcmp(a->given->toolchain, a->toolchain) == 0
                       ? 0
                       : errorf(-ESTALE, "the compilers or build tools are not the ones that this build was asked for with");
}

int attempt_prepare_tools(struct attempt *a)
{
        const struct recipe *recipe = a->request->recipe;
        int r;

        host_tools_moment(&a->tools); /* before all that is found out about them */
        r = build_toolchain(recipe, true, a->toolchain);
        if (r == 0)
                r = a->given ? check_given(a) : check_key(a);
        if (r == 0)
                r = name_space(a);
        return r == 0 ? build_tools_shim(a->shim) : r;
}

int attempt_check_tools(struct attempt *a)
{
        struct digest now;
        char toolchain[DIGEST_HEX_SIZE];
        int r;

        host_tools_moment(&now);
        if (digest_equal(&now, &a->tools))
                return 0;
        r = build_toolchain(a->request->recipe, true, toolchain);
        if (r < 0)
                return r;
        a->tools = now;
        return strcmp(toolchain, a->toolchain) == 0 ? 1 : attempt_tools_changed();
}
