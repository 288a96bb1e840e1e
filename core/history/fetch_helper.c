/* solverfs-fetch REPOSITORY PREFIX SILENCE: fetches from another machine into a repository of ours, for history_remote.c.
 *
 * libgit2 1.5 waits for a server for ever. So it fetches in a process of its own, in which a second thread checks that the first one makes progress.
 * The measure is the first thread's CPU time: it stands still only while that thread waits, whatever the transport is and whichever code reads the
 * socket. Waiting for a disk or a core does not count. After SILENCE milliseconds all sockets are shut down; libgit2 then ends and cleans up as after
 * any lost connection. If there is no socket yet (a name server, a key agent) or the shutdown does not help, the process ends.
 *
 * Descriptor 0 gives the address and a zero byte (an address may hold a password, and everybody may read arguments); its end means: stop the fetch.
 * Descriptor 1 takes the reports, a line each:
 *      p DONE TOTAL WHAT       progress
 *      d                       done
 *      e ERRNO REASON          failed
 * Descriptor 3, if any, is the repository's lock: it is held for as long as this process writes into the repository.
 *
 * PREFIX is empty for a fetch of the remote 'origin', whose address the config has. For a submodule it is where branches and tags go
 * ("refs/submodules/<x>/"), and descriptor 0 gives the address. */
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <time.h>

#include "core/git/git.h"
#include "core/git/object_reader.h"

#define FIRST_OWN    4 /* descriptors below are the caller's */
#define LAST_OWN     256 /* libgit2 has a few open, none above */
#define LOOK_MS      100
#define FAREWELL_NS  (3 * NSEC_PER_SEC) /* from the shutdown of the sockets to the end of the process */
#define LONG_LOOK_NS NSEC_PER_SEC       /* one look counts for no more: the process may have been stopped */

static struct {
        char address[PATH_SIZE];
        uint64_t silence_ns;
        clockid_t clock; /* CPU time of the thread that fetches */
        atomic_bool on_network; /* the steps after it need no server */
        atomic_bool is_to_stop, is_silent;
} fetching;

/* -- reports ---------------------------------------------------------------------------------------------------- */

/* Writes a line for the caller. Stops the fetch if that fails: the caller is gone. */
static void report(const char *format, ...) printf_like(1, 2);
static void report(const char *format, ...)
{
        char line[2048];
        va_list args;
        int n;

        va_start(args, format);
        n = vsnprintf(line, sizeof(line) - 1, format, args);
        va_end(args);
        n = MIN(n, (int)sizeof(line) - 2);
        for (int i = 0; i < n; i++)
                if (line[i] == '\n')
                        line[i] = ' ';
        line[n] = '\n';
        if (write_all(STDOUT_FILENO, line, (size_t)n + 1) < 0)
                fetching.is_to_stop = true;
}

static void report_end(int r)
{
        if (r == 0)
                report("d");
        else if (fetching.is_to_stop)
                report("e %d interrupted", ECANCELED);
        else if (fetching.is_silent)
                report("e %d nothing came from the server for %.6g s; try again later, or give it more time by 'fetch-timeout' in the "
                       "store's config",
                       ETIMEDOUT, (double)fetching.silence_ns / (double)NSEC_PER_SEC);
        else
                report("e %d %s", git_errno(r) == -ENOENT ? EIO : -git_errno(r), git_error_text());
}

/* -- the second thread -------------------------------------------------------------------------------------------- */

static uint64_t worked_ns(void)
{
        return clock_ns(fetching.clock);
}

/* True if the first thread sleeps: it waits for no disk (D) and no core (R). True also if that is not known. */
static bool is_asleep(void)
{
        cleanup_blob struct blob text = {0};
        const char *name_end = read_file("/proc/self/stat", 4096, &text) == 0 ? memrchr(text.data, ')', text.size) : NULL;

        return !name_end || strncmp(name_end, ") S", 3) == 0;
}

/* Waits for the next check, or until the caller asks to stop. */
static void wait_for_look(void)
{
        struct pollfd caller = {.fd = STDIN_FILENO, .events = POLLIN};
        char byte;

        if (fetching.is_to_stop)
                poll(NULL, 0, LOOK_MS);
        else if (poll(&caller, 1, LOOK_MS) > 0 && read(STDIN_FILENO, &byte, 1) <= 0)
                fetching.is_to_stop = true;
}

static void *watch(void *)
{
        uint64_t idle = 0, first_shutdown = 0;

        for (uint64_t looked = now_ns(), worked = worked_ns();;) {
                uint64_t looked_before = looked, worked_before = worked;

                wait_for_look();
                looked = now_ns();
                worked = worked_ns();
                if (!fetching.on_network)
                        continue;
                idle = worked != worked_before || !is_asleep() ? 0 : idle + MIN(looked - looked_before, LONG_LOOK_NS);
                if (idle >= fetching.silence_ns)
                        fetching.is_silent = true;
                if (!fetching.is_silent && !fetching.is_to_stop)
                        continue;
                first_shutdown = first_shutdown ?: looked;
                if (looked - first_shutdown > FAREWELL_NS) {
                        report_end(GIT_ERROR);
                        _exit(1);
                }
                for (int fd = FIRST_OWN; fd < LAST_OWN; fd++) /* at each check: a transport may try another address, or try again */
                        shutdown(fd, SHUT_RDWR);
        }
        return NULL;
}

/* -- what the other side says ------------------------------------------------------------------------------------- */

struct conversation {
        uint64_t told_ns;
        bool agent, standard; /* credentials given: libgit2 asks again when they were refused */
};

static int on_transfer(const git_indexer_progress *stats, void *user)
{
        struct conversation *c = user;
        bool receives = stats->received_objects < stats->total_objects;

        if (now_ns() - c->told_ns >= LOOK_MS * NSEC_PER_MSEC) {
                c->told_ns = now_ns();
                report("p %u %u %s", receives ? stats->received_objects : stats->indexed_deltas,
                       receives ? stats->total_objects : stats->total_deltas, receives ? "receiving objects" : "resolving deltas");
        }
        return fetching.is_to_stop ? GIT_EUSER : 0;
}

/* Never prompts: tries the ssh agent's keys, and fails if they are refused. */
static int on_credentials(git_credential **ret, const char *, const char *user_name, unsigned allowed, void *user)
{
        struct conversation *c = user;

        if (allowed & GIT_CREDENTIAL_USERNAME)
                return git_credential_username_new(ret, user_name ?: "git");
        if (allowed & GIT_CREDENTIAL_SSH_KEY && !c->agent) {
                c->agent = true;
                return git_credential_ssh_key_from_agent(ret, user_name ?: "git");
        }
        if (allowed & GIT_CREDENTIAL_DEFAULT && !c->standard) {
                c->standard = true;
                return git_credential_default_new(ret);
        }
        git_error_set_str(GIT_ERROR_NET, "it wants a name and a password or a key; solverfs has only the ssh agent's keys");
        return GIT_EAUTH;
}

/* -- fetching ----------------------------------------------------------------------------------------------------- */

/* Sets HEAD as on the other side: a branch, or a commit. Ours stays if theirs is on an unborn branch, or on a commit that no branch or tag reaches,
 * which was not fetched then. */
static int copy_head(git_repository *git, git_remote *remote)
{
        cleanup_git_odb git_odb *odb = NULL;
        git_buf name = GIT_BUF_INIT;
        const git_remote_head **heads;
        size_t n = 0;
        int r = git_remote_default_branch(&name, remote);

        if (r == 0)
                r = git_repository_set_head(git, name.ptr);
        else if (r == GIT_ENOTFOUND && git_remote_ls(&heads, &n, remote) == 0)
                r = git_repository_odb(&odb, git);
        for (size_t i = 0; r == 0 && odb && i < n; i++)
                if (strcmp(heads[i]->name, "HEAD") == 0 && git_odb_exists(odb, &heads[i]->oid))
                        r = git_repository_set_head_detached(git, &heads[i]->oid);
        git_buf_dispose(&name);
        return r;
}

/* Sets branches and tags as on the other side. Deletes first, so that a branch `a` can give way to `a/b`.
 * An 'origin' without any is an error, and ours stay. */
static int set_refs(git_repository *git, git_remote *remote, const git_remote_callbacks *callbacks, const char *prefix)
{
        const git_remote_head **heads;
        size_t n = 0;
        int r = git_remote_ls(&heads, &n, remote);

        if (r == 0 && n == 0 && !*prefix) {
                git_error_set_str(GIT_ERROR_REFERENCE, "it has no commits");
                r = GIT_EUNBORNBRANCH;
        }
        if (r < 0)
                return r;
        r = git_remote_prune(remote, callbacks)
            ?: git_remote_update_tips(remote, callbacks, 0, GIT_REMOTE_DOWNLOAD_TAGS_NONE, NULL);
        return r == 0 && !*prefix ? copy_head(git, remote) : r;
}

/* Opens the remote 'origin' with its refspecs, or makes both for a submodule. */
static int make_remote(git_repository *git, const char *prefix, git_remote **ret, git_strarray *ret_refspecs)
{
        if (!*prefix)
                return git_remote_lookup(ret, git, "origin");
        ret_refspecs->strings = allocate(2, sizeof(char *));
        ret_refspecs->strings[0] = format_string("+refs/heads/*:%sheads/*", prefix);
        ret_refspecs->strings[1] = format_string("+refs/tags/*:%stags/*", prefix);
        ret_refspecs->count = 2;
        return git_remote_create_anonymous(ret, git, fetching.address);
}

static int fetch(git_repository *git, const char *prefix)
{
        struct conversation conversation = {0};
        git_fetch_options options = GIT_FETCH_OPTIONS_INIT;
        cleanup_git_remote git_remote *remote = NULL;
        git_strarray refspecs = {0};
        int r = make_remote(git, prefix, &remote, &refspecs);

        options.callbacks.transfer_progress = on_transfer;
        options.callbacks.credentials = on_credentials;
        options.callbacks.payload = &conversation;
        options.download_tags = GIT_REMOTE_DOWNLOAD_TAGS_NONE; /* the refspecs have them */
        options.proxy_opts.type = GIT_PROXY_AUTO;
        fetching.on_network = true;
        if (r == 0)
                r = git_remote_connect(remote, GIT_DIRECTION_FETCH, &options.callbacks, &options.proxy_opts, NULL)
                    ?: git_remote_download(remote, refspecs.count ? &refspecs : NULL, &options);
        fetching.on_network = false;
        for (size_t i = 0; i < refspecs.count; i++)
                free(refspecs.strings[i]);
        free(refspecs.strings);
        return r == 0 ? set_refs(git, remote, &options.callbacks, prefix) : r;
}

/* False: the caller has gone. */
static bool read_address(void)
{
        for (size_t n = 0; n < sizeof(fetching.address) && read(STDIN_FILENO, &fetching.address[n], 1) == 1; n++)
                if (fetching.address[n] == '\0')
                        return true;
        return false;
}

int main(int argc, char **argv)
{
        git_repository *git = NULL;
        pthread_t thread;
        int r;

        if (argc != 4) {
                fprintf(stderr, "solverfs-fetch: part of solverfs; it fetches commits for 'solverfs solver add' and 'update'\n");
                return 2;
        }
        if (!read_address())
                return 1;
        signal(SIGPIPE, SIG_IGN);
        signal(SIGXFSZ, SIG_IGN);
        fetching.silence_ns = strtoull(argv[3], NULL, 10) * NSEC_PER_MSEC;
        git_begin();
        r = git_repository_open_ext(&git, argv[1], GIT_REPOSITORY_OPEN_BARE | GIT_REPOSITORY_OPEN_NO_SEARCH, NULL);
        if (r == 0 && (object_reader_install(git) < 0 || pthread_getcpuclockid(pthread_self(), &fetching.clock) != 0 ||
                       pthread_create(&thread, NULL, watch, NULL) != 0))
                r = GIT_ERROR;
        if (r == 0)
                r = fetch(git, argv[2]);
        report_end(r);
        git_repository_free(git);
        return r != 0;
}
