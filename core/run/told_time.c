#include "core/run/told_time.h"

#include <math.h>

#include "cache/base/fault.h"

#define LEAST 0.001
#define HANGS (60 * NSEC_PER_SEC)

bool told_time_wanted(void)
{
        return fault_at("run.clock") < 0;
}

void told_time_widen(struct execute_request *q)
{
        q->wall_ns += HANGS;
        q->cpu_ns += HANGS;
}

struct told {
        double wall, cpu; /* seconds */
};

static struct told read_told(const struct blob *err)
{
        struct told last = {LEAST, LEAST};
        const char *line = err->data, *end = line + err->size;

        while (line < end) {
                const char *newline = memchr(line, '\n', (size_t)(end - line));
                const char *stop = newline ? newline : end;
                char text[64];
                struct told t;
                int n;

                snprintf(text, sizeof(text), "%.*s", (int)(stop - line), line);
                n = sscanf(text, "lasts %lf cpu %lf", &t.wall, &t.cpu);
                if (n >= 1)
                        last = (struct told){t.wall, n == 2 ? t.cpu : t.wall};
                line = stop + 1;
        }
        return last;
}

/* The part of a run for which its limit is enough. */
static double share_within(double seconds, uint64_t limit)
{
        return limit == 0 ? INFINITY : (double)limit / (seconds * NSEC_PER_SEC);
}

void told_time_apply(const struct recipe_limits *limits, struct execute_result *run)
{
        struct told t = read_told(&run->err);
        double share = fmin(share_within(t.wall, limits->wall_ns), share_within(t.cpu, limits->cpu_ns));

        if (share <= 1) {
                run->end = END_TIMEOUT;
                run->code = 0;
                blob_done(&run->out);
                run->out_size = run->out_cut = 0;
        }
        share = fmin(share, 1);
        run->wall_ns = (uint64_t)llround(t.wall * share * NSEC_PER_SEC);
        run->user_ns = (uint64_t)llround(t.cpu * share * NSEC_PER_SEC);
        run->system_ns = run->waited_ns = run->stolen_ns = 0;
        run->doubt = run->doubt == DOUBT_PAUSE ? DOUBT_NONE : run->doubt;
}
