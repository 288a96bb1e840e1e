#include "world.h"

static const char repository[] =
        "set -e; export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@example.org"
        " GIT_COMMITTER_NAME=A GIT_COMMITTER_EMAIL=a@example.org;"
        "git init -q -b main repo; cd repo; printf '#!/bin/sh\\necho sat\\n' >toy; git add toy; git commit -q -m first; git tag "
        "v1;"
        "git branch topic/deep/x; echo '# second' >>toy; git commit -q -a -m second; git tag -a -m two release/2";

static const char recipe_text[] = "[solver]\n\tbuild = cp toy out && chmod +x out\n\toutput = out\n\trun = {bin} {seed} {case}\n"
                                  "\tseed = --seed {n}\n\ttimeout = 10s\n\tsamples = 1\n[variant \"toyer\"]\n\targuments = -x\n";

static void add_case(struct cases *cases, const char *name, const char *text)
{
        int fd = open("case", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        uint32_t id;
        bool is_new;

        must(fd >= 0 && write_all(fd, text, strlen(text)) == 0 && lseek(fd, 0, SEEK_SET) == 0);
        must(cases_add(cases, name, fd, &id, &is_new) == 0);
        close(fd);
}

static void run_one(const struct world *w)
{
        struct solver *s;
        struct case_info *info;
        struct query *q;
        struct value *v;

        must(workspace_solver(w->workspace, "toy", &s) == 0);
        must(cases_get(workspace_cases(w->workspace), 1, &info) == 0);
        must(query_run(w->workspace, &(struct cell){.solver = s, .commit = 0, .info = info}, &q) == 0);
        if (engine_get(w->engine, q, PRIORITY_PERSON, COMPUTE_IF_UNKNOWN, -1, &v) < 0)
                fprintf(stderr, "nothing can be run here: all values are cold\n");
        else
                value_unref(v);
        query_unref(q);
        case_info_unref(info);
        solver_unref(s);
}

static void find_helper(void)
{
        char self[PATH_SIZE], path[PATH_SIZE + 64];
        ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

        must(n > 0);
        self[n] = '\0';
        *strrchr(self, '/') = '\0';
        snprintf(path, sizeof(path), "%s/../../core/sandbox/solverfs-exec", self);
        setenv("SOLVERFS_EXEC", path, 0);
        snprintf(path, sizeof(path), "%s/../../core/build/solverfs-shim", self);
        setenv("SOLVERFS_SHIM", path, 0);
}

/* The orders are read when a process starts. */
static void begin_with_faults(char **argv)
{
        char path[PATH_SIZE];

        if (getenv("SOLVERFS_FAULTS"))
                return;
        enter_scratch();
        must(mkdir("faults", 0700) == 0 && realpath("faults", path));
        setenv("SOLVERFS_FAULTS", path, 1);
        execv("/proc/self/exe", argv);
        abort();
}

void world_make(struct world *ret)
{
        struct recipe **recipes;
        struct world w;
        size_t n;
        char path[PATH_SIZE];

        find_helper();
        must(chdir(getenv("SOLVERFS_FAULTS")) == 0 && chdir("..") == 0);
        must(realpath(".", path) && setenv("SOLVERFS_SLOTS", path, 1) == 0); /* else it waits while others of this machine time something */
        log_set(LOG_LEVEL_ERROR, fopen("/dev/null", "we"));
        must(system(repository) == 0);
        must(workspace_create("store") == 0 && realpath("repo", path));
        must(workspace_open("store", 0, &w.workspace) == 0);
        must(recipe_parse(recipe_text, "toy.recipe", "toy", &recipes, &n) == 0);
        must(workspace_add_solver(w.workspace, recipes, n, path, NULL) == 0);
        recipe_list_free(recipes, n);
        add_case(workspace_cases(w.workspace), "a.smt2", "(set-logic QF_S)(set-info :status sat)(check-sat)\n");
        add_case(workspace_cases(w.workspace), "folder/b c.smt2", "(check-sat)(check-sat)\n");
        add_case(workspace_cases(w.workspace), "x\n\"'\xff.cnf", "p cnf 1 1\n1 0\n");
        must(workspace_engine(w.workspace, &(struct engine_options){.cores = 1, .grace_ns = 1}, &w.engine) == 0);
        run_one(&w);
        must(write_file_atomic("faults/engine.compute", "fail EIO\n", 9, 0600) == 0);
        *ret = w;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
        begin_with_faults(*argv);
        return 0;
}
