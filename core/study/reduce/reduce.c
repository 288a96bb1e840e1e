#include "core/study/reduce/reduce_internal.h"

#include <search.h>

#include "cache/base/hash.h"
#include "core/smtlib/cnf.h"

/* The texts to go back to, the largest first. First the sure ones, which were interesting twice: each is at least a tenth smaller than the one before,
 * so that there are few. Then all that were interesting once (REDUCE_LAST_TWICE), the current one last. */
struct trail {
        struct buffer *list; /* owned, and so are they */
        size_t n, n_sure;
        size_t n_refused; /* candidates of the current text, while it is not sure */
};

struct reducer {
        const struct reduce_test *test;
        const struct reduce_options *options;
        struct slice input;
        struct buffer text; /* the smallest so far */
        struct reduce_status status;
        void *seen; /* digests of the texts that were tried, by tsearch() */
        struct trail trail;
        enum reduce_trust trust;
};

/* A text that was interesting once is asked for again when so many candidates were refused since, or so many texts were taken. Not at once: a smaller
 * text follows most of them soon. */
#define UNSURE_REFUSED 12
#define UNSURE_TAKEN   8

struct slice reduce_text(const struct reducer *r)
{
        return SLICE(r->text.data, r->text.size);
}

static void tell(struct reducer *r)
{
        if (r->options && r->options->status)
                r->options->status(r->options->user, &r->status);
}

void reduce_stage(struct reducer *r, const char *stage)
{
        r->status.stage = stage;
        tell(r);
}

void reduce_result_done(struct reduce_result *r)
{
        buffer_done(&r->text);
}

/* -- what was tried -- */

static int compare_digests(const void *a, const void *b)
{
        return memcmp(a, b, sizeof(struct digest));
}

static bool was_seen(const struct reducer *r, struct slice text)
{
        struct digest d;

        digest_of(text.data, text.size, &d);
        return tfind(&d, &r->seen, compare_digests);
}

static void add_seen(struct reducer *r, struct slice text)
{
        struct digest *d = allocate(1, sizeof(*d)), **there;

        digest_of(text.data, text.size, d);
        there = tsearch(d, &r->seen, compare_digests);
        if (!there || *there != d)
                free(d);
}

/* -- asking -- */

static bool is_late(const struct reducer *r)
{
        return r->options && r->options->deadline_ns != 0 && now_ns() >= r->options->deadline_ns;
}

/* 1: the text is interesting. */
static int ask(struct reducer *r, struct slice text)
{
        enum reduce_answer answer = REDUCE_UNTRIED;
        int k = r->test->try(r->test->user, &text, 1, &answer);

        r->status.tests++;
        return k < 0 ? k : answer == REDUCE_INTERESTING;
}

int reduce_set_text(struct buffer *to, struct slice text)
{
        to->size = 0;
        buffer_adds(to, "");
        buffer_add(to, text.data, text.size);
        return buffer_error(to);
}

static int set_text(struct reducer *r, struct slice text)
{
        int k = reduce_set_text(&r->text, text);

        r->status.now = r->text.size;
        return k;
}

/* -- what was taken -- */

static void shorten_trail(struct trail *t, size_t n)
{
        while (t->n > n)
                buffer_done(&t->list[--t->n]);
        t->n_sure = MIN(t->n_sure, n);
}

static int add_to_trail(struct trail *t, struct slice text)
{
        list_grow(t->list, t->n);
        t->list[t->n] = (struct buffer){0};
        t->n_refused = 0;
        return reduce_set_text(&t->list[t->n++], text);
}

/* The current text is interesting for sure: those on the way to it are not needed any more. */
static int make_sure(struct reducer *r)
{
        struct trail *t = &r->trail;
        int k = 0;

        shorten_trail(t, t->n_sure);
        if (t->n == 0 || r->text.size <= t->list[t->n - 1].size - t->list[t->n - 1].size / 10)
                k = add_to_trail(t, reduce_text(r));
        t->n_sure = t->n;
        return k;
}

/* The smallest text before the current one that is interesting now; at last the input. 0: not even that. */
static int go_back(struct reducer *r)
{
        struct trail *t = &r->trail;
        int k = 0;

        r->status.withdrawn++;
        if (t->n > 0 && t->list[t->n - 1].size == r->text.size)
                shorten_trail(t, t->n - 1);
        for (; k == 0 && t->n > 0; shorten_trail(t, t->n - (k == 0))) {
                k = set_text(r, SLICE(t->list[t->n - 1].data, t->list[t->n - 1].size));
                if (k == 0)
                        k = ask(r, reduce_text(r));
                t->n_sure = t->n;
        }
        if (k != 0)
                return k;
        k = set_text(r, r->input);
        return k == 0 ? ask(r, r->input) : k;
}

static bool is_unsure(const struct reducer *r)
{
        return r->trail.n > r->trail.n_sure;
}

static int tell_taken(struct reducer *r)
{
        if (r->test->taken)
                r->test->taken(r->test->user, reduce_text(r));
        tell(r);
        return 1;
}

/* Asks for the current text again when it is not sure. REDUCE_WITHDRAWN: the text is an earlier one. */
static int check_text(struct reducer *r)
{
        int k;

        if (!is_unsure(r))
                return 0;
        k = ask(r, reduce_text(r));
        if (k == 1)
                return make_sure(r);
        if (k == 0) {
                r->trust = REDUCE_EACH_TWICE;
                k = go_back(r);
        }
        if (k == 0)
                return errorf(-ENODATA, "the test is not interested in the input any more");
        if (k == 1)
                tell_taken(r);
        return k < 0 ? k : REDUCE_WITHDRAWN;
}

/* An interesting text. 1. */
static int take(struct reducer *r, struct slice text)
{
        int k = set_text(r, text);

        add_seen(r, text);
        if (k == 0)
                k = r->trust == REDUCE_LAST_TWICE ? add_to_trail(&r->trail, reduce_text(r)) : make_sure(r);
        if (k < 0)
                return k;
        r->status.taken++;
        return tell_taken(r);
}

/* A text that was interesting once. 1: taken. */
static int confirm(struct reducer *r, struct slice text)
{
        int k = r->trust == REDUCE_EACH_TWICE ? ask(r, text) : 1;

        if (k == 0) {
                r->status.withdrawn++;
                add_seen(r, text);
        }
        return k <= 0 ? k : take(r, text);
}

struct batch {
        struct buffer *texts; /* owned: `width` of them, kept for their memory */
        struct slice *slices;
        size_t *at;
        enum reduce_answer *answers;
        size_t n, width;
};

static void batch_done(struct batch *b)
{
        for (size_t i = 0; i < b->width; i++)
                buffer_done(&b->texts[i]);
        free(b->texts);
        free(b->slices);
        free(b->at);
        free(b->answers);
}

static bool is_in_batch(const struct batch *b, struct slice text)
{
        for (size_t i = 0; i < b->n; i++)
                if (b->slices[i].size == text.size && memcmp(b->slices[i].data, text.data, text.size) == 0)
                        return true;
        return false;
}

/* The next candidates from *at on that are worth a test. */
static int fill(struct reducer *r, struct batch *b, size_t *at, size_t n, reduce_make make, void *user)
{
        b->n = 0;
        while (b->n < b->width && *at < n) {
                struct buffer *text = &b->texts[b->n];
                struct slice slice;
                int k;

                text->size = 0;
                k = make(user, (*at)++, text);
                if (k == -ENOENT)
                        continue;
                if (k < 0 || buffer_error(text) < 0)
                        return k < 0 ? k : -ENOMEM;
                slice = SLICE(text->data ? text->data : "", text->size);
                if (slice.size > r->text.size || was_seen(r, slice) || is_in_batch(b, slice))
                        continue;
                b->at[b->n] = *at - 1;
                b->slices[b->n] = slice;
                b->answers[b->n++] = REDUCE_UNTRIED;
        }
        return 0;
}

/* 1: one was taken. */
static int ask_batch(struct reducer *r, struct batch *b, size_t *ret_at)
{
        int k = r->test->try(r->test->user, b->slices, b->n, b->answers);
        bool is_behind = false;

        for (size_t i = 0; k == 0 && i < b->n; i++) {
                r->status.tests += b->answers[i] != REDUCE_UNTRIED;
                if (b->answers[i] == REDUCE_BORING) {
                        add_seen(r, b->slices[i]);
                        r->trail.n_refused++;
                }
                is_behind |= b->answers[i] == REDUCE_INTERESTING;
                if (b->answers[i] == REDUCE_UNTRIED && !is_behind)
                        k = errorf(-EIO, "the interest test gave no answer");
        }
        if (k == 0)
                tell(r);
        for (size_t i = 0; k == 0 && i < b->n; i++) {
                if (b->answers[i] == REDUCE_BORING)
                        continue;
                k = b->answers[i] == REDUCE_INTERESTING ? 1 : ask(r, b->slices[i]); /* behind one that did not stand its second test */
                if (k == 0)
                        add_seen(r, b->slices[i]);
                else if (k == 1)
                        k = confirm(r, b->slices[i]);
                if (k == 1)
                        *ret_at = b->at[i];
        }
        return k;
}

int reduce_first(struct reducer *r, size_t from, size_t n, reduce_make make, void *user, size_t *ret_at)
{
        size_t width = r->test->width;
        cleanup(batch_done) struct batch b = {.texts = allocate(width, sizeof(*b.texts)),
                                              .slices = allocate(width, sizeof(*b.slices)),
                                              .at = allocate(width, sizeof(*b.at)),
                                              .answers = allocate(width, sizeof(*b.answers)),
                                              .width = width};
        int k = 0;

        while (k == 0 && from < n) {
                k = fill(r, &b, &from, n, make, user);
                if (k < 0 || b.n == 0)
                        continue;
                if (is_late(r))
                        return -ETIME;
                if (r->trail.n_refused >= UNSURE_REFUSED || r->trail.n - r->trail.n_sure >= UNSURE_TAKEN)
                        k = check_text(r);
                if (k == 0)
                        k = ask_batch(r, &b, ret_at);
        }
        return k;
}

int reduce_offer(struct reducer *r, struct slice text)
{
        int k;

        if (text.size == r->text.size && memcmp(text.data, r->text.data, text.size) == 0)
                return 1;
        if (was_seen(r, text))
                return 0;
        if (is_late(r))
                return -ETIME;
        k = ask(r, text);
        if (k == 0)
                add_seen(r, text);
        return k == 1 ? confirm(r, text) : k;
}

/* -- delta debugging -- */

struct sweep {
        reduce_without make;
        void *user;
        bool *is_out;
        size_t n, chunk;
        size_t *left, n_left; /* items that are still in */
};

static void mark_chunk(struct sweep *s, size_t at, bool is_out)
{
        for (size_t i = at * s->chunk; i < s->n_left && i < (at + 1) * s->chunk; i++)
                s->is_out[s->left[i]] = is_out;
}

static int make_chunk(void *user, size_t at, struct buffer *ret)
{
        struct sweep *s = user;
        int k;

        mark_chunk(s, at, true);
        k = s->make(s->user, s->is_out, ret);
        mark_chunk(s, at, false);
        return k;
}

static void list_left(struct sweep *s)
{
        s->n_left = 0;
        for (size_t i = 0; i < s->n; i++)
                if (!s->is_out[i])
                        s->left[s->n_left++] = i;
}

int reduce_sweep(struct reducer *r, size_t n, size_t chunk, reduce_without make, void *user)
{
        cleanup_free bool *is_out = allocate(n, sizeof(*is_out));
        cleanup_free size_t *left = allocate(n, sizeof(*left));
        struct sweep s = {.make = make, .user = user, .is_out = is_out, .n = n, .left = left};

        s.chunk = chunk == 0 || chunk > n ? n : chunk;
        list_left(&s);
        for (; s.chunk > 0 && s.n_left > 0; s.chunk = s.chunk == 1 ? 0 : (MIN(s.chunk, s.n_left) + 1) / 2) {
                size_t from = 0;

                while (from * s.chunk < s.n_left) {
                        int k = reduce_first(r, from, (s.n_left + s.chunk - 1) / s.chunk, make_chunk, &s, &from);

                        if (k < 0)
                                return k;
                        if (k == 0)
                                break;
                        mark_chunk(&s, from, true);
                        list_left(&s);
                }
        }
        return (int)MIN(n - s.n_left, (size_t)INT32_MAX);
}

/* -- the whole -- */

static bool stands_in_parentheses(struct slice text)
{
        struct tokenizer t;
        struct token token;

        tokenizer_init(&t, text, DIALECT_2_6);
        if (token_next(&t, &token) != TOKEN_OPEN)
                return false;
        for (;;) {
                if (token_skip(&t, 1) != 0)
                        return false;
                if (token_next(&t, &token) == TOKEN_END)
                        return true;
                if (token.kind != TOKEN_OPEN)
                        return false;
        }
}

/* All steps from the current text. */
static int reduce_from(struct reducer *r, struct reduce_result *ret)
{
        for (;;) {
                bool is_cnf, is_script = false, is_opaque = false;
                int k, trees;

                if (cnf_begins(reduce_text(r))) {
                        k = reduce_cnf(r, &is_cnf);
                        if (k < 0 || is_cnf)
                                return MIN(k, 0);
                }
                k = reduce_script(r, &is_script, &is_opaque);
                ret->was_script |= is_script && k >= 0;
                if (k >= 0 && !is_script && !stands_in_parentheses(reduce_text(r)))
                        k = reduce_lines(r);
                if (k < 0 || (is_script && !is_opaque))
                        return MIN(k, 0);
                trees = reduce_trees(r);
                if (trees < 0 && trees != -EINVAL)
                        return trees;
                if (trees <= 0 && k <= 0)
                        return 0;
        }
}

static int run(struct reducer *r, struct slice input, struct reduce_result *ret)
{
        int k = set_text(r, input), end;

        if (k < 0)
                return k;
        reduce_stage(r, "input");
        k = r->test->knows_input ? 1 : ask(r, input);
        if (k == 0)
                return errorf(-ENODATA, "the test is not interested in the input itself");
        if (k < 0)
                return k;
        add_seen(r, input);
        do {
                end = reduce_from(r, ret);
                if (end == 0)
                        end = check_text(r);
        } while (end == REDUCE_WITHDRAWN);
        if (end == 0 || end == -ETIME) { /* the text must be interesting when asked once more, or an earlier one takes its place */
                reduce_stage(r, "check");
                k = r->status.taken > 0 && (r->trust == REDUCE_EACH_TWICE || is_unsure(r)) ? ask(r, reduce_text(r)) : 1;
                if (k == 1 && make_sure(r) < 0)
                        k = -ENOMEM;
                if (k == 0)
                        k = go_back(r);
                if (k <= 0)
                        end = k < 0 ? k : errorf(-ENODATA, "the test is not interested in the input any more");
        }
        ret->is_minimal = end == 0;
        return end == -ETIME ? 0 : end;
}

int reduce(struct slice input, const struct reduce_test *test, const struct reduce_options *options, struct reduce_result *ret)
{
        struct reducer r = {.test = test,
                            .options = options,
                            .input = input,
                            .trust = test->trust,
                            .status = {.before = input.size, .stage = "input"}};
        int k;

        assert(test->width > 0);
        *ret = (struct reduce_result){0};
        k = run(&r, input, ret);
        if (r.text.size > input.size && set_text(&r, input) < 0)
                k = -ENOMEM;
        ret->text = r.text;
        ret->status = r.status;
        ret->status.now = ret->text.size;
        shorten_trail(&r.trail, 0);
        free(r.trail.list);
        tdestroy(r.seen, free);
        return k;
}
