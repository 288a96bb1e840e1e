/* Recipes out of git-config text: sections become drafts, drafts become recipes, variants last, as they begin as a copy of theirs. */
#include "core/recipe/recipe.h"

#include <ctype.h>

#include "core/git/gitconfig.h"
#include "core/git/paths.h"
#include "core/recipe/recipe_keys.h"

#define RECIPE_SIZE_MAX (1 << 20)

struct draft {
        const char *name, *base; /* name: of an era its whole subsection; base: NULL, or the solver this is a variant or an era of */
        const char *header;      /* how messages call the section */
        const char *range;       /* of an era or a binary; else NULL */
        char *owner;             /* malloc'd: `base` of an era in a config */
        unsigned line;
        unsigned place; /* enum recipe_place */
        bool in_config;
        struct gitconfig_entry *entries; /* owned; what they point to is the gitconfig's */
        size_t n_entries;
        struct buffer text; /* of a file: what becomes recipe.text */
};

struct reader {
        const char *label;
        struct draft *drafts;
        size_t n_drafts, added; /* added: the draft that the last section became or joined */
        struct mistakes mistakes;
};

static void reader_done(struct reader *rd)
{
        for (size_t i = 0; i < rd->n_drafts; i++) {
                free(rd->drafts[i].entries);
                free(rd->drafts[i].owner);
                buffer_done(&rd->drafts[i].text);
        }
        free(rd->drafts);
        mistakes_done(&rd->mistakes);
}
#define cleanup_reader cleanup(reader_done)

#define fail(line, format, ...) errorf(-EINVAL, "%s:%u: " format, label, line, ##__VA_ARGS__)

/* -- names ------------------------------------------------------------------------------------------------------ */

/* A name becomes a folder of the mount and, in repos/ and work/, of the store, and stands in "<solver>@<a>..<solver>@<b>". */
int recipe_check_name(const char *name)
{
        static const char *const taken[] = {"README", "cases", "sets", "compare", "portfolios", "ccache"};

        for (size_t i = 0; i < ARRAY_SIZE(taken); i++)
                if (strcasecmp(name, taken[i]) == 0)
                        return errorf(-EINVAL, "'%s' cannot be a solver's name: the mount or the store has a folder of that name",
                                      name);
        for (const char *p = name; *p; p++)
                if (!isalnum((unsigned char)*p) && (p == name || !strchr("._+-", *p)))
                        return errorf(
                                -EINVAL,
                                "'%.80s' cannot be a solver's name; use letters, digits and . _ + - with a letter or digit first",
                                name);
        if (*name == '\0' || strlen(name) > 64 || strstr(name, ".."))
                return errorf(-EINVAL, "'%.80s' cannot be a solver's name: 1 to 64 characters, no '..'", name);
        return 0;
}

/* Levenshtein's distance of two short words; anything above 9 is 9. */
static unsigned distance(const char *a, const char *b)
{
        unsigned row[40];
        size_t n = strlen(b);

        if (n >= ARRAY_SIZE(row))
                return 9;
        for (unsigned k = 0; k <= n; k++)
                row[k] = k;
        for (unsigned i = 0; a[i]; i++) {
                unsigned diagonal = row[0];

                row[0] = i + 1;
                for (size_t k = 1; k <= n; k++) {
                        unsigned above = row[k], best = diagonal + (a[i] != b[k - 1]);

                        best = MIN(best, MIN(above, row[k - 1]) + 1);
                        diagonal = above;
                        row[k] = best;
                }
        }
        return MIN(row[n], 9U);
}

/* The key that was meant counts as given, so that it is not reported as missing, too. */
static int fail_unknown_key(const char *label, const struct draft *d, const struct gitconfig_entry *e, unsigned lines[N_RECIPE_KEYS])
{
        const char *best = NULL;
        unsigned least = 3, *meant = NULL;

        for (size_t i = 0; i < N_RECIPE_KEYS; i++) {
                unsigned n = distance(e->key, recipe_keys[i].name);

                if (n < least && (d->in_config || !(recipe_keys[i].places & PLACE_CONFIG)))
                        least = n, best = recipe_keys[i].name, meant = &lines[i];
        }
        if (best && *meant == 0)
                *meant = e->line;
        if (best)
                return fail(e->line, "key '%s.%s' is not known; did you mean '%s'?", d->header, e->key, best);
        return fail(e->line, "key '%s.%s' is not known; docs/recipes.md lists the keys", d->header, e->key);
}

static void fail_misplaced_key(const char *label, const struct draft *d, const struct gitconfig_entry *e, const struct recipe_key *k)
{
        if (d->place == PLACE_VARIANT)
                fail(e->line, "key '%s' cannot stand in a variant: it shares the repository and the builds of its solver", k->name);
        else if (d->place == PLACE_ERA && k->places & PLACE_SOLVER)
                fail(e->line, "key '%s' cannot stand in an era: it holds for runs, too, and a solver is run alike in all eras%s", k->name,
                     strcmp(k->name, "environment") == 0 ? "; for a build alone, write build = NAME=VALUE COMMAND" : "");
        else if (d->place == PLACE_BINARY)
                fail(e->line, "key '%s' cannot stand in a binary, which has 'file', 'sha256', 'output', 'run' and 'seed'", k->name);
        else
                fail(e->line, "key '%s' can stand only in a [binary \"TAG\"]", k->name);
}

/* The key's row, where it may stand here; else NULL, with the sentence. */
static const struct recipe_key *find_key(const char *label, const struct draft *d, const struct gitconfig_entry *e,
                                         unsigned lines[N_RECIPE_KEYS])
{
        const struct recipe_key *k = NULL;

        for (size_t i = 0; i < N_RECIPE_KEYS && !k; i++)
                if (strcmp(e->key, recipe_keys[i].name) == 0)
                        k = &recipe_keys[i];
        if (!k || (!d->in_config && k->places & PLACE_CONFIG)) {
                fail_unknown_key(label, d, e, lines);
                return NULL;
        }
        if (!(k->places & d->place)) {
                fail_misplaced_key(label, d, e, k);
                return NULL;
        }
        return k;
}

/* -- a draft becomes a recipe ----------------------------------------------------------------------------------- */

static void clear_list(char ***list)
{
        strings_free(*list);
        *list = allocate(1, sizeof(**list));
}

/* Texts and lines of a recipe are commands or parts of them. The other texts, such as names of solvers, stand in a store's config only. */
static bool is_command(const struct recipe_key *k)
{
        return k->kind == KIND_LINES || (k->kind == KIND_TEXT && !(k->places & PLACE_CONFIG));
}

static int apply_entry(const char *label, const struct draft *d, const struct gitconfig_entry *entry, struct recipe *r,
                       unsigned lines[N_RECIPE_KEYS])
{
        const struct recipe_key *k = find_key(label, d, entry, lines);
        unsigned *line, first;

        if (!k)
                return -EINVAL;
        if (k->kind == KIND_RETIRED) {
                if (!d->in_config)
                        log_warning("%s:%u: key '%s' means nothing any more: every build begins from a clean tree", label, entry->line,
                                    k->name);
                return 0;
        }
        line = &lines[k - recipe_keys];
        first = *line;
        if (first == 0)
                *line = entry->line;
        if (!entry->value)
                return fail(entry->line, "key '%s' has no value; write %s = VALUE", k->name, k->name);
        if (entry->value[0] == '\0' || strspn(entry->value, " \t\n") == strlen(entry->value))
                return fail(entry->line, "key '%s' is empty; leave it out or give it a value", k->name);
        if (entry->lost_quotes && !d->in_config && is_command(k)) /* a store goes on with what it was made with */
                return fail(entry->line,
                            "key '%s': git-config takes these double quotes away, and the command would not see them; write single quotes, or "
                            "\\\" for each double one",
                            k->name);
        if (first > 0 && !recipe_key_repeats(k))
                return fail(entry->line, "key '%s' is given twice (first on line %u)", k->name, first);
        if (first == 0 && recipe_key_repeats(k))
                clear_list(recipe_field(r, k)); /* a variant's list takes the place of its solver's */
        return recipe_set_value(label, k, entry->line, entry->value, r);
}

/* lines[i]: where recipe_keys[i] was given first, 0 when it was not. */
static void apply_entries(struct reader *rd, const struct draft *d, struct recipe *r, unsigned lines[N_RECIPE_KEYS])
{
        for (size_t i = 0; i < d->n_entries; i++)
                mistakes_note(&rd->mistakes, apply_entry(rd->label, d, &d->entries[i], r, lines));
}

static unsigned line_of(const unsigned lines[N_RECIPE_KEYS], const char *key)
{
        for (size_t i = 0; i < N_RECIPE_KEYS; i++)
                if (strcmp(recipe_keys[i].name, key) == 0)
                        return lines[i];
        return 0;
}

/* The key's line; the section's, for a value that the variant inherited. */
static unsigned line_near(const struct draft *d, const unsigned lines[N_RECIPE_KEYS], const char *key)
{
        unsigned line = line_of(lines, key);

        return line > 0 ? line : d->line;
}

/* Splits a command line of the recipe and counts what placeholders it uses. */
static int check_words(const char *label, unsigned line, const char *key, const char *text, const char *const *known,
                       unsigned *uses, bool *ret_seed_within)
{
        char **words;
        int r = recipe_split(text, &words);

        if (r < 0)
                return fail(line, "key '%s': %s", key, error_message(r));
        for (size_t i = 0; r == 0 && words[i]; i++) {
                r = recipe_check_placeholders(words[i], known, uses);
                if (ret_seed_within && strstr(words[i], "{seed}") && strcmp(words[i], "{seed}") != 0)
                        *ret_seed_within = true;
        }
        strings_free(words);
        if (r < 0) {
                cleanup_buffer struct buffer list = {0};

                for (size_t i = 0; known[i]; i++)
                        buffer_addf(&list, "%s%s", i > 0 ? " " : "", known[i]);
                return fail(line, "key '%s': placeholder %s; known are %s", key, error_message(r), list.data);
        }
        return 0;
}

static int check_command_line(const char *label, const struct draft *d, const struct recipe *r,
                              const unsigned lines[N_RECIPE_KEYS])
{
        static const char *const in_run[] = {"{bin}", "{case}", "{seed}", "{timeout}", "{memory}", NULL};
        static const char *const in_arguments[] = {"{timeout}", "{memory}", NULL};
        static const char *const in_seed[] = {"{n}", NULL};
        unsigned run[5] = {0}, arguments[2] = {0}, seed[1] = {0};
        unsigned line = line_near(d, lines, "run");
        bool seed_within = false;
        int e = check_words(label, line, "run", r->run, in_run, run, &seed_within);
        if (e == 0 && r->arguments)
                e = check_words(label, line_near(d, lines, "arguments"), "arguments", r->arguments, in_arguments, arguments,
                                NULL);
        if (e == 0 && r->seed)
                e = check_words(label, line_near(d, lines, "seed"), "seed", r->seed, in_seed, seed, NULL);
        if (e < 0)
                return e;
        if (run[0] == 0 || run[1] == 0)
                return fail(line, "key 'run': %s does not occur in it, so the solver would not %s",
                            run[0] == 0 ? "{bin}" : "{case}", run[0] == 0 ? "be run" : "see the case");
        if (seed_within)
                return fail(line,
                            "key 'run': {seed} has to be a word of its own, as it is nothing when no seed is asked for; the text "
                            "around {seed} belongs in 'seed'");
        if (run[2] > 0 && !r->seed)
                return fail(line, "key 'run' has a {seed}, but there is no key 'seed' to say what it stands for");
        if (r->seed && run[2] == 0)
                return fail(line_near(d, lines, "seed"), "key 'seed' is given, but 'run' has no {seed}");
        if (r->seed && seed[0] == 0)
                return fail(line_near(d, lines, "seed"), "key 'seed': {n}, the number, does not occur in it");
        return 0;
}

static int check_build_lines(const char *label, const struct draft *d)
{
        static const char *const known[] = {"{jobs}", NULL};

        for (size_t i = 0; i < d->n_entries; i++) {
                static const char *const others[] = {"{bin}", "{case}", "{seed}", "{timeout}", "{memory}", "{n}"};

                if (strcmp(d->entries[i].key, "build") != 0 || !d->entries[i].value)
                        continue;
                for (size_t k = 0; k < ARRAY_SIZE(others); k++)
                        if (strstr(d->entries[i].value, others[k]))
                                return fail(d->entries[i].line, "key 'build': %s is not known here; only %s is", others[k],
                                            known[0]);
        }
        return 0;
}

static void check_missing(struct reader *rd, const struct draft *d, const struct recipe *r, const unsigned lines[N_RECIPE_KEYS])
{
        const struct {
                const char *key, *says;
                bool there;
        } needed[] = {{"build", "how it is built", r->build[0]},
                      {"output", "which file the build makes", r->outputs[0]},
                      {"run", "how it is run, for example: run = {bin} {case}", r->run}};
        const char *label = rd->label;

        for (size_t i = 0; i < ARRAY_SIZE(needed); i++)
                if (!needed[i].there && line_of(lines, needed[i].key) == 0)
                        mistakes_note(&rd->mistakes, fail(d->line, "[%s] has no key '%s', which says %s", d->header, needed[i].key,
                                                          needed[i].says));
}

static const char *const archives[] = {".zip", ".tar", ".tgz", ".tbz2", ".txz", ".tar.gz", ".tar.xz", ".tar.bz2", ".tar.zst", ".7z"};

static bool looks_like_archive(const char *file)
{
        size_t n = strlen(file);

        for (size_t i = 0; i < ARRAY_SIZE(archives); i++)
                if (n > strlen(archives[i]) && strcasecmp(file + n - strlen(archives[i]), archives[i]) == 0)
                        return true;
        return false;
}

/* Without `output` it is the program itself, under the name that the solver's first output has. */
static int finish_binary(struct reader *rd, const struct draft *d, struct recipe *base, struct recipe *r, const unsigned lines[N_RECIPE_KEYS])
{
        const char *label = rd->label;

        if (!r->file || !r->sha256)
                return line_of(lines, r->file ? "sha256" : "file") > 0
                               ? 0
                               : fail(d->line, "[binary \"%s\"] has no key '%s'", d->range, r->file ? "sha256" : "file");
        r->is_archive = line_of(lines, "output") > 0;
        if (!r->is_archive && looks_like_archive(r->file))
                return fail(line_of(lines, "file"), "key 'file': %s is an archive; say which file in it is the program: output = PATH",
                            basename(r->file));
        if (base->is_programs && !r->is_archive) { /* each under its own name */
                clear_list(&r->outputs);
                strings_add(&r->outputs, basename(r->file));
        }
        for (size_t i = 1; !r->is_archive && r->outputs[0] && r->outputs[i]; i++) {
                free(r->outputs[i]);
                r->outputs[i] = NULL;
        }
        if (line_of(lines, "run") == 0 && line_of(lines, "seed") == 0)
                return 0;
        base->has_calls = true;
        return check_command_line(label, d, r, lines);
}

static int check_era(struct reader *rd, const struct draft *d, struct recipe *base, struct recipe *r, const unsigned lines[N_RECIPE_KEYS])
{
        char from[RECIPE_REVISION_SIZE], to[RECIPE_REVISION_SIZE];
        const char *label = rd->label;

        if (d->place == PLACE_BINARY)
                return finish_binary(rd, d, base, r, lines);
        if (recipe_range(d->range, from, to) < 0) {
                cleanup_free char *why = copy_string(error_message(-EINVAL));

                return fail(d->line, "%s", why);
        }
        return check_build_lines(label, d);
}

static void check_recipe(struct reader *rd, const struct draft *d, const struct recipe *r, const unsigned lines[N_RECIPE_KEYS])
{
        const char *label = rd->label;

        check_missing(rd, d, r, lines);
        if (r->format == FORMAT_CNF && line_of(lines, "dialect") > 0)
                mistakes_note(&rd->mistakes, fail(line_of(lines, "dialect"), "key 'dialect' is for format = smt2 only"));
        mistakes_note(&rd->mistakes, check_build_lines(label, d));
        if (r->run)
                mistakes_note(&rd->mistakes, check_command_line(label, d, r, lines));
}

static bool is_in_list(char *const *list, const char *path)
{
        while (*list && strcmp(*list, path) != 0)
                list++;
        return *list != NULL;
}

/* The paths, and the .gitattributes of the folders above each, which say how it is checked out; those inside come with it. */
static void find_sources(struct recipe *r)
{
        clear_list(&r->sources);
        for (size_t i = 0; r->paths[i]; i++)
                strings_add(&r->sources, r->paths[i]);
        for (size_t i = 0; r->paths[i]; i++)
                for (const char *path = r->paths[i], *slash = paths_left_out(path) ? NULL : path - 1; slash; slash = strchr(slash + 1, '/')) {
                        cleanup_free char *name = format_string("%.*s.gitattributes", (int)(slash + 1 - path), path);

                        if (!is_in_list(r->sources, name))
                                strings_add(&r->sources, name);
                }
}

/* With mistakes it is made as far as possible, so that those of its variants are found, too. */
static struct recipe *make_recipe(struct reader *rd, const struct draft *d, const struct recipe *base)
{
        struct recipe *r = base ? recipe_copy(base) : recipe_new();
        unsigned lines[N_RECIPE_KEYS] = {0}, n_before = rd->mistakes.n;
        bool cpu_follows = r->limits.cpu_ns == r->limits.wall_ns;

        free(r->name);
        r->name = copy_string(d->name);
        r->text = d->text.size > 0 ? copy_string(d->text.data) : NULL;
        apply_entries(rd, d, r, lines);
        r->is_programs = d->in_config && !base && !r->repository && strcmp(r->name, RECIPE_PROGRAMS) == 0;
        if (cpu_follows && line_of(lines, "cputime") == 0)
                r->limits.cpu_ns = r->limits.wall_ns;
        if (base) {
                free(r->base);
                r->base = copy_string(base->name);
                recipe_share_eras(r, base);
        }
        find_sources(r);
        if (!base || n_before == 0) /* the solver's mistakes would be reported again */
                check_recipe(rd, d, r, lines);
        return r;
}

/* The solver with other keys, behind its eras. */
static void make_era(struct reader *rd, const struct draft *d, struct recipe *base)
{
        struct recipe *r = recipe_copy(base);
        unsigned lines[N_RECIPE_KEYS] = {0};

        r->range = copy_string(d->range);
        r->text = d->text.size > 0 ? copy_string(d->text.data) : NULL;
        apply_entries(rd, d, r, lines);
        find_sources(r);
        mistakes_note(&rd->mistakes, check_era(rd, d, base, r, lines));
        recipe_add_era(base, r);
}

/* -- sections become drafts ------------------------------------------------------------------------------------- */

/* A solver's or a variant's where `place` is 0, else an era's or a binary's. */
static struct draft *find_draft(struct reader *rd, const char *name, unsigned place)
{
        for (size_t i = 0; i < rd->n_drafts; i++)
                if ((place ? rd->drafts[i].place == place : !rd->drafts[i].range) && strcmp(rd->drafts[i].name, name) == 0)
                        return &rd->drafts[i];
        return NULL;
}

static int add_section(struct reader *rd, const struct gitconfig_section *s, const struct draft *as)
{
        const char *label = rd->label;
        struct draft *d = find_draft(rd, as->name, as->range ? as->place : 0);

        if (!as->range && recipe_check_name(as->name) < 0) {
                cleanup_free char *why = copy_string(error_message(-EINVAL));

                return fail(s->line, "%s", why);
        }
        if (d && strcmp(d->header, as->header) != 0)
                return fail(s->line, "[%s \"%s\"] has the name of the solver itself", as->header, as->name);
        if (!d) {
                list_grow(rd->drafts, rd->n_drafts);
                d = &rd->drafts[rd->n_drafts++];
                *d = *as;
        }
        rd->added = (size_t)(d - rd->drafts);
        for (size_t i = 0; i < s->n_entries; i++) {
                list_grow(d->entries, d->n_entries);
                d->entries[d->n_entries++] = s->entries[i];
        }
        return 0;
}

/* By its name; 0: it says nothing of solvers. */
static unsigned place_of_section(const char *name)
{
        static const struct {
                const char *name;
                unsigned place;
        } rows[] = {{"solver", PLACE_SOLVER}, {"variant", PLACE_VARIANT}, {"era", PLACE_ERA}, {"binary", PLACE_BINARY}};

        for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
                if (strcmp(name, rows[i].name) == 0)
                        return rows[i].place;
        return 0;
}

bool recipe_has_section(const char *name)
{
        return place_of_section(name) != 0;
}

static int add_file_section(struct reader *rd, const struct gitconfig_section *s, const char *name)
{
        const char *label = rd->label;
        struct draft d = {.name = name, .header = s->name, .line = s->line, .place = place_of_section(s->name)};

        if (d.place == 0)
                return fail(s->line, "section [%s] is not known; a recipe has [solver], [era \"A..B\"], [binary \"TAG\"] and [variant \"NAME\"]",
                            s->name);
        if (d.place == PLACE_SOLVER && s->subsection)
                return fail(s->line, "in a recipe it is [solver] without a name; the solver is named when it is added");
        if (d.place == PLACE_SOLVER)
                return add_section(rd, s, &d);
        if ((!s->subsection || !s->subsection[0]) && d.place == PLACE_VARIANT)
                return fail(s->line, "a variant needs a name: [variant \"NAME\"]");
        if (!s->subsection || !s->subsection[0])
                return fail(s->line, "[%s] needs %s: [%s \"%s\"]", s->name, d.place == PLACE_ERA ? "a range" : "a revision", s->name,
                            d.place == PLACE_ERA ? "v1..v2" : "v1");
        if (s->n_entries == 0)
                return fail(s->line, "[%s \"%s\"] changes nothing", s->name, s->subsection);
        d.name = s->subsection;
        d.base = name;
        d.range = d.place == PLACE_VARIANT ? NULL : s->subsection;
        return add_section(rd, s, &d);
}

/* [era "z3 v1..v2"] */
static int add_config_era(struct reader *rd, const struct gitconfig_section *s)
{
        const char *label = rd->label;
        size_t n = s->subsection ? strcspn(s->subsection, " ") : 0;
        struct draft d = {.name = s->subsection, .header = s->name, .line = s->line, .place = place_of_section(s->name), .in_config = true};
        bool is_new;
        int r;

        if (n == 0 || s->subsection[n] == '\0' || s->subsection[n + 1] == '\0')
                return fail(s->line, "[%s] names its solver here: [%s \"NAME %s\"]", s->name, s->name,
                            d.place == PLACE_ERA ? "A..B" : "TAG");
        d.range = s->subsection + n + 1;
        d.owner = copy_prefix(s->subsection, n);
        d.base = d.owner;
        is_new = !find_draft(rd, d.name, d.place);
        r = add_section(rd, s, &d);
        if (!is_new || !find_draft(rd, d.name, d.place))
                free(d.owner);
        return r;
}

static int add_config_section(struct reader *rd, const struct gitconfig_section *s)
{
        const char *label = rd->label;
        struct draft d = {.name = s->subsection, .header = "solver", .line = s->line, .place = PLACE_SOLVER, .in_config = true};

        if (place_of_section(s->name) & (PLACE_ERA | PLACE_BINARY))
                return add_config_era(rd, s);
        if (place_of_section(s->name) == PLACE_VARIANT)
                return fail(s->line, "[variant] is for recipe files; here it is [solver \"NAME\"] with variant = SOLVER");
        if (place_of_section(s->name) != PLACE_SOLVER)
                return 0;
        if (!s->subsection || !s->subsection[0])
                return fail(s->line, "a solver needs a name here: [solver \"NAME\"]");
        return add_section(rd, s, &d);
}

static int find_bases(struct reader *rd)
{
        const char *label = rd->label;

        for (size_t i = 0; i < rd->n_drafts; i++)
                for (size_t k = 0; k < rd->drafts[i].n_entries; k++)
                        if (rd->drafts[i].in_config && !rd->drafts[i].range && strcmp(rd->drafts[i].entries[k].key, "variant") == 0) {
                                rd->drafts[i].base = rd->drafts[i].entries[k].value ?: "";
                                rd->drafts[i].place = PLACE_VARIANT;
                        }
        for (size_t i = 0; i < rd->n_drafts; i++) {
                struct draft *d = &rd->drafts[i], *base = d->base ? find_draft(rd, d->base, 0) : NULL;

                if (d->base && rd->mistakes.n > 0 && !base)
                        return mistakes_end(&rd->mistakes); /* the mistake may be in its solver */
                if (d->base && (!base || base->base))
                        return fail(d->line, "'%s' is %s of '%s', which is %s", d->range ?: d->name,
                                    d->place == PLACE_VARIANT ? "a variant" : d->place == PLACE_ERA ? "an era" : "a binary", d->base,
                                    base ? "a variant itself; name its solver" : "not there");
        }
        return 0;
}

struct recipe *recipe_find(struct recipe *const *list, size_t n, const char *name)
{
        for (size_t i = 0; name && i < n; i++)
                if (strcmp(list[i]->name, name) == 0)
                        return list[i];
        return NULL;
}

/* Solvers first, then their eras, then variants; in the order of the text otherwise. */
static int make_recipes(struct reader *rd, struct recipe ***ret_list, size_t *ret_n)
{
        static const unsigned passes[] = {PLACE_SOLVER, PLACE_ERA | PLACE_BINARY, PLACE_VARIANT};
        struct recipe **list;
        size_t n = 0;
        int r = find_bases(rd);

        if (r < 0)
                return r;
        list = allocate(rd->n_drafts + 1, sizeof(*list));
        for (size_t pass = 0; pass < ARRAY_SIZE(passes); pass++)
                for (size_t i = 0; i < rd->n_drafts; i++) {
                        const struct draft *d = &rd->drafts[i];
                        struct recipe *base = recipe_find(list, n, d->base);

                        if (!(d->place & passes[pass]))
                                continue;
                        if (d->range)
                                make_era(rd, d, base);
                        else
                                list[n++] = make_recipe(rd, d, base);
                }
        r = mistakes_end(&rd->mistakes);
        if (r < 0) {
                recipe_list_free(list, n);
                return r;
        }
        *ret_list = list;
        *ret_n = n;
        return 0;
}

static bool is_any_section(const char *name)
{
        return true;
}

static int parse_recipe(struct slice text, const char *path, const char *name, struct recipe ***ret_list, size_t *ret_n)
{
        cleanup_gitconfig struct gitconfig g = {0};
        cleanup_reader struct reader rd = {.label = path};
        int r = gitconfig_parse(path, text, is_any_section, &g);

        if (r == 0 && !name)
                name = "solver";
        for (size_t i = 0; r == 0 && i < g.n_sections; i++) {
                rd.added = SIZE_MAX;
                mistakes_note(&rd.mistakes, add_file_section(&rd, &g.sections[i], name));
                if (rd.added < rd.n_drafts)
                        recipe_keep_text(text, &g, i, &rd.drafts[rd.added].text);
        }
        if (r < 0)
                return r;
        if (!find_draft(&rd, name, 0))
                return rd.mistakes.n > 0 ? mistakes_end(&rd.mistakes) : errorf(-EINVAL, "%s: there is no [solver] section in it", path);
        return make_recipes(&rd, ret_list, ret_n);
}

int recipe_parse(const char *text, const char *path, const char *name, struct recipe ***ret_list, size_t *ret_n)
{
        return parse_recipe(slice_string(text), path, name, ret_list, ret_n);
}

int recipe_read(const char *path, const char *name, struct recipe ***ret_list, size_t *ret_n)
{
        cleanup_blob struct blob text = {0};
        int r = read_file(path, RECIPE_SIZE_MAX, &text);

        return r < 0 ? r : parse_recipe(SLICE(text.data, text.size), path, name, ret_list, ret_n);
}

int recipe_parse_config(struct slice text, const char *path, struct recipe ***ret_list, size_t *ret_n)
{
        cleanup_gitconfig struct gitconfig g = {0};
        cleanup_reader struct reader rd = {.label = path};
        int r = gitconfig_parse(path, text, recipe_has_section, &g);

        for (size_t i = 0; r == 0 && i < g.n_sections; i++)
                mistakes_note(&rd.mistakes, add_config_section(&rd, &g.sections[i]));
        return r < 0 ? r : make_recipes(&rd, ret_list, ret_n);
}
