#include "follow.h"

#include <limits.h>

#include "core/build/live_log.h"
#include "tools/words.h"

static void tell(const struct follower *f, const char *what)
{
        note("%s %.12s %s", common.solver->recipe->name, commit_sha(common.solver, f->commit).s, what);
}

/* Other text was printed there: it goes on from the beginning of that line. */
static size_t turn_back(struct follower *f)
{
        size_t from = f->at;

        tell(f, "has another log from here on: it was built again, or printed more than is kept");
        while (from > 0 && f->printed.data[from - 1] != '\n')
                from--;
        f->printed.size = f->at;
        return from;
}

/* The next bytes of the log. */
static void add(struct follower *f, struct slice text)
{
        const char *bytes = text.data;
        size_t from, same = 0, most = MIN(text.size, f->printed.size - f->at);

        while (same < most && bytes[same] == f->printed.data[f->at + same])
                same++;
        f->at += same;
        if (same == text.size)
                return;
        from = f->at < f->printed.size ? turn_back(f) : f->at;
        buffer_add(&f->printed, bytes + same, text.size - same);
        f->at = f->printed.size;
        output_write(&(struct buffer){.data = f->printed.data + from, .size = f->at - from, .failed = f->printed.failed});
}

static bool find(struct follower *f)
{
        if (build_open_live_log(common.workspace, common.solver, f->commit, &f->fd) < 0)
                return false;
        f->at = 0;
        if (!f->told)
                tell(f, "is being built: its output so far, and then as it comes");
        f->told = true;
        return true;
}

void follower_look(struct follower *f)
{
        char bytes[PIPE_BUF]; /* for so much has a pipe room that has any */
        ssize_t n = 1;
        bool goes_on;

        if (f->fd < 0 && !find(f))
                return;
        goes_on = live_log_goes_on(f->fd);
        while (output_has_room() && (n = read(f->fd, bytes, sizeof(bytes))) > 0)
                add(f, SLICE(bytes, (size_t)n));
        if (n <= 0 && !goes_on)
                closep(&f->fd);
}

void follower_end(struct follower *f, struct slice whole)
{
        const char *bytes = whole.data;

        if (f->fd >= 0) /* a build that was lost may have said so since the last look */
                follower_look(f);
        f->at = 0;
        add(f, whole);
        if (f->at < f->printed.size)
                tell(f, "has a log that ends before what was printed last: it was built again");
        if (whole.size > 0 && bytes[whole.size - 1] != '\n')
                output_bytes("\n");
}
