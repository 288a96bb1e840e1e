/* Classes and intents from commits' texts, those set by hand, and the culprits of all findings. */
#include "core/study/observation/culprits.h"

#include <ctype.h>
#include <math.h>

#include "cache/base/transfer.h"
#include "core/study/base/version.h"
#include "core/study/observation/finding.h"

/* In TABLE_FINDINGS: 'c' solver(4) oid(20) → version(1) class(1) intent(1), each of the two NOT_SET or a value. */
#define RECORD_VERSION 1
#define NOT_SET        255
#define KEY_SIZE       (5 + GIT_OID_RAWSZ)

static const char *const class_names[N_CLASSES] = {
        [CLASS_UNKNOWN] = "unknown",
        [CLASS_FIX] = "fix",
        [CLASS_ALGORITHM] = "algorithm",
        [CLASS_THEORY] = "theory",
        [CLASS_REFACTORING] = "refactoring",
};
static const char *const intent_names[N_INTENTS] = {
        [INTENT_UNKNOWN] = "-", [INTENT_COMPROMISE] = "compromise", [INTENT_BUG] = "bug"};

const char *culprit_class_name(enum culprit_class c)
{
        return class_names[c];
}

const char *culprit_intent_name(enum culprit_intent i)
{
        return intent_names[i];
}

int culprit_word_parse(const char *word, enum culprit_class *ret_class, bool *ret_is_class, enum culprit_intent *ret_intent)
{
        int class = 0, intent = INTENT_COMPROMISE;

        while (class < N_CLASSES && strcmp(word, class_names[class]) != 0)
                class++;
        while (intent < N_INTENTS && strcmp(word, intent_names[intent]) != 0)
                intent++;
        if (class == N_CLASSES && intent == N_INTENTS)
                return errorf(-EINVAL, "a culprit is fix, algorithm, theory, refactoring or unknown, and compromise or bug, not '%s'", word);
        *ret_is_class = class < N_CLASSES;
        if (*ret_is_class)
                *ret_class = (enum culprit_class)class;
        else
                *ret_intent = (enum culprit_intent)intent;
        return 0;
}

/* -- reading a commit's text -- */

/* True if one of the words begins a word of the text, in upper or lower case. */
static bool has_word(const char *text, const char *const *words)
{
        for (const char *p = text; *p; p++) {
                if (p > text && isalnum((unsigned char)p[-1]))
                        continue;
                for (const char *const *w = words; *w; w++)
                        if (strncasecmp(p, *w, strlen(*w)) == 0)
                                return true;
        }
        return false;
}

/* True if every path looks like a place where defaults and parameters are declared. */
static bool changes_only_parameters(const char *changes)
{
        static const char *const marks[] = {"param", "option", "config", "default"};
        size_t n = 0;

        for (const char *p = changes; *p;) {
                size_t size = strcspn(p, "\n");
                bool is_parameter = false;

                for (size_t i = 0; i < ARRAY_SIZE(marks); i++)
                        is_parameter |= memmem(p, size, marks[i], strlen(marks[i])) != NULL;
                if (size > 0 && !is_parameter)
                        return false;
                n += size > 0;
                p += size + (p[size] == '\n');
        }
        return n > 0;
}

enum culprit_class culprit_classify(const char *message, const char *changes)
{
        static const char *const defaults[] = {"default", "enable", "disable", "turn on", "turn off", "switch to", "flip",
                                               "use new",  NULL};
        static const char *const fixes[] = {"fix",     "bug",    "unsound", "soundness", "crash",     "segfault", "regress",
                                            "correct", "wrong",  "issue",   "leak",      "assertion", "memory",   "overflow",
                                            "missing", "repair", "avoid",   NULL};
        static const char *const refactorings[] = {"refactor", "clean", "rename",  "move",   "tidy",   "format", "remove unused",
                                                   "simplify code", "split", "extract", "rewrite code", "style", NULL};
        static const char *const algorithms[] = {"add",     "new",       "improve",  "optimi", "implement", "heuristic", "propagat",
                                                 "lemma",   "axiom",     "rewrit",   "speed",  "perf",      "faster",    "support",
                                                 "extend",  "strategy",  "use ",     "change", "solve",     "algorithm", "simplif",
                                                 "preprocess", "inference", "learn", NULL};

        if (changes_only_parameters(changes))
                return CLASS_THEORY;
        if (has_word(message, fixes))
                return CLASS_FIX;
        if (has_word(message, defaults))
                return CLASS_THEORY;
        if (has_word(message, refactorings))
                return CLASS_REFACTORING;
        return has_word(message, algorithms) ? CLASS_ALGORITHM : CLASS_UNKNOWN;
}

enum culprit_intent culprit_intent_of(const char *message)
{
        static const char *const words[] = {"for now",  "temporar", "workaround", "work around", "trade-off", "tradeoff",
                                            "at the cost", "slower",  "compromise", "conservative", "until ",   NULL};

        return has_word(message, words) ? INTENT_COMPROMISE : INTENT_UNKNOWN;
}

/* -- by hand -- */

static int key_of(const struct solver *s, uint32_t commit, uint8_t ret[KEY_SIZE])
{
        struct commit c;
        int r = history_commit(s->history, commit, &c);

        ret[0] = 'c';
        key_u32(ret + 1, s->number);
        memcpy(ret + 5, c.oid.id, r < 0 ? 0 : GIT_OID_RAWSZ);
        return r;
}

struct override {
        uint8_t class, intent;
};

static void transfer_override(struct transfer *t, struct override *o)
{
        transfer_version(t, RECORD_VERSION);
        transfer_u8(t, &o->class);
        transfer_u8(t, &o->intent);
        if ((o->class >= N_CLASSES && o->class != NOT_SET) || (o->intent >= N_INTENTS && o->intent != NOT_SET))
                record_fail(&t->from);
}

static int get_override(struct store_txn *t, const uint8_t key[KEY_SIZE], struct override *ret)
{
        cleanup_blob struct blob b = {0};
        int r = store_get(t, TABLE_FINDINGS, SLICE(key, KEY_SIZE), &b);
        struct transfer from;

        *ret = (struct override){NOT_SET, NOT_SET};
        if (r < 0)
                return r == -ENOENT ? 0 : r;
        from = (struct transfer){.from = record_of(SLICE(b.data, b.size))};
        transfer_override(&from, ret);
        return record_end(&from.from, "the class of a commit");
}

int culprit_set(struct workspace *w, struct solver *s, uint32_t commit, const enum culprit_class *class, const enum culprit_intent *intent)
{
        cleanup_culprits struct culprits all = {0};
        struct store_update u = {.store = workspace_store(w)};
        uint8_t key[KEY_SIZE];
        bool is_there = false;
        int r = culprits_read(w, s, &all);

        for (size_t i = 0; i < all.n; i++)
                is_there |= all.list[i].commit == commit;
        if (r == 0 && !is_there)
                return errorf(-ENOENT, "no finding of %s is localized to that commit", s->recipe->name);
        if (r == 0)
                r = key_of(s, commit, key);
        u.r = r;
        while (store_update_begins(&u)) {
                cleanup_buffer struct buffer b = {0};
                struct override o;

                u.r = get_override(u.txn, key, &o);
                if (class)
                        o.class = (uint8_t)*class;
                if (intent)
                        o.intent = (uint8_t)*intent;
                transfer_override(&(struct transfer){.to = &b}, &o);
                u.r = u.r < 0 ? u.r : store_put(u.txn, TABLE_FINDINGS, SLICE(key, KEY_SIZE), SLICE(b.data, b.size));
        }
        return u.r;
}

/* -- all of them -- */

static struct culprit *culprit_of(struct culprits *c, uint32_t commit)
{
        for (size_t i = 0; i < c->n; i++)
                if (c->list[i].commit == commit)
                        return &c->list[i];
        return list_add(c->list, c->n, (struct culprit){.commit = commit, .before = NAN, .after = NAN});
}

/* True if the slowdown is larger than the worst so far. A time counts before any other measure; where a number is missing, the later finding does. */
static bool is_worse(const struct culprit *c, enum judge_measure m, double before, double after)
{
        if (c->worst == 0 || c->measure != m)
                return c->worst == 0 || m == JUDGE_TIME;
        return !(judge_scale(m, after) - judge_scale(m, before) <= judge_scale(m, c->after) - judge_scale(m, c->before));
}

static void add_slowdown(const struct observation *f, const struct localized_culprit *l, uint32_t commit, struct culprits *ret)
{
        const double before = l->is_broken_before ? NAN : l->value_before, after = l->is_broken_after ? NAN : l->value_after;
        struct culprit *c = culprit_of(ret, commit);

        list_add(c->findings, c->n, f->number);
        if (is_worse(c, f->measure, before, after)) {
                c->worst = f->number;
                c->measure = f->measure;
                c->before = before;
                c->after = after;
        }
        if (f->mark == MARK_CONFIRMED || f->mark == MARK_FIXED)
                c->intent = INTENT_BUG;
}

static int add_finding(struct workspace *w, struct solver *s, const struct observation *f, struct culprits *ret)
{
        cleanup_localized struct localized *localized = NULL;
        const struct localized_culprit *l;
        bool is_explained = false;
        uint32_t commit;
        int r;

        if (!finding_is_localizable(s, f))
                return 0;
        ret->localizable++;
        r = finding_localized(w, s, f, &localized);
        for (size_t at = 0; r == 0 && (l = localized_slowdown(localized, &at));)
                if (culprit_commit(s, l, &commit) == 0) {
                        is_explained = true;
                        add_slowdown(f, l, commit, ret);
                }
        ret->open += r == -ENOENT;
        ret->unexplained += r == 0 && !is_explained;
        return r == -ENOENT ? 0 : r;
}

/* Class and intent: those set by hand, else from the commit's text. */
static int read_class(struct workspace *w, struct solver *s, struct culprit *c)
{
        cleanup_buffer struct buffer message = {0}, changes = {0};
        cleanup_txn struct store_txn *t = NULL;
        uint8_t key[KEY_SIZE];
        struct override o;
        int r = history_text(s->history, c->commit, COMMIT_MESSAGE, &message)
            ?: history_text(s->history, c->commit, COMMIT_CHANGES, &changes)
            ?: store_read(workspace_store(w), &t)
            ?: key_of(s, c->commit, key)
            ?: get_override(t, key, &o);

        if (r < 0)
                return r;
        c->is_class_set = o.class != NOT_SET;
        c->is_intent_set = o.intent != NOT_SET;
        c->class = c->is_class_set ? (enum culprit_class)o.class
                                   : culprit_classify(message.data ? message.data : "", changes.data ? changes.data : "");
        if (c->is_intent_set)
                c->intent = (enum culprit_intent)o.intent;
        else if (c->intent == INTENT_UNKNOWN)
                c->intent = culprit_intent_of(message.data ? message.data : "");
        return 0;
}

int culprits_read(struct workspace *w, struct solver *s, struct culprits *ret)
{
        cleanup(commit_order_unrefp) struct commit_order *order = NULL;
        cleanup_observations struct observations all = {0};
        int r = observations_read(w, s->number, "spr", &all);

        *ret = (struct culprits){0};
        for (size_t i = 0; r == 0 && i < all.n; i++)
                r = add_finding(w, s, all.list[i], ret);
        for (size_t i = 0; r == 0 && i < ret->n; i++)
                r = read_class(w, s, &ret->list[i]);
        if (r == 0)
                r = history_order(s->history, &order);
        if (r == 0 && ret->n > 1)
                qsort_r(ret->list, ret->n, sizeof(*ret->list), commit_order_compare, order->place);
        return r;
}

void culprits_done(struct culprits *c)
{
        for (size_t i = 0; i < c->n; i++)
                free(c->list[i].findings);
        free(c->list);
        *c = (struct culprits){0};
}
