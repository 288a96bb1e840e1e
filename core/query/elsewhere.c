/* What a recipe's builds read beside the solver's own repository: submodules and downloads, fetched before any build. */
#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "core/query/workspace.h"

/* -- downloads, by curl ------------------------------------------------------------------------------------------- */

static int run_curl(const char *url, const char *to)
{
        const char *const argv[] = {"curl", "-fsSL", "--retry", "2", "--proto", "=https,http,ftp,file", "-o", to, "--", url, NULL};
        pid_t pid;
        int status = 0, r = posix_spawnp(&pid, "curl", NULL, NULL, (char *const *)argv, environ);

        if (r != 0)
                return errorf(-EIO, "cannot run curl, which downloads %s: %s; install the package 'curl'", url, strerror(r));
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
                ;
        return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : errorf(-EIO, "cannot download %s (curl says why)", url);
}

static int check_download(const char *path, const char *url, const struct digest *expected)
{
        cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC);
        char hex[DIGEST_HEX_SIZE];
        struct digest d;
        uint64_t size;
        int r = fd < 0 ? -errno : digest_of_fd(fd, &d, &size);

        if (r < 0)
                return errorf(r, "cannot read %s: %s", path, strerror(-r));
        if (!digest_equal(&d, expected)) {
                digest_hex(&d, hex);
                return errorf(-EINVAL, "%s is another file than the recipe says: its sha256 is %s", url, hex);
        }
        return fsync(fd) < 0 ? errorf(-errno, "cannot sync %s: %s", path, strerror(errno)) : 0;
}

static int fetch_download(const char *dir, const char *line, const struct progress *p)
{
        char path[PATH_SIZE], part[PATH_SIZE], hex[DIGEST_HEX_SIZE];
        cleanup_free char *url = NULL;
        struct slice name;
        struct digest d;
        int r;

        url = strndup(line, recipe_download(line, &d, &name));
        digest_hex(&d, hex);
        if (!url || snprintf(part, sizeof(part), "%s/.%s.%d", dir, hex, (int)getpid()) >= (int)sizeof(part) || path_join(path, dir, hex) < 0)
                return -ENAMETOOLONG;
        if (access(path, F_OK) == 0)
                return 0;
        r = progress_step(p, "downloading", 0, 0);
        if (r == 0)
                r = run_curl(url, part);
        if (r == 0)
                r = check_download(part, url, &d);
        if (r == 0 && rename(part, path) < 0)
                r = errorf(-errno, "cannot rename %s: %s", part, strerror(errno));
        if (r < 0) {
                unlink(part);
                return r;
        }
        return sync_folder(dir);
}

int workspace_fetch_elsewhere(struct workspace *w, const struct solver *s, const struct progress *p)
{
        const struct recipe *recipe = s->recipe;
        char dir[PATH_SIZE];
        int r = path_join(dir, workspace_dir(w), "downloads");

        if (r == 0 && recipe->downloads[0])
                r = make_dirs(dir, 0700);
        for (char *const *l = recipe->downloads; r == 0 && *l; l++)
                r = fetch_download(dir, *l, p);
        for (char *const *l = recipe->submodules; r == 0 && *l; l++) {
                const char *repository;
                cleanup_free char *path = strndup(*l, recipe_submodule(*l, &repository));

                r = path ? history_fetch_submodule(s->history, path, repository, p) : -ENOMEM;
        }
        return r;
}
