/* <solver>/spr, soundness and incompleteness: findings of campaigns; alarms: reports of watches. An inode has the finding's or alarm's number in
 * `item`; links to commits have the commit in `commit`. The three folders of findings share one series of numbers: a finding is in the folder of its
 * kind. An alarm is an observation of another series. */
#include "fs/routes/routes.h"

#include "core/study/observation/campaign_store.h"
#include "core/study/observation/finding.h"
#include "core/study/steps/case_history.h"
#include "core/study/watch/alarm.h"

enum {
        KIND_SPR_FOUND = 103,
        KIND_SOUNDNESS_FOUND,
        KIND_INCOMPLETENESS_FOUND,
        KIND_FOUND_KIND = 107,
        KIND_FOUND_REFERENCE,
        KIND_FOUND_TARGET,
        KIND_FOUND_VERDICTS = 111,
        KIND_FOUND_RULES,
        KIND_FOUND_SEED,
        KIND_FOUND_LOCALIZED = 124,
        KIND_CULPRITS,
        KIND_CULPRIT,
        KIND_BY_COMMIT,
        KIND_BY_COMMIT_SHA,
        KIND_FOUND_SEEDS = 140,
        KIND_FOUND_DECIDED = 189,
        KIND_FOUND_REDUCED = 210,
        KIND_FOUND_REDUCED_DECIDED,
        KIND_ALARMS = 352,
        KIND_ALARM,
        KIND_FOUND_VERIFY = 355,
};
#define ANY_FOUND KIND_SPR_FOUND, KIND_SOUNDNESS_FOUND, KIND_INCOMPLETENESS_FOUND

/* -- findings and alarms -- */

static int found_get(struct tree *t, const struct node *n, struct observation **ret)
{
        return observation_get(tree_workspace(t), n->inode.kind == KIND_ALARM ? OF_WATCHES : OF_CAMPAIGNS, n->solver->number, n->inode.item, ret);
}

static int found_has(struct tree *t, const struct node *dir, uint32_t number)
{
        cleanup_observation struct observation *f = NULL;
        enum observation_series series = dir->inode.kind == KIND_ALARMS ? OF_WATCHES : OF_CAMPAIGNS;
        int r = observation_get(tree_workspace(t), series, dir->solver->number, number, &f);

        return r == 0 && strcmp(observation_folder(f->kind), dir->route->name) != 0 ? -ENOENT : r;
}

static int found_numbers(struct tree *t, const struct node *dir, uint32_t **ret, size_t *ret_n)
{
        cleanup_observations struct observations found = {0};
        int r = observations_read(tree_workspace(t), dir->solver->number, dir->route->name, &found);

        *ret = allocate(found.n + 1, sizeof(**ret));
        for (*ret_n = 0; *ret_n < found.n; (*ret_n)++)
                (*ret)[*ret_n] = found.list[*ret_n]->number;
        return r;
}

/* All from 1 to the last: a damaged alarm is listed, and cannot be read. */
static int alarm_numbers(struct tree *t, const struct node *dir, uint32_t **ret, size_t *ret_n)
{
        uint32_t last = 0;
        int r = observations_last(tree_workspace(t), OF_WATCHES, dir->solver->number, &last);

        *ret = allocate((size_t)last + 1, sizeof(**ret));
        for (*ret_n = 0; *ret_n < last; (*ret_n)++)
                (*ret)[*ret_n] = (uint32_t)*ret_n + 1;
        return r;
}

static int found_mtime(struct tree *t, const struct node *n, int64_t *ret)
{
        cleanup_observation struct observation *f = NULL;
        int r = found_get(t, n, &f);

        if (r == 0)
                *ret = n->inode.kind == KIND_ALARM ? f->changed : f->found;
        return r;
}

/* -- the input, and what it was made of -- */

/* The case that a row shows: the input, the seed, or the formula before the last rule; 0: none. */
static uint32_t shown_case(const struct observation *f, unsigned kind)
{
        return kind == KIND_FOUND_SEED ? f->seed_id : kind == KIND_FOUND_DECIDED ? f->decided_id : f->case_id;
}

static int found_case_open(struct tree *t, const struct node *n, int *ret_fd)
{
        cleanup_observation struct observation *f = NULL;

        return found_get(t, n, &f) ?: case_open(t, shown_case(f, n->inode.kind), ret_fd);
}

static int found_case_size(struct tree *t, const struct node *n, uint64_t *ret)
{
        cleanup_observation struct observation *f = NULL;

        return found_get(t, n, &f) ?: case_size(t, shown_case(f, n->inode.kind), ret);
}

/* Sets *ret to one of the two names by the format of the finding's input. 1, 0 (the finding is gone) or -errno: a row's `named`. */
static int name_by_format(struct tree *t, const struct node *dir, const char *smt2, const char *cnf, const char **ret)
{
        cleanup(case_info_unrefp) struct case_info *info = NULL;
        cleanup_observation struct observation *f = NULL;
        int r = found_get(t, dir, &f) ?: cases_get(workspace_cases(tree_workspace(t)), f->case_id, &info);

        if (r == 0)
                *ret = info->format == FORMAT_CNF ? cnf : smt2;
        return node_existence(r);
}

static int found_case_named(struct tree *t, const struct node *dir, const char **ret)
{
        return name_by_format(t, dir, "case.smt2", "case.cnf", ret);
}

static int found_reduced_named(struct tree *t, const struct node *dir, const char **ret)
{
        return name_by_format(t, dir, "reduced.smt2", "reduced.cnf", ret);
}

/* -- the culprits of a localized finding -- */

struct commits {
        uint32_t *list; /* owned; ascending, without duplicates */
        size_t n;
};

/* The finding's culprits: none if it is not localized, or several commits cannot be told apart. */
static struct commits culprits_of(struct tree *t, const struct node *dir, const struct observation *f)
{
        cleanup_localized struct localized *localized = NULL;
        const struct localized_culprit *culprit;
        struct commits c = {0};
        uint32_t commit;
        int r = finding_localized(tree_workspace(t), dir->solver, f, &localized);

        for (size_t at = 0; r == 0 && (culprit = localized_slowdown(localized, &at));)
                if (culprit_commit(dir->solver, culprit, &commit) == 0)
                        list_add(c.list, c.n, commit);
        c.n = sort_numbers(c.list, c.n);
        return c;
}

static int found_culprits(struct tree *t, const struct node *dir, uint32_t **ret, size_t *ret_n)
{
        cleanup_observation struct observation *f = NULL;
        struct commits c = {0};
        int r = found_get(t, dir, &f);

        if (r == 0)
                c = culprits_of(t, dir, f);
        *ret = c.list;
        *ret_n = c.n;
        return r;
}

/* -- times.tsv and history.svg -- */

/* Reads the history of the finding's case, on the campaign's machine and under its limit. Returns 1 if that was another machine. */
static int read_found(struct tree *t, const struct node *n, struct observation **ret_found, struct case_history *ret,
                      struct commit_order **ret_order)
{
        cleanup(case_info_unrefp) struct case_info *info = NULL;
        struct cell cell = {.solver = n->solver};
        char machine[PATH_SIZE];
        int r = found_get(t, n, ret_found)
            ?: cases_get(workspace_cases(tree_workspace(t)), (*ret_found)->case_id, &info);

        if (r < 0)
                return r;
        cell.info = info;
        finding_set_cell(*ret_found, &cell);
        /* Found on another machine: this machine's times are not comparable. */
        if (!n->solver->pool && finding_is_elsewhere(tree_workspace(t), n->solver->recipe->name, *ret_found, machine))
                cell.machine = machine;
        r = read_case_history(t, n, &cell, (*ret_found)->measure, ret, ret_order);
        ret->newest = MAX(ret->newest, (*ret_found)->found);
        return r < 0 ? r : cell.machine != NULL;
}

static int print_times(struct tree *t, const struct node *n, struct buffer *ret, int64_t *ret_mtime)
{
        cleanup(commit_order_unrefp) struct commit_order *order = NULL;
        cleanup_case_history struct case_history h = {0};
        cleanup_observation struct observation *f = NULL;
        int r = read_found(t, n, &f, &h, &order);

        if (r >= 0)
                finding_print_times(f, ret);
        if (r == 0) /* measured here */
                r = finding_print_later(tree_workspace(t), f, &h, ret);
        *ret_mtime = h.newest;
        return MIN(r, 0);
}

static int print_picture(struct tree *t, const struct node *n, struct buffer *ret, int64_t *ret_mtime)
{
        cleanup(commit_order_unrefp) struct commit_order *order = NULL;
        cleanup_case_history struct case_history h = {0};
        cleanup_observation struct observation *f = NULL;
        cleanup_free uint32_t *culprits = NULL;
        int r = read_found(t, n, &f, &h, &order);

        if (r >= 0)
                r = found_culprits(t, n, &culprits, &h.n_culprits);
        h.culprits = culprits;
        if (r == 0)
                r = case_history_plot(&h, order->place, ret);
        *ret_mtime = h.newest;
        return r;
}

/* -- texts and links -- */

/* Texts of a finding or alarm, and links to its versions; other kinds than these are report.md. */
static int found_text(struct tree *t, const struct node *n, struct buffer *ret)
{
        cleanup_observation struct observation *f = NULL;
        int r = found_get(t, n, &f);

        if (r < 0)
                return r;
        switch (n->inode.kind) {
        case KIND_FOUND_KIND:
                buffer_addf(ret, "%s\n", observation_kind_name(f->kind));
                return 0;
        case KIND_FOUND_REFERENCE:
        case KIND_FOUND_TARGET:
                buffer_addf(ret, "../../commits/%s", n->inode.kind == KIND_FOUND_REFERENCE ? f->reference : f->target);
                return 0;
        case KIND_FOUND_VERDICTS:
                finding_print_times(f, ret);
                return 0;
        case KIND_FOUND_RULES:
                buffer_addf(ret, "rule\tdirection\tplace\n%s", f->chain);
                return 0;
        case KIND_FOUND_VERIFY:
                return finding_verification(tree_workspace(t), n->solver, f, ret);
        case KIND_ALARM:
                return alarm_print(tree_workspace(t), n->solver, f, ret);
        default:
                return finding_report(tree_workspace(t), n->solver, f, ret);
        }
}

/* A row's `exists`: 1 if this finding has such a file. */
static int found_has_file(struct tree *t, const struct node *dir, const struct route *row)
{
        cleanup_observation struct observation *f = NULL;
        int r = found_get(t, dir, &f);

        if (r < 0)
                return node_existence(r);
        switch (row->kind) {
        case KIND_FOUND_REFERENCE: /* a version with arguments or a program of the machine is not a commit; times.tsv names it */
                return version_is_commit(f->reference);
        case KIND_FOUND_TARGET:
                return version_is_commit(f->target);
        case KIND_FOUND_SEED:
        case KIND_FOUND_DECIDED:
                return shown_case(f, row->kind) != 0;
        case KIND_FOUND_REDUCED_DECIDED:
                return finding_interest(f) == INTEREST_IMPLICATION;
        case KIND_FOUND_SEEDS:
                return finding_has_seeds(dir->solver, f);
        case KIND_FOUND_VERIFY:
                return finding_has_verification(f);
        default: /* localized.tsv, culprits/ */
                return finding_is_localizable(dir->solver, f);
        }
}

/* -- localized.tsv, seeds.tsv, reduced.smt2, reduced-decided.smt2: computed -- */

static int found_query(struct tree *t, const struct node *n, struct query **ret)
{
        cleanup_observation struct observation *f = NULL;
        struct workspace *w = tree_workspace(t);
        int r = found_get(t, n, &f);

        if (r < 0)
                return r;
        switch (n->inode.kind) {
        case KIND_FOUND_LOCALIZED:
                return finding_query_localized(w, n->solver, f, ret);
        case KIND_FOUND_SEEDS:
                return query_seeds(w, n->solver, f, ret);
        default:
                return finding_query_reduced(w, n->solver, f, 0, 0, ret);
        }
}

static int found_answer(struct tree *t, const struct node *n, struct value *v, struct buffer *ret)
{
        const struct reduction *reduced = &((struct reduced_value *)v)->reduction;

        switch (n->inode.kind) {
        case KIND_FOUND_LOCALIZED:
                buffer_adds(ret, "case\tcommit\tbefore\tafter\tsubject\n");
                localized_rows((struct localized *)v, ret);
                return 0;
        case KIND_FOUND_SEEDS:
                seeds_print((struct seeds_value *)v, ret);
                return 0;
        case KIND_FOUND_REDUCED: /* of an implication, the decided formula is reduced; the rule then gives the finding's */
                if (reduced->interest == INTEREST_IMPLICATION) {
                        buffer_add(ret, reduced->implied.data, reduced->implied.size);
                        return 0;
                }
                break;
        }
        buffer_add(ret, reduced->text.data, reduced->text.size);
        return 0;
}

static int found_content(struct tree *t, const struct node *n, struct buffer *ret)
{
        cleanup(query_unrefp) struct query *q = NULL;
        cleanup(value_unrefp) struct value *v = NULL;

        return found_query(t, n, &q) ?: q->type->find(q, &v) ?: found_answer(t, n, v, ret);
}

/* -- culprits/ and by-commit/ -- */

/* A culprit of a finding. All of a solver are the index for by-commit/, which is kept until the store is written to (tree_numbers()). */
struct responsibility {
        uint32_t commit, finding;
};

static int compare_responsible(const void *a, const void *b)
{
        const struct responsibility *x = a, *y = b;

        return ORDER(x->commit, y->commit) ?: ORDER(x->finding, y->finding);
}

/* As a list of numbers: commit, finding, commit, finding …, by commit. */
static int make_index(struct tree *t, const struct node *n, uint32_t **ret, size_t *ret_n)
{
        cleanup_observations struct observations all = {0};
        struct responsibility *list = NULL;
        size_t count = 0;
        int r = observations_read(tree_workspace(t), n->solver->number, "spr", &all);

        _Static_assert(sizeof(*list) == 2 * sizeof(**ret), "as a list of numbers");
        for (size_t i = 0; r == 0 && i < all.n; i++) {
                struct commits c = culprits_of(t, n, all.list[i]);

                for (size_t k = 0; k < c.n; k++)
                        list_add(list, count, (struct responsibility){.commit = c.list[k], .finding = all.list[i]->number});
                free(c.list);
        }
        sort_list(list, count, sizeof(*list), compare_responsible);
        *ret = (uint32_t *)list;
        *ret_n = 2 * count;
        return r;
}

/* In by-commit/: the commits. In a commit's folder: its findings. */
static int by_commit_numbers(struct tree *t, const struct node *dir, uint32_t **ret, size_t *ret_n)
{
        const bool lists_commits = dir->inode.kind == KIND_BY_COMMIT;
        /* a node of its own: the numbers kept under the folder are its listing */
        struct node of = {.inode = {.kind = KIND_BY_COMMIT, .view = dir->inode.view, .item = 1}, .solver = dir->solver};
        cleanup_numbers struct numbers index = {0};
        int r = tree_numbers(t, &of, 0, make_index, &index);

        *ret = NULL;
        *ret_n = 0;
        for (size_t i = 0; r == 0 && i < index.n; i += 2) {
                uint32_t commit = index.list[i], finding = index.list[i + 1];

                if (lists_commits ? i > 0 && commit == index.list[i - 2] : commit != dir->inode.commit)
                        continue;
                list_add(*ret, *ret_n, lists_commits ? commit : finding);
        }
        return r;
}

/* The commits of a folder, by the kind of its entries: a finding's culprits, or those in by-commit/. */
static numbers_fn numbers_of(unsigned kind)
{
        return kind == KIND_CULPRIT ? found_culprits : by_commit_numbers;
}

static int sha_match(struct tree *t, const struct node *dir, const char *name, struct node *ret)
{
        git_oid oid;

        if (!version_is_commit(name) || oid_parse(name, &oid) < 0 ||
            history_number(dir->solver->history, &oid, &ret->inode.commit) < 0)
                return -ENOENT;
        ret->inode.item = dir->inode.item;
        return numbers_have(t, dir, numbers_of(ret->inode.kind), ret->inode.commit);
}

static int sha_entries(struct tree *t, const struct node *dir, const struct route *row, uint64_t from, entry_fn fn, void *user)
{
        return emit_commits(t, dir, row, from, numbers_of(row->kind), fn, user);
}

static int culprit_target(struct tree *t, const struct node *n, struct buffer *ret)
{
        buffer_adds(ret, "../../../commits/");
        return commit_name(n->solver, n->inode.commit, ret);
}

static int by_commit_found_target(struct tree *t, const struct node *n, struct buffer *ret)
{
        buffer_addf(ret, "../../%u", n->inode.item);
        return 0;
}

static const struct route rows[] = {
        {KIND_SPR, IN(KIND_SOLVER), .name = "spr", .type = NODE_FOLDER, .absent = ABSENT_NOT, .generation = any_listing,
         .about = "performance regressions that campaigns found, or compare --keep kept"},
        {KIND_SOUNDNESS, IN(KIND_SOLVER), .name = "soundness", .type = NODE_FOLDER, .absent = ABSENT_NOT,
         .generation = any_listing, .about = "wrong answers and crashes that campaigns met on the way"},
        {KIND_INCOMPLETENESS, IN(KIND_SOLVER), .name = "incompleteness", .type = NODE_FOLDER, .absent = ABSENT_NOT,
         .generation = any_listing, .about = "inputs that should be decided and come back unknown"},
        {KIND_SPR_FOUND, IN(KIND_SPR), .shown = "<found>", .type = NODE_FOLDER, .moves = true, .absent = ABSENT_NOT,
         .generation = any_listing, .has = found_has, .numbers = found_numbers, .mtime = found_mtime, .about = "a finding, by its number"},
        {KIND_SOUNDNESS_FOUND, IN(KIND_SOUNDNESS), .shown = "<found>", .type = NODE_FOLDER, .moves = true,
         .absent = ABSENT_NOT, .generation = any_listing, .has = found_has, .numbers = found_numbers, .mtime = found_mtime},
        {KIND_INCOMPLETENESS_FOUND, IN(KIND_INCOMPLETENESS), .shown = "<found>", .type = NODE_FOLDER, .moves = true,
         .absent = ABSENT_NOT, .generation = any_listing, .has = found_has, .numbers = found_numbers, .mtime = found_mtime},
        {106, IN(ANY_FOUND), .shown = "case.smt2", .named = found_case_named, .type = NODE_FILE, .open = found_case_open,
         .size = found_case_size, .mtime = found_mtime, .about = "the input (case.cnf for DIMACS)"},
        {KIND_FOUND_KIND, IN(KIND_SOUNDNESS_FOUND, KIND_INCOMPLETENESS_FOUND), .name = "kind", .type = NODE_FILE,
         .content = found_text, .mtime = found_mtime, .about = "soundness, crash, regression or implication"},
        {KIND_FOUND_REFERENCE, IN(KIND_SPR_FOUND), .name = "reference", .starts = true, .type = NODE_LINK,
         .exists = found_has_file, .content = found_text, .mtime = found_mtime, .about = "the fast version, when it is a commit"},
        {KIND_FOUND_TARGET, IN(KIND_SPR_FOUND), .name = "target", .starts = true, .type = NODE_LINK, .exists = found_has_file,
         .content = found_text, .mtime = found_mtime, .about = "the slow version, when it is a commit"},
        {110, IN(KIND_SPR_FOUND), .name = "times.tsv", DERIVED(print_times),
         .about = "every version measured on it: those of the campaign, then commits in the order of the history"},
        {141, IN(KIND_SPR_FOUND), .name = "history.svg", DERIVED(print_picture),
         .about = "what is measured of it along the history; the commits responsible are marked"},
        {KIND_FOUND_REDUCED, IN(ANY_FOUND), .shown = "reduced.smt2", .named = found_reduced_named, .type = NODE_COMPUTED, .content = found_content,
         .query = found_query, .answer = found_answer, .mtime = found_mtime, .about = "a smaller input that still shows it (reduced.cnf for DIMACS)"},
        {KIND_FOUND_REDUCED_DECIDED, IN(KIND_SOUNDNESS_FOUND, KIND_INCOMPLETENESS_FOUND), .name = "reduced-decided.smt2",
         .type = NODE_COMPUTED, .exists = found_has_file, .content = found_content, .query = found_query, .answer = found_answer,
         .mtime = found_mtime, .about = "of an implication: the formula before the rule that becomes reduced.smt2"},
        {KIND_FOUND_LOCALIZED, IN(ANY_FOUND), .name = "localized.tsv", .type = NODE_COMPUTED, .exists = found_has_file,
         .content = found_content, .query = found_query, .answer = found_answer, .mtime = found_mtime,
         .about = "the commits responsible, with the time, or the answer, before and after each"},
        {KIND_FOUND_SEEDS, IN(KIND_SPR_FOUND), .name = "seeds.tsv", .type = NODE_COMPUTED, .moves = true, .rewritten = true,
         .exists = found_has_file, .content = found_content, .query = found_query, .answer = found_answer, .mtime = found_mtime,
         .about = "both versions under the solver's seeds 1 to 30, where the recipe can set one"},
        {KIND_CULPRITS, IN(KIND_SPR_FOUND), .name = "culprits", .starts = true, .type = NODE_FOLDER, .absent = ABSENT_NOT,
         .exists = found_has_file, .generation = any_listing, .mtime = found_mtime, .about = "those already localized"},
        {KIND_CULPRIT, IN(KIND_CULPRITS), .shown = "<sha>", .starts = true, .type = NODE_LINK, .moves = true, .match = sha_match,
         .list = sha_entries, .content = culprit_target, .mtime = found_mtime},
        {KIND_FOUND_VERDICTS, IN(KIND_SOUNDNESS_FOUND, KIND_INCOMPLETENESS_FOUND), .name = "verdicts.tsv", .type = NODE_FILE,
         .content = found_text, .mtime = found_mtime, .about = "what each version answered"},
        {KIND_FOUND_SEED, IN(KIND_INCOMPLETENESS_FOUND), .name = "seed.smt2", .type = NODE_FILE, .exists = found_has_file,
         .open = found_case_open, .size = found_case_size, .mtime = found_mtime, .about = "what the input was made of"},
        {KIND_FOUND_DECIDED, IN(KIND_INCOMPLETENESS_FOUND), .name = "decided.smt2", .type = NODE_FILE, .exists = found_has_file,
         .open = found_case_open, .size = found_case_size, .mtime = found_mtime,
         .about = "of an implication: the formula before the last rule, which was decided"},
        {KIND_FOUND_RULES, IN(KIND_INCOMPLETENESS_FOUND), .name = "rules.tsv", .type = NODE_FILE, .content = found_text,
         .mtime = found_mtime, .about = "how: rule, direction, place"},
        {114, IN(ANY_FOUND), .name = "report.md", .type = NODE_FILE, .rewritten = true, .moves = true,
         .content = found_text, .mtime = found_mtime, .about = "what can be pasted into an issue tracker"},
        {KIND_FOUND_VERIFY, IN(ANY_FOUND), .name = "verify.sh", .type = NODE_FILE, .rewritten = true, .moves = true, .exists = found_has_file,
         .content = found_text, .mtime = found_mtime, .about = "a script that builds and runs both versions without solverfs, and says whether it is so"},
        {KIND_BY_COMMIT, IN(KIND_SPR), .name = "by-commit", .type = NODE_FOLDER, .absent = ABSENT_NOT, .generation = any_listing,
         .about = "the findings that are localized, by the commit responsible"},
        {KIND_BY_COMMIT_SHA, IN(KIND_BY_COMMIT), .shown = "<sha>", .type = NODE_FOLDER, .moves = true, .absent = ABSENT_NOT,
         .match = sha_match, .list = sha_entries, .generation = any_listing, .mtime = commit_time},
        {129, IN(KIND_BY_COMMIT_SHA), .shown = "<found>", .type = NODE_LINK, .moves = true,
         .numbers = by_commit_numbers, .content = by_commit_found_target, .mtime = commit_time},
};

const struct subtree findings_subtree = {rows, ARRAY_SIZE(rows)};

static const struct route alarm_rows[] = {
        {KIND_ALARMS, IN(KIND_SOLVER), .name = "alarms", .type = NODE_FOLDER, .absent = ABSENT_NOT, .generation = any_listing,
         .about = "what got worse on new commits: solverfs watch"},
        {KIND_ALARM, IN(KIND_ALARMS), .shown = "<n>", .type = NODE_FILE, .moves = true, .rewritten = true, .has = found_has,
         .numbers = alarm_numbers, .content = found_text, .mtime = found_mtime,
         .about = "kind, commit, worst case, before and after, how to see it again, and all its cases"},
};

const struct subtree alarms_subtree = {alarm_rows, ARRAY_SIZE(alarm_rows)};
