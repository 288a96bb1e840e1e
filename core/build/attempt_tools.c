/* The compilers and build tools of an attempt: they are the key's, and stay what they are while it lasts. */
#include "core/build/attempt.h"

#include "core/build/build_tools.h"
#include "core/build/dependency.h"
#include "core/build/used.h"
#include "core/run/host.h"

int attempt_tools_changed(void)
{
        return errorf(-EIO, "the compilers or build tools of this machine were changed while this was built: nothing is kept of it; ask again");
}

/* ccache looks at the compiler's driver only. Other build tools are none of its business: an object stays known when one of them comes or goes. */
static int name_space(struct attempt *a)
{
        char hex[DIGEST_HEX_SIZE];
        struct digest d;
        struct hasher *h = hasher_new();
        int r = 0;

        host_compilers(&d);
        hasher_add(h, d.bytes, DIGEST_SIZE);
        for (char *const *p = a->request->recipe->dependencies; r == 0 && *p; p++) {
                r = dependency_digest(*p, &d);
                hasher_add(h, d.bytes, DIGEST_SIZE);
        }
        hasher_finish(h, &d);
        digest_hex(&d, hex);
        snprintf(a->namespace, sizeof(a->namespace), "CCACHE_NAMESPACE=%s", hex);
        return r;
}

static int check_given(struct attempt *a)
{
        host_toolchain(a->toolchain);
        return strcmp(a->given->toolchain, a->toolchain) == 0
                       ? 0
                       : errorf(-ESTALE, "the compilers or build tools are not the ones that this build was asked for with");
}

int attempt_prepare_tools(struct attempt *a)
{
        int r = a->given ? check_given(a) : 0;

        if (r == 0)
                r = name_space(a);
        return r == 0 ? build_tools_shim(a->shim) : r;
}

/* A worker's builds go by all tools that are known by name. */
static int check_toolchain(const struct attempt *a)
{
        char now[DIGEST_HEX_SIZE];

        host_toolchain(now);
        return strcmp(now, a->toolchain) == 0 ? 0 : attempt_tools_changed();
}

int attempt_check_tools(struct attempt *a)
{
        const struct used_request q = {.build = a->request,
                                       .sources = &a->sources.files,
                                       .watched = SLICE(a->watched.data, a->watched.size),
                                       .is_watched = a->is_watched && buffer_error(&a->watched) == 0,
                                       .since_ns = a->began_ns};
        bool has_moved;

        if (a->given)
                return check_toolchain(a);
        blob_done(&a->used);
        used_list_make(&q, &a->used, &has_moved);
        return has_moved;
}
