/* solverfs case cut: the script that asks one query of another. */
#include "core/why/cut/predecessors.h"
#include "tools/words.h"

#define INPUT_MOST ((size_t)1 << 32)

struct cutting {
        const char *output, *solver, *at, *on, *after;
        uint64_t timeout, pairs;
        struct blob input;
        uint32_t query;
        struct cut *cut;
        bool *is_kept; /* of the queries before */
};

/* -- the input -- */

static void must_be_script(enum format f, const char *what)
{
        if (f != FORMAT_SMT2)
                command_refuse(STATUS_USAGE, "%s is DIMACS, which asks one query: there is nothing to cut", what);
}

/* A file that is no case: NAME#N. */
static int read_named_file(struct cutting *o, const char *word)
{
        const char *mark = strrchr(word, '#');
        cleanup_free char *path = copy_prefix(word, mark ? (size_t)(mark - word) : strlen(word));
        int r = mark && sscanf(mark + 1, "%" SCNu32, &o->query) == 1 && mark[1 + strspn(mark + 1, "0123456789")] == '\0' ? access(path, R_OK) : -1;

        if (r == 0)
                r = read_file(path, INPUT_MOST, &o->input);
        if (r == 0)
                must_be_script(case_format(path, SLICE(o->input.data, o->input.size)), path);
        return r;
}

static void read_word(struct cutting *o, const char *word)
{
        cleanup_case_selection struct case_selection cases = {0};
        const struct case_info *info;
        int r = cases_select(common.workspace, (char *const *)&word, 1, &cases);

        if (r < 0) {
                cleanup_free char *why = copy_string(error_message(r));

                if (read_named_file(o, word) < 0)
                        command_must_usage(errorf(r, "%s", why));
                return;
        }
        if (cases.n != 1)
                command_refuse(STATUS_USAGE, "one query is cut at a time; '%s' stands for %zu", word, cases.n);
        info = cases.list[0];
        must_be_script(info->format, word);
        if (info->query == 0)
                command_refuse(STATUS_USAGE, "which query of case %u? %s#1 to %s#%zu", info->id, word, word, info->n_expected);
        o->query = info->query;
        command_must(cases_read_bytes(workspace_cases(common.workspace), info, INPUT_MOST, &o->input));
}

/* "3,7" */
static void parse_after(struct cutting *o)
{
        for (const char *p = o->after; p && *p;) {
                size_t n = strspn(p, "0123456789");
                unsigned long number = n > 0 && n < 10 ? strtoul(p, NULL, 10) : 0;

                if (number == 0 || (p[n] != '\0' && (p[n] != ',' || p[n + 1] == '\0')))
                        command_usage("--after takes numbers of queries, such as 3,7, not '%s'", o->after);
                if (number >= o->query)
                        command_usage("query %lu does not precede query %" PRIu32, number, o->query);
                o->is_kept[number - 1] = true;
                p += n + (p[n] == ',');
        }
}

/* -- what came of it -- */

static json_t *times_json(const struct query_times *t)
{
        return json_pack("{sf sI sI ss}", "seconds", t->median, "runs", (json_int_t)t->n, "answered", (json_int_t)t->answered, "answer",
                         t->answered > 0 ? verdict_name(t->answer) : "none");
}

/* `p` NULL: nothing was run. */
static void show_json(const struct cutting *o, const struct predecessors *p, const struct buffer *text)
{
        json_t *after = json_array(), *j;

        for (uint32_t i = 0; i + 1 < o->query; i++)
                if (o->is_kept[i])
                        json_array_append_new(after, json_integer((json_int_t)i + 1));
        j = json_pack("{sI sI so so*}", "query", (json_int_t)o->query, "line", (json_int_t)cut_line(o->cut, o->query), "after", after, "text",
                      o->output ? NULL : json_stringn_nocheck(text->data, text->size));
        if (p) {
                json_object_update_new(j, json_pack("{ss sb sI so so so*}", "in-script", judge_change_name(p->change, JUDGE_TIME), "popped-matters",
                                                    p->form == CUT_WHOLE, "all-runs", (json_int_t)p->runs, "alone", times_json(&p->alone), "script",
                                                    times_json(&p->script), "found", p->form == CUT_ALONE ? NULL : times_json(&p->after)));
                if (p->form != CUT_ALONE)
                        json_object_set_new(j, "certain", json_boolean(p->is_certain));
        }
        output_json(j);
}

static void show(const struct cutting *o, const struct predecessors *p, enum cut_form form)
{
        cleanup_buffer struct buffer text = {0}, sentence = {0};

        command_must(cut_write(o->cut, form, o->is_kept, &text));
        if (o->output)
                command_write_file(o->output, 0, &text);
        else if (!common.json)
                output_write(&text);
        if (common.json)
                show_json(o, p, &text);
        if (!p)
                return;
        predecessors_sentence(p, &sentence);
        note("query %" PRIu32 " (line %zu): %s", o->query, cut_line(o->cut, o->query), sentence.data);
        if (!predecessors_contradict(p))
                return;
        alarm_line("query %" PRIu32 " is %s alone and %s in the script", o->query, verdict_name(p->alone.answer), verdict_name(p->script.answer));
        command_worse(STATUS_FAILED);
}

static void find_predecessors(struct cutting *o)
{
        cleanup_predecessors struct predecessors p = {0};
        cleanup_version struct version *version = NULL;
        struct predecessors_options options = {.workspace = common.workspace, .timeout_ns = o->timeout, .most_pairs = o->pairs, .cancel_fd = common.signals,
                                               .progress = &command_progress};
        int r;

        command_must_usage(version_parse(common.workspace, common.solver, o->at, &version));
        command_engine();
        command_must(version_build(common.engine, common.workspace, version, PRIORITY_PERSON, common.signals));
        options.version = version;
        r = predecessors_find(o->cut, &options, &p);
        progress_clear();
        if (r < 0)
                command_must_as(r == -ENODATA ? STATUS_FAILED : status_of(r), r);
        memcpy(o->is_kept, p.is_kept, (o->query - 1) * sizeof(*o->is_kept));
        show(o, &p, p.form);
}

void cmd_case_cut(int argc, char **argv)
{
        static const char doc[] =
                "Print the script that asks only one query of a script, CASE#N (or FILE#N), the N-th check-sat: with the declarations, options and assertions "
                "in force there; push, pop and reset resolved.\v"
                "With --at, the query is run alone and in the script, over seeds where the recipe has one. Where it is slower in the script, it is found after "
                "which earlier queries (delta debugging), and the script that asks these and it is printed. A sentence on standard error says what was "
                "found. A query's time is from the answer before it to its own.\n\n"
                "  solverfs case cut 42#17 -o query.smt2\n"
                "  solverfs case cut 42#17 --after 3,7\n"
                "  solverfs case cut 42#17 --solver z3 --at z3-4.8.8 -o query.smt2";
        static struct cutting o;
        const struct command_option options[] = {
                {"after", 0, "N,N...", "Keep these earlier queries, each in the context that it has", .text = &o.after},
                {"solver", 0, "SOLVER", "Run it on this solver; not with 'exec:PATH ARG...'", .text = &o.solver},
                {"at", 0, "VERSION", "A revision, REV:ARG..., or 'exec:PATH ARG...'; HEAD unless given", .text = &o.at},
                OPTION_TIMEOUT(o.timeout),
                {"pairs", 0, "N", "At most N pairs of runs, alone and in the script (24)", .big_number = &o.pairs, .least = JUDGE_FIRST_PAIRS, .most = JUDGE_PAIRS},
                OPTION_ON(o.on),
                {"output", 'o', "FILE", "Write the script to FILE; default: standard output", .text = &o.output},
                OPTION_JSON("Print what came of it as JSON; the script too, without -o"),
                {0}};
        struct words words = command_parse(argc, argv, "CASE#N", doc, options);
        const bool runs = o.solver || o.at;
        int r;

        if (runs && o.after)
                command_usage("--after is for scripts that are not run: with --at the queries are found");
        if (o.at && !o.solver && !program_is_text(o.at))
                command_usage("--at %s wants a --solver", o.at);
        command_signals();
        command_open(0);
        if (o.at && !o.solver)
                command_program(&o.at);
        if (runs)
                command_open_solver(0, o.on, o.solver ?: RECIPE_PROGRAMS);
        o.at = o.at ?: "HEAD";
        o.pairs = o.pairs ?: judge_usual_pairs(1);
        read_word(&o, words.list[0]);
        r = cut_read(SLICE(o.input.data, o.input.size), o.query, &o.cut);
        command_must_as(r == -EINVAL ? STATUS_FAILED : status_of(r), r);
        o.is_kept = allocate(o.query, sizeof(*o.is_kept));
        parse_after(&o);
        if (runs)
                find_predecessors(&o);
        else
                show(&o, NULL, o.after ? CUT_SCOPES : CUT_ALONE);
        o.cut = cut_free(o.cut);
        free(o.is_kept);
        blob_done(&o.input);
}
