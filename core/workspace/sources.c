/* Fetches submodules and downloads, the sources outside the solver's own repository, before any build. */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "cache/base/spawn.h"
#include "core/workspace/workspace.h"

/* -- downloads ------------------------------------------------------------------------------------------------------ */

#define LOOK_MS 100 /* between two checks whether the user stops the download */

/* Waits for curl's end. -ECANCELED: it was killed, as the user stops. */
static int wait_for_curl(pid_t pid, const struct progress *p, int *ret_status)
{
        cleanup_close int process = pidfd_open(pid, 0);
        struct pollfd end = {.fd = process, .events = POLLIN};
        pid_t ended;
        int r = 0;

        while ((ended = waitpid(pid, ret_status, WNOHANG)) == 0 && r == 0) {
                poll(&end, 1, LOOK_MS); /* without a descriptor, for that long */
                r = progress_step(p, "downloading", 0, 0);
        }
        if (ended == 0) {
                kill(-pid, SIGKILL);
                TEMP_FAILURE_RETRY(waitpid(pid, ret_status, 0));
        }
        return r;
}

/* Never prompts for a name or a password, and gives up on a silent server. env looks for curl in the path. */
static int run_curl(const char *url, const char *to, uint64_t silence_ns, const struct progress *p)
{
        char seconds[32];
        const char *const argv[] = {"/usr/bin/env", "curl", "-q", "-fsSL", "--retry", "2", "--connect-timeout", "30", "--speed-limit", "1", "--speed-time",
                                    seconds, "--proto", "=https,http,ftp,file", "--proto-redir", "=https,http,ftp", "-o", to, "--", url, NULL};
        cleanup_close int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
        pid_t pid;
        int status = 0, r;

        snprintf(seconds, sizeof(seconds), "%llu", (unsigned long long)(silence_ns / NSEC_PER_SEC));
        r = spawn(&(struct spawn_request){.fds = (int[]){null, STDERR_FILENO, STDERR_FILENO},
                                          .n_fds = 3,
                                          .arguments = (char *const *)argv,
                                          .environment = environ,
                                          .own_group = true},
                  &pid);
        if (r < 0)
                return errorf(-EIO, "cannot run curl, which downloads %s: %s", url, strerror(-r));
        r = wait_for_curl(pid, p, &status);
        if (r < 0)
                return r;
        if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
                return errorf(-EIO, "cannot run curl, which downloads %s; install the package 'curl'", url);
        return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : errorf(-EIO, "cannot download %s (curl says why)", url);
}

static int copy_local(const char *path, int to)
{
        cleanup_close int from = open(path, O_RDONLY | O_CLOEXEC);
        int r = from < 0 ? -errno : copy_fd(from, to);

        return r < 0 ? errorf(r, "cannot copy %s into the store: %s", path, strerror(-r)) : 0;
}

static int check_download(int fd, const struct recipe_file *f)
{
        struct digest d;
        int r = digest_of_fd(fd, &d, NULL);

        if (r < 0)
                return errorf(r, "cannot read what was downloaded from %.*s: %s", (int)f->n_url, f->url, strerror(-r));
        if (!digest_equal(&d, &f->digest))
                return errorf(-EINVAL, "%.*s is another file than the recipe says: its sha256 is %s", (int)f->n_url, f->url, digest_text(&d).s);
        return fsync(fd) < 0 ? errorf(-errno, "cannot sync %.*s: %s", (int)f->name.size, (const char *)f->name.data, strerror(errno)) : 0;
}

/* Opens a file for what is being downloaded, and locks it, so that gc leaves it alone. */
static int open_part(const char *part, int *ret)
{
        *ret = open(part, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
        return *ret < 0 || flock(*ret, LOCK_SH | LOCK_NB) < 0 ? errorf(-errno, "cannot make %s: %s", part, strerror(errno)) : 0;
}

int workspace_fetch_file(struct workspace *w, const struct recipe_file *f, const struct progress *p)
{
        cleanup_free char *from = copy_prefix(f->url, f->n_url);
        cleanup_free char *dir = format_string("%s/downloads", workspace_dir(w));
        cleanup_free char *path = format_string("%s/%s", dir, digest_text(&f->digest).s);
        cleanup_free char *part = format_string("%s/.%s.%d", dir, digest_text(&f->digest).s, (int)getpid());
        cleanup_close int fd = -1;
        int r;

        if (access(path, F_OK) == 0)
                return 0;
        r = make_dirs(dir, 0700) ?: progress_step(p, "downloading", 0, 0) ?: open_part(part, &fd);
        if (r == 0)
                r = *from == '/' ? copy_local(from, fd) : run_curl(from, part, workspace_settings(w)->fetch_timeout_ns, p);
        if (r == 0)
                r = check_download(fd, f);
        if (r == 0 && rename(part, path) < 0)
                r = errorf(-errno, "cannot rename %s: %s", part, strerror(errno));
        if (r < 0) {
                unlink(part);
                return r;
        }
        return sync_folder(dir);
}

struct fetching {
        struct workspace *workspace;
        const struct progress *progress;
};

static int fetch_file(void *user, const struct recipe_file *f)
{
        const struct fetching *fetching = user;

        return workspace_fetch_file(fetching->workspace, f, fetching->progress);
}

/* Fetches the commit that a line names, unless it is there: from a solver of the store that has it, else from the line's address. */
static int fetch_pinned(struct workspace *w, struct history *h, const char *line, const struct progress *p)
{
        const struct recipe_submodule s = recipe_submodule(line);
        cleanup_free char *address = copy_prefix(s.repository.data, s.repository.size);
        cleanup(solver_list_unrefp) struct solver_list *l = NULL;
        int r = history_holds(h, s.commit) ? 0 : workspace_solvers(w, &l);

        for (size_t i = 0; r == 0 && l && i < l->n && !history_holds(h, s.commit); i++) {
                const struct solver *from = l->list[i];
                cleanup_free char *path = format_string("%s/repos/%s.git", workspace_dir(w), from->repository);

                if (from->recipe->repository && strcmp(from->recipe->repository, address) == 0 && history_holds(from->history, s.commit))
                        r = history_fetch_submodule(h, address, path, p);
        }
        return r < 0 || history_holds(h, s.commit) ? r : history_fetch_submodule(h, address, address, p);
}

/* Fetches submodules into the solver's repository. A variant leaves out a line without a commit that its solver has, too, and so has fetched; one that is
 * built `within` a host leaves out its own folder in the host alone. */
static int fetch_submodules(struct workspace *w, const struct solver *s, const struct recipe *recipe, const struct progress *p)
{
        cleanup(solver_unrefp) struct solver *base = NULL;
        int r = recipe->within ? fetch_pinned(w, s->history, recipe->within, p) : 0;

        if (r == 0 && s->recipe->base)
                r = workspace_solver(w, s->recipe->base, &base);
        for (char *const *l = recipe->submodules; r == 0 && *l; l++) {
                const struct recipe_submodule line = recipe_submodule(*l);
                cleanup_free char *path = copy_prefix(line.path.data, line.path.size);
                cleanup_free char *address = copy_prefix(line.repository.data, line.repository.size);

                if (line.commit)
                        r = fetch_pinned(w, s->history, *l, p);
                else if (s->recipe->within ? !recipe_find_submodule((char *[]){s->recipe->within, NULL}, line.path)
                         : !base || !strings_have(base->recipe->submodules, *l))
                        r = history_fetch_submodule(s->history, path, address, p);
        }
        return r;
}

static bool same_lines(char *const *a, char *const *b)
{
        while (*a && *b && strcmp(*a, *b) == 0)
                a++, b++;
        return !*a && !*b;
}

int workspace_fetch_sources(struct workspace *w, const struct solver *s, const struct progress *p)
{
        const struct recipe *recipe = s->recipe;
        int r = recipe_each_file(recipe, fetch_file, &(struct fetching){w, p}) ?: fetch_submodules(w, s, recipe, p);

        for (size_t i = 0; r == 0 && i < recipe->n_eras; i++)
                if (!same_lines(recipe->eras[i]->submodules, recipe->submodules))
                        r = fetch_submodules(w, s, recipe->eras[i], p);
        return r;
}
