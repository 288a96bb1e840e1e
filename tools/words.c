#include "words.h"

#include <ctype.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <sys/stat.h>

int command_solver(struct workspace *w, const char *name, struct solver **ret)
{
        int r = workspace_solver(w, name, ret);

        return r < 0 ? fail(r) : STATUS_OK;
}

void commit_hex(struct solver *s, uint32_t commit, char ret[GIT_OID_HEXSZ + 1])
{
        struct commit c;

        if (history_commit(s->history, commit, &c) < 0)
                strcpy(ret, "?");
        else
                git_oid_tostr(ret, GIT_OID_HEXSZ + 1, &c.oid);
}

void revisions_done(struct revisions *r)
{
        free(r->list);
        *r = (struct revisions){0};
}

/* What was chosen, in order, and which are among it. */
struct picking {
        struct solver *solver;
        struct revisions *chosen;
        bool *taken; /* by commit number */
        uint32_t n;
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

/* The commits on b's first-parent line that are not on a's. Both lines end in their roots, so what they share stands in front. */
static int pick_range(struct picking *p, uint32_t a, uint32_t b)
{
        cleanup_free uint32_t *from = NULL, *to = NULL;
        size_t n_from, n_to, shared = 0;
        int r = history_line(p->solver->history, a, &from, &n_from);

        if (r == 0)
                r = history_line(p->solver->history, b, &to, &n_to);
        if (r < 0)
                return r;
        while (shared < n_from && shared < n_to && from[shared] == to[shared])
                shared++;
        for (size_t i = shared; i < n_to && r == 0; i++)
                r = pick(p, to[i]);
        return r;
}

static int resolve(struct solver *s, const char *word, uint32_t *ret)
{
        int r = history_resolve(s->history, word, ret);

        /* Whatever is wrong with it, there is no such revision; but a store that fails is another matter. */
        return r == -EINVAL ? errorf(-ENOENT, "%s", error_message(r)) : r;
}

static int pick_word(struct picking *p, const char *word)
{
        const char *dots = strstr(word, "..");
        cleanup_free char *from = NULL;
        size_t before = p->chosen->n;
        uint32_t a, b;
        int r;

        if (!dots) {
                r = resolve(p->solver, word, &a);
                return r < 0 ? r : pick(p, a);
        }
        if (dots[2] == '.')
                return errorf(-ENOENT, "no revision '%s': A...B is not a range here; A..B is", word);
        from = strndup(word, (size_t)(dots - word));
        if (!from)
                return -ENOMEM;
        r = resolve(p->solver, *from ? from : "HEAD", &a);
        if (r == 0)
                r = resolve(p->solver, dots[2] ? dots + 2 : "HEAD", &b);
        if (r == 0)
                r = pick_range(p, a, b);
        if (r == 0 && p->chosen->n == before)
                note("%s: no commits in this range", word);
        return r;
}

int command_revisions(struct solver *s, char *const *words, size_t n, struct revisions *ret)
{
        struct picking p = {.solver = s, .chosen = ret, .n = history_count(s->history)};
        int r = 0;

        p.taken = calloc(p.n + 1, sizeof(*p.taken));
        ret->list = calloc(p.n + 1, sizeof(*ret->list));
        if (!p.taken || !ret->list)
                r = -ENOMEM;
        for (size_t i = 0; i < n && r == 0; i++)
                r = pick_word(&p, words[i]);
        free(p.taken);
        return r < 0 ? fail(r) : STATUS_OK;
}

/* -- cases ------------------------------------------------------------------------------------------------------ */

void selection_done(struct selection *s)
{
        for (size_t i = 0; i < s->n; i++)
                case_info_unref(s->list[i]);
        free(s->list);
        *s = (struct selection){0};
}

/* Every case there is, read once when a word is about many. */
struct choosing {
        struct cases *cases;
        struct sets *sets;
        struct selection all;
        bool loaded;
        struct selection *chosen;
        uint8_t *taken; /* a bit for each id chosen; ids to 8 * taken_size */
        size_t taken_size;
};

static int load_all(struct choosing *c)
{
        cleanup_free uint32_t *ids = NULL;
        size_t n;
        int r;

        if (c->loaded)
                return 0;
        r = cases_list(c->cases, &ids, &n);
        if (r < 0)
                return r;
        c->all.list = calloc(MAX(n, (size_t)1), sizeof(*c->all.list));
        if (!c->all.list)
                return -ENOMEM;
        for (size_t i = 0; i < n; i++) {
                r = cases_get(c->cases, ids[i], &c->all.list[c->all.n]);
                if (r == -ENOENT) /* removed meanwhile */
                        continue;
                if (r < 0)
                        return r;
                c->all.n++;
        }
        c->loaded = true;
        return 0;
}

static int choose(struct choosing *c, struct case_info *info)
{
        struct selection *s = c->chosen;
        size_t byte = info->id / 8;

        if (byte >= c->taken_size) {
                size_t size = MAX(byte + 1, 2 * c->taken_size);
                uint8_t *taken = realloc(c->taken, size);

                if (!taken)
                        return -ENOMEM;
                memset(taken + c->taken_size, 0, size - c->taken_size);
                c->taken = taken;
                c->taken_size = size;
        }
        if (c->taken[byte] & 1u << info->id % 8)
                return 0;
        if (list_grow(s->list, s->n) < 0)
                return -ENOMEM;
        s->list[s->n++] = case_info_ref(info);
        c->taken[byte] |= (uint8_t)(1u << info->id % 8);
        return 0;
}

typedef bool (*match_fn)(const struct case_info *info, const void *with);

static int choose_matching(struct choosing *c, match_fn match, const void *with, size_t *ret_n)
{
        int r = load_all(c);

        *ret_n = 0;
        for (size_t i = 0; i < c->all.n && r == 0; i++)
                if (match(c->all.list[i], with)) {
                        r = choose(c, c->all.list[i]);
                        (*ret_n)++;
                }
        return r;
}

static bool match_any(const struct case_info *info, const void *with)
{
        return true;
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
        char hex[DIGEST_HEX_SIZE];

        digest_hex(&info->sha256, hex);
        return strncasecmp(hex, with, strlen(with)) == 0;
}

static bool all_of(const char *word, int (*is)(int))
{
        if (*word == '\0')
                return false;
        for (; *word; word++)
                if (!is((unsigned char)*word))
                        return false;
        return true;
}

static bool parse_range(const char *word, uint32_t ret[2])
{
        char *end;
        unsigned long a, b;

        if (!isdigit((unsigned char)*word))
                return false;
        errno = 0;
        a = strtoul(word, &end, 10);
        if (*end != '-' || !isdigit((unsigned char)end[1]))
                return false;
        b = strtoul(end + 1, &end, 10);
        if (*end || errno != 0 || a > b || b > UINT32_MAX)
                return false;
        ret[0] = (uint32_t)a;
        ret[1] = (uint32_t)b;
        return true;
}

/* One case by what is its alone: id, name, or the bytes of a file. */
static int find_one(struct choosing *c, const char *word, struct case_info **ret)
{
        int r = -ENOENT;

        if (all_of(word, isdigit) && strlen(word) < 10) {
                r = cases_get(c->cases, (uint32_t)strtoul(word, NULL, 10), ret);
                if (r == 0 && (*ret)->removed) {
                        *ret = case_info_unref(*ret);
                        r = -ENOENT;
                }
        }
        return r == -ENOENT ? cases_find(c->cases, word, ret) : r;
}

static int find_by_file(struct choosing *c, const char *word, struct case_info **ret)
{
        cleanup_close int fd = open(word, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        struct digest d;
        struct stat st;
        uint64_t size;
        int r;

        if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || digest_of_fd(fd, &d, &size) < 0)
                return errorf(-ENOENT, "no case '%s': 'solverfs case list' shows what there is", word);
        r = cases_find_digest(c->cases, &d, ret);
        if (r == 0 && (*ret)->removed) {
                *ret = case_info_unref(*ret);
                r = -ENOENT;
        }
        return r == -ENOENT ? errorf(r, "%s is not a case yet: add it with 'solverfs case add %s'", word, word) : r;
}

/* What is in a set and in no listing is left out. */
static int choose_set(struct choosing *c, const char *word, bool *ret_is_one)
{
        cleanup(case_set_unrefp) struct case_set *set = NULL;
        size_t shown = 0;
        int r = sets_get(c->sets, word, &set);

        *ret_is_one = r == 0;

        for (size_t i = 0; r == 0 && i < set->n; i++) {
                cleanup(case_info_unrefp) struct case_info *info = NULL;

                if (cases_get(c->cases, set->ids[i], &info) < 0 || info->removed)
                        continue;
                r = choose(c, info);
                shown++;
        }
        if (r == 0 && shown == 0)
                return errorf(-ENOENT, "there are no cases in the set '%s': add some with 'solverfs set add %s CASE...'", word,
                              word);
        return r;
}

static int choose_word(struct choosing *c, const char *word)
{
        struct case_info *info = NULL;
        size_t n = 0, folder = strlen(word);
        uint32_t range[2];
        bool is_set;
        int r = find_one(c, word, &info);

        if (r == 0) {
                r = choose(c, info);
                case_info_unref(info);
                return r;
        }
        if (r != -ENOENT)
                return r;
        if (strcmp(word, "all") == 0)
                return choose_matching(c, match_any, NULL, &n);
        r = choose_set(c, word, &is_set);
        if (is_set || r != -ENOENT)
                return r;
        if (parse_range(word, range))
                r = choose_matching(c, match_range, range, &n);
        else if (strpbrk(word, "*?["))
                r = choose_matching(c, match_pattern, word, &n);
        else if (folder > 1 && word[folder - 1] == '/')
                r = choose_matching(c, match_folder, word, &n);
        else if (all_of(word, isxdigit) && folder >= 4 && folder <= 64) {
                r = choose_matching(c, match_digest, word, &n);
                if (r == 0 && n > 1)
                        return errorf(-ENOTUNIQ, "case '%s' is ambiguous: %zu sha256 sums begin so; give more digits", word, n);
        } else
                r = 0;
        if (r < 0 || n > 0)
                return r;
        r = find_by_file(c, word, &info);
        if (r == 0) {
                r = choose(c, info);
                case_info_unref(info);
        }
        return r;
}

int command_cases(struct workspace *w, char *const *words, size_t n, struct selection *ret)
{
        struct choosing c = {.cases = workspace_cases(w), .sets = workspace_sets(w), .chosen = ret};
        int r = 0;

        for (size_t i = 0; i < n && r == 0; i++)
                r = choose_word(&c, words[i]);
        selection_done(&c.all);
        free(c.taken);
        if (r == 0 && ret->n == 0 && n > 0)
                r = errorf(-ENOENT, "the store has no cases yet: add some with 'solverfs case add FILE'");
        return r < 0 ? fail(r) : STATUS_OK;
}
