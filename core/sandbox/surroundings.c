#include <inttypes.h>
#include <jansson.h>
#include <pthread.h>
#include <unistd.h>

#include "core/sandbox/execute.h"
#include "core/sandbox/surroundings.h"

#define LOCKED_MEMORY  (64 << 10)
#define OPEN_FILES     1024
#define OPEN_FILES_TOP 4096
#define SIGNALS        1024
#define MESSAGE_QUEUES 819200

/* By resource number, with the names of `ulimit` and run.json; the option is bash's. */
static const struct {
        const char *name, *option;
} resources[SURROUNDINGS_LIMITS] = {
        [RLIMIT_CPU] = {"cputime", "-t"},
        [RLIMIT_FSIZE] = {"file-size", "-f"},
        [RLIMIT_DATA] = {"data", "-d"},
        [RLIMIT_STACK] = {"stack", "-s"},
        [RLIMIT_CORE] = {"core", "-c"},
        [RLIMIT_RSS] = {"resident", "-m"},
        [RLIMIT_NPROC] = {"processes", "-u"},
        [RLIMIT_NOFILE] = {"open-files", "-n"},
        [RLIMIT_MEMLOCK] = {"locked-memory", "-l"},
        [RLIMIT_AS] = {"address-space", "-v"},
        [RLIMIT_LOCKS] = {"file-locks", "-x"},
        [RLIMIT_SIGPENDING] = {"pending-signals", "-i"},
        [RLIMIT_MSGQUEUE] = {"message-queues", "-q"},
        [RLIMIT_NICE] = {"nice", "-e"},
        [RLIMIT_RTPRIO] = {"real-time-priority", "-r"},
        [RLIMIT_RTTIME] = {"real-time", "-R"},
};

static const char *const standard[] = {"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/scratch", "TMPDIR=/scratch", "LANG=C.UTF-8"};

static uint64_t or_none(uint64_t limit)
{
        return limit ? limit : RLIM_INFINITY;
}

static struct rlimit both(uint64_t limit)
{
        return (struct rlimit){.rlim_cur = limit, .rlim_max = limit};
}

static bool any_shared(const struct execute_request *q)
{
        for (size_t i = 0; i < q->n_binds; i++)
                if (q->binds[i].shared)
                        return true;
        return false;
}

/* The poll is the first to end a program with too much CPU time; the kernel's limit is for late polls. */
static struct rlimit cpu_limit(uint64_t cpu_ns)
{
        uint64_t seconds = cpu_ns / NSEC_PER_SEC + 2;

        return cpu_ns ? (struct rlimit){.rlim_cur = seconds, .rlim_max = seconds + 1} : both(RLIM_INFINITY);
}

void surroundings_of(const struct execute_request *q, struct surroundings *ret)
{
        uint64_t stack = q->stack ? q->stack : EXECUTE_STACK, memory = or_none(q->memory);

        *ret = (struct surroundings){
                .timed = q->timed,
                .mask = any_shared(q) ? 0002 : 0022,
                .limits =
                        {
                                [RLIMIT_CPU] = cpu_limit(q->cpu_ns),
                                [RLIMIT_FSIZE] = both(or_none(q->file_size)),
                                [RLIMIT_DATA] = both(memory),
                                [RLIMIT_STACK] = {.rlim_cur = stack, .rlim_max = MAX(stack, q->stack_top)},
                                [RLIMIT_CORE] = both(0),
                                [RLIMIT_RSS] = both(memory),
                                [RLIMIT_NPROC] = both(or_none(q->processes)),
                                [RLIMIT_NOFILE] = {.rlim_cur = OPEN_FILES, .rlim_max = OPEN_FILES_TOP},
                                [RLIMIT_MEMLOCK] = both(LOCKED_MEMORY),
                                [RLIMIT_AS] = both(memory),
                                [RLIMIT_LOCKS] = both(0),
                                [RLIMIT_SIGPENDING] = both(SIGNALS),
                                [RLIMIT_MSGQUEUE] = both(MESSAGE_QUEUES),
                                [RLIMIT_NICE] = both(0),
                                [RLIMIT_RTPRIO] = both(0),
                                [RLIMIT_RTTIME] = both(0),
                        },
        };
}

bool environment_has(char *const *environment, const char *variable)
{
        size_t n = (size_t)(strchr(variable, '=') + 1 - variable);

        for (char *const *e = environment; e && *e; e++)
                if (strncmp(*e, variable, n) == 0)
                        return true;
        return false;
}

const char *surroundings_variable(const struct execute_request *q, size_t i)
{
        for (size_t k = 0; k < ARRAY_SIZE(standard); k++)
                if (!environment_has(q->environment, standard[k]) && i-- == 0)
                        return standard[k];
        for (char *const *e = q->environment; e && *e; e++)
                if (i-- == 0)
                        return *e;
        return NULL;
}

/* -- description and checks -- */

static json_t *limit_json(uint64_t limit)
{
        return limit == RLIM_INFINITY ? json_null() : json_integer((json_int_t)limit);
}

json_t *surroundings_json(const struct execute_request *q)
{
        json_t *j = json_object(), *limits = json_object(), *environment = json_array();
        struct surroundings s;
        const char *variable;
        char mask[8];

        surroundings_of(q, &s);
        for (size_t i = 0; i < SURROUNDINGS_LIMITS; i++) {
                const struct rlimit *l = &s.limits[i];

                json_object_set_new(limits, resources[i].name,
                                    l->rlim_cur == l->rlim_max
                                            ? limit_json(l->rlim_cur)
                                            : json_pack("[o, o]", limit_json(l->rlim_cur), limit_json(l->rlim_max)));
        }
        for (size_t i = 0; (variable = surroundings_variable(q, i)); i++)
                json_array_append_new(environment, json_string(variable));
        snprintf(mask, sizeof(mask), "%03" PRIo32, s.mask);
        json_object_set_new(j, "limits", limits);
        json_object_set_new(j, "class", json_string(s.timed ? "other" : "inherited"));
        json_object_set_new(j, "nice", s.timed ? json_integer(0) : json_string("inherited"));
        json_object_set_new(j, "personality", json_integer(0));
        json_object_set_new(j, "umask", json_string(mask));
        json_object_set_new(j, "environment", environment);
        return j;
}

static bool is_launched; /* set before any thread */

void surroundings_are_launched(void)
{
        is_launched = true;
}

int surroundings_refusal(const struct execute_request *q, uint32_t part, int error)
{
        const char *process = is_launched ? "the worker" : "this process";
        const char *start = is_launched ? "change 'launch' so that it starts the worker" : "start solverfs";
        struct surroundings s;
        char wanted[32] = "unlimited";

        if (part == PART_NICE)
                return errorf(-EIO, "a timed run has niceness 0, and %s may not go back to it (%s): %s without 'nice'", process, strerror(error), start);
        if (part == PART_CLASS)
                return errorf(-EIO,
                              "a timed run is scheduled like any other process, and %s may not leave its own class (%s): %s without 'chrt'", process,
                              strerror(error), start);
        if (part >= SURROUNDINGS_LIMITS)
                return errorf(-EIO, "the personality of a run cannot be set: %s", strerror(error));
        surroundings_of(q, &s);
        if (s.limits[part].rlim_max != RLIM_INFINITY)
                snprintf(wanted, sizeof(wanted), "%llu", (unsigned long long)s.limits[part].rlim_max);
        return errorf(-EIO,
                      "the limit '%s' of a run cannot be %s (%s): %s 'ulimit -H%c' is not lower%s%s", resources[part].name, wanted, strerror(error),
                      is_launched ? "the worker has a lower hard limit; change 'launch' so that"
                                  : "this process has a lower hard limit; start solverfs from a shell where",
                      resources[part].option[1], is_launched && part == RLIMIT_RSS ? ", as by a larger --mem of srun" : "",
                      part == RLIMIT_STACK ? ", or lower 'stack' in the recipe" : "");
}

struct refused {
        enum surroundings_part part;
        int error;
};

static void *try_schedule(void *user)
{
        struct refused *refused = user;

        refused->error = surroundings_set_schedule(&refused->part) ? 0 : errno;
        return NULL;
}

/* Scheduling is per thread: a short-lived thread shows what is allowed. */
static int check_schedule(const struct execute_request *q)
{
        struct refused refused = {0};
        pthread_t thread;
        int r = thread_start(&thread, try_schedule, &refused);

        if (r < 0)
                return r;
        pthread_join(thread, NULL);
        return refused.error ? surroundings_refusal(q, refused.part, refused.error) : 0;
}

int surroundings_check(const struct execute_request *q)
{
        struct surroundings s;
        int r = q->timed ? check_schedule(q) : 0;

        surroundings_of(q, &s);
        for (unsigned i = 0; i < SURROUNDINGS_LIMITS && r == 0 && geteuid() != 0; i++) {
                struct rlimit now;

                if (i == RLIMIT_NPROC && s.limits[i].rlim_max == RLIM_INFINITY)
                        continue; /* then the system's limit stays */
                if (getrlimit((__rlimit_resource_t)i, &now) == 0 && now.rlim_max < s.limits[i].rlim_max)
                        r = surroundings_refusal(q, i, EPERM);
        }
        return r;
}
