#include "core/run/effort.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>

#include "core/recipe/pattern.h"

struct effort_pattern {
        struct pattern *pattern;
        char label[64];
};

struct effort {
        struct effort_pattern *list;
        size_t n;
};

/* The label of a pattern: the longest word before its group ("rlimit-count" of ":rlimit-count +([0-9]+)"), else the pattern. */
static void label_of(const char *pattern, char ret[64])
{
        const char *word = pattern, *at = pattern;
        size_t longest = 0;

        while (*at && *at != '(') {
                size_t n = strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-");

                if (n > longest && n < 64) {
                        longest = n;
                        word = at;
                }
                at += MAX(n, (size_t)1);
        }
        if (longest > 0)
                snprintf(ret, 64, "%.*s", (int)longest, word);
        else
                snprintf(ret, 64, "%.63s", pattern);
}

struct effort *effort_new(const struct recipe *recipe)
{
        struct effort *e = allocate(1, sizeof(*e));

        e->list = allocate(strings_count(recipe->effort), sizeof(*e->list));
        for (char **text = recipe->effort; text && *text; text++) {
                struct effort_pattern *p = &e->list[e->n];

                if (pattern_new(*text, &p->pattern) < 0)
                        continue; /* recipe_read() has refused the pattern */
                label_of(*text, p->label);
                for (size_t i = 0; i < e->n; i++)
                        if (strcmp(e->list[i].label, p->label) == 0)
                                snprintf(p->label, sizeof(p->label), "%.63s", *text);
                e->n++;
        }
        return e;
}

void effort_free(struct effort *e)
{
        for (size_t i = 0; e && i < e->n; i++)
                pattern_free(e->list[i].pattern);
        if (e)
                free(e->list);
        free(e);
}

static void read_number(struct slice s, struct effort_value *v)
{
        char text[64], *end;

        if (s.size == 0 || s.size >= sizeof(text))
                return;
        memcpy(text, s.data, s.size);
        text[s.size] = '\0';
        errno = 0;
        v->integer = strtoll(text, &end, 10);
        v->is_integer = *end == '\0' && errno == 0;
        v->real = v->is_integer ? (double)v->integer : strtod(text, &end);
        v->found = *end == '\0' && isfinite(v->real);
}

static void read_value(const struct effort_pattern *p, const struct blob *out, const struct blob *err, struct effort_value *ret)
{
        struct slice found;

        ret->label = p->label;
        if (pattern_last(p->pattern, SLICE(err->data, err->size), &found) || pattern_last(p->pattern, SLICE(out->data, out->size), &found))
                read_number(found, ret);
}

void effort_read(struct effort *e, const struct execute_result *run, struct effort_values *ret)
{
        ret->n = e->n;
        ret->list = allocate(e->n, sizeof(*ret->list));
        for (size_t i = 0; i < e->n; i++)
                read_value(&e->list[i], &run->out, &run->err, &ret->list[i]);
}

void effort_values_done(struct effort_values *v)
{
        free(v->list);
        *v = (struct effort_values){0};
}

json_t *effort_json(const struct effort_values *v)
{
        json_t *o = json_object();

        for (size_t i = 0; i < v->n; i++) {
                const struct effort_value *e = &v->list[i];

                json_object_set_new(o, e->label, !e->found ? json_null() : e->is_integer ? json_integer(e->integer) : json_real(e->real));
        }
        return o;
}

static void add_number(const struct effort_value *v, struct buffer *ret)
{
        if (v->is_integer)
                buffer_addf(ret, "%" PRId64, v->integer);
        else if (v->found)
                buffer_addf(ret, "%.15g", v->real);
        else
                buffer_adds(ret, "-");
}

void effort_print(const struct fact *f, const struct recipe *recipe, struct buffer *ret)
{
        struct effort *e = effort_new(recipe);
        const size_t before = ret->size;

        for (size_t i = 0; i < e->n; i++) {
                struct effort_value v = {0};

                read_value(&e->list[i], &f->out, &f->err, &v);
                if (!v.found)
                        continue;
                add_number(&v, ret);
                buffer_addf(ret, "\t%s\n", v.label);
        }
        if (ret->size == before)
                buffer_adds(ret, "-\n");
        effort_free(e);
}

/* Without the label. */
static struct effort_value first_value(const struct fact *f, const struct recipe *recipe)
{
        struct effort_value v = {0};
        struct effort *e;

        if (!f || !recipe->effort[0])
                return v;
        e = effort_new(recipe);
        if (e->n > 0)
                read_value(&e->list[0], &f->out, &f->err, &v);
        v.label = NULL;
        effort_free(e);
        return v;
}

void effort_print_first(const struct fact *f, const struct recipe *recipe, struct buffer *ret)
{
        struct effort_value v = first_value(f, recipe);

        add_number(&v, ret);
}

double fact_effort(const struct fact *f, const struct recipe *recipe)
{
        struct effort_value v = first_value(f, recipe);

        return v.found ? v.real : NAN;
}
