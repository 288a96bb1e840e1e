/* The draft as text. */
#include "core/git/gitconfig.h"
#include "draft.h"

#define WIDTH 110 /* columns of a comment */

void draft_keys_done(struct draft_keys *k)
{
        strings_free(k->paths);
        strings_free(k->build);
        strings_free(k->outputs);
        strings_free(k->environment);
        strings_free(k->submodules);
        free(k->run);
        free(k->seed);
        free(k->effort);
        buffer_done(&k->about_paths);
        buffer_done(&k->about_build);
        buffer_done(&k->about_run);
        buffer_done(&k->about_seed);
        buffer_done(&k->about_effort);
        *k = (struct draft_keys){0};
}

void draft_line(struct buffer *b, const char *key, const char *value)
{
        if (value)
                gitconfig_line(b, "    ", key, value);
}

void draft_lines(struct buffer *b, const char *key, char *const *values)
{
        for (; values && *values; values++)
                draft_line(b, key, *values);
}

/* Each line of the text begins a line of the comment; long ones are wrapped. */
void draft_comment(struct buffer *b, const char *indent, const char *text)
{
        while (text && *text) {
                size_t n = strcspn(text, "\n"), cut = n;
                cleanup_free char *line = NULL, *shown = NULL;

                if (n > WIDTH)
                        for (cut = WIDTH; cut > WIDTH / 2 && text[cut] != ' '; cut--)
                                ;
                line = copy_prefix(text, cut);
                shown = printable(line);
                buffer_addf(b, "%s# %s\n", indent, shown);
                text += cut;
                text += *text == '\n' || (*text == ' ' && cut < n);
        }
}

static void comment_of(struct buffer *b, const struct buffer *text)
{
        draft_comment(b, "    ", text->data);
}

void draft_trial_text(const struct draft_keys *k, struct buffer *ret)
{
        buffer_addf(ret, "[solver]\n    build = true\n    output = program\n    timeout = 10s\n    format = %s\n", format_name(k->format));
        draft_line(ret, "run", k->run);
        draft_line(ret, "seed", k->seed);
}

/* Writes the lines of a key; if there are none, what a reader must do about it. */
static void write_lines(struct buffer *b, const char *key, char *const *values, const char *otherwise)
{
        draft_lines(b, key, values);
        if (!values)
                buffer_addf(b, "    # %s\n", otherwise);
}

void draft_section(const struct draft *d, const struct draft_keys *k, struct buffer *b)
{
        buffer_adds(b, "[solver]\n");
        comment_of(b, &d->about_submodules);
        draft_lines(b, "submodule", k->submodules);
        comment_of(b, &k->about_paths);
        draft_lines(b, "paths", k->paths);
        comment_of(b, &k->about_build);
        write_lines(b, "build", k->build, "build = the commands, one a line");
        write_lines(b, "output", k->outputs, "output = the program that the build makes");
        draft_lines(b, "environment", k->environment);
        comment_of(b, &k->about_run);
        if (!k->outputs) {
                buffer_adds(b, "    # format = smt2 or cnf\n    # run = {bin} {case}\n");
                return;
        }
        draft_line(b, "format", format_name(k->format));
        draft_line(b, "run", k->run);
        comment_of(b, &k->about_seed);
        write_lines(b, "seed", k->seed ? (char *[]){k->seed, NULL} : NULL, "No option for a random seed was found. If there is one: seed = --seed={n}");
        comment_of(b, &k->about_effort);
        write_lines(b, "effort", k->effort ? (char *[]){k->effort, NULL} : NULL,
                    "No counter was found in the output. If there is one: effort = \"conflicts: +([0-9]+)\"");
}

void draft_text(struct draft *d, struct buffer *ret)
{
        const struct commit_sha sha = full_sha(common.solver, d->commit);
        cleanup_free char *heading = format_string("%s: a draft by 'solverfs recipe draft' from commit %.12s. The comments say what was seen.\n",
                                                   d->name, sha.s);
        struct recipe **list = NULL;
        size_t n = 0;

        draft_comment(ret, "", heading);
        draft_section(d, &d->keys, ret);
        buffer_adds(ret, "    # Of each run; the defaults.\n    timeout = 20s\n    memory = 4g\n");
        buffer_adds(ret, d->eras.data ?: "");
        if (d->keys.outputs) /* check that it parses, whatever the names in the repository are */
                command_must(recipe_parse(ret->data, "the draft", DRAFT_NAME, &list, &n));
        recipe_list_free(list, n);
}
