/* In which bytes the programs of two builds differ. */
#include <sys/mman.h>
#include <sys/stat.h>

#include "core/build/build.h"

#define AROUND 24 /* bytes of text shown on either side of the first difference */

struct mapped {
        int fd;
        const char *bytes; /* NULL when empty */
        size_t size;
};

static void mapped_done(struct mapped *m)
{
        if (m->bytes)
                munmap((void *)m->bytes, m->size);
        closep(&m->fd);
}
#define cleanup_mapped cleanup(mapped_done)

static int map_program(struct programs *programs, const struct digest *id, struct mapped *ret)
{
        struct stat st;
        void *bytes;
        int r = programs_get(programs, id, &ret->fd, NULL);

        if (r < 0)
                return r;
        if (fstat(ret->fd, &st) < 0)
                return -errno;
        ret->size = (size_t)st.st_size;
        if (ret->size == 0)
                return 0;
        bytes = mmap(NULL, ret->size, PROT_READ, MAP_PRIVATE, ret->fd, 0);
        if (bytes == MAP_FAILED)
                return -errno;
        ret->bytes = bytes;
        return 0;
}

/* The text around a place, where it is text. */
static void add_text(struct buffer *to, const struct mapped *m, size_t at)
{
        size_t begin = at, end = at;

        while (begin > 0 && at - begin < AROUND && m->bytes[begin - 1] >= ' ' && m->bytes[begin - 1] < 0x7f)
                begin--;
        while (end < m->size && end - at < AROUND && m->bytes[end] >= ' ' && m->bytes[end] < 0x7f)
                end++;
        buffer_addf(to, "\"%.*s\"", (int)(end - begin), m->bytes + begin);
}

static void describe(struct buffer *to, const char *name, const struct mapped *a, const struct mapped *b)
{
        size_t common = MIN(a->size, b->size), differ = 0, first = common;

        for (size_t i = common; i-- > 0;)
                if (a->bytes[i] != b->bytes[i])
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
        cleanup_mapped struct mapped x = {.fd = -1}, y = {.fd = -1};
        int r;

        if (to->size > 0)
                buffer_adds(to, "; ");
        r = map_program(programs, &a->id, &x);
        if (r == -ENOENT) {
                buffer_addf(to, "output %s differs from one that is no longer in the store", b->name);
                return 0;
        }
        if (r == 0)
                r = map_program(programs, &b->id, &y);
        if (r == 0)
                describe(to, b->name, &x, &y);
        return r;
}

int build_differences(struct programs *programs, const struct build_record *a, const struct build_record *b, char **ret)
{
        cleanup_buffer struct buffer text = {0};
        int r = 0;

        *ret = NULL;
        for (size_t i = 0; r == 0 && i < b->n_outputs && i < a->n_outputs; i++)
                if (!digest_equal(&a->outputs[i].id, &b->outputs[i].id))
                        r = compare_output(programs, &a->outputs[i], &b->outputs[i], &text);
        for (size_t i = 0; r == 0 && i < b->n_outputs && i < a->n_outputs; i++)
                if (a->outputs[i].executable != b->outputs[i].executable)
                        buffer_addf(&text, "%soutput %s is executable in one only", text.size > 0 ? "; " : "", b->outputs[i].name);
        if (r == 0)
                r = buffer_error(&text);
        if (r == 0 && text.size > 0 && !(*ret = strndup(text.data, text.size)))
                r = -ENOMEM;
        return r;
}
