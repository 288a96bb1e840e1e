/* Keeps and finds the measurements of a cell. cell_value.h chooses the cell's value among them.
 *
 * The value is in TABLE_FACTS. A single measurement is the value, and has no row of its own. From the second one on, each has a row in TABLE_SAMPLES, by
 * its number, and the value is a copy of one of them, marked as chosen. */
#include "core/build/era.h"
#include "core/query/answers.h"
#include "core/query/cell_value.h"
#include "core/query/run_query.h"
#include "core/query/same_program.h"
#include "core/query/scrambled.h"

#define SAMPLE_KEY_SIZE (FACT_KEY_SIZE + 4)

/* The prefix of all rows of a cell's measurements under its limits, and under one digest of its program. */
static void samples_prefix(const struct resolved_cell *resolved, const struct digest *program, const struct case_info *info, uint8_t ret[FACT_KEY_SIZE])
{
        uint8_t run[RUN_KEY_SIZE];

        join_run_key(program, &info->sha256, &resolved->setting, run);
        fact_key(run, &resolved->limits, ret);
}

/* -- found ------------------------------------------------------------------------------------------------------- */

struct measurements {
        bool brief;
        const struct case_info *info; /* NULL: facts as stored */
        struct measurement *list; /* by number */
        size_t n;
};

static void measurements_done(struct measurements *m)
{
        for (size_t i = 0; i < m->n; i++)
                fact_unref(m->list[i].fact);
        free(m->list);
}
#define cleanup_measurements cleanup(measurements_done)

/* Takes over `fact`. The first one of a number counts. */
static void add_measurement(struct measurements *m, uint32_t number, struct fact *fact)
{
        size_t at = m->n;

        while (at > 0 && m->list[at - 1].number > number)
                at--;
        if (at > 0 && m->list[at - 1].number == number) {
                fact_unref(fact);
                return;
        }
        list_grow(m->list, m->n);
        memmove(&m->list[at + 1], &m->list[at], (m->n - at) * sizeof(*m->list));
        m->list[at] = (struct measurement){number, fact};
        m->n++;
}

static int read_rows(struct store_txn *t, const uint8_t prefix[FACT_KEY_SIZE], struct measurements *ret)
{
        cleanup_walk struct store_walk each = {.txn = t, .table = TABLE_SAMPLES, .prefix = SLICE(prefix, FACT_KEY_SIZE)};
        int r;

        while ((r = store_walk(&each)) > 0) {
                struct fact *f;

                if (each.key.size != SAMPLE_KEY_SIZE || fact_decode(each.value, ret->brief, &f) < 0) /* an unreadable one is measured again */
                        continue;
                if (ret->info && fact_for_case(&f, ret->info) < 0)
                        continue;
                if (ret->info)
                        answers_judge(f, ret->info);
                add_measurement(ret, key_get_u32((const uint8_t *)each.key.data + FACT_KEY_SIZE), f);
        }
        return r;
}

/* The measurements in TABLE_SAMPLES under each digest of the program, by number. */
static int read_kept(struct store_txn *t, const struct resolved_cell *resolved, const struct case_info *info, struct measurements *ret)
{
        const struct digest *program = &resolved->programs[0];
        cleanup_free struct digest *others = NULL;
        size_t n = 0;
        int r = program_others(t, program, &others, &n);

        for (size_t i = 0; r == 0 && i <= n; i++) {
                uint8_t prefix[FACT_KEY_SIZE];

                samples_prefix(resolved, i == 0 ? program : &others[i - 1], info, prefix);
                r = read_rows(t, prefix, ret);
        }
        return r;
}

/* All measurements of a cell. A value that is not chosen among others is number 0, also if it is a fact under other limits that covers these. */
static int read_measurements(struct store_txn *t, const struct resolved_cell *resolved, const struct case_info *info, struct measurements *ret)
{
        cleanup(fact_unrefp) struct fact *value = NULL;
        int r;

        ret->info = info;
        r = read_kept(t, resolved, info, ret);
        if (r < 0 || (ret->n > 0 && ret->list[0].number == 0))
                return r;
        r = resolved_find_in(t, resolved, info, ret->brief, &value);
        if (r == 0 && (ret->n == 0 || !value->chosen))
                add_measurement(ret, 0, steal_pointer(value));
        return r == -ENOENT ? 0 : r;
}

int sample_find(const struct run_query *q, const struct resolved_cell *resolved, struct fact **ret)
{
        cleanup_txn struct store_txn *t = NULL;
        cleanup_measurements struct measurements all = {0};
        int r = resolved->n_programs > 0 ? store_read(workspace_store(q->workspace), &t) : -ENOENT;

        if (r == 0)
                r = read_measurements(t, resolved, q->cell.info, &all);
        for (size_t i = 0; i < all.n && r == 0 && !*ret; i++)
                if (all.list[i].number == q->sample)
                        *ret = fact_ref(all.list[i].fact);
        return r < 0 || *ret ? r : -ENOENT;
}

bool samples_are_kept(struct workspace *w, const struct resolved_cell *resolved, const struct case_info *info)
{
        cleanup_measurements struct measurements all = {.brief = true};
        cleanup_txn struct store_txn *t = NULL;

        if (resolved->n_programs == 0 || store_read(workspace_store(w), &t) < 0)
                return false;
        return read_kept(t, resolved, info, &all) == 0 && all.n > 0;
}

int samples_known(struct workspace *w, const struct cell *cell, bool brief, sample_fn fn, void *user)
{
        cleanup_resolved struct resolved_cell resolved = {0};
        cleanup_measurements struct measurements all = {.brief = brief};
        struct store_txn *t = NULL;
        int r = cell_resolve(w, cell, NULL, &resolved);

        if (r == 0)
                r = resolved.n_programs > 0 ? store_read(workspace_store(w), &t) : -ENOENT;
        if (r < 0)
                return r;
        r = read_measurements(t, &resolved, cell->info, &all);
        store_end(t); /* before fn, which may read */
        for (size_t i = 0; i < all.n && r == 0 && all.list[i].number < MEASUREMENT_AGAIN; i++)
                r = fn(user, all.list[i].number, all.list[i].fact);
        return r;
}

/* -- kept -------------------------------------------------------------------------------------------------------- */

struct keeping {
        const struct run_query *query;
        const struct case_info *info; /* the query's case, with its status of now */
        struct fact *fact; /* borrowed */
        bool is_again;
        int64_t shown; /* the cell's time in a mount as long as it has not been measured again */
        struct noted_fact noted;
        const struct recipe *era;
        struct digest source;
        bool has_source;
        struct recipe_limits limits; /* of the value's key */
        uint8_t key[FACT_KEY_SIZE];
        struct fact *value; /* a ref; the cell's value now */
        bool is_put;        /* the value has changed */
};

static int put_sample(struct store_txn *t, const struct keeping *k, uint32_t number, const struct fact *f)
{
        cleanup_buffer struct buffer b = {0};
        uint8_t key[SAMPLE_KEY_SIZE];
        int r = fact_encode(f, &b);

        samples_prefix(&k->query->resolved, &k->query->resolved.programs[0], k->query->cell.info, key);
        key_u32(key + FACT_KEY_SIZE, number);
        return r < 0 ? r : store_put(t, TABLE_SAMPLES, SLICE(key, sizeof(key)), SLICE(b.data, b.size));
}

static int put_value(struct store_txn *t, struct keeping *k)
{
        const struct cell *cell = &k->query->cell;
        cleanup_buffer struct buffer b = {0};
        char name[128];
        int r = fact_encode(k->value, &b) ?: store_put(t, TABLE_FACTS, k->noted.key, SLICE(b.data, b.size));

        if (r == 0 && k->has_source)
                r = history_keep_source(cell->solver->history, t, cell->commit, k->era->sources, &k->source);
        k->noted.fact = k->value;
        if (r == 0)
                r = fact_note(t, &k->noted);
        if (r < 0)
                return r;
        duration_key(k->query, name);
        meta_number_put(t, name, k->value->wall_ns);
        return 0;
}

/* Adds the former single measurement to the list, and writes its row. */
static int keep_former(struct store_txn *t, const struct keeping *k, struct measurements *all, struct fact *former)
{
        bool is_taken = all->n > 0 && all->list[0].number == 0;
        uint32_t number = is_taken ? MAX(all->list[all->n - 1].number + 1, MEASUREMENT_AGAIN) : 0; /* taken: an import brought another number 0 */

        fact_clamp(former, &k->query->resolved.limits);
        former->limits = k->limits; /* it covers them */
        add_measurement(all, number, fact_ref(former));
        return put_sample(t, k, number, former);
}

static int keep_this(struct store_txn *t, const struct keeping *k, struct measurements *all)
{
        uint32_t number = k->is_again ? MAX(all->list[all->n - 1].number + 1, MEASUREMENT_AGAIN) : k->query->sample;

        for (size_t i = 0; i < all->n; i++)
                if (all->list[i].number == number) { /* the same number, measured anew */
                        fact_unref(all->list[i].fact);
                        memmove(&all->list[i], &all->list[i + 1], (all->n - i - 1) * sizeof(*all->list));
                        all->n--;
                        break;
                }
        /* Their times are in the order of storing, whatever the clock said: --again settles all before it, and no sample behind it counts as older. */
        for (size_t i = 0; i < all->n; i++)
                if (k->is_again || all->list[i].number >= MEASUREMENT_AGAIN)
                        k->fact->measured = MAX(k->fact->measured, all->list[i].fact->measured + !k->is_again);
        add_measurement(all, number, fact_ref(k->fact));
        return put_sample(t, k, number, k->fact);
}

/* When its value changes now: later than every time that the cell had, or `make` would not notice. */
static int64_t change_time(const struct keeping *k, const struct fact *former)
{
        return MAX(now_seconds(), MAX(k->shown, former ? fact_moment(former) : 0) + 1);
}

/* Puts the chosen measurement as the value, in place of `former` (NULL: there was none). Leaves it if it stays as it is, a copy of a row. */
static int choose(struct store_txn *t, struct keeping *k, const struct measurements *all, const struct fact *former)
{
        const struct fact *chosen = all->list[cell_value_choose(all->list, all->n)].fact;
        cleanup_buffer struct buffer b = {0};
        bool moves; /* the value is another measurement than before */
        int r = fact_encode(chosen, &b);

        if (r == 0)
                r = fact_decode(SLICE(b.data, b.size), FACT_WHOLE, &k->value); /* a copy, to be changed */
        if (r < 0)
                return r;
        moves = former && (chosen->measured != former->measured || chosen->wall_ns != former->wall_ns || chosen->cpu_ns != former->cpu_ns ||
                           chosen->memory != former->memory);
        k->value->chosen = true;
        k->value->wrong = cell_value_is_wrong(all->list, all->n);
        k->value->remeasured = moves || k->is_again ? change_time(k, former) : former ? former->remeasured : 0;
        k->is_put = !former || moves || k->is_again || k->value->wrong != former->wrong;
        if (!k->is_put && former->chosen) /* else it becomes a chosen one */
                return 0;
        r = put_value(t, k);
        if (r == 0 && (moves || k->is_again))
                remeasured_note(t, &k->query->cell, &k->query->resolved.programs[0]);
        return r;
}

/* The first measurement becomes the value, and has no row. With another one, the first gets a row, too, and the value is chosen anew. */
static int keep_in(void *user, struct store_txn *t)
{
        struct keeping *k = user;
        const struct run_query *q = k->query;
        cleanup_measurements struct measurements all = {.info = k->info};
        cleanup(fact_unrefp) struct fact *former = NULL;
        int r;

        k->value = fact_unref(k->value); /* the transaction may run twice */
        r = read_kept(t, &q->resolved, q->cell.info, &all)
            ?: resolved_find_in(t, &q->resolved, k->info, false, &former);
        if (r == -ENOENT && all.n == 0 && q->sample == 0) {
                k->value = fact_ref(k->fact);
                k->is_put = true;
                if (k->is_again)
                        k->value->remeasured = change_time(k, NULL);
                r = put_value(t, k);
                if (r == 0 && k->is_again)
                        remeasured_note(t, &q->cell, &q->resolved.programs[0]);
                return r;
        }
        if (r < 0 && r != -ENOENT)
                return r;
        r = former && (all.n == 0 || !former->chosen) ? keep_former(t, k, &all, former) : 0;
        if (r == 0)
                r = keep_this(t, k, &all);
        return r < 0 ? r : choose(t, k, &all, former);
}

/* The case with its status of now, if another one was set since the run was asked for; else NULL. */
static struct case_info *case_told_since(const struct run_query *q)
{
        cleanup(case_info_unrefp) struct case_info *now = NULL;
        struct scrambled_inputs inputs = {0};
        int r = cases_get(workspace_cases(q->workspace), q->cell.info->id, &now);

        if (r == 0 && now->derived)
                r = scrambled_take_status(q->workspace, &inputs, &now);
        free(inputs.list);
        return r == 0 && now->status_set != q->cell.info->status_set ? steal_pointer(now) : NULL;
}

int measurement_keep(const struct run_query *q, bool is_again, struct fact *f, struct fact **ret_value)
{
        cleanup(case_info_unrefp) struct case_info *before = case_told_since(q), *behind = NULL;
        struct keeping k = {.query = q, .info = before ?: q->cell.info, .fact = f, .is_again = is_again, .limits = q->resolved.limits};
        struct cell cell = q->cell;
        uint8_t run[RUN_KEY_SIZE];
        struct commit c;
        int r = history_commit(q->cell.solver->history, q->cell.commit, &c); /* before the transaction, in which nothing else can be read */

        if (r < 0)
                return r;
        if (before)
                f->wrong = answers_contradict(f, before);
        cell.info = (struct case_info *)k.info;
        if (k.limits.stack == 0)
                k.limits.stack = RECIPE_STACK; /* as measure() puts it into the fact */
        resolved_run_key(&q->resolved, q->cell.info, run);
        fact_key(run, &k.limits, k.key);
        k.shown = cell_first_mtime(&c, q->cell.info);
        k.noted = (struct noted_fact){.cell = &cell, .commit = c.oid, .key = SLICE(k.key, sizeof(k.key))};
        k.era = era_or_solver(q->cell.solver->history, q->cell.solver->recipe, q->cell.commit);
        k.has_source = history_source(q->cell.solver->history, q->cell.commit, k.era->sources, &k.source) == 0;
        r = store_update_together(workspace_store(q->workspace), keep_in, &k);
        if (r == 0 && k.is_put)
                answers_log(q->workspace, &k.noted);
        behind = case_told_since(q);
        if (r == 0 && behind && answers_look_again(q->workspace, behind->id) < 0) /* who set the status has not seen this answer */
                log_warning("an answer to case %u is not judged by the status that was set meanwhile; set it again", behind->id);
        if (r == 0 && ret_value)
                *ret_value = steal_pointer(k.value);
        fact_unref(k.value);
        return r;
}
