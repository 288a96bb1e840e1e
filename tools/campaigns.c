#include "campaigns.h"

#include <inttypes.h>

#include "core/query/programs.h"
#include "words.h"

void campaign_add_word(void *to, const char *text)
{
        strings_add(to, text);
}

void campaign_copy_text(void *to, const char *text)
{
        char **copy = to;

        free(*copy);
        *copy = copy_string(text);
}

void campaign_reduce_nothing(void *to, const char *text)
{
        struct campaign_settings *settings = to;

        settings->reduce_seconds = 0;
}

static void show_status(void *user, const struct campaign_status *s)
{
        const struct campaign_command *c = user;
        bool unknowns = c->settings.kind == CAMPAIGN_UNKNOWNS;
        uint64_t left = s->worked < c->settings.seconds ? (uint64_t)((c->settings.seconds - s->worked) * 1e9) : 0;
        char what[200];

        snprintf(what, sizeof(what), "%" PRIu64 " %s, %.1f a second, %" PRIu64 " finds", s->inputs,
                 unknowns ? "mutants" : "inputs", s->worked > 0 ? (double)s->inputs / s->worked : 0, s->finds);
        progress_show(what, (uint64_t)s->worked, (uint64_t)c->settings.seconds,
                      left, left);
}

static void show_line(void *user, const char *line)
{
        progress_clear();
        note("%s", line);
}

static json_t *status_json(const struct campaign_command *c, const struct campaign_status *s)
{
        json_t *j = json_pack("{s:s, s:s, s:f, s:I, s:I, s:f, s:I, s:I, s:I, s:I, s:I}", "campaign", c->settings.name, "state",
                              campaign_state_name(s->state), "worked", s->worked, "inputs", (json_int_t)s->inputs, "runs",
                              (json_int_t)s->runs, "solving", s->solving, "finds", (json_int_t)s->finds, "rejected",
                              (json_int_t)s->rejected, "soundness", (json_int_t)s->soundness, "crashes", (json_int_t)s->crashes,
                              "to-report", (json_int_t)s->distinct);

        if (c->settings.kind == CAMPAIGN_UNKNOWNS) {
                json_object_set_new(j, "unknowns", json_integer((json_int_t)s->candidates));
                json_object_set_new(j, "regressions", json_integer((json_int_t)(s->finds - s->implications)));
                json_object_set_new(j, "implications", json_integer((json_int_t)s->implications));
                json_object_set_new(j, "duplicates", json_integer((json_int_t)s->duplicates));
        } else {
                json_object_set_new(j, "passed-over", json_integer((json_int_t)s->passed_over));
        }
        return j;
}

static void show_end(const struct campaign_command *c)
{
        struct campaign_status status;
        cleanup_buffer struct buffer b = {0};

        if (!c->settings.name || campaign_get(common.workspace, common.solver->number, c->settings.name, NULL, &status) < 0)
                return;
        if (common.json) {
                output_json(status_json(c, &status));
                return;
        }
        buffer_addf(&b, "campaign %s\n", c->settings.name);
        campaign_print_status(c->settings.kind, &status, &b);
        output_write(&b);
}

static bool are_programs(char *const *texts)
{
        bool are = true;

        for (char *const *p = texts; p && *p; p++)
                are &= program_is_text(*p);
        return are;
}

const char *campaign_solver(const struct campaign_settings *s, const char *word)
{
        if (!word && s->target && program_is_text(s->target) && are_programs(s->references) && are_programs(s->oracles))
                return RECIPE_PROGRAMS;
        return word;
}

static void name_program(char **text)
{
        const char *name = *text;

        command_program(&name);
        if (name != *text) {
                free(*text);
                *text = copy_string(name);
        }
}

void campaign_command_run(struct campaign_command *c)
{
        const struct campaign_watch watch = {.status = show_status, .line = show_line, .user = c};
        struct campaign_settings *s = &c->settings;
        int r;

        s->cpu_time = c->clock == 1;
        command_signals();
        command_open(0);
        if (strcmp(c->solver_name, RECIPE_PROGRAMS) == 0) { /* versions are then commits of that solver */
                for (char **p = s->references; p && *p; p++)
                        name_program(p);
                name_program(&s->target);
                for (char **p = s->oracles; p && *p; p++)
                        name_program(p);
        }
        command_open_solver(0, c->on, c->solver_name);
        command_engine();
        if (!s->name) /* the name that campaign_run() would give, so that it can be shown */
                s->name = format_string("%s-%" PRIu64, s->kind == CAMPAIGN_UNKNOWNS ? "incompleteness" : "solverfs", s->seed);
        r = campaign_run(common.workspace, common.engine, common.solver, s, &watch, common.signals);
        progress_clear();
        if (r != -ECANCELED)
                command_must_as(r == -EINVAL || r == -EEXIST ? STATUS_USAGE : r == -ENODATA ? STATUS_FAILED : status_of(r), r);
        show_end(c);
        campaign_settings_done(s);
        if (r == -ECANCELED) {
                note("interrupted; the same command goes on with it");
                command_worse(STATUS_INTERRUPTED);
        }
}
