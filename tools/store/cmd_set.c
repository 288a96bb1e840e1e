/* solverfs set: add, list, remove. */
#include "tools/words.h"

/* The ids of the cases named by all words but the first; free(). */
static uint32_t *choose_ids(const struct words *words, size_t *ret_n)
{
        cleanup_case_selection struct case_selection s = {0};
        uint32_t *ids;

        command_cases(words->list + 1, words->n - 1, &s);
        ids = allocate(s.n + 1, sizeof(*ids));
        for (size_t i = 0; i < s.n; i++)
                ids[i] = s.list[i]->id;
        *ret_n = s.n;
        return ids;
}

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
        ids = choose_ids(&words, &n);
        command_must(sets_add(workspace_sets(common.workspace), words.list[0], ids, n, &added));
        note("set %s: %zu added, %zu in it already", words.list[0], added, n - added);
}

void cmd_set_list(int argc, char **argv)
{
        /* the sets, or the cases of those that were named */
        static const struct column sets[] = {{"SET", 16}, {"CASES", 6, true}, {0}}, cases[] = {{"SET", 16}, {"CASE", 6, true}, {"NAME"}, {0}};
        static const char doc[] = "List the sets: name, number of cases. With NAMEs, the cases in them: set, id, name.";
        struct words words = command_parse(argc, argv, "[NAME...]", doc, options_json);
        char **names = NULL;
        size_t n = words.n;

        command_open(0);
        if (words.n == 0)
                command_must(sets_names(workspace_sets(common.workspace), &names, &n));
        for (size_t i = 0; i < n && !output_broken(); i++) {
                cleanup(case_set_unrefp) struct case_set *set = NULL;
                json_int_t n_there = 0;
                int r = sets_get(workspace_sets(common.workspace), names ? names[i] : words.list[i], &set);

                if (r == -ENOENT && names) /* removed since */
                        continue;
                command_must(r);
                for (size_t j = 0; j < set->n; j++) {
                        cleanup(case_info_unrefp) struct case_info *info = NULL;

                        r = cases_get(workspace_cases(common.workspace), set->ids[j], &info);
                        if (r != -ENOENT)
                                command_must(r);
                        if (r < 0 || !case_is_there(info))
                                continue;
                        n_there++;
                        if (!names)
                                output_object(cases, json_pack("{ss si so}", "set", set->name, "case", (int)info->id, "name", json_printable(info->name)));
                }
                if (names)
                        output_object(sets, json_pack("{ss sI sI}", "set", set->name, "cases", n_there, "changed", (json_int_t)set->changed));
        }
        strings_free(names);
}

void cmd_set_remove(int argc, char **argv)
{
        static const char doc[] = "Take away the set NAME, or only some CASEs out of it. The cases themselves stay.";
        cleanup_free uint32_t *ids = NULL;
        size_t n, taken;
        struct words words = command_parse(argc, argv, "NAME [CASE...]", doc, NULL);

        command_open(0);
        if (words.n == 1) {
                command_must(sets_remove(workspace_sets(common.workspace), words.list[0]));
                note("removed the set %s", words.list[0]);
                return;
        }
        ids = choose_ids(&words, &n);
        command_must(sets_take(workspace_sets(common.workspace), words.list[0], ids, n, &taken));
        note("set %s: %zu taken out, %zu were not in it", words.list[0], taken, n - taken);
}
