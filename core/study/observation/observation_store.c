/* Observations in the store, and the number of inputs that each finding represents. */
#include "core/study/observation/observation_internal.h"

#include <inttypes.h>
#include <math.h>

#include "cache/base/record.h"
#include "core/run/host.h"

/* A series is a table: findings TABLE_FINDINGS, alarms TABLE_ALARMS. In either:
 *     'f' or 'a' solver(4) number(4)  → record
 *     'x' solver(4) number(4) kind(1) → an explanation: text
 *     'm' solver(4) number(4)         → the machine of a finding's runs
 *     'n' solver(4)                   → the last number(4)
 * Keys by which a known one is found → number(4). Of findings:
 *     'o' solver(4) kind and measure(1) sha256                         the first of these bytes
 *     'v' solver(4) kind and measure(1) sha256 digest of the versions  a further one of these bytes, by its versions
 * Of alarms:
 *     'c' solver(4) "kind/commit" or "kind/case/id"        this cause
 * Beside findings: 'c' solver(4) number(4) campaign → number of inputs represented(8); and classes of commits (culprits.c). Beside alarms: the branches as
 * seen by a watch (watched.c). */
static const struct {
        enum table table;
        char letter;
        const char *name;
} series_of[] = {[OF_CAMPAIGNS] = {TABLE_FINDINGS, 'f', "finding"}, [OF_WATCHES] = {TABLE_ALARMS, 'a', "alarm"}};

#define KEY_SIZE 9

static struct slice key_of(uint8_t key[KEY_SIZE], char letter, uint32_t solver, uint32_t number)
{
        key[0] = (uint8_t)letter;
        key_u32(key + 1, solver);
        key_u32(key + 5, number);
        return SLICE(key, KEY_SIZE);
}

/* *ret 0: there is none. */
static int get_number(struct store_txn *t, enum observation_series series, struct slice key, uint32_t *ret)
{
        cleanup_blob struct blob b = {0};
        int r = store_get(t, series_of[series].table, key, &b);

        *ret = r == 0 && b.size == 4 ? key_get_u32(b.data) : 0;
        return r == -ENOENT ? 0 : r;
}

static int put_number(struct store_txn *t, enum observation_series series, struct slice key, uint32_t n)
{
        uint8_t bytes[4];

        key_u32(bytes, n);
        return store_put(t, series_of[series].table, key, SLICE(bytes, sizeof(bytes)));
}

static struct slice last_key(uint8_t key[5], uint32_t solver)
{
        key[0] = 'n';
        key_u32(key + 1, solver);
        return SLICE(key, 5);
}

static int put_record(struct store_txn *t, const struct observation *o)
{
        cleanup_buffer struct buffer b = {0};
        enum observation_series series = observation_series(o);
        uint8_t key[KEY_SIZE];

        observation_encode(o, &b);
        return store_put(t, series_of[series].table, key_of(key, series_of[series].letter, o->solver, o->number), SLICE(b.data, b.size));
}

static int get_in(struct store_txn *t, enum observation_series series, uint32_t solver, uint32_t number, struct observation **ret)
{
        cleanup_blob struct blob b = {0};
        uint8_t key[KEY_SIZE];
        int r = store_get(t, series_of[series].table, key_of(key, series_of[series].letter, solver, number), &b);

        if (r == -ENOENT)
                return errorf(r, "there is no %s %u; see 'solverfs %ss'", series_of[series].name, number, series_of[series].name);
        return r < 0 ? r : observation_decode(series, solver, number, SLICE(b.data, b.size), ret);
}

/* -- known findings: by bytes and versions -- */

#define BYTES_KEY_SIZE    (6 + DIGEST_SIZE)
#define VERSIONS_KEY_SIZE (BYTES_KEY_SIZE + DIGEST_SIZE)

static struct slice bytes_key(uint8_t key[BYTES_KEY_SIZE], uint32_t solver, enum observation_kind kind, enum judge_measure m,
                               const struct digest *input)
{
        key[0] = 'o';
        key_u32(key + 1, solver);
        key[5] = (uint8_t)((unsigned)kind | (unsigned)m << 4);
        memcpy(key + 6, input->bytes, DIGEST_SIZE);
        return SLICE(key, BYTES_KEY_SIZE);
}

static struct slice versions_key(uint8_t key[VERSIONS_KEY_SIZE], const struct observation *f, const struct digest *input)
{
        struct hasher *h = hasher_new();
        struct digest versions;

        hasher_string(h, f->reference);
        hasher_string(h, f->target);
        hasher_finish(h, &versions);
        bytes_key(key, f->solver, f->kind, f->measure, input);
        key[0] = 'v';
        memcpy(key + BYTES_KEY_SIZE, versions.bytes, DIGEST_SIZE);
        return SLICE(key, VERSIONS_KEY_SIZE);
}

/* Finds the finding of these bytes and versions: its number, or 0 and the key of a new one: 'o' for the first of these bytes, 'v' for a further one. */
static int find_known(struct store_txn *t, const struct observation *f, const struct digest *input, uint8_t key[VERSIONS_KEY_SIZE], struct slice *ret_key,
                       uint32_t *ret)
{
        cleanup_observation struct observation *known = NULL;
        int r;

        *ret_key = bytes_key(key, f->solver, f->kind, f->measure, input);
        r = get_number(t, OF_CAMPAIGNS, *ret_key, ret);
        if (r < 0 || *ret == 0)
                return r;
        r = get_in(t, OF_CAMPAIGNS, f->solver, *ret, &known);
        if (r < 0 || (strcmp(known->reference, f->reference) == 0 && strcmp(known->target, f->target) == 0))
                return r;
        *ret_key = versions_key(key, f, input);
        return get_number(t, OF_CAMPAIGNS, *ret_key, ret);
}

/* -- known alarms: by their causes -- */

/* A cause: a case, or the commit (case_id 0). */
static struct slice cause_key(const struct observation *a, uint32_t case_id, struct buffer *key)
{
        record_put_u8(key, 'c');
        record_put_u32(key, a->solver);
        if (case_id > 0)
                buffer_addf(key, "%s/case/%" PRIu32, observation_kind_name(a->kind), case_id);
        else
                buffer_addf(key, "%s/%s", observation_kind_name(a->kind), a->target);
        return SLICE(key->data, key->size);
}

/* The cause by which an alarm is looked up: its commit (0), or its case if no earlier version was right. */
static uint32_t main_cause(const struct observation *a)
{
        return *a->reference ? 0 : a->case_id;
}

static int put_cause(struct store_txn *t, const struct observation *a, uint32_t case_id)
{
        cleanup_buffer struct buffer key = {0};

        return put_number(t, OF_WATCHES, cause_key(a, case_id, &key), a->number);
}

static int put_causes(struct store_txn *t, const struct observation *a)
{
        bool is_of_answers = a->kind == ALARM_WRONG || a->kind == ALARM_CONTRADICTION;
        int r = main_cause(a) == 0 ? put_cause(t, a, 0) : 0;

        for (size_t i = 0; r == 0 && is_of_answers && alarm_case(a, i); i++)
                r = put_cause(t, a, alarm_case(a, i)->case_id);
        return r;
}

/* -- adding -- */

/* 1: the observation is known. `input`: of a finding. */
static int add_in(struct store_txn *t, struct observation *o, const struct digest *input)
{
        enum observation_series series = observation_series(o);
        cleanup_buffer struct buffer cause = {0};
        uint8_t bytes[VERSIONS_KEY_SIZE], last[5], machine[KEY_SIZE];
        struct slice key = {0};
        bool is_known;
        int r;

        if (series == OF_WATCHES)
                r = get_number(t, series, cause_key(o, main_cause(o), &cause), &o->number);
        else
                r = find_known(t, o, input, bytes, &key, &o->number);
        if (r < 0)
                return r;
        is_known = o->number != 0;
        if (!is_known) {
                r = get_number(t, series, last_key(last, o->solver), &o->number);
                if (r == 0 && o->number++ == UINT32_MAX)
                        r = errorf(-ENOSPC, "there are no numbers left for %ss", series_of[series].name);
                if (r == 0)
                        r = put_record(t, o);
                if (r == 0 && o->machine)
                        r = store_put(t, TABLE_FINDINGS, key_of(machine, 'm', o->solver, o->number), slice_string(o->machine));
                if (r == 0 && series == OF_CAMPAIGNS)
                        r = put_number(t, series, key, o->number);
                if (r == 0)
                        r = put_number(t, series, SLICE(last, sizeof(last)), o->number);
        }
        if (r == 0 && series == OF_WATCHES) /* a known alarm, too, may have new cases */
                r = put_causes(t, o);
        return r < 0 ? r : is_known;
}

/* The largest factor first; cases without one last, by id. */
static int compare_cases(const void *a, const void *b)
{
        const struct observed_runs *x = a, *y = b;
        const double f = alarm_factor(x), g = alarm_factor(y);

        return ORDER(isnan(f), isnan(g)) ?: ORDER(g, f) ?: ORDER(x->case_id, y->case_id);
}

int observation_add(struct workspace *w, struct observation *o)
{
        cleanup(case_info_unrefp) struct case_info *info = NULL;
        struct store_update u = {.store = workspace_store(w)};
        struct digest input = {0};
        bool is_known = false;
        int r;

        if (observation_series(o) == OF_WATCHES) {
                sort_list(o->runs, o->n_runs / 2, 2 * sizeof(*o->runs), compare_cases);
                o->case_id = o->n_runs > 0 ? o->runs[0].case_id : 0;
        } else {
                r = cases_get(workspace_cases(w), o->case_id, &info);
                if (r < 0)
                        return r;
                input = case_identity(info);
                for (size_t i = 0; i < o->n_runs; i++)
                        o->runs[i].case_id = o->case_id;
        }
        while (store_update_begins(&u)) {
                r = add_in(u.txn, o, &input);
                is_known = r > 0;
                u.r = MIN(r, 0);
        }
        return u.r < 0 ? u.r : is_known;
}

/* -- reading -- */

int observation_get(struct workspace *w, enum observation_series series, uint32_t solver, uint32_t number, struct observation **ret)
{
        cleanup_txn struct store_txn *t = NULL;

        return store_read(workspace_store(w), &t) ?: get_in(t, series, solver, number, ret);
}

int observation_named(struct workspace *w, uint32_t solver, const char *word, struct observation **ret)
{
        enum observation_kind k = 0;
        char folder[32];
        unsigned number;
        int end = 0, r;

        if (sscanf(word, "%31[a-z-]/%9u%n", folder, &number, &end) != 2 || word[end] != '\0' || !strchr("123456789", strchr(word, '/')[1]))
                return 0; /* also of a sign, a blank or a leading zero */
        while (k < N_OBSERVATION_KINDS && strcmp(folder, observation_folder(k)) != 0)
                k++;
        if (k == N_OBSERVATION_KINDS)
                return 0;
        r = observation_get(w, k < N_FINDING_KINDS ? OF_CAMPAIGNS : OF_WATCHES, solver, number, ret);
        if (r == 0 && strcmp(observation_folder((*ret)->kind), folder) != 0)
                r = errorf(-ENOENT, "finding %u stands in %s/, not in %s/", number, observation_folder((*ret)->kind), folder);
        return r < 0 ? r : 1;
}

int observation_find(struct workspace *w, const struct observation *f, struct slice input, struct observation **ret)
{
        cleanup_txn struct store_txn *t = NULL;
        uint8_t bytes[VERSIONS_KEY_SIZE];
        struct digest digest;
        struct slice key;
        uint32_t number = 0;
        int r = store_read(workspace_store(w), &t);

        digest_of(input.data, input.size, &digest);
        if (r == 0)
                r = find_known(t, f, &digest, bytes, &key, &number);
        if (r < 0)
                return r;
        return number == 0 ? -ENOENT : get_in(t, OF_CAMPAIGNS, f->solver, number, ret);
}

enum format observation_format(struct workspace *w, const struct observation *o)
{
        cleanup(case_info_unrefp) struct case_info *info = NULL;

        return cases_get(workspace_cases(w), o->case_id, &info) < 0 ? FORMAT_SMT2 : info->format;
}

int observations_read(struct workspace *w, uint32_t solver, const char *folder, struct observations *ret)
{
        enum observation_series series = folder && strcmp(folder, observation_folder(ALARM_SLOWER)) == 0 ? OF_WATCHES : OF_CAMPAIGNS;
        cleanup_walk struct store_walk each = {.store = workspace_store(w), .table = series_of[series].table};
        uint8_t prefix[KEY_SIZE];
        int r;

        *ret = (struct observations){0};
        key_of(prefix, series_of[series].letter, solver, 0);
        each.prefix = SLICE(prefix, 5);
        while ((r = store_walk(&each)) > 0) {
                cleanup_observation struct observation *o = NULL;

                if (each.key.size == KEY_SIZE)
                        r = observation_decode(series, solver, key_get_u32((const uint8_t *)each.key.data + 5), each.value, &o);
                if (r < 0)
                        break;
                if (!o || (folder && strcmp(folder, observation_folder(o->kind)) != 0))
                        continue;
                list_add(ret->list, ret->n, steal_pointer(o));
        }
        if (r < 0)
                observations_done(ret);
        return r;
}

void observations_done(struct observations *o)
{
        for (size_t i = 0; i < o->n; i++)
                observation_unref(o->list[i]);
        free(o->list);
        *o = (struct observations){0};
}

int observations_last(struct workspace *w, enum observation_series series, uint32_t solver, uint32_t *ret)
{
        cleanup_txn struct store_txn *t = NULL;
        uint8_t key[5];

        return store_read(workspace_store(w), &t) ?: get_number(t, series, last_key(key, solver), ret);
}

/* -- explanations; the machine -- */

static struct slice explained_key(uint8_t key[KEY_SIZE + 1], const struct observation *o, enum explanation e)
{
        key_of(key, 'x', o->solver, o->number);
        key[KEY_SIZE] = (uint8_t)e;
        return SLICE(key, KEY_SIZE + 1);
}

int observation_explain(struct workspace *w, const struct observation *o, enum explanation e, const char *text)
{
        uint8_t key[KEY_SIZE + 1];

        return store_set(workspace_store(w), series_of[observation_series(o)].table, explained_key(key, o, e), slice_string(text));
}

int observation_explained(struct workspace *w, const struct observation *o, enum explanation e, struct blob *ret)
{
        uint8_t key[KEY_SIZE + 1];

        return store_fetch(workspace_store(w), series_of[observation_series(o)].table, explained_key(key, o, e), ret);
}

int finding_machine(struct workspace *w, const char *solver, const struct observation *f, char ret[PATH_SIZE])
{
        cleanup_blob struct blob b = {0};
        uint8_t key[KEY_SIZE];
        int r = store_fetch(workspace_store(w), TABLE_FINDINGS, key_of(key, 'm', f->solver, f->number), &b);

        if (r == 0)
                snprintf(ret, PATH_SIZE, "%.*s", (int)MIN(b.size, (size_t)PATH_SIZE - 1), (const char *)b.data);
        return r == -ENOENT ? campaign_machine(w, solver, f->origin, ret) : r;
}

bool finding_is_elsewhere(struct workspace *w, const char *solver, const struct observation *f, char ret_machine[PATH_SIZE])
{
        return finding_machine(w, solver, f, ret_machine) == 0 && *ret_machine && strcmp(ret_machine, host_machine()) != 0;
}

/* -- marks -- */

/* Sets when an alarm was told, or, if `told` is 0, the mark and its address. */
static int set_fate(struct workspace *w, enum observation_series series, uint32_t solver, uint32_t number, int64_t told, enum observation_mark mark,
                    const char *url)
{
        struct store_update u = {.store = workspace_store(w)};

        while (store_update_begins(&u)) {
                cleanup_observation struct observation *o = NULL;

                u.r = get_in(u.txn, series, solver, number, &o);
                if (u.r < 0)
                        continue;
                if (told != 0) {
                        o->told = told;
                } else {
                        o->mark = mark;
                        o->changed = now_seconds();
                        set_string(&o->url, url);
                }
                u.r = put_record(u.txn, o);
        }
        return u.r;
}

int observation_set_told(struct workspace *w, uint32_t solver, uint32_t number, int64_t when)
{
        return set_fate(w, OF_WATCHES, solver, number, when, MARK_NONE, "");
}

int observation_set_mark(struct workspace *w, enum observation_series series, uint32_t solver, uint32_t number, enum observation_mark mark, const char *url)
{
        return set_fate(w, series, solver, number, 0, mark, url ? url : "");
}

/* -- counts -- */

int finding_put_counts(struct workspace *w, uint32_t solver, const char *campaign, const struct finding_count *list, size_t n)
{
        struct store_update u = {.store = workspace_store(w)};

        while (store_update_begins(&u))
                for (size_t i = 0; u.r == 0 && i < n; i++) {
                        cleanup_buffer struct buffer key = {0}, value = {0};

                        record_put_u8(&key, 'c');
                        record_put_u32(&key, solver);
                        record_put_u32(&key, list[i].number);
                        buffer_adds(&key, campaign);
                        record_put_u64(&value, list[i].n);
                        u.r = store_put(u.txn, TABLE_FINDINGS, SLICE(key.data, key.size), SLICE(value.data, value.size));
                }
        return u.r;
}

/* Keys of commits' classes (culprits.c) begin with the same letter, and may have this prefix; their values have another size. */
int finding_counts(struct workspace *w, uint32_t solver, uint32_t number, struct campaign_count **ret, size_t *ret_n)
{
        uint8_t prefix[KEY_SIZE];
        cleanup_walk struct store_walk each = {.store = workspace_store(w), .table = TABLE_FINDINGS, .prefix = key_of(prefix, 'c', solver, number)};
        int r;

        *ret = NULL;
        *ret_n = 0;
        while ((r = store_walk(&each)) > 0) {
                size_t size = each.key.size - KEY_SIZE;

                if (each.value.size != 8 || size > CAMPAIGN_NAME_MOST)
                        continue;
                list_grow(*ret, *ret_n);
                (*ret)[*ret_n] = (struct campaign_count){.n = key_get_u64(each.value.data)};
                memcpy((*ret)[(*ret_n)++].campaign, (const char *)each.key.data + KEY_SIZE, size);
        }
        return r;
}

int finding_get_count(struct workspace *w, uint32_t solver, uint32_t number, uint64_t *ret)
{
        cleanup_free struct campaign_count *list = NULL;
        uint64_t sum = 0;
        size_t n;
        int r = finding_counts(w, solver, number, &list, &n);

        for (size_t i = 0; i < n; i++)
                sum += list[i].n;
        *ret = sum > 0 ? sum : 1;
        return r;
}
