/* Submodules: their objects are in the repository beside the solver's own, held by refs of ours that the index ignores. */
#include "core/git/gitconfig.h"
#include "core/history/history_internal.h"

/* -- fetching --------------------------------------------------------------------------------------------------- */

struct refs_prefix {
        char s[64];
};

/* The prefix of the branches and tags of the submodule at this path. */
static struct refs_prefix refs_of(const char *path)
{
        struct refs_prefix ret;
        struct digest d;

        digest_of(path, strlen(path), &d);
        snprintf(ret.s, sizeof(ret.s), "refs/submodules/%.16s/", digest_text(&d).s);
        return ret;
}

static int fetch_into(struct history *h, git_repository *git, const char *path, const char *url, int lock, const struct progress *p)
{
        const struct refs_prefix under = refs_of(path);
        int r = history_fetch(h, git, url, under.s, lock, p);

        return r == 0 || r == -ECANCELED ? r : errorf(r == -ENOENT ? -EIO : r, "the submodule %s: %s", path, error_message(r));
}

int history_fetch_submodule(struct history *h, const char *path, const char *url, const struct progress *p)
{
        cleanup_git_repository git_repository *git = NULL;
        cleanup_close int lock = -1;

        return progress_step(p, "fetching a submodule", 0, 0)
            ?: history_lock(h->repos_dir, h->name, p, &lock)
            ?: history_repository(h, &git)
            ?: fetch_into(h, git, path, url, lock, p);
}

bool history_holds(struct history *h, const char *commit)
{
        cleanup_git_repository git_repository *git = NULL;
        cleanup_git_commit git_commit *c = NULL;
        git_oid oid;

        return oid_parse(commit, &oid) == 0 && history_repository(h, &git) == 0 && git_commit_lookup(&c, git, &oid) == 0;
}

/* HEAD, which is not fetched, is the branch main or master. */
int history_submodule_commit(struct history *h, const char *path, const char *name, git_oid *ret)
{
        const char *const places[][2] = {{"tags/", name}, {"heads/", name}, {"heads/", "main"}, {"heads/", "master"}};
        const size_t n = strcmp(name, "HEAD") == 0 ? ARRAY_SIZE(places) : 2;
        const struct refs_prefix under = refs_of(path);
        cleanup_git_repository git_repository *git = NULL;
        int r = history_repository(h, &git);

        for (size_t i = 0; r == 0 && i < n; i++) {
                cleanup_git_reference git_reference *ref = NULL;
                cleanup_git_object git_object *commit = NULL;
                cleanup_free char *full = format_string("%s%s%s", under.s, places[i][0], places[i][1]);

                if (git_reference_lookup(&ref, git, full) == 0 && git_reference_peel(&commit, ref, GIT_OBJECT_COMMIT) == 0) {
                        *ret = *git_object_id(commit);
                        return 0;
                }
        }
        if (r == 0 && (strlen(name) != GIT_OID_HEXSZ || oid_parse(name, ret) < 0))
                r = errorf(-ENOENT, "it has no branch and no tag %s", name);
        return r;
}

int history_submodule_check(const char *base, const char *path, const char *url)
{
        if (history_is_remote(url) || !history_is_remote(base))
                return 0;
        return errorf(-EINVAL, "the submodule %s: .gitmodules names %s, which is no address of another machine; to have it nevertheless, write "
                              "'submodule = %s=%s' into a recipe", path, url, path, url);
}

/* -- listing ------------------------------------------------------------------------------------------------------ */

/* Resolves an address as git does: ./ and ../ are relative to the repository's own address. */
static int resolve_url(const char *base, const char *url, char ret[PATH_SIZE])
{
        const char *between = "/";
        size_t n = strlen(base);

        if (strncmp(url, "./", 2) != 0 && strncmp(url, "../", 3) != 0)
                return snprintf(ret, PATH_SIZE, "%s", url) < PATH_SIZE ? 0 : -ENAMETOOLONG;
        while (n > 0 && base[n - 1] == '/')
                n--;
        for (;; url += 3) {
                while (strncmp(url, "./", 2) == 0)
                        url += 2;
                if (strncmp(url, "../", 3) != 0)
                        break;
                while (n > 0 && base[n - 1] != '/' && base[n - 1] != ':')
                        n--;
                between = n > 0 && base[n - 1] == ':' ? "" : "/"; /* host:repository */
                if (n > 0 && base[n - 1] == '/')
                        n--;
        }
        return snprintf(ret, PATH_SIZE, "%.*s%s%s", (int)n, base, between, url) < PATH_SIZE ? 0 : -ENAMETOOLONG;
}

static int each_section(const struct gitconfig *g, const char *base, history_submodule_fn fn, void *user)
{
        int r = 0;

        for (size_t i = 0; r == 0 && i < g->n_sections; i++) {
                const char *path = NULL, *url = NULL;
                char resolved[PATH_SIZE];

                for (size_t k = 0; k < g->sections[i].n_entries; k++) {
                        const struct gitconfig_entry *e = &g->sections[i].entries[k];

                        if (strcmp(e->key, "path") == 0)
                                path = e->value;
                        else if (strcmp(e->key, "url") == 0)
                                url = e->value;
                }
                if (strcmp(g->sections[i].name, "submodule") == 0 && path && url && resolve_url(base, url, resolved) == 0)
                        r = fn(user, path, resolved);
        }
        return r;
}

/* Calls fn for each submodule of the commit. *ret_why: the reason why a .gitmodules was passed over, if it is NULL yet. */
static int each_in_commit(git_repository *git, const git_oid *oid, const char *base, history_submodule_fn fn, void *user, char **ret_why)
{
        cleanup_git_commit git_commit *c = NULL;
        cleanup_git_tree git_tree *tree = NULL;
        cleanup_git_tree_entry git_tree_entry *e = NULL;
        cleanup_git_blob git_blob *blob = NULL;
        cleanup_gitconfig struct gitconfig g = {0};
        int r;

        if (git_commit_lookup(&c, git, oid) < 0 || git_commit_tree(&tree, c) < 0 ||
            git_tree_entry_bypath(&e, tree, ".gitmodules") < 0 || git_blob_lookup(&blob, git, git_tree_entry_id(e)) < 0)
                return 0; /* it has none */
        r = gitconfig_parse(".gitmodules", SLICE(git_blob_rawcontent(blob), (size_t)git_blob_rawsize(blob)), NULL, &g);
        if (r < 0 && !*ret_why)
                *ret_why = copy_string(error_message(r));
        return r < 0 ? 0 : each_section(&g, base, fn, user);
}

int history_submodules(struct history *h, const char *base, history_submodule_fn fn, void *user)
{
        cleanup_git_repository git_repository *git = NULL;
        cleanup_refs struct ref_list *l = NULL;
        cleanup_free char *why = NULL;
        struct commit c;
        int r = history_repository(h, &git) ?: history_refs(h, &l);

        if (r == 0 && l->head != COMMIT_NONE && history_commit(h, l->head, &c) == 0)
                r = each_in_commit(git, &c.oid, base, fn, user, &why);
        for (size_t i = 0; r == 0 && i < l->n; i++)
                if (history_commit(h, l->list[i].commit, &c) == 0)
                        r = each_in_commit(git, &c.oid, base, fn, user, &why);
        if (why)
                log_warning("submodules of %s are left out: %s", base, why);
        return r;
}
