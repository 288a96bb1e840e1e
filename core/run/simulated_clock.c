#include "core/run/simulated_clock.h"

#include <math.h>

#include "cache/base/fault.h"

#define LEAST 0.001
#define HANGS (60 * NSEC_PER_SEC)

bool simulated_clock_is_wanted(void)
{
        return fault_at("run.clock") < 0;
}

void simulated_clock_widen(struct execute_request *q)
{
        q->wall_ns += HANGS;
        q->cpu_ns += HANGS;
}

/* The seconds of the last line that has any. */
static void read_times(const struct blob *err, double *ret_wall, double *ret_cpu)
{
        struct slice line, rest = SLICE(err->data, err->size);

        *ret_wall = *ret_cpu = LEAST;
        while (slice_next_line(&rest, &line)) {
                char text[64];
                double wall, cpu;
                int n;

                snprintf(text, sizeof(text), "%.*s", (int)line.size, (const char *)line.data);
                n = sscanf(text, "lasts %lf cpu %lf", &wall, &cpu);
                if (n >= 1) {
                        *ret_wall = wall;
                        *ret_cpu = n == 2 ? cpu : wall;
                }
        }
}

/* Cuts off the lines that came after `end`. */
static void read_lines(struct execute_result *run, uint64_t end)
{
        struct slice line, rest = SLICE(run->err.data, run->err.size), out = SLICE(run->out.data, run->out.size), printed;
        double seconds, all = 0;

        timeline_done(&run->printed);
        while (slice_next_line(&rest, &line)) {
                cleanup_free char *text = copy_prefix(line.data, line.size);

                if (sscanf(text, "line %lf", &seconds) != 1)
                        continue;
                all += seconds * NSEC_PER_SEC;
                if (all > (double)end || !slice_next_line(&out, &printed))
                        break;
                timeline_add(&run->printed, (uint64_t)llround(all), run->out.size - out.size);
        }
        if (run->end == END_TIMEOUT)
                run->out_size = run->out.size -= out.size;
        else
                timeline_add(&run->printed, end, run->out.size);
}

/* The part of a run that is within its limit. */
static double share_within(double seconds, uint64_t limit)
{
        return limit == 0 ? INFINITY : (double)limit / (seconds * NSEC_PER_SEC);
}

void simulated_clock_apply(const struct recipe_limits *limits, struct execute_result *run)
{
        double wall, cpu, share;

        read_times(&run->err, &wall, &cpu);
        share = fmin(share_within(wall, limits->wall_ns), share_within(cpu, limits->cpu_ns));
        if (share <= 1) {
                run->end = END_TIMEOUT;
                run->code = 0;
                run->guessed = false;
                run->out_cut = 0;
        }
        share = fmin(share, 1);
        run->wall_ns = (uint64_t)llround(wall * share * NSEC_PER_SEC);
        read_lines(run, run->wall_ns);
        run->user_ns = (uint64_t)llround(cpu * share * NSEC_PER_SEC);
        run->system_ns = run->waited_ns = run->stolen_ns = 0;
        run->doubt = run->doubt == DOUBT_PAUSE ? DOUBT_NONE : run->doubt;
}
