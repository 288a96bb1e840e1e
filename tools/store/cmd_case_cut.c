/* solverfs case cut: cuts a script down to one of its queries. */
#include "core/why/cut/predecessors.h"
#include "tools/words.h"

struct cutting {
        const char *output, *solver, *at, *on;
        uint64_t timeout, pairs;
        struct cut *cut;
};

static void read_case(struct cutting *o, const char *word, struct blob *ret)
{
        cleanup_case_selection struct case_selection cases = {0};
        const struct case_info *info;
        int r;

        command_cases((char *const *)&word, 1, &cases);
        if (cases.n != 1)
                command_refuse(STATUS_USAGE, "one query is cut at a time; '%s' stands for %zu", word, cases.n);
        info = cases.list[0];
        if (info->format != FORMAT_SMT2)
                command_refuse(STATUS_USAGE, "'%s' is DIMACS, which asks one query: there is nothing to cut", word);
        if (info->n_expected == 0)
                command_refuse(STATUS_USAGE, "%s asks nothing: there is nothing to cut", word);
        if (info->query == 0)
                command_refuse(STATUS_USAGE, "which query of case %u? name one of %s#1 to %s#%zu", info->id, word, word, info->n_expected);
        command_must(cases_read_bytes(workspace_cases(common.workspace), info, CASE_SIZE_MAX, ret));
        r = cut_read(SLICE(ret->data, ret->size), info->query, &o->cut);
        if (r == -EINVAL)
                r = errorf(r, "%s: %s", info->name, error_message(r));
        command_must(r);
}

/* JSON holds only UTF-8: refuses what it cannot hold before a run. */
static void check_text(const struct cutting *o, bool runs)
{
        cleanup_free bool *all = allocate(o->cut->query, sizeof(*all));
        cleanup_buffer struct buffer text = {0};
        json_t *j;

        memset(all, true, o->cut->query);
        command_must(cut_write(o->cut, runs ? CUT_WHOLE : CUT_ALONE, runs ? all : NULL, &text));
        j = json_stringn(text.data, text.size);
        if (!j)
                command_refuse(STATUS_FAILED, "the script has bytes that are not valid UTF-8, so JSON cannot hold it: write it to a file with -o");
        json_decref(j);
}

static void find_predecessors(const struct cutting *o, struct predecessors *ret)
{
        cleanup_version struct version *version = NULL;
        struct predecessors_options options = {.workspace = common.workspace, .timeout_ns = o->timeout, .most_pairs = o->pairs,
                                               .cancel_fd = common.signals, .progress = &command_progress};

        command_must_usage(version_parse(common.workspace, common.solver, o->at, common.signals, &version));
        command_engine();
        command_must(version_build(common.engine, common.workspace, version, PRIORITY_PERSON, common.signals));
        options.version = version;
        command_must(predecessors_find(o->cut, &options, ret));
}

static json_t *time_json(const struct query_time *t)
{
        return json_pack("{sf ss}", "seconds", t->median, "answer", verdict_name(t->answer));
}

/* `p` is set if `ran`. */
static void show_json(const struct cutting *o, const struct predecessors *p, bool ran, const struct buffer *text)
{
        json_t *after = json_array(), *j = json_pack("{sI sI so so*}", "query", (json_int_t)o->cut->query, "line", (json_int_t)o->cut->line, "after",
                                                     after, "text", o->output ? NULL : json_stringn_nocheck(text->data, text->size));

        for (size_t i = 0, n = 0; n < p->n_kept; i++)
                if (p->is_kept[i] && ++n)
                        json_array_append_new(after, json_integer((json_int_t)i + 1));
        if (ran)
                json_object_update_new(j, json_pack("{ss sb sb sb sI sI so so so*}", "in-script", judge_change_name(p->change, JUDGE_TIME), "certain",
                                                    p->is_certain, "only", p->is_only, "popped-matters", p->form == CUT_WHOLE, "pairs",
                                                    (json_int_t)p->script.pairs, "all-runs", (json_int_t)p->runs, "alone", time_json(&p->alone), "script",
                                                    time_json(&p->script), "found", p->form == CUT_ALONE ? NULL : time_json(&p->found)));
        output_json(j);
}

static void show(struct cutting *o, const struct predecessors *p, bool ran)
{
        cleanup_buffer struct buffer text = {0}, sentence = {0}, differ = {0};

        command_must(cut_write(o->cut, p->form, p->is_kept, &text));
        command_write_result(&o->output, &text);
        if (common.json)
                show_json(o, p, ran, &text);
        if (!ran)
                return;
        predecessors_sentence(p, &sentence);
        note("query %zu (line %zu): %s", o->cut->query, o->cut->line, sentence.data);
        if (p->alone.answer == p->script.answer || p->alone.answer > VERDICT_UNKNOWN || p->script.answer > VERDICT_UNKNOWN)
                return;
        buffer_addf(&differ, "query %zu is %s alone and %s in the script", o->cut->query, verdict_name(p->alone.answer), verdict_name(p->script.answer));
        if (verdict_is_decided(p->alone.answer) && verdict_is_decided(p->script.answer)) {
                alarm_line("%s", differ.data);
                command_worse(STATUS_FAILED);
        } else {
                note("%s", differ.data);
        }
}

void cmd_case_cut(int argc, char **argv)
{
        static const char doc[] =
                "Print the script that asks only query N of a script, its N-th check-sat: with the declarations, options and assertions that are in force "
                "there; push, pop and reset resolved.\v"
                "With --at, the query is run alone and in the script, over seeds where the recipe has one. Where it is slower in the script, delta "
                "debugging finds after which earlier queries, and the script that asks these and it is printed. A sentence on standard error says what "
                "was found. A query's time is from the answer before it to its own.\n\n"
                "  solverfs case cut 42#17 -o query.smt2\n"
                "  solverfs case cut 42#17 --solver z3 --at z3-4.8.8 -o query.smt2";
        static struct cutting o;
        static struct predecessors p;
        const struct command_option options[] = {
                {"solver", 0, "SOLVER", "Run it on this solver; not with 'exec:PATH ARG...'", .text = &o.solver},
                {"at", 0, "VERSION", "A revision, REV:ARG..., or 'exec:PATH ARG...'; HEAD unless given", .text = &o.at},
                OPTION_TIMEOUT(o.timeout),
                {"pairs", 0, "N", "At most N pairs of runs, alone and in the script (24)", .big_number = &o.pairs, .least = JUDGE_FIRST_PAIRS,
                 .most = JUDGE_PAIRS},
                OPTION_ON(o.on),
                {"output", 'o', "FILE", "Write the script to FILE; default: standard output", .file = &o.output},
                OPTION_JSON("Print the result as JSON, with the script unless -o is given"),
                {0}};
        struct words words = command_parse(argc, argv, "CASE#N", doc, options);
        cleanup_blob struct blob input = {0};
        const bool runs = o.solver || o.at;

        if (o.at && !o.solver && !program_is_text(o.at))
                command_usage("--at %s wants a --solver", o.at);
        if (!runs && (o.on || o.timeout > 0 || o.pairs > 0))
                command_usage("nothing is run without --solver or --at: no --on, --timeout or --pairs");
        command_signals();
        command_open(0);
        if (runs)
                command_open_solver_with(o.on, o.solver ?: RECIPE_PROGRAMS, &o.at, 1);
        o.at = o.at ?: "HEAD";
        o.pairs = o.pairs ?: judge_usual_pairs(1);
        read_case(&o, words.list[0], &input);
        if (common.json && !o.output)
                check_text(&o, runs);
        if (runs)
                find_predecessors(&o, &p);
        show(&o, &p, runs);
        predecessors_done(&p);
        o.cut = cut_free(o.cut);
}
