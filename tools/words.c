#include "words.h"

#include "core/query/cell_answer.h"
#include "core/query/machines.h"
#include "core/study/base/version.h"

#include <math.h>
#include <sys/stat.h>

/* -- solvers and programs -- */

void command_combined(const struct combination *c, enum combination_part fixed, const char *name, struct solver **ret)
{
        cleanup_free char *text = NULL;

        command_must(combination_solver(common.workspace, c, fixed, name, &command_progress, ret, &text));
        if (text)
                note("%s", text);
}

bool command_combined_word(const char *word, const char *name, struct solver **ret)
{
        cleanup_combination struct combination c = {0};
        int r = command_must_usage(combination_parse(common.workspace, word, &c));

        if (r == 1 && c.part[HOST].revision && c.part[LIBRARY].revision)
                command_refuse(STATUS_USAGE, "'%s' holds both %s and %s, so there is no history to follow: leave out the @REV of one", word,
                               c.part[HOST].solver->recipe->name, c.part[LIBRARY].solver->recipe->name);
        if (r == 1)
                command_combined(&c, c.part[HOST].revision ? HOST : LIBRARY, name, ret);
        return r == 1;
}

int find_solver(const char *name, struct solver **ret)
{
        int r = program_is_text(name) ? errorf(-EINVAL, "'%s' is a program, which has no history; this needs a solver", name)
                                      : workspace_solver(common.workspace, name, ret);

        if (r == -ENOENT && command_combined_word(name, NULL, ret))
                r = 0;
        else if (r == -ENOENT)
                r = workspace_solver(common.workspace, name, ret); /* for its error message */
        return r < 0 ? fail_usage(r) : STATUS_OK;
}

void command_solver(const char *name, struct solver **ret)
{
        command_ok(find_solver(name, ret));
}

void command_find_program(const char *text, struct solver **ret, uint32_t *ret_commit)
{
        int r = program_commit(common.workspace, text, common.signals, &command_progress, ret, ret_commit);

        if (r == -EINVAL || r == -EACCES || r == -ENOEXEC)
                command_must_as(STATUS_USAGE, r);
        command_must(r);
}

void command_program(const char **word)
{
        cleanup_solver struct solver *s = NULL;
        uint32_t commit;

        if (!program_is_text(*word))
                return;
        command_find_program(*word, &s, &commit);
        strings_add(&common.names, commit_label(s, commit).s);
        *word = common.names[strings_count(common.names) - 1];
}

void command_open_versions(const char *cluster, struct words *words)
{
        const char *solver = program_is_text(words->list[0]) ? RECIPE_PROGRAMS : word_next(words);

        command_open_solver_with(cluster, solver, (const char **)words->list, words->n);
}

void command_need_history(void)
{
        if (common.solver->recipe->is_programs)
                command_refuse(STATUS_USAGE, "programs have no history that could be followed: compare two by 'solverfs compare', measure one by "
                                             "'solverfs run'");
}

void command_open_solver(int store_flags, const char *cluster, const char *name)
{
        command_open(store_flags);
        command_run_on(cluster);
        command_solver(name, &common.solver);
}

void command_open_solver_with(const char *cluster, const char *name, const char **words, size_t n)
{
        command_open(0);
        command_run_on(cluster);
        for (size_t i = 0; i < n && strcmp(name, RECIPE_PROGRAMS) == 0; i++) /* first: the first program makes the solver */
                if (words[i])
                        command_program(&words[i]);
        command_solver(name, &common.solver);
}

int seed_check(const struct solver *s, uint32_t commit, bool is_asked)
{
        if (!is_asked || solver_recipe_at(s, commit)->seed)
                return 0;
        if (!s->recipe->is_programs)
                return errorf(-EINVAL, "the recipe of %s has no 'seed': it cannot be told one", s->recipe->name);
        return errorf(-EINVAL, "%s cannot be told a seed: write where it stands with {n}, as in 'exec:PATH --seed={n}'", commit_label(s, commit).s);
}

void command_seed(const struct solver *s, uint32_t commit, bool is_asked)
{
        command_must_usage(seed_check(s, commit, is_asked));
}

/* -- options and numbers -- */

bool is_folder(const char *path)
{
        struct stat st;

        return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static void parse_measure_among(enum judge_measure *to, const char *text, unsigned allowed, const char *names)
{
        for (enum judge_measure m = 0; m < N_JUDGE_MEASURES; m++)
                if ((allowed & 1U << m) && strcmp(text, m == JUDGE_PACE ? "seconds-per-effort" : judge_measure_name(m)) == 0) {
                        *to = m;
                        return;
                }
        command_usage("--measure takes %s, not '%s'", names, text);
}

void parse_measure(void *to, const char *text)
{
        parse_measure_among(to, text, 1U << JUDGE_TIME | 1U << JUDGE_MEMORY | 1U << JUDGE_EFFORT, "time, memory or effort");
}

void parse_any_measure(void *to, const char *text)
{
        parse_measure_among(to, text, ~0U, "time, cpu, memory, effort or seconds-per-effort");
}

struct short_text seconds_text(double seconds)
{
        struct short_text text;

        snprintf(text.s, sizeof(text.s), isfinite(seconds) ? "%.6f" : "broken", seconds);
        return text;
}

json_t *json_number(double number)
{
        return isfinite(number) ? json_real(number) : json_null();
}

struct commit_label commit_brief(const struct commit_sha *sha)
{
        struct commit_label brief;

        snprintf(brief.s, sizeof(brief.s), "%.12s", sha->s);
        return brief;
}

/* -- what is said of a result -- */

void command_tell_unbuildable(void (*say)(const char *format, ...), struct solver *s, uint32_t commit, const struct build_record *build, bool *told)
{
        const char *name = s->recipe->name, *reason = build && build->reason ? build->reason : "no reason is known";
        const struct commit_label label = commit_label(s, commit);

        if (told && *told)
                return;
        if (told)
                *told = true;
        say("%s %s cannot be built: %s; see 'solverfs build --log %s %s'", name, label.s, reason, name, label.s);
}

bool command_tell_disputed(const struct case_info *info, const struct fact *f, bool *told)
{
        cleanup_buffer struct buffer line = {0};

        if (dispute_find(common.workspace, info, f, &line) != 1)
                return false;
        command_worse(STATUS_FAILED);
        if (!*told)
                alarm_line("%s: %s", answer_alarm_name(ANSWER_CONTRADICTION), line.data);
        *told = true;
        return true;
}

void command_tell_wrong(const struct cell *cell, const struct fact *f)
{
        cleanup_buffer struct buffer line = {0};

        wrong_line(cell, f, &line);
        command_worse(STATUS_FAILED);
        alarm_line("%s: %s", answer_alarm_name(ANSWER_WRONG), line.data);
}

bool command_tell_not_started(void (*say)(const char *format, ...), const struct solver *s, uint32_t commit, const struct fact *f, bool *told)
{
        cleanup_buffer struct buffer line = {0};

        if (told && *told)
                return true;
        not_started_line(s, commit, f, &line);
        if (line.size > 0)
                say("%s", line.data);
        if (told)
                *told = line.size > 0;
        return line.size > 0;
}

void command_note_tools(struct solver *s, const uint32_t *list, size_t n)
{
        cleanup_free char *path = NULL;
        size_t changed = commits_tools_changed(common.workspace, s, list, n, &path);

        if (changed > 0)
                note("%s: toolchain changed: %s is not what %zu of the commits %s built with; 'solverfs build --renew %s REV...' builds anew",
                     s->recipe->name, path, changed, changed == 1 ? "was" : "were", s->recipe->name);
}

/* -- cases that a solver takes -- */

/* Complains about each word that names one case alone, which the recipe does not take. */
static void refuse_named(const struct recipe *recipe, char *const *words, size_t n)
{
        for (size_t i = 0; i < n; i++) {
                cleanup_case_selection struct case_selection one = {0};
                cleanup_free char *name = NULL;

                if (!case_word_is_single(words[i]) || cases_select(common.workspace, &words[i], 1, &one) < 0 || one.n != 1 ||
                    recipe_takes(recipe, one.list[0]->format))
                        continue;
                name = printable(one.list[0]->name);
                complain("case %u is passed over: %s is no %s file, which %s takes", one.list[0]->id, name, format_notation(recipe->format), recipe->name);
                command_worse(STATUS_FAILED);
        }
}

void command_keep_format(const struct solver *s, char *const *words, size_t n, struct case_selection *cases)
{
        const struct recipe *recipe = s->recipe;
        size_t kept = 0, left_out;

        for (size_t i = 0; i < cases->n; i++)
                kept += recipe_takes(recipe, cases->list[i]->format);
        if (kept == cases->n)
                return;
        if (kept == 0)
                command_refuse(STATUS_ABSENT, "%s takes %s, and every case named is %s", recipe->name, format_notation(recipe->format),
                               format_notation(cases->list[0]->format));
        refuse_named(recipe, words, n);
        left_out = case_selection_keep(cases, recipe->format);
        note("%zu case%s passed over: %s takes %s", left_out, plural(left_out), recipe->name, format_notation(recipe->format));
}

void command_check_format(const struct version *v, const struct case_info *info)
{
        if (!recipe_takes(v->solver->recipe, info->format))
                command_refuse(STATUS_USAGE, "%s takes no %s", v->name, format_notation(info->format));
}

/* -- revisions -- */

static int select_revisions(struct solver *s, char *const *words, size_t n, struct revisions *ret)
{
        cleanup_buffer struct buffer notes = {0};
        int r = revisions_select(s, words, n, ret, &notes);

        if (r == 0 && notes.size > 0)
                note("%.*s", (int)notes.size - 1, notes.data);
        return r;
}

void command_revisions(struct solver *s, char *const *words, size_t n, struct revisions *ret)
{
        command_must(select_revisions(s, words, n, ret));
}

int find_commit(struct solver *s, const char *option, const char *word, uint32_t *ret)
{
        cleanup_revisions struct revisions one = {0};
        int r = select_revisions(s, (char *const *)&word, 1, &one);

        if (r < 0)
                return fail(r);
        if (one.n != 1)
                return fail_as(STATUS_USAGE, errorf(-EINVAL, "%s takes one commit; '%s' stands for %zu", option, word, one.n));
        *ret = one.list[0];
        return STATUS_OK;
}

uint32_t command_commit(struct solver *s, const char *option, const char *word)
{
        uint32_t commit = COMMIT_NONE;

        command_ok(find_commit(s, option, word, &commit));
        return commit;
}

/* -- findings and alarms -- */

int command_finding(const char *word, bool alarms, struct observation **ret)
{
        int r = observation_named(common.workspace, common.solver->number, word, ret);

        if (r != 1 || observation_series(*ret) == OF_CAMPAIGNS)
                return r;
        if (!alarms)
                command_refuse(STATUS_USAGE, "%s is an alarm; name a finding, or the alarm's case and versions", word);
        if ((*ret)->case_id == 0 || !*(*ret)->reference)
                command_refuse(STATUS_USAGE, "%s is not of two versions on a case: name these", word);
        return r;
}

void command_mark(enum observation_series series, const char *solver, uint32_t number, struct words *words)
{
        const char *mark = word_next(words), *url = word_next(words);
        enum observation_mark as;

        if (words->n > 0)
                command_usage("expected SOLVER --mark N MARK [URL]");
        if (!mark)
                command_usage("mark it as what? reported, confirmed, fixed or rejected");
        command_open_solver(0, NULL, solver);
        command_must_as(STATUS_USAGE, observation_mark_parse(series == OF_WATCHES ? "an alarm" : "a finding", mark, &as));
        command_must(observation_set_mark(common.workspace, series, common.solver->number, number, as, url));
}

/* -- a stretch of the history -- */

void command_first_parents(const char *from, const char *to, struct revisions *ret)
{
        struct solver *s = common.solver;
        uint32_t last = command_commit(s, "--to", to ? to : "HEAD"), first = from ? command_commit(s, "--from", from) : COMMIT_NONE;
        size_t at = 0;

        command_must(history_line(s->history, last, &ret->list, &ret->n));
        if (!from)
                return;
        while (at < ret->n && ret->list[at] != first)
                at++;
        if (at < ret->n) {
                ret->n -= at;
                memmove(ret->list, ret->list + at, ret->n * sizeof(*ret->list));
                return;
        }
        revisions_done(ret);
        command_must(revision_range(s, first, last, ret));
        if (ret->n == 0)
                command_refuse(STATUS_USAGE, "%s..%s: no commits in this range", from, to ? to : "HEAD");
}

void command_known(const char *machine, const struct revisions *line, struct revisions *ret)
{
        cleanup_free uint32_t *known = NULL;
        size_t n = 0;

        command_must(commits_known(common.workspace, common.solver, machine, &known, &n));
        ret->list = allocate(line->n + 1, sizeof(*ret->list));
        for (size_t i = 0; i < line->n; i++)
                if (find_in_list(&line->list[i], known, n, sizeof(*known), compare_u32))
                        ret->list[ret->n++] = line->list[i];
}

/* -- machines, cases and versions -- */

char *command_machine(const char *word)
{
        char *machine = NULL;

        if (word)
                command_must_as(STATUS_ABSENT, machine_find(common.workspace, word, &machine));
        return machine;
}

void command_cases(char *const *words, size_t n, struct case_selection *ret)
{
        command_must(cases_select(common.workspace, words, n, ret));
}

void command_whole_case(const struct case_info *info)
{
        if (info->query > 0)
                command_refuse(STATUS_USAGE,
                               "%s is one query of a script, and this is done with whole cases: make it one with 'solverfs case cut %u#%u -o FILE' "
                               "and 'solverfs case add FILE'",
                               info->name, info->whole, info->query);
}

void command_whole_cases(char *const *words, size_t n, struct case_selection *ret)
{
        command_cases(words, n, ret);
        for (size_t i = 0; i < ret->n; i++)
                command_whole_case(ret->list[i]);
}

struct case_info *command_case(const char *word, const char *why)
{
        cleanup_case_selection struct case_selection cases = {0};

        command_whole_cases((char *const *)&word, 1, &cases);
        if (cases.n != 1)
                command_refuse(STATUS_USAGE, "%s; '%s' stands for %zu", why, word, cases.n);
        return case_info_ref(cases.list[0]);
}

struct version *command_version(const char *text)
{
        struct version *v = NULL;

        command_must_usage((version_digest(text) ? version_parse_in_full : version_parse)(common.workspace, common.solver, text, common.signals, &v));
        return v;
}

/* -- words of which some are revisions and the others cases -- */

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

/* For a word that is neither; for a file, the choice of cases says what to do. */
static void refuse_word(const char *word)
{
        struct stat st;

        if (stat(word, &st) < 0 || !S_ISREG(st.st_mode))
                command_refuse(STATUS_ABSENT, "'%s' is no revision of %s, and no case: 'solverfs case list' shows those", word,
                               common.solver->recipe->name);
}

size_t command_revisions_and_cases(char *const *words, size_t n, struct revisions *ret_revisions, struct case_selection *ret_cases)
{
        size_t i = 1;

        while (i + 1 < n && !names_a_case(words[i]) && names_a_revision(words[i]))
                i++;
        if (i + 1 < n && !names_a_case(words[i]))
                refuse_word(words[i]);
        command_revisions(common.solver, words, i, ret_revisions);
        command_cases(words + i, n - i, ret_cases);
        return i;
}

bool command_begins_with_case(char *const *words, size_t n)
{
        return n > 0 && !names_a_revision(words[0]) && names_a_case(words[0]);
}

size_t command_known_words(char *const *words, size_t n, struct revisions *ret_revisions)
{
        size_t i = 0;

        while (i < n && names_a_revision(words[i]) && (i == 0 || !names_a_case(words[i])))
                i++;
        if (i < n && !names_a_case(words[i]))
                refuse_word(words[i]);
        if (i > 0)
                command_revisions(common.solver, words, i, ret_revisions);
        return i;
}
