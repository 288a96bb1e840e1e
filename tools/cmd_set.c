/* solverfs set: add, list, remove. */
#include "words.h"

struct words {
        char **list;
        size_t n;
        bool json;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
        struct words *o = state->input;

        switch (key) {
        case 'j':
                o->json = true;
                return 0;
        case ARGP_KEY_ARGS:
                o->list = state->argv + state->next;
                o->n = (size_t)(state->argc - state->next);
                return 0;
        default:
                return ARGP_ERR_UNKNOWN;
        }
}

static error_t parse_name(int key, char *arg, struct argp_state *state)
{
        if (key == ARGP_KEY_NO_ARGS)
                argp_error(state, "expected the NAME of a set");
        return parse(key, arg, state);
}

static error_t parse_name_and_cases(int key, char *arg, struct argp_state *state)
{
        const struct words *o = state->input;

        if (key == ARGP_KEY_NO_ARGS || (key == ARGP_KEY_END && o->n < 2))
                argp_error(state, "expected NAME CASE...");
        return parse(key, arg, state);
}

/* The ids of the cases that words name; free(). */
static int choose_ids(struct workspace *w, char *const *words, size_t n, uint32_t **ret, size_t *ret_n)
{
        cleanup_case_selection struct case_selection s = {0};
        int r = command_cases(w, words, n, &s);

        if (r != STATUS_OK)
                return r;
        *ret_n = s.n;
        *ret = calloc(s.n + 1, sizeof(**ret));
        if (!*ret)
                return fail(-ENOMEM);
        for (size_t i = 0; i < s.n; i++)
                (*ret)[i] = s.list[i]->id;
        return STATUS_OK;
}

/* -- add -- */

int cmd_set_add(int argc, char **argv)
{
        static const char doc[] =
                "Put cases into the set NAME, which is made if there is none. Wherever cases are chosen NAME then stands "
                "for all of them.\v"
                "Example: solverfs set add smoke 'QF_S/*.smt2' 42 && solverfs run z3 HEAD smoke";
        cleanup_workspace struct workspace *w = NULL;
        cleanup_free uint32_t *ids = NULL;
        struct words o = {0};
        size_t n, added;
        int r;

        command_parse(&(struct argp){NULL, parse_name_and_cases, "NAME CASE...", doc}, argc, argv, &o);
        r = command_open(0, &w);
        if (r != STATUS_OK)
                return r;
        r = set_name_check(o.list[0]);
        if (r < 0)
                return fail_as(STATUS_USAGE, r);
        r = choose_ids(w, o.list + 1, o.n - 1, &ids, &n);
        if (r != STATUS_OK)
                return r;
        r = sets_add(workspace_sets(w), o.list[0], ids, n, &added);
        if (r < 0)
                return fail(r);
        note("set %s: %zu added, %zu in it already", o.list[0], added, n - added);
        return STATUS_OK;
}

/* -- list -- */

static int case_line(struct workspace *w, uint32_t id, bool json, const char *set)
{
        static const struct column columns[] = {{"SET", 16, false}, {"CASE", 6, true}, {"NAME", 0, false}};
        cleanup(case_info_unrefp) struct case_info *info = NULL;
        cleanup_free char *name = NULL;
        char text[16];

        if (cases_get(workspace_cases(w), id, &info) < 0 || info->removed)
                return 0;
        name = printable(info->name);
        snprintf(text, sizeof(text), "%u", id);
        if (json)
                output_json(json_pack("{ss si ss}", "set", set, "case", (int)id, "name", name));
        else
                output_row(columns, ARRAY_SIZE(columns), (const char *[]){set, text, name});
        return 1;
}

static void set_line(const struct case_set *set, bool json)
{
        static const struct column columns[] = {{"SET", 16, false}, {"CASES", 6, true}};
        char text[24];

        snprintf(text, sizeof(text), "%zu", set->n);
        if (json)
                output_json(json_pack("{ss sI sI}", "set", set->name, "cases", (json_int_t)set->n, "changed",
                                      (json_int_t)set->changed));
        else
                output_row(columns, ARRAY_SIZE(columns), (const char *[]){set->name, text});
}

int cmd_set_list(int argc, char **argv)
{
        static const struct argp_option options[] = {{"json", 'j', NULL, 0, "Print a JSON object for each, a line each", 0}, {0}};
        static const char doc[] = "List the sets: name, number of cases. With NAMEs, the cases in them: set, id, name.";
        cleanup_workspace struct workspace *w = NULL;
        char **names = NULL;
        struct words o = {0};
        size_t n = 0;
        int r;

        command_parse(&(struct argp){options, parse, "[NAME...]", doc}, argc, argv, &o);
        r = command_open(0, &w);
        if (r != STATUS_OK)
                return r;
        if (o.n == 0)
                r = sets_names(workspace_sets(w), &names, &n);
        for (size_t i = 0; r == 0 && i < (o.n > 0 ? o.n : n) && !output_broken(); i++) {
                cleanup(case_set_unrefp) struct case_set *set = NULL;

                r = sets_get(workspace_sets(w), o.n > 0 ? o.list[i] : names[i], &set);
                if (r == 0 && o.n == 0)
                        set_line(set, o.json);
                for (size_t j = 0; r == 0 && o.n > 0 && j < set->n; j++)
                        case_line(w, set->ids[j], o.json, set->name);
        }
        strings_free(names);
        return r < 0 ? fail(r) : STATUS_OK;
}

/* -- remove -- */

int cmd_set_remove(int argc, char **argv)
{
        static const char doc[] = "Take away the set NAME, or only some CASEs out of it. The cases themselves stay.";
        cleanup_workspace struct workspace *w = NULL;
        cleanup_free uint32_t *ids = NULL;
        struct words o = {0};
        size_t n = 0, taken;
        int r;

        command_parse(&(struct argp){NULL, parse_name, "NAME [CASE...]", doc}, argc, argv, &o);
        r = command_open(0, &w);
        if (r == STATUS_OK && o.n > 1)
                r = choose_ids(w, o.list + 1, o.n - 1, &ids, &n);
        if (r != STATUS_OK)
                return r;
        r = o.n > 1 ? sets_take(workspace_sets(w), o.list[0], ids, n, &taken) : sets_remove(workspace_sets(w), o.list[0]);
        if (r < 0)
                return fail(r);
        if (o.n > 1)
                note("set %s: %zu taken out, %zu were not in it", o.list[0], taken, n - taken);
        else
                note("removed the set %s", o.list[0]);
        return STATUS_OK;
}
