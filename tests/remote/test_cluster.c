#include "tests/support/test.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "tests/support/cluster_slots.h"
#include "tests/support/hello.h"

/* -- a cluster, and who waits for its slots -- */

static char here[PATH_SIZE - 200];

static struct cluster *open_with(const char *launch, const char *options, unsigned workers, uint64_t patience_ns)
{
        const char *solverfs = getenv("SOLVERFS_COMMAND");
        cleanup_buffer struct buffer worker = {0};
        struct cluster *c;

        ck_assert_ptr_nonnull(solverfs);
        ck_assert_ptr_nonnull(getcwd(here, sizeof(here)));
        buffer_add_shell_word(&worker, solverfs);
        buffer_adds(&worker, " worker --folder ");
        buffer_add_shell_word(&worker, here);
        buffer_addf(&worker, "/node %s", options);
        assert_ok(cluster_open(&(struct cluster_settings){.name = (char *)"lab",
                                                          .launch = (char *)launch,
                                                          .worker = worker.data,
                                                          .workers = workers,
                                                          .idle_ns = 60 * NSEC_PER_SEC,
                                                          .patience_ns = patience_ns},
                               &c));
        cluster_attach(c, cluster_slots_look, NULL);
        return c;
}

static struct cluster *open_lab(const char *launch)
{
        return open_with(launch, "--slots 1", 1, 60 * NSEC_PER_SEC);
}

static struct cluster_slot *take(struct cluster *c)
{
        struct cluster_slot *s;

        assert_ok(cluster_slots_take(c, 0, 1, &s));
        return s;
}

static void copy_view(void *user, const struct remote_view *v)
{
        static char why[4096];

        snprintf(why, sizeof(why), "%s", v->why);
        *(struct remote_view *)user = *v;
        ((struct remote_view *)user)->why = why;
}

static struct remote_view view(struct cluster *c)
{
        struct remote_view v;

        cluster_look(c, copy_view, &v);
        return v;
}

static void copy_uneven(void *user, const struct remote_view *v)
{
        snprintf(user, 256, "%s", v->uneven);
}

static const char *view_uneven(struct cluster *c)
{
        static char text[256];

        cluster_look(c, copy_uneven, text);
        return text;
}

/* -- programs -- */

static struct recipe *recipe_new_toy(const char *run)
{
        char text[512];
        struct recipe **list, *recipe;
        size_t n;

        snprintf(text, sizeof(text), "[solver]\nbuild = true\noutput = toy\neffort = 'steps ([0-9]+)'\nrun = %s\n", run);
        assert_ok(recipe_parse(text, "toy.recipe", "toy", &list, &n));
        recipe = recipe_ref(list[0]);
        recipe_list_free(list, n);
        return recipe;
}

static struct runner *runner_for(struct cluster_slot *s, struct recipe *recipe, const char *script)
{
        static const struct recipe_limits limits = {
                .wall_ns = 120 * NSEC_PER_SEC, .cpu_ns = 120 * NSEC_PER_SEC, .memory = 1 << 30, .output = 8 << 20, .processes = 64};
        struct run_program program = {.path = "toy", .name = "toy"};
        struct runner *r;

        if (access("toy", F_OK) != 0)
                assert_ok(write_file_atomic("toy", script, strlen(script), 0700));
        mkdir("scratch", 0700);
        r = runner_open(&(struct runner_options){.recipe = recipe,
                                                       .programs = &program,
                                                       .n_programs = 1,
                                                       .limits = limits,
                                                       .scratch_parent = "scratch",
                                                       .remote = cluster_slot_remote(s)});
        return r;
}

static int run_text(struct runner *r, const char *text, int cancel_fd, struct run_result *ret)
{
        return runner_run(r, &(struct run_input){.bytes = slice_string(text)}, cancel_fd, ret);
}

static void close_all(struct runner *r, struct cluster_slot *s, struct cluster *c)
{
        runner_close(r);
        cluster_give_back(s);
        cluster_close(c);
}

static void assert_is(const struct blob *b, const char *text)
{
        ck_assert_uint_eq(b->size, strlen(text));
        ck_assert_int_eq(memcmp(b->data, text, b->size), 0);
}

static const char answers[] = "#!/bin/sh\necho sat\ncat \"$1\"\necho steps 42 >&2\n";
/* Says who it is, by a line of the worker's standard error, which is ours, and waits for ever. */
static const char waits[] = "#!/bin/sh\necho begun\nsleep 1000\n";

/* -- tests -- */

START_TEST(test_runs)
{
        struct cluster *c = open_lab("exec {worker}");
        struct recipe *recipe = recipe_new_toy("{bin} {case}");
        struct cluster_slot *s = take(c);
        struct runner *r = runner_for(s, recipe, answers);
        char machine[PATH_SIZE], expected[PATH_SIZE];
        json_t *facts = host_facts();
        uint64_t sent;

        for (unsigned i = 0; i < 3; i++) {
                struct run_result result = {0};
                char text[32];

                snprintf(text, sizeof(text), "input %u\n", i);
                assert_ok(run_text(r, text, -1, &result));
                ck_assert_int_eq(result.verdict, VERDICT_SAT);
                ck_assert_int_eq(result.run.end, END_EXIT);
                ck_assert_uint_gt(result.run.wall_ns, 0);
                ck_assert_uint_eq(result.run.out.size, strlen("sat\n") + strlen(text));
                ck_assert_int_eq(memcmp((const char *)result.run.out.data + 4, text, strlen(text)), 0);
                assert_is(&result.run.err, "steps 42\n");
                run_result_done(&result);
        }
        sent = view(c).sent;
        assert_ok(cluster_machine(c, machine));
        snprintf(expected, sizeof(expected), "lab/%s/%lld", json_string_value(json_object_get(facts, "cpu")),
                 (long long)json_integer_value(json_object_get(facts, "cores")));
        ck_assert_str_eq(machine, expected);
        ck_assert_uint_lt(sent, 8192);
        close_all(r, s, c);
        json_decref(facts);
        recipe_unref(recipe);
}
END_TEST

/* A large program goes once to a worker, and not again to the next one on the same folder; outputs of many packets come whole. */
START_TEST(test_sizes)
{
        struct recipe *recipe = recipe_new_toy("{bin} {case}");
        cleanup_buffer struct buffer script = {0};
        uint64_t sent[2];

        buffer_adds(&script, "#!/bin/sh\nhead -c 5000000 /dev/zero\nhead -c 3000000 /dev/zero >&2\nexit\n");
        srandom(1);
        while (script.size < 3 << 20)
                buffer_addf(&script, "%lx\n", random());
        for (unsigned i = 0; i < 2; i++) {
                struct cluster *c = open_lab("exec {worker}");
                struct cluster_slot *s = take(c);
                struct runner *r = runner_for(s, recipe, script.data);

                for (unsigned k = 0; k < 2; k++) {
                        struct run_result result = {0};

                        assert_ok(run_text(r, "a", -1, &result));
                        ck_assert_uint_eq(result.run.out.size, 5000000);
                        ck_assert_uint_eq(result.run.err.size, 3000000);
                        run_result_done(&result);
                }
                sent[i] = view(c).sent;
                close_all(r, s, c);
        }
        ck_assert_uint_gt(sent[0], 1 << 20);
        ck_assert_uint_lt(sent[0], 4 << 20);
        ck_assert_uint_lt(sent[1], 16384);
        recipe_unref(recipe);
}
END_TEST

struct run_in_thread {
        struct runner *runner;
        int cancel_fd, r;
};

static void *run_it(void *user)
{
        struct run_in_thread *t = user;
        struct run_result result = {0};

        t->r = run_text(t->runner, "a", t->cancel_fd, &result);
        run_result_done(&result);
        return NULL;
}

/* Waits until the worker's program is at work: its sandbox has a folder of its own then. */
static void await_scratch(void)
{
        struct stat st;

        while (stat("node/scratch", &st) < 0 || st.st_nlink < 3)
                poll(NULL, 0, 5);
}

static pid_t read_pid(const char *path)
{
        cleanup_blob struct blob text = {0};

        assert_ok(read_file(path, 64, &text));
        return atoi(text.data);
}

START_TEST(test_cancel)
{
        struct cluster *c = open_lab("exec {worker}");
        struct recipe *recipe = recipe_new_toy("{bin} {case}");
        struct cluster_slot *s = take(c);
        struct run_in_thread t = {.runner = runner_for(s, recipe, waits), .cancel_fd = eventfd(0, EFD_CLOEXEC)};
        pthread_t thread;

        ck_assert_int_eq(pthread_create(&thread, NULL, run_it, &t), 0);
        await_scratch();
        eventfd_write(t.cancel_fd, 1);
        pthread_join(thread, NULL);
        ck_assert_int_eq(t.r, -ECANCELED);
        ck_assert_uint_eq(view(c).present, 1); /* the worker is as good as before */
        ck_assert_uint_eq(view(c).lost, 0);
        close_all(t.runner, s, c);
        recipe_unref(recipe);
}
END_TEST

/* kill -9 of a worker in the middle of a run: its run is lost and told so, nothing of it stays, and the next slot is another worker's. */
START_TEST(test_killed)
{
        struct cluster *c = open_lab("echo $$ >pid; exec {worker}");
        struct recipe *recipe = recipe_new_toy("{bin} {case}");
        struct cluster_slot *s = take(c);
        struct run_in_thread t = {.runner = runner_for(s, recipe, waits), .cancel_fd = -1};
        struct run_result result = {0};
        pthread_t thread;
        pid_t first = read_pid("pid");

        ck_assert_int_eq(pthread_create(&thread, NULL, run_it, &t), 0);
        await_scratch();
        kill(first, SIGKILL);
        pthread_join(thread, NULL);
        ck_assert_int_eq(t.r, -EREMOTEIO);
        ck_assert_uint_eq(view(c).lost, 1);
        runner_close(t.runner);
        cluster_give_back(s);
        unlink("toy");
        s = take(c);
        ck_assert_int_ne(read_pid("pid"), first);
        t.runner = runner_for(s, recipe, answers);
        assert_ok(run_text(t.runner, "a", -1, &result));
        ck_assert_int_eq(result.verdict, VERDICT_SAT);
        run_result_done(&result);
        close_all(t.runner, s, c);
        recipe_unref(recipe);
}
END_TEST

/* -- a worker that answers pings, begins runs, and returns none -- */

static void answer(int to, uint32_t *sequence, enum packet_type type, uint64_t id, void *message)
{
        cleanup_buffer struct buffer body = {0}, packet = {0};

        if (message)
                message_write(type, message, &body);
        assert_ok(packet_write(type, id, (*sequence)++, SLICE(body.data, body.size), &packet));
        assert_ok(write_all(to, packet.data, packet.size));
}

static void *keep_runs(void *hello)
{
        cleanup_close int from = open("down", O_RDONLY | O_CLOEXEC), to = open("up", O_WRONLY | O_CLOEXEC);
        struct packet_stream in = {0};
        uint32_t sequence = 0;
        struct packet p;
        char bytes[4096];
        ssize_t k;

        while ((k = read(from, bytes, sizeof(bytes))) > 0) {
                buffer_add(&in.bytes, bytes, (size_t)k);
                while (packet_stream_next(&in, &p) == 0) {
                        if (p.type == PACKET_HELLO)
                                answer(to, &sequence, PACKET_HELLO, 0, hello);
                        else if (p.type == PACKET_RUN)
                                answer(to, &sequence, PACKET_PROGRESS, p.id, &(struct remote_progress){.what = (char *)"runs"});
                        else if (p.type == PACKET_PING)
                                answer(to, &sequence, PACKET_PONG, p.id, NULL);
                }
        }
        buffer_done(&in.bytes);
        return NULL;
}

/* Runs on such a worker; `leaves`: the head ends meanwhile, as at a signal. */
static void run_kept(bool leaves, int expected, const char *why)
{
        json_t *facts = host_facts();
        struct remote_hello hello = {.protocol = REMOTE_PROTOCOL, .version = (char *)"0.1.0", .host = (char *)"n7", .cpu = (char *)"Abacus",
                                     .kernel = (char *)"Linux 1", .libc = (char *)json_string_value(json_object_get(facts, "libc")),
                                     .toolchain = (char *)"compilers", .facts = (char *)"{}", .cores = 1, .slots = 1, .left_ns = UINT64_MAX};
        struct cluster *c = open_with("cat up & exec cat >down", "", 1, 500 * NSEC_PER_MSEC);
        struct recipe *recipe = recipe_new_toy("{bin} {case}");
        struct recipe_limits limits = {.wall_ns = NSEC_PER_SEC};
        struct run_in_thread t = {.cancel_fd = eventfd(0, EFD_CLOEXEC)};
        pthread_t worker, run;
        struct cluster_slot *s;
        uint64_t began;

        ck_assert_int_eq(mkfifo("up", 0600), 0);
        ck_assert_int_eq(mkfifo("down", 0600), 0);
        ck_assert_int_eq(pthread_create(&worker, NULL, keep_runs, &hello), 0);
        s = take(c);
        t.runner = runner_for(s, recipe, answers);
        if (!leaves)
                runner_set_limits(t.runner, &limits);
        began = now_ns();
        ck_assert_int_eq(pthread_create(&run, NULL, run_it, &t), 0);
        if (leaves) {
                cluster_attach(c, NULL, NULL);
                eventfd_write(t.cancel_fd, 1);
        }
        pthread_join(run, NULL);
        ck_assert_int_eq(t.r, expected);
        ck_assert_msg(strstr(view(c).why, why), "%s", view(c).why);
        ck_assert_uint_lt(now_ns() - began, 10 * NSEC_PER_SEC);
        close_all(t.runner, s, c);
        pthread_join(worker, NULL);
        close(t.cancel_fd);
        json_decref(facts);
        recipe_unref(recipe);
}

START_TEST(test_a_worker_that_returns_no_run_is_given_up)
{
        run_kept(false, -EREMOTEIO, "n7 returned no result of a run within its limit of 1s and 1s more");
}
END_TEST

START_TEST(test_a_head_that_ends_waits_for_no_cancelled_run)
{
        run_kept(true, -EREMOTEIO, "n7 did not end a request that it was told to end");
}
END_TEST

/* Another worker with the same folder made room for its own files. */
START_TEST(test_files_that_go_while_a_run_waits_for_its_core_are_sent_again)
{
        struct cluster *c = open_lab("exec {worker}");
        struct recipe *recipe = recipe_new_toy("{bin} {case}");
        struct cluster_slot *s = take(c);
        struct run_in_thread t = {.runner = runner_for(s, recipe, answers), .cancel_fd = -1};
        int cpus[CPU_SETSIZE];
        unsigned n = (unsigned)host_cores(cpus, CPU_SETSIZE);
        struct slot *slots = allocate(n, sizeof(*slots));
        pthread_t thread;

        for (unsigned i = 0; i < n; i++)
                assert_ok(slot_lease(NULL, "the test", UINT64_MAX, -1, &slots[i]));
        ck_assert_int_eq(pthread_create(&thread, NULL, run_it, &t), 0);
        while (!slot_is_marked(slots[0].folder, SLOT_BATCH_HAS_NONE))
                poll(NULL, 0, 1);
        ck_assert_int_eq(system("rm node/programs/*"), 0);
        for (unsigned i = 0; i < n; i++)
                slot_release(&slots[i]);
        free(slots);
        pthread_join(thread, NULL);
        ck_assert_msg(t.r == 0, "%s", error_message(t.r));
        close_all(t.runner, s, c);
        recipe_unref(recipe);
}
END_TEST

static _Atomic bool holds, is_held;

/* The cluster's thread, which reads what workers send, has no turn while this holds it. */
static void look_and_hold(void *user)
{
        cluster_slots_look(user);
        is_held = holds;
        while (holds)
                poll(NULL, 0, 5);
}

/* As by ^Z and, later, fg: the answer has come meanwhile, and is read after whoever waits for it has looked at the clock. */
START_TEST(test_a_head_that_was_stopped_reads_before_it_gives_up)
{
        struct cluster *c = open_with("echo >>launches; test $(wc -l <launches) = 1 || until test -e go; do sleep 0.01; done; exec {worker}",
                                      "--slots 1", 2, 2 * NSEC_PER_SEC);
        struct recipe *recipe = recipe_new_toy("{bin} {case}");
        struct cluster_slot *s = take(c), *other;
        struct run_in_thread t = {.runner = runner_for(s, recipe, "#!/bin/sh\nsleep 1\necho sat\n"), .cancel_fd = -1};
        pid_t stops;
        pthread_t thread;

        cluster_attach(c, look_and_hold, NULL);
        runner_set_limits(t.runner, &(struct recipe_limits){.wall_ns = 2 * NSEC_PER_SEC, .memory = 1 << 30, .output = 1 << 20, .processes = 64});
        ck_assert_int_eq(cluster_take(c, 0, 1, &other), -EAGAIN); /* launches the other worker, whose hello calls retry() */
        ck_assert_int_eq(pthread_create(&thread, NULL, run_it, &t), 0);
        await_scratch();
        poll(NULL, 0, 200);
        holds = true;
        assert_ok(write_file_atomic("go", "", 0, 0600));
        while (!is_held)
                poll(NULL, 0, 5);
        stops = fork();
        if (stops == 0) {
                kill(getppid(), SIGSTOP);
                poll(NULL, 0, 7000); /* the limit and twice the patience */
                _exit(kill(getppid(), SIGCONT));
        }
        ck_assert_int_eq(waitpid(stops, NULL, 0), stops);
        poll(NULL, 0, 200);
        holds = false;
        pthread_join(thread, NULL);
        ck_assert_msg(t.r == 0, "%s", error_message(t.r));
        ck_assert_uint_eq(view(c).lost, 0);
        close_all(t.runner, s, c);
        recipe_unref(recipe);
}
END_TEST

/* The worker ends with its input, and ends what it runs. */
START_TEST(test_closed)
{
        struct cluster *c = open_lab("echo $$ >pid; exec {worker}");
        struct cluster_slot *s = take(c);
        cleanup_close int folder = open("node", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        pid_t pid = read_pid("pid");

        ck_assert_int_eq(flock(folder, LOCK_EX | LOCK_NB), -1); /* as systemd-tmpfiles asks */
        cluster_give_back(s);
        cluster_close(c);
        ck_assert_int_eq(kill(pid, 0), -1);
        ck_assert_int_eq(errno, ESRCH);
        ck_assert_int_eq(flock(folder, LOCK_EX | LOCK_NB), 0);
}
END_TEST

START_TEST(test_launch_fails)
{
        struct cluster *c = open_lab("echo 'srun: error: invalid partition' >&2; echo x >>launches; exit 3");
        struct cluster_slot *s;
        cleanup_blob struct blob launches = {0};

        assert_error(cluster_slots_take(c, 0, 1, &s), EIO);
        ck_assert_str_eq(error_message(-EIO), "no worker of the cluster lab can be had: a worker that was launched ended with status 3 before it "
                                              "said hello: srun: error: invalid partition");
        assert_ok(read_file("launches", 4096, &launches));
        ck_assert_uint_eq(launches.size, 2 * CLUSTER_FAILURES);
        cluster_close(c);
}
END_TEST

static void leave_descriptors(unsigned n)
{
        struct rlimit limit;
        int first = open("/dev/null", O_RDONLY | O_CLOEXEC);

        ck_assert_int_ge(first, 0); /* none is free below it */
        close(first);
        ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
        limit.rlim_cur = (rlim_t)first + n;
        ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

static bool has_why(struct cluster *c)
{
        return view(c).why[0] != '\0';
}

/* However few there are: a worker is launched or not, and when the cluster is closed it has gone. */
START_TEST(test_no_descriptors)
{
        unsigned launched = 0;
        int worker;
        FILE *f;

        for (unsigned n = 0; n < 10; n++) {
                char name[32], launch[64];
                struct stat st;
                int status;
                pid_t pid;

                snprintf(name, sizeof(name), "launched%u", n);
                snprintf(launch, sizeof(launch), "echo $$ >%s; exec sleep 1000", name);
                pid = fork();
                if (pid == 0) {
                        struct cluster *c = open_lab(launch);
                        struct cluster_slot *s;

                        leave_descriptors(n);
                        assert_error(cluster_take(c, 0, 1, &s), EAGAIN);
                        while ((stat(name, &st) < 0 || st.st_size == 0) && !has_why(c))
                                usleep(1000);
                        cluster_close(c);
                        _exit(0);
                }
                ck_assert_int_eq(waitpid(pid, &status, 0), pid);
                ck_assert_int_eq(status, 0);
                f = fopen(name, "re");
                if (f && fscanf(f, "%d", &worker) == 1) {
                        ck_assert(kill(worker, 0) < 0 && errno == ESRCH);
                        launched++;
                }
                if (f)
                        fclose(f);
        }
        ck_assert_uint_gt(launched, 0);
}
END_TEST

/* The descriptors left are enough for a launch, and not for the slots that the worker then has. */
START_TEST(test_no_descriptors_for_slots)
{
        json_t *facts = host_facts();
        struct remote_hello h = {.protocol = REMOTE_PROTOCOL, .version = (char *)"0.1.0", .host = (char *)"n7", .slots = 64, .cores = 64,
                                 .facts = (char *)"{}", .left_ns = UINT64_MAX, .libc = (char *)json_string_value(json_object_get(facts, "libc"))};
        struct cluster *c = open_lab("cat hello; exec cat >/dev/null");
        struct cluster_slot *s;

        write_hello(&h);
        ck_assert_int_ge(fcntl(STDIN_FILENO, F_GETFD), 0);
        leave_descriptors(12);
        assert_error(cluster_slots_take(c, 0, 1, &s), EIO);
        ck_assert_msg(strstr(error_message(-EIO), "n7 cannot be given runs: Too many open files"), "%s", error_message(-EIO));
        cluster_close(c);
        ck_assert_int_ge(fcntl(STDIN_FILENO, F_GETFD), 0);
        json_decref(facts);
}
END_TEST

START_TEST(test_noise)
{
        struct cluster *c = open_lab("echo Welcome to the lab; exec {worker}");
        struct cluster_slot *s;

        assert_error(cluster_slots_take(c, 0, 1, &s), EIO);
        ck_assert_ptr_nonnull(strstr(error_message(-EIO), "printed 'Welcome to the lab\\n"));
        cluster_close(c);
}
END_TEST

static long memory_kb(void)
{
        struct rusage usage;

        ck_assert_int_eq(getrusage(RUSAGE_SELF, &usage), 0);
        return usage.ru_maxrss;
}

/* A worker that writes as fast as it is read does not keep others from the cluster, nor is kept what it writes once it was told to end. */
START_TEST(test_floods)
{
        static const char *const launches[] = {
                "cat hello; for i in 1 2 3; do cat /dev/zero >&2 & done; cat >/dev/null; kill $(jobs -p); exit 0",
                "cat hello; cat >/dev/null; exec head -c 400000000 /dev/zero",
        };
        long before = memory_kb();

        write_probe("n3", 10000000);
        for (size_t i = 0; i < ARRAY_SIZE(launches); i++) {
                struct cluster *c = open_lab(launches[i]);
                struct cluster_slot *s = take(c);

                for (unsigned k = 0; k < 100; k++)
                        ck_assert_uint_eq(view(c).present, 1);
                cluster_give_back(s);
                cluster_close(c);
        }
        ck_assert_int_lt(memory_kb() - before, 100000);
}
END_TEST

static void assert_refused(const struct remote_hello *h, const char *machine, const char *why)
{
        struct cluster *c;
        struct cluster_slot *s;

        write_hello(h);
        c = open_lab("cat hello; exec cat >/dev/null");
        cluster_know_machine(c, machine);
        assert_error(cluster_slots_take(c, 0, 1, &s), EIO);
        ck_assert_msg(strstr(error_message(-EIO), why), "%s", error_message(-EIO));
        cluster_close(c);
}

START_TEST(test_refused)
{
        json_t *facts = host_facts();
        struct remote_hello h = {.protocol = REMOTE_PROTOCOL, .version = (char *)"0.0.1", .host = (char *)"n7", .slots = 1, .cores = 2, .facts = (char *)"{}", .left_ns = UINT64_MAX,
                                 .cpu = (char *)"Abacus", .kernel = (char *)"Linux 1", .libc = (char *)json_string_value(json_object_get(facts, "libc"))};

        assert_refused(&h, "lab/Abacus/2", "n7 is solverfs 0.0.1, and this is ");
        h.protocol = 99;
        assert_refused(&h, "lab/Abacus/2", "is solverfs 0.0.1, and this is ");
        h.version = (char *)"\xff\033[2J";
        assert_refused(&h, "lab/Abacus/2", "is solverfs \\xff\\x1b[2J, and this is ");
        h.protocol = REMOTE_PROTOCOL;
        h.version = (char *)"0.1.0";
        assert_refused(&h, "lab/Quipu/2", "n7 is left out: it is another machine (lab/Abacus/2, and the results of this cluster are of lab/Quipu/2)");
        h.slots = 0;
        assert_refused(&h, "lab/Abacus/2", "n7 has no core");
        h.slots = 1;
        h.libc = (char *)"2.1";
        assert_refused(&h, "lab/Abacus/2", "n7 is left out: it has the C library 2.1");
        h.facts = (char *)"{\"arch\": \"vax\"}";
        assert_refused(&h, "lab/Abacus/2", "n7 is left out: it has a processor of the kind vax, and programs are built here for ");
        json_decref(facts);
}
END_TEST

static void write_tools(const char *host, const char *toolchain)
{
        write_node(host, 10000000, toolchain);
}

/* Nodes that call themselves one machine and are not equally fast. */
START_TEST(test_uneven)
{
        struct cluster *c = open_with("cat hello; cat >/dev/null; exit 0", "", 3, 60 * NSEC_PER_SEC);
        struct cluster_slot *slots[3];

        write_probe("n3", 10000000);
        slots[0] = take(c);
        write_probe("n5", 10400000);
        slots[1] = take(c);
        ck_assert_str_eq(view_uneven(c), "");
        write_probe("n7", 11000000);
        slots[2] = take(c);
        ck_assert_str_eq(view_uneven(c), "n7 takes 1.10 times as long as n3 for the same probe");
        for (size_t i = 0; i < ARRAY_SIZE(slots); i++)
                cluster_give_back(slots[i]);
        cluster_close(c);
}
END_TEST

/* A worker that has said hello waits for its input's end; until there is a `hello` it is a launch that waits in a queue. */
static const char queued_launch[] = "echo $$ >>pids; [ -e hello ] || exec sleep 1000; cat hello; cat >/dev/null; exit 0";

static void await_launches(unsigned n)
{
        cleanup_blob struct blob text = {0};
        unsigned lines = 0;

        while (lines < n) {
                poll(NULL, 0, 1);
                blob_done(&text);
                if (read_file("pids", 4096, &text) < 0)
                        continue;
                lines = 0;
                for (size_t i = 0; i < text.size; i++)
                        lines += ((const char *)text.data)[i] == '\n';
        }
}

static void kill_launched(unsigned n)
{
        char line[32];
        FILE *f = fopen("pids", "re");

        ck_assert_ptr_nonnull(f);
        for (unsigned i = 0; i < n; i++) {
                ck_assert_ptr_nonnull(fgets(line, sizeof(line), f));
                ck_assert_int_eq(kill(atoi(line), SIGKILL), 0);
        }
        fclose(f);
}

START_TEST(test_workers_lost_in_use_are_no_failed_launches)
{
        struct cluster *c = open_with(queued_launch, "", 4, 60 * NSEC_PER_SEC);
        struct cluster_slot *slots[4];

        write_probe("n3", 10000000);
        for (size_t i = 0; i < ARRAY_SIZE(slots); i++)
                slots[i] = take(c);
        kill_launched(ARRAY_SIZE(slots));
        while (view(c).lost < ARRAY_SIZE(slots))
                poll(NULL, 0, 1);
        for (size_t i = 0; i < ARRAY_SIZE(slots); i++)
                cluster_give_back(slots[i]);
        cluster_give_back(take(c));
        cluster_close(c);
}
END_TEST

START_TEST(test_launches_that_fail_together_are_one_failure)
{
        struct cluster *c = open_with(queued_launch, "", CLUSTER_FAILURES, 60 * NSEC_PER_SEC);
        struct cluster_slot *s;

        ck_assert_int_eq(cluster_take(c, 0, CLUSTER_FAILURES, &s), -EAGAIN);
        await_launches(CLUSTER_FAILURES);
        write_probe("n3", 10000000);
        kill_launched(CLUSTER_FAILURES);
        while (view(c).queued > 0 && view(c).present == 0) /* all were noted, or the next ones are there */
                poll(NULL, 0, 1);
        cluster_give_back(take(c));
        cluster_close(c);
}
END_TEST

START_TEST(test_each_lost_worker_has_its_own_reason)
{
        struct cluster *c = open_with("echo $$ >pid; cat hello; cat >/dev/null; exit 0", "", 2, 60 * NSEC_PER_SEC);
        struct recipe *recipe = recipe_new_toy("{bin} {case}");
        static const char *const hosts[] = {"n3", "n5"};
        struct cluster_slot *slots[2];
        pid_t pids[2];

        for (size_t i = 0; i < 2; i++) {
                write_probe(hosts[i], 10000000);
                slots[i] = take(c);
                pids[i] = read_pid("pid");
        }
        for (unsigned i = 0; i < 2; i++) {
                ck_assert_int_eq(kill(pids[i], SIGKILL), 0);
                while (view(c).lost <= i)
                        poll(NULL, 0, 1);
        }
        for (size_t i = 0; i < 2; i++) {
                struct runner *r = runner_for(slots[i], recipe, answers);
                struct run_result result;
                char why[64];

                snprintf(why, sizeof(why), "the worker on %s was lost: %s ", hosts[i], hosts[i]);
                assert_error(run_text(r, "a", -1, &result), EREMOTEIO);
                ck_assert_msg(strstr(error_message(-EREMOTEIO), why), "%s", error_message(-EREMOTEIO));
                runner_close(r);
                cluster_give_back(slots[i]);
        }
        cluster_close(c);
        recipe_unref(recipe);
}
END_TEST

/* Another head noted its machine in the store first. */
START_TEST(test_workers_of_another_machine_than_the_store_s_leave)
{
        struct cluster *c = open_with(queued_launch, "", 1, 60 * NSEC_PER_SEC);
        struct cluster_slot *s;
        char machine[PATH_SIZE];

        write_probe("n3", 10000000);
        s = take(c);
        cluster_know_machine(c, "lab/Abacus/1");
        ck_assert_uint_eq(view(c).present, 1);
        cluster_know_machine(c, "lab/Quipu/2");
        ck_assert_uint_eq(view(c).present, 0);
        assert_ok(cluster_machine(c, machine));
        ck_assert_str_eq(machine, "lab/Quipu/2");
        ck_assert_str_eq(cluster_slot_remote(s)->machine, "lab/Abacus/1");
        cluster_give_back(s);
        assert_error(cluster_slots_take(c, 0, 1, &s), EIO);
        ck_assert_msg(strstr(error_message(-EIO), "n3 is left out: it is another machine"), "%s", error_message(-EIO));
        cluster_close(c);
}
END_TEST

/* Where builds are done, nodes with different compilers are different machines. */
START_TEST(test_toolchains)
{
        struct cluster *c = open_with("cat hello; cat >/dev/null; exit 0", "", 2, 60 * NSEC_PER_SEC);
        struct cluster_slot *first, *second;

        cluster_will_build(c);
        write_tools("n3", "old compilers");
        first = take(c);
        ck_assert_str_eq(cluster_slot_toolchain(first), "old compilers");
        write_tools("n5", "new compilers");
        ck_assert_int_eq(cluster_take(c, 0, 1, &second), -EAGAIN);
        while (view(c).left_out == 0)
                poll(NULL, 0, 5);
        ck_assert_msg(strstr(view(c).why, "n5 is left out: it has other compilers"), "%s", view(c).why);
        cluster_give_back(first);
        cluster_close(c);
}
END_TEST

/* A network that is slow, cuts, damages or repeats: a right result, or an error that says another place may do it. */
START_TEST(test_unfaithful)
{
        static const struct {
                const char *how;
                bool right;
        } ways[] = {{"--delay 50", true}, {"--cut 2000", false}, {"--flip 2000", false}, {"--twice 2000", false}, {"--stall 2000", false}};
        struct recipe *recipe = recipe_new_toy("{bin} {case}");

        for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
                cleanup_buffer struct buffer launch = {0};
                struct run_result result = {0};
                struct cluster_slot *s;
                struct cluster *c;
                struct runner *r;
                int k = 0;

                buffer_adds(&launch, "exec ");
                buffer_add_shell_word(&launch, getenv("SOLVERFS_SOURCE"));
                buffer_addf(&launch, "/tests/remote/unfaithful.py %s {worker}", ways[i].how);
                c = open_with(launch.data, "--slots 1", 1, ways[i].right ? 60 * NSEC_PER_SEC : 300 * NSEC_PER_MSEC);
                s = take(c);
                r = runner_for(s, recipe, answers);
                for (unsigned n = 0; k == 0 && n < 20; n++) {
                        k = run_text(r, "(check-sat)\n", -1, &result);
                        if (k == 0) {
                                ck_assert_int_eq(result.verdict, VERDICT_SAT);
                                assert_is(&result.run.out, "sat\n(check-sat)\n");
                                run_result_done(&result);
                                result = (struct run_result){0};
                        }
                }
                ck_assert_msg(k == (ways[i].right ? 0 : -EREMOTEIO), "%s: %d: %s", ways[i].how, k, error_message(k));
                close_all(r, s, c);
        }
        recipe_unref(recipe);
}
END_TEST

/* A worker that ends before a run could is given none; when every worker has too little time that is said. */
START_TEST(test_walltime)
{
        struct cluster *c = open_with("exec {worker}", "--slots 1 --for 60s", 1, 60 * NSEC_PER_SEC);
        struct recipe *recipe = recipe_new_toy("{bin} {case}");
        struct run_result result = {0};
        struct recipe_limits longer = {.wall_ns = 58 * NSEC_PER_SEC};
        struct cluster_slot *s;
        struct runner *r;

        assert_ok(cluster_slots_take(c, 20 * NSEC_PER_SEC, 1, &s));
        r = runner_for(s, recipe, answers);
        runner_set_limits(r, &longer);
        assert_error(run_text(r, "a", -1, &result), ERESTART);
        runner_close(r);
        cluster_give_back(s);
        assert_error(cluster_slots_take(c, 120 * NSEC_PER_SEC, 1, &s), EIO);
        ck_assert_ptr_nonnull(strstr(error_message(-EIO), "a run of up to 2m fits into no worker of the cluster lab, which has "));
        cluster_close(c);
        recipe_unref(recipe);
}
END_TEST

/* So inside an allocation that is nearly over: the next worker would have as little time. A shorter run has none of that error. */
START_TEST(test_too_little_time_left_is_the_answer_of_the_run_that_asked)
{
        struct cluster *c = open_lab("echo $$ >pid; echo x >>launches; test $(wc -l <launches) -gt 1 || exec {worker} --for 1h; exec {worker} --for 60s");
        cleanup_blob struct blob launches = {0};
        struct cluster_slot *s = take(c);

        kill(read_pid("pid"), SIGKILL);
        while (view(c).lost == 0)
                nanosleep(&(struct timespec){.tv_nsec = NSEC_PER_MSEC}, NULL);
        cluster_give_back(s);
        assert_error(cluster_slots_take(c, 600 * NSEC_PER_SEC, 2, &s), EIO);
        ck_assert_msg(strstr(error_message(-EIO), "a run of up to 10m fits into no worker of the cluster lab, which has "), "%s", error_message(-EIO));
        assert_ok(cluster_slots_take(c, 20 * NSEC_PER_SEC, 1, &s));
        cluster_give_back(s);
        assert_ok(read_file("launches", 4096, &launches));
        ck_assert_uint_eq(launches.size, 2 * (1 + CLUSTER_FAILURES));
        cluster_close(c);
}
END_TEST

/* Yesterday's failures are no answer today: the next launch is waited for. */
START_TEST(test_failed_launches_refuse_no_later_run)
{
        struct cluster *c = open_lab("test ! -e down || exit 3; sleep 0.3; exec {worker}");
        struct cluster_slot *s;

        assert_ok(write_file_atomic("down", "", 0, 0644));
        assert_error(cluster_slots_take(c, 0, 1, &s), EIO);
        ck_assert_int_eq(unlink("down"), 0);
        nanosleep(&(struct timespec){.tv_sec = 1}, NULL); /* longer than the pause behind the third failure */
        assert_ok(cluster_slots_take(c, 0, 1, &s));
        cluster_give_back(s);
        cluster_close(c);
}
END_TEST

/* One worker with little time says nothing of the next. */
START_TEST(test_a_longer_run_waits_for_the_next_worker)
{
        struct cluster *c = open_lab("echo x >>launches; test $(wc -l <launches) -gt 1 || exec {worker} --for 60s; exec {worker} --for 1h");
        struct cluster_slot *s;

        assert_ok(cluster_slots_take(c, 120 * NSEC_PER_SEC, 1, &s));
        cluster_give_back(s);
        cluster_close(c);
}
END_TEST

/* A worker at work that has too little time left for the next run is no reason to wait: another one is launched. */
START_TEST(test_a_worker_is_launched_beside_one_without_time)
{
        struct cluster *c = open_with("echo x >>launches; test $(wc -l <launches) -gt 1 || exec {worker} --for 60s; exec {worker} --for 1h", "--slots 2", 2,
                                      60 * NSEC_PER_SEC);
        struct cluster_slot *s, *longer;

        assert_ok(cluster_slots_take(c, 20 * NSEC_PER_SEC, 1, &s));
        assert_ok(cluster_slots_take(c, 600 * NSEC_PER_SEC, 1, &longer));
        cluster_give_back(longer);
        cluster_give_back(s);
        cluster_close(c);
}
END_TEST

START_TEST(test_no_worker_is_launched_for_a_refused_run)
{
        struct cluster *c = open_with("echo x >>launches; exec {worker}", "--slots 1 --for 60s", 8, 60 * NSEC_PER_SEC);
        cleanup_blob struct blob launches = {0};
        struct cluster_slot *s;

        assert_error(cluster_slots_take(c, 120 * NSEC_PER_SEC, 1, &s), EIO);
        nanosleep(&(struct timespec){.tv_sec = 2}, NULL);
        assert_ok(read_file("launches", 4096, &launches));
        ck_assert_uint_lt(launches.size, 2 * 8);
        cluster_close(c);
}
END_TEST

SUITE("cluster", test_runs, test_sizes, test_cancel, test_killed, test_a_worker_that_returns_no_run_is_given_up,
      test_a_head_that_ends_waits_for_no_cancelled_run, test_files_that_go_while_a_run_waits_for_its_core_are_sent_again,
      test_a_head_that_was_stopped_reads_before_it_gives_up, test_closed, test_launch_fails, test_no_descriptors,
      test_no_descriptors_for_slots, test_noise, test_floods, test_refused, test_uneven,
      test_workers_lost_in_use_are_no_failed_launches, test_launches_that_fail_together_are_one_failure,
      test_each_lost_worker_has_its_own_reason, test_workers_of_another_machine_than_the_store_s_leave, test_toolchains, test_unfaithful, test_walltime,
      test_too_little_time_left_is_the_answer_of_the_run_that_asked, test_failed_launches_refuse_no_later_run,
      test_a_longer_run_waits_for_the_next_worker, test_no_worker_is_launched_for_a_refused_run,
      test_a_worker_is_launched_beside_one_without_time)
