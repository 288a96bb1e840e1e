/* Clones, fetches and indexes a history. */
#include <fcntl.h>
#include <sys/stat.h>

#include "core/history/history_internal.h"
#include "core/git/object_reader.h"
#include "core/git/regular_files.h"

/* -- addresses ---------------------------------------------------------------------------------------------------- */

/* The path that a path or a file:// URL names, as git reads both; NULL for any other URL. */
static char *local_path(const char *url)
{
        bool is_url = strncmp(url, "file://", 7) == 0;
        char *path = is_url || (!strstr(url, "://") && access(url, F_OK) == 0) ? copy_string(is_url ? url + 7 : url) : NULL;

        if (path && is_url)
                url_decode(path);
        return path;
}

/* Explains what is easy to see in a local repository and hard to guess from a failed fetch. */
static int open_local(const char *path, git_repository **ret)
{
        cleanup_close int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        int r;

        if (fd < 0)
                return errorf(-errno, "cannot read the repository %s: %s", path, strerror(errno));
        r = regular_files_check(path);
        if (r < 0)
                return r;
        r = git_repository_open_ext(ret, path, GIT_REPOSITORY_OPEN_NO_SEARCH, NULL);
        if (r == GIT_ENOTFOUND)
                return errorf(-EINVAL, "%s is not a git repository", path);
        if (r < 0)
                return errorf(git_errno(r), "cannot open the repository %s: %s", path, git_error_text());
        if (git_repository_is_shallow(*ret))
                return errorf(-EINVAL,
                              "%s is a shallow clone and lacks its older commits; get them with 'git -C %s fetch --unshallow'",
                              path, path);
        return object_reader_install(*ret);
}

/* libgit2's own message about an unknown protocol differs from version to version. */
static int check_protocol(const char *url)
{
        static const char *const protocols[] = {"https", "http", "ssh", "git", "git+ssh", "ssh+git"};
        const char *end = strstr(url, "://");

        for (size_t i = 0; end && i < ARRAY_SIZE(protocols); i++)
                if (strlen(protocols[i]) == (size_t)(end - url) && strncasecmp(url, protocols[i], (size_t)(end - url)) == 0)
                        return 0;
        return end ? errorf(-EINVAL, "cannot fetch by '%.*s': use https, http, ssh or git, or name a folder", (int)MIN(end - url, 100), url) : 0;
}

bool history_is_remote(const char *url)
{
        cleanup_free char *path = local_path(url);
        const char *colon = strchr(url, ':');

        if (path || strstr(url, "://"))
                return !path && check_protocol(url) == 0;
        return colon && colon[1] != ':' && !memchr(url, '/', (size_t)(colon - url)); /* host:path, and not ext::command */
}

/* Makes a relative path absolute, since later readers of the config run in other folders, and opens its repository, checked. *ret_local stays NULL for a
 * remote one. */
static int open_address(const char *url, char ret[PATH_SIZE], git_repository **ret_local)
{
        cleanup_free char *path = local_path(url);

        if (path && !realpath(path, ret))
                return errorf(-errno, "cannot find the repository %s: %s", path, strerror(errno));
        if (!path && snprintf(ret, PATH_SIZE, "%s", url) >= PATH_SIZE)
                return errorf(-ENAMETOOLONG, "the repository's address is too long");
        if (!path && !strstr(url, "://") && !strchr(url, ':'))
                return errorf(-ENOENT, "there is no repository at %s", url);
        return path ? open_local(ret, ret_local) : check_protocol(url);
}

int history_open_local(const char *url, git_repository **ret)
{
        char address[PATH_SIZE];

        return open_address(url, address, ret);
}

/* -- making a repository ------------------------------------------------------------------------------------------ */

int history_make_bare(const char *path, const char *url, git_repository **ret)
{
        git_repository_init_options options = GIT_REPOSITORY_INIT_OPTIONS_INIT;
        cleanup_git_remote git_remote *remote = NULL;
        cleanup_git_config git_config *config = NULL;
        int r;

        options.flags = GIT_REPOSITORY_INIT_BARE; /* no templates: no hooks */
        r = git_repository_init_ext(ret, path, &options)
            ?: git_remote_create_with_fetchspec(&remote, *ret, "origin", url, FETCH_BRANCHES)
            ?: git_remote_add_fetch(*ret, "origin", FETCH_TAGS)
            ?: git_repository_config(&config, *ret);
        if (r == 0) /* so that a person's `git gc` here prunes nothing, such as a submodule's commits that are on no branch any more */
                r = git_config_set_string(config, "gc.pruneExpire", "never");
        return r < 0 ? errorf(git_errno(r), "cannot make the repository %s: %s", path, git_error_text()) : 0;
}

static bool has_commits(git_repository *git)
{
        cleanup_git_references git_reference_iterator *it = NULL;
        cleanup_git_reference git_reference *ref = NULL;
        git_oid head; /* may be the only ref, if it is detached */

        return git_reference_name_to_id(&head, git, "HEAD") == 0 ||
               (git_reference_iterator_glob_new(&it, git, "refs/*") == 0 && git_reference_next(&ref, it) == 0);
}

static int empty_folder(const char *path)
{
        int r = remove_tree(path);

        if (r == 0 && mkdir(path, 0700) < 0)
                r = errorf(-errno, "cannot make folder %s: %s", path, strerror(errno));
        return r;
}

/* `q` is the fetch without the repository. If possible, copies the objects of a local repository first, and fetches only the rest. */
static int clone_into(const char *path, git_repository *local, struct remote_fetch *q)
{
        cleanup_git_repository git_repository *git = NULL;
        int r = history_make_bare(path, q->url, &git), copied = r == 0 && local ? history_copy_objects(local, git) : 0;

        if (copied == -ENOSPC)
                return errorf(copied, "no room on the disk for the objects of %s", q->url);
        if (copied < 0) {
                log_info("%s is fetched, as its objects cannot be copied: %s", q->url, error_message(copied));
                git_repository_free(steal_pointer(git));
                r = empty_folder(path) ?: history_make_bare(path, q->url, &git);
        }
        q->git = git;
        if (r == 0)
                r = local ? history_fetch_local(local, git, NULL, q->progress) : history_fetch_remote(q);
        if (r == 0 && !has_commits(git))
                return errorf(-ENODATA, "%s has no commits yet", q->url);
        return r;
}

/* Syncs a complete repository, and renames it to its final path. */
static int finish(const char *part, const char *path, const char *repos_dir)
{
        cleanup_close int part_fd = open(part, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        /* A solver reported as added survives a power cut. One call syncs all objects: there may be a hundred thousand. */
        if (part_fd < 0 || syncfs(part_fd) < 0)
                return errorf(-errno, "cannot sync %s: %s", part, strerror(errno));
        if (rename(part, path) < 0)
                return errorf(-errno, "cannot rename %s to %s: %s", part, path, strerror(errno));
        return sync_folder(repos_dir);
}

/* Makes a repository; without `fetch` it stays empty. */
static int make_repository(const char *repos_dir, const char *name, git_repository *local, struct remote_fetch *fetch, const struct progress *p)
{
        cleanup_free char *path = format_string("%s/%s.git", repos_dir, name), *part = format_string("%s/%s.part", repos_dir, name);
        cleanup_git_repository git_repository *git = NULL;
        cleanup_close int lock = -1;
        int r = make_dirs(repos_dir, 0700) ?: history_lock(repos_dir, name, p, &lock);

        if (r < 0)
                return r;
        if (access(path, F_OK) == 0)
                return errorf(-EEXIST, "there is a repository %s already", path);
        r = empty_folder(part); /* a killed process may have left files there */
        if (r == 0 && fetch)
                fetch->lock = lock;
        if (r == 0)
                r = fetch ? clone_into(part, local, fetch) : history_make_bare(part, path, &git);
        if (r == 0)
                r = finish(part, path, repos_dir);
        if (r < 0) {
                cleanup_free char *reason = copy_string(error_message(r));

                remove_tree(part);
                return errorf(r, "%s", reason);
        }
        return 0;
}

int history_clone(const char *repos_dir, const char *name, const char *url, uint64_t silence_ns, const struct progress *p)
{
        cleanup_git_repository git_repository *local = NULL;
        char address[PATH_SIZE];
        int r;

        git_begin();
        r = open_address(url, address, &local);
        return r < 0 ? r
                     : make_repository(repos_dir, name, local, &(struct remote_fetch){.url = address, .silence_ns = silence_ns, .progress = p}, p);
}

int history_init(const char *repos_dir, const char *name)
{
        int r;

        git_begin();
        r = make_repository(repos_dir, name, NULL, NULL, NULL);
        return r == -EEXIST ? sync_folder(repos_dir) : r;
}

/* -- updating ----------------------------------------------------------------------------------------------------- */

int history_fetch(struct history *h, git_repository *git, const char *url, const char *under, int lock, const struct progress *p)
{
        cleanup_git_repository git_repository *local = NULL;
        char address[PATH_SIZE];
        int r = open_address(url, address, &local);

        if (r == 0 && local && !under && !has_commits(local))
                r = errorf(-ENODATA, "%s has no commits any more: what was fetched from it stays", address);
        if (r < 0)
                return r;
        return local ? history_fetch_local(local, git, under, p) :
                       history_fetch_remote(&(struct remote_fetch){git, address, under, lock, h->silence_ns, p});
}

int history_update(struct history *h, const char *url, bool index_only, const struct progress *p, uint32_t *ret_new)
{
        cleanup_git_repository git_repository *git = NULL;
        cleanup_git_remote git_remote *remote = NULL;
        cleanup_close int lock = -1;
        int r = history_lock(h->repos_dir, h->name, p, &lock) ?: history_repository(h, &git);

        if (r == 0 && !index_only && git_remote_lookup(&remote, git, "origin") < 0)
                r = errorf(-EINVAL, "%s does not say where it came from: it has no remote 'origin'", h->path);
        if (r == 0 && url && remote && strcmp(url, git_remote_url(remote) ?: "") != 0 && git_remote_set_url(git, "origin", url) < 0)
                r = errorf(-EIO, "cannot write %s/config: %s", h->path, git_error_text());
        if (r == 0 && !index_only)
                r = history_fetch(h, git, url ?: git_remote_url(remote), NULL, lock, p);
        return r < 0 ? r : history_index(h, git, p, ret_new);
}
