#include "core/recipe/recipe.h"

#include <ctype.h>

#include "core/recipe/recipe_keys.h"

#define FIELD(f) offsetof(struct recipe, f)
#define ANY      (PLACE_SOLVER | PLACE_VARIANT)
#define BUILT    (PLACE_SOLVER | PLACE_ERA)
#define DAY      (24 * 3600 * NSEC_PER_SEC)
#define KILO     (UINT64_C(1) << 10)
#define MEGA     (UINT64_C(1) << 20)
#define GIGA     (UINT64_C(1) << 30)

/* In the order of printing. A variant shares its solver's builds, so it has no keys that builds depend on, except for other repositories' files. With
 * `within` it has all keys (recipe_read.c). A key on which builds or runs depend is in a digest below, too: without that old results would be served. */
const struct recipe_key recipe_keys[] = {
        {"variant", KIND_TEXT, PLACE_VARIANT | PLACE_CONFIG, FIELD(base)},
        {"repository", KIND_TEXT, PLACE_SOLVER | PLACE_CONFIG, FIELD(repository)},
        {"runs", KIND_TEXT, PLACE_SOLVER | PLACE_VARIANT | PLACE_CONFIG, FIELD(runs)},
        {"builds", KIND_TEXT, PLACE_SOLVER | PLACE_CONFIG, FIELD(builds)},
        {"format", KIND_FORMAT, ANY, FIELD(format)},
        {"paths", KIND_PATHS, BUILT, FIELD(paths)},
        {"build", KIND_LINES, BUILT, FIELD(build)},
        {"clean", KIND_RETIRED, PLACE_SOLVER, 0},
        {"output", KIND_OUTPUTS, BUILT | PLACE_BINARY, FIELD(outputs)},
        {"environment", KIND_VARIABLES, PLACE_SOLVER, FIELD(environment)},
        {"dependency", KIND_FOLDERS, BUILT, FIELD(dependencies)},
        {"submodule", KIND_SUBMODULES, BUILT | PLACE_VARIANT, FIELD(submodules)},
        {"within", KIND_WITHIN, PLACE_SOLVER | PLACE_VARIANT, FIELD(within)},
        {"download", KIND_DOWNLOADS, BUILT, FIELD(downloads)},
        {"file", KIND_FILE, PLACE_BINARY, FIELD(file)},
        {"sha256", KIND_DIGEST, PLACE_BINARY, FIELD(sha256)},
        {"run", KIND_TEXT, ANY | PLACE_BINARY, FIELD(run)},
        {"arguments", KIND_TEXT, ANY, FIELD(arguments)},
        {"seed", KIND_TEXT, ANY | PLACE_BINARY, FIELD(seed)},
        {"trace", KIND_TEXT, ANY, FIELD(trace)},
        {"effort", KIND_PATTERNS, ANY, FIELD(effort)},
        {"dialect", KIND_DIALECT, ANY, FIELD(dialect)},
        {"options", KIND_TEXT, ANY, FIELD(options)},
        {"timeout", KIND_DURATION, ANY, FIELD(limits.wall_ns), NSEC_PER_MSEC, 365 * DAY},
        {"cputime", KIND_DURATION, ANY, FIELD(limits.cpu_ns), NSEC_PER_MSEC, 365 * DAY},
        {"memory", KIND_SIZE, ANY, FIELD(limits.memory), MEGA, UINT64_C(1) << 50},
        {"output-limit", KIND_SIZE, ANY, FIELD(limits.output), KILO, 64 * GIGA},
        {"processes", KIND_COUNT, ANY, FIELD(limits.processes), 1, 1 << 22},
        {"stack", KIND_SIZE, ANY, FIELD(limits.stack), 256 * KILO, 1024 * GIGA},
        {"samples", KIND_COUNT, ANY, FIELD(samples), 1, 1000},
        {"incremental", KIND_RETIRED, PLACE_SOLVER, 0},
        {"build-timeout", KIND_DURATION, BUILT, FIELD(build_limits.wall_ns), NSEC_PER_SEC, 365 * DAY},
        {"build-memory", KIND_SIZE, BUILT, FIELD(build_limits.memory), MEGA, UINT64_C(1) << 50},
        {"build-processes", KIND_COUNT, BUILT, FIELD(build_limits.processes), 1, 1 << 22},
};

const char *format_name(enum format f)
{
        return f == FORMAT_CNF ? "cnf" : f == FORMAT_SMT2 ? "smt2" : "any";
}

/* -- lists of strings ------------------------------------------------------------------------------------------- */

size_t strings_count(char *const *list)
{
        size_t n = 0;

        while (list[n])
                n++;
        return n;
}

bool strings_have(char *const *list, const char *s)
{
        while (*list && strcmp(*list, s) != 0)
                list++;
        return *list != NULL;
}

int strings_add(char ***list, const char *s)
{
        size_t n = *list ? strings_count(*list) : 0;
        char **grown = allocate(n + 2, sizeof(*grown));

        if (n > 0)
                memcpy(grown, *list, n * sizeof(*grown));
        free(*list);
        *list = grown;
        grown[n] = copy_string(s);
        return 0;
}

char **strings_copy(char *const *list)
{
        char **copy = allocate(strings_count(list) + 1, sizeof(*copy));

        for (size_t i = 0; list[i]; i++)
                copy[i] = copy_string(list[i]);
        return copy;
}

void strings_free(char **list)
{
        for (size_t i = 0; list && list[i]; i++)
                free(list[i]);
        free(list);
}

/* -- life ------------------------------------------------------------------------------------------------------- */

static void recipe_free(struct recipe *r)
{
        for (const struct recipe_key *k = recipe_keys; k < recipe_keys + N_RECIPE_KEYS; k++) {
                void *field = recipe_field(r, k);

                if (recipe_key_repeats(k))
                        strings_free(*(char ***)field);
                else if (recipe_key_is_string(k))
                        free(*(char **)field);
        }
        recipe_list_free(r->eras, r->n_eras);
        strings_free(r->sources);
        free(r->name);
        free(r->range);
        free(r->text);
        free(r);
}
DEFINE_REFS(recipe, recipe_free)

void recipe_list_free(struct recipe **list, size_t n)
{
        for (size_t i = 0; i < n; i++)
                recipe_unref(list[i]);
        free(list);
}

struct recipe *recipe_new(void)
{
        struct recipe *r = allocate(1, sizeof(*r));

        *r = (struct recipe){
                .refs = 1,
                .format = FORMAT_SMT2,
                .dialect = copy_string("2.6"),
                .limits = {.wall_ns = 20 * NSEC_PER_SEC,
                           .cpu_ns = 20 * NSEC_PER_SEC,
                           .memory = RECIPE_MEMORY,
                           .output = RECIPE_OUTPUT,
                           .processes = RECIPE_PROCESSES,
                           .stack = RECIPE_STACK},
                .build_limits = {.wall_ns = 3600 * NSEC_PER_SEC, .memory = 16 * GIGA, .output = 16 * MEGA, .processes = 4096},
                .samples = 5,
        };
        for (const struct recipe_key *k = recipe_keys; k < recipe_keys + N_RECIPE_KEYS; k++)
                if (recipe_key_repeats(k))
                        *(char ***)recipe_field(r, k) = allocate(1, sizeof(char *));
        r->sources = allocate(1, sizeof(char *));
        return r;
}

struct recipe *recipe_copy(const struct recipe *r)
{
        struct recipe *c = allocate(1, sizeof(*c));

        *c = *r;
        c->refs = 1;
        c->eras = NULL;
        c->n_eras = 0;
        c->range = c->text = NULL;
        c->is_programs = c->binary_has_own_run = false;
        c->name = r->name ? copy_string(r->name) : NULL;
        c->sources = strings_copy(r->sources);
        for (const struct recipe_key *k = recipe_keys; k < recipe_keys + N_RECIPE_KEYS; k++) {
                char ***list = recipe_field(c, k), **text = (char **)list;

                if (recipe_key_repeats(k))
                        *list = strings_copy(*list);
                else if (recipe_key_is_string(k) && *text)
                        *text = copy_string(*text);
        }
        return c;
}

struct recipe *recipe_for_format(const struct recipe *r, enum format of_case)
{
        struct recipe *c;

        if (r->format != FORMAT_ANY)
                return recipe_ref((struct recipe *)r);
        c = recipe_copy(r);
        c->format = of_case;
        return c;
}

void recipe_add_arguments(struct recipe *r, const char *more)
{
        cleanup_free char *before = r->arguments;

        r->arguments = format_string("%s%s%s", before ?: "", before ? " " : "", more);
}

struct recipe *recipe_asking(const struct recipe *r, const char *arguments, uint64_t most_ns)
{
        struct recipe *c = recipe_copy(r);

        free(c->run);
        free(steal_pointer(c->arguments));
        free(steal_pointer(c->seed));
        c->run = format_string("{bin} %s <{case}", arguments);
        c->limits.wall_ns = c->limits.cpu_ns = most_ns;
        return c;
}

void recipe_add_era(struct recipe *r, struct recipe *era)
{
        size_t at = r->n_eras;

        list_grow(r->eras, r->n_eras);
        for (; era->file && at > 0 && !r->eras[at - 1]->file; at--)
                r->eras[at] = r->eras[at - 1];
        r->eras[at] = era;
        r->n_eras++;
}

void recipe_share_eras(struct recipe *r, const struct recipe *base)
{
        for (size_t i = 0; i < base->n_eras; i++)
                recipe_add_era(r, recipe_ref(base->eras[i]));
}

static int take_revision(const char *range, const char *text, size_t n, char ret[RECIPE_REVISION_SIZE])
{
        if (n >= RECIPE_REVISION_SIZE || memchr(text, ' ', n) || memchr(text, '\n', n) || memchr(text, '\t', n))
                return errorf(-EINVAL, "'%.100s' is not a range of revisions like \"v1..v2\"", range);
        snprintf(ret, RECIPE_REVISION_SIZE, "%.*s", (int)n, text);
        return 0;
}

int recipe_range(const char *range, char ret_from[RECIPE_REVISION_SIZE], char ret_to[RECIPE_REVISION_SIZE])
{
        const char *dots = strstr(range, ".."), *to = dots ? dots + 2 : NULL;

        if (!dots || strstr(to, "..") || *to == '.' || strlen(range) == 2)
                return errorf(-EINVAL, "'%.100s' is not a range of revisions like \"v1..v2\", \"v1..\" or \"..v2\"", range);
        return take_revision(range, range, (size_t)(dots - range), ret_from)
            ?: take_revision(range, to, strlen(to), ret_to);
}

/* -- command lines ---------------------------------------------------------------------------------------------- */

/* Reads one word from *p on, with a shell's quoting but none of its other features. A word that needs a shell is refused: as an argument it would
 * fail without a visible reason. */
static int split_word(const char **p, struct buffer *word)
{
        char quote = '\0';

        for (; **p && (quote || !isspace((unsigned char)**p)); (*p)++) {
                char c = **p;

                if (c == quote) {
                        quote = '\0';
                        continue;
                }
                if (!quote && (c == '\'' || c == '"')) {
                        quote = c;
                        continue;
                }
                if (c == '\\' && quote != '\'' && (!quote || strchr("\"\\$`", (*p)[1]))) {
                        if ((*p)[1] == '\0')
                                return errorf(-EINVAL, "it ends in a backslash");
                        c = *++*p;
                } else if (!quote && c == '<')
                        return errorf(-EINVAL, "no shell runs it; standard input is the case where a word is " RECIPE_INPUT);
                else if (!quote && strchr("|&;>$`", c))
                        return errorf(-EINVAL,
                                      "no shell runs it, so '%c' means nothing here; quote it if it is meant as it stands", c);
                buffer_add(word, &c, 1);
        }
        return quote ? errorf(-EINVAL, "the quote %c is not closed", quote) : 0;
}

/* The one word whose '<' has a meaning. */
static bool split_input(const char **p, struct buffer *word)
{
        const size_t n = strlen(RECIPE_INPUT);

        if (strncmp(*p, RECIPE_INPUT, n) != 0 || ((*p)[n] && !isspace((unsigned char)(*p)[n])))
                return false;
        buffer_adds(word, RECIPE_INPUT);
        *p += n;
        return true;
}

int recipe_split(const char *text, char ***ret_words)
{
        cleanup(strings_freep) char **words = allocate(1, sizeof(*words));
        const char *p = text;

        for (;;) {
                cleanup_buffer struct buffer word = {0};
                int r;

                while (isspace((unsigned char)*p))
                        p++;
                if (!*p)
                        break;
                buffer_add(&word, "", 0); /* '' is a word too */
                r = split_input(&p, &word) ? 0 : split_word(&p, &word);
                if (r < 0)
                        return r;
                strings_add(&words, word.data);
        }
        *ret_words = steal_pointer(words);
        return 0;
}

bool recipe_reads_input(const struct recipe *r)
{
        return strstr(r->run, RECIPE_INPUT) != NULL;
}

/* Length of a "{name}" at p; 0: there is none. */
static size_t placeholder_length(const char *p)
{
        size_t n = 1;

        if (*p != '{')
                return 0;
        while (islower((unsigned char)p[n]))
                n++;
        return n > 1 && p[n] == '}' ? n + 1 : 0;
}

int recipe_check_placeholders(const char *word, const char *const *known, unsigned *uses)
{
        for (const char *p = word; *p; p++) {
                size_t n = placeholder_length(p), i = 0;

                if (n == 0)
                        continue;
                while (known[i] && !(strlen(known[i]) == n && memcmp(known[i], p, n) == 0))
                        i++;
                if (!known[i])
                        return errorf(-EINVAL, "%.*s is not known here", (int)n, p);
                uses[i]++;
        }
        return 0;
}

/* Placeholders and their values. */
struct meaning {
        const char *name, *value;
};

static void expand(const char *word, const struct meaning *meanings, size_t n_meanings, char ***argv)
{
        cleanup_buffer struct buffer b = {0};

        buffer_add(&b, "", 0);
        for (const char *p = word; *p;) {
                size_t n = placeholder_length(p), i = 0;

                while (n > 0 && i < n_meanings && !(strlen(meanings[i].name) == n && memcmp(meanings[i].name, p, n) == 0))
                        i++;
                if (n > 0 && i < n_meanings) {
                        buffer_adds(&b, meanings[i].value);
                        p += n;
                } else
                        buffer_add(&b, p++, 1);
        }
        strings_add(argv, b.data);
}

static int expand_all(const char *text, const struct meaning *meanings, size_t n, char ***argv)
{
        cleanup(strings_freep) char **words = NULL;
        int r = text ? recipe_split(text, &words) : 0;

        for (size_t i = 0; r == 0 && words && words[i]; i++)
                expand(words[i], meanings, n, argv);
        return r;
}

int recipe_command(const struct recipe *r, const char *bin, const char *case_path, bool has_seed, uint64_t seed,
                   const struct recipe_limits *limits, char ***ret_argv)
{
        char timeout[32], memory[32], number[32];
        const struct meaning meanings[] = {{"{bin}", bin}, {"{case}", case_path}, {"{timeout}", timeout}, {"{memory}", memory}};
        const struct meaning seed_meaning = {"{n}", number};
        const char *arguments = r->arguments;
        cleanup(strings_freep) char **words = NULL, **argv = NULL;
        int e = recipe_split(r->run, &words);

        if (e < 0)
                return e;
        snprintf(timeout, sizeof(timeout), "%llu", (unsigned long long)((limits->wall_ns + NSEC_PER_SEC - 1) / NSEC_PER_SEC));
        snprintf(memory, sizeof(memory), "%llu", (unsigned long long)(limits->memory >> 20));
        snprintf(number, sizeof(number), "%llu", (unsigned long long)seed);
        for (size_t i = 0; e == 0 && words[i]; i++) {
                if (arguments && strstr(words[i], "{case}")) {
                        e = expand_all(arguments, meanings, ARRAY_SIZE(meanings), &argv);
                        arguments = NULL;
                }
                if (e == 0 && has_seed && strcmp(words[i], "{seed}") == 0)
                        e = expand_all(r->seed, &seed_meaning, 1, &argv);
                else if (strcmp(words[i], RECIPE_INPUT) != 0 && strcmp(words[i], "{seed}") != 0)
                        expand(words[i], meanings, ARRAY_SIZE(meanings), &argv);
        }
        if (e == 0)
                e = expand_all(arguments, meanings, ARRAY_SIZE(meanings), &argv);
        if (e < 0)
                return e;
        *ret_argv = steal_pointer(argv);
        return 0;
}

/* -- lines of `submodule`, `within` and `download` --------------------------------------------------------------- */

struct recipe_submodule recipe_submodule(const char *line)
{
        size_t n = strcspn(line, "="), size;
        const char *repository = line + n + (line[n] == '='), *last = strrchr(repository, ' ');
        bool is_pinned = last && strlen(last + 1) == RECIPE_COMMIT_DIGITS && strspn(last + 1, "0123456789abcdef") == RECIPE_COMMIT_DIGITS;

        size = is_pinned ? (size_t)(last - repository) : strlen(repository);
        while (is_pinned && size > 0 && repository[size - 1] == ' ')
                size--;
        return (struct recipe_submodule){SLICE(line, n), SLICE(repository, size), is_pinned ? last + 1 : NULL};
}

const char *recipe_find_submodule(char *const *lines, struct slice path)
{
        for (; lines && *lines; lines++)
                if (same_bytes(recipe_submodule(*lines).path, path))
                        return *lines;
        return NULL;
}

char **recipe_merge_submodules(char *const *lines, char *const *ours)
{
        char **ret = allocate(1, sizeof(*ret));

        for (; *lines; lines++)
                if (!recipe_find_submodule(ours, recipe_submodule(*lines).path))
                        strings_add(&ret, *lines);
        for (; *ours; ours++)
                strings_add(&ret, *ours);
        return ret;
}

struct recipe *recipe_within_host(const struct recipe *r, const char *commit)
{
        const struct slice path = recipe_submodule(r->within).path;
        struct recipe *whole = recipe_copy(r);
        cleanup_free char *line = format_string("%.*s=%s %.40s", (int)path.size, (const char *)path.data, r->repository ?: ".", commit);

        strings_free(whole->submodules);
        whole->submodules = recipe_merge_submodules(r->submodules, (char *[]){line, NULL});
        free(steal_pointer(whole->within));
        return whole;
}

size_t recipe_download(const char *line, struct digest *ret_digest, struct slice *ret_name)
{
        size_t n = strcspn(line, " \t"), from = n;

        while (from > 0 && line[from - 1] != '/')
                from--;
        *ret_name = SLICE(line + from, n - from);
        if (digest_parse(line + n + strspn(line + n, " \t"), ret_digest) < 0)
                *ret_digest = (struct digest){0};
        return n;
}

/* -- digests ---------------------------------------------------------------------------------------------------- */

static struct hasher *begin_digest(const char *what)
{
        struct hasher *h = hasher_new();

        hasher_string(h, what);
        return h;
}

static void hash_list(struct hasher *h, char *const *list)
{
        hasher_number(h, strings_count(list));
        for (size_t i = 0; list[i]; i++)
                hasher_string(h, list[i]);
}

/* Hashes the names of submodules and downloads, not their sources: a submodule's commit is in the tree or in its line, and a download has a digest. Files
 * read from dependencies are recorded with the build. A recipe without such keys keeps the digest it had before they existed. */
static void hash_other_sources(struct hasher *h, const struct recipe *r)
{
        if (!r->dependencies[0] && !r->submodules[0] && !r->downloads[0])
                return;
        hash_list(h, r->dependencies);
        for (char *const *p = r->submodules; *p; p++) {
                const struct recipe_submodule s = recipe_submodule(*p);

                hasher_field(h, s.path.data, s.path.size);
                if (s.commit)
                        hasher_string(h, s.commit);
        }
        hasher_string(h, NULL);
        for (char *const *p = r->downloads; *p; p++) {
                struct digest d;
                struct slice name;

                recipe_download(*p, &d, &name);
                hasher_field(h, name.data, name.size);
                hasher_add(h, d.bytes, DIGEST_SIZE);
        }
}

void recipe_build_digest(const struct recipe *r, struct digest *ret)
{
        struct hasher *h;

        if (r->file) { /* a released program is identified by its bytes, whatever commands and sources */
                h = begin_digest("solverfs binary 1");
                hasher_string(h, r->sha256);
                hash_list(h, r->outputs);
                hasher_number(h, r->is_archive);
                hasher_finish(h, ret);
                return;
        }
        h = begin_digest("solverfs build 2");
        hash_list(h, r->paths);
        hash_list(h, r->build);
        hash_list(h, r->outputs);
        hash_list(h, r->environment);
        hash_other_sources(h, r);
        if (r->within) {
                const struct recipe_submodule s = recipe_submodule(r->within);

                hasher_string(h, "within");
                hasher_field(h, s.path.data, s.path.size);
                hasher_string(h, s.commit);
        }
        hasher_finish(h, ret);
}

void recipe_eras_digest(const struct recipe *r, struct digest *ret)
{
        struct hasher *h;

        recipe_build_digest(r, ret);
        if (r->n_eras == 0 || r->is_programs) /* commits of `programs` name their bytes */
                return;
        h = begin_digest("solverfs builds 1");
        hasher_add(h, ret->bytes, DIGEST_SIZE);
        for (size_t i = 0; i < r->n_eras; i++) {
                recipe_build_digest(r->eras[i], ret);
                hasher_string(h, r->eras[i]->range);
                hasher_add(h, ret->bytes, DIGEST_SIZE);
                if (r->binary_has_own_run) {
                        hasher_string(h, r->eras[i]->run);
                        hasher_string(h, r->eras[i]->seed);
                }
        }
        hasher_finish(h, ret);
}

static bool mentions(const struct recipe *r, const char *placeholder)
{
        return strstr(r->run, placeholder) || (r->arguments && strstr(r->arguments, placeholder));
}

void recipe_add_limit(struct hasher *h, const char *name, uint64_t limit, uint64_t usual)
{
        if (limit == usual)
                return;
        hasher_string(h, name);
        hasher_number(h, limit);
}

void recipe_add_limits(struct hasher *h, const struct recipe_limits *limits)
{
        recipe_add_limit(h, "output", limits->output, RECIPE_OUTPUT);
        recipe_add_limit(h, "processes", limits->processes, RECIPE_PROCESSES);
        recipe_add_limit(h, "stack", limits->stack, RECIPE_STACK);
}

void recipe_run_digest(const struct recipe *r, bool has_seed, uint64_t seed, const struct recipe_limits *limits,
                       struct digest *ret)
{
        struct hasher *h = begin_digest("solverfs run 1");

        hasher_number(h, r->format);
        hasher_string(h, r->run);
        hasher_string(h, r->arguments);
        hasher_string(h, has_seed ? r->seed : NULL);
        hasher_number(h, has_seed ? seed : 0);
        hasher_number(h, mentions(r, "{timeout}") ? limits->wall_ns : 0);
        hasher_number(h, mentions(r, "{memory}") ? limits->memory : 0);
        if (r->environment[0])
                hash_list(h, r->environment);
        hasher_finish(h, ret);
}

/* -- files ------------------------------------------------------------------------------------------------------ */

static int each_download(const struct recipe *r, recipe_file_fn fn, void *user)
{
        int e = 0;

        for (char *const *p = r->downloads; e == 0 && *p; p++) {
                struct recipe_file f = {.url = *p};

                f.n_url = recipe_download(*p, &f.digest, &f.name);
                e = fn(user, &f);
        }
        return e;
}

static int call_with_binary(const struct recipe *r, recipe_file_fn fn, void *user)
{
        struct recipe_file f = {.url = r->file, .n_url = strlen(r->file), .name = slice_string(basename(r->file))};

        digest_parse(r->sha256, &f.digest);
        return fn(user, &f);
}

int recipe_each_file(const struct recipe *r, recipe_file_fn fn, void *user)
{
        int e = each_download(r, fn, user);

        for (size_t i = 0; e == 0 && i < r->n_eras; i++)
                e = r->eras[i]->file ? call_with_binary(r->eras[i], fn, user) : each_download(r->eras[i], fn, user);
        return e;
}
