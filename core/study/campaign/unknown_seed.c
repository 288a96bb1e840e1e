/* The seeds of a hunt for unknowns: read, cleaned, labelled; and judged, when the versions have answered. */
#include "core/study/campaign/campaign_unknown.h"

#include <ctype.h>

#include "core/smtlib/print.h"

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

int seeds_read(struct campaign *c, struct unknown_hunt *h)
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
