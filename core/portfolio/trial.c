/* Trials in the store. Keys: epoch ‖ 't' ‖ number → trial; epoch ‖ 'c' ‖ case → number; epoch ‖ 'b' → how many were taken back;
 * an arm's identity ‖ 'a' ‖ case's sha256 ‖ limits → trial of that arm alone. */
#include "core/portfolio/portfolio_internal.h"

#include "cache/base/record.h"

#define VERSION 2

struct trial *trial_new(size_t n_arms)
{
        struct trial *t = allocate(1, sizeof(*t));

        *t = (struct trial){.refs = 1, .n_arms = n_arms, .runs = allocate(n_arms, sizeof(*t->runs))};
        return t;
}

struct trial *trial_ref(struct trial *t)
{
        __atomic_add_fetch(&t->refs, 1, __ATOMIC_RELAXED);
        return t;
}

struct trial *trial_unref(struct trial *t)
{
        if (!t || __atomic_sub_fetch(&t->refs, 1, __ATOMIC_ACQ_REL) > 0)
                return NULL;
        free(t->features);
        free(t->expected);
        free(t->runs);
        free(t->turns);
        free(t->alarm);
        free(t);
        return NULL;
}

static void trial_encode(const struct trial *t, struct buffer *ret)
{
        record_put_u8(ret, VERSION);
        record_put_u32(ret, t->number);
        record_put_u32(ret, t->case_id);
        record_put_u64(ret, (uint64_t)t->measured);
        record_put_u8(ret, (uint8_t)t->verdict);
        record_put_u32(ret, t->winner);
        record_put_real(ret, t->seconds);
        record_put_u32(ret, (uint32_t)t->n_features);
        for (size_t i = 0; i < t->n_features; i++)
                record_put_real(ret, t->features[i]);
        record_put_u32(ret, (uint32_t)t->n_expected);
        for (size_t i = 0; i < t->n_expected; i++)
                record_put_real(ret, t->expected[i]);
        record_put_u32(ret, (uint32_t)t->n_arms);
        for (size_t i = 0; i < t->n_arms; i++) {
                record_put_u8(ret, (uint8_t)t->runs[i].attempt.ending);
                record_put_u8(ret, (uint8_t)t->runs[i].verdict);
                record_put_u8(ret, t->runs[i].known);
                record_put_real(ret, t->runs[i].attempt.seconds);
        }
        record_put_u32(ret, (uint32_t)t->n_turns);
        for (size_t i = 0; i < t->n_turns; i++) {
                record_put_u32(ret, t->turns[i].arm);
                record_put_real(ret, t->turns[i].until);
        }
        buffer_adds(ret, t->alarm ? t->alarm : "");
}

/* A count of items of so many bytes, if what is left has room for them. */
static size_t get_count(struct record *r, size_t each)
{
        size_t n = record_u32(r);

        if (n > record_left(r) / each) {
                record_fail(r);
                return 0;
        }
        return n;
}

static enum verdict get_verdict(struct record *r)
{
        uint8_t v = record_u8(r);

        if (v >= N_VERDICTS)
                record_fail(r);
        return v < N_VERDICTS ? (enum verdict)v : VERDICT_ERROR;
}

static void get_reals(struct record *r, size_t n, size_t *ret_n, double **ret)
{
        *ret = allocate(n + 1, sizeof(**ret));
        *ret_n = n;
        for (size_t i = 0; i < n; i++)
                (*ret)[i] = record_real(r);
}

static void get_runs(struct record *r, struct trial *t)
{
        t->n_arms = get_count(r, 11);
        free(t->runs);
        t->runs = allocate(t->n_arms, sizeof(*t->runs));
        for (size_t i = 0; i < t->n_arms; i++) {
                uint8_t ending = record_u8(r);

                if (ending > ENDING_STOPPED)
                        record_fail(r);
                t->runs[i].attempt.ending = ending <= ENDING_STOPPED ? (enum ending)ending : ENDING_NONE;
                t->runs[i].verdict = get_verdict(r);
                t->runs[i].known = record_bool(r);
                t->runs[i].attempt.seconds = record_real(r);
        }
}

static void get_turns(struct record *r, struct trial *t)
{
        t->n_turns = get_count(r, 12);
        t->turns = allocate(t->n_turns, sizeof(*t->turns));
        for (size_t i = 0; i < t->n_turns; i++) {
                t->turns[i].arm = record_u32(r);
                t->turns[i].until = record_real(r);
                if (t->turns[i].arm >= t->n_arms)
                        record_fail(r);
        }
}

/* -EBADMSG. */
static int trial_decode(struct slice bytes, struct trial **ret)
{
        cleanup_trial struct trial *t = trial_new(0);
        struct record r = record_of(bytes);
        int result;

        record_version(&r, VERSION);
        t->number = record_u32(&r);
        t->case_id = record_u32(&r);
        t->measured = (int64_t)record_u64(&r);
        t->verdict = get_verdict(&r);
        t->winner = record_u32(&r);
        t->seconds = record_real(&r);
        get_reals(&r, get_count(&r, 8), &t->n_features, &t->features);
        get_reals(&r, get_count(&r, 8), &t->n_expected, &t->expected);
        get_runs(&r, t);
        get_turns(&r, t);
        t->alarm = record_string(&r, record_left(&r));
        result = record_end(&r, "a trial of a portfolio");
        if (result < 0)
                return result;
        *ret = steal_pointer(t);
        return 0;
}

/* -- the store -- */

#define KEY_SIZE (DIGEST_SIZE + 1 + 4)

static struct slice make_key(uint8_t key[KEY_SIZE], const struct digest *epoch, char kind, uint32_t number)
{
        memcpy(key, epoch->bytes, DIGEST_SIZE);
        key[DIGEST_SIZE] = (uint8_t)kind;
        key_u32(key + DIGEST_SIZE + 1, number);
        return SLICE(key, KEY_SIZE);
}

static int find_in(struct store_txn *t, const struct digest *epoch, uint32_t case_id, struct trial **ret)
{
        cleanup_blob struct blob number = {0}, value = {0};
        uint8_t key[KEY_SIZE];
        int r = store_get(t, TABLE_PORTFOLIOS, make_key(key, epoch, 'c', case_id), &number);

        if (r < 0)
                return r;
        if (number.size != 4)
                return -ENOENT; /* it is damaged: the case is run again */
        r = store_get(t, TABLE_PORTFOLIOS, make_key(key, epoch, 't', key_get_u32(number.data)), &value);
        return r < 0 ? r : trial_decode(SLICE(value.data, value.size), ret);
}

int trial_find_any(struct workspace *w, const struct portfolio *p, uint32_t case_id, struct trial **ret)
{
        cleanup_txn struct store_txn *t = NULL;
        int r = store_read(workspace_store(w), &t);

        return r < 0 ? r : find_in(t, &p->epoch, case_id, ret);
}

int trial_find(struct workspace *w, const struct portfolio *p, uint32_t case_id, struct trial **ret)
{
        cleanup(case_info_unrefp) struct case_info *info = NULL;
        cleanup_trial struct trial *t = NULL;
        int r = trial_find_any(w, p, case_id, &t);

        if (r == 0)
                r = cases_get(workspace_cases(w), case_id, &info);
        if (r < 0)
                return r;
        if (!trial_stands(w, p, info, t))
                return -ENOENT;
        *ret = steal_pointer(t);
        return 0;
}

static uint64_t trials_taken_back_in(struct store_txn *t, const struct digest *epoch)
{
        cleanup_blob struct blob value = {0};
        uint8_t key[KEY_SIZE];

        return store_get(t, TABLE_PORTFOLIOS, make_key(key, epoch, 'b', 0), &value) == 0 && value.size == 8 ? key_get_u64(value.data) : 0;
}

uint64_t trials_taken_back(struct workspace *w, const struct portfolio *p)
{
        cleanup_txn struct store_txn *t = NULL;

        return store_read(workspace_store(w), &t) == 0 ? trials_taken_back_in(t, &p->epoch) : 0;
}

struct putting {
        const struct portfolio *portfolio;
        struct trial *trial, *there;
        uint32_t number_least;
        const struct trial *instead; /* of this one, which is taken back; NULL: none */
};

static int last_number(void *user, struct slice key, struct slice value)
{
        uint32_t *next = user;

        *next = key_get_u32((const uint8_t *)key.data + DIGEST_SIZE + 1) + 1;
        return 0;
}

static int put_in(void *user, struct store_txn *t)
{
        struct putting *p = user;
        const struct digest *epoch = &p->portfolio->epoch;
        cleanup_buffer struct buffer b = {0};
        uint8_t key[KEY_SIZE], from[KEY_SIZE], number[4], taken_back[8];
        uint32_t next = p->number_least;
        int r = find_in(t, epoch, p->trial->case_id, &p->there);

        if (r == 0 && p->instead && p->there->number == p->instead->number) {
                p->there = trial_unref(p->there);
                r = store_delete(t, TABLE_PORTFOLIOS, make_key(key, epoch, 't', p->instead->number));
                key_u64(taken_back, trials_taken_back_in(t, epoch) + 1); /* so that learners which know it are made anew (learned.c) */
                if (r == 0)
                        r = store_put(t, TABLE_PORTFOLIOS, make_key(key, epoch, 'b', 0), SLICE(taken_back, sizeof(taken_back)));
                r = r < 0 ? r : -ENOENT;
        }
        if (r != -ENOENT)
                return r;
        r = store_each(t, TABLE_PORTFOLIOS, SLICE(make_key(key, epoch, 't', 0).data, DIGEST_SIZE + 1),
                       make_key(from, epoch, 't', next), false, last_number, &next);
        if (r < 0)
                return r;
        p->trial->number = next;
        trial_encode(p->trial, &b);
        r = store_put(t, TABLE_PORTFOLIOS, make_key(key, epoch, 't', next), SLICE(b.data, b.size));
        key_u32(number, next);
        return r < 0 ? r
                     : store_put(t, TABLE_PORTFOLIOS, make_key(key, epoch, 'c', p->trial->case_id),
                                 SLICE(number, sizeof(number)));
}

int trial_put(struct workspace *w, const struct portfolio *p, const struct case_info *info, struct trial *t, struct trial **ret)
{
        cleanup_trial struct trial *old = NULL;
        bool is_bad = trial_find_any(w, p, t->case_id, &old) == 0 && !trial_stands(w, p, info, old);
        struct putting put = {.portfolio = p, .trial = t, .number_least = t->number, .instead = is_bad ? old : NULL};
        int r = store_update(workspace_store(w), put_in, &put);

        if (r < 0) {
                trial_unref(put.there);
                return r;
        }
        *ret = put.there ? put.there : trial_ref(t);
        return 0;
}

static int add_trial(void *user, struct slice key, struct slice value)
{
        struct trial_list *l = user;

        list_grow(l->list, l->n);
        l->n += trial_decode(value, &l->list[l->n]) == 0; /* a damaged one is left out; fsck reports it */
        return 0;
}

int trials_read(struct workspace *w, const struct portfolio *p, uint32_t from, struct trial_list *ret)
{
        cleanup_txn struct store_txn *t = NULL;
        uint8_t key[KEY_SIZE], first[KEY_SIZE];
        int r = store_read(workspace_store(w), &t);

        return r < 0 ? r
                     : store_each(t, TABLE_PORTFOLIOS, SLICE(make_key(key, &p->epoch, 't', 0).data, DIGEST_SIZE + 1),
                                  make_key(first, &p->epoch, 't', from), true, add_trial, ret);
}

void trial_list_done(struct trial_list *l)
{
        for (size_t i = 0; i < l->n; i++)
                trial_unref(l->list[i]);
        free(l->list);
}

/* -- an arm alone -- */

#define ARM_KEY_SIZE (DIGEST_SIZE + 1 + DIGEST_SIZE + 16)

static struct slice arm_key(uint8_t key[ARM_KEY_SIZE], const struct portfolio *p, const struct arm *a,
                            const struct case_info *info)
{
        memcpy(key, a->identity.bytes, DIGEST_SIZE);
        key[DIGEST_SIZE] = 'a';
        memcpy(key + DIGEST_SIZE + 1, info->sha256.bytes, DIGEST_SIZE);
        key_u64(key + 2 * DIGEST_SIZE + 1, p->memory);
        key_u64(key + 2 * DIGEST_SIZE + 9, p->wall_ns);
        return SLICE(key, ARM_KEY_SIZE);
}

static int command_known(struct workspace *w, const struct portfolio *p, const struct arm *a, const struct case_info *info,
                         struct trial_run *ret)
{
        cleanup_trial struct trial *t = NULL;
        cleanup_blob struct blob value = {0};
        uint8_t key[ARM_KEY_SIZE];
        int r = store_fetch(workspace_store(w), TABLE_PORTFOLIOS, arm_key(key, p, a, info), &value);

        if (r == 0)
                r = trial_decode(SLICE(value.data, value.size), &t);
        if (r == -EBADMSG || (r == 0 && t->n_arms != 1))
                return -ENOENT;
        if (r == 0)
                *ret = t->runs[0];
        return r;
}

struct cell arm_cell(const struct arm *a, const struct case_info *info, uint64_t wall_ns)
{
        return (struct cell){.solver = a->solver,
                             .commit = a->commit,
                             .info = (struct case_info *)info,
                             .has_seed = a->has_seed,
                             .seed = a->seed,
                             .wall_ns = wall_ns};
}

static int fact_known(struct workspace *w, const struct arm *a, const struct case_info *info, double seconds,
                      struct trial_run *ret)
{
        cleanup(fact_unrefp) struct fact *f = NULL;
        struct cell cell = arm_cell(a, info, (uint64_t)(seconds * NSEC_PER_SEC));
        int r;

        if (!recipe_takes(a->recipe, info->format))
                return -ENOENT;
        r = run_find(w, &cell, true, &f);
        if (r < 0)
                return r;
        ret->verdict = f->verdict;
        ret->attempt = (struct attempt){ending_of(f->verdict), (double)f->wall_ns / NSEC_PER_SEC};
        return 0;
}

int arm_known(struct workspace *w, const struct portfolio *p, const struct arm *a, const struct case_info *info, double seconds,
              struct trial_run *ret)
{
        int r;

        if (a->problem)
                return -ENOENT;
        r = a->solver ? fact_known(w, a, info, seconds, ret) : command_known(w, p, a, info, ret);
        if (r < 0)
                return r;
        ret->known = true;
        if (ret->attempt.seconds > seconds || ret->attempt.ending == ENDING_STOPPED) {
                if (ret->attempt.ending == ENDING_STOPPED && ret->attempt.seconds < seconds * (1 - 1e-9))
                        return -ENOENT; /* what happens later is not known */
                ret->attempt = (struct attempt){ENDING_STOPPED, seconds};
        }
        return 0;
}

int arm_keep(struct workspace *w, const struct portfolio *p, const struct arm *a, const struct case_info *info,
             const struct trial_run *run)
{
        struct trial_run copy = *run;
        struct trial t = {.case_id = info->id,
                          .n_arms = 1,
                          .runs = &copy,
                          .measured = now_seconds(),
                          .verdict = run->verdict,
                          .seconds = run->attempt.seconds};
        cleanup_buffer struct buffer b = {0};
        uint8_t key[ARM_KEY_SIZE];

        trial_encode(&t, &b);
        return store_set(workspace_store(w), TABLE_PORTFOLIOS, arm_key(key, p, a, info), SLICE(b.data, b.size));
}
