/* Definitions of portfolios: read from the config, and written into it. */
#include "core/portfolio/portfolio.h"

#include <ctype.h>
#include <sys/stat.h>

#include "cache/base/lock.h"
#include "cache/base/mount_table.h"
#include "core/git/gitconfig.h"
#include "core/portfolio/portfolio_internal.h"
#include "core/workspace/config_text.h"
#include "core/query/programs.h"
#include "core/recipe/recipe_keys.h"

/* -- arms -- */

/* The command of "NAME: COMMAND"; NULL for a solver's arm, "z3@HEAD seed=3". */
static const char *command_of(const char *text)
{
        const char *colon = strchr(text, ':'), *blank = strchr(text, ' ');

        return colon && colon > text && colon[1] == ' ' && (!blank || blank > colon) ? colon + 2 : NULL;
}

/* The path of a program, links followed. -EDEADLK: it is in a mount of ours, whose daemon would wait for itself. */
static int real_program(const char *path, char ret[PATH_SIZE])
{
        struct stat st;

        if (mount_table_has(path))
                return -EDEADLK;
        if (!realpath(path, ret))
                return -errno;
        if (mount_table_has(ret))
                return -EDEADLK;
        if (stat(ret, &st) < 0 || access(ret, X_OK) < 0)
                return -errno;
        return S_ISREG(st.st_mode) ? 0 : -EACCES;
}

/* The path of a command's first word, as a shell finds it, but in no mount of ours. -errno without a sentence. */
static int find_program(const char *word, char ret[PATH_SIZE])
{
        const char *path = getenv("PATH");
        int none = -ENOENT;

        if (strchr(word, '/'))
                return real_program(word, ret);
        for (const char *at = path ? path : "/usr/bin:/bin"; *at;) {
                size_t n = strcspn(at, ":");
                char name[PATH_SIZE];
                int r = snprintf(name, sizeof(name), "%.*s/%s", (int)n, at, word) < (int)sizeof(name) ? real_program(name, ret) : -ENAMETOOLONG;

                if (r == 0)
                        return 0;
                none = r == -EDEADLK ? r : none;
                at += n + (at[n] == ':');
        }
        return none;
}

/* A command's identity is its program's bytes and its arguments. The path does not count, as the sandbox has another one. */
static void identify_command(struct arm *a)
{
        struct hasher *h;
        int r = program_digest(a->program, &a->program_digest);

        if (r < 0) {
                a->problem = copy_string(error_message(r));
                return;
        }
        h = hasher_new();
        hasher_string(h, "command");
        hasher_string(h, a->recipe->run);
        hasher_add(h, a->program_digest.bytes, DIGEST_SIZE);
        hasher_finish(h, &a->identity);
}

/* A recipe that runs the command's program with these arguments. */
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
        buffer_adds(&text, "[solver]\n\tformat = any\n\tbuild = true\n\toutput = program\n\tsamples = 1\n");
        gitconfig_line(&text, "\t", "run", run.data);
        r = recipe_parse(text.data, label, name, &list, &n);
        if (r == 0)
                *ret = recipe_ref(list[0]);
        recipe_list_free(list, n);
        return r;
}

/* Reads "NAME: COMMAND". */
static int open_command(const char *label, struct arm *a, const char *command)
{
        char **words = NULL;
        int r = recipe_split(command, &words);

        a->name = copy_prefix(a->text, (size_t)(command - 2 - a->text));
        if (r < 0)
                return r;
        r = words[0] ? command_recipe(label, a->name, words + 1, &a->recipe) : errorf(-EINVAL, "it has no command");
        if (r == 0) {
                int found = find_program(words[0], a->program);

                if (found == -EDEADLK)
                        a->problem = format_string("%s is in a mount of solverfs: name the version itself, as in 'z3@HEAD'", words[0]);
                else if (found < 0)
                        a->problem = format_string("%s: %s", words[0], strerror(-found));
                else
                        identify_command(a);
        }
        strings_free(words);
        return r;
}

static int parse_seed(const char *text, uint64_t *ret)
{
        char *end;

        errno = 0;
        *ret = strtoull(text, &end, 10);
        return !isdigit((unsigned char)*text) || *end || errno != 0 ? -EINVAL : 0;
}

/* A solver's identity: its build's key, how the recipe runs it, and the limits. */
static void identify_solver(struct arm *a, const struct digest *build)
{
        const struct recipe_limits *limits = &a->recipe->limits;
        struct digest run;
        struct hasher *h = hasher_new();

        recipe_run_digest(a->recipe, a->has_seed, a->seed, limits, &run);
        hasher_string(h, "solver");
        hasher_add(h, build->bytes, DIGEST_SIZE);
        hasher_add(h, run.bytes, DIGEST_SIZE);
        recipe_add_limit(h, "cputime", limits->cpu_ns, limits->wall_ns); /* equal ones become the portfolio's: cell_limits() */
        recipe_add_limit(h, "memory", limits->memory, RECIPE_MEMORY);
        recipe_add_limits(h, limits);
        hasher_finish(h, &a->identity);
}

/* Reads "SOLVER@REVISION seed=N". */
static int open_solver(struct workspace *w, struct arm *a)
{
        cleanup_free char *copy = copy_string(a->text);
        char *rest = copy, *who = strsep(&rest, " "), *word, *revision;
        struct digest build;
        int r;

        a->name = copy_string(a->text);
        while ((word = strsep(&rest, " "))) {
                if (!*word)
                        continue;
                if (strncmp(word, "seed=", 5) != 0)
                        return errorf(-EINVAL, "'%s': only seed=N is known there; a command needs a name: 'NAME: COMMAND'", word);
                a->has_seed = true;
                if (parse_seed(word + 5, &a->seed) < 0 || a->seed > UINT32_MAX)
                        return errorf(-EINVAL, "'%s' is no seed", word);
        }
        revision = strchr(who, '@');
        if (revision)
                *revision++ = '\0';
        r = workspace_solver(w, who, &a->solver)
            ?: history_resolve(a->solver->history, revision && *revision ? revision : "HEAD", &a->commit)
            ?: build_key(a->solver->history, a->commit, a->solver->recipe, &build);
        if (r == -ENOENT || r == -ENOTUNIQ || r == -ENODATA) {
                a->problem = format_string("%s: %s", a->text, error_message(r));
                return 0;
        }
        if (r < 0)
                return r;
        a->recipe = recipe_ref((struct recipe *)solver_recipe_at(a->solver, a->commit));
        if (a->solver->recipe->is_programs && a->recipe->sha256)
                digest_parse(a->recipe->sha256, &a->program_digest);
        if (a->has_seed && !a->recipe->seed)
                a->problem = format_string("%s: the recipe of %s has no 'seed': it cannot be told one", a->text, a->solver->recipe->name);
        identify_solver(a, &build);
        return 0;
}

static int add_arm(struct workspace *w, const char *label, unsigned line, const char *text, struct portfolio *p)
{
        const char *command;
        struct arm *a;
        int r;

        a = list_add(p->arms, p->n_arms, (struct arm){.text = copy_string(text)});
        command = command_of(a->text);
        r = command ? open_command(label, a, command) : open_solver(w, a);
        if (r < 0)
                return r == -EINVAL ? errorf(r, "%s:%u: the arm '%s': %s", label, line, a->text, error_message(r)) : r;
        for (size_t i = 0; i + 1 < p->n_arms; i++)
                if (strcmp(p->arms[i].name, a->name) == 0)
                        return errorf(-EINVAL, "%s:%u: the arm '%s' is there twice", label, line, a->name);
        return strpbrk(a->name, "\t\n") ? errorf(-EINVAL, "%s:%u: a tab or a newline in the name of an arm", label, line) : 0;
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

/* Reads the portfolios of the config, as if it ended with `more`. */
static int read_sections(struct workspace *w, const char *more, char path[PATH_SIZE], struct gitconfig *ret)
{
        cleanup_config_text struct config_text config = {0};
        cleanup_buffer struct buffer text = {0};
        int r = path_join(path, workspace_dir(w), "config") ?: config_text_read(workspace_store(w), path, &config);

        buffer_add(&text, config.text.data, config.text.size);
        buffer_adds(&text, more);
        return r ?: gitconfig_parse(path, SLICE(text.data, text.size), is_portfolio, ret);
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

static int read_setting(const char *path, const struct gitconfig_entry *e, struct portfolio *p)
{
        const char *v = e->value ?: "";
        int r;

        if (strcmp(e->key, "timeout") == 0) {
                r = parse_duration(v, &p->wall_ns) == 0 && p->wall_ns > 0 ? 0 : -EINVAL;
        } else if (strcmp(e->key, "memory") == 0) {
                r = parse_size(v, &p->memory) == 0 && p->memory > 0 ? 0 : -EINVAL;
        } else if (strcmp(e->key, "seed") == 0) {
                r = parse_seed(v, &p->seed);
        } else if (strcmp(e->key, "selector") == 0) {
                if (strcmp(v, "survival") != 0)
                        return errorf(-EINVAL, "%s:%u: [portfolio \"%s\"]: there is no selector '%s': take the line out", path, e->line, p->name, v);
                p->selector = "survival";
                return 0;
        } else {
                return errorf(-EINVAL, "%s:%u: unknown key '%s' in [portfolio \"%s\"]; there are arm, timeout, memory and seed", path, e->line,
                              e->key, p->name);
        }
        return r < 0 ? errorf(r, "%s:%u: '%s' is no value for '%s'", path, e->line, v, e->key) : 0;
}

static struct slice resets_key(const char *name, struct buffer *b)
{
        buffer_addf(b, "resets/%s", name);
        return SLICE(b->data, b->size);
}

static int find_epoch(struct workspace *w, struct portfolio *p)
{
        cleanup_buffer struct buffer key = {0};
        struct hasher *h;
        uint64_t resets;
        int r = portfolio_counter(w, resets_key(p->name, &key), &resets);

        if (r < 0)
                return r;
        h = hasher_new();
        hasher_string(h, "portfolio");
        hasher_string(h, p->name);
        hasher_number(h, resets);
        hasher_number(h, p->wall_ns);
        hasher_number(h, p->memory);
        hasher_number(h, p->seed);
        hasher_number(h, 0); /* this and the NULL below replace settings of earlier stores, so that epochs stay the same */
        hasher_string(h, p->selector);
        hasher_string(h, NULL);
        for (size_t i = 0; i < p->n_arms; i++) {
                hasher_string(h, p->arms[i].name);
                hasher_add(h, p->arms[i].identity.bytes, DIGEST_SIZE);
                if (p->arms[i].solver && p->arms[i].solver->pool)
                        hasher_string(h, p->arms[i].solver->pool->name);
        }
        hasher_finish(h, &p->epoch);
        return 0;
}

static int read_portfolio(struct workspace *w, const char *path, const struct gitconfig *g, struct portfolio *p)
{
        unsigned line = 0;

        for (size_t i = 0; i < g->n_sections; i++) {
                const struct gitconfig_section *s = &g->sections[i];

                if (!is_section_of(s, p->name))
                        continue;
                line = s->line;
                for (size_t k = 0; k < s->n_entries; k++) {
                        const struct gitconfig_entry *e = &s->entries[k];
                        int r = strcmp(e->key, "arm") == 0 ? add_arm(w, path, e->line, e->value ?: "", p) : read_setting(path, e, p);

                        if (r < 0)
                                return r;
                }
        }
        if (line == 0)
                return errorf(-ENOENT, "no portfolio '%s'; see 'solverfs portfolio list'", p->name);
        return p->n_arms > 0 ? 0 : errorf(-EINVAL, "%s:%u: [portfolio \"%s\"] has no arm", path, line, p->name);
}

/* A portfolio of the config, as if that ended with `more`. */
static int open_from(struct workspace *w, const char *name, const char *more, struct portfolio **ret)
{
        cleanup_portfolio struct portfolio *p = allocate(1, sizeof(*p));
        cleanup_gitconfig struct gitconfig config = {0};
        char path[PATH_SIZE];
        int r;

        *p = (struct portfolio){
                .refs = 1, .name = copy_string(name), .wall_ns = 20 * NSEC_PER_SEC, .memory = UINT64_C(4) << 30, .seed = 1};
        r = read_sections(w, more, path, &config) ?: read_portfolio(w, path, &config, p) ?: find_epoch(w, p);
        if (r == 0)
                *ret = steal_pointer(p);
        return r;
}

int portfolio_open(struct workspace *w, const char *name, struct portfolio **ret)
{
        return open_from(w, name, "", ret);
}

static void portfolio_free(struct portfolio *p)
{
        for (size_t i = 0; i < p->n_arms; i++) {
                free(p->arms[i].text);
                free(p->arms[i].name);
                free(p->arms[i].problem);
                solver_unref(p->arms[i].solver);
                recipe_unref(p->arms[i].recipe);
        }
        free(p->arms);
        free(p->name);
        free(p);
}
DEFINE_REFS(portfolio, portfolio_free)

int portfolio_names(struct workspace *w, char ***ret, size_t *ret_n)
{
        cleanup_gitconfig struct gitconfig config = {0};
        char path[PATH_SIZE], **names;
        size_t n = 0;
        int r = read_sections(w, "", path, &config);

        if (r < 0)
                return r;
        names = allocate(config.n_sections + 1, sizeof(*names));
        for (size_t i = 0; i < config.n_sections; i++) {
                const char *name = config.sections[i].subsection;

                if (is_portfolio(config.sections[i].name) && name && portfolio_name_check(name) == 0 &&
                    !strings_have(names, name)) /* a section may occur twice */
                        names[n++] = copy_string(name);
        }
        sort_list(names, n, sizeof(*names), compare_strings);
        *ret = names;
        *ret_n = n;
        return 0;
}

/* -- changing it -- */

/* The path of the config, and the line of the portfolio in it; 0 if it is not there. */
static int find_section(struct workspace *w, const char *name, char ret_path[PATH_SIZE], unsigned *ret_line)
{
        cleanup_gitconfig struct gitconfig config = {0};
        int r = read_sections(w, "", ret_path, &config);

        *ret_line = 0;
        for (size_t i = 0; r == 0 && i < config.n_sections && *ret_line == 0; i++)
                if (is_section_of(&config.sections[i], name))
                        *ret_line = config.sections[i].line;
        return r;
}

/* One process at a time changes portfolios: adding one first looks whether it is there. */
static int lock_sections(struct workspace *w, int *ret_lock)
{
        return lock_wait(workspace_dir(w), "portfolios.lock", LOCK_ALONE, ret_lock) ?: workspace_check_editable(w);
}

int portfolio_remove(struct workspace *w, const char *name)
{
        cleanup_close int lock = -1;
        char path[PATH_SIZE];
        unsigned line;
        int r = lock_sections(w, &lock) ?: find_section(w, name, path, &line);

        if (r == 0 && line == 0)
                r = errorf(-ENOENT, "no portfolio '%s'; see 'solverfs portfolio list'", name);
        return r < 0 ? r : recipe_remove_config(path, "portfolio", &name, 1);
}

/* Adds an arm's line. A command's relative path gets the present folder in front: others ask from elsewhere. */
static void add_arm_line(struct buffer *section, const char *text)
{
        cleanup_buffer struct buffer arm = {0};
        const char *command = command_of(text);
        char **words = NULL, folder[PATH_SIZE];

        if (command && recipe_split(command, &words) == 0 && words[0] && *words[0] != '/' && strchr(words[0], '/') &&
            getcwd(folder, sizeof(folder))) {
                buffer_add(&arm, text, (size_t)(command - text));
                buffer_add_plain_word(&arm, folder, "");
                buffer_addf(&arm, "/%s", command + strspn(command, " \t"));
        }
        gitconfig_line(section, "\t", "arm", arm.data ?: text);
        strings_free(words);
}

int portfolio_add(struct workspace *w, const char *name, char *const *arms, const char *const *settings)
{
        cleanup_portfolio struct portfolio *p = NULL;
        cleanup_buffer struct buffer section = {0};
        cleanup_close int lock = -1;
        char path[PATH_SIZE];
        unsigned line;
        int r = portfolio_name_check(name) ?: lock_sections(w, &lock) ?: find_section(w, name, path, &line);

        if (r == 0 && line > 0)
                r = errorf(-EEXIST, "there is a portfolio '%s' already (%s:%u)", name, path, line);
        if (r < 0)
                return r;
        buffer_addf(&section, "[portfolio \"%s\"]\n", name);
        for (; *arms; arms++)
                add_arm_line(&section, *arms);
        for (const char *const *s = settings; *s; s += 2)
                gitconfig_line(&section, "\t", s[0], s[1]);
        r = open_from(w, name, section.data, &p);
        for (size_t i = 0; r == 0 && i < p->n_arms; i++) /* a command's program may come later */
                if (p->arms[i].problem && (p->arms[i].solver || !p->arms[i].recipe))
                        r = errorf(p->arms[i].recipe ? -EINVAL : -ENOENT, "%s", p->arms[i].problem);
        return r ?: recipe_append_config(path, section.data);
}

int portfolio_reset(struct workspace *w, const char *name)
{
        cleanup_buffer struct buffer b = {0};
        cleanup_portfolio struct portfolio *p = NULL;
        struct slice key = resets_key(name, &b);
        struct store_update u = {.store = workspace_store(w), .r = portfolio_open(w, name, &p)};

        while (store_update_begins(&u))
                u.r = portfolio_count(u.txn, key);
        return u.r;
}
