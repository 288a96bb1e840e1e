/* What a campaign of very many inputs keeps: its strategy, its journal and its checkpoints, as core/study/campaign has them, with runs that are made up.
 *
 *     million N [FOLDER]
 *
 * The target takes a millisecond; of 5,000 inputs about one is slow, and a find. Half of the inputs are tried in a process that is killed by SIGKILL,
 * the others where it is taken up again. A line at each tenth: inputs, finds, CPU time of an input, bytes of journal and checkpoint, memory. */
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "cache/base/hash.h"
#include "cache/base/record.h"
#include "core/study/campaign/campaign_journal.h"
#include "tests/support/strategies.h"

#define JOURNAL_MOST (1 << 20) /* as core/study/campaign/campaign_progress.c has it */
#define SLOW_ONE_IN  5000

struct campaign {
        struct strategy *strategy; /* owned */
        struct campaign_journal *journal;
        uint64_t inputs, finds, told; /* told: of the records behind the checkpoint */
        uint64_t left;               /* an input that is under way; 0: none */
        double began;
};

static void check(int r, const char *what)
{
        if (r >= 0)
                return;
        fprintf(stderr, "million: %s: %s\n", what, error_message(r));
        exit(1);
}

static double cpu_seconds(void)
{
        struct timespec t;

        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
        return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static uint64_t file_size(const char *path)
{
        struct stat st;

        return stat(path, &st) == 0 ? (uint64_t)st.st_size : 0;
}

static uint64_t memory_kb(const char *key)
{
        FILE *f = fopen("/proc/self/status", "re");
        unsigned long kb = 0;
        char line[200];

        while (f && fgets(line, sizeof(line), f))
                if (strncmp(line, key, strlen(key)) == 0)
                        sscanf(line + strlen(key), ": %lu", &kb);
        if (f)
                fclose(f);
        return kb;
}

static void make_strategy(struct campaign *c)
{
        struct strategy_options o = strategy_defaults;

        o.timeout = 2;
        o.threshold = 1;
        o.seed = 1;
        check(strategy_new(&o, &c->strategy), "a strategy");
}

static void note(struct campaign *c, struct campaign_record r)
{
        check(campaign_journal_add(c->journal, &r), "a record");
}

static void finish(struct campaign *c, uint64_t id, bool is_replayed)
{
        double score;

        if (strategy_finish(c->strategy, id, strategy_wants(c->strategy, id, NULL), &score)) {
                strategy_confirmed(c->strategy, id, true);
                c->finds++;
                if (!is_replayed)
                        note(c, (struct campaign_record){.event = EVENT_CONFIRMED, .id = id, .is_find = true});
        }
        c->inputs++;
        c->left = 0;
}

static void try(struct campaign *c)
{
        struct strategy_input input;
        unsigned version;
        double limit;
        bool is_slow;

        check(strategy_next(c->strategy, &input), "an input");
        note(c, (struct campaign_record){.event = EVENT_NEXT, .id = input.id});
        is_slow = hash_quick(input.text.data, input.text.size) % SLOW_ONE_IN == 0;
        while (strategy_step(c->strategy, input.id, &version, &limit)) {
                struct outcome o = {.seconds = is_slow && version == 1 ? 1.5 : 0.001, .verdict = VERDICT_SAT};

                strategy_ran(c->strategy, input.id, version, &o);
                note(c, (struct campaign_record){.event = EVENT_RAN,
                                                 .id = input.id,
                                                 .version = version,
                                                 .seconds = o.seconds,
                                                 .amount = o.seconds,
                                                 .verdict = o.verdict});
        }
        finish(c, input.id, false);
        note(c, (struct campaign_record){.event = EVENT_FINISH, .id = input.id});
        if (campaign_journal_size(c->journal) > JOURNAL_MOST) {
                cleanup_buffer struct buffer state = {0};

                record_put_u64(&state, c->inputs);
                record_put_u64(&state, c->finds);
                check(strategy_save(c->strategy, &state), "a strategy's state");
                check(campaign_journal_checkpoint(c->journal, 0, SLICE(state.data, state.size), NULL, 0), "a checkpoint");
        }
}

static int replay(void *user, const struct campaign_record *r)
{
        struct campaign *c = user;
        struct record state = record_of(r->state);
        struct strategy_input input;

        c->told++;
        if (r->event == EVENT_CHECKPOINT) {
                c->inputs = record_u64(&state);
                c->finds = record_u64(&state);
                return strategy_load(c->strategy, record_slice(&state, record_left(&state)));
        }
        if (r->event == EVENT_NEXT) {
                c->left = r->id;
                return r->is_known ? 0 : strategy_next(c->strategy, &input);
        }
        if (r->event == EVENT_RAN)
                strategy_ran(c->strategy, r->id, r->version, &(struct outcome){.seconds = r->seconds, .verdict = r->verdict});
        else if (r->event == EVENT_FINISH)
                finish(c, r->id, true);
        return 0;
}

static void take_up(struct campaign *c)
{
        double began = cpu_seconds();

        make_strategy(c);
        check(campaign_journal_open("journal", &c->journal), "the journal");
        check(campaign_journal_replay(c->journal, replay, c), "the journal");
        if (c->left > 0)
                finish(c, c->left, true);
        c->began = cpu_seconds();
        printf("begins behind %lu inputs, %lu of them records of the journal: %.2f s of CPU time\n", (unsigned long)c->inputs,
               (unsigned long)c->told, c->began - began);
        fflush(stdout);
}

static void go_on(struct campaign *c, uint64_t until, uint64_t every, volatile uint64_t *ret_inputs)
{
        uint64_t from = c->inputs;

        while (c->inputs < until) {
                try(c);
                *ret_inputs = c->inputs;
                if (c->inputs % every != 0)
                        continue;
                printf("%lu inputs\t%lu finds\t%.3f ms of CPU time an input\tjournal %lu\tmemory %lu kB, peak %lu kB\n",
                       (unsigned long)c->inputs, (unsigned long)c->finds, 1e3 * (cpu_seconds() - c->began) / (double)(c->inputs - from),
                       (unsigned long)file_size("journal"), (unsigned long)memory_kb("VmRSS"),
                       (unsigned long)memory_kb("VmHWM"));
                fflush(stdout);
        }
}

int main(int argc, char **argv)
{
        uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 0, every = MAX(n / 10, UINT64_C(1));
        char folder[] = "/tmp/millionXXXXXX";
        volatile uint64_t *inputs = mmap(NULL, sizeof(*inputs), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        struct campaign c = {0};
        uint64_t lost;
        pid_t child;

        if (n < 2 || inputs == MAP_FAILED || chdir(argc > 2 ? argv[2] : mkdtemp(folder)) < 0) {
                fprintf(stderr, "usage: million N [FOLDER]\n");
                return 2;
        }
        child = fork();
        if (child == 0) {
                take_up(&c);
                go_on(&c, UINT64_MAX, every, inputs);
        }
        while (*inputs < n / 2)
                usleep(1000);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        lost = *inputs;
        take_up(&c);
        printf("killed behind %lu inputs: %ld are lost\n", (unsigned long)lost, (long)lost - (long)c.inputs);
        go_on(&c, n, every, inputs);
        campaign_journal_close(c.journal);
        strategy_free(c.strategy);
        if (argc <= 2)
                remove_tree(folder);
        return 0;
}
