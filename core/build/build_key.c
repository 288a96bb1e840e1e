/* Build keys of one commit or of all: a digest of everything that a build depends on. */
#include <sys/utsname.h>

#include "core/build/build.h"
#include "core/build/era.h"
#include "core/run/host.h"

/* A released program is not made here: its key has neither sources nor compilers. */
static void key_of(const struct recipe *r, const char *machine, const struct digest *source, struct digest *ret)
{
        struct digest recipe;
        struct hasher *h = hasher_new();

        recipe_build_digest(r, &recipe);
        hasher_add(h, recipe.bytes, DIGEST_SIZE);
        if (!r->file) {
                hasher_string(h, machine);
                hasher_add(h, source->bytes, DIGEST_SIZE);
        }
        hasher_finish(h, ret);
}

/* The machine's part of the key. A local build has the kind of processor only: the build's record lists the files that it used (used.h). A cluster's
 * build has the workers' toolchain. Recipes with dependencies are not built on clusters. */
static int machine_of(const struct recipe *recipe, char ret[DIGEST_HEX_SIZE])
{
        struct recipe_builder *builder = recipe->builder;
        struct utsname name;

        if (builder && !recipe->file)
                return builder->toolchain(builder, ret);
        uname(&name);
        snprintf(ret, DIGEST_HEX_SIZE, "here: %.28s%.28s", name.machine, host_pages().s);
        return 0;
}

int build_key(struct history *h, uint32_t commit, const struct recipe *r, struct digest *ret)
{
        struct digest source = {0};
        char machine[DIGEST_HEX_SIZE];
        int e = era_of(h, r, commit, &r);

        if (e == 0)
                e = machine_of(r, machine);
        if (e == 0 && !r->file)
                e = history_source(h, commit, r->sources, &source);
        if (e == 0)
                key_of(r, machine, &source, ret);
        return e;
}

/* The keys of all commits under one era. */
static int keys_of_era(struct history *h, const struct recipe *r, struct digest **ret, uint32_t *ret_n)
{
        char machine[DIGEST_HEX_SIZE];
        int e = machine_of(r, machine);

        if (e == 0)
                e = history_sources(h, r->sources, ret, ret_n);
        for (uint32_t i = 0; e == 0 && i < *ret_n; i++)
                if (r->file || !digest_is_zero(&(*ret)[i]))
                        key_of(r, machine, &(*ret)[i], &(*ret)[i]);
        return e;
}

int era_digests(struct history *h, const struct recipe *r, era_digests_fn of_era, struct digest **ret, uint32_t *ret_n)
{
        cleanup_free struct digest *list = NULL;
        cleanup_free uint32_t *eras = NULL;
        uint32_t n = 0;
        int e = of_era(h, r, &list, &n);

        if (e == 0 && r->n_eras > 0)
                e = eras_of_all(h, r, n, &eras);
        for (uint32_t i = 0; e == 0 && i < r->n_eras; i++) {
                cleanup_free struct digest *own = NULL;
                uint32_t n_own = 0;

                e = of_era(h, r->eras[i], &own, &n_own);
                for (uint32_t k = 0; e == 0 && k < MIN(n, n_own); k++)
                        if (eras[k] == i + 1)
                                list[k] = own[k];
        }
        if (e < 0)
                return e;
        *ret = steal_pointer(list);
        *ret_n = n;
        return 0;
}

int build_keys(struct history *h, const struct recipe *r, struct digest **ret, uint32_t *ret_n)
{
        return era_digests(h, r, keys_of_era, ret, ret_n);
}
