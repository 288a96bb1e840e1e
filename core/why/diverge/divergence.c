#include "core/why/diverge/divergence.h"

#include <ctype.h>

#include "cache/base/hash.h"

#define LOOK_AHEAD  64  /* lines */
#define RING        128 /* lines held at once: those ahead, and past ones for context */
#define VALUES      64  /* distinguished places of a shape; further ones share the last */
#define SHAPES      (1 << 16)
#define SHAPES_MOST (SHAPES / 4 * 3)
#define SHOWN       240 /* bytes of a line in a context */
#define BLOCK       (1 << 16)

#define HASH_START UINT64_C(14695981039346656037) /* FNV-1a */
#define HASH_PRIME UINT64_C(1099511628211)

struct line {
        uint64_t number;
        char *text; /* of the ring; at most DIVERGENCE_LINE bytes, and a NUL */
        size_t size;
        uint64_t rest; /* a hash of the bytes after those */
        uint64_t shape;
        uint64_t values[VALUES]; /* hashes of their texts */
        unsigned n_values;
};

/* -- a line's shape ------------------------------------------------------------------------------------------------ */

static uint64_t hash_byte(uint64_t h, char c)
{
        return (h ^ (uint8_t)c) * HASH_PRIME;
}

static bool is_word(char c)
{
        return isalnum((unsigned char)c) || c == '_';
}

/* The length of an address (0x1f2e3), or of the id of a commit or a file: hexadecimal digits, letters among them. Either has seven characters or more. 0:
 * none begins here. */
static size_t id_length(const char *p)
{
        size_t begin = p[0] == '0' && (p[1] == 'x' || p[1] == 'X') ? 2 : 0, n = begin, digits = 0;

        for (; isxdigit((unsigned char)p[n]); n++)
                digits += isdigit((unsigned char)p[n]) != 0;
        if (is_word(p[n]) || n < 7)
                return 0;
        return begin > 0 || (digits > 0 && digits < n) ? n : 0;
}

/* The length of a number with its sign, fraction and exponent; within a word (x12) of its digits. 0: none begins here. */
static size_t number_length(const char *text, const char *p)
{
        const bool in_word = p > text && is_word(p[-1]);
        size_t n = *p == '-' && (p == text || strchr(" \t=:(,", p[-1])) ? 1 : 0, exponent;

        if (!isdigit((unsigned char)p[n]))
                return 0;
        while (isdigit((unsigned char)p[n]))
                n++;
        if (in_word)
                return n;
        if (p[n] == '.' && isdigit((unsigned char)p[n + 1]))
                for (n++; isdigit((unsigned char)p[n]); n++)
                        ;
        exponent = n + 1 + (p[n] != '\0' && (p[n + 1] == '-' || p[n + 1] == '+'));
        if ((p[n] == 'e' || p[n] == 'E') && isdigit((unsigned char)p[exponent]))
                for (n = exponent; isdigit((unsigned char)p[n]); n++)
                        ;
        return n;
}

/* True if the text begins with the word, in upper or lower case. */
static bool begins_with(const char *text, const char *word, size_t n)
{
        return (text[0] | 0x20) == (word[0] | 0x20) && strncasecmp(text, word, n) == 0;
}

/* True if the number in [p, end) is an amount of time or of memory, a rate, or the number of a process. */
static bool is_measured(const char *text, const char *p, const char *end)
{
        static const char *const units[] = {"s",  "sec", "secs", "second", "seconds", "ms",    "us", "ns",   "msec",    "kb",    "mb",
                                            "gb", "kib", "mib",  "gib",    "bytes",   "/s", "/sec", "/second", "per s", "per sec", "per second"};
        static const char *const words[] = {"time", "seconds", "secs", "memory", "mem", "rss", "pid"};
        const char *from;

        end += *end == ' ';
        for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
                size_t n = strlen(units[i]);

                if (begins_with(end, units[i], n) && !is_word(end[n]))
                        return true;
        }
        while (p > text && strchr(" \t:=,(\"", p[-1]))
                p--;
        for (from = p; from > text && isalpha((unsigned char)from[-1]);)
                from--;
        for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
                size_t n = strlen(words[i]);

                if ((size_t)(p - from) >= n && begins_with(p - n, words[i], n))
                        return true;
        }
        return false;
}

/* Sets a line's shape and values from its text, which ends with a NUL; one within it is a character like others. In the shape '#' stands for a number that
 * is a value, '~' for what is ignored. */
static void read_shape(struct line *l)
{
        static const char folder[] = "/solver/";
        const char *const text = l->text, *const end = text + l->size, *p = text;
        uint64_t h = HASH_START;

        l->n_values = 0;
        while (p < end) {
                size_t n = 0;

                while (p + n < end && isblank((unsigned char)p[n]))
                        n++;
                if (n > 0) {
                        h = p > text && p + n < end ? hash_byte(h, ' ') : h;
                        p += n;
                        continue;
                }
                if (*p == '/' && strncmp(p, folder, strlen(folder)) == 0) {
                        for (p += strlen(folder); p < end && !isspace((unsigned char)*p) && *p != '\'' && *p != '"'; p++)
                                ;
                        h = hash_byte(h, '~');
                        continue;
                }
                n = p == text || !is_word(p[-1]) ? id_length(p) : 0;
                if (n == 0 && (*p == '-' || isdigit((unsigned char)*p)) && (n = number_length(text, p)) > 0 && !is_measured(text, p, p + n)) {
                        unsigned at = MIN(l->n_values, VALUES - 1);

                        l->values[at] = hash_quick(p, n) + (at < l->n_values ? l->values[at] * HASH_PRIME : 0);
                        l->n_values = at + 1;
                        h = hash_byte(h, '#');
                } else
                        h = hash_byte(h, n > 0 ? '~' : *p);
                p += n > 0 ? n : 1;
        }
        l->shape = h;
}

/* -- what is unsteady ---------------------------------------------------------------------------------------------- */

struct shape {
        uint64_t hash;
        uint64_t places;  /* bits of values */
        bool is_left_out; /* the whole line */
        bool is_used;
};
struct unsteady {
        struct shape *shapes; /* [SHAPES], by hash */
        size_t n;
};

struct unsteady *unsteady_new(void)
{
        struct unsteady *u = allocate(1, sizeof(*u));

        u->shapes = allocate(SHAPES, sizeof(*u->shapes));
        return u;
}

struct unsteady *unsteady_free(struct unsteady *u)
{
        if (u)
                free(u->shapes);
        free(u);
        return NULL;
}

/* The slot of a shape, perhaps unused. */
static struct shape *slot_of(const struct unsteady *u, uint64_t hash)
{
        size_t i = hash % SHAPES;

        while (u->shapes[i].is_used && u->shapes[i].hash != hash)
                i = (i + 1) % SHAPES;
        return &u->shapes[i];
}

/* If there are too many shapes, further ones count as steady. */
static void add_unsteady(struct unsteady *u, uint64_t hash, uint64_t places, bool is_left_out)
{
        struct shape *s = slot_of(u, hash);

        if (!s->is_used && u->n >= SHAPES_MOST)
                return;
        u->n += !s->is_used;
        *s = (struct shape){hash, s->places | places, s->is_left_out || is_left_out, true};
}

/* -- lines of a source --------------------------------------------------------------------------------------------- */

struct reader {
        const struct line_source *source;
        const struct unsteady *unsteady;
        struct line *ring; /* [RING] */
        uint64_t first;    /* the number of the next line to be taken, among all put into the ring */
        uint64_t end;      /* past the last */
        uint64_t number, passed_over;
        char *block;
        size_t at, size; /* in the block */
        bool has_ended;
};

static void reader_init(struct reader *r, const struct line_source *source, const struct unsteady *u)
{
        *r = (struct reader){.source = source, .unsteady = u, .ring = allocate(RING, sizeof(*r->ring)), .block = allocate(1, BLOCK)};
        for (size_t i = 0; i < RING; i++)
                r->ring[i].text = allocate(1, DIVERGENCE_LINE + 1);
}

static void reader_done(struct reader *r)
{
        for (size_t i = 0; r->ring && i < RING; i++)
                free(r->ring[i].text);
        free(r->ring);
        free(r->block);
}

static void add_bytes(struct line *l, const char *p, size_t n)
{
        size_t kept = MIN(n, DIVERGENCE_LINE - l->size);

        memcpy(l->text + l->size, p, kept);
        l->size += kept;
        for (size_t i = kept; i < n; i++)
                l->rest = hash_byte(l->rest, p[i]);
}

/* 1: a line is read; 0: no more lines. */
static int read_line(struct reader *r, struct line *l)
{
        bool has_any = false, has_newline = false;

        l->size = 0;
        l->rest = HASH_START;
        while (!has_newline) {
                const char *p, *newline;
                size_t n;

                if (r->at == r->size) {
                        ssize_t k = r->source->read(r->source->user, r->block, BLOCK);

                        if (k < 0)
                                return (int)k;
                        if (k == 0)
                                break;
                        r->at = 0;
                        r->size = (size_t)k;
                }
                p = r->block + r->at;
                newline = memchr(p, '\n', r->size - r->at);
                n = newline ? (size_t)(newline - p) : r->size - r->at;
                add_bytes(l, p, n);
                r->at += n + (newline != NULL);
                has_any = true;
                has_newline = newline;
        }
        if (!has_any || (!has_newline && r->source->is_cut)) /* a truncated line proves nothing */
                return 0;
        l->size -= l->size > 0 && l->text[l->size - 1] == '\r';
        l->text[l->size] = '\0';
        l->number = ++r->number;
        read_shape(l);
        return 1;
}

/* The line `ahead` lines after the next one, without those left out; NULL past the last. */
static int peek(struct reader *r, size_t ahead, const struct line **ret)
{
        while (!r->has_ended && r->end - r->first <= ahead) {
                struct line *l = &r->ring[r->end % RING];
                int k = read_line(r, l);

                if (k < 0)
                        return k;
                r->has_ended = k == 0;
                if (k == 1 && slot_of(r->unsteady, l->shape)->is_left_out)
                        r->passed_over++;
                else
                        r->end += k == 1;
        }
        *ret = r->end - r->first > ahead ? &r->ring[(r->first + ahead) % RING] : NULL;
        return 0;
}

/* -- two of them --------------------------------------------------------------------------------------------------- */

/* The next line of each side; NULL if a side has ended. */
static int peek_both(struct reader r[2], const struct line *ret[2])
{
        return peek(&r[0], 0, &ret[0]) ?: peek(&r[1], 0, &ret[1]);
}

/* True if a side that was cut off has ended. */
static bool is_cut_here(const struct reader r[2], const struct line *const l[2])
{
        return (!l[0] && r[0].source->is_cut) || (!l[1] && r[1].source->is_cut);
}

/* The places at which lines of one shape differ. */
static uint64_t places_of(const struct line *a, const struct line *b)
{
        uint64_t places = 0;

        for (unsigned i = 0; i < MIN(a->n_values, VALUES); i++)
                places |= (uint64_t)(a->values[i] != b->values[i]) << i;
        return places;
}

/* Finds how many lines to skip on each side, in all the fewest, until the next two have one shape. It may be one line more if then their values are equal,
 * too. If no two have: all lines that were read ahead. */
static int realign(struct reader r[2], size_t ret[2])
{
        size_t most = LOOK_AHEAD;
        bool is_found = false;

        ret[0] = ret[1] = 0;
        for (size_t sum = 1; sum <= most; sum++)
                for (size_t i = 0; i <= sum; i++) {
                        const struct line *l[2];
                        int k = peek(&r[0], i, &l[0]) ?: peek(&r[1], sum - i, &l[1]);

                        if (k < 0)
                                return k;
                        if (!l[0] || !l[1] || l[0]->shape != l[1]->shape || (is_found && places_of(l[0], l[1]) != 0))
                                continue;
                        ret[0] = i;
                        ret[1] = sum - i;
                        if (places_of(l[0], l[1]) == 0)
                                return 0;
                        is_found = true;
                        most = sum + 1;
                }
        for (int side = 0; side < 2 && !is_found; side++)
                ret[side] = MIN(r[side].end - r[side].first, LOOK_AHEAD);
        return 0;
}

/* The lines skipped until both are alike again have unsteady shapes. */
static int learn_shapes(struct unsteady *u, struct reader r[2])
{
        size_t skip[2];
        int k = realign(r, skip);

        for (int side = 0; k == 0 && side < 2; side++)
                for (; skip[side] > 0; skip[side]--)
                        add_unsteady(u, r[side].ring[r[side].first++ % RING].shape, 0, true);
        return k;
}

static int learn(struct unsteady *u, struct reader r[2])
{
        const struct line *l[2];
        int k;

        while ((k = peek_both(r, l)) == 0 && (l[0] || l[1]) && !is_cut_here(r, l)) {
                uint64_t places;

                if (!l[0] || !l[1] || l[0]->shape != l[1]->shape) {
                        k = learn_shapes(u, r);
                        if (k < 0)
                                return k;
                        continue;
                }
                places = places_of(l[0], l[1]);
                if (places != 0 || l[0]->rest != l[1]->rest)
                        add_unsteady(u, l[0]->shape, places, l[0]->rest != l[1]->rest);
                r[0].first++;
                r[1].first++;
        }
        return k;
}

int unsteady_learn(struct unsteady *u, const struct line_source source[2])
{
        struct reader r[2];
        int k;

        reader_init(&r[0], &source[0], u);
        reader_init(&r[1], &source[1], u);
        k = learn(u, r);
        reader_done(&r[0]);
        reader_done(&r[1]);
        return k;
}

/* -- the first difference ------------------------------------------------------------------------------------------ */

static char *shown_text(const struct line *l)
{
        cleanup_buffer struct buffer b = {0};
        cleanup_free char *text = allocate(1, l->size + 1);

        memcpy(text, l->text, l->size);
        for (size_t i = 0; i < l->size; i++)
                text[i] = text[i] ? text[i] : ' ';
        buffer_add_printable(&b, text);
        if (b.size <= SHOWN)
                return copy_string(b.data ?: "");
        while (b.size > SHOWN || (b.data[b.size] & 0xc0) == 0x80)
                b.size--;
        return format_string("%.*s …", (int)b.size, b.data);
}

static int note_parting(struct reader r[2], struct parting *ret)
{
        const struct line *l;

        ret->is_found = true;
        for (int side = 0; side < 2; side++) {
                const uint64_t first = r[side].first;
                int k = peek(&r[side], DIVERGENCE_CONTEXT, &l);

                if (k < 0)
                        return k;
                ret->number[side] = first < r[side].end ? r[side].ring[first % RING].number : 0;
                ret->lines[side] = allocate(2 * DIVERGENCE_CONTEXT + 1, sizeof(*ret->lines[side]));
                for (uint64_t i = first - MIN(first, DIVERGENCE_CONTEXT); i < r[side].end && i <= first + DIVERGENCE_CONTEXT; i++) {
                        l = &r[side].ring[i % RING];
                        ret->lines[side][ret->n[side]++] = (struct parting_line){l->number, shown_text(l)};
                }
        }
        return 0;
}

static int compare(struct reader r[2], struct divergence *ret)
{
        const struct line *l[2];
        size_t skip[2];
        int k;

        while ((k = peek_both(r, l)) == 0 && (l[0] || l[1])) {
                ret->is_cut = is_cut_here(r, l);
                if (ret->is_cut)
                        break;
                if (!l[0] || !l[1] || l[0]->shape != l[1]->shape) {
                        k = ret->shape.is_found ? 0 : note_parting(r, &ret->shape);
                        if (k < 0 || ++ret->partings == DIVERGENCE_PARTINGS || !l[0] || !l[1])
                                return k;
                        k = realign(r, skip);
                        if (k < 0)
                                return k;
                        r[0].first += skip[0];
                        r[1].first += skip[1];
                        continue;
                }
                if ((places_of(l[0], l[1]) & ~slot_of(r->unsteady, l[0]->shape)->places) != 0 || l[0]->rest != l[1]->rest) {
                        ret->values_differ++;
                        if (!ret->value.is_found)
                                k = note_parting(r, &ret->value);
                        if (k < 0)
                                return k;
                }
                r[0].first++;
                r[1].first++;
        }
        return k;
}

int divergence_find(struct unsteady *u, const struct line_source source[2], struct divergence *ret)
{
        struct reader r[2];
        int k;

        *ret = (struct divergence){0};
        reader_init(&r[0], &source[0], u);
        reader_init(&r[1], &source[1], u);
        k = compare(r, ret);
        for (int side = 0; side < 2; side++) {
                ret->lines[side] = r[side].number;
                ret->passed_over += r[side].passed_over;
                reader_done(&r[side]);
        }
        if (k < 0)
                divergence_done(ret);
        return k;
}

static void parting_done(struct parting *p)
{
        for (int side = 0; side < 2; side++) {
                for (size_t i = 0; i < p->n[side]; i++)
                        free(p->lines[side][i].text);
                free(p->lines[side]);
        }
}

void divergence_done(struct divergence *d)
{
        parting_done(&d->value);
        parting_done(&d->shape);
        *d = (struct divergence){0};
}
