/* Imports another store. Keys of facts and builds are digests of content, so a row is copied unchanged; only the case's id in run.json differs
 * here. */
#include "core/care/import.h"

#include "cache/base/json.h"
#include "core/build/used.h"
#include "core/query/answers.h"
#include "core/query/noted_cell.h"
#include "core/query/machines.h"
#include "core/workspace/names.h"
#include "core/query/query_internal.h"
#include "core/query/scrambled.h"
#include "core/workspace/view.h"
#include "core/run/host.h"

#define CHUNK      256                /* most rows in a transaction */
#define CHUNK_SIZE ((size_t)16 << 20) /* most bytes of rows in a transaction */

/* A machine on which a program ran. */
struct seen {
        struct digest program; /* first: the list is sorted by digest_compare() before builds are imported */
        char *machine;         /* owned */
};

struct import {
        struct store_source *source;
        struct store_import *report;
        struct seen *seen;
        size_t n_seen;
        struct scrambled_inputs inputs, inputs_there; /* of this store, and of the other one */
};

static void import_done(struct import *i)
{
        for (size_t k = 0; k < i->n_seen; k++)
                free(i->seen[k].machine);
        free(i->seen);
        free(i->inputs.list);
        free(i->inputs_there.list);
}

/* -- cases --------------------------------------------------------------------------------------------------------- */

#define FLAT_MOST 240 /* bytes of a name that are kept in one component */

/* Adds the case under another name, derived from its bytes, so that the next import gives the same name. It is in the same folder; or in none, if the
 * folder's name is that of a case here, or the name would be too long. */
static int add_renamed(const struct import *i, const struct case_info *info, int fd, uint32_t *ret_id)
{
        const struct digest_text sha = digest_text(&info->sha256);
        cleanup_free char *beside = format_string("%s~%.8s", info->name, sha.s), *flat = format_string("%.*s~%.8s", FLAT_MOST, info->name, sha.s);
        cleanup_free char *shown = printable(info->name), *given = NULL;
        const char *name = beside;
        bool is_new;
        int r = cases_add(workspace_cases(i->source->here), name, fd, ret_id, &is_new);

        if (r == -EEXIST || r == -EINVAL) {
                for (char *slash = flat; (slash = strchr(slash, '/'));)
                        *slash = '_';
                name = flat;
                r = lseek(fd, 0, SEEK_SET) < 0 ? -errno : cases_add(workspace_cases(i->source->here), name, fd, ret_id, &is_new);
        }
        given = printable(name);
        if (r == 0)
                source_say(i->source, "case %u there, %s, has other bytes than the case of this name here: it is case %u, %s", info->id, shown, *ret_id,
                           given);
        return r;
}

/* If only their case has an expected answer, ours gets it; a contradiction is reported. */
static int take_status(const struct import *i, const struct case_info *info, uint32_t id)
{
        cleanup(case_info_unrefp) struct case_info *ours = NULL;
        int r = cases_get(workspace_cases(i->source->here), id, &ours);

        if (r < 0 || info->status == VERDICT_UNKNOWN)
                return r;
        if (ours->status != info->status)
                r = ours->status == VERDICT_UNKNOWN ? cases_set_status(workspace_cases(i->source->here), id, info->status) : -EEXIST;
        if (r == -EEXIST)
                source_say(i->source, "case %u is %s here, and %s there, where it is case %u: here it stays as it is", id,
                           verdict_name(ours->status), verdict_name(info->status), info->id);
        if (r >= 0)
                r = answers_look_again(i->source->here, id); /* also of a status that is there: the import that set it may have been killed */
        if (r == -ENODATA)
                source_say(i->source, "not all answers to case %u are judged by its status: %s", id, error_message(r));
        return r == -ENODATA || r == -EEXIST || r == -EINVAL ? 0 : r;
}

/* Goes on without bytes that cannot be read there. */
static int leave_out(const struct import *i, const char *what, int r)
{
        if (r != -EILSEQ && r != -EIO)
                return r;
        source_say(i->source, "%s there is left out: %s", what, error_message(r));
        i->report->damaged++;
        return 0;
}

static int take_case(const struct import *i, uint32_t theirs)
{
        cleanup(case_info_unrefp) struct case_info *info = NULL, *ours = NULL;
        cleanup_close int fd = -1;
        uint32_t id = 0;
        bool is_new;
        int r = cases_get(workspace_cases(i->source->there), theirs, &info);

        if (r < 0)
                return r;
        if (cases_find_digest(workspace_cases(i->source->here), &info->sha256, &ours) == 0 && !ours->removed) {
                i->report->known_cases++;
                return take_status(i, info, ours->id);
        }
        r = cases_open_bytes(workspace_cases(i->source->there), info, &fd, NULL);
        if (r < 0)
                return leave_out(i, "a case", r);
        r = cases_add(workspace_cases(i->source->here), info->name, fd, &id, &is_new);
        if (r == -EEXIST)
                r = add_renamed(i, info, fd, &id);
        if (r < 0)
                return r;
        i->report->cases++;
        return take_status(i, info, id);
}

static int take_cases(const struct import *i)
{
        cleanup_free uint32_t *ids = NULL;
        size_t n = 0;
        int r = cases_list(workspace_cases(i->source->there), &ids, &n);

        for (size_t k = 0; k < n && r == 0; k++)
                r = progress_step(i->source->progress, "import cases", k, n) ?: take_case(i, ids[k]);
        return r;
}

/* Imports a scrambled input of a case that is here. Its results come with all others. */
static int take_scrambled_input(const struct import *i, const struct scrambled_input *s)
{
        cleanup(case_info_unrefp) struct case_info *of = NULL, *theirs = NULL, *ours = NULL;
        cleanup_blob struct blob text = {0};
        int r = cases_find_digest(workspace_cases(i->source->here), &s->of, &of);

        if (r == 0 && scrambled_find(i->source->here, of, s->seed, &ours) == 0)
                return 0;
        if (r == 0)
                r = cases_find_digest(workspace_cases(i->source->there), &s->sha256, &theirs);
        if (r == -ENOENT)
                return 0;
        if (r < 0)
                return r;
        r = cases_read_bytes(workspace_cases(i->source->there), theirs, CASE_SIZE_MAX, &text);
        return r < 0 ? leave_out(i, "a scrambled input", r) : scrambled_keep(i->source->here, of, s->seed, SLICE(text.data, text.size), &ours);
}

/* Notes, for listings, that something was measured under this setting. */
static int take_setting(const struct import *i, struct view v)
{
        cleanup(solver_unrefp) struct solver *theirs = NULL, *ours = NULL;
        char name[VIEW_NAME_SIZE];
        uint32_t number;
        int r = workspace_solver_by_number(i->source->there, v.solver, &theirs)
            ?: workspace_solver(i->source->here, theirs->recipe->name, &ours);

        if (r < 0)
                return r == -ENOENT ? 0 : r;
        v.solver = ours->number;
        view_print(&v, name);
        return names_intern(workspace_store(i->source->here), NAMES_SETTING, name, &number);
}

static int take_settings(const struct import *i)
{
        int r = 0;

        for (uint32_t n = 0; r == 0; n++) {
                cleanup_free char *name = NULL;
                struct view v = {0};

                r = names_name(workspace_store(i->source->there), NAMES_SETTING, n, &name);
                if (r == 0 && view_parse(name, &v) && v.setting == SETTING_SCRAMBLED)
                        r = take_setting(i, v);
        }
        return r == -ENOENT ? 0 : r;
}

static int take_scrambled(const struct import *i)
{
        cleanup_free struct scrambled_input *list = NULL;
        size_t n = 0;
        int r = scrambled_list(i->source->there, NULL, &list, &n);

        for (size_t k = 0; k < n && r == 0; k++)
                r = progress_step(i->source->progress, "import scrambled inputs", k, n)
                    ?: take_scrambled_input(i, &list[k]);
        return r < 0 || n == 0 ? r : take_settings(i);
}

/* -- sets ---------------------------------------------------------------------------------------------------------- */

/* Our ids of a set's cases that are listed there, in order. */
static int translate_set(const struct import *i, const struct case_set *theirs, uint32_t **ret, size_t *ret_n)
{
        cleanup_free uint32_t *ids = allocate(theirs->n + 1, sizeof(*ids));
        size_t n = 0;
        int r = 0;

        for (size_t k = 0; k < theirs->n && r == 0; k++) {
                cleanup(case_info_unrefp) struct case_info *info = NULL, *ours = NULL;

                r = cases_get(workspace_cases(i->source->there), theirs->ids[k], &info)
                    ?: cases_find_same(workspace_cases(i->source->here), info, &ours);
                if (r == 0 && case_is_there(ours))
                        ids[n++] = ours->id;
                if (r == -ENOENT) /* the case was removed there */
                        r = 0;
        }
        if (r < 0)
                return r;
        sort_list(ids, n, sizeof(*ids), compare_u32);
        *ret = steal_pointer(ids);
        *ret_n = n;
        return 0;
}

/* True if all cases of our set are among these. */
static bool set_holds(const uint32_t *ids, size_t n, const struct case_set *ours)
{
        for (size_t k = 0; k < ours->n; k++)
                if (!find_in_list(&ours->ids[k], ids, n, sizeof(*ids), compare_u32))
                        return false;
        return true;
}

static int take_set(const struct import *i, const char *name)
{
        cleanup(case_set_unrefp) struct case_set *theirs = NULL, *ours = NULL;
        cleanup_free uint32_t *ids = NULL;
        size_t n = 0, added = 0;
        int r = sets_get(workspace_sets(i->source->there), name, &theirs) ?: translate_set(i, theirs, &ids, &n);

        if (r < 0)
                return r;
        r = sets_get(workspace_sets(i->source->here), name, &ours);
        if (r < 0 && r != -ENOENT)
                return r;
        if (ours && !set_holds(ids, n, ours)) {
                source_say(i->source, "the set %s has other cases here than there: here it stays as it is", name);
                i->report->known_sets++;
                return 0;
        }
        r = ours && ours->n == n ? 0 : sets_add(workspace_sets(i->source->here), name, ids, n, &added);
        *(ours && ours->n == n ? &i->report->known_sets : &i->report->sets) += r == 0;
        return r;
}

static int take_sets(const struct import *i)
{
        char **names = NULL;
        size_t n = 0;
        int r = sets_names(workspace_sets(i->source->there), &names, &n);

        for (size_t k = 0; k < n && r == 0; k++)
                r = take_set(i, names[k]);
        strings_free(names);
        return r;
}

/* -- rows of a table, some at a time ----------------------------------------------------------------------------------- */

struct row {
        struct buffer key, value;
        /* of a fact: */
        struct cell cell; /* owns refs; solver NULL: not in this store */
        git_oid commit;
        struct fact *fact;
        char *machine; /* owned; NULL: this one */
        struct digest source;
        /* of a build: */
        struct build_record *record;
        struct blob used; /* the files it used; empty: unknown, or none of our solvers' builds could use them all */
};

struct chunk {
        struct import *import;
        enum table table;
        struct row *list;
        size_t n, bytes;
        struct buffer from; /* where the next one begins */
        struct store_import counted;
};

static void chunk_done(struct chunk *c)
{
        for (size_t k = 0; k < c->n; k++) {
                struct row *row = &c->list[k];

                buffer_done(&row->key);
                buffer_done(&row->value);
                solver_unref(row->cell.solver);
                case_info_unref(row->cell.info);
                fact_unref(row->fact);
                build_record_unref(row->record);
                blob_done(&row->used);
                free(row->machine);
        }
        free(c->list);
        buffer_done(&c->from);
}

/* 1: the next chunk begins with this row. */
static int add_row(struct chunk *c, struct slice key, struct slice value)
{
        struct row *row;

        buffer_done(&c->from);
        buffer_add(&c->from, key.data, key.size);
        if (c->n == CHUNK || c->bytes > CHUNK_SIZE)
                return 1;
        row = list_add(c->list, c->n, (struct row){0});
        buffer_add(&row->key, key.data, key.size);
        buffer_add(&row->value, value.data, value.size);
        c->bytes += value.size;
        return buffer_error(&row->value);
}

/* Prepares each row, then puts a chunk of them in one transaction. A signal ends it between two chunks. */
static int take_table(struct import *i, enum table table, const char *what, int (*prepare)(struct import *i, struct row *row),
                      store_update_fn put)
{
        cleanup_buffer struct buffer from = {0};
        uint64_t done = 0;
        int more = 1; /* 1: there are more rows at `from` */

        while (more == 1) {
                cleanup(chunk_done) struct chunk c = {.import = i, .table = table, .counted = *i->report};
                cleanup_walk struct store_walk w = {.store = workspace_store(i->source->there), .table = table, .from = SLICE(from.data, from.size)};
                int r = progress_step(i->source->progress, what, done, 0);

                while (r == 0 && (r = store_walk(&w)) > 0)
                        r = add_row(&c, w.key, w.value);
                more = r;
                store_walk_done(&w);
                for (size_t k = 0; k < c.n && r >= 0; k++)
                        r = prepare(i, &c.list[k]);
                if (r >= 0 && c.n > 0)
                        r = store_update(workspace_store(i->source->here), put, &c);
                if (r < 0)
                        return r;
                done += c.n;
                buffer_done(&from);
                from = c.from;
                c.from = (struct buffer){0};
        }
        return 0;
}

/* -- facts --------------------------------------------------------------------------------------------------------- */

/* Notes that the row's program ran on the machine. */
static void see_program(struct import *i, const char *machine, const struct row *row)
{
        struct digest program;

        memcpy(program.bytes, row->key.data, DIGEST_SIZE);
        for (size_t k = i->n_seen; k > 0; k--) /* rows come by program */
                if (digest_equal(&i->seen[k - 1].program, &program) && strcmp(i->seen[k - 1].machine, machine) == 0)
                        return;
                else if (i->n_seen - k > 8)
                        break;
        list_add(i->seen, i->n_seen, (struct seen){program, copy_string(machine)});
}

/* Finds this store's cell from run.json. */
static int find_cell(struct import *i, struct row *row, const json_t *j)
{
        const json_t *seed = json_object_get(j, "seed");
        const struct recipe_limits *l = &row->fact->limits, *own;
        struct digest sha256;
        int r = workspace_solver(i->source->here, json_text(j, "solver", ""), &row->cell.solver);

        if (r == 0)
                r = oid_parse(json_text(j, "commit", ""), &row->commit) == 0 ? 0 : -ENOENT;
        if (r == 0)
                r = history_number(row->cell.solver->history, &row->commit, &row->cell.commit)
                    ?: machine_source_digest(row->cell.solver, row->cell.commit, &row->source);
        if (r < 0) {
                row->cell.solver = solver_unref(row->cell.solver);
                return r == -ENOENT ? source_note_missing(i->source, json_text(j, "solver", "")) : r;
        }
        memcpy(sha256.bytes, row->key.data + DIGEST_SIZE, DIGEST_SIZE);
        r = cases_find_digest(workspace_cases(i->source->here), &sha256, &row->cell.info);
        if (r == 0 && row->cell.info->derived)
                r = scrambled_take_status(i->source->here, &i->inputs, &row->cell.info);
        row->cell.has_seed = json_is_integer(seed);
        row->cell.seed = (uint64_t)json_integer_value(seed);
        own = &row->cell.solver->recipe->limits; /* the opposite of cell_limits() */
        if (l->wall_ns == CPU_PATIENCE * l->cpu_ns && (l->wall_ns != own->wall_ns || l->cpu_ns != own->cpu_ns))
                row->cell.cpu_ns = l->cpu_ns;
        else
                row->cell.wall_ns = l->wall_ns == own->wall_ns ? 0 : l->wall_ns;
        return r == -ENOENT ? 0 : r;
}

/* The case's status here decides whether an answer is wrong: one that was set there may be another, or have been taken away since. A judgement by the
 * same status stays, as another sample may be the wrong one. */
static int judge_here(struct import *i, struct row *row)
{
        cleanup(case_info_unrefp) struct case_info *theirs = NULL;
        const struct case_info *ours = row->cell.info;

        if (!ours || !row->fact->wrong || answers_contradict(row->fact, ours))
                return 0;
        if (ours->status != VERDICT_UNKNOWN && cases_find_digest(workspace_cases(i->source->there), &ours->sha256, &theirs) == 0 &&
            (!theirs->derived || scrambled_take_status(i->source->there, &i->inputs_there, &theirs) == 0) && theirs->status == ours->status &&
            fact_moment(row->fact) > theirs->status_set)
                return 0;
        row->fact->wrong = false;
        buffer_done(&row->value);
        return fact_encode(row->fact, &row->value);
}

/* Replaces the case's id in run.json by ours. */
static int renumber(struct row *row, json_t *j)
{
        json_t *info = json_object_get(j, "case");
        char *text;

        if (!row->cell.info || json_integer_value(json_object_get(info, "id")) == row->cell.info->id)
                return 0;
        json_object_set_new(info, "id", json_integer(row->cell.info->id));
        text = json_dumps(j, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
        blob_done(&row->fact->json);
        row->fact->json = (struct blob){.data = text, .size = strlen(text), .owned = text};
        buffer_done(&row->value);
        return fact_encode(row->fact, &row->value);
}

static int prepare_fact(struct import *i, struct row *row)
{
        const char *machine;
        json_t *j;
        int r;

        if (row->key.size < RUN_KEY_SIZE || fact_decode(SLICE(row->value.data, row->value.size), FACT_WHOLE, &row->fact) < 0)
                return 0;
        j = json_loadb(row->fact->json.data ? row->fact->json.data : "", row->fact->json.size, 0, NULL);
        machine = json_text(j, "machine", "");
        r = find_cell(i, row, j);
        if (r == 0 && *machine && strcmp(machine, host_machine()) != 0) {
                row->cell.machine = row->machine = copy_string(machine);
                see_program(i, machine, row);
        }
        if (r == 0 && row->cell.solver)
                r = judge_here(i, row) ?: renumber(row, j);
        json_decref(j);
        return r;
}

/* True if the row before noted the same. Rows of a program are adjacent, and usually of one machine and one commit. */
static bool is_noted_before(const struct chunk *c, size_t k)
{
        const struct row *a = &c->list[k], *b = k > 0 ? a - 1 : NULL;

        return b && b->cell.solver && b->machine && strcmp(a->machine, b->machine) == 0 && digest_equal(&a->source, &b->source) &&
               memcmp(a->key.data, b->key.data, DIGEST_SIZE) == 0;
}

static int put_facts(void *user, struct store_txn *t)
{
        struct chunk *c = user;
        struct store_import *report = c->import->report;
        int r = 0;

        *report = c->counted; /* the transaction may run twice */
        for (size_t k = 0; k < c->n && r == 0; k++) {
                struct row *row = &c->list[k];
                struct slice key = SLICE(row->key.data, row->key.size);

                if (!row->cell.solver) {
                        report->absent++;
                        continue;
                }
                if (row->machine && !is_noted_before(c, k))
                        r = machine_note(t, row->machine, &row->source, (const struct digest *)row->key.data);
                if (r == 0 && store_has(t, c->table, key)) {
                        report->known_facts++;
                        continue;
                }
                report->facts++;
                if (r == 0)
                        r = store_put(t, c->table, key, SLICE(row->value.data, row->value.size));
                if (r == 0 && c->table == TABLE_FACTS && row->cell.info)
                        r = fact_note(t, &(struct noted_fact){.cell = &row->cell, .commit = row->commit, .key = key, .fact = row->fact});
        }
        return r;
}

/* -- builds -------------------------------------------------------------------------------------------------------- */

static int put_builds(void *user, struct store_txn *t)
{
        struct chunk *c = user;
        struct store_import *report = c->import->report;
        int r = 0;

        *report = c->counted;
        for (size_t k = 0; k < c->n && r == 0; k++) {
                struct row *row = &c->list[k];
                struct slice key = SLICE(row->key.data, row->key.size);
                struct digest used = {0};

                if (!row->record || store_has(t, TABLE_BUILDS, key)) {
                        report->known_builds += row->record != NULL;
                        continue;
                }
                report->builds++;
                r = store_put(t, TABLE_BUILDS, key, SLICE(row->value.data, row->value.size));
                if (r == 0 && row->used.size > 0)
                        r = build_used_put(t, SLICE(row->used.data, row->used.size), &used);
                if (r == 0)
                        r = build_program_put(t, (const struct digest *)row->key.data, row->record, &used);
        }
        return r;
}

/* The first machine on which the program ran; NULL: none. */
static const struct seen *first_seen(const struct import *i, const struct digest *program)
{
        const struct seen *s = find_in_list(program, i->seen, i->n_seen, sizeof(*s), digest_compare);

        while (s && s > i->seen && digest_equal(&s[-1].program, program))
                s--;
        return s;
}

/* A result names one commit of its program. Other commits whose builds there made the same program share it. */
static int note_builder(struct import *i, struct solver *s, const struct build_record *record)
{
        const struct digest *program = build_record_program(record);
        const struct seen *seen;
        struct store_update u = {.store = workspace_store(i->source->here)};
        struct digest source;
        uint32_t commit;

        u.r = history_number(s->history, &record->commit, &commit);
        if (u.r == 0)
                u.r = machine_source_digest(s, commit, &source);
        while (store_update_begins(&u))
                for (seen = first_seen(i, program); u.r == 0 && seen < i->seen + i->n_seen && digest_equal(&seen->program, program); seen++)
                        u.r = machine_note(u.txn, seen->machine, &source, program);
        return u.r == -ENOENT ? 0 : u.r;
}

/* True if the recipe, or one of its eras, lets a build see all files on the list. */
static bool is_bound(const struct recipe *r, struct slice list)
{
        bool is = used_list_is_bound(list, r->dependencies);

        for (size_t k = 0; !is && k < r->n_eras; k++)
                is = used_list_is_bound(list, r->eras[k]->dependencies);
        return is;
}

/* The list's files are opened here later, so it may name only what one of our recipes lets a build see. */
static void find_used(const struct import *i, const struct solver_list *l, struct row *row)
{
        size_t k = 0;

        if (build_used_find(i->source->there, (const struct digest *)row->key.data, &row->used) < 0)
                return;
        while (k < l->n && !is_bound(l->list[k]->recipe, SLICE(row->used.data, row->used.size)))
                k++;
        if (k == l->n)
                blob_done(&row->used);
}

/* Builds are imported after results: their programs are noted for the machines of the results. */
static int prepare_build(struct import *i, struct row *row)
{
        cleanup(solver_list_unrefp) struct solver_list *l = NULL;
        const struct digest *program;
        int r;

        if (row->key.size != DIGEST_SIZE)
                return 0;
        r = workspace_solvers(i->source->here, &l);
        if (r == 0)
                find_used(i, l, row);
        build_record_decode(SLICE(row->value.data, row->value.size), WITHOUT_LOG, &row->record);
        program = row->record ? build_record_program(row->record) : NULL;
        if (!program || !first_seen(i, program))
                return r;
        for (size_t k = 0; r == 0 && k < l->n; k++)
                r = note_builder(i, l->list[k], row->record);
        return r;
}

/* -- the store ----------------------------------------------------------------------------------------------------- */

int import_cases(struct store_source *source, struct store_import *ret)
{
        const struct import i = {.source = source, .report = ret};

        return take_cases(&i) ?: take_scrambled(&i) ?: take_sets(&i);
}

int import_results(struct store_source *source, struct store_import *ret)
{
        cleanup(import_done) struct import i = {.source = source, .report = ret};
        int r = take_table(&i, TABLE_FACTS, "import results", prepare_fact, put_facts)
            ?: take_table(&i, TABLE_SAMPLES, "import samples", prepare_fact, put_facts);

        sort_list(i.seen, i.n_seen, sizeof(*i.seen), digest_compare);
        return r ?: take_table(&i, TABLE_BUILDS, "import builds", prepare_build, put_builds);
}
