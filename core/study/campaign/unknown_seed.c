/* Reads, cleans and labels the seeds of a campaign for unknowns, and judges them by the versions' answers. */
#include "core/study/campaign/campaign_unknown.h"

#include <ctype.h>

#include "core/smtlib/print.h"

/* Removes commands that ask for models or state an answer, and all from (exit) on; adds a check-sat if there is none. */
static void clean_script(struct script *s)
{
        bool has_check = false, is_over = false;

        for (size_t i = 0; i < s->n_commands;) {
                const struct command *c = &s->commands[i];

                is_over |= c->kind == COMMAND_EXIT;
                if (is_over || c->kind == COMMAND_GET || c->kind == COMMAND_GET_VALUE || c->kind == COMMAND_SET_INFO) {
                        script_remove(s, i);
                        continue;
                }
                has_check |= command_asks(c);
                i++;
        }
        if (!has_check)
                script_add_check(s);
}

static bool begins_with(const char *name, const char *what)
{
        return strncmp(name, what, strlen(what)) == 0 && !isalnum((unsigned char)name[strlen(what)]);
}

/* The label by the beginning of the file's name or of the nearest folder above it: "sat-17.smt2", "unsat/17.smt2". */
static enum verdict label_by_name(const char *name)
{
        enum verdict label = VERDICT_UNKNOWN;

        for (const char *part = name; part; part = strchr(part, '/') ? strchr(part, '/') + 1 : NULL)
                label = begins_with(part, "unsat") ? VERDICT_UNSAT : begins_with(part, "sat") ? VERDICT_SAT : label;
        return label;
}

static int seed_init(struct campaign *c, struct seed_formula *seed, struct script *s, const char *name)
{
        cleanup_buffer struct buffer text = {0};
        int r = 0;

        *seed = (struct seed_formula){.name = name, .label = c->settings->label, .implied = VERDICT_UNKNOWN};
        for (unsigned m = 0; m < N_LOGIC_MODES; m++)
                seed->base[m] = allocate(c->n_compared, sizeof(enum verdict));
        if (s->logic)
                snprintf(seed->logic, sizeof(seed->logic), "%.*s", (int)s->logic->name.size, (const char *)s->logic->name.data);
        if (seed->label == VERDICT_UNKNOWN) {
                r = script_print(s, NULL, &text);
                seed->label = case_status(FORMAT_SMT2, SLICE(text.data, text.size));
        }
        if (seed->label == VERDICT_UNKNOWN)
                seed->label = label_by_name(name);
        clean_script(s);
        r = r ?: script_print(s, &(struct print_options){.dialect = c->dialect}, &seed->text[LOGIC_STATED]);
        if (r < 0 || !s->logic || strcmp(seed->logic, "ALL") == 0)
                return r;
        for (size_t i = 0; i < s->n_commands; i++)
                if (s->commands[i].kind == COMMAND_SET_LOGIC) {
                        s->commands[i].symbol = symbol_of(s->bank, slice_string("ALL"));
                        s->commands[i].text = slice_string("(set-logic ALL)");
                }
        return script_print(s, &(struct print_options){.dialect = c->dialect}, &seed->text[LOGIC_ALL]);
}

int seeds_read(struct campaign *c, struct unknowns *u)
{
        int r = 0;

        u->seeds = allocate(c->corpus.n, sizeof(*u->seeds));
        for (; r == 0 && u->n_seeds < c->corpus.n; u->n_seeds++) {
                r = seed_init(c, &u->seeds[u->n_seeds], c->corpus.list[u->n_seeds].script, c->corpus.names[u->n_seeds]);
                formula_done(&c->corpus.list[u->n_seeds]); /* each chain reads it into a bank of its own */
        }
        return r;
}

/* The reason why no chain can begin here; "" if one can. Two answers may contradict each other: of two versions, or of a version in two logics. Then
 * seed->implied becomes the label or, without one, the first answer. */
static void find_objection(const struct campaign *c, struct seed_formula *seed, const enum verdict *base, const struct answer *runs, char ret[600])
{
        enum verdict answer = seed->implied;

        ret[0] = '\0';
        for (size_t v = 0; v < c->n_compared; v++) {
                if (!verdict_is_decided(base[v]) || base[v] == answer)
                        continue;
                if (!verdict_is_decided(answer)) {
                        answer = base[v];
                        continue;
                }
                snprintf(ret, 600, "%s says %s where %s was said", c->versions[v]->name, verdict_name(base[v]), verdict_name(answer));
                seed->implied = verdict_is_decided(seed->label) ? seed->label : answer;
                return;
        }
        for (size_t v = 0; ret[0] == '\0' && v < c->n_compared; v++)
                if (verdict_is_decided(base[v]) && verdict_is_decided(seed->label) && base[v] != seed->label)
                        snprintf(ret, 600, "it is said to be %s, and %s says %s", verdict_name(seed->label), c->versions[v]->name,
                                 verdict_name(base[v]));
        for (size_t v = 0; ret[0] == '\0' && v < c->n_compared; v++)
                if (!verdict_is_decided(base[v])) {
                        const char *how = runs && (base[v] == VERDICT_ERROR || base[v] == VERDICT_CRASH) ? runs[v].ending : "";

                        snprintf(ret, 600, "%s %s does not decide it: %s%s%s", v + 1 == c->n_compared ? "the target" : "the reference",
                                 c->versions[v]->name, verdict_name(base[v]), *how ? ": " : "", how);
                }
}

void seed_judge(struct campaign *c, struct chain_place at, const struct answer *runs)
{
        struct seed_formula *seed = at.seed;
        char why[600];

        if (seed->n_base[at.mode] < c->n_compared || seed->is_judged[at.mode])
                return;
        seed->is_judged[at.mode] = true;
        find_objection(c, seed, seed->base[at.mode], runs, why);
        if (why[0] == '\0') {
                seed->implied = seed->base[at.mode][0];
                return;
        }
        seed->is_out[at.mode] = true;
        c->status.skipped += at.mode == LOGIC_STATED;
        if (c->is_resumed) /* otherwise an earlier session reported it */
                campaign_say(c, "left out: %s%s: %s", seed->name, at.mode == LOGIC_ALL ? " in ALL" : "", why);
}
