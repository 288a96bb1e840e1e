#include "core/workspace/select.h"

#include <ctype.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <sys/stat.h>

/* -- revisions -- */

void revisions_done(struct revisions *r)
{
        free(r->list);
        *r = (struct revisions){0};
}

/* The commits chosen so far: in order, and marked by number. */
struct picking {
        struct solver *solver;
        struct revisions *chosen;
        bool *taken; /* by commit number */
        uint32_t n;
        struct buffer *notes;
};

static int pick(struct picking *p, uint32_t commit)
{
        if (commit >= p->n) /* indexed since we began */
                return errorf(-EAGAIN, "the history changed meanwhile: try again");
        if (!p->taken[commit])
                p->chosen->list[p->chosen->n++] = commit;
        p->taken[commit] = true;
        return 0;
}

int revision_range(struct solver *s, uint32_t from, uint32_t to, struct revisions *ret)
{
        cleanup_free uint32_t *line = NULL, *other = NULL;
        size_t n, n_other, shared = 0;
        int r = history_line(s->history, from, &other, &n_other) ?: history_line(s->history, to, &line, &n);

        if (r < 0)
                return r;
        while (shared < n_other && shared < n && other[shared] == line[shared]) /* both end in their roots */
                shared++;
        memmove(line, line + shared, (n - shared) * sizeof(*line));
        *ret = (struct revisions){.list = steal_pointer(line), .n = n - shared};
        return 0;
}

/* Turns -EINVAL into -ENOENT: a word that is no revision names none. */
static int resolve(struct solver *s, const char *word, uint32_t *ret)
{
        int r = history_resolve(s->history, word, ret);

        return r == -EINVAL ? errorf(-ENOENT, "%s", error_message(r)) : r;
}

/* Explains an empty range: most often its ends are swapped. */
static int note_empty(struct picking *p, const char *word, const char *from, const char *to, uint32_t a, uint32_t b)
{
        cleanup_revisions struct revisions turned = {0};
        int r = revision_range(p->solver, b, a, &turned);

        if (r == 0 && turned.n > 0)
                buffer_addf(p->notes, "%s: no commits in this range; %s..%s has %zu\n", word, to, from, turned.n);
        else if (r == 0)
                buffer_addf(p->notes, "%s: no commits in this range\n", word);
        return r;
}

/* A..B; an omitted end is HEAD. */
static int pick_range(struct picking *p, const char *word, const char *dots)
{
        cleanup_free char *before = copy_prefix(word, (size_t)(dots - word));
        cleanup_revisions struct revisions range = {0};
        const char *from = before && *before ? before : "HEAD", *to = dots[2] ? dots + 2 : "HEAD";
        uint32_t a, b;
        int r;

        if (dots[2] == '.')
                return errorf(-ENOENT, "no revision '%s': A...B is not a range here; A..B is", word);
        r = resolve(p->solver, from, &a) ?: resolve(p->solver, to, &b) ?: revision_range(p->solver, a, b, &range);
        if (r == 0 && range.n == 0 && p->notes)
                r = note_empty(p, word, from, to, a, b);
        for (size_t i = 0; r == 0 && i < range.n; i++)
                r = pick(p, range.list[i]);
        return r;
}

/* Tags whose names match a pattern, in the order of the history. */
static int pick_tags(struct picking *p, const char *pattern)
{
        cleanup(ref_list_unrefp) struct ref_list *refs = NULL;
        cleanup(commit_order_unrefp) struct commit_order *order = NULL;
        cleanup_free uint32_t *list = NULL;
        size_t n = 0;
        int r = history_refs(p->solver->history, &refs) ?: history_order(p->solver->history, &order);

        for (size_t i = 0; r == 0 && i < refs->n; i++) {
                if (refs->list[i].kind != REF_TAG || refs->list[i].commit >= order->n ||
                    fnmatch(pattern, refs->list[i].name, 0) != 0)
                        continue;
                list_add(list, n, refs->list[i].commit);
        }
        if (r == 0 && n == 0)
                r = errorf(-ENOENT, "no tag of %s matches '%s'", p->solver->recipe->name, pattern);
        if (r == 0)
                qsort_r(list, n, sizeof(*list), commit_order_compare, order->place);
        for (size_t i = 0; r == 0 && i < n; i++)
                r = pick(p, list[i]);
        return r;
}

static int pick_word(struct picking *p, const char *word)
{
        const char *dots = strstr(word, "..");
        uint32_t commit;
        int r;

        if (dots)
                return pick_range(p, word, dots);
        r = resolve(p->solver, word, &commit);
        if (r == 0)
                return pick(p, commit);
        return r == -ENOENT && strpbrk(word, "*?[") ? pick_tags(p, word) : r;
}

int revisions_select(struct solver *s, char *const *words, size_t n, struct revisions *ret, struct buffer *notes)
{
        struct picking p = {.solver = s, .chosen = ret, .n = history_count(s->history), .notes = notes};
        int r = 0;

        p.taken = allocate(p.n + 1, sizeof(*p.taken));
        ret->list = allocate(p.n + 1, sizeof(*ret->list));
        for (size_t i = 0; i < n && r == 0; i++)
                r = pick_word(&p, words[i]);
        free(p.taken);
        return r;
}

/* -- cases -- */

size_t case_selection_keep(struct case_selection *s, enum format format)
{
        size_t kept = 0, n = s->n;

        for (size_t i = 0; i < n; i++)
                if (format == FORMAT_ANY || s->list[i]->format == format)
                        s->list[kept++] = s->list[i];
                else
                        case_info_unref(s->list[i]);
        s->n = kept;
        return n - kept;
}

void case_selection_done(struct case_selection *s)
{
        for (size_t i = 0; i < s->n; i++)
                case_info_unref(s->list[i]);
        free(s->list);
        *s = (struct case_selection){0};
}

struct choosing {
        struct cases *cases;
        struct sets *sets;
        struct case_selection all; /* all cases, read once if a word names several */
        bool loaded;
        struct case_selection *chosen;
        bool *taken; /* by id */
        size_t n_taken;
};

static void choosing_done(struct choosing *c)
{
        case_selection_done(&c->all);
        free(c->taken);
}

static int load_all(struct choosing *c)
{
        cleanup_free uint32_t *ids = NULL;
        size_t n = 0;
        int r = c->loaded ? 0 : cases_list(c->cases, &ids, &n);

        if (r == 0 && !c->loaded)
                c->all.list = allocate(n + 1, sizeof(*c->all.list));
        for (size_t i = 0; r == 0 && i < n; i++) {
                r = cases_get(c->cases, ids[i], &c->all.list[c->all.n]);
                c->all.n += r == 0;
                r = r == -ENOENT ? 0 : r; /* removed meanwhile */
        }
        c->loaded |= r == 0;
        return r;
}

static void choose(struct choosing *c, struct case_info *info)
{
        struct case_selection *s = c->chosen;

        while (info->id >= c->n_taken)
                list_add(c->taken, c->n_taken, false);
        if (c->taken[info->id])
                return;
        c->taken[info->id] = true;
        list_add(s->list, s->n, case_info_ref(info));
}

typedef bool (*match_fn)(const struct case_info *info, const void *with);

static int choose_matching(struct choosing *c, match_fn match, const void *with, size_t *ret_n)
{
        int r = load_all(c);

        *ret_n = 0;
        for (size_t i = 0; i < c->all.n && r == 0; i++)
                if (match(c->all.list[i], with)) {
                        choose(c, c->all.list[i]);
                        (*ret_n)++;
                }
        return r;
}

static bool match_range(const struct case_info *info, const void *with)
{
        const uint32_t *range = with;

        return info->id >= range[0] && info->id <= range[1];
}

static bool match_pattern(const struct case_info *info, const void *with)
{
        return fnmatch(with, info->name, 0) == 0;
}

static bool match_folder(const struct case_info *info, const void *with)
{
        return strncmp(info->name, with, strlen(with)) == 0;
}

static bool match_digest(const struct case_info *info, const void *with)
{
        return strncasecmp(digest_text(&info->sha256).s, with, strlen(with)) == 0;
}

/* Two 32-bit numbers A-B, of digits alone. */
static bool parse_range(const char *word, uint32_t ret[2])
{
        const char *dash = strchr(word, '-');
        int end = 0;

        return dash && isdigit((unsigned char)word[0]) && isdigit((unsigned char)dash[1]) && dash - word < 10 && strlen(dash) < 11 &&
               sscanf(word, "%" SCNu32 "-%" SCNu32 "%n", &ret[0], &ret[1], &end) == 2 && word[end] == '\0' && ret[0] <= ret[1];
}

/* -ENOENT, and the reference is dropped, for a case that no listing shows. A query of a case counts, though it is never listed. */
static int if_listed(int r, struct case_info **info)
{
        if (r < 0 || case_is_there(*info))
                return r;
        *info = case_info_unref(*info);
        return -ENOENT;
}

/* True for `all` and A-B, also after '#'. A case that has such a name is found by its id alone, as `all` must never leave out cases. */
static bool names_several(const char *word)
{
        uint32_t range[2];

        return strcmp(word, "all") == 0 || parse_range(word, range);
}

static bool is_number(const char *word)
{
        const size_t n = strlen(word);

        return n > 0 && n < 10 && strspn(word, "0123456789") == n;
}

/* Finds one case by its id or name. */
static int find_one(struct choosing *c, const char *word, struct case_info **ret)
{
        int r = is_number(word) ? if_listed(cases_get(c->cases, (uint32_t)strtoul(word, NULL, 10), ret), ret) : -ENOENT;

        return r == -ENOENT ? cases_find(c->cases, word, ret) : r;
}

/* A compressed file became a case under its name, or the last part of it, without the suffix. */
static bool find_unpacked(struct choosing *c, const char *word, char ret[PATH_SIZE])
{
        cleanup(case_info_unrefp) struct case_info *info = NULL;
        size_t n = case_unpacked_name(word);
        const char *slash;

        if (n == strlen(word) || n >= PATH_SIZE)
                return false;
        snprintf(ret, PATH_SIZE, "%.*s", (int)n, word);
        if (cases_find(c->cases, ret, &info) == 0)
                return true;
        slash = strrchr(ret, '/');
        if (slash)
                memmove(ret, slash + 1, strlen(slash));
        return slash && cases_find(c->cases, ret, &info) == 0;
}

static int find_by_file(struct choosing *c, const char *word, struct case_info **ret)
{
        cleanup_close int fd = names_several(word) ? -1 : open(word, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        char unpacked[PATH_SIZE];
        struct digest d;
        struct stat st;
        int r;

        if (find_unpacked(c, word, unpacked))
                return errorf(-ENOENT, "no case '%s'; did you mean '%s'?", word, unpacked);
        if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || digest_of_fd(fd, &d, NULL) < 0)
                return errorf(-ENOENT, "no case '%s': 'solverfs case list' shows what there is", word);
        r = if_listed(cases_find_digest(c->cases, &d, ret), ret);
        return r == -ENOENT ? errorf(r, "%s is not a case yet: add it with 'solverfs case add %s'", word, word) : r;
}

/* Chooses a set's cases, without those that no listing shows. */
static int choose_set(struct choosing *c, const char *word, bool *ret_is_one)
{
        cleanup(case_set_unrefp) struct case_set *set = NULL;
        size_t shown = 0;
        int r = sets_get(c->sets, word, &set);

        *ret_is_one = r == 0;
        for (size_t i = 0; r == 0 && i < set->n; i++) {
                cleanup(case_info_unrefp) struct case_info *info = NULL;

                if (cases_get(c->cases, set->ids[i], &info) < 0 || !case_is_there(info))
                        continue;
                choose(c, info);
                shown++;
        }
        if (r == 0 && shown == 0)
                return errorf(-ENOENT, "there are no cases in the set '%s': add some with 'solverfs set add %s CASE...'", word, word);
        return r;
}

/* Chooses cases by a word that may name several; *ret_n: their number. */
static int choose_many(struct choosing *c, const char *word, size_t *ret_n)
{
        const size_t n = strlen(word);
        uint32_t range[2];
        int r;

        *ret_n = 0;
        if (parse_range(word, range))
                return choose_matching(c, match_range, range, ret_n);
        if (strpbrk(word, "*?["))
                return choose_matching(c, match_pattern, word, ret_n);
        if (n > 1 && word[n - 1] == '/')
                return choose_matching(c, match_folder, word, ret_n);
        if (n < 4 || n > 64 || strspn(word, "0123456789abcdefABCDEF") < n || is_number(word)) /* an id that is none names no other case */
                return 0;
        r = choose_matching(c, match_digest, word, ret_n);
        return r == 0 && *ret_n > 1 ? errorf(-ENOTUNIQ, "case '%s' is ambiguous: %zu sha256 sums begin so; give more digits", word, *ret_n) : r;
}

static int choose_word(struct choosing *c, const char *word);

/* WHOLE#N, WHOLE#A-B, WHOLE#all: queries of scripts; `number` is the text after '#'. */
static int choose_queries(struct choosing *c, const char *word, const char *number)
{
        cleanup_case_selection struct case_selection wholes = {0};
        cleanup_free char *whole = copy_prefix(word, (size_t)(number - 1 - word));
        cleanup(choosing_done) struct choosing inner = {.cases = c->cases, .sets = c->sets, .chosen = &wholes};
        uint32_t range[2] = {1, UINT32_MAX};
        bool is_asked = false;
        int r = choose_word(&inner, whole);

        if (is_number(number))
                range[0] = range[1] = (uint32_t)strtoul(number, NULL, 10);
        else
                parse_range(number, range); /* `all` leaves it as it is */
        for (size_t i = 0; i < wholes.n && r == 0; i++) {
                const struct case_info *of = wholes.list[i];
                uint32_t last = range[1] == UINT32_MAX ? (uint32_t)of->n_expected : range[1];

                for (uint32_t q = range[0]; q <= last && r == 0; q++) {
                        cleanup(case_info_unrefp) struct case_info *info = NULL;

                        r = cases_query(c->cases, of, q, &info);
                        if (r == 0)
                                choose(c, info);
                        is_asked = true;
                }
        }
        return r == 0 && !is_asked ? errorf(-ENOENT, "'%s' names no query: there is no check-sat", word) : r;
}

/* Tries the meanings of a word (select.h) in their order. */
static int choose_word(struct choosing *c, const char *word)
{
        cleanup(case_info_unrefp) struct case_info *info = NULL;
        const char *mark = strrchr(word, '#');
        size_t n = 0;
        bool is_set;
        int r = names_several(word) ? -ENOENT : find_one(c, word, &info);

        if (r == -ENOENT && mark && mark > word && (is_number(mark + 1) || names_several(mark + 1)))
                return choose_queries(c, word, mark + 1);
        if (r == -ENOENT && strcmp(word, "all") == 0)
                return choose_matching(c, match_folder, "", &n);
        if (r == -ENOENT) {
                r = choose_set(c, word, &is_set);
                if (is_set || r != -ENOENT)
                        return r;
                r = choose_many(c, word, &n);
                if (r == 0 && n == 0)
                        r = find_by_file(c, word, &info);
        }
        if (r == 0 && info)
                choose(c, info);
        return r;
}

int cases_select_set(struct workspace *w, const char *set, struct case_selection *ret)
{
        cleanup(choosing_done) struct choosing c = {.cases = workspace_cases(w), .sets = workspace_sets(w), .chosen = ret};
        bool is_one;
        size_t n;

        return set ? choose_set(&c, set, &is_one) : choose_matching(&c, match_folder, "", &n);
}

int cases_select(struct workspace *w, char *const *words, size_t n, struct case_selection *ret)
{
        cleanup(choosing_done) struct choosing c = {.cases = workspace_cases(w), .sets = workspace_sets(w), .chosen = ret};
        int r = 0;

        for (size_t i = 0; i < n && r == 0; i++)
                r = choose_word(&c, words[i]);
        return r == 0 && ret->n == 0 && n > 0 ? errorf(-ENOENT, "the store has no cases yet: add some with 'solverfs case add FILE'") : r;
}

bool case_word_is_single(const char *word)
{
        const char *mark = strrchr(word, '#');
        size_t n = strlen(word);

        return !(mark && names_several(mark + 1)) && !names_several(word) && !strpbrk(word, "*?[") && (n == 0 || word[n - 1] != '/');
}
