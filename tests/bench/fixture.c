#include "fixture.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "bench.h"
#include "core/query/query_internal.h"
#include "fs/kernel/session.h"

/* -- the daemon -- */

static void say_ready(void *, int r)
{
        if (r == 0)
                (void)!write(STDOUT_FILENO, "ready\n", 6);
}

int fixture_serve(const char *store, const char *mount, bool finished)
{
        const struct session_options options = {.mountpoint = mount, .options = finished ? "cached" : NULL, .ready = say_ready};
        struct workspace *w = NULL;
        struct engine *e = NULL;
        int r = workspace_open(store, 0, &w);

        if (r == 0)
                r = workspace_engine(w, NULL, &e);
        if (r == 0)
                r = session_run(w, e, &options);
        if (r < 0)
                bench_say("the daemon: %s", error_message(r));
        engine_close(e);
        workspace_close(w);
        return r < 0;
}

static int wait_ready(int fd)
{
        struct pollfd p = {.fd = fd, .events = POLLIN};
        char line[8];

        return poll(&p, 1, 60000) > 0 && read(fd, line, sizeof(line)) == 6 ? 0 : errorf(-EIO, "the daemon did not come up");
}

int fixture_start(const char *store, const char *mount, bool finished, pid_t *ret)
{
        char *const argv[] = {(char *)"bench",
                              (char *)FIXTURE_SERVE,
                              (char *)store,
                              (char *)mount,
                              (char *)(finished ? "finished" : "whole"),
                              NULL};
        posix_spawn_file_actions_t actions;
        int fds[2], r = make_dirs(mount, 0700);

        if (r < 0 || pipe2(fds, O_CLOEXEC) < 0)
                return r < 0 ? r : -errno;
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_adddup2(&actions, fds[1], STDOUT_FILENO);
        r = -posix_spawn(ret, "/proc/self/exe", &actions, NULL, argv, environ);
        posix_spawn_file_actions_destroy(&actions);
        close(fds[1]);
        if (r == 0)
                r = wait_ready(fds[0]);
        close(fds[0]);
        return r;
}

void fixture_stop(const char *mount, pid_t pid)
{
        if (pid <= 0)
                return;
        session_unmount(mount, true);
        kill(pid, SIGTERM);
        waitpid(pid, NULL, 0);
}

int fixture_mount(struct fixture *f)
{
        return fixture_start(f->store, f->mount, false, &f->daemon);
}

void fixture_unmount(struct fixture *f)
{
        fixture_stop(f->mount, f->daemon);
        f->daemon = 0;
}

int fixture_mount_finished(struct fixture *f)
{
        return fixture_start(f->store, f->finished, true, &f->finished_daemon);
}

void fixture_unmount_finished(struct fixture *f)
{
        fixture_stop(f->finished, f->finished_daemon);
        f->finished_daemon = 0;
}

double fixture_memory(const struct fixture *f)
{
        cleanup_file FILE *status = NULL;
        char path[64], line[256];
        double kib = 0;

        snprintf(path, sizeof(path), "/proc/%d/status", (int)f->daemon);
        status = fopen(path, "re");
        while (status && fgets(line, sizeof(line), status))
                if (sscanf(line, "RssAnon: %lf", &kib) == 1)
                        break;
        return kib * 1024;
}

int fixture_mount_squash(struct fixture *f)
{
        char *const argv[] = {(char *)"squashfuse_ll", (char *)"-f", f->image, f->squash, NULL};
        char probe[PATH_SIZE];
        int r = make_dirs(f->squash, 0700);

        if (r == 0)
                r = path_join(probe, f->squash, f->shas[0]);
        if (r == 0)
                r = -posix_spawnp(&f->squashfuse, "squashfuse_ll", NULL, NULL, argv, environ);
        for (unsigned i = 0; r == 0 && access(probe, F_OK) < 0; i++) {
                if (i == 5000)
                        return errorf(-EIO, "squashfuse_ll did not come up");
                usleep(1000);
        }
        return r;
}

void fixture_unmount_squash(struct fixture *f)
{
        if (f->squashfuse <= 0)
                return;
        bench_shell(NULL, "fusermount3 -uz '%s' || umount -l '%s'", f->squash, f->squash);
        kill(f->squashfuse, SIGTERM);
        waitpid(f->squashfuse, NULL, 0);
        f->squashfuse = 0;
}

/* -- histories -- */

int fixture_history(const char *path, uint32_t commits)
{
        char command[PATH_SIZE + 64];
        FILE *to;
        int r = bench_shell(NULL, "git init -q --bare -b main '%s'", path);

        if (r < 0)
                return r;
        snprintf(command, sizeof(command), "git -C '%s' fast-import --quiet", path);
        to = popen(command, "we");
        if (!to)
                return -errno;
        for (uint32_t i = 0; i < commits; i++) {
                char content[64];
                int n = snprintf(content, sizeof(content), "int f%u(void) { return %u; }\n", i % 100, i);

                fprintf(to, "commit refs/heads/main\ncommitter A <a@example.org> %u +0000\ndata <<END\nChange %u\nEND\n",
                        1500000000 + i * 60, i);
                fprintf(to, "M 100644 inline src/f%u.c\ndata %d\n%s\n", i % 100, n, content);
        }
        return pclose(to) == 0 ? 0 : errorf(-EIO, "git fast-import failed");
}

int fixture_add_solver(const char *store, const char *name, const char *recipe, const char *repository)
{
        struct workspace *w = NULL;
        struct recipe **list = NULL;
        size_t n = 0;
        int r = workspace_create(store);

        if (r == -EEXIST)
                r = 0;
        if (r == 0)
                r = workspace_open(store, 0, &w);
        if (r == 0)
                r = recipe_parse(recipe, "recipe", name, &list, &n);
        if (r == 0)
                r = workspace_add_solver(w, list, n, repository, NULL);
        recipe_list_free(list, n);
        workspace_close(w);
        return r;
}

int fixture_add_cases(const char *store, uint32_t n)
{
        struct workspace *w = NULL;
        int r = workspace_open(store, 0, &w);

        for (uint32_t i = 0; r == 0 && i < n; i++) {
                cleanup_close int fd = memfd_create("case", MFD_CLOEXEC);
                char name[32], text[128];
                uint32_t id;
                bool fresh;

                snprintf(name, sizeof(name), "case%u.smt2", i);
                snprintf(text, sizeof(text), "(set-logic QF_LIA)\n(set-info :status sat)\n(assert (> %u 0))\n(check-sat)\n",
                         i + 1);
                r = fd < 0 ? -errno : write_all(fd, text, strlen(text));
                if (r == 0 && lseek(fd, 0, SEEK_SET) < 0)
                        r = -errno;
                if (r == 0)
                        r = cases_add(workspace_cases(w), name, fd, &id, &fresh);
        }
        workspace_close(w);
        return r;
}

/* -- finished cells, without running anything -- */

/* *ret: under what its results stand. */
static int put_build(struct store_txn *t, struct solver *s, uint32_t commit, struct digest *ret)
{
        cleanup(build_record_unrefp) struct build_record *record = calloc(1, sizeof(*record));
        cleanup_buffer struct buffer b = {0};
        struct digest key;
        int r;

        if (!record)
                return -ENOMEM;
        *record = (struct build_record){.refs = 1, .ok = true, .started = 1600000000, .duration_ns = NSEC_PER_SEC};
        record->outputs = calloc(1, sizeof(*record->outputs)); /* a build that is ok has one */
        if (!record->outputs)
                return -ENOMEM;
        record->outputs[0] = (struct build_output){.name = strdup("solver"), .size = 1 << 20, .executable = true};
        record->n_outputs = 1;
        digest_of(&commit, sizeof(commit), &record->outputs[0].id);
        build_record_note_program(record);
        r = build_key(s->history, commit, s->recipe, &key);
        if (r == 0)
                r = build_record_encode(record, &b);
        if (r == 0)
                r = store_put(t, TABLE_BUILDS, SLICE(key.bytes, DIGEST_SIZE), SLICE(b.data, b.size));
        if (r == 0)
                r = build_program_put(t, &key, record, &(struct digest){0});
        if (r == 0)
                *ret = *build_record_program(record);
        return r;
}

static struct blob text_blob(const char *text)
{
        return (struct blob){.data = text, .size = strlen(text)};
}

/* As core/query/query_run.c keeps it: under the run's key and its limits. */
static int put_fact(struct store_txn *t, const struct cell *cell, const uint8_t run[RUN_KEY_SIZE], fixture_time_fn time)
{
        struct fact f = {.refs = 1, .verdict = VERDICT_SAT, .cpu_ns = 1200000, .memory = 5 << 20, .measured = 1600000000};
        cleanup_buffer struct buffer b = {0}, json = {0};
        uint8_t key[RUN_KEY_SIZE + 6 * 8];
        int r;

        memcpy(key, run, RUN_KEY_SIZE);
        cell_limits(cell, &f.limits);
        f.wall_ns = time(cell->commit, cell->info->id);
        buffer_addf(&json, "{\n  \"samples\": [{\"time\": %.9f, \"cputime\": 0.0012, \"memory\": 5242880, \"disturbed\": false}],\n",
                    (double)f.wall_ns / 1e9);
        buffer_adds(&json, "  \"rusage\": {\"user\": 0.001, \"system\": 0.0002},\n"
                           "  \"host\": {\"host\": \"none\", \"cpu\": \"made up\", \"cores\": 2, \"memory\": 8589934592}");
        for (unsigned i = 0; i < 6; i++)
                buffer_addf(&json, ",\n  \"field %u of commit %u and case %u\": %u", i, cell->commit, cell->info->id, i * 7919);
        buffer_adds(&json, "\n}\n");
        f.results = f.out = text_blob("sat\n");
        f.json = (struct blob){.data = json.data, .size = json.size};
        key_u64(key + RUN_KEY_SIZE, f.limits.wall_ns);
        key_u64(key + RUN_KEY_SIZE + 8, f.limits.cpu_ns);
        key_u64(key + RUN_KEY_SIZE + 16, f.limits.memory);
        key_u64(key + RUN_KEY_SIZE + 24, f.limits.output);
        key_u64(key + RUN_KEY_SIZE + 32, f.limits.processes);
        key_u64(key + RUN_KEY_SIZE + 40, f.limits.stack);
        r = fact_encode(&f, &b);
        return r < 0 ? r : store_put(t, TABLE_FACTS, SLICE(key, sizeof(key)), SLICE(b.data, b.size));
}

static int put_commit(struct workspace *w, struct solver *s, uint32_t commit, struct case_info *const *infos, uint32_t n, fixture_time_fn time)
{
        struct digest program;
        struct store_txn *t;
        int r = store_write(workspace_store(w), &t);

        if (r < 0)
                return r;
        r = put_build(t, s, commit, &program);
        for (uint32_t i = 0; r == 0 && i < n; i++) {
                const struct cell cell = {.solver = s, .commit = commit, .info = infos[i]};
                uint8_t run[RUN_KEY_SIZE];

                run_key_of(&program, &cell, run);
                r = put_fact(t, &cell, run, time);
        }
        if (r == 0)
                return store_commit(t);
        store_end(t);
        return r;
}

int fixture_put_cells(const char *store, const char *solver, uint32_t known, uint32_t every, uint32_t cases, fixture_time_fn time)
{
        cleanup_free struct case_info **infos = calloc(cases, sizeof(*infos));
        cleanup(solver_unrefp) struct solver *s = NULL;
        struct workspace *w = NULL;
        int r = infos ? workspace_open(store, 0, &w) : -ENOMEM;

        if (r == 0)
                r = workspace_solver(w, solver, &s);
        for (uint32_t i = 0; r == 0 && i < cases; i++)
                r = cases_get(workspace_cases(w), i + 1, &infos[i]);
        for (uint32_t i = 0; r == 0 && i < known; i++)
                r = put_commit(w, s, i * every, infos, cases, time);
        for (uint32_t i = 0; i < cases; i++)
                case_info_unref(infos[i]);
        s = solver_unref(s);
        workspace_close(w);
        return r;
}

static uint64_t plain_time(uint32_t commit, uint32_t case_id)
{
        return 1000000 + commit * 1000 + case_id;
}

/* -- putting it together -- */

static int make_store(struct fixture *f)
{
        static const char many[] = "[solver]\n paths = src\n build = true\n output = solver\n run = {bin} {case}\n samples = 1\n";
        static const char stuck[] = "[solver]\n paths = src\n build = sleep 1000\n output = solver\n run = {bin} {case}\n";
        char path[PATH_SIZE];
        int r;

        bench_say("making a history of %u commits, and %u cells", f->commits, f->known * f->cases);
        r = path_join(path, f->dir, "many.git");
        if (r == 0)
                r = fixture_history(path, f->commits);
        if (r == 0)
                r = fixture_add_solver(f->store, "many", many, path);
        if (r == 0)
                r = path_join(path, f->dir, "stuck.git");
        if (r == 0)
                r = fixture_history(path, FIXTURE_STUCK);
        if (r == 0)
                r = fixture_add_solver(f->store, "stuck", stuck, path);
        if (r == 0)
                r = fixture_add_cases(f->store, f->cases);
        return r < 0 ? r : fixture_put_cells(f->store, "many", f->known, f->commits / f->known, f->cases, plain_time);
}

/* The copy is made through the mount: so it is the same files. */
static int make_copies(struct fixture *f)
{
        int r = fixture_mount(f);

        bench_say("copying %u cells out of the mount", f->known * f->cases);
        if (r == 0)
                r = bench_shell(NULL, "cp -a '%s/many/cached' '%s'", f->mount, f->files);
        fixture_unmount(f);
        if (r == 0 && bench_has("mksquashfs"))
                r = bench_shell(NULL, "mksquashfs '%s' '%s' -quiet -no-progress", f->files, f->image);
        return r;
}

static int read_shas(struct workspace *w, const char *solver, uint32_t n, uint32_t step, char (**ret)[GIT_OID_HEXSZ + 1])
{
        cleanup(solver_unrefp) struct solver *s = NULL;
        int r = workspace_solver(w, solver, &s);

        *ret = calloc(n, sizeof(**ret));
        for (uint32_t i = 0; r == 0 && i < n; i++) {
                struct commit c;

                r = *ret ? history_commit(s->history, i * step, &c) : -ENOMEM;
                if (r == 0)
                        git_oid_tostr((*ret)[i], sizeof(**ret), &c.oid);
        }
        return r;
}

int fixture_open(struct fixture *f)
{
        struct workspace *w = NULL;
        char done[PATH_SIZE];
        int r;

        *f = (struct fixture){.commits = 37000 * bench.scale, .known = 100 * bench.scale, .cases = 100};
        if (snprintf(f->dir, sizeof(f->dir), "%s/fixture-%u", bench.dir, bench.scale) >= (int)sizeof(f->dir))
                return -ENAMETOOLONG;
        if (path_join(f->store, f->dir, "store") < 0 || path_join(f->mount, f->dir, "mount") < 0 ||
            path_join(f->finished, f->dir, "finished") < 0 || path_join(f->files, f->dir, "files") < 0 ||
            path_join(f->image, f->dir, "image") < 0 || path_join(f->squash, f->dir, "squash") < 0 ||
            path_join(done, f->dir, "done") < 0)
                return -ENAMETOOLONG;
        if (access(done, F_OK) < 0) {
                r = remove_tree(f->dir);
                if (r == 0)
                        r = make_dirs(f->dir, 0700);
                if (r == 0)
                        r = make_store(f);
                if (r == 0)
                        r = make_copies(f);
                if (r == 0)
                        r = write_file_atomic(done, "", 0, 0600);
                if (r < 0)
                        return r;
        }
        f->has_image = access(f->image, F_OK) == 0;
        r = workspace_open(f->store, 0, &w);
        if (r == 0)
                r = read_shas(w, "many", f->known, f->commits / f->known, &f->shas);
        if (r == 0)
                r = read_shas(w, "stuck", FIXTURE_STUCK, 1, &f->stuck);
        workspace_close(w);
        return r;
}

void fixture_close(struct fixture *f)
{
        fixture_unmount(f);
        fixture_unmount_finished(f);
        fixture_unmount_squash(f);
        free(f->shas);
        free(f->stuck);
}
