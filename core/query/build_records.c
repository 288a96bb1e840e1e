/* Records of builds: finds them, joins them to earlier ones, keeps them; and how long builds take. */
#include "core/build/era.h"
#include "core/build/live_log.h"
#include "core/query/build_query.h"
#include "core/query/same_program.h"

static int read_record(struct workspace *w, const struct digest *build, bool with_log, struct build_record **ret)
{
        cleanup_txn struct store_txn *t = NULL;
        cleanup_blob struct blob b = {0};
        int r = store_read(workspace_store(w), &t)
            ?: store_get(t, TABLE_BUILDS, SLICE(build->bytes, DIGEST_SIZE), &b)
            ?: build_record_decode(SLICE(b.data, b.size), with_log, ret);

        return r == -EBADMSG ? -ENOENT : r; /* an unreadable record is computed again */
}

int build_record_find(struct workspace *w, struct solver *s, uint32_t commit, const struct digest *build, bool with_log, struct build_record **ret)
{
        int r = read_record(w, build, with_log, ret);

        if (r == 0 && !(*ret)->ok &&
            (build_tools_changed(w, build, NULL) || /* a tool that was missing may be there now */
             build_limit_is_raised((*ret)->reason, &era_or_solver(s->history, s->recipe, commit)->build_limits))) {
                *ret = build_record_unref(*ret);
                r = -ENOENT;
        }
        return r;
}

int build_find(struct workspace *w, struct solver *s, uint32_t commit, bool with_log, struct build_record **ret)
{
        struct digest key;

        return build_key(s->history, commit, s->recipe, &key) ?: build_record_find(w, s, commit, &key, with_log, ret);
}

int build_open_live_log(struct workspace *w, struct solver *s, uint32_t commit, int *ret_fd)
{
        struct digest key;

        return build_key(s->history, commit, s->recipe, &key) ?: live_log_open(workspace_dir(w), &key, ret_fd);
}

/* A build whose programs gc took, or the store lost, is known but must be repeated before anything can run. */
bool build_is_usable(struct workspace *w, const struct build_record *record)
{
        for (size_t i = 0; record->ok && i < record->n_outputs; i++)
                if (!programs_has(workspace_programs(w), &record->outputs[i].id))
                        return false;
        return true;
}

static void build_duration_key(const struct solver *s, char ret[128])
{
        snprintf(ret, 128, "duration/build/%s", s->recipe->within ? s->recipe->name : s->repository);
}

uint64_t build_usual_ns(struct workspace *w, const struct solver *s)
{
        char key[128];

        build_duration_key(s, key);
        return meta_number(w, key);
}

bool build_query_estimate(const struct query *query, struct cost *ret)
{
        const struct build_query *q = (const struct build_query *)query;

        *ret = (struct cost){.mean_ns = build_usual_ns(q->workspace, q->solver)};
        return ret->mean_ns > 0;
}

/* The record, the list of what it used, the row of its program, and the average of build times. */
static int put_in(struct store_txn *t, const struct build_query *q, const struct build_record *record, struct slice encoded)
{
        const struct solver *s = q->solver;
        const struct slice key = SLICE(q->build_key.bytes, DIGEST_SIZE);
        bool known = store_has(t, TABLE_BUILDS, key);
        int r = store_put(t, TABLE_BUILDS, key, encoded);
        struct digest used = {0};
        char duration[128];
        uint64_t before;

        if (r == 0 && record->used.size > 0)
                r = build_used_put(t, SLICE(record->used.data, record->used.size), &used);
        if (r == 0)
                r = build_program_put(t, &q->build_key, record, &used);
        if (r == 0 && known)
                replaced_note(t, s);
        if (r == 0 && record->ok) { /* the time of a failed build says nothing about successful ones */
                build_duration_key(s, duration);
                before = meta_number_in(t, duration);
                meta_number_put(t, duration, before > 0 ? (before * 3 + record->duration_ns) / 4 : record->duration_ns);
        }
        return r;
}

int build_record_keep(struct workspace *w, const struct build_query *q, const struct build_record *record)
{
        const struct recipe *era = era_or_solver(q->solver->history, q->solver->recipe, q->commit);
        struct store_update u = {.store = workspace_store(w)};
        cleanup_buffer struct buffer b = {0};
        struct digest source;
        bool has_source = history_source(q->solver->history, q->commit, era->sources, &source) == 0;

        u.r = build_record_encode(record, &b);
        while (store_update_begins(&u)) {
                u.r = put_in(u.txn, q, record, SLICE(b.data, b.size));
                if (u.r == 0 && has_source)
                        u.r = history_keep_source(q->solver->history, u.txn, q->commit, era->sources, &source);
        }
        return u.r;
}

/* Takes over the programs that earlier builds of this key made, and records where this one differs. */
static int join_programs(struct workspace *w, const struct build_record *known, struct build_record *record)
{
        struct digest *now = record->programs;
        size_t n_now = record->n_programs;
        int r = 0;

        record->programs = allocate(known->n_programs + 1, sizeof(*record->programs));
        memcpy(record->programs, known->programs, known->n_programs * sizeof(*known->programs));
        record->n_programs = known->n_programs;
        if (!build_record_has_program(known, &now[n_now - 1]))
                r = build_differences(workspace_programs(w), known, record, &record->differs);
        else if (known->differs)
                record->differs = copy_string(known->differs);
        free(now);
        build_record_note_program(record);
        return r;
}

int build_record_join(struct workspace *w, const struct build_record *known, bool again, bool is_renewed, struct build_record **record)
{
        struct digest before, now;

        if (!known->ok)
                return 0;
        if (is_renewed && (*record)->ok) /* other bytes from other tools are another program */
                return build_record_has_program(known, build_record_program(*record)) ? join_programs(w, known, *record) : 0;
        if (!(*record)->ok)
                return again ? 0 : errorf(-EIO, "it was built before, and cannot be built again now: %s", (*record)->reason);
        build_outputs_digest(known->outputs, known->n_outputs, &before);
        build_outputs_digest((*record)->outputs, (*record)->n_outputs, &now);
        return again || !digest_equal(&before, &now) ? join_programs(w, known, *record) : 1;
}

/* -- the program of a build: every lookup of a result needs it, so it has a table of its own with small rows ---------------------------- */

int build_program_put(struct store_txn *t, const struct digest *build, const struct build_record *record, const struct digest *used)
{
        struct digest row[2] = {{{0}}, *used};
        int r = program_join(t, record, &row[0]);

        return r < 0 && r != -ENOENT ? r
                                     : store_put(t, TABLE_BUILD_PROGRAMS, SLICE(build->bytes, DIGEST_SIZE),
                                                 SLICE(row, digest_is_zero(used) ? DIGEST_SIZE : sizeof(row)));
}

/* The program of a record without a row: an older version wrote the record, or the row was damaged. */
static int program_of_record(struct workspace *w, const struct digest *build, struct digest *ret)
{
        cleanup(build_record_unrefp) struct build_record *record = NULL;
        cleanup_txn struct store_txn *t = NULL;
        const struct digest *program;
        int r = read_record(w, build, false, &record);

        if (r < 0)
                return r;
        program = build_record_program(record);
        if (!program)
                return -ENOENT;
        r = store_read(workspace_store(w), &t);
        if (r == 0)
                program_first(t, program, ret);
        return r;
}

int build_program_find(struct workspace *w, const struct digest *build, struct digest *ret)
{
        cleanup_blob struct blob b = {0};
        int r = store_fetch(workspace_store(w), TABLE_BUILD_PROGRAMS, SLICE(build->bytes, DIGEST_SIZE), &b);

        if (r == -ENOENT || (r == 0 && b.size != DIGEST_SIZE && b.size != 2 * DIGEST_SIZE))
                return program_of_record(w, build, ret);
        if (r < 0)
                return r;
        memcpy(ret->bytes, b.data, DIGEST_SIZE);
        return digest_is_zero(ret) ? -ENOENT : 0;
}

/* -- of all commits --------------------------------------------------------------------------------------------- */

struct made { /* a row */
        struct digest build, program;
};

int commit_programs(struct workspace *w, struct solver *s, struct digest **ret, uint32_t *ret_n, bool *ret_has_gaps)
{
        cleanup_free struct digest *keys = NULL;
        cleanup_free struct made *rows = NULL; /* by build key, as LMDB has them */
        cleanup_walk struct store_walk each = {.store = workspace_store(w), .table = TABLE_BUILD_PROGRAMS};
        size_t n_rows = 0;
        uint32_t n = 0;
        bool has_gaps = false;
        int r;

        while ((r = store_walk(&each)) > 0) {
                if (each.key.size != DIGEST_SIZE || (each.value.size != DIGEST_SIZE && each.value.size != 2 * DIGEST_SIZE))
                        continue;
                list_grow(rows, n_rows);
                memcpy(rows[n_rows].build.bytes, each.key.data, DIGEST_SIZE);
                memcpy(rows[n_rows++].program.bytes, each.value.data, DIGEST_SIZE);
        }
        if (r == 0)
                r = build_keys(s->history, s->recipe, &keys, &n);
        for (uint32_t i = 0; r == 0 && i < n; i++) {
                const struct made *m = find_in_list(&keys[i], rows, n_rows, sizeof(*rows), digest_compare);

                has_gaps |= digest_is_zero(&keys[i]);
                keys[i] = m ? m->program : (struct digest){0};
        }
        if (r < 0)
                return r;
        *ret = steal_pointer(keys);
        *ret_n = n;
        if (ret_has_gaps)
                *ret_has_gaps = has_gaps;
        return 0;
}

int build_programs_state(struct workspace *w, uint64_t *ret)
{
        cleanup_walk struct store_walk each = {.store = workspace_store(w), .table = TABLE_BUILD_PROGRAMS};
        int r;

        *ret = 0;
        while ((r = store_walk(&each)) > 0) {
                const uint64_t parts[] = {*ret, hash_quick(each.key.data, each.key.size), hash_quick(each.value.data, each.value.size)};

                *ret = hash_quick(parts, sizeof(parts));
        }
        return r;
}
