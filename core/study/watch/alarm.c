#include "core/study/watch/alarm.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>

#include "cache/base/record.h"

/* In TABLE_ALARMS:
 *     'a' solver(4) number(4)      → JSON
 *     'n' solver(4)                → the last number(4)
 *     'c' solver(4) cause          → number(4): the alarm that told of it
 *     'b' solver(4) sha256(branch) → JSON: struct watched_branch */
#define RECORD_VERSION 1

static const char *const kinds[N_ALARM_KINDS] = {
        [ALARM_SLOWER] = "slower",
        [ALARM_LOST] = "lost",
        [ALARM_WRONG] = "wrong",
        [ALARM_CONTRADICTION] = "contradiction",
        [ALARM_UNBUILDABLE] = "unbuildable",
};

const char *alarm_kind_name(enum alarm_kind k)
{
        return kinds[k];
}

/* -- life -- */

struct alarm *alarm_free(struct alarm *a)
{
        if (!a)
                return NULL;
        free(a->branch);
        free(a->commit);
        free(a->before);
        free(a->subject);
        free(a->detail);
        free(a->cases);
        free(a->url);
        free(a);
        return NULL;
}

struct alarm *alarm_new(void)
{
        struct alarm *a = calloc(1, sizeof(*a));
        char **texts[] = {&a->branch, &a->commit, &a->before, &a->subject, &a->detail, &a->url};

        for (size_t i = 0; a && i < ARRAY_SIZE(texts); i++)
                if (alarm_set_text(texts[i], "") < 0)
                        return alarm_free(a);
        return a;
}

int alarm_set_text(char **at, const char *text)
{
        char *copy = strdup(text);

        if (!copy)
                return -ENOMEM;
        free(*at);
        *at = copy;
        return 0;
}

int alarm_add_case(struct alarm *a, const struct alarm_case *c)
{
        if (list_grow(a->cases, a->n_cases) < 0)
                return -ENOMEM;
        a->cases[a->n_cases++] = *c;
        return 0;
}

double alarm_factor(const struct alarm_case *c)
{
        bool divides = verdict_is_decided(c->before.verdict) && verdict_is_decided(c->after.verdict) && c->before.seconds > 0 &&
                       c->after.seconds > 0;

        return divides ? c->after.seconds / c->before.seconds : NAN;
}

bool alarm_is_localized(const struct alarm *a)
{
        return *a->before && !strstr(a->commit, "..");
}

/* The largest factor first; cases without one by id. */
static int compare_cases(const void *a, const void *b)
{
        const struct alarm_case *x = a, *y = b;
        double fx = alarm_factor(x), fy = alarm_factor(y);

        if (fx > fy || fx < fy)
                return fx > fy ? -1 : 1;
        return x->id < y->id ? -1 : x->id > y->id;
}

/* -- records -- */

static json_t *side_json(const struct alarm_side *s)
{
        return json_pack("{ss so}", "verdict", verdict_name(s->verdict), "seconds",
                         isfinite(s->seconds) ? json_real(s->seconds) : json_null());
}

static json_t *alarm_json(const struct alarm *a)
{
        json_t *cases = json_array();

        for (size_t i = 0; i < a->n_cases; i++)
                json_array_append_new(cases, json_pack("{sI so so}", "case", (json_int_t)a->cases[i].id, "before",
                                                       side_json(&a->cases[i].before), "after", side_json(&a->cases[i].after)));
        return json_pack("{si si sI sI sI ss ss ss ss ss so si ss}", "version", RECORD_VERSION, "kind", (int)a->kind, "found",
                         (json_int_t)a->found, "told", (json_int_t)a->told, "changed", (json_int_t)a->changed, "branch",
                         a->branch, "commit", a->commit, "before", a->before, "subject", a->subject, "detail", a->detail, "cases",
                         cases, "mark", (int)a->mark, "url", a->url);
}

static int side_from_json(json_t *j, struct alarm_side *ret)
{
        const char *verdict = NULL;
        json_t *seconds = NULL;

        if (json_unpack(j, "{ss so}", "verdict", &verdict, "seconds", &seconds) < 0)
                return -EBADMSG;
        ret->seconds = json_is_number(seconds) ? json_number_value(seconds) : NAN;
        for (int v = 0; v < N_VERDICTS; v++)
                if (strcmp(verdict, verdict_name((enum verdict)v)) == 0) {
                        ret->verdict = (enum verdict)v;
                        return 0;
                }
        return -EBADMSG;
}

static int cases_from_json(json_t *list, struct alarm *a)
{
        json_t *j;
        size_t i;

        json_array_foreach (list, i, j) {
                struct alarm_case c = {.id = (uint32_t)json_integer_value(json_object_get(j, "case"))};
                int r = side_from_json(json_object_get(j, "before"), &c.before);

                if (r == 0)
                        r = side_from_json(json_object_get(j, "after"), &c.after);
                if (r == 0)
                        r = alarm_add_case(a, &c);
                if (r < 0)
                        return r;
        }
        return 0;
}

static int alarm_from_json(json_t *j, struct alarm *a)
{
        const char *branch, *commit, *before, *subject, *detail, *url;
        int version, kind, mark, r;
        json_int_t found, told, changed;
        json_t *cases;

        if (json_unpack(j, "{si si sI sI sI ss ss ss ss ss so si ss}", "version", &version, "kind", &kind, "found", &found,
                        "told", &told, "changed", &changed, "branch", &branch, "commit", &commit, "before", &before, "subject",
                        &subject, "detail", &detail, "cases", &cases, "mark", &mark, "url", &url) < 0 ||
            version != RECORD_VERSION || kind < 0 || kind >= N_ALARM_KINDS || mark < 0 || mark >= N_MARKS)
                return -EBADMSG;
        a->kind = (enum alarm_kind)kind;
        a->mark = (enum finding_mark)mark;
        a->found = found;
        a->told = told;
        a->changed = changed;
        r = alarm_set_text(&a->branch, branch);
        if (r == 0)
                r = alarm_set_text(&a->commit, commit);
        if (r == 0)
                r = alarm_set_text(&a->before, before);
        if (r == 0)
                r = alarm_set_text(&a->subject, subject);
        if (r == 0)
                r = alarm_set_text(&a->detail, detail);
        if (r == 0)
                r = alarm_set_text(&a->url, url);
        return r < 0 ? r : cases_from_json(cases, a);
}

static int decode(uint32_t solver, uint32_t number, struct slice bytes, struct alarm **ret)
{
        cleanup_alarm struct alarm *a = alarm_new();
        json_t *j = json_loadb(bytes.data, bytes.size, 0, NULL);
        int r = !a ? -ENOMEM : !j ? -EBADMSG : alarm_from_json(j, a);

        json_decref(j);
        if (r == -EBADMSG)
                return errorf(-EIO, "the record of alarm %u is damaged", number);
        if (r < 0)
                return r;
        a->solver = solver;
        a->number = number;
        *ret = steal_pointer(a);
        return 0;
}

/* -- the table -- */

static void start_key(struct buffer *key, char kind, uint32_t solver)
{
        record_put_u8(key, (uint8_t)kind);
        record_put_u32(key, solver);
}

static int put_json(struct store_txn *t, const struct buffer *key, json_t *j)
{
        cleanup_free char *text = j ? json_dumps(j, JSON_COMPACT) : NULL;

        json_decref(j);
        if (!text || buffer_error(key) < 0)
                return -ENOMEM;
        return store_put(t, TABLE_ALARMS, SLICE(key->data, key->size), slice_string(text));
}

static int put_number(struct store_txn *t, const struct buffer *key, uint32_t n)
{
        uint8_t bytes[4];

        key_u32(bytes, n);
        return buffer_error(key) < 0 ? -ENOMEM
                                     : store_put(t, TABLE_ALARMS, SLICE(key->data, key->size), SLICE(bytes, sizeof(bytes)));
}

/* 0 where there is none. */
static int get_number(struct store_txn *t, const struct buffer *key, uint32_t *ret)
{
        cleanup_blob struct blob b = {0};
        int r = buffer_error(key) < 0 ? -ENOMEM : store_get(t, TABLE_ALARMS, SLICE(key->data, key->size), &b);

        *ret = r == 0 && b.size == 4 ? key_get_u32(b.data) : 0;
        return r == -ENOENT ? 0 : r;
}

static void alarm_key(struct buffer *key, uint32_t solver, uint32_t number)
{
        start_key(key, 'a', solver);
        record_put_u32(key, number);
}

static int put_alarm(struct store_txn *t, const struct alarm *a)
{
        cleanup_buffer struct buffer key = {0};

        alarm_key(&key, a->solver, a->number);
        return put_json(t, &key, alarm_json(a));
}

static int get_in(struct store_txn *t, uint32_t solver, uint32_t number, struct alarm **ret)
{
        cleanup_buffer struct buffer key = {0};
        cleanup_blob struct blob b = {0};
        int r;

        alarm_key(&key, solver, number);
        r = buffer_error(&key) < 0 ? -ENOMEM : store_get(t, TABLE_ALARMS, SLICE(key.data, key.size), &b);
        if (r == -ENOENT)
                return errorf(r, "there is no alarm %u; see 'solverfs alarms'", number);
        return r < 0 ? r : decode(solver, number, SLICE(b.data, b.size), ret);
}

/* -- causes -- */

static void commit_cause(const struct alarm *a, struct buffer *key)
{
        start_key(key, 'c', a->solver);
        buffer_addf(key, "%s/%s", alarm_kind_name(a->kind), a->commit);
}

static void case_cause(const struct alarm *a, uint32_t id, struct buffer *key)
{
        start_key(key, 'c', a->solver);
        buffer_addf(key, "%s/case/%" PRIu32, alarm_kind_name(a->kind), id);
}

/* An alarm without a version before it is its case's. */
static int find_cause(struct store_txn *t, const struct alarm *a, uint32_t *ret)
{
        cleanup_buffer struct buffer key = {0};

        if (*a->before || a->n_cases == 0)
                commit_cause(a, &key);
        else
                case_cause(a, a->cases[0].id, &key);
        return get_number(t, &key, ret);
}

static int put_causes(struct store_txn *t, const struct alarm *a)
{
        cleanup_buffer struct buffer first = {0};
        int r = 0;

        commit_cause(a, &first);
        if (*a->before || a->n_cases == 0)
                r = put_number(t, &first, a->number);
        for (size_t i = 0; r == 0 && i < a->n_cases && (a->kind == ALARM_WRONG || a->kind == ALARM_CONTRADICTION); i++) {
                cleanup_buffer struct buffer key = {0};

                case_cause(a, a->cases[i].id, &key);
                r = put_number(t, &key, a->number);
        }
        return r;
}

/* -- adding and reading -- */

struct adding {
        struct alarm *alarm;
        bool is_known;
};

static int add_in(void *user, struct store_txn *t)
{
        cleanup_buffer struct buffer last = {0};
        struct adding *a = user;
        uint32_t number;
        int r = find_cause(t, a->alarm, &number);

        a->is_known = r == 0 && number != 0;
        if (a->is_known) {
                a->alarm->number = number;
                return put_causes(t, a->alarm); /* its cases may be others than were told of */
        }
        start_key(&last, 'n', a->alarm->solver);
        if (r == 0)
                r = get_number(t, &last, &number);
        if (r < 0)
                return r;
        if (number == UINT32_MAX)
                return errorf(-ENOSPC, "there are no numbers left for alarms");
        a->alarm->number = number + 1;
        r = put_alarm(t, a->alarm);
        if (r == 0)
                r = put_causes(t, a->alarm);
        return r < 0 ? r : put_number(t, &last, a->alarm->number);
}

int alarm_add(struct workspace *w, struct alarm *a)
{
        struct adding adding = {.alarm = a};
        int r;

        sort_list(a->cases, a->n_cases, sizeof(*a->cases), compare_cases);
        r = store_update(workspace_store(w), add_in, &adding);
        return r < 0 ? r : adding.is_known;
}

int alarm_get(struct workspace *w, uint32_t solver, uint32_t number, struct alarm **ret)
{
        cleanup_txn struct store_txn *t = NULL;
        int r = store_read(workspace_store(w), &t);

        return r < 0 ? r : get_in(t, solver, number, ret);
}

struct changing {
        uint32_t solver, number;
        int64_t told; /* 0: the mark is what changes */
        enum finding_mark mark;
        const char *url;
};

static int change_in(void *user, struct store_txn *t)
{
        const struct changing *c = user;
        cleanup_alarm struct alarm *a = NULL;
        int r = get_in(t, c->solver, c->number, &a);

        if (r == 0 && c->told != 0) {
                a->told = c->told;
        } else if (r == 0) {
                a->mark = c->mark;
                a->changed = now_seconds();
                r = alarm_set_text(&a->url, c->url);
        }
        return r < 0 ? r : put_alarm(t, a);
}

int alarm_set_told(struct workspace *w, uint32_t solver, uint32_t number, int64_t when)
{
        return store_update(workspace_store(w), change_in, &(struct changing){.solver = solver, .number = number, .told = when});
}

int alarm_set_mark(struct workspace *w, uint32_t solver, uint32_t number, enum finding_mark mark, const char *url)
{
        return store_update(workspace_store(w), change_in,
                            &(struct changing){.solver = solver, .number = number, .mark = mark, .url = url ? url : ""});
}

struct listing {
        uint32_t solver;
        int (*fn)(void *user, const struct alarm *a);
        void *user;
};

static int each_record(void *user, struct slice key, struct slice value)
{
        const struct listing *l = user;
        cleanup_alarm struct alarm *a = NULL;
        int r = key.size == 9 ? decode(l->solver, key_get_u32((const uint8_t *)key.data + 5), value, &a) : 0;

        return r < 0 || !a ? r : l->fn(l->user, a);
}

int alarms_each(struct workspace *w, uint32_t solver, int (*fn)(void *user, const struct alarm *a), void *user)
{
        struct listing l = {.solver = solver, .fn = fn, .user = user};
        cleanup_txn struct store_txn *t = NULL;
        cleanup_buffer struct buffer prefix = {0};
        int r = store_read(workspace_store(w), &t);

        start_key(&prefix, 'a', solver);
        if (r == 0)
                r = buffer_error(&prefix);
        return r < 0 ? r : store_each(t, TABLE_ALARMS, SLICE(prefix.data, prefix.size), SLICE("", 0), true, each_record, &l);
}

uint32_t alarms_last(struct workspace *w, uint32_t solver)
{
        cleanup_txn struct store_txn *t = NULL;
        cleanup_buffer struct buffer key = {0};
        uint32_t n = 0;

        start_key(&key, 'n', solver);
        if (store_read(workspace_store(w), &t) == 0)
                get_number(t, &key, &n);
        return n;
}

/* -- branches -- */

static void branch_key(uint32_t solver, const char *name, struct buffer *key)
{
        struct digest digest;

        digest_of(name, strlen(name), &digest);
        start_key(key, 'b', solver);
        buffer_add(key, digest.bytes, DIGEST_SIZE);
}

static int find_any(void *user, struct slice key, struct slice value)
{
        return 1;
}

bool watched_before(struct workspace *w, uint32_t solver)
{
        cleanup_txn struct store_txn *t = NULL;
        cleanup_buffer struct buffer prefix = {0};

        start_key(&prefix, 'b', solver);
        return buffer_error(&prefix) == 0 && store_read(workspace_store(w), &t) == 0 &&
               store_each(t, TABLE_ALARMS, SLICE(prefix.data, prefix.size), SLICE("", 0), false, find_any, NULL) == 1;
}

int watched_branch_get(struct workspace *w, uint32_t solver, const char *name, struct watched_branch *ret)
{
        cleanup_buffer struct buffer key = {0};
        cleanup_blob struct blob b = {0};
        const char *seen = NULL, *base = "";
        int is_open = 0, r;
        json_t *j;

        branch_key(solver, name, &key);
        r = buffer_error(&key) < 0 ? -ENOMEM : store_fetch(workspace_store(w), TABLE_ALARMS, SLICE(key.data, key.size), &b);
        if (r < 0)
                return r;
        *ret = (struct watched_branch){0};
        j = json_loadb(b.data, b.size, 0, NULL);
        if (json_unpack(j, "{ss s?s s?b}", "seen", &seen, "base", &base, "open", &is_open) < 0 ||
            git_oid_fromstr(&ret->seen, seen) < 0 || (*base && git_oid_fromstr(&ret->base, base) < 0))
                r = errorf(-EIO, "what a watch has seen of the branch %s is damaged", name);
        ret->has_base = r == 0 && *base;
        ret->is_open = is_open;
        json_decref(j);
        return r;
}

struct branching {
        uint32_t solver;
        char *const *names;
        const struct watched_branch *list;
        size_t n;
};

static int put_branch(struct store_txn *t, uint32_t solver, const char *name, const struct watched_branch *b)
{
        cleanup_buffer struct buffer key = {0};
        char seen[GIT_OID_HEXSZ + 1], base[GIT_OID_HEXSZ + 1] = "";

        git_oid_tostr(seen, sizeof(seen), &b->seen);
        if (b->has_base)
                git_oid_tostr(base, sizeof(base), &b->base);
        branch_key(solver, name, &key);
        return put_json(t, &key, json_pack("{ss ss sb}", "seen", seen, "base", base, "open", (int)b->is_open));
}

static int put_branches_in(void *user, struct store_txn *t)
{
        const struct branching *b = user;
        int r = 0;

        for (size_t i = 0; i < b->n && r == 0; i++)
                r = put_branch(t, b->solver, b->names[i], &b->list[i]);
        return r;
}

int watched_branches_put(struct workspace *w, uint32_t solver, char *const *names, const struct watched_branch *list, size_t n)
{
        return store_update(workspace_store(w), put_branches_in,
                            &(struct branching){.solver = solver, .names = names, .list = list, .n = n});
}

int watched_branch_put(struct workspace *w, uint32_t solver, const char *name, const struct watched_branch *b)
{
        return watched_branches_put(w, solver, (char *const[]){(char *)name}, b, 1);
}
