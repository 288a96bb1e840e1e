/* The bytes in which the programs of two builds differ. */
#include "core/build/build.h"

#define AROUND 24 /* bytes of text shown on either side of the first difference */

static int read_program(struct programs *programs, const struct digest *id, struct blob *ret)
{
        cleanup_close int fd = -1;
        int r = programs_get(programs, id, &fd, NULL);

        return r < 0 ? r : read_fd(fd, SIZE_MAX >> 1, ret);
}

/* Adds the text around a place, if it is text. */
static void add_text(struct buffer *to, const struct blob *m, size_t at)
{
        const char *bytes = m->data;
        size_t begin = at, end = at;

        while (begin > 0 && at - begin < AROUND && bytes[begin - 1] >= ' ' && bytes[begin - 1] < 0x7f)
                begin--;
        while (end < m->size && end - at < AROUND && bytes[end] >= ' ' && bytes[end] < 0x7f)
                end++;
        buffer_addf(to, "\"%.*s\"", (int)(end - begin), bytes + begin);
}

static void describe(struct buffer *to, const char *name, const struct blob *a, const struct blob *b)
{
        const char *x = a->data, *y = b->data;
        size_t common = MIN(a->size, b->size), differ = 0, first = common;

        for (size_t i = common; i-- > 0;)
                if (x[i] != y[i])
                        differ++, first = i;
        buffer_addf(to, "output %s", name);
        if (a->size != b->size)
                buffer_addf(to, " has %zu bytes instead of %zu;", b->size, a->size);
        buffer_addf(to, " differs in %zu of %zu bytes", differ, common);
        if (differ == 0)
                return;
        buffer_addf(to, ", first at 0x%zx: ", first);
        add_text(to, a, first);
        buffer_adds(to, " and ");
        add_text(to, b, first);
}

static int compare_output(struct programs *programs, const struct build_output *a, const struct build_output *b, struct buffer *to)
{
        cleanup_blob struct blob x = {0}, y = {0};
        int r;

        if (to->size > 0)
                buffer_adds(to, "; ");
        r = read_program(programs, &a->id, &x);
        if (r == -ENOENT) {
                buffer_addf(to, "output %s differs from one that is no longer in the store", b->name);
                return 0;
        }
        if (r == 0)
                r = read_program(programs, &b->id, &y);
        if (r == 0)
                describe(to, b->name, &x, &y);
        return r;
}

int build_differences(struct programs *programs, const struct build_record *a, const struct build_record *b, char **ret)
{
        cleanup_buffer struct buffer text = {0};
        int r = 0;

        *ret = NULL;
        for (size_t i = 0; r == 0 && i < MIN(a->n_outputs, b->n_outputs); i++) {
                const struct build_output *x = &a->outputs[i], *y = &b->outputs[i];

                if (!digest_equal(&x->id, &y->id))
                        r = compare_output(programs, x, y, &text);
                if (x->executable != y->executable)
                        buffer_addf(&text, "%soutput %s is executable in one only", text.size > 0 ? "; " : "", y->name);
        }
        if (r == 0 && text.size > 0)
                *ret = copy_prefix(text.data, text.size);
        return r;
}
