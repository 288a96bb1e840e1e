/* The result of diverge() as text, as JSON, as Markdown. The two versions are "a" and "b" in rows and in JSON, the first and the second in sentences. */
#include "core/why/diverge/diverge.h"

#include <inttypes.h>

#define MARKDOWN_ROWS 5

static const char *const stream_names[N_DIVERGE_STREAMS] = {"standard output", "standard error"};
static const char sides[2][2] = {"a", "b"};

static const char *version_name(const struct diverge_result *r, int side)
{
        return r->options->version[side]->name;
}

/* -- sentences ----------------------------------------------------------------------------------------------------- */

/* "line 12 of the first, the end of the second" */
static void add_place(const struct parting *p, struct buffer *to)
{
        for (int side = 0; side < 2; side++) {
                if (p->number[side] > 0)
                        buffer_addf(to, "line %" PRIu64, p->number[side]);
                else
                        buffer_adds(to, "the end");
                buffer_adds(to, side == 0 ? " of the first, " : " of the second");
        }
}

/* Where a stream parts, in a sentence: in shape (the text but for its numbers), and in numbers alone (divergence.h). */
static void add_stream(const struct diverge_result *r, int stream, struct buffer *to)
{
        const struct divergence *d = &r->stream[stream];

        buffer_addf(to, "%s: ", stream_names[stream]);
        if (d->shape.is_found) {
                buffer_adds(to, "parts at ");
                add_place(&d->shape, to);
                if (d->partings > 1)
                        buffer_addf(to, ", and in %" PRIu64 "%s more place%s", d->partings - 1,
                                    d->partings == DIVERGENCE_PARTINGS ? " or" : "", d->partings == 2 ? "" : "s");
        } else
                buffer_addf(to, "the same kinds of lines%s, %" PRIu64 " and %" PRIu64,
                            d->is_cut ? " up to where one was cut off" : "", d->lines[0], d->lines[1]);
        if (d->value.is_found) {
                buffer_addf(to, "; %" PRIu64 " line%s differ%s in numbers alone, first at ", d->values_differ,
                            d->values_differ == 1 ? "" : "s", d->values_differ == 1 ? "s" : "");
                add_place(&d->value, to);
        }
        if (d->passed_over > 0)
                buffer_addf(to,
                            "; %" PRIu64
                            " line%s passed over, as such differ between two runs of one version, or on an empty input",
                            d->passed_over, d->passed_over == 1 ? "" : "s");
}

/* The profile in a sentence. */
static void add_profile(const struct diverge_result *r, struct buffer *to)
{
        const struct profile *p = &r->profile;

        buffer_addf(to, "sampled: %.2f s and %.2f s of CPU time (%zu and %zu samples)", p->seconds[0], p->seconds[1],
                    p->samples[0], p->samples[1]);
        for (size_t i = 0; i < PROFILE_PATH && p->path[i]; i++)
                if (i == 0)
                        buffer_addf(to, "; the extra time is in %s (%s) and what it calls: %.2f s before, %.2f s after",
                                    p->path[i]->name, p->path[i]->file, p->path[i]->total[0], p->path[i]->total[1]);
                else
                        buffer_addf(to, "%s%s (%s)", i == 1 ? "; nearly as much is in " : ", ", p->path[i]->name,
                                    p->path[i]->file);
        if (!p->path[0])
                buffer_adds(to, p->seconds[1] > p->seconds[0] * 1.1
                                        ? "; it does more of the same: no function has a share that grew by a tenth"
                                        : "; the second takes hardly more than the first");
        if (p->most)
                buffer_addf(to, "; most in %s (%s) and what it calls: %.2f s before, %.2f s after", p->most->name, p->most->file,
                            p->most->total[0], p->most->total[1]);
        buffer_adds(to, "\n");
}

/* -- calls --------------------------------------------------------------------------------------------------------- */

/* Adds the next step of a run: "calls f", "compares at x.c:3: less". Outcomes from 4 on are cases of a switch (trail_runtime.c). */
static void add_next(const struct diverge_step *s, struct buffer *to)
{
        static const char *const outcomes[] = {"equal", "less", "greater", "different"};

        if (s->kind == 'X')
                buffer_adds(to, "has ended");
        else if (s->kind == 'T' && s->outcome < ARRAY_SIZE(outcomes))
                buffer_addf(to, "compares at %s: %s", s->point.file, outcomes[s->outcome]);
        else if (s->kind == 'T')
                buffer_addf(to, "takes another case of the switch at %s", s->point.file);
        else
                buffer_addf(to, "%s %s", s->kind == 'C' ? "calls" : "returns from", s->point.name);
}

/* Where the calls part in a sentence. */
static void add_calls(const struct diverge_result *r, struct buffer *to)
{
        const struct diverge_calls *c = &r->calls;

        buffer_addf(to, "calls: %" PRIu64 " and %" PRIu64 " steps (calls, returns, comparisons)%s%s", c->total[0], c->total[1],
                    c->has_threads ? " of the main thread, and others have some more" : "", c->is_cut ? ", up to where one was cut off" : "");
        if (c->is_unsteady)
                buffer_addf(to, "; %s does not take the same ones twice, so nothing is said of the change", version_name(r, 0));
        else if (!c->is_parted)
                buffer_adds(to, ", the same in both");
        if (c->n_open > 0) {
                buffer_addf(to, "; they part after %" PRIu64 " in %s (%s): %s ", c->steps, c->open[0].name, c->open[0].file,
                            c->is_unsteady ? "one run" : version_name(r, 0));
                add_next(&c->next[0], to);
                buffer_addf(to, ", %s ", c->is_unsteady ? "the other" : version_name(r, 1));
                add_next(&c->next[1], to);
        }
        if (c->is_parted && c->is_alike_after)
                buffer_addf(to, "; most of what follows is the same");
        if (c->is_parted && c->further > 0)
                buffer_addf(to, "; %" PRIu64 " more place%s", c->further, c->further == 1 ? "" : "s");
        buffer_adds(to, "\n");
        for (size_t i = 0; i < c->n_open; i++)
                buffer_addf(to, "open\t%s\t%s\n", c->open[i].name, *c->open[i].file ? c->open[i].file : "-");
}

/* Both runs: answer and time. */
static void add_head(const struct diverge_result *r, struct buffer *to)
{
        for (int side = 0; side < 2; side++)
                buffer_addf(to, "%s%s: %s after %.2f s%s", side == 0 ? "" : "; ", version_name(r, side),
                            verdict_name(r->side[side].verdict), r->side[side].seconds,
                            r->side[side].is_cut ? ", its trace cut off" : "");
}

/* -- text ---------------------------------------------------------------------------------------------------------- */

/* A row for each line around a parting, with ">" where it is. */
static void add_lines(const struct parting *p, const char *kind, const char *stream, struct buffer *to)
{
        for (int side = 0; side < 2 && p->is_found; side++) {
                for (size_t i = 0; i < p->n[side]; i++)
                        buffer_addf(to, "%s\t%s\t%s\t%" PRIu64 "\t%s\t%s\n", kind, stream, sides[side], p->lines[side][i].number,
                                    p->lines[side][i].number == p->number[side] ? ">" : "", p->lines[side][i].text);
                if (p->number[side] == 0)
                        buffer_addf(to, "%s\t%s\t%s\t-\t>\t(the end)\n", kind, stream, sides[side]);
        }
}

void diverge_print(const struct diverge_result *r, size_t most, struct buffer *to)
{
        static const char *const streams[N_DIVERGE_STREAMS] = {"out", "err"};
        const char *by, *place = diverge_place(r, &by);

        add_head(r, to);
        for (int i = 0; i < N_DIVERGE_STREAMS; i++) {
                if (r->side[0].printed[i] + r->side[1].printed[i] == 0)
                        continue;
                buffer_adds(to, "\n");
                add_stream(r, i, to);
        }
        buffer_adds(to, "\n");
        for (int i = 0; i < N_DIVERGE_STREAMS; i++) {
                add_lines(&r->stream[i].value, "value", streams[i], to);
                add_lines(&r->stream[i].shape, "line", streams[i], to);
        }
        for (size_t i = 0; i < MIN(r->n_changes, most); i++)
                buffer_addf(to, "statistic\t%s\t%.15g\t%.15g\t%.3g\n", r->changes[i].name, r->changes[i].value[0],
                            r->changes[i].value[1], r->changes[i].ratio);
        if (r->lead)
                buffer_addf(to, "a lead: the statistic %s, %.15g before and %.15g after, is by its name of %s\n", r->lead->name,
                            r->lead->value[0], r->lead->value[1], r->lead_file);
        if (r->has_calls)
                add_calls(r, to);
        if (r->options->has_profile)
                add_profile(r, to);
        if (place)
                buffer_addf(to, "file\t%s\t%s\n", place, by);
        for (size_t i = 0; i < MIN(r->profile.n_functions, most); i++) {
                const struct profile_function *f = &r->profile.functions[i];

                buffer_addf(to, "function\t%s\t%s\t%.3f\t%.3f\t%.3f\t%.3f\n", f->name, *f->file ? f->file : "-", f->self[0],
                            f->self[1], f->total[0], f->total[1]);
        }
        for (size_t i = 0; i < r->functions.n; i++) {
                const struct changed_function *f = &r->functions.list[i];

                buffer_addf(to, "changed\t%s\t%s\t-%u\t+%u\n", f->file, *f->name ? f->name : "-", f->removed, f->added);
        }
}

/* -- JSON ---------------------------------------------------------------------------------------------------------- */

static json_t *parting_json(const struct parting *p)
{
        json_t *j = json_object();

        for (int side = 0; side < 2; side++) {
                json_t *lines = json_array();

                for (size_t i = 0; i < p->n[side]; i++)
                        json_array_append_new(lines, json_pack("{sI ss}", "line", (json_int_t)p->lines[side][i].number, "text",
                                                               p->lines[side][i].text));
                json_object_set_new(j, sides[side],
                                    json_pack("{so so}", "line",
                                              p->number[side] ? json_integer((json_int_t)p->number[side]) : json_null(),
                                              "context", lines));
        }
        return p->is_found ? j : (json_decref(j), json_null());
}

static json_t *profile_json(const struct profile *p)
{
        json_t *list = json_array(), *path = json_array();

        for (size_t i = 0; i < PROFILE_PATH && p->path[i]; i++)
                json_array_append_new(path, json_pack("{ss ss}", "name", p->path[i]->name, "file", p->path[i]->file));
        for (size_t i = 0; i < p->n_functions; i++) {
                const struct profile_function *f = &p->functions[i];

                json_array_append_new(list, json_pack("{ss ss s[ff] s[ff]}", "name", f->name, "file", f->file, "self", f->self[0],
                                                      f->self[1], "total", f->total[0], f->total[1]));
        }
        return json_pack("{s[ff] s[ii] so so so}", "seconds", p->seconds[0], p->seconds[1], "samples", (int)p->samples[0],
                         (int)p->samples[1], "path", path, "most",
                         p->most ? json_pack("{ss ss}", "name", p->most->name, "file", p->most->file) : json_null(), "functions",
                         list);
}

static json_t *step_json(const struct diverge_step *s)
{
        static const char *const kinds[] = {['C' - 'A'] = "call", ['R' - 'A'] = "return", ['T' - 'A'] = "comparison", ['X' - 'A'] = "end"};

        return json_pack("{ss ss* ss*}", "kind", kinds[s->kind - 'A'], "function", s->point.name, "file", s->point.file);
}

static json_t *calls_json(const struct diverge_calls *c)
{
        json_t *j = json_pack("{s[II] sb sb sb sb sb sI}", "steps", (json_int_t)c->total[0], (json_int_t)c->total[1], "cut", (int)c->is_cut,
                              "threads", (int)c->has_threads, "unsteady", (int)c->is_unsteady, "parted", (int)c->is_parted, "goes_on",
                              (int)c->is_alike_after, "more", (json_int_t)c->further);

        if (c->n_open > 0) {
                json_t *open = json_array();

                for (size_t i = 0; i < c->n_open; i++)
                        json_array_append_new(open, json_pack("{ss ss}", "name", c->open[i].name, "file", c->open[i].file));
                json_object_set_new(j, "place", json_pack("{sI so s[oo]}", "steps", (json_int_t)c->steps, "open", open, "next",
                                                          step_json(&c->next[0]), step_json(&c->next[1])));
        }
        return j;
}

json_t *diverge_json(const struct diverge_result *r)
{
        json_t *runs = json_array(), *streams = json_object(), *statistics = json_array(), *changed = json_array(), *j;
        const char *by, *place = diverge_place(r, &by);

        for (int side = 0; side < 2; side++)
                json_array_append_new(runs, json_pack("{ss ss sf sI sI sb}", "version", version_name(r, side), "verdict",
                                                      verdict_name(r->side[side].verdict), "seconds", r->side[side].seconds,
                                                      "stdout", (json_int_t)r->side[side].printed[0], "stderr",
                                                      (json_int_t)r->side[side].printed[1], "cut", (int)r->side[side].is_cut));
        for (int i = 0; i < N_DIVERGE_STREAMS; i++) {
                const struct divergence *d = &r->stream[i];

                json_object_set_new(streams, i == DIVERGE_OUT ? "stdout" : "stderr",
                                    json_pack("{so so sI sI sI s[II] sb}", "line", parting_json(&d->shape), "value",
                                              parting_json(&d->value), "partings", (json_int_t)d->partings, "values_differ",
                                              (json_int_t)d->values_differ, "passed_over", (json_int_t)d->passed_over, "lines",
                                              (json_int_t)d->lines[0], (json_int_t)d->lines[1], "cut", (int)d->is_cut));
        }
        for (size_t i = 0; i < r->n_changes; i++)
                json_array_append_new(statistics,
                                      json_pack("{ss s[ff] sf}", "name", r->changes[i].name, "values", r->changes[i].value[0],
                                                r->changes[i].value[1], "ratio", r->changes[i].ratio));
        for (size_t i = 0; i < r->functions.n; i++)
                json_array_append_new(changed, json_pack("{ss ss si si}", "file", r->functions.list[i].file, "name",
                                                         r->functions.list[i].name, "removed", (int)r->functions.list[i].removed,
                                                         "added", (int)r->functions.list[i].added));
        j = json_pack("{si so so so}", "case", (int)r->options->info->id, "runs", runs, "streams", streams, "statistics",
                      statistics);
        if (r->lead)
                json_object_set_new(j, "lead", json_pack("{ss ss}", "statistic", r->lead->name, "file", r->lead_file));
        if (place)
                json_object_set_new(j, "file", json_pack("{ss ss}", "name", place, "by", by));
        if (r->has_calls)
                json_object_set_new(j, "calls", calls_json(&r->calls));
        if (r->options->has_profile)
                json_object_set_new(j, "profile", profile_json(&r->profile));
        if (r->options->has_culprit)
                json_object_set_new(j, "changed", changed);
        else
                json_decref(changed);
        return j;
}

/* -- Markdown ------------------------------------------------------------------------------------------------------ */

void diverge_markdown(const struct diverge_result *r, struct buffer *to)
{
        cleanup_buffer struct buffer text = {0};

        diverge_print(r, MARKDOWN_ROWS, &text);
        buffer_adds(to, "## Where the runs part\n\n");
        for (char *line, *rest = text.data; (line = strsep(&rest, "\n")) && *line;) {
                if (strchr(line, '\t')) {
                        buffer_addf(to, "    %s\n", line);
                        continue;
                }
                buffer_add_markdown(to, line); /* it may have names of C++ */
                buffer_adds(to, "\n\n");
        }
}
