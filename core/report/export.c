/* Documents and their rows; the formats are in the other files. */
#include "core/report/export_internal.h"

#include <ctype.h>
#include <inttypes.h>

static const struct export_kind *const kinds[] = {&export_csv, &export_jsonl, &export_benchexec, &export_asv, &export_hyperfine};

const struct export_kind *export_kind_find(const char *name)
{
        for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
                if (strcmp(name, kinds[i]->name) == 0)
                        return kinds[i];
        return NULL;
}

/* -- words ------------------------------------------------------------------------------------------------------- */

void format_exact(uint64_t ns, char ret[32])
{
        size_t n = (size_t)snprintf(ret, 32, "%" PRIu64 ".%09" PRIu64, ns / NSEC_PER_SEC, ns % NSEC_PER_SEC);

        while (ret[n - 1] == '0' && ret[n - 2] != '.')
                ret[--n] = '\0';
}

void file_word(const char *text, char ret[81])
{
        size_t n = 0;

        for (; text[n] && n < 80; n++) {
                unsigned char c = (unsigned char)text[n];

                ret[n] = c < 0x80 && (isalnum(c) || c == '+' || (n > 0 && (c == '-' || c == '.'))) ? text[n] : '_';
        }
        if (n == 0)
                ret[n++] = '_';
        ret[n] = '\0';
}

static bool has_verdict(const json_t *sample, const char *verdict)
{
        const char *own = json_string_value(json_object_get(sample, "verdict"));

        return !own || strcmp(own, verdict) == 0;
}

size_t row_samples(const struct export_row *row, const char *what, double **ret)
{
        const json_t *samples = json_object_get(row->run, "samples"), *s;
        const char *verdict = row->fact ? verdict_name(row->fact->verdict) : "";
        bool has_quiet = false;
        size_t i, n = 0;

        *ret = allocate(json_array_size(samples), sizeof(**ret));
        json_array_foreach (samples, i, s)
                has_quiet |= has_verdict(s, verdict) && json_is_false(json_object_get(s, "disturbed"));
        json_array_foreach (samples, i, s) {
                const json_t *value = json_object_get(s, what);

                if (json_is_number(value) && has_verdict(s, verdict) && (!has_quiet || json_is_false(json_object_get(s, "disturbed"))))
                        (*ret)[n++] = json_number_value(value);
        }
        return n;
}

void export_json(struct exporter *e, json_t *j)
{
        cleanup_free char *text = json_dumps(j, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));

        json_decref(j);
        buffer_adds(&e->file.pending, text);
}

json_t *export_numbers(const double *list, size_t n, bool are_whole)
{
        json_t *j = json_array();

        for (size_t i = 0; i < n; i++)
                json_array_append_new(j, are_whole ? json_integer((json_int_t)list[i]) : json_real(list[i]));
        return j;
}

/* -- documents --------------------------------------------------------------------------------------------------- */

int export_file(struct exporter *e, const char *name)
{
        const char *folder = e->target.path;
        cleanup_free char *path = format_string("%s%s%s", folder, folder[strlen(folder) - 1] == '/' ? "" : "/", name);
        mode_t mode = e->target.mode | ((e->target.mode & 0444) >> 2); /* who may read the files may enter the folder */
        char *slash = strrchr(path, '/');
        int r;

        *slash = '\0';
        r = make_dirs(path, mode);
        if (r < 0)
                return errorf(r, "cannot make the folder %s: %s", path, strerror(-r));
        *slash = '/';
        return outfile_open(path, e->target.mode, &e->file);
}

/* True if each version has a document of its own. */
static bool is_divided(const struct exporter *e)
{
        return e->target.is_folder && e->kind->suffix;
}

static int open_document(struct exporter *e)
{
        const struct export_version *v = &e->version;
        char solver[81], machine[81], name[PATH_SIZE], seed[32] = "";
        int r = 0;

        if (v->has_seed)
                snprintf(seed, sizeof(seed), "seed%" PRIu64, v->seed);
        if (!e->target.path)
                outfile_stream(e->target.write, e->target.user, &e->file);
        else if (!is_divided(e))
                r = outfile_open(e->target.path, e->target.mode, &e->file);
        else {
                file_word(v->solver, solver);
                file_word(v->machine, machine);
                if (e->kind == &export_asv) /* `asv publish` expects <machine>/<commit>-<environment>.json */
                        snprintf(name, sizeof(name), "%s/%s-%s%s.json", machine, v->commit, solver, seed);
                else
                        snprintf(name, sizeof(name), "%s.%.12s%s%s%s", solver, v->commit, seed[0] ? "." : "", seed, e->kind->suffix);
                r = export_file(e, name);
        }
        e->is_open = r == 0;
        e->is_begun = false;
        e->rows = 0;
        return r;
}

/* Writes what precedes the rows, once. `first` NULL: there are none, and the format has no head. */
static int begin_document(struct exporter *e, const struct export_row *first)
{
        int r = 0;

        if (e->is_begun)
                return 0;
        buffer_adds(&e->file.pending, e->kind->begin ?: "");
        if (e->kind->head)
                r = e->kind->head(e, first);
        e->is_begun = r == 0;
        return r;
}

static int close_document(struct exporter *e)
{
        int r = 0;

        if (e->is_begun || !e->kind->head) { /* a head tells of the first row: without rows there is no document */
                r = begin_document(e, NULL);
                buffer_adds(&e->file.pending, e->kind->foot ?: "");
                if (r == 0)
                        r = outfile_commit(&e->file);
        }
        outfile_done(&e->file);
        e->is_open = false;
        return r;
}

/* -- rows -------------------------------------------------------------------------------------------------------- */

int export_open(const struct export_kind *kind, const struct export_target *target, struct exporter **ret)
{
        cleanup(export_closep) struct exporter *e = NULL;
        int r = 0;

        if (kind->wants_folder && !(target->path && target->is_folder))
                return errorf(-EINVAL, "%s is a folder of several files: name it with -o DIR", kind->name);
        e = allocate(1, sizeof(*e));
        e->kind = kind;
        e->target = *target;
        e->file.fd = -1;
        if (!is_divided(e))
                r = open_document(e);
        if (r == 0)
                *ret = steal_pointer(e);
        return r;
}

int export_version(struct exporter *e, const struct export_version *v)
{
        int r = is_divided(e) && e->is_open ? close_document(e) : 0;

        e->version = *v;
        return r;
}

bool export_wants_run(const struct exporter *e)
{
        return e->kind->reads_run || (e->kind->reads_first_run && !(e->is_open && e->is_begun));
}

int export_row(struct exporter *e, const struct export_row *row)
{
        int r = 0;

        if (e->kind->can_express && !e->kind->can_express(row)) {
                e->left_out++;
                return 0;
        }
        if (!e->is_open)
                r = open_document(e);
        if (r == 0)
                r = begin_document(e, row);
        if (r < 0)
                return r;
        e->kind->row(e, row);
        e->rows++;
        return outfile_flush(&e->file);
}

int export_end(struct exporter *e, uint64_t *ret_left_out)
{
        int r = e->is_open ? close_document(e) : 0;

        if (r == 0 && e->kind->end)
                r = e->kind->end(e);
        *ret_left_out = e->left_out;
        return r;
}

struct exporter *export_close(struct exporter *e)
{
        if (!e)
                return NULL;
        outfile_done(&e->file);
        for (size_t i = 0; i < e->n_cases; i++) {
                free(e->cases[i].name);
                free(e->cases[i].sha256);
        }
        free(e->cases);
        free(e);
        return NULL;
}
