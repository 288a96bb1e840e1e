/* Tests candidates in batches, takes the first interesting one, and goes back where a text is not interesting a second time; sweeps by delta debugging. */
#include "core/study/reduce/reduce_internal.h"

#include <search.h>

#include "cache/base/hash.h"
#include "core/smtlib/cnf.h"

struct reducer {
        const struct reduce_test *test;
        const struct reduce_options *options;
        struct reduce_status status;
        void *seen; /* digests of the texts that were tried, by tsearch() */
        bool checks_late;
        /* The texts to go back to, the largest first: the input; few of those that were interesting twice, each at least a tenth smaller than the one
         * before; and all that were interesting once (checks_late). The last one is the current text. */
        struct buffer *trail; /* owned, with the texts */
        size_t n, n_sure;     /* the first n_sure of them were interesting twice */
        size_t n_refused; /* candidates of the current text */
        bool is_script; /* and every candidate must be one, by these options */
        struct script_options script;
        struct bank *original_bank; /* the names that a candidate's text may not lose; NULL: none */
};

/* A text that was interesting once is tested again after this many refused candidates, or this many taken texts. Not at once: a smaller text follows most
 * of them soon. */
#define UNSURE_REFUSED 12
#define UNSURE_TAKEN   8

struct slice reduce_text(const struct reducer *r)
{
        return SLICE(r->trail[r->n - 1].data, r->trail[r->n - 1].size);
}

static void tell(struct reducer *r)
{
        if (r->options && r->options->status)
                r->options->status(r->options->user, &r->status);
}

enum dialect reduce_dialect(const struct reducer *r)
{
        return r->is_script ? r->script.dialect : dialect_named(r->options ? r->options->dialect : NULL);
}

void reduce_set_stage(struct reducer *r, const char *stage)
{
        r->status.stage = stage;
        tell(r);
}

void reduce_result_done(struct reduce_result *r)
{
        buffer_done(&r->text);
}

void reduce_require_script(struct reducer *r, bool is_script, const struct script_options *o)
{
        r->is_script = is_script;
        r->script = *o;
}

void reduce_require_names(struct reducer *r, struct bank *names)
{
        bank_unref(r->original_bank);
        r->original_bank = names ? bank_ref(names) : NULL;
}

bool reduce_requires_script(const struct reducer *r)
{
        return r->is_script;
}

/* A candidate can be less of a script than the text it is made of: a term uses a name that is gone, or a pop ends what is not pushed. */
static bool is_form_lost(const struct reducer *r, struct slice text)
{
        cleanup_script struct script *made = NULL;
        struct script_options o = r->script;

        o.original_bank = r->original_bank;
        return r->is_script && script_read(text, &o, &made) < 0;
}

/* -- tried texts -- */

static bool was_seen(const struct reducer *r, struct slice text)
{
        struct digest d;

        digest_of(text.data, text.size, &d);
        return tfind(&d, &r->seen, digest_compare);
}

static void add_seen(struct reducer *r, struct slice text)
{
        struct digest *d = allocate(1, sizeof(*d)), **there;

        digest_of(text.data, text.size, d);
        there = tsearch(d, &r->seen, digest_compare);
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

/* -- taken texts -- */

static bool is_unsure(const struct reducer *r)
{
        return r->n > r->n_sure;
}

/* The current text is surely interesting: drops the texts that led to it. */
static void make_sure(struct reducer *r)
{
        size_t at = r->n_sure;

        if (!is_unsure(r))
                return;
        if (at > 1 && r->trail[at - 1].size > r->trail[at - 2].size - r->trail[at - 2].size / 10)
                at--; /* the last sure one is not a tenth smaller than the one before */
        for (size_t i = at; i + 1 < r->n; i++)
                buffer_done(&r->trail[i]);
        r->trail[at] = r->trail[r->n - 1];
        r->n = r->n_sure = at + 1;
}

static int add_text(struct reducer *r, struct slice text, bool is_sure)
{
        struct buffer copy = {0};
        int k = reduce_set_text(&copy, text);

        if (k < 0)
                return k;
        list_add(r->trail, r->n, copy);
        r->n_refused = 0;
        r->status.now = copy.size;
        if (is_sure)
                make_sure(r);
        return 0;
}

/* 1: went back to the smallest earlier text that is interesting now. */
static int go_back(struct reducer *r)
{
        int k;

        r->status.withdrawn++;
        do {
                if (r->n > 1)
                        buffer_done(&r->trail[--r->n]);
                r->status.now = reduce_text(r).size;
                k = ask(r, reduce_text(r));
        } while (k == 0 && r->n > 1);
        r->n_sure = r->n;
        return k == 0 ? errorf(-ENODATA, "the test is not interested in the input any more") : k;
}

/* Returns 1: a text was taken. */
static int tell_taken(struct reducer *r)
{
        if (r->test->taken)
                r->test->taken(r->test->user, reduce_text(r));
        tell(r);
        return 1;
}

/* Tests the current text again if it is not sure. REDUCE_WITHDRAWN: the current text is an earlier one now. */
static int check_text(struct reducer *r)
{
        int k = is_unsure(r) ? ask(r, reduce_text(r)) : 1;

        if (k == 1)
                make_sure(r);
        if (k != 0)
                return MIN(k, 0);
        r->checks_late = false;
        k = go_back(r);
        if (k == 1)
                tell_taken(r);
        return k < 0 ? k : REDUCE_WITHDRAWN;
}

/* Takes an interesting text, and returns 1. */
static int take(struct reducer *r, struct slice text)
{
        int k = add_text(r, text, !r->checks_late);

        add_seen(r, text);
        if (k < 0)
                return k;
        r->status.taken++;
        return tell_taken(r);
}

/* A text that was interesting once. 1: taken. */
static int confirm(struct reducer *r, struct slice text)
{
        int k = !r->checks_late ? ask(r, text) : 1;

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
                if (same_bytes(b->slices[i], text))
                        return true;
        return false;
}

/* Fills the batch with the next candidates from *at on that are worth a test. */
static int fill(struct reducer *r, struct batch *b, size_t *at, size_t n, reduce_make make, void *user)
{
        b->n = 0;
        while (b->n < b->width && *at < n) {
                struct buffer *text = &b->texts[b->n];
                struct slice slice;
                int k;

                if (b->n == 0 && is_late(r))
                        return -ETIME;
                text->size = 0;
                k = make(user, (*at)++, text);
                if (k == -ENOENT)
                        continue;
                if (k < 0 || buffer_error(text) < 0)
                        return k < 0 ? k : -ENOMEM;
                slice = SLICE(text->data ? text->data : "", text->size);
                if (slice.size > reduce_text(r).size || was_seen(r, slice) || is_in_batch(b, slice) || is_form_lost(r, slice))
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
                        r->n_refused++;
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
                k = b->answers[i] == REDUCE_INTERESTING ? 1 : ask(r, b->slices[i]); /* after one that failed its second test */
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
                if (r->n_refused >= UNSURE_REFUSED || r->n - r->n_sure >= UNSURE_TAKEN)
                        k = check_text(r);
                if (k == 0)
                        k = ask_batch(r, &b, ret_at);
        }
        return k;
}

int reduce_offer(struct reducer *r, struct slice text)
{
        int k;

        if (same_bytes(text, reduce_text(r)))
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
        size_t *left, n_left; /* the items left */
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

/* All steps from the current text: as DIMACS, or as a script, or as lines unless it is a tree; then its trees. Again from the beginning if lines or trees
 * led on: the text may have become a script, or a tree. */
static int reduce_from(struct reducer *r)
{
        for (;;) {
                bool is_cnf, is_script = false;
                int k, trees;

                if (cnf_begins(reduce_text(r), true)) {
                        k = reduce_cnf(r, &is_cnf);
                        if (k < 0 || is_cnf)
                                return MIN(k, 0);
                }
                k = reduce_script(r, &is_script);
                if (k >= 0 && !is_script && !reduce_is_tree(r))
                        k = reduce_lines(r);
                if (k < 0)
                        return k;
                trees = reduce_trees(r);
                if (trees < 0 && trees != -EINVAL)
                        return trees;
                if (trees <= 0 && (k <= 0 || is_script))
                        return 0;
        }
}

/* The text must be interesting when asked once more, or an earlier one takes its place: REDUCE_WITHDRAWN, unless the time is over. */
static int check_end(struct reducer *r, int end)
{
        int k;

        reduce_set_stage(r, "check");
        k = r->status.taken > 0 && (!r->checks_late || is_unsure(r)) ? ask(r, reduce_text(r)) : 1;
        if (k == 0) {
                k = go_back(r);
                if (k == 1 && end == 0) {
                        tell_taken(r);
                        end = REDUCE_WITHDRAWN;
                }
        }
        return k < 0 ? k : end;
}

static int run(struct reducer *r, struct slice input, struct reduce_result *ret)
{
        int k = add_text(r, input, true), end;

        if (k < 0)
                return k;
        reduce_set_stage(r, "input");
        k = r->test->knows_input ? 1 : ask(r, input);
        if (k == 0)
                return errorf(-ENODATA, "the test is not interested in the input itself");
        if (k < 0)
                return k;
        add_seen(r, input);
        do {
                end = reduce_from(r);
                if (end == 0)
                        end = check_text(r);
                if (end == 0 || end == -ETIME)
                        end = check_end(r, end);
        } while (end == REDUCE_WITHDRAWN);
        ret->is_minimal = end == 0;
        return end == -ETIME ? 0 : end;
}

int reduce(struct slice input, const struct reduce_test *test, const struct reduce_options *options, struct reduce_result *ret)
{
        struct reducer r = {.test = test, .options = options, .checks_late = test->checks_late, .status = {.before = input.size, .stage = "input"}};
        int k;

        assert(test->width > 0);
        *ret = (struct reduce_result){0};
        k = run(&r, input, ret);
        if (r.n > 0) { /* the input where a step has taken a larger text */
                struct buffer *best = &r.trail[reduce_text(&r).size > input.size ? 0 : r.n - 1];

                ret->text = *best;
                *best = (struct buffer){0};
        }
        ret->status = r.status;
        ret->status.now = ret->text.size;
        for (size_t i = 0; i < r.n; i++)
                buffer_done(&r.trail[i]);
        free(r.trail);
        reduce_require_names(&r, NULL);
        tdestroy(r.seen, free);
        return k;
}
