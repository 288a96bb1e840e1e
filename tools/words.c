#include "words.h"

#include "core/query/machines.h"
#include "core/query/programs.h"

#include <math.h>
#include <sys/stat.h>

int command_find_program(const char *text, struct solver **ret, uint32_t *ret_commit)
{
        int r = program_commit(common.workspace, text, ret, ret_commit);

        return r == -EINVAL || r == -EACCES || r == -ENOEXEC ? fail_as(STATUS_USAGE, r) : r < 0 ? fail(r) : STATUS_OK;
}

int command_program(const char **word)
{
        cleanup_solver struct solver *s = NULL;
        char name[COMMIT_NAME_SIZE];
        uint32_t commit;
        int r = program_is_text(*word) ? command_find_program(*word, &s, &commit) : STATUS_OK;

        if (!s)
                return r;
        program_name_at(s, commit, name);
        strings_add(&common.names, name);
        *word = common.names[strings_count(common.names) - 1];
        return STATUS_OK;
}

int command_open_versions(const char *place, struct words *words)
{
        const char *solver = program_is_text(words->list[0]) ? RECIPE_PROGRAMS : word_next(words);
        int r = command_open(0);

        if (r == STATUS_OK)
                r = command_run_on(place);
        for (size_t i = 0; i < words->n && r == STATUS_OK; i++)
                if (strcmp(solver, RECIPE_PROGRAMS) == 0)
                        r = command_program((const char **)&words->list[i]);
        return r == STATUS_OK ? command_solver(solver, &common.solver) : r;
}

int command_need_history(void)
{
        if (!common.solver->recipe->is_programs)
                return STATUS_OK;
        complain("programs have no history that could be followed: compare two by 'solverfs compare', measure one by 'solverfs run'");
        return STATUS_USAGE;
}

int command_solver(const char *name, struct solver **ret)
{
        int r = program_is_text(name) ? errorf(-EINVAL, "'%s' is a program, which has no history; this needs a solver", name)
                                      : workspace_solver(common.workspace, name, ret);

        return r == -EINVAL ? fail_as(STATUS_USAGE, r) : r < 0 ? fail(r) : STATUS_OK;
}

int command_open_solver(int store_flags, const char *place, const char *name)
{
        int r = command_open(store_flags);

        if (r == STATUS_OK)
                r = command_run_on(place);
        return r == STATUS_OK ? command_solver(name, &common.solver) : r;
}

int command_seed(const struct solver *s, bool is_asked)
{
        if (!is_asked || s->recipe->seed || s->recipe->is_programs) /* of which each commit has its own say: command_seed_at() */
                return STATUS_OK;
        complain("the recipe of %s has no 'seed': it cannot be told one", s->recipe->name);
        return STATUS_USAGE;
}

int command_seed_at(const struct solver *s, uint32_t commit, bool is_asked)
{
        char name[COMMIT_NAME_SIZE];

        if (!is_asked || !s->recipe->is_programs || solver_recipe_at(s, commit)->seed)
                return command_seed(s, is_asked);
        program_name_at(s, commit, name);
        complain("%s cannot be told a seed: write where it stands with {n}, as in 'exec:PATH --seed={n}'", name);
        return STATUS_USAGE;
}

static void parse_measure_among(enum judge_measure *to, const char *text, unsigned allowed, const char *names)
{
        for (enum judge_measure m = 0; m < N_JUDGE_MEASURES; m++)
                if ((allowed & 1u << m) && strcmp(text, m == JUDGE_PACE ? "seconds-per-effort" : judge_measure_name(m)) == 0) {
                        *to = m;
                        return;
                }
        command_usage("--measure takes %s, not '%s'", names, text);
}

void parse_measure(void *to, const char *text)
{
        parse_measure_among(to, text, 1u << JUDGE_TIME | 1u << JUDGE_MEMORY | 1u << JUDGE_EFFORT, "time, memory or effort");
}

void parse_any_measure(void *to, const char *text)
{
        parse_measure_among(to, text, ~0u, "time, cpu, memory, effort or seconds-per-effort");
}

void seconds_text(double seconds, char ret[32])
{
        snprintf(ret, 32, isfinite(seconds) ? "%.6f" : "broken", seconds);
}

struct commit_sha commit_sha(struct solver *s, uint32_t commit)
{
        struct commit_sha sha = {"?"};
        struct commit c;

        if (history_commit(s->history, commit, &c) == 0)
                for (unsigned i = 0; i < GIT_OID_RAWSZ; i++) /* without libgit2, which nothing else needs where all is known */
                        snprintf(sha.s + (size_t)2 * i, 3, "%02x", c.oid.id[i]);
        return sha;
}

int command_revisions(struct solver *s, char *const *words, size_t n, struct revisions *ret)
{
        cleanup_buffer struct buffer notes = {0};
        int r = revisions_select(s, words, n, ret, &notes);

        if (r == 0 && notes.size > 0)
                note("%.*s", (int)notes.size - 1, notes.data);
        return r < 0 ? fail(r) : STATUS_OK;
}

int command_commit(struct solver *s, const char *option, const char *word, uint32_t *ret)
{
        cleanup_revisions struct revisions one = {0};
        int r = command_revisions(s, (char *const *)&word, 1, &one);

        if (r == STATUS_OK && one.n != 1) {
                complain("%s takes one commit; '%s' stands for %zu", option, word, one.n);
                return STATUS_USAGE;
        }
        if (r == STATUS_OK)
                *ret = one.list[0];
        return r;
}

int command_finding(const char *word, struct observation **ret)
{
        const char *slash = strchr(word, '/');
        char *end;
        unsigned long number;
        int r;

        if (!slash || slash[1] < '1' || slash[1] > '9')
                return 0;
        number = strtoul(slash + 1, &end, 10);
        if (*end != '\0' || number > UINT32_MAX)
                return 0;
        for (int kind = 0; kind < N_FINDING_KINDS; kind++) {
                const char *folder = observation_folder((enum observation_kind)kind);

                if (strlen(folder) != (size_t)(slash - word) || strncmp(folder, word, (size_t)(slash - word)) != 0)
                        continue;
                r = observation_get(common.workspace, OF_CAMPAIGNS, common.solver->number, (uint32_t)number, ret);
                if (r == 0 && strcmp(observation_folder((*ret)->kind), folder) != 0)
                        r = errorf(-ENOENT, "finding %lu stands in %s/, not in %s/", number, observation_folder((*ret)->kind),
                                   folder);
                return r < 0 ? r : 1;
        }
        return 0;
}

int command_mark(enum observation_series series, const char *solver, uint32_t number, struct words *words, const char *usage)
{
        const char *mark = word_next(words), *url = word_next(words);
        enum observation_mark as;
        int r;

        if (words->n > 0)
                command_usage("%s", usage);
        if (!mark)
                command_usage("mark it as what? reported, confirmed, fixed or rejected");
        r = command_open_solver(0, NULL, solver);
        if (r != STATUS_OK)
                return r;
        r = observation_mark_parse(series == OF_WATCHES ? "an alarm" : "a finding", mark, &as);
        if (r < 0)
                return fail_as(STATUS_USAGE, r);
        r = observation_set_mark(common.workspace, series, common.solver->number, number, as, url);
        return r < 0 ? fail(r) : STATUS_OK;
}

int command_line(const char *from, const char *to, struct revisions *ret)
{
        struct solver *s = common.solver;
        uint32_t first = COMMIT_NONE, last;
        size_t at = 0;
        int r = command_commit(s, "--to", to ? to : "HEAD", &last);

        if (r == STATUS_OK && from)
                r = command_commit(s, "--from", from, &first);
        if (r != STATUS_OK)
                return r;
        r = history_line(s->history, last, &ret->list, &ret->n);
        if (r < 0 || !from)
                return r < 0 ? fail(r) : STATUS_OK;
        while (at < ret->n && ret->list[at] != first)
                at++;
        if (at < ret->n) {
                ret->n -= at;
                memmove(ret->list, ret->list + at, ret->n * sizeof(*ret->list));
                return STATUS_OK;
        }
        revisions_done(ret);
        r = revision_range(s, first, last, ret);
        if (r < 0)
                return fail(r);
        if (ret->n > 0)
                return STATUS_OK;
        complain("%s..%s: no commits in this range", from, to ? to : "HEAD");
        return STATUS_USAGE;
}

int command_known(const char *machine, const struct revisions *line, struct revisions *ret)
{
        cleanup_free uint32_t *known = NULL;
        size_t n = 0;
        int r = commits_known(common.workspace, common.solver, machine, &known, &n);

        if (r < 0)
                return r;
        ret->list = calloc(line->n + 1, sizeof(*ret->list));
        if (!ret->list)
                return -ENOMEM;
        for (size_t i = 0; i < line->n; i++)
                if (find_in_list(&line->list[i], known, n, sizeof(*known), compare_u32))
                        ret->list[ret->n++] = line->list[i];
        return 0;
}

int command_machine(const char *word, char **ret)
{
        int r;

        *ret = NULL;
        r = word ? machine_find(common.workspace, word, ret) : 0;
        return r < 0 ? fail_as(STATUS_ABSENT, r) : STATUS_OK;
}

int command_cases(char *const *words, size_t n, struct case_selection *ret)
{
        int r = cases_select(common.workspace, words, n, ret);

        return r < 0 ? fail(r) : STATUS_OK;
}

static bool names_a_case(char *word)
{
        cleanup_case_selection struct case_selection s = {0};

        return cases_select(common.workspace, &word, 1, &s) == 0;
}

static bool names_a_revision(char *word)
{
        cleanup_revisions struct revisions r = {0};

        return revisions_select(common.solver, &word, 1, &r, NULL) == 0;
}

static bool is_file(const char *word)
{
        struct stat st;

        return stat(word, &st) == 0 && S_ISREG(st.st_mode);
}

static int refuse_word(const char *word)
{
        complain("'%s' is no revision of %s, and no case: 'solverfs case list' shows those", word, common.solver->recipe->name);
        return STATUS_ABSENT;
}

int command_revisions_and_cases(char *const *words, size_t n, size_t *ret_n_revisions, struct revisions *ret_revisions,
                                struct case_selection *ret_cases)
{
        size_t i;
        int r;

        for (i = 1; i + 1 < n && !names_a_case(words[i]); i++) {
                if (names_a_revision(words[i]))
                        continue;
                if (is_file(words[i]))
                        break; /* the sentence about files says what to do */
                return refuse_word(words[i]);
        }
        *ret_n_revisions = i;
        r = command_revisions(common.solver, words, i, ret_revisions);
        return r == STATUS_OK ? command_cases(words + i, n - i, ret_cases) : r;
}

bool command_begins_with_case(char *const *words, size_t n)
{
        return n > 0 && !names_a_revision(words[0]) && names_a_case(words[0]);
}

int command_known_words(char *const *words, size_t n, size_t *ret_n_revisions, struct revisions *ret_revisions)
{
        size_t i;

        for (i = 0; i < n && names_a_revision(words[i]) && (i == 0 || !names_a_case(words[i])); i++)
                ;
        *ret_n_revisions = i;
        if (i < n && !names_a_case(words[i]) && !is_file(words[i]))
                return refuse_word(words[i]);
        return i > 0 ? command_revisions(common.solver, words, i, ret_revisions) : STATUS_OK;
}
