/* The hunt for unknowns: seeds and what they should be, chains in their order, the journal told again. */
#include "core/study/campaign/campaign_unknown.h"

#include <ctype.h>
#include <inttypes.h>
#include <xxhash.h>

#include "core/smtlib/print.h"

/* -- seeds -- */

/* Mutants have no commands that ask for models or state an answer, and at least one check. */
static int clean_script(struct script *s)
{
        bool has_check = false;

        for (size_t i = 0; i < s->n_commands;) {
                const struct command *c = &s->commands[i];

                if (c->kind == COMMAND_GET || c->kind == COMMAND_GET_VALUE || c->kind == COMMAND_SET_INFO ||
                    c->kind == COMMAND_EXIT) {
                        script_remove(s, i);
                        continue;
                }
                has_check |= c->kind == COMMAND_CHECK_SAT || c->kind == COMMAND_CHECK_SAT_ASSUMING;
                i++;
        }
        return has_check ? 0 : script_add_check(s);
}

static int print_in_all(struct campaign *c, struct script *s, struct buffer *ret)
{
        const struct symbol *all = symbol_of(s->bank, slice_string("ALL"));

        if (!all)
                return -ENOMEM;
        for (size_t i = 0; i < s->n_commands; i++)
                if (s->commands[i].kind == COMMAND_SET_LOGIC) {
                        s->commands[i].symbol = all;
                        s->commands[i].text = slice_string("(set-logic ALL)");
                }
        return script_print(s, &(struct print_options){.dialect = c->dialect}, ret);
}

static bool begins_with(const char *name, const char *what)
{
        return strncmp(name, what, strlen(what)) == 0 && !isalnum((unsigned char)name[strlen(what)]);
}

/* By :status, else by the beginning of the file's name or of a folder's above it: "sat-17.smt2", "unsat/17.smt2". */
static int read_label(const struct script *s, const char *name, enum verdict *ret)
{
        *ret = VERDICT_UNKNOWN;
        for (size_t i = 0; i < s->n_commands; i++) {
                const struct command *c = &s->commands[i];
                cleanup_free char *text = NULL;

                if (c->kind != COMMAND_SET_INFO || !c->symbol || c->symbol->name.size != 7 ||
                    memcmp(c->symbol->name.data, ":status", 7) != 0)
                        continue;
                text = strndup(c->text.data, c->text.size);
                if (!text)
                        return -ENOMEM;
                *ret = strstr(text, "unsat") ? VERDICT_UNSAT : strstr(text, " sat") ? VERDICT_SAT : *ret;
        }
        for (const char *part = name; *ret == VERDICT_UNKNOWN && part; part = strchr(part, '/') ? strchr(part, '/') + 1 : NULL) {
                if (begins_with(part, "unsat"))
                        *ret = VERDICT_UNSAT;
                else if (begins_with(part, "sat"))
                        *ret = VERDICT_SAT;
        }
        return 0;
}

static int seed_init(struct campaign *c, struct seed *seed, struct script *s, const char *name)
{
        int r;

        *seed = (struct seed){.name = name, .label = c->settings->label, .implied = VERDICT_UNKNOWN};
        for (unsigned m = 0; m < N_LOGIC_MODES; m++) {
                seed->base[m] = calloc(c->n_compared, sizeof(enum verdict));
                if (!seed->base[m])
                        return -ENOMEM;
        }
        if (s->logic)
                snprintf(seed->logic, sizeof(seed->logic), "%.*s", (int)s->logic->name.size, (const char *)s->logic->name.data);
        r = seed->label == VERDICT_UNKNOWN ? read_label(s, name, &seed->label) : 0;
        if (r == 0)
                r = clean_script(s);
        if (r == 0)
                r = script_print(s, &(struct print_options){.dialect = c->dialect}, &seed->text[LOGIC_STATED]);
        if (r == 0 && s->logic && strcmp(seed->logic, "ALL") != 0)
                r = print_in_all(c, s, &seed->text[LOGIC_ALL]);
        return r;
}

static int read_seeds(struct campaign *c, struct unknown_hunt *h)
{
        int r = 0;

        h->seeds = calloc(c->corpus.n, sizeof(*h->seeds));
        if (!h->seeds)
                return -ENOMEM;
        for (; r == 0 && h->n_seeds < c->corpus.n; h->n_seeds++) {
                r = seed_init(c, &h->seeds[h->n_seeds], c->corpus.list[h->n_seeds], c->corpus.names[h->n_seeds]);
                script_free(steal_pointer(c->corpus.list[h->n_seeds])); /* each chain reads it into a bank of its own */
        }
        return r;
}

/* Chains follow from these. */
static int take_fingerprint(struct campaign *c, const struct unknown_hunt *h)
{
        XXH3_state_t *state = XXH3_createState();

        if (!state)
                return -ENOMEM;
        XXH3_64bits_reset(state);
        for (size_t i = 0; i < weaken_n_rules(h->weaken); i++) {
                const struct rule_row *row = weaken_rule(h->weaken, i);

                XXH3_64bits_update(state, row->name, strlen(row->name) + 1);
                XXH3_64bits_update(state, row->left, strlen(row->left) + 1);
                XXH3_64bits_update(state, row->right, strlen(row->right) + 1);
        }
        for (size_t i = 0; i < h->n_seeds; i++)
                XXH3_64bits_update(state, h->seeds[i].text[LOGIC_STATED].data, h->seeds[i].text[LOGIC_STATED].size);
        if (asprintf(&c->fingerprint, "%016" PRIx64, (uint64_t)XXH3_64bits_digest(state)) < 0)
                c->fingerprint = NULL;
        XXH3_freeState(state);
        return c->fingerprint ? 0 : -ENOMEM;
}

/* The first version whose answer is a decided one; SIZE_MAX: none. */
static size_t who_decides(const struct campaign *c, const enum verdict *base)
{
        for (size_t v = 0; v < c->n_compared; v++)
                if (verdict_is_decided(base[v]))
                        return v;
        return SIZE_MAX;
}

/* Two answers that contradict each other: of two versions, or of a version in two logics. What is said of it then counts, else the first. */
static bool is_contradicted(const struct campaign *c, struct seed *seed, const enum verdict *base, char why[600])
{
        size_t first = who_decides(c, base);
        enum verdict answer = verdict_is_decided(seed->implied) ? seed->implied
                              : first == SIZE_MAX               ? VERDICT_UNKNOWN
                                                                : base[first];

        for (size_t v = 0; v < c->n_compared; v++) {
                if (!verdict_is_decided(base[v]) || base[v] == answer)
                        continue;
                snprintf(why, 600, "%s says %s where %s was said", c->versions[v]->name, verdict_name(base[v]),
                         verdict_name(answer));
                seed->implied = verdict_is_decided(seed->label) ? seed->label : answer;
                return true;
        }
        return false;
}

/* Why no chain can begin here; "" when one can. */
static void find_objection(const struct campaign *c, struct seed *seed, const enum verdict *base, char ret[600])
{
        size_t first = who_decides(c, base);

        ret[0] = '\0';
        if (is_contradicted(c, seed, base, ret))
                return;
        if (first != SIZE_MAX && verdict_is_decided(seed->label) && base[first] != seed->label)
                snprintf(ret, 600, "it is said to be %s, and %s says %s", verdict_name(seed->label), c->versions[first]->name,
                         verdict_name(base[first]));
        for (size_t v = 0; ret[0] == '\0' && v < c->n_compared; v++)
                if (!verdict_is_decided(base[v]))
                        snprintf(ret, 600, "%s %s does not decide it: %s",
                                 v + 1 == c->n_compared ? "the target" : "the reference", c->versions[v]->name,
                                 verdict_name(base[v]));
}

void seed_judge(struct campaign *c, struct seed *seed, enum logic_mode mode)
{
        char why[600];

        if (seed->n_base[mode] < c->n_compared || seed->is_judged[mode])
                return;
        seed->is_judged[mode] = true;
        find_objection(c, seed, seed->base[mode], why);
        if (why[0] == '\0') {
                seed->implied = seed->base[mode][0];
                return;
        }
        seed->is_out[mode] = true;
        c->status.skipped += mode == LOGIC_STATED;
        if (c->journal) /* else it is told again, and was said */
                campaign_say(c, "left out: %s%s: %s", seed->name, mode == LOGIC_ALL ? " in ALL" : "", why);
}

/* -- chains -- */

static bool has_all(const struct seed *seed)
{
        return seed->text[LOGIC_ALL].size > 0;
}

void chain_place_of(struct campaign *c, uint64_t id, struct chain_place *ret)
{
        const struct unknown_hunt *h = unknown_hunt_of(c);
        unsigned done;

        *ret = (struct chain_place){.seed = &h->seeds[(id - 1) % h->n_seeds], .number = (unsigned)((id - 1) / h->n_seeds)};
        ret->mode = has_all(ret->seed) && ret->number % 2 ? LOGIC_ALL : LOGIC_STATED;
        done = ret->number * c->settings->chain;
        ret->steps = MIN(c->settings->chain, c->settings->iterations - done);
}

static int next(struct campaign *c, struct strategy_input *ret)
{
        struct unknown_hunt *h = unknown_hunt_of(c);
        struct chain_place place;

        while (h->last < h->n_seeds * (uint64_t)h->chains) {
                h->last++;
                chain_place_of(c, h->last, &place);
                if (place.seed->is_out[place.mode])
                        continue;
                *ret = (struct strategy_input){.id = h->last, .source = "chain"};
                return 0;
        }
        return errorf(-ENOSPC, "every seed had its %u iterations", c->settings->iterations);
}

static int next_again(struct campaign *c, const struct campaign_record *r, struct strategy_input *ret)
{
        struct unknown_hunt *h = unknown_hunt_of(c);

        if (r->id == 0 || r->id > h->n_seeds * (uint64_t)h->chains)
                return errorf(-EIO, "the campaign's journal does not fit its settings");
        h->last = MAX(h->last, r->id);
        *ret = (struct strategy_input){.id = r->id, .source = "chain"};
        return 0;
}

/* -- counting -- */

static void count_step(struct campaign *c, const struct campaign_record *r)
{
        struct unknown_hunt *h = unknown_hunt_of(c);
        bool is_target = r->version + 1 == c->n_compared;
        struct chain_place place;

        c->status.runs++;
        c->status.solving += r->seconds;
        if (r->step == 0) {
                chain_place_of(c, r->id, &place);
                if (r->version < c->n_compared && !place.seed->is_judged[place.mode]) {
                        place.seed->base[place.mode][r->version] = r->verdict;
                        place.seed->n_base[place.mode] = MAX(place.seed->n_base[place.mode], r->version + 1);
                }
                return;
        }
        c->status.inputs += is_target;
        if (is_target && r->rule < weaken_n_rules(h->weaken)) {
                struct rule_use *u = &h->uses[r->rule];

                u->used++;
                *(verdict_is_decided(r->verdict)  ? &u->decided
                  : r->verdict == VERDICT_UNKNOWN ? &u->unknown
                  : r->verdict == VERDICT_TIMEOUT ? &u->timeout
                                                  : &u->other) += 1;
        }
}

static void count_number(struct unknown_hunt *h, uint32_t number)
{
        struct known_finding *k = signature_of(h, number);

        if (k)
                k->is_counted = true;
        for (size_t i = 0; i < h->n_counts; i++)
                if (h->counts[i].number == number) {
                        h->counts[i].n++;
                        return;
                }
        if (list_grow(h->counts, h->n_counts) == 0)
                h->counts[h->n_counts++] = (struct finding_count){.number = number, .n = 1};
}

static void count_found(struct campaign *c, const struct campaign_record *r)
{
        c->status.candidates += r->kind == FINDING_REGRESSION || r->kind == FINDING_IMPLICATION;
        if (r->cause == 0) {
                c->status.rejected++;
                return;
        }
        count_number(unknown_hunt_of(c), (uint32_t)r->cause);
        if (!r->is_find) {
                c->status.duplicates++;
                return;
        }
        if (r->kind == FINDING_REGRESSION)
                campaign_add_found(c, r->cause, (uint32_t)r->cause);
        c->status.soundness += r->kind == FINDING_SOUNDNESS;
        c->status.crashes += r->kind == FINDING_CRASH;
        c->status.implications += r->kind == FINDING_IMPLICATION;
        c->status.finds += r->kind == FINDING_REGRESSION || r->kind == FINDING_IMPLICATION;
}

void unknown_hunt_count(struct campaign *c, const struct campaign_record *r)
{
        if (r->event == EVENT_STEP)
                count_step(c, r);
        else
                count_found(c, r);
}

void unknown_hunt_drop(struct unknown_hunt *h, uint64_t id)
{
        size_t n = 0;

        for (size_t i = 0; i < h->n_left; i++)
                if (h->left[i].id != id)
                        h->left[n++] = h->left[i];
        h->n_left = n;
}

static int replay(struct campaign *c, const struct campaign_record *r)
{
        struct unknown_hunt *h = unknown_hunt_of(c);
        struct chain_place place;

        if (r->event == EVENT_FINISH) {
                unknown_hunt_drop(h, r->id);
                return 0;
        }
        if ((r->event != EVENT_STEP && r->event != EVENT_FOUND) || r->id == 0 || r->id > h->n_seeds * (uint64_t)h->chains)
                return errorf(-EIO, "the campaign's journal does not fit its settings");
        unknown_hunt_count(c, r);
        if (r->event == EVENT_STEP && r->step == 0) {
                chain_place_of(c, r->id, &place);
                seed_judge(c, place.seed, place.mode);
        }
        if (list_grow(h->left, h->n_left) < 0)
                return -ENOMEM;
        h->left[h->n_left++] = *r;
        return 0;
}

/* The commits responsible change nothing of what comes next. */
static void learned(struct campaign *c, uint64_t id, uint64_t cause)
{
        (void)c, (void)id, (void)cause;
}

/* -- life -- */

static int check(const struct campaign_settings *s)
{
        if (!s->corpus)
                return errorf(-EINVAL, "a campaign for unknowns needs --seeds, a folder of formulas to begin with");
        if (s->iterations == 0 || s->chain == 0)
                return errorf(-EINVAL, "--iterations and --chain must be greater than zero");
        return 0;
}

static int begin(struct campaign *c)
{
        struct unknown_hunt *h = calloc(1, sizeof(*h));
        int r = h ? weaken_new(NULL, 0, &h->weaken) : -ENOMEM;

        c->state = h;
        if (r < 0)
                return r;
        h->chains = (c->settings->iterations + c->settings->chain - 1) / c->settings->chain;
        h->uses = calloc(weaken_n_rules(h->weaken), sizeof(*h->uses));
        c->status.soundness = c->status.crashes = 0; /* the journal has them */
        r = h->uses ? read_seeds(c, h) : -ENOMEM;
        if (r == 0)
                r = take_fingerprint(c, h);
        if (r == 0)
                r = signatures_load(c);
        return r < 0 ? r : operators_probe(c);
}

static void end(struct campaign *c)
{
        struct unknown_hunt *h = unknown_hunt_of(c);

        for (size_t i = 0; i < h->n_seeds; i++)
                for (unsigned m = 0; m < N_LOGIC_MODES; m++) {
                        buffer_done(&h->seeds[i].text[m]);
                        free(h->seeds[i].base[m]);
                }
        for (size_t i = 0; i < h->n_known; i++)
                free(h->known[i].signature);
        weaken_free(h->weaken);
        free(h->seeds);
        free(h->known);
        free(h->counts);
        free(h->uses);
        free(h->left);
        free(h);
}

static void print_table(struct campaign *c, struct buffer *ret)
{
        const struct unknown_hunt *h = unknown_hunt_of(c);

        buffer_adds(ret, "rule\tused\tdecided\tunknown\ttimeout\tother\n");
        for (size_t i = 0; i < weaken_n_rules(h->weaken); i++) {
                const struct rule_use *u = &h->uses[i];

                buffer_addf(ret, "%s\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\n",
                            weaken_rule(h->weaken, i)->name, u->used, u->decided, u->unknown, u->timeout, u->other);
        }
}

const struct campaign_hunt hunt_unknowns = {
        .table = "rules.tsv",
        .check = check,
        .begin = begin,
        .end = end,
        .next = next,
        .next_again = next_again,
        .replay = replay,
        .try = chain_try,
        .learned = learned,
        .print_table = print_table,
        .record = signatures_keep,
};
