#include "core/run/effort.h"

#include <errno.h>
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

void effort_read(struct effort *e, const struct execute_result *run, struct effort_values *ret)
{
        ret->n = e->n;
        ret->list = allocate(e->n, sizeof(*ret->list));
        for (size_t i = 0; i < e->n; i++) {
                struct pattern *p = e->list[i].pattern;
                struct slice found;

                ret->list[i].label = e->list[i].label;
                if (pattern_last(p, SLICE(run->err.data, run->err.size), &found) ||
                    pattern_last(p, SLICE(run->out.data, run->out.size), &found))
                        read_number(found, &ret->list[i]);
        }
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
