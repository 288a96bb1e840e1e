#include "core/query/cell_answer.h"

#include "cache/base/json.h"
#include "core/query/programs.h"
#include "core/run/effort.h"
#include "core/run/fact_query.h"

const char *cell_check(const struct cell *cell, const struct fact *f, bool disputed)
{
        if (f && f->wrong)
                return "WRONG";
        if (disputed)
                return "DISPUTED";
        return f && verdict_is_decided(f->verdict) && f->verdict == cell->info->status ? "correct" : "-";
}

void not_started_line(const struct solver *s, uint32_t commit, const struct fact *f, struct buffer *ret)
{
        if (f->not_started)
                buffer_addf(ret, "%s %s: %s; once that is mended, 'solverfs run --again' measures anew", s->recipe->name, commit_label(s, commit).s, f->not_started);
}

int cell_print(struct workspace *w, const struct recipe *recipe, const struct case_info *info, const struct fact *f, enum cell_file file,
               struct buffer *ret)
{
        cleanup_blob struct blob bytes = {0};
        cleanup_free uint32_t *lines = NULL;
        size_t n = 0;
        int r;

        if (f && file == CELL_EFFORT) {
                effort_print(f, recipe, ret);
                return 0;
        }
        if (!f || file != CELL_QUERIES) {
                cell_file_print(f, file, ret);
                return 0;
        }
        r = cases_read_bytes(workspace_cases(w), info, CASE_SIZE_MAX, &bytes);
        if (r < 0)
                return r;
        case_question_lines(info->format, SLICE(bytes.data, bytes.size), &lines, &n);
        fact_print_queries(f, lines, n, ret);
        return 0;
}

json_t *cell_answer_json(const struct cell *cell, const char *commit, const struct fact *f, bool disputed, const struct build_record *build)
{
        const char *check = cell_check(cell, f, disputed);
        cleanup_buffer struct buffer results = {0};
        json_t *j, *run;

        cell_results(f, &results);
        j = json_pack("{s:s, s:s, s:i, s:o, s:s, s:s, s:s, s:s?}", "solver", cell->solver->recipe->name, "commit", commit, "case",
                      (int)cell->info->id, "name", json_printable(cell->info->name), "sha256", digest_text(&cell->info->sha256).s, "result",
                      results.data, "status", verdict_name(cell->info->status), "check",
                      strcmp(check, "-") == 0 ? NULL : check);
        if (!j)
                return NULL;
        if (cell->has_seed)
                json_object_set_new(j, "seed", json_integer((json_int_t)cell->seed));
        if (!f) {
                json_object_set_new(j, "reason", json_printable(build && build->reason ? build->reason : ""));
                return j;
        }
        cell_numbers(f, j);
        json_object_set_new(j, "measured", json_integer((json_int_t)f->measured));
        run = json_loadb(f->json.data ?: "", f->json.size, 0, NULL);
        if (run)
                json_object_set_new(j, "run", run);
        return j;
}
