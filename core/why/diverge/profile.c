#include "core/why/diverge/profile.h"

#include <inttypes.h>

#include "core/why/diverge/trail.h"

#define FRAMES      80
#define NEAR        0.8 /* of the largest excess: the callers of a place have nearly its own */
#define LEAST_SHARE 0.1 /* of the second run: the least excess of a place */
#define LEAST_SHOWN 0.02 /* of the second run: the least excess that is shown without a place */
#define LEAST_EXTRA 0.1 /* of the second run: the least extra time for a place */

/* -- reading ------------------------------------------------------------------------------------------------------- */

static int compare_addresses(const void *a, const void *b)
{
        const struct profile_address *x = a, *y = b;

        return ORDER(x->side, y->side) ?: ORDER(x->file, y->file) ?: ORDER(x->offset, y->offset);
}

struct frame {
        unsigned file;
        uint64_t at, target; /* at: an instruction of the function; target: the function it calls, 0: not known */
};
struct sample {
        uint64_t ns;
        struct frame frames[FRAMES];
        size_t n;
};

/* A line "S WEIGHT FRAME...". */
static bool parse_sample(const char *p, struct sample *ret)
{
        int end = 0;

        if (sscanf(p, "S %" SCNu64 "%n", &ret->ns, &end) != 1)
                return false;
        for (ret->n = 0; ret->n < FRAMES; ret->n++) {
                struct frame *f = &ret->frames[ret->n];

                p += end;
                if (sscanf(p, " %u:%" SCNx64 "%n", &f->file, &f->at, &end) != 2)
                        break;
                p += end;
                end = 0;
                f->target = 0;
                sscanf(p, ":%" SCNx64 "%n", &f->target, &end);
                f->at -= ret->n > 0; /* the call, not the instruction after it */
        }
        return ret->n > 0;
}

static void add_address(struct profile *p, unsigned side, unsigned file, uint64_t offset)
{
        list_add(p->addresses, p->n_addresses, (struct profile_address){.side = side, .file = file, .offset = offset});
}

static void read_line(struct profile *p, unsigned side, const char *line)
{
        struct sample s;
        unsigned file;
        int path = 0;

        if (sscanf(line, "M %u %n", &file, &path) == 1 && path > 0) {
                list_add(p->files[side], p->n_files[side], copy_string(line + path));
        } else if (parse_sample(line, &s))
                for (size_t i = 0; i < s.n; i++) {
                        add_address(p, side, s.frames[i].file, s.frames[i].at);
                        if (s.frames[i].target)
                                add_address(p, side, s.frames[i].file, s.frames[i].target);
                }
}

void profile_read(struct profile *p, const struct slice text[2])
{
        struct slice rest[2] = {text[0], text[1]};
        size_t n = 0;

        for (unsigned side = 0; side < 2; side++)
                for (char *line; (line = trail_take_line(&rest[side])); free(line))
                        read_line(p, side, line);
        sort_list(p->addresses, p->n_addresses, sizeof(*p->addresses), compare_addresses);
        for (size_t i = 0; i < p->n_addresses; i++)
                if (n == 0 || compare_addresses(&p->addresses[n - 1], &p->addresses[i]) != 0)
                        p->addresses[n++] = p->addresses[i];
        p->n_addresses = n;
}

void profile_add_code(struct profile *p, struct profile_address *a, const char *raw_name, const char *raw_file)
{
        cleanup_free char *name = printable(raw_name), *file = printable(raw_file);
        unsigned i = 0;

        /* by the file's name without folders, as it may have moved */
        while (i < p->n_functions && (strcmp(p->functions[i].name, name) != 0 || strcmp(basename(p->functions[i].file), basename(file)) != 0))
                i++;
        if (i == p->n_functions)
                list_add(p->functions, p->n_functions, (struct profile_function){.name = steal_pointer(name), .file = steal_pointer(file)});
        list_add(a->code, a->n, i);
}

/* -- counting ------------------------------------------------------------------------------------------------------ */

static const struct profile_address *find(const struct profile *p, unsigned side, unsigned file, uint64_t offset)
{
        static const struct profile_address nowhere;
        const struct profile_address like = {.side = side, .file = file, .offset = offset},
                                     *a = find_in_list(&like, p->addresses, p->n_addresses, sizeof(like), compare_addresses);

        return a ?: &nowhere;
}

/* True if the frame may be the caller's; `sure`: only if it surely is. The caller of an unnamed function is one that calls something unnamed. */
static bool is_caller(const struct profile *p, unsigned side, const struct profile_address *callee, const struct frame *f, bool sure)
{
        const struct profile_address *target = find(p, side, f->file, f->target);

        if (f->target == 0 || target->n == 0 || callee->n == 0)
                return !sure;
        return target->code[target->n - 1] == callee->code[callee->n - 1];
}

static void count_code(struct profile *p, unsigned side, const struct profile_address *a, double seconds, uint64_t number)
{
        for (size_t i = 0; i < a->n; i++) {
                struct profile_function *f = &p->functions[a->code[i]];

                if (f->counted != number)
                        f->total[side] += seconds;
                f->counted = number;
        }
}

/* Counts a sample: its function, then caller after caller. The next caller is the first frame that surely is, else the first that may be. */
static void count_line(struct profile *p, unsigned side, const char *line)
{
        const struct profile_address *a;
        struct sample s;
        size_t at = 0;
        uint64_t number;
        double seconds;

        if (!parse_sample(line, &s))
                return;
        seconds = (double)s.ns / 1e9;
        p->seconds[side] += seconds;
        p->samples[side]++;
        number = p->samples[0] + p->samples[1];
        a = find(p, side, s.frames[0].file, s.frames[0].at);
        if (a->n > 0)
                p->functions[a->code[0]].self[side] += seconds;
        do {
                size_t sure = at + 1, may = at + 1;

                count_code(p, side, a, seconds, number);
                while (sure < s.n && !is_caller(p, side, a, &s.frames[sure], true))
                        sure++;
                while (may < s.n && !is_caller(p, side, a, &s.frames[may], false))
                        may++;
                at = sure < s.n ? sure : may;
                if (at < s.n)
                        a = find(p, side, s.frames[at].file, s.frames[at].at);
        } while (at < s.n);
}

static int compare_functions(const void *a, const void *b)
{
        const struct profile_function *x = a, *y = b;

        return ORDER(y->self[1] - y->self[0], x->self[1] - x->self[0]) ?: strcmp(x->name, y->name);
}

/* The growth of a function's time beyond the growth of the whole run. */
static double excess(const struct profile *p, const struct profile_function *f)
{
        return f->total[1] - f->total[0] * (p->seconds[0] > 0 ? p->seconds[1] / p->seconds[0] : 0);
}

static bool is_in_path(const struct profile *p, const char *file)
{
        size_t n = 0;

        while (n < PROFILE_PATH && p->path[n] && strcmp(p->path[n]->file, file) != 0)
                n++;
        return n < PROFILE_PATH && p->path[n];
}

static void find_place(struct profile *p)
{
        const struct profile_function *most = NULL;

        if (p->seconds[1] - p->seconds[0] < LEAST_EXTRA * p->seconds[1])
                return;
        for (size_t i = 0; i < p->n_functions; i++)
                if (*p->functions[i].file && (!most || excess(p, &p->functions[i]) > excess(p, most)))
                        most = &p->functions[i];
        if (!most || excess(p, most) < LEAST_SHARE * p->seconds[1]) {
                p->most = most && excess(p, most) >= LEAST_SHOWN * p->seconds[1] ? most : NULL;
                return;
        }
        for (size_t n = 0; n < PROFILE_PATH; n++) {
                const struct profile_function *next = NULL;

                for (size_t i = 0; i < p->n_functions; i++) {
                        const struct profile_function *f = &p->functions[i];

                        if (*f->file && excess(p, f) >= NEAR * excess(p, most) && !is_in_path(p, f->file) &&
                            (!next || f->total[1] < next->total[1] - 1e-9))
                                next = f;
                }
                p->path[n] = next;
        }
}

void profile_count(struct profile *p, const struct slice text[2])
{
        struct slice rest[2] = {text[0], text[1]};

        for (unsigned side = 0; side < 2; side++)
                for (char *line; (line = trail_take_line(&rest[side])); free(line))
                        count_line(p, side, line);
        sort_list(p->functions, p->n_functions, sizeof(*p->functions), compare_functions);
        find_place(p);
}

void profile_done(struct profile *p)
{
        for (int side = 0; side < 2; side++) {
                for (size_t i = 0; i < p->n_files[side]; i++)
                        free(p->files[side][i]);
                free(p->files[side]);
        }
        for (size_t i = 0; i < p->n_addresses; i++)
                free(p->addresses[i].code);
        free(p->addresses);
        for (size_t i = 0; i < p->n_functions; i++) {
                free(p->functions[i].name);
                free(p->functions[i].file);
        }
        free(p->functions);
        *p = (struct profile){0};
}
