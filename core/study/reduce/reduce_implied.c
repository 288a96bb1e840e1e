#include "core/study/reduce/reduce_implied.h"

#include <pthread.h>

#include "core/smtlib/print.h"
#include "core/weaken/weaken.h"

struct implied {
        struct weaken *weaken; /* owned */
        struct weaken_step step;
        pthread_mutex_t lock;
        /* under lock */
        struct buffer last; /* the step that was of interest last, as a line */
};

struct applying {
        struct implied *implied;
        int (*fn)(void *user, struct slice implied);
        void *user;
        const char *first; /* the line that was tried first; it is not tried again */
        unsigned n;
};

struct implied *implied_close(struct implied *i)
{
        if (!i)
                return NULL;
        weaken_step_done(&i->step);
        weaken_free(i->weaken);
        buffer_done(&i->last);
        pthread_mutex_destroy(&i->lock);
        free(i);
        return NULL;
}

int implied_open(const char *step, struct implied **ret)
{
        struct implied *i = calloc(1, sizeof(*i));
        int r;

        if (!i)
                return -ENOMEM;
        pthread_mutex_init(&i->lock, NULL);
        r = weaken_new(NULL, 0, &i->weaken);
        if (r == 0)
                r = weaken_step_parse(i->weaken, slice_string(step), &i->step);
        if (r == 0) {
                weaken_step_print(i->weaken, &i->step, &i->last);
                r = buffer_error(&i->last);
        }
        if (r < 0)
                implied_close(i);
        else
                *ret = i;
        return r;
}

static void note_interest(struct implied *i, const struct weaken_step *step)
{
        struct buffer line = {0};

        weaken_step_print(i->weaken, step, &line);
        pthread_mutex_lock(&i->lock);
        buffer_done(&i->last);
        i->last = line;
        pthread_mutex_unlock(&i->lock);
}

/* Takes over the script. */
static int try_script(void *user, struct script *with, const struct weaken_step *step)
{
        struct applying *a = user;
        cleanup_buffer struct buffer text = {0}, line = {0};
        int r = 0;

        weaken_step_print(a->implied->weaken, step, &line);
        if (!a->first || !line.data || strcmp(line.data, a->first) != 0)
                r = script_print(with, NULL, &text);
        script_free(with);
        if (r < 0 || !text.data)
                return r;
        r = a->fn(a->user, SLICE(text.data, text.size));
        if (r > 0)
                note_interest(a->implied, step);
        return r == 0 && ++a->n >= IMPLIED_MOST ? -ERANGE : r;
}

/* 0 where it cannot be applied any more. */
static int try_line(struct applying *a, const struct script *s, const char *line)
{
        cleanup_weaken_step struct weaken_step step = {0};
        struct script *with;
        int r = weaken_step_parse(a->implied->weaken, slice_string(line), &step);

        if (r == 0)
                r = weaken_apply(a->implied->weaken, s, &step, NULL, &with);
        if (r < 0)
                return r == -ENOENT ? 0 : r;
        return try_script(a, with, &step);
}

int implied_each(struct implied *i, struct slice text, int (*fn)(void *user, struct slice implied), void *user)
{
        struct applying a = {.implied = i, .fn = fn, .user = user};
        cleanup_script struct script *s = NULL;
        cleanup_free char *first = NULL;
        struct random random;
        int r = script_read(text, &(struct script_options){.dialect = DIALECT_2_6}, &s);

        if (r < 0)
                return r == -EINVAL ? 0 : r;
        pthread_mutex_lock(&i->lock);
        first = strdup(i->last.data);
        pthread_mutex_unlock(&i->lock);
        if (!first)
                return -ENOMEM;
        r = try_line(&a, s, first);
        if (r != 0)
                return r;
        a.first = first;
        random_seed(&random, i->step.seed);
        r = weaken_each(i->weaken, s, i->step.rule, i->step.direction, &random, NULL, try_script, &a);
        return r == -ERANGE ? 0 : r;
}
