/* The corpus: all usable inputs below a folder, sorted by name. */
#include "core/study/campaign/campaign_internal.h"

#include <fts.h>
#include <sys/stat.h>

#include "cache/base/hash.h"

#define SEED_SIZE_MAX (64u << 20)

static int compare_names(const FTSENT **a, const FTSENT **b)
{
        return strcmp((*a)->fts_name, (*b)->fts_name);
}

/* The format that the file's name tells. False: it tells none, so the file is no input. */
static bool format_of(const char *name, enum format *ret)
{
        *ret = case_format(name, SLICE("", 0)); /* SMT-LIB also if the name says none */
        return *ret == FORMAT_CNF || case_format(name, slice_string("p cnf 1 1\n")) == FORMAT_SMT2;
}

static int read_formula(const struct campaign *c, const char *path, enum format format, struct slice bytes, struct formula *ret)
{
        int r;

        if (c->format != FORMAT_ANY && c->format != format)
                return errorf(-EINVAL, "%s: this campaign is of %s", path, format_notation(c->format));
        if (format == FORMAT_SMT2)
                return script_read(bytes, &(struct script_options){.name = path, .dialect = DIALECT_2_6}, &ret->script);
        r = cnf_parse(bytes, &ret->cnf);
        if (r == 0 && ret->cnf->n_literals == 0)
                r = errorf(-EINVAL, "it has no literal");
        return r < 0 ? errorf(r, "%s: %s", path, error_message(r)) : 0;
}

/* Adds a file, or reports why it cannot be used. Of FORMAT_ANY, the first one decides. */
static int read_seed(struct campaign *c, const char *path, const char *name, enum format format)
{
        struct corpus *to = &c->corpus;
        cleanup_blob struct blob b = {0};
        struct formula formula = {0};
        int r;

        list_grow(to->list, to->n);
        list_grow(to->names, to->n);
        r = read_file(path, SEED_SIZE_MAX, &b) ?: read_formula(c, path, format, SLICE(b.data, b.size), &formula);
        if (r == -ENOMEM)
                return r;
        if (r < 0) {
                campaign_say(c, "left out: %s", error_message(r));
                formula_done(&formula);
                c->status.skipped++;
                return 0;
        }
        c->format = format;
        to->list[to->n] = formula;
        to->hash = to->hash * 31 + hash_quick(b.data, b.size);
        to->names[to->n++] = copy_string(name + strspn(name, "/"));
        return 0;
}

int corpus_read(struct campaign *c)
{
        const char *dir = c->settings->corpus;
        char *const roots[] = {(char *)dir, NULL};
        FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, compare_names);
        enum format format;
        FTSENT *f;
        int r = 0;

        if (!walk)
                return errorf(-errno, "cannot read the corpus %s: %s", dir, strerror(errno));
        while (r == 0 && (f = fts_read(walk))) {
                bool is_link = f->fts_info == FTS_SL && format_of(f->fts_name, &format);
                int error = f->fts_info == FTS_ERR || f->fts_info == FTS_NS || f->fts_info == FTS_DNR ? f->fts_errno : 0;
                struct stat st;

                if (is_link && stat(f->fts_path, &st) < 0)
                        error = errno;
                if (error && f->fts_level == 0) {
                        r = errorf(-error, "cannot read the corpus %s: %s", dir, strerror(error));
                } else if (error) {
                        campaign_say(c, "left out: %s: %s", f->fts_path, strerror(error));
                        c->status.skipped++;
                } else if ((f->fts_info == FTS_F || (is_link && S_ISREG(st.st_mode))) && format_of(f->fts_name, &format)) {
                        r = read_seed(c, f->fts_path, f->fts_path + strlen(dir), format);
                }
        }
        fts_close(walk);
        return r == 0 && c->corpus.n == 0 ? errorf(-ENODATA, "the corpus %s has no input (*.smt2, *.cnf) that can be used", dir) : r;
}

void corpus_done(struct corpus *c)
{
        for (size_t i = 0; i < c->n; i++) {
                formula_done(&c->list[i]);
                free(c->names[i]);
        }
        free(c->list);
        free(c->names);
}
