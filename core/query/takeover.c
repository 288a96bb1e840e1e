/* Stores in which a run's key begins with its build's key: what was measured goes to where the program's digest says. And stores whose programs
 * are rows of a table that is in no journal: they become files. */
#include "core/query/answers.h"

#include "cache/base/json.h"
#include "cache/base/lock.h"
#include "core/query/takeover.h"

/* In TABLE_META: */
#define KEYED      "runs/keyed-by"
#define BY_PROGRAM 1
#define KEPT       "programs/kept-in"
#define IN_FILES   1

#define CHUNK      512                /* facts taken over in one transaction, at most */
#define CHUNK_SIZE ((size_t)16 << 20) /* bytes of them */

struct build_row {
        struct digest build, program;
        int64_t started;
        bool known; /* it has a program */
};

struct takeover {
        struct workspace *workspace;
        struct build_row *builds; /* by build key, as LMDB has them */
        size_t n_builds;
        struct digest *programs; /* of all builds, sorted: what stands under one was taken over before */
        size_t n_programs;
        uint64_t taken, left;
};

static void takeover_done(struct takeover *t)
{
        free(t->builds);
        free(t->programs);
}

static int compare_digests(const void *a, const void *b)
{
        return memcmp(a, b, DIGEST_SIZE);
}

/* -- builds ------------------------------------------------------------------------------------------------------ */

static int add_build(void *user, struct slice key, struct slice value)
{
        cleanup(build_record_unrefp) struct build_record *record = NULL;
        struct takeover *t = user;
        struct build_row *b;

        if (key.size != DIGEST_SIZE || build_record_decode(value, false, &record) < 0)
                return 0;
        if (list_grow(t->builds, t->n_builds) < 0 || list_grow(t->programs, t->n_programs) < 0)
                return -ENOMEM;
        b = &t->builds[t->n_builds++];
        *b = (struct build_row){.started = record->started, .known = build_record_program(record) != NULL};
        memcpy(b->build.bytes, key.data, DIGEST_SIZE);
        if (b->known)
                t->programs[t->n_programs++] = b->program = *build_record_program(record);
        return 0;
}

static int read_builds(struct takeover *t)
{
        cleanup_txn struct store_txn *txn = NULL;
        int r = store_read(workspace_store(t->workspace), &txn);

        if (r == 0)
                r = store_each(txn, TABLE_BUILDS, SLICE("", 0), SLICE("", 0), true, add_build, t);
        if (r == 0)
                sort_list(t->programs, t->n_programs, sizeof(*t->programs), compare_digests);
        return r;
}

static int put_programs(void *user, struct store_txn *txn)
{
        const struct takeover *t = user;
        int r = 0;

        for (size_t i = 0; r == 0 && i < t->n_builds; i++) /* zero where it failed */
                r = store_put(txn, TABLE_BUILD_PROGRAMS, SLICE(t->builds[i].build.bytes, DIGEST_SIZE),
                              SLICE(t->builds[i].program.bytes, DIGEST_SIZE));
        return r;
}

/* -- facts ------------------------------------------------------------------------------------------------------- */

struct taken_fact {
        struct buffer key, value; /* as it stands now */
        struct buffer to;         /* its new key; empty: nobody knows which program it was measured with */
        bool noted;               /* `note` is to be kept */
        struct noted_fact note;
        struct cell cell; /* of it; owns refs */
        struct fact *fact;
};

struct chunk {
        struct takeover *takeover;
        struct taken_fact *list;
        size_t n, bytes;
        struct buffer from; /* where the next one begins */
};

static void chunk_done(struct chunk *c)
{
        for (size_t i = 0; i < c->n; i++) {
                struct taken_fact *f = &c->list[i];

                buffer_done(&f->key);
                buffer_done(&f->value);
                buffer_done(&f->to);
                solver_unref(f->cell.solver);
                case_info_unref(f->cell.info);
                fact_unref(f->fact);
        }
        free(c->list);
        buffer_done(&c->from);
}

static int add_fact(void *user, struct slice key, struct slice value)
{
        struct chunk *c = user;
        struct taken_fact *f;

        buffer_done(&c->from);
        buffer_add(&c->from, key.data, key.size);
        if (buffer_error(&c->from) < 0)
                return -ENOMEM;
        if (c->n == CHUNK || c->bytes > CHUNK_SIZE)
                return 1;
        if (key.size < RUN_KEY_SIZE ||
            find_in_list(key.data, c->takeover->programs, c->takeover->n_programs, DIGEST_SIZE, compare_digests))
                return 0;
        if (list_grow(c->list, c->n) < 0)
                return -ENOMEM;
        f = &c->list[c->n++];
        *f = (struct taken_fact){0};
        buffer_add(&f->key, key.data, key.size);
        buffer_add(&f->value, value.data, value.size);
        c->bytes += value.size;
        return buffer_error(&f->value);
}

/* Of which cell it is, by its run.json; -ENOENT when that cannot be found any more. */
static int find_cell(struct workspace *w, struct taken_fact *f)
{
        json_t *j = json_loadb(f->fact->json.data ? f->fact->json.data : "", f->fact->json.size, 0, NULL);
        const json_t *seed = json_object_get(j, "seed");
        uint64_t wall = f->fact->limits.wall_ns;
        int r = workspace_solver(w, json_text(j, "solver", ""), &f->cell.solver);

        if (r == 0)
                r = git_oid_fromstr(&f->note.commit, json_text(j, "commit", "")) == 0 ? 0 : -ENOENT;
        if (r == 0)
                r = history_number(f->cell.solver->history, &f->note.commit, &f->cell.commit);
        if (r == 0)
                r = cases_get(workspace_cases(w), (uint32_t)json_integer_value(json_object_get(json_object_get(j, "case"), "id")),
                              &f->cell.info);
        if (r == 0) {
                f->cell.has_seed = json_is_integer(seed);
                f->cell.seed = (uint64_t)json_integer_value(seed);
                f->cell.wall_ns = wall == f->cell.solver->recipe->limits.wall_ns ? 0 : wall;
        }
        json_decref(j);
        return r;
}

/* Where its program's results stand. A measurement that is older than the build was made with another program, which was forgotten when that
 * build was done anew; a build that was only repeated, as gc had taken its program, has kept its record. */
static int find_place(struct takeover *t, struct taken_fact *f)
{
        const struct build_row *b = find_in_list(f->key.data, t->builds, t->n_builds, sizeof(*t->builds), compare_digests);
        int r = fact_decode(SLICE(f->value.data, f->value.size), false, &f->fact);
        uint8_t run[RUN_KEY_SIZE];

        if (r < 0)
                return r == -EBADMSG ? 0 : r;
        if (!b || !b->known || f->fact->measured < b->started)
                return 0;
        buffer_add(&f->to, b->program.bytes, DIGEST_SIZE);
        buffer_add(&f->to, f->key.data + DIGEST_SIZE, f->key.size - DIGEST_SIZE);
        r = buffer_error(&f->to);
        if (r < 0 || find_cell(t->workspace, f) < 0)
                return r;
        run_key_before(&b->build, &f->cell, run);
        if (memcmp(run, f->key.data, RUN_KEY_SIZE) == 0) { /* by this recipe, on this machine */
                run_key_of(&b->program, &f->cell, run);
                memcpy(f->to.data, run, RUN_KEY_SIZE);
        }
        f->noted = !f->cell.info->removed;
        f->note.cell = &f->cell;
        f->note.key = SLICE(f->to.data, f->to.size);
        f->note.fact = f->fact;
        return 0;
}

/* Of two commits with the same program: what was measured anew on purpose stays, else what was measured first. */
static bool is_preferred(const struct fact *a, const struct fact *b)
{
        return a->remeasured != b->remeasured ? a->remeasured > b->remeasured : a->measured < b->measured;
}

static bool has_better(struct store_txn *txn, const struct taken_fact *f)
{
        cleanup(fact_unrefp) struct fact *there = NULL;
        cleanup_blob struct blob b = {0};

        return store_get(txn, TABLE_FACTS, SLICE(f->to.data, f->to.size), &b) == 0 &&
               fact_decode(SLICE(b.data, b.size), true, &there) == 0 && !is_preferred(f->fact, there);
}

static int move_fact(struct takeover *t, struct store_txn *txn, const struct taken_fact *f)
{
        int r = store_delete(txn, TABLE_FACTS, SLICE(f->key.data, f->key.size));

        if (r < 0)
                return r == -ENOENT ? 0 : r;
        t->taken += f->to.size > 0;
        t->left += f->to.size == 0;
        if (f->to.size == 0 || has_better(txn, f))
                return 0;
        r = store_put(txn, TABLE_FACTS, SLICE(f->to.data, f->to.size), SLICE(f->value.data, f->value.size));
        return r == 0 && f->noted ? answers_note(txn, &f->note) : r;
}

static int move_facts(void *user, struct store_txn *txn)
{
        struct chunk *c = user;
        const uint64_t taken = c->takeover->taken, left = c->takeover->left;
        int r = 0;

        for (size_t i = 0; r == 0 && i < c->n; i++)
                r = move_fact(c->takeover, txn, &c->list[i]);
        if (r < 0) { /* it may be run again */
                c->takeover->taken = taken;
                c->takeover->left = left;
        }
        return r;
}

/* Some of them. 1 when there are more, from *from on. */
static int take_chunk(struct takeover *t, struct buffer *from)
{
        cleanup(chunk_done) struct chunk c = {.takeover = t};
        struct store_txn *txn = NULL;
        int more = store_read(workspace_store(t->workspace), &txn), r = MIN(more, 0);

        if (more == 0)
                more = store_each(txn, TABLE_FACTS, SLICE("", 0), SLICE(from->data ? from->data : "", from->size), true, add_fact,
                                  &c);
        store_end(txn);
        if (more < 0)
                return more;
        for (size_t i = 0; r == 0 && i < c.n; i++)
                r = find_place(t, &c.list[i]);
        if (r == 0 && c.n > 0)
                r = store_update(workspace_store(t->workspace), move_facts, &c);
        if (r < 0)
                return r;
        buffer_done(from);
        *from = c.from;
        c.from = (struct buffer){0};
        return more;
}

/* -- the notes of before: lines of text by another key; the facts have been noted anew -- */

static int drop_line(void *user, struct slice key, struct slice value)
{
        struct buffer *found = user;

        if (value.size == 0 || *(const uint8_t *)value.data < ' ')
                return 0;
        buffer_add(found, key.data, key.size);
        return 1;
}

static int drop_lines(void *, struct store_txn *txn)
{
        for (;;) {
                cleanup_buffer struct buffer found = {0};
                int r = store_each(txn, TABLE_META, slice_string("wrong/"), SLICE("", 0), true, drop_line, &found);

                if (r == 1)
                        r = store_delete(txn, TABLE_META, SLICE(found.data, found.size));
                else
                        return r;
                if (r < 0)
                        return r;
        }
}

static void say(const struct takeover *t)
{
        if (t->taken + t->left == 0)
                return;
        log_warning("this store was written by an older version: %" PRIu64
                    " measurements were taken over, and stand under their programs now; %" PRIu64
                    " were made with programs that nobody knows any more, and are measured anew when they are asked for",
                    t->taken, t->left);
}

static int take_runs(struct workspace *w)
{
        cleanup(takeover_done) struct takeover t = {.workspace = w};
        cleanup_buffer struct buffer from = {0};
        int r = read_builds(&t);

        if (r == 0 && t.n_builds > 0)
                r = store_update(workspace_store(w), put_programs, &t);
        if (r == 0)
                while ((r = take_chunk(&t, &from)) == 1)
                        ;
        if (r == 0)
                r = store_update(workspace_store(w), drop_lines, NULL);
        if (r == 0)
                say(&t);
        return r;
}

static int stop(void *, struct slice, struct slice)
{
        return 1;
}

static bool has_builds(struct workspace *w)
{
        cleanup_txn struct store_txn *txn = NULL;

        return store_read(workspace_store(w), &txn) == 0 &&
               store_each(txn, TABLE_BUILDS, SLICE("", 0), SLICE("", 0), false, stop, NULL) == 1;
}

/* -- programs: "m" id → version, size, base; "d" id → a frame ------------------------------------------------------ */

static const char *const program_table = STORE_OLD_PROGRAMS;

struct program_row {
        uint8_t key[1 + DIGEST_SIZE];
        uint64_t size;
        struct digest base;
};

struct program_rows {
        struct program_row *list; /* malloc'd */
        size_t n;
};

static void program_rows_done(struct program_rows *p)
{
        free(p->list);
}

static int add_row(void *user, struct slice key, struct slice value)
{
        struct program_rows *p = user;
        struct program_row *row;
        const uint8_t *bytes = value.data;

        if (key.size != sizeof(row->key) || value.size != 8 + 8 + DIGEST_SIZE || bytes[0] != 1)
                return 0;
        if (list_grow(p->list, p->n) < 0)
                return -ENOMEM;
        row = &p->list[p->n++];
        memcpy(row->key, key.data, sizeof(row->key));
        row->size = key_get_u64(bytes + 8);
        memcpy(row->base.bytes, bytes + 16, DIGEST_SIZE);
        return 0;
}

static int read_rows(struct store *s, struct program_rows *ret)
{
        cleanup_txn struct store_txn *t = NULL;
        int r = store_read(s, &t);

        return r < 0 ? r : store_each(t, 0, slice_string("m"), SLICE("", 0), true, add_row, ret);
}

static int take_row(struct workspace *w, struct store *s, struct program_row *row)
{
        cleanup_blob struct blob frame = {0};
        struct digest id;
        int r;

        memcpy(id.bytes, row->key + 1, DIGEST_SIZE);
        row->key[0] = 'd';
        r = store_fetch(s, 0, SLICE(row->key, sizeof(row->key)), &frame);
        if (r < 0)
                return r == -ENOENT ? 0 : r; /* it is built again */
        return programs_put_frame(workspace_programs(w), &id, row->size, &row->base, SLICE(frame.data, frame.size));
}

static int drop_row(void *user, struct slice key, struct slice)
{
        return store_delete(user, 0, key);
}

static int drop_rows(void *, struct store_txn *t)
{
        return store_each(t, 0, SLICE("", 0), SLICE("", 0), false, drop_row, t);
}

/* The files first, then the rows: when it is killed, what has a file by then has one. */
static int take_programs(struct workspace *w)
{
        cleanup(program_rows_done) struct program_rows rows = {0};
        struct store *s;
        int r;

        if (!has_builds(w)) /* a new store: it never had that table */
                return 0;
        r = store_open(workspace_dir(w), &program_table, 1, 0, &s);
        if (r < 0)
                return r;
        r = read_rows(s, &rows);
        for (size_t i = 0; r == 0 && i < rows.n; i++)
                r = take_row(w, s, &rows.list[i]);
        if (r == 0)
                r = store_update(s, drop_rows, NULL);
        store_close(s);
        if (r == 0 && rows.n > 0)
                log_warning("this store was written by an older version: its %zu programs were taken out of the database, and are files now",
                            rows.n);
        return r;
}

/* -- each once, in any store --------------------------------------------------------------------------------------- */

struct mark {
        const char *key;
        uint64_t value;
};

static int set_mark(void *user, struct store_txn *txn)
{
        const struct mark *m = user;

        return meta_number_put(txn, m->key, m->value);
}

static int take_over(struct workspace *w, struct mark mark, const char *what, int (*take)(struct workspace *w))
{
        cleanup_close int lock = -1;
        int r;

        if (meta_number(w, mark.key) == mark.value)
                return 0;
        if (store_read_only(workspace_store(w))) {
                if (has_builds(w))
                        log_warning("this store was written by an older version, and can only be read: %s not found until it is "
                                    "opened for writing once",
                                    what);
                return 0;
        }
        r = lock_wait(workspace_dir(w), "takeover.lock", false, &lock);
        if (r < 0 || meta_number(w, mark.key) == mark.value)
                return r;
        r = take(w);
        return r < 0 ? r : store_update(workspace_store(w), set_mark, &mark);
}

int runs_take_over(struct workspace *w)
{
        return take_over(w, (struct mark){KEYED, BY_PROGRAM}, "what was measured is", take_runs);
}

int programs_take_over(struct workspace *w)
{
        int r = take_over(w, (struct mark){KEPT, IN_FILES}, "built programs are", take_programs);

        if (r == -ENOSPC) /* gc must be able to make room */
                log_warning("this store was written by an older version, and not all of its programs could be taken over: %s; the next "
                            "command tries again",
                            error_message(r));
        return r == -ENOSPC ? 0 : r;
}
