#include "campaigns.h"

#include <inttypes.h>

#include "core/query/programs.h"
#include "words.h"

void campaign_add_word(void *to, const char *text)
{
        if (strings_add(to, text) < 0)
                exit(fail(-ENOMEM));
}

void campaign_copy_text(void *to, const char *text)
{
        char **copy = to;

        free(*copy);
        *copy = strdup(text);
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
        char what[200];

        snprintf(what, sizeof(what), "%" PRIu64 " %s, %.1f a second, %" PRIu64 " finds", s->inputs,
                 unknowns ? "mutants" : "inputs", s->worked > 0 ? (double)s->inputs / s->worked : 0, s->finds);
        progress_show(what, (uint64_t)s->worked, (uint64_t)c->settings.seconds,
                      (uint64_t)(s->worked < c->settings.seconds ? (c->settings.seconds - s->worked) * 1e9 : 0));
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

        if (j && c->settings.kind == CAMPAIGN_UNKNOWNS) {
                json_object_set_new(j, "unknowns", json_integer((json_int_t)s->candidates));
                json_object_set_new(j, "regressions", json_integer((json_int_t)(s->finds - s->implications)));
                json_object_set_new(j, "implications", json_integer((json_int_t)s->implications));
                json_object_set_new(j, "duplicates", json_integer((json_int_t)s->duplicates));
        }
        return j;
}

static void show_end(const struct campaign_command *c)
{
        struct campaign_status status;
        cleanup_buffer struct buffer b = {0};

        if (!c->settings.name || campaign_get(common.workspace, common.solver->number, c->settings.name, NULL, &status) < 0)
                return;
        if (c->json) {
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

static int name_program(char **text)
{
        const char *name = *text;
        int status = command_program(&name);

        if (name != *text) {
                free(*text);
                *text = copy_string(name);
        }
        return status;
}

/* Of a campaign between programs the versions are commits of theirs. */
static int name_programs(struct campaign_settings *s)
{
        int status = STATUS_OK;

        for (char **p = s->references; p && *p && status == STATUS_OK; p++)
                status = name_program(p);
        if (status == STATUS_OK)
                status = name_program(&s->target);
        for (char **p = s->oracles; p && *p && status == STATUS_OK; p++)
                status = name_program(p);
        return status;
}

static int run(struct campaign_command *c)
{
        const struct campaign_watch watch = {.status = show_status, .line = show_line, .user = c};
        int r, status;

        command_signals();
        status = strcmp(c->solver_name, RECIPE_PROGRAMS) == 0 ? command_open(0) : STATUS_OK;
        if (status == STATUS_OK && common.workspace)
                status = name_programs(&c->settings);
        if (status == STATUS_OK)
                status = command_open_solver(0, c->on, c->solver_name);
        if (status == STATUS_OK)
                status = command_engine();
        if (status != STATUS_OK)
                return status;
        if (!c->settings.name) { /* as campaign_run() would, so that what it was called can be told */
                const char *stem = c->settings.kind == CAMPAIGN_UNKNOWNS ? "incompleteness" : c->settings.strategy;

                if (asprintf(&c->settings.name, "%s-%" PRIu64, stem, c->settings.seed) < 0)
                        return fail(-ENOMEM);
        }
        r = campaign_run(common.workspace, common.engine, common.solver, &c->settings, &watch, common.signals);
        progress_clear();
        if (r < 0 && r != -ECANCELED)
                return fail_as(r == -EINVAL || r == -EEXIST ? STATUS_USAGE : r == -ENODATA ? STATUS_FAILED : status_of(r), r);
        show_end(c);
        if (r == -ECANCELED)
                note("interrupted; the same command goes on with it");
        return r < 0 ? STATUS_INTERRUPTED : STATUS_OK;
}

int campaign_command_run(struct campaign_command *c)
{
        int status;

        c->settings.cpu_time = c->clock == 1;
        status = run(c);
        campaign_settings_done(&c->settings);
        return status;
}
