#include "core/run/told_time.h"

#include "cache/base/fault.h"

#define WORD  "lasts "
#define LEAST NSEC_PER_MSEC
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

static uint64_t told(const struct blob *err)
{
        uint64_t ns = LEAST;
        const char *line = err->data, *end = line + err->size;

        while (line < end) {
                const char *newline = memchr(line, '\n', (size_t)(end - line));
                const char *stop = newline ? newline : end;
                char number[32];

                if ((size_t)(stop - line) > strlen(WORD) && memcmp(line, WORD, strlen(WORD)) == 0) {
                        snprintf(number, sizeof(number), "%.*s", (int)(stop - line - (ptrdiff_t)strlen(WORD)), line + strlen(WORD));
                        ns = (uint64_t)(strtod(number, NULL) * NSEC_PER_SEC);
                }
                line = stop + 1;
        }
        return ns;
}

static bool is_over(uint64_t ns, uint64_t limit)
{
        return limit != 0 && ns >= limit;
}

void told_time_apply(const struct recipe_limits *limits, struct execute_result *run)
{
        uint64_t ns = told(&run->err);

        if (is_over(ns, limits->wall_ns) || is_over(ns, limits->cpu_ns)) {
                run->end = END_TIMEOUT;
                run->code = 0;
                blob_done(&run->out);
                run->out = (struct blob){0};
                run->out_size = run->out_cut = 0;
                ns = limits->wall_ns != 0 && (limits->cpu_ns == 0 || limits->wall_ns < limits->cpu_ns) ? limits->wall_ns : limits->cpu_ns;
        }
        run->wall_ns = run->user_ns = ns;
        run->system_ns = run->waited_ns = run->stolen_ns = 0;
        run->doubt = run->doubt == DOUBT_PAUSE ? DOUBT_NONE : run->doubt;
}
