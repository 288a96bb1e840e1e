/* Trials in the store, in TABLE_PORTFOLIOS (trust.c has further keys there):
 *
 *   epoch 't' number(4)     → a trial
 *   epoch 'c' case(4)       → its number(4)
 *   epoch 'b' 0(4)          → how many trials were taken back and replaced(8)
 *   arm's identity 'a' case_identity() memory(8) time(8)   → a trial of this arm alone, a command's
 *                  'd' …    → the same of DIMACS, as older versions kept failures without a run there under 'a'
 *
 * A trial is taken back if it does not stand any more (trial_stands()): the next question for its case replaces it. */
#include "core/portfolio/portfolio_internal.h"

#include "cache/base/transfer.h"

#define VERSION             3
#define WITHOUT_FEATURES_ID 2 /* an older version */

struct trial *trial_new(size_t n_arms)
{
        struct trial *t = allocate(1, sizeof(*t));

        *t = (struct trial){.n_arms = n_arms, .features_id = portfolio_features_id(), .runs = allocate(n_arms, sizeof(*t->runs))};
        return t;
}

struct trial *trial_free(struct trial *t)
{
        if (!t)
                return NULL;
        free(t->features);
        free(t->expected);
        free(t->runs);
        free(t->turns);
        free(t->alarm);
        free(t);
        return NULL;
}

/* A list's length; allocates the list when reading. `least`: as in transfer_count(). */
static void *transfer_list(struct transfer *t, void *list, size_t *n, size_t size, size_t least)
{
        transfer_count_u32(t, n, least);
        return transfer_reads(t) ? allocate(*n, size) : list;
}

static void transfer_trial(struct transfer *t, struct trial *x)
{
        const bool is_older = transfer_reads(t) && record_left(&t->from) > 0 && *t->from.at == WITHOUT_FEATURES_ID;

        transfer_version(t, is_older ? WITHOUT_FEATURES_ID : VERSION);
        transfer_u32(t, &x->number);
        transfer_u32(t, &x->case_id);
        transfer_u64(t, (uint64_t *)&x->measured);
        x->verdict = transfer_choice(t, x->verdict, N_VERDICTS);
        transfer_u32(t, &x->winner);
        transfer_real(t, &x->seconds);
        x->features = transfer_list(t, x->features, &x->n_features, sizeof(*x->features), 8);
        transfer_reals(t, x->features, x->n_features);
        if (!is_older)
                transfer_u64(t, &x->features_id);
        x->expected = transfer_list(t, x->expected, &x->n_expected, sizeof(*x->expected), 8);
        transfer_reals(t, x->expected, x->n_expected);
        x->runs = transfer_list(t, x->runs, &x->n_arms, sizeof(*x->runs), 11);
        for (size_t i = 0; i < x->n_arms; i++) {
                struct trial_run *run = &x->runs[i];

                run->attempt.ending = transfer_choice(t, run->attempt.ending, ENDING_STOPPED + 1);
                run->verdict = transfer_choice(t, run->verdict, N_VERDICTS);
                transfer_bool(t, &run->known);
                transfer_real(t, &run->attempt.seconds);
        }
        x->turns = transfer_list(t, x->turns, &x->n_turns, sizeof(*x->turns), 12);
        for (size_t i = 0; i < x->n_turns; i++) {
                transfer_u32(t, &x->turns[i].arm);
                transfer_real(t, &x->turns[i].until);
                if (transfer_reads(t) && x->turns[i].arm >= x->n_arms)
                        record_fail(&t->from);
        }
        if (transfer_reads(t))
                x->alarm = record_string(&t->from, record_left(&t->from));
        else
                buffer_adds(t->to, x->alarm ?: "");
}

static void trial_encode(const struct trial *t, struct buffer *ret)
{
        transfer_trial(&(struct transfer){.to = ret}, (struct trial *)t);
}

/* -EBADMSG: damaged, or of a newer version. */
static int trial_decode(struct slice bytes, struct trial **ret)
{
        cleanup_trial struct trial *t = allocate(1, sizeof(*t));
        struct transfer from = {.from = record_of(bytes)};
        int r;

        transfer_trial(&from, t);
        r = record_end(&from.from, "a trial of a portfolio");
        if (r == 0)
                *ret = steal_pointer(t);
        return r;
}

/* -- the store -- */

struct slice trial_key(uint8_t key[TRIAL_KEY_SIZE], const struct digest *epoch, char kind, uint32_t number)
{
        memcpy(key, epoch->bytes, DIGEST_SIZE);
        key[DIGEST_SIZE] = (uint8_t)kind;
        key_u32(key + DIGEST_SIZE + 1, number);
        return SLICE(key, TRIAL_KEY_SIZE);
}

static int find_in(struct store_txn *t, const struct digest *epoch, uint32_t case_id, struct trial **ret)
{
        cleanup_blob struct blob number = {0}, value = {0};
        uint8_t key[TRIAL_KEY_SIZE];
        int r = store_get(t, TABLE_PORTFOLIOS, trial_key(key, epoch, 'c', case_id), &number);

        if (r < 0)
                return r;
        if (number.size != 4)
                return -ENOENT; /* it is damaged: the case is run again */
        r = store_get(t, TABLE_PORTFOLIOS, trial_key(key, epoch, 't', key_get_u32(number.data)), &value)
            ?: trial_decode(SLICE(value.data, value.size), ret);
        return r == -EBADMSG ? -ENOENT : r; /* likewise */
}

int trial_find_any(struct workspace *w, const struct portfolio *p, uint32_t case_id, struct trial **ret)
{
        cleanup_txn struct store_txn *t = NULL;

        return store_read(workspace_store(w), &t) ?: find_in(t, &p->epoch, case_id, ret);
}

int trial_find(struct workspace *w, const struct portfolio *p, uint32_t case_id, struct trial **ret)
{
        cleanup(case_info_unrefp) struct case_info *info = NULL;
        cleanup_trial struct trial *t = NULL;
        int r = trial_find_any(w, p, case_id, &t) ?: cases_get(workspace_cases(w), case_id, &info);

        if (r < 0)
                return r;
        if (!trial_stands(w, p, info, t))
                return -ENOENT;
        *ret = steal_pointer(t);
        return 0;
}

static int get_counter(struct store_txn *t, struct slice key, uint64_t *ret)
{
        cleanup_blob struct blob n = {0};
        int r = store_get(t, TABLE_PORTFOLIOS, key, &n);

        *ret = r == 0 && n.size == 8 ? key_get_u64(n.data) : 0;
        return r == -ENOENT ? 0 : r;
}

int portfolio_counter(struct workspace *w, struct slice key, uint64_t *ret)
{
        cleanup_txn struct store_txn *t = NULL;

        return store_read(workspace_store(w), &t) ?: get_counter(t, key, ret);
}

int portfolio_count(struct store_txn *t, struct slice key)
{
        uint8_t bytes[8];
        uint64_t n;
        int r = get_counter(t, key, &n);

        key_u64(bytes, n + 1);
        return r < 0 ? r : store_put(t, TABLE_PORTFOLIOS, key, SLICE(bytes, sizeof(bytes)));
}

int trials_taken_back(struct workspace *w, const struct portfolio *p, uint64_t *ret)
{
        uint8_t key[TRIAL_KEY_SIZE];

        return portfolio_counter(w, trial_key(key, &p->epoch, 'b', 0), ret);
}

/* Stores the trial under the next number, from its own on. If the case has one already, stores nothing, and *ret_there is that one; but `instead` (NULL:
 * none) is taken back, and replaced. */
static int put_in(struct store_txn *t, const struct digest *epoch, struct trial *trial, const struct trial *instead, struct trial **ret_there)
{
        uint8_t key[TRIAL_KEY_SIZE], from[TRIAL_KEY_SIZE], first[TRIAL_KEY_SIZE], number[4];
        cleanup_walk struct store_walk w = {.txn = t,
                                            .table = TABLE_PORTFOLIOS,
                                            .prefix = SLICE(trial_key(first, epoch, 't', 0).data, DIGEST_SIZE + 1),
                                            .from = trial_key(from, epoch, 't', trial->number),
                                            .keys_only = true};
        cleanup_buffer struct buffer b = {0};
        uint32_t next = trial->number;
        int r = find_in(t, epoch, trial->case_id, ret_there);

        if (r == 0 && instead && (*ret_there)->number == instead->number) {
                *ret_there = trial_free(*ret_there);
                r = store_delete(t, TABLE_PORTFOLIOS, trial_key(key, epoch, 't', instead->number));
                if (r == 0)
                        r = portfolio_count(t, trial_key(key, epoch, 'b', 0)); /* so that learners that know it are made anew (learned.c) */
                r = r < 0 ? r : -ENOENT; /* now the case has none */
        }
        if (r != -ENOENT)
                return r;
        while ((r = store_walk(&w)) > 0) /* numbers given since this trial began */
                next = key_get_u32((const uint8_t *)w.key.data + DIGEST_SIZE + 1) + 1;
        if (r < 0)
                return r;
        trial->number = next;
        trial_encode(trial, &b);
        r = store_put(t, TABLE_PORTFOLIOS, trial_key(key, epoch, 't', next), SLICE(b.data, b.size));
        key_u32(number, next);
        return r < 0 ? r : store_put(t, TABLE_PORTFOLIOS, trial_key(key, epoch, 'c', trial->case_id), SLICE(number, sizeof(number)));
}

int trial_put(struct workspace *w, const struct portfolio *p, const struct case_info *info, struct trial *t, struct trial **ret)
{
        cleanup_trial struct trial *old = NULL;
        bool is_bad = trial_find_any(w, p, t->case_id, &old) == 0 && !trial_stands(w, p, info, old);
        struct store_update u = {.store = workspace_store(w)};

        *ret = NULL;
        while (store_update_begins(&u)) {
                *ret = trial_free(*ret);
                u.r = put_in(u.txn, &p->epoch, t, is_bad ? old : NULL, ret);
        }
        if (u.r < 0)
                *ret = trial_free(*ret);
        return u.r;
}

int trials_read(struct workspace *w, const struct portfolio *p, uint32_t from, struct trial_list *ret)
{
        uint8_t key[TRIAL_KEY_SIZE], first[TRIAL_KEY_SIZE];
        cleanup_walk struct store_walk walk = {.store = workspace_store(w),
                                               .table = TABLE_PORTFOLIOS,
                                               .prefix = SLICE(trial_key(key, &p->epoch, 't', 0).data, DIGEST_SIZE + 1),
                                               .from = trial_key(first, &p->epoch, 't', from)};
        int r;

        while ((r = store_walk(&walk)) > 0) {
                list_grow(ret->list, ret->n);
                ret->n += trial_decode(walk.value, &ret->list[ret->n]) == 0; /* a damaged one is left out; fsck reports it */
        }
        return r;
}

void trial_list_done(struct trial_list *l)
{
        for (size_t i = 0; i < l->n; i++)
                trial_free(l->list[i]);
        free(l->list);
}

/* -- an arm alone -- */

#define ARM_KEY_SIZE (DIGEST_SIZE + 1 + DIGEST_SIZE + 16)

static struct slice arm_key(uint8_t key[ARM_KEY_SIZE], const struct portfolio *p, const struct arm *a,
                            const struct case_info *info)
{
        memcpy(key, a->identity.bytes, DIGEST_SIZE);
        key[DIGEST_SIZE] = info->format == FORMAT_CNF ? 'd' : 'a';
        memcpy(key + DIGEST_SIZE + 1, case_identity(info).bytes, DIGEST_SIZE);
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
        int r = store_fetch(workspace_store(w), TABLE_PORTFOLIOS, arm_key(key, p, a, info), &value)
            ?: trial_decode(SLICE(value.data, value.size), &t);

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

static int fact_known(struct workspace *w, const struct portfolio *p, const struct arm *a, const struct case_info *info, struct trial_run *ret)
{
        cleanup(fact_unrefp) struct fact *f = NULL;
        struct cell cell = arm_cell(a, info, p->wall_ns);
        int r;

        if (!recipe_takes(a->recipe, info->format))
                return -ENOENT;
        r = run_find(w, &cell, FACT_BRIEF, &f);
        if (r < 0)
                return r;
        ret->verdict = f->uncertain_from > 0 && verdict_is_decided(f->verdict) ? VERDICT_ERROR : f->verdict; /* it may be of another formula */
        ret->attempt = (struct attempt){ending_of(ret->verdict), (double)f->wall_ns / NSEC_PER_SEC};
        if (f->verdict == VERDICT_TIMEOUT && f->wall_ns < p->wall_ns) /* its limit of CPU time ended it */
                ret->attempt.ending = ENDING_FAILED;
        if (f->memory > p->memory) { /* its recipe allows more than the portfolio does */
                ret->verdict = VERDICT_MEMOUT;
                ret->attempt.ending = ENDING_FAILED;
        }
        return 0;
}

int arm_known(struct workspace *w, const struct portfolio *p, const struct arm *a, const struct case_info *info, struct trial_run *ret)
{
        double limit = (double)p->wall_ns / NSEC_PER_SEC;
        int r;

        if (a->problem)
                return -ENOENT;
        r = a->solver ? fact_known(w, p, a, info, ret) : command_known(w, p, a, info, ret);
        if (r < 0)
                return r;
        ret->known = true;
        if (ret->attempt.seconds > limit || ret->attempt.ending == ENDING_STOPPED) { /* the portfolio would have stopped it at its limit */
                ret->attempt = (struct attempt){ENDING_STOPPED, limit};
                ret->verdict = VERDICT_TIMEOUT;
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
