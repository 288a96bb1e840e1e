/* solverfs set: add, list, remove. */
#include "words.h"

/* The ids of the cases that words name; free(). */
static int choose_ids(char *const *words, size_t n, uint32_t **ret, size_t *ret_n)
{
        cleanup_case_selection struct case_selection s = {0};
        int r = command_cases(words, n, &s);

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
                "Put cases into the set NAME, which is made if there is none. Wherever cases are chosen NAME then stands for all of them.\v"
                "Example: solverfs set add smoke 'QF_S/*.smt2' 42 && solverfs run z3 HEAD smoke";
        cleanup_free uint32_t *ids = NULL;
        struct words words = {0};
        size_t n, added;
        int r;

        command_parse(argc, argv, "NAME CASE...", doc, NULL, &words);
        if (words.n < 2)
                command_usage("expected NAME CASE...");
        r = command_open(0);
        if (r != STATUS_OK)
                return r;
        r = set_name_check(words.list[0]);
        if (r < 0)
                return fail_as(STATUS_USAGE, r);
        r = choose_ids(words.list + 1, words.n - 1, &ids, &n);
        if (r != STATUS_OK)
                return r;
        r = sets_add(workspace_sets(common.workspace), words.list[0], ids, n, &added);
        if (r < 0)
                return fail(r);
        note("set %s: %zu added, %zu in it already", words.list[0], added, n - added);
        return STATUS_OK;
}

/* -- list -- */

static int case_line(uint32_t id, bool json, const char *set)
{
        static const struct column columns[] = {{"SET", 16, false}, {"CASE", 6, true}, {"NAME", 0, false}};
        cleanup(case_info_unrefp) struct case_info *info = NULL;
        cleanup_free char *name = NULL;

        if (cases_get(workspace_cases(common.workspace), id, &info) < 0 || info->removed)
                return 0;
        name = printable(info->name);
        if (json)
                output_json(json_pack("{ss si ss}", "set", set, "case", (int)id, "name", name));
        else
                output_rowf(columns, ARRAY_SIZE(columns), "%s\t%u\t%s", set, id, name);
        return 1;
}

static void set_line(const struct case_set *set, bool json)
{
        static const struct column columns[] = {{"SET", 16, false}, {"CASES", 6, true}};

        if (json)
                output_json(json_pack("{ss sI sI}", "set", set->name, "cases", (json_int_t)set->n, "changed",
                                      (json_int_t)set->changed));
        else
                output_rowf(columns, ARRAY_SIZE(columns), "%s\t%zu", set->name, set->n);
}

int cmd_set_list(int argc, char **argv)
{
        static const char doc[] = "List the sets: name, number of cases. With NAMEs, the cases in them: set, id, name.";
        char **names = NULL;
        struct words words = {0};
        bool json = false;
        size_t n = 0;
        int r;
        const struct command_option options[] = {{"json", 'j', NULL, "Print a JSON object for each, a line each", .on = &json}, {0}};

        command_parse(argc, argv, "[NAME...]", doc, options, &words);
        r = command_open(0);
        if (r != STATUS_OK)
                return r;
        if (words.n == 0)
                r = sets_names(workspace_sets(common.workspace), &names, &n);
        for (size_t i = 0; r == 0 && i < (words.n > 0 ? words.n : n) && !output_broken(); i++) {
                cleanup(case_set_unrefp) struct case_set *set = NULL;

                r = sets_get(workspace_sets(common.workspace), words.n > 0 ? words.list[i] : names[i], &set);
                if (r == 0 && words.n == 0)
                        set_line(set, json);
                for (size_t j = 0; r == 0 && words.n > 0 && j < set->n; j++)
                        case_line(set->ids[j], json, set->name);
        }
        strings_free(names);
        return r < 0 ? fail(r) : STATUS_OK;
}

/* -- remove -- */

int cmd_set_remove(int argc, char **argv)
{
        static const char doc[] = "Take away the set NAME, or only some CASEs out of it. The cases themselves stay.";
        cleanup_free uint32_t *ids = NULL;
        struct words words = {0};
        size_t n = 0, taken;
        int r;

        command_parse(argc, argv, "NAME [CASE...]", doc, NULL, &words);
        if (words.n == 0)
                command_usage("expected the NAME of a set");
        r = command_open(0);
        if (r == STATUS_OK && words.n > 1)
                r = choose_ids(words.list + 1, words.n - 1, &ids, &n);
        if (r != STATUS_OK)
                return r;
        r = words.n > 1 ? sets_take(workspace_sets(common.workspace), words.list[0], ids, n, &taken)
                        : sets_remove(workspace_sets(common.workspace), words.list[0]);
        if (r < 0)
                return fail(r);
        if (words.n > 1)
                note("set %s: %zu taken out, %zu were not in it", words.list[0], taken, n - taken);
        else
                note("removed the set %s", words.list[0]);
        return STATUS_OK;
}
