#include "tests/bench/run_table.h"

#include <math.h>

#define TABLE_MOST ((size_t)1 << 30)

struct reading {
        struct run_table *t;
        const char *name;
        unsigned line;
        char **cells; /* of the line that is being read; pointers into the text */
        size_t n;
        bool has_status;
        /* Of each query. */
        char *answers; /* × arms: 's', 'u', or 0 */
        char *status;  /* likewise */
};

#define refuse(reading, format, ...) errorf(-EINVAL, "%s:%u: " format, (reading)->name, (reading)->line, ##__VA_ARGS__)

static void free_names(char **names, size_t n)
{
        for (size_t i = 0; names && i < n; i++)
                free(names[i]);
        free(names);
}

void run_table_free(struct run_table *t)
{
        if (!t)
                return;
        free_names(t->arm, t->arms);
        free_names(t->feature, t->features);
        free_names(t->query, t->queries);
        free(t->name);
        free(t->values);
        free(t->runs);
        free(t->wrong);
        free(t);
}

static void split(struct reading *r, char *line)
{
        r->n = 0;
        for (char *next = line; next;) {
                list_grow(r->cells, r->n);
                r->cells[r->n++] = strsep(&next, "\t");
        }
}

static int add_name(char ***names, size_t *n, const char *name, size_t size)
{
        list_grow(*names, *n);
        (*names)[(*n)++] = copy_prefix(name, size);
        return 0;
}

/* The length of the name in front of `ending`, 0 when the cell does not end so. */
static size_t stem(const char *cell, const char *ending)
{
        size_t n = strlen(cell), m = strlen(ending);

        return n > m && strcmp(cell + n - m, ending) == 0 ? n - m : 0;
}

static int read_arm(struct reading *r, size_t column, size_t size)
{
        const char *result = r->cells[column], *seconds = column + 1 < r->n ? r->cells[column + 1] : "";

        if (stem(seconds, "_seconds") != size || strncmp(result, seconds, size) != 0)
                return refuse(r, "behind '%s' comes '%s' and not '%.*s_seconds'", result, seconds, (int)size, result);
        for (size_t i = 0; i < r->t->arms; i++)
                if (strlen(r->t->arm[i]) == size && strncmp(r->t->arm[i], result, size) == 0)
                        return refuse(r, "the arm '%.*s' is there twice", (int)size, result);
        return add_name(&r->t->arm, &r->t->arms, result, size);
}

static int read_heading(struct reading *r)
{
        int ret = 0;

        if (strcmp(r->cells[0], "query") != 0)
                return refuse(r, "the heading must begin with 'query', and begins with '%s'", r->cells[0]);
        r->has_status = r->n > 1 && strcmp(r->cells[1], "status") == 0;
        for (size_t i = 1 + r->has_status; i < r->n && ret == 0; i++) {
                size_t size = stem(r->cells[i], "_result");

                if (size > 0)
                        ret = read_arm(r, i++, size);
                else if (r->t->arms > 0)
                        ret = refuse(r, "'%s' stands behind the arms; features come before them", r->cells[i]);
                else
                        ret = add_name(&r->t->feature, &r->t->features, r->cells[i], strlen(r->cells[i]));
        }
        if (ret == 0 && r->t->arms == 0)
                return refuse(r, "no arm: no column ends in '_result'");
        return ret;
}

static bool read_number(const char *cell, double *ret)
{
        char *end;

        *ret = strtod(cell, &end);
        return end != cell && *end == '\0';
}

static int read_ending(struct reading *r, size_t arm, const char *result, const char *seconds, struct attempt *ret)
{
        static const struct {
                const char *name;
                enum ending ending;
        } results[] = {
                {"sat", ENDING_SOLVED},    {"unsat", ENDING_SOLVED}, {"timeout", ENDING_STOPPED}, {"unknown", ENDING_FAILED},
                {"memout", ENDING_FAILED}, {"crash", ENDING_FAILED}, {"error", ENDING_FAILED},    {"unbuildable", ENDING_FAILED},
        };

        if (!read_number(seconds, &ret->seconds) || !isfinite(ret->seconds) || ret->seconds < 0)
                return refuse(r, "'%s' is no number of seconds (%s_seconds)", seconds, r->t->arm[arm]);
        for (size_t i = 0; i < ARRAY_SIZE(results); i++)
                if (strcmp(result, results[i].name) == 0) {
                        ret->ending = results[i].ending;
                        return 0;
                }
        return refuse(
                r, "'%s' is no result (%s_result); known are sat, unsat, unknown, timeout, memout, crash, error and unbuildable",
                result, r->t->arm[arm]);
}

static char answer_of(const char *result)
{
        return strcmp(result, "sat") == 0 ? 's' : strcmp(result, "unsat") == 0 ? 'u' : 0;
}

static int read_row(struct reading *r)
{
        struct run_table *t = r->t;
        const size_t begin = 1 + r->has_status, columns = begin + t->features + 2 * t->arms, q = t->queries;
        bool sat = false, unsat = false;

        if (r->n != columns)
                return refuse(r, "%zu columns, where the heading has %zu", r->n, columns);
        list_grow_sized(&t->values, q, (t->features + 1) * sizeof(*t->values));
        list_grow_sized(&t->runs, q, t->arms * sizeof(*t->runs));
        list_grow_sized(&r->answers, q, t->arms);
        list_grow(r->status, q);
        r->status[q] = r->has_status ? answer_of(r->cells[1]) : 0;
        for (size_t i = 0; i < t->features; i++) {
                double *value = &t->values[q * t->features + i];

                if (!read_number(r->cells[begin + i], value))
                        return refuse(r, "'%s' is no number (%s)", r->cells[begin + i], t->feature[i]);
                if (!isfinite(*value))
                        *value = NAN;
        }
        for (size_t i = 0; i < t->arms; i++) {
                char **cell = &r->cells[begin + t->features + 2 * i];
                int ret = read_ending(r, i, cell[0], cell[1], &t->runs[q * t->arms + i]);

                if (ret < 0)
                        return ret;
                r->answers[q * t->arms + i] = answer_of(cell[0]);
                sat |= r->answers[q * t->arms + i] == 's';
                unsat |= r->answers[q * t->arms + i] == 'u';
        }
        if (sat && unsat && t->alarms++ == 0)
                t->first_alarm = r->line;
        return add_name(&t->query, &t->queries, r->cells[0], strlen(r->cells[0]));
}

static bool is_contradicted(const struct reading *r, size_t query, size_t arm, const bool *is_liar)
{
        const char *answers = &r->answers[query * r->t->arms];

        if (r->status[query])
                return false;
        for (size_t i = 0; i < r->t->arms; i++)
                if (answers[i] && answers[i] != answers[arm] && !is_liar[i])
                        return true;
        return false;
}

/* Versions of one solver are named NAME@REVISION. */
static bool is_same_solver(const char *a, const char *b)
{
        size_t n = strcspn(a, "@");

        return n == strcspn(b, "@") && strncmp(a, b, n) == 0;
}

/* Two arms of different solvers answer against the status; is_liar: those that do not count, or NULL. */
static bool is_doubted(const struct run_table *t, size_t query, const bool *is_liar)
{
        const bool *wrong = &t->wrong[query * t->arms];
        const char *first = NULL;

        for (size_t i = 0; i < t->arms; i++) {
                if (!wrong[i] || (is_liar && is_liar[i]))
                        continue;
                if (first && !is_same_solver(first, t->arm[i]))
                        return true;
                first = t->arm[i];
        }
        return false;
}

static void find_wrong(struct reading *r, bool *is_liar)
{
        struct run_table *t = r->t;

        for (size_t i = 0; i < t->queries * t->arms; i++)
                t->wrong[i] = r->answers[i] && r->status[i / t->arms] && r->answers[i] != r->status[i / t->arms];
        for (size_t i = 0; i < t->queries * t->arms; i++)
                is_liar[i % t->arms] |= t->wrong[i] && !is_doubted(t, i / t->arms, NULL);
}

/* As a portfolio does (answer_judge()). */
static void judge(struct reading *r)
{
        struct run_table *t = r->t;
        cleanup_free bool *is_liar = allocate(t->arms, sizeof(*is_liar));

        t->wrong = allocate(t->queries * t->arms, sizeof(*t->wrong));
        find_wrong(r, is_liar);
        for (size_t q = 0; q < t->queries; q++) {
                bool in_doubt = is_doubted(t, q, is_liar);

                for (size_t a = 0, i = q * t->arms; a < t->arms; a++, i++) {
                        if (r->answers[i] && (in_doubt || t->wrong[i] || is_contradicted(r, q, a, is_liar)))
                                t->runs[i].ending = ENDING_FAILED;
                        t->wrong[i] &= !in_doubt;
                }
        }
}

static int read_lines(struct reading *r, char *text)
{
        for (char *next = text, *line; next && *next;) {
                int ret;

                line = strsep(&next, "\n");
                line[strcspn(line, "\r")] = '\0';
                r->line++;
                split(r, line);
                ret = r->line == 1 ? read_heading(r) : read_row(r);
                if (ret < 0)
                        return ret;
        }
        if (r->line == 0)
                return errorf(-EINVAL, "%s: the table is empty; its first line names the columns", r->name);
        return r->t->queries > 0 ? 0 : errorf(-EINVAL, "%s: the table has a heading and no query", r->name);
}

int run_table_parse(const char *name, struct slice text, struct run_table **ret)
{
        cleanup_run_table struct run_table *t = allocate(1, sizeof(*t));
        cleanup_free char *copy = copy_prefix(text.data, text.size);
        struct reading r = {.t = t, .name = name};
        int result;

        t->name = copy_string(name);
        if (memchr(text.data, '\0', text.size))
                return errorf(-EINVAL, "%s: a NUL byte in it; this is no table of text", name);
        result = read_lines(&r, copy);
        if (result == 0)
                judge(&r);
        free(r.cells);
        free(r.answers);
        free(r.status);
        if (result < 0)
                return result;
        *ret = steal_pointer(t);
        return 0;
}

int run_table_read(const char *path, struct run_table **ret)
{
        cleanup_blob struct blob text = {0};
        int r = read_file(path, TABLE_MOST, &text);

        return r < 0 ? r : run_table_parse(path, SLICE(text.data, text.size), ret);
}

struct attempt run_table_run(const struct run_table *t, size_t query, size_t arm, double seconds)
{
        struct attempt run = t->runs[query * t->arms + arm];

        if (run.seconds > seconds || run.ending == ENDING_STOPPED)
                return (struct attempt){ENDING_STOPPED, seconds};
        return run;
}
