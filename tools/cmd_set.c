/* solverfs set: add, list, remove. */
#include "words.h"

/* The ids of the cases that words name; free(). */
static uint32_t *choose_ids(char *const *words, size_t n, size_t *ret_n)
{
        cleanup_case_selection struct case_selection s = {0};
        uint32_t *ids;

        command_cases(words, n, &s);
        ids = allocate(s.n + 1, sizeof(*ids));
        for (size_t i = 0; i < s.n; i++)
                ids[i] = s.list[i]->id;
        *ret_n = s.n;
        return ids;
}

/* -- add -- */

void cmd_set_add(int argc, char **argv)
{
        static const char doc[] =
                "Put cases into the set NAME, which is made if there is none. Wherever cases are chosen NAME then stands for all of them.\v"
                "Example: solverfs set add smoke 'QF_S/*.smt2' 42 && solverfs run z3 HEAD smoke";
        cleanup_free uint32_t *ids = NULL;
        size_t n, added;
        struct words words = command_parse(argc, argv, "NAME CASE...", doc, NULL);

        command_open(0);
        command_must_as(STATUS_USAGE, set_name_check(words.list[0]));
        ids = choose_ids(words.list + 1, words.n - 1, &n);
        command_must(sets_add(workspace_sets(common.workspace), words.list[0], ids, n, &added));
        note("set %s: %zu added, %zu in it already", words.list[0], added, n - added);
}

/* -- list -- */

static void case_line(uint32_t id, const char *set)
{
        static const struct column columns[] = {{"SET", 16, false}, {"CASE", 6, true}, {"NAME", 0, false}};
        cleanup(case_info_unrefp) struct case_info *info = NULL;
        cleanup_free char *name = NULL;

        if (cases_get(workspace_cases(common.workspace), id, &info) < 0 || info->removed)
                return;
        name = printable(info->name);
        if (common.json)
                output_json(json_pack("{ss si ss}", "set", set, "case", (int)id, "name", name));
        else
                output_rowf(columns, ARRAY_SIZE(columns), "%s\t%u\t%s", set, id, name);
}

static void set_line(const struct case_set *set)
{
        static const struct column columns[] = {{"SET", 16, false}, {"CASES", 6, true}};

        if (common.json)
                output_json(json_pack("{ss sI sI}", "set", set->name, "cases", (json_int_t)set->n, "changed",
                                      (json_int_t)set->changed));
        else
                output_rowf(columns, ARRAY_SIZE(columns), "%s\t%zu", set->name, set->n);
}

void cmd_set_list(int argc, char **argv)
{
        static const char doc[] = "List the sets: name, number of cases. With NAMEs, the cases in them: set, id, name.";
        char **names = NULL;
        size_t n = 0;
        int r = 0;
        struct words words = command_parse(argc, argv, "[NAME...]", doc, options_json);

        command_open(0);
        if (words.n == 0)
                r = sets_names(workspace_sets(common.workspace), &names, &n);
        for (size_t i = 0; r == 0 && i < (words.n > 0 ? words.n : n) && !output_broken(); i++) {
                cleanup(case_set_unrefp) struct case_set *set = NULL;

                r = sets_get(workspace_sets(common.workspace), words.n > 0 ? words.list[i] : names[i], &set);
                if (r == 0 && words.n == 0)
                        set_line(set);
                for (size_t j = 0; r == 0 && words.n > 0 && j < set->n; j++)
                        case_line(set->ids[j], set->name);
        }
        strings_free(names);
        command_must(r);
}

/* -- remove -- */

void cmd_set_remove(int argc, char **argv)
{
        static const char doc[] = "Take away the set NAME, or only some CASEs out of it. The cases themselves stay.";
        struct sets *sets;
        cleanup_free uint32_t *ids = NULL;
        size_t n = 0, taken;
        struct words words = command_parse(argc, argv, "NAME [CASE...]", doc, NULL);

        command_open(0);
        sets = workspace_sets(common.workspace);
        if (words.n > 1) {
                ids = choose_ids(words.list + 1, words.n - 1, &n);
                command_must(sets_take(sets, words.list[0], ids, n, &taken));
                note("set %s: %zu taken out, %zu were not in it", words.list[0], taken, n - taken);
        } else {
                command_must(sets_remove(sets, words.list[0]));
                note("removed the set %s", words.list[0]);
        }
}
