/* Definitions: from the config, and into it. */
#include "core/portfolio/portfolio.h"

#include "cache/base/lock.h"
#include "core/git/gitconfig.h"
#include "core/portfolio/portfolio_internal.h"
#include "core/workspace/config_text.h"
#include "core/query/programs.h"
#include "core/recipe/recipe_keys.h"

/* -- arms -- */

/* The command of "NAME: COMMAND"; NULL: the arm is a solver's, "z3@HEAD seed=3". */
static const char *command_of(const char *text)
{
        const char *colon = strchr(text, ':'), *blank = strchr(text, ' ');

        return colon && colon > text && colon[1] == ' ' && (!blank || blank > colon) ? colon + 2 : NULL;
}

static int find_program(const char *word, char ret[PATH_SIZE])
{
        const char *path = getenv("PATH");

        if (strchr(word, '/'))
                return realpath(word, ret) && access(ret, X_OK) == 0 ? 0 : -errno;
        for (const char *at = path ? path : "/usr/bin:/bin"; *at;) {
                size_t n = strcspn(at, ":");
                char name[PATH_SIZE];

                if (snprintf(name, sizeof(name), "%.*s/%s", (int)n, at, word) < (int)sizeof(name) && realpath(name, ret) &&
                    access(ret, X_OK) == 0)
                        return 0;
                at += n + (at[n] == ':');
        }
        return -ENOENT;
}

static void set_problem(struct arm *a, const char *what, const char *why)
{
        a->problem = format_string("%s: %s", what, why);
}

/* By its bytes and arguments. Its path does not count, as it runs under another one in the sandbox. */
static void identify_command(struct arm *a)
{
        struct digest program;
        struct hasher *h;
        int r = program_digest(a->program, &program);

        if (r < 0) {
                a->problem = copy_string(error_message(r));
                return;
        }
        h = hasher_new();
        hasher_string(h, "command");
        hasher_string(h, a->recipe->run);
        hasher_add(h, program.bytes, DIGEST_SIZE);
        hasher_finish(h, &a->identity);
}

static int command_recipe(const char *label, const char *name, char *const *arguments, struct recipe **ret)
{
        cleanup_buffer struct buffer text = {0}, run = {0};
        struct recipe **list = NULL;
        bool sees_case = false;
        size_t n = 0;
        int r;

        buffer_adds(&run, "{bin}");
        for (; *arguments; arguments++) {
                buffer_adds(&run, " ");
                buffer_add_shell_word(&run, *arguments);
                sees_case |= strstr(*arguments, "{case}") != NULL;
        }
        if (!sees_case)
                buffer_adds(&run, " {case}");
        buffer_adds(&text, "[solver]\n\tbuild = true\n\toutput = program\n\tsamples = 1\n");
        gitconfig_line(&text, "\t", "run", run.data);
        r = recipe_parse(text.data, label, name, &list, &n);
        if (r == 0)
                *ret = recipe_ref(list[0]);
        recipe_list_free(list, n);
        return r;
}

static int open_command(const char *label, unsigned line, struct arm *a, const char *command)
{
        char **words = NULL;
        int r = recipe_split(command, &words);

        a->name = copy_prefix(a->text, (size_t)(command - 2 - a->text));
        if (r == -EINVAL)
                return errorf(r, "%s:%u: the arm '%s': %s", label, line, a->text, error_message(r));
        if (r == 0 && !words[0])
                r = errorf(-EINVAL, "%s:%u: the arm '%s' has no command", label, line, a->name);
        if (r == 0)
                r = command_recipe(label, a->name, words + 1, &a->recipe);
        if (r == 0 && (r = find_program(words[0], a->program)) < 0) {
                set_problem(a, words[0], strerror(-r));
                r = 0;
        } else if (r == 0) {
                identify_command(a);
        }
        strings_free(words);
        return r;
}

static int open_solver(struct workspace *w, const char *label, unsigned line, struct arm *a)
{
        cleanup_free char *copy = copy_string(a->text);
        char *rest = copy, *who = strsep(&rest, " "), *word, *revision;
        struct digest build;
        struct hasher *h;
        int r;

        a->name = copy_string(a->text);
        while ((word = strsep(&rest, " "))) {
                char *end;

                if (!*word)
                        continue;
                if (strncmp(word, "seed=", 5) != 0)
                        return errorf(-EINVAL,
                                      "%s:%u: '%s' in the arm '%s': only seed=N is known there; a command needs a name: 'NAME: "
                                      "COMMAND'",
                                      label, line, word, a->text);
                a->has_seed = true;
                a->seed = strtoull(word + 5, &end, 10);
                if (end == word + 5 || *end || a->seed > UINT32_MAX)
                        return errorf(-EINVAL, "%s:%u: '%s' in the arm '%s' is no seed", label, line, word, a->text);
        }
        revision = strchr(who, '@');
        if (revision)
                *revision++ = '\0';
        r = workspace_solver(w, who, &a->solver);
        if (r == 0)
                r = history_resolve(a->solver->history, revision && *revision ? revision : "HEAD", &a->commit);
        if (r == 0)
                r = build_key(a->solver->history, a->commit, a->solver->recipe, &build);
        if (r == -ENOENT || r == -ENOTUNIQ || r == -ENODATA) {
                set_problem(a, a->text, error_message(r));
                return 0;
        }
        if (r < 0)
                return r;
        a->recipe = recipe_ref((struct recipe *)solver_recipe_at(a->solver, a->commit));
        h = hasher_new();
        hasher_string(h, "solver");
        hasher_add(h, build.bytes, DIGEST_SIZE);
        recipe_run_digest(a->recipe, a->has_seed, a->seed, &a->recipe->limits, &build);
        hasher_add(h, build.bytes, DIGEST_SIZE);
        hasher_finish(h, &a->identity);
        return 0;
}

static int add_arm(struct workspace *w, const char *label, unsigned line, const char *text, struct portfolio *p)
{
        const char *command;
        struct arm *a;
        int r;

        list_grow(p->arms, p->n_arms);
        a = &p->arms[p->n_arms++];
        *a = (struct arm){.text = copy_string(text)};
        command = command_of(a->text);
        r = command ? open_command(label, line, a, command) : open_solver(w, label, line, a);
        for (size_t i = 0; r == 0 && i + 1 < p->n_arms; i++)
                if (strcmp(p->arms[i].name, a->name) == 0)
                        r = errorf(-EINVAL, "%s:%u: the arm '%s' is there twice", label, line, a->name);
        if (r == 0 && strpbrk(a->name, "\t\n"))
                r = errorf(-EINVAL, "%s:%u: a tab or a newline in the name of an arm", label, line);
        return r;
}

/* -- the config -- */

static bool is_portfolio(const char *section)
{
        return strcmp(section, "portfolio") == 0;
}

static bool is_section_of(const struct gitconfig_section *s, const char *name)
{
        return is_portfolio(s->name) && s->subsection && strcmp(s->subsection, name) == 0;
}

static int read_sections(struct workspace *w, char path[PATH_SIZE], struct gitconfig *ret)
{
        cleanup_config_text struct config_text text = {0};
        int r = path_join(path, workspace_dir(w), "config");

        if (r == 0)
                r = config_text_read(workspace_store(w), path, &text);
        return r < 0 ? r : gitconfig_parse(path, SLICE(text.text.data, text.text.size), is_portfolio, ret);
}

static int portfolio_name_check(const char *name)
{
        size_t n = strlen(name);

        if (n == 0 || n > 100 || name[0] == '.' ||
            strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+-") != n)
                return errorf(-EINVAL, "'%s' is no name for a portfolio: letters, digits and ._+-, at most 100, no dot in front",
                              name);
        return 0;
}

static int take_text(char **field, const char *value)
{
        free(*field);
        *field = copy_string(value);
        return 0;
}

/* Settings of earlier versions; tests/bench measures these methods. */
static const char *const selectors_gone[] = {"static", "1nn", "thompson", "epsilon", "linucb", "exp3", "neural", "random", "fixed", NULL},
                  *const allocations[] = {"schedule", "expo", "nearest", "linear", "constant", "none", NULL};

static bool is_listed(const char *name, const char *const *list)
{
        while (*list && strcmp(*list, name) != 0)
                list++;
        return *list;
}

static int take_setting(const char *path, const struct gitconfig_entry *e, struct portfolio *p)
{
        const char *v = e->value ? e->value : "";
        char *end;
        int r = 0;

        if (strcmp(e->key, "timeout") == 0)
                r = parse_duration(v, &p->wall_ns) < 0 || p->wall_ns == 0 ? -EINVAL : 0;
        else if (strcmp(e->key, "memory") == 0)
                r = parse_size(v, &p->memory) < 0 || p->memory == 0 ? -EINVAL : 0;
        else if (strcmp(e->key, "selector") == 0)
                r = take_text(&p->selector, v);
        else if (strcmp(e->key, "allocation") == 0)
                r = take_text(&p->allocation, v);
        else if (strcmp(e->key, "reward") == 0) {
                p->has_exponential_reward = strcmp(v, "exponential") == 0;
                r = p->has_exponential_reward || strcmp(v, "binary") == 0 ? 0 : -EINVAL;
        } else if (strcmp(e->key, "seed") == 0) {
                p->seed = strtoull(v, &end, 10);
                r = end == v || *end ? -EINVAL : 0;
        } else {
                return errorf(-EINVAL, "%s:%u: unknown key '%s' in [portfolio \"%s\"]; there are arm, timeout, memory, selector and seed", path, e->line,
                              e->key, p->name);
        }
        return r == -EINVAL ? errorf(r, "%s:%u: '%s' is no value for '%s'", path, e->line, v, e->key) : r;
}

static void note_gone(const char *path, unsigned line, struct portfolio *p, const char *key, const char *value, const char *instead)
{
        p->notice = format_string(
                "%s:%u: [portfolio \"%s\"] cannot have the %s '%s' any more, %s takes its place; answers stay (take the setting out to begin anew)", path,
                line, p->name, key, value, instead);
}

static int find_method(const char *path, unsigned line, struct portfolio *p)
{
        int r;

        if (p->selector && is_listed(p->selector, selectors_gone)) {
                note_gone(path, line, p, "selector", p->selector, p->method->name);
                return 0;
        }
        r = p->selector ? learner_method(p->selector, &p->method) : 0;
        if (r < 0)
                return errorf(r, "%s:%u: [portfolio \"%s\"]: %s", path, line, p->name, error_message(r));
        if (!p->allocation || strcmp(p->allocation, p->method->allocation_name) == 0)
                return 0;
        if (!is_listed(p->allocation, allocations))
                return errorf(-EINVAL, "%s:%u: [portfolio \"%s\"]: no allocation '%s'; leave it out", path, line, p->name, p->allocation);
        note_gone(path, line, p, "allocation", p->allocation, p->method->allocation_name);
        return 0;
}

static struct slice resets_key(const char *name, struct buffer *b)
{
        buffer_addf(b, "resets/%s", name);
        return SLICE(b->data, b->size);
}

static uint64_t count_resets(struct workspace *w, const char *name)
{
        cleanup_buffer struct buffer key = {0};
        cleanup_blob struct blob value = {0};

        return store_fetch(workspace_store(w), TABLE_PORTFOLIOS, resets_key(name, &key), &value) < 0 || value.size != 8 ? 0 : key_get_u64(value.data);
}

static void find_epoch(struct workspace *w, struct portfolio *p)
{
        struct hasher *h = hasher_new();

        hasher_string(h, "portfolio");
        hasher_string(h, p->name);
        hasher_number(h, count_resets(w, p->name));
        hasher_number(h, p->wall_ns);
        hasher_number(h, p->memory);
        hasher_number(h, p->seed);
        hasher_number(h, p->has_exponential_reward);
        hasher_string(h, p->selector);
        hasher_string(h, p->allocation);
        for (size_t i = 0; i < p->n_arms; i++) {
                hasher_string(h, p->arms[i].name);
                hasher_add(h, p->arms[i].identity.bytes, DIGEST_SIZE);
                if (p->arms[i].solver && p->arms[i].solver->place)
                        hasher_string(h, p->arms[i].solver->place->name);
        }
        hasher_finish(h, &p->epoch);
}

static int read_portfolio(struct workspace *w, const char *path, const struct gitconfig *g, struct portfolio *p)
{
        unsigned line = 0;
        int r = 0;

        for (size_t i = 0; i < g->n_sections && r == 0; i++) {
                const struct gitconfig_section *s = &g->sections[i];

                if (!is_section_of(s, p->name))
                        continue;
                line = s->line;
                for (size_t k = 0; k < s->n_entries && r == 0; k++) {
                        const struct gitconfig_entry *e = &s->entries[k];

                        r = strcmp(e->key, "arm") == 0 ? add_arm(w, path, e->line, e->value ? e->value : "", p)
                                                       : take_setting(path, e, p);
                }
        }
        if (r < 0)
                return r;
        if (line == 0)
                return errorf(-ENOENT, "no portfolio '%s'; see 'solverfs portfolio list'", p->name);
        if (p->n_arms == 0)
                return errorf(-EINVAL, "%s:%u: [portfolio \"%s\"] has no arm", path, line, p->name);
        return find_method(path, line, p);
}

int portfolio_open(struct workspace *w, const char *name, struct portfolio **ret)
{
        cleanup_portfolio struct portfolio *p = allocate(1, sizeof(*p));
        cleanup_gitconfig struct gitconfig config = {0};
        char path[PATH_SIZE];
        int r;

        *p = (struct portfolio){
                .refs = 1, .name = copy_string(name), .method = learner_methods, .wall_ns = 20 * NSEC_PER_SEC, .memory = UINT64_C(4) << 30, .seed = 1};
        r = read_sections(w, path, &config);
        if (r == 0)
                r = read_portfolio(w, path, &config, p);
        if (r < 0)
                return r;
        find_epoch(w, p);
        *ret = steal_pointer(p);
        return 0;
}

struct portfolio *portfolio_ref(struct portfolio *p)
{
        __atomic_add_fetch(&p->refs, 1, __ATOMIC_RELAXED);
        return p;
}

struct portfolio *portfolio_unref(struct portfolio *p)
{
        if (!p || __atomic_sub_fetch(&p->refs, 1, __ATOMIC_ACQ_REL) > 0)
                return NULL;
        for (size_t i = 0; i < p->n_arms; i++) {
                free(p->arms[i].text);
                free(p->arms[i].name);
                free(p->arms[i].problem);
                solver_unref(p->arms[i].solver);
                recipe_unref(p->arms[i].recipe);
        }
        free(p->arms);
        free(p->name);
        free(p->selector);
        free(p->allocation);
        free(p->notice);
        free(p);
        return NULL;
}

static int compare_names(const void *a, const void *b)
{
        return strcmp(*(char *const *)a, *(char *const *)b);
}

int portfolio_names(struct workspace *w, char ***ret, size_t *ret_n)
{
        cleanup_gitconfig struct gitconfig config = {0};
        char path[PATH_SIZE], **names;
        size_t n = 0;
        int r = read_sections(w, path, &config);

        if (r < 0)
                return r;
        names = allocate(config.n_sections + 1, sizeof(*names));
        for (size_t i = 0; i < config.n_sections; i++) {
                const char *name = config.sections[i].subsection;

                if (is_portfolio(config.sections[i].name) && name && portfolio_name_check(name) == 0 &&
                    !is_listed(name, (const char *const *)names)) /* a section may come again */
                        names[n++] = copy_string(name);
        }
        sort_list(names, n, sizeof(*names), compare_names);
        *ret = names;
        *ret_n = n;
        return 0;
}

/* -- changing it -- */

/* Copies the text without the portfolio's sections. Returns the line of the first one; 0: there is none. */
static unsigned copy_others(const struct gitconfig *g, struct slice text, const char *name, struct buffer *ret)
{
        unsigned line = 0;
        size_t at = 0;

        for (size_t i = 0; i < g->n_sections; i++) {
                const struct gitconfig_section *s = &g->sections[i];

                if (!is_section_of(s, name))
                        continue;
                line = line ?: s->line;
                buffer_add(ret, (const char *)text.data + at, s->begin - at);
                at = s->end;
                at += at < text.size && ((const char *)text.data)[at] == '\n';
        }
        buffer_add(ret, (const char *)text.data + at, text.size - at);
        return line;
}

/* Puts a portfolio's new section into the config; NULL takes the portfolio out. */
static int edit(struct workspace *w, const char *name, const struct buffer *section)
{
        cleanup_blob struct blob text = {0};
        cleanup_buffer struct buffer out = {0};
        cleanup_gitconfig struct gitconfig config = {0}, again = {0};
        char path[PATH_SIZE];
        unsigned line = 0;
        int lock, r = path_join(path, workspace_dir(w), "config");

        if (r == 0)
                r = lock_wait(workspace_dir(w), ".config.writing", false, &lock); /* solvers are written into it under the same lock */
        if (r < 0)
                return r;
        r = read_file(path, CONFIG_SIZE_MAX, &text);
        if (r == 0)
                r = gitconfig_parse(path, SLICE(text.data, text.size), is_portfolio, &config);
        if (r == 0)
                line = copy_others(&config, SLICE(text.data, text.size), name, &out);
        if (r == 0 && section && line > 0)
                r = errorf(-EEXIST, "there is a portfolio '%s' already (%s:%u)", name, path, line);
        if (r == 0 && !section && line == 0)
                r = errorf(-ENOENT, "no portfolio '%s'; see 'solverfs portfolio list'", name);
        if (r == 0 && section)
                buffer_addf(&out, "%s%s", out.size > 0 && out.data[out.size - 1] != '\n' ? "\n" : "", section->data);
        if (r == 0)
                r = buffer_error(&out);
        if (r == 0) /* a text that cannot be read back is not written */
                r = gitconfig_parse(path, SLICE(out.data, out.size), is_portfolio, &again);
        if (r == 0)
                r = write_file_atomic(path, out.data, out.size, 0600);
        lock_release_unlink(workspace_dir(w), ".config.writing", lock);
        return r;
}

int portfolio_remove(struct workspace *w, const char *name)
{
        return edit(w, name, NULL);
}

int portfolio_add(struct workspace *w, const char *name, char *const *arms, const char *const *settings)
{
        cleanup_portfolio struct portfolio *p = NULL;
        cleanup_buffer struct buffer section = {0};
        const struct method *method;
        int r = portfolio_name_check(name);

        buffer_addf(&section, "[portfolio \"%s\"]\n", name);
        for (; *arms; arms++)
                gitconfig_line(&section, "\t", "arm", *arms);
        for (const char *const *s = settings; r == 0 && *s; s += 2) {
                if (strcmp(s[0], "selector") == 0)
                        r = learner_method(s[1], &method);
                gitconfig_line(&section, "\t", s[0], s[1]);
        }
        if (r == 0)
                r = edit(w, name, &section);
        if (r < 0)
                return r;
        r = portfolio_open(w, name, &p);
        if (r < 0) { /* the sentence names the line; the config is as it was */
                cleanup_free char *why = copy_string(error_message(r));

                portfolio_remove(w, name);
                return errorf(r, "%s", why);
        }
        return 0;
}

static int reset_in(void *user, struct store_txn *t)
{
        const struct slice *key = user;
        cleanup_blob struct blob old = {0};
        uint8_t value[8];

        key_u64(value, 1 + (store_get(t, TABLE_PORTFOLIOS, *key, &old) == 0 && old.size == 8 ? key_get_u64(old.data) : 0));
        return store_put(t, TABLE_PORTFOLIOS, *key, SLICE(value, sizeof(value)));
}

int portfolio_reset(struct workspace *w, const char *name)
{
        cleanup_buffer struct buffer b = {0};
        cleanup_portfolio struct portfolio *p = NULL;
        struct slice key = resets_key(name, &b);
        int r = portfolio_open(w, name, &p);

        return r < 0 ? r : store_update(workspace_store(w), reset_in, &key);
}
