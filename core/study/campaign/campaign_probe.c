/* Finds which operators of the rules the versions support. */
#include "core/study/campaign/campaign_unknown.h"

#define PROBE_SECONDS 10.0

struct probe {
        struct campaign *campaign;
        struct bench_seat seat;
        struct buffer *left; /* owned; of each compared version: the operators that it does not decide */
};

/* Asks every version. A timeout says nothing of the operator. */
static int ask_all(struct probe *p, const struct buffer *text, const char *name, bool *ret_unsupported)
{
        for (unsigned v = 0; v < p->campaign->n_compared; v++) {
                struct recipe_limits limits = p->campaign->versions[v]->solver->recipe->limits;
                struct run_result result = {0};
                bool is_supported;
                int r;

                limits.wall_ns = limits.cpu_ns = (uint64_t)(PROBE_SECONDS * 1e9);
                r = seat_run(&p->seat, v, 0, &limits, SLICE(text->data, text->size), &result);
                if (r < 0)
                        return r;
                is_supported = verdict_is_decided(result.verdict) || result.verdict == VERDICT_TIMEOUT;
                run_result_done(&result);
                if (is_supported)
                        continue;
                *ret_unsupported = true;
                buffer_addf(&p->left[v], "%s%s", p->left[v].size > 0 ? " " : "", name);
        }
        return 0;
}

static int probe_operators(struct probe *p, struct unknown_hunt *h, enum dialect dialect)
{
        bool written[N_OPS];
        int r = 0;

        weaken_operators(h->weaken, written);
        for (enum op op = OP_NONE + 1; r == 0 && op < N_OPS; op++) {
                cleanup_buffer struct buffer text = {0};

                if (!written[op])
                        continue;
                r = weaken_probe(op, dialect, &text);
                if (r == -ENOENT) { /* it depends on widths, so rules write it only into formulas that have such sorts */
                        r = 0;
                        continue;
                }
                if (r == 0)
                        r = ask_all(p, &text, operator_name(op, dialect), &h->unsupported[op]);
        }
        for (unsigned i = 0; r == 0 && i < 2; i++) {
                cleanup_buffer struct buffer text = {0};

                r = weaken_probe_quantifier(i ? TERM_EXISTS : TERM_FORALL, dialect, &text);
                if (r == 0)
                        r = ask_all(p, &text, i ? "exists" : "forall", &h->no_quantifier);
        }
        return r;
}

static int probe_all(struct campaign *c, struct unknown_hunt *h)
{
        struct probe p = {.campaign = c, .seat = BENCH_SEAT(c), .left = allocate(c->n_compared, sizeof(*p.left))};
        int r = seat_take(&p.seat);

        if (r == 0)
                r = probe_operators(&p, h, c->dialect);
        for (size_t v = 0; v < c->n_compared; v++) {
                if (r == 0 && p.left[v].size > 0)
                        campaign_say(c, "left out, as %s does not decide them: %s", c->versions[v]->name, p.left[v].data);
                buffer_done(&p.left[v]);
        }
        seat_leave(&p.seat);
        free(p.left);
        return r;
}

static int take_up(const char *path, struct unknown_hunt *h)
{
        cleanup_blob struct blob b = {0};
        cleanup_free char *text = NULL;
        int r = read_file(path, SIZE_MAX, &b), quantifiers = 0;

        if (r < 0)
                return r;
        text = copy_prefix(b.data, b.size);
        for (char *at = text, *end; *at; at = end + 1) {
                long op = strtol(at, &end, 10);

                if (end == at)
                        break;
                if (op > 0 && op < N_OPS)
                        h->unsupported[op] = true;
        }
        if (!strstr(text, "quantifiers ") || sscanf(strstr(text, "quantifiers "), "quantifiers %d", &quantifiers) != 1)
                return errorf(-EIO, "%s is damaged; take the file away", path);
        h->no_quantifier = quantifiers;
        return 0;
}

/* A chain that goes on must have the operators that it began with, so the answers are kept: the number of each operator that is left out, a line each, and
 * a last line for quantifiers. */
int operators_probe(struct campaign *c)
{
        struct unknown_hunt *h = unknown_hunt_of(c);
        cleanup_buffer struct buffer left_out = {0};
        char path[PATH_SIZE];
        int r = path_join(path, c->folder, "left-out");

        if (r == 0)
                r = take_up(path, h);
        if (r != -ENOENT)
                return r;
        r = probe_all(c, h);
        for (int op = 0; op < N_OPS; op++)
                if (h->unsupported[op])
                        buffer_addf(&left_out, "%d\n", op);
        buffer_addf(&left_out, "quantifiers %d\n", h->no_quantifier);
        return r < 0 ? r : write_file_atomic(path, left_out.data, left_out.size, 0600);
}
