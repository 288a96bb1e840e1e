/* The draft as text. */
#include "core/git/gitconfig.h"
#include "tools/draft/draft.h"

#define WIDTH 110

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
        gitconfig_line(b, "    ", key, value);
}

static void draft_lines(struct buffer *b, const char *key, char *const *values)
{
        for (; values && *values; values++)
                draft_line(b, key, *values);
}

/* A line of the text begins a line of the comment; longer ones go on below. */
void draft_comment(struct buffer *b, const char *indent, const char *text)
{
        while (*text) {
                size_t n = strcspn(text, "\n"), cut = n;
                cleanup_free char *line = NULL, *shown = NULL;

                if (n > WIDTH)
                        for (cut = WIDTH; cut > WIDTH / 2 && text[cut] != ' '; cut--)
                                ;
                line = strndup(text, cut);
                shown = printable(line ?: "");
                buffer_addf(b, "%s# %s\n", indent, shown);
                text += cut;
                text += *text == '\n' || (*text == ' ' && cut < n);
        }
}

static void comment_of(struct buffer *b, const struct buffer *text)
{
        if (text->size > 0)
                draft_comment(b, "    ", text->data);
}

int draft_trial_text(const struct draft_keys *k, struct buffer *ret)
{
        buffer_adds(ret, "[solver]\n");
        draft_line(ret, "format", k->format == FORMAT_CNF ? "cnf" : "smt2");
        draft_line(ret, "build", "true");
        draft_line(ret, "output", "program");
        draft_line(ret, "run", k->run);
        if (k->seed)
                draft_line(ret, "seed", k->seed);
        draft_line(ret, "timeout", "10s");
        return buffer_error(ret);
}

static void write_heading(const struct draft *d, struct buffer *b)
{
        cleanup_buffer struct buffer text = {0};
        char hex[GIT_OID_HEXSZ + 1] = "?";
        struct commit c;

        if (history_commit(common.solver->history, d->commit, &c) == 0)
                git_oid_tostr(hex, sizeof(hex), &c.oid);
        buffer_addf(&text, "%s: a draft by 'solverfs recipe draft' from commit %.12s. The comments say what was seen.\n", d->name, hex);
        draft_comment(b, "", text.data ?: "");
}

static void write_build(const struct draft *d, const struct draft_keys *k, struct buffer *b)
{
        comment_of(b, &d->about_submodules);
        draft_lines(b, "submodule", k->submodules);
        comment_of(b, &k->about_paths);
        draft_lines(b, "paths", k->paths);
        comment_of(b, &k->about_build);
        if (k->build)
                draft_lines(b, "build", k->build);
        else
                buffer_adds(b, "    # build = the commands, one a line\n");
        if (k->outputs)
                draft_lines(b, "output", k->outputs);
        else
                buffer_adds(b, "    # output = the program that the build makes\n");
        draft_lines(b, "environment", k->environment);
}

static void write_run(const struct draft_keys *k, struct buffer *b)
{
        comment_of(b, &k->about_run);
        if (!k->outputs) {
                buffer_adds(b, "    # format = smt2 or cnf\n    # run = {bin} {case}\n");
                return;
        }
        draft_line(b, "format", k->format == FORMAT_CNF ? "cnf" : "smt2");
        draft_line(b, "run", k->run);
        comment_of(b, &k->about_seed);
        if (k->seed)
                draft_line(b, "seed", k->seed);
        else
                buffer_adds(b, "    # No option for a random seed was found. If there is one: seed = --seed={n}\n");
        comment_of(b, &k->about_effort);
        if (k->effort)
                draft_line(b, "effort", k->effort);
        else
                buffer_adds(b, "    # No counter was found in the output. If there is one: effort = \"conflicts: +([0-9]+)\"\n");
}

void draft_section(const struct draft *d, const struct draft_keys *k, struct buffer *ret)
{
        buffer_adds(ret, "[solver]\n");
        write_build(d, k, ret);
        write_run(k, ret);
}

int draft_text(struct draft *d, struct buffer *ret)
{
        struct recipe **list = NULL;
        size_t n = 0;
        int r;

        write_heading(d, ret);
        draft_section(d, &d->keys, ret);
        buffer_adds(ret, "    # Of each run; the defaults.\n    timeout = 20s\n    memory = 4g\n");
        buffer_add(ret, d->eras.data ?: "", d->eras.size);
        r = buffer_error(ret);
        if (r < 0 || !d->keys.outputs)
                return r;
        r = recipe_parse(ret->data, "the draft", DRAFT_NAME, &list, &n); /* it can be read back, whatever the names in the repository are */
        recipe_list_free(list, n);
        return r;
}
