/* Fetches from another machine by solverfs-fetch (fetch_helper.c), which can be ended whatever the server does. */
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>

#include "cache/base/helper.h"
#include "cache/base/spawn.h"
#include "core/history/history_internal.h"

#define LOOK_MS 100

struct helper {
        const struct remote_fetch *request;
        int life;    /* the helper ends when this is closed */
        int reports;
        pid_t pid;
        struct buffer text; /* an incomplete report */
        const char *what;   /* static; as last reported */
        uint64_t done, total;
        bool is_over; /* the helper reported `result`, with a sentence */
        int result;
};

static void helper_done(struct helper *h)
{
        closep(&h->life);
        closep(&h->reports);
        buffer_done(&h->text);
}
#define cleanup_helper cleanup(helper_done)

static int helper_start(struct helper *h)
{
        const struct remote_fetch *q = h->request;
        char program[PATH_SIZE], milliseconds[32];
        cleanup_close int their_life = -1, their_reports = -1;
        int life[2], reports[2];
        int r = helper_path("solverfs-fetch", "core", "SOLVERFS_FETCH", program);

        if (r < 0)
                return r;
        if (pipe2(life, O_CLOEXEC) < 0)
                return -errno;
        their_life = life[0];
        h->life = life[1];
        if (pipe2(reports, O_CLOEXEC) < 0)
                return -errno;
        h->reports = reports[0];
        their_reports = reports[1];
        r = write_all(h->life, q->url, strlen(q->url) + 1); /* a pipe takes that much at once */
        if (r < 0)
                return r;
        snprintf(milliseconds, sizeof(milliseconds), "%llu", (unsigned long long)(q->silence_ns / NSEC_PER_MSEC));
        r = spawn(&(struct spawn_request){
                          .fds = (int[]){their_life, their_reports, STDERR_FILENO, q->lock},
                          .n_fds = 4,
                          .arguments = (char *[]){program, (char *)git_repository_path(q->git), (char *)(q->under ?: ""), milliseconds, NULL},
                          .environment = environ,
                          .own_group = true}, /* only we get Ctrl-C: the helper ends when we tell it to, and cleans up */
                  &h->pid);
        return r < 0 ? errorf(r, "cannot start %s: %s", program, strerror(-r)) : 0;
}

/* The sentence shows the address without its password. */
static int fetch_error(const struct helper *h, int error, const char *reason)
{
        const char *url = h->request->url, *host = strstr(url, "://");
        const char *end = host ? host + 3 + strcspn(host + 3, "/") : NULL;
        const char *at = host ? memrchr(host, '@', (size_t)(end - host)) : NULL;
        const char *colon = at ? memchr(host + 3, ':', (size_t)(at - host - 3)) : NULL;

        if (error == -ECANCELED)
                return errorf(error, "%s", reason);
        if (colon)
                return errorf(error, "cannot fetch from %.*s…%s: %s", (int)(colon + 1 - url), url, at, reason);
        return errorf(error, "cannot fetch from %s: %s", url, reason);
}

static void read_report(struct helper *h, char *line)
{
        unsigned long long done, total;
        int n = 0, error;

        if (sscanf(line, "p %llu %llu %n", &done, &total, &n) >= 2 && n > 0) {
                h->what = strcmp(line + n, "resolving deltas") == 0 ? "resolving deltas" : "receiving objects";
                h->done = done;
                h->total = total;
                return;
        }
        h->is_over |= *line == 'd' || *line == 'e';
        if (sscanf(line, "e %d %n", &error, &n) >= 1 && n > 0)
                h->result = fetch_error(h, -error, line + n);
}

static void read_reports(struct helper *h)
{
        char *line = h->text.data, *end;

        while (line && (end = memchr(line, '\n', h->text.size - (size_t)(line - h->text.data)))) {
                *end = '\0';
                read_report(h, line);
                line = end + 1;
        }
        if (line && line > h->text.data) {
                h->text.size -= (size_t)(line - h->text.data);
                memmove(h->text.data, line, h->text.size + 1);
        }
}

/* Reads reports until the helper has ended, or the caller cancels. */
static int follow(struct helper *h)
{
        struct pollfd reports = {.fd = h->reports, .events = POLLIN};
        char bytes[4096];
        ssize_t n = 1;

        while (n > 0) {
                if (h->life >= 0 && !h->is_over && progress_step(h->request->progress, h->what, h->done, h->total) < 0)
                        closep(&h->life);
                if (poll(&reports, 1, LOOK_MS) <= 0)
                        continue;
                n = read(h->reports, bytes, sizeof(bytes));
                if (n > 0)
                        buffer_add(&h->text, bytes, (size_t)n);
                read_reports(h);
        }
        return n < 0 ? -errno : buffer_error(&h->text);
}

static int helper_end(struct helper *h)
{
        char reason[64];
        int status = 0;

        TEMP_FAILURE_RETRY(waitpid(h->pid, &status, 0));
        if (h->is_over)
                return h->result;
        if (WIFSIGNALED(status))
                snprintf(reason, sizeof(reason), "solverfs-fetch was ended by signal %d", WTERMSIG(status));
        else
                snprintf(reason, sizeof(reason), "solverfs-fetch ended with status %d", WEXITSTATUS(status));
        return fetch_error(h, -EIO, reason);
}

int history_fetch_remote(const struct remote_fetch *q)
{
        cleanup_helper struct helper h = {.request = q, .life = -1, .reports = -1, .what = "connecting"};
        int r = progress_step(q->progress, h.what, 0, 0) ?: helper_start(&h);

        if (r < 0)
                return r;
        r = follow(&h);
        closep(&h.life); /* after a failure of follow() */
        return r < 0 ? (helper_end(&h), r) : helper_end(&h);
}
