/* Reads recipes from git-config text: sections become drafts, drafts become recipes; variants last, as they begin as a copy of their solver. */
#include "core/recipe/recipe.h"

#include <ctype.h>

#include "core/git/gitconfig.h"
#include "core/git/paths.h"
#include "core/recipe/recipe_keys.h"

#define RECIPE_SIZE_MAX (1 << 20)

struct draft {
        const char *name, *base; /* name: for an era its range; base: NULL, or the solver of this variant or era */
        const char *header;      /* the section's name in messages */
        const char *range;       /* of an era or a binary; else NULL */
        unsigned line;
        enum recipe_place place;
        bool is_within; /* has the key `within`: a variant then shares only the repository */
        struct gitconfig_entry *entries; /* owned; what they point to is the gitconfig's */
        size_t n_entries;
        unsigned lines[N_RECIPE_KEYS]; /* where a key was first given; 0: not given */
        struct buffer text;            /* of a file: becomes recipe.text */
};

struct reader {
        const char *label;
        bool is_config;
        struct draft *drafts;
        size_t n_drafts;
        struct slice text;         /* of a file */
        const struct gitconfig *g; /* its sections */
        struct mistakes mistakes;
};

static void reader_done(struct reader *rd)
{
        for (size_t i = 0; i < rd->n_drafts; i++) {
                free(rd->drafts[i].entries);
                buffer_done(&rd->drafts[i].text);
        }
        free(rd->drafts);
        mistakes_done(&rd->mistakes);
}
#define cleanup_reader cleanup(reader_done)

#define fail(line, format, ...) errorf(-EINVAL, "%s:%u: " format, rd->label, line, ##__VA_ARGS__)

/* -- names ------------------------------------------------------------------------------------------------------ */

/* A name becomes a folder of the mount and, in repos/ and work/, of the store, and a part of "<solver>@<a>..<solver>@<b>". */
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

/* Reports an unknown key. The key probably meant counts as given, so that it is not reported as missing, too. */
static int fail_unknown_key(const struct reader *rd, struct draft *d, const struct gitconfig_entry *e)
{
        size_t best = N_RECIPE_KEYS;
        unsigned least = 3;

        for (size_t i = 0; i < N_RECIPE_KEYS; i++) {
                unsigned n = word_distance(e->key, recipe_keys[i].name);

                if (n < least && (rd->is_config || !(recipe_keys[i].places & PLACE_CONFIG)))
                        least = n, best = i;
        }
        if (best == N_RECIPE_KEYS)
                return fail(e->line, "key '%s.%s' is not known; docs/recipes.md lists the keys", d->header, e->key);
        d->lines[best] = d->lines[best] ?: e->line;
        return fail(e->line, "key '%s.%s' is not known; did you mean '%s'?", d->header, e->key, recipe_keys[best].name);
}

static int fail_misplaced_key(const struct reader *rd, const struct draft *d, const struct gitconfig_entry *e, const struct recipe_key *k)
{
        if (d->place == PLACE_VARIANT)
                return fail(e->line, "key '%s' cannot stand in a variant without 'within': it shares repository and builds of its solver", k->name);
        if (d->place == PLACE_ERA && k->places & PLACE_SOLVER)
                return fail(e->line, "key '%s' cannot stand in an era: it holds for %s%s", k->name,
                            k->kind == KIND_WITHIN ? "all of them" : "runs, too, and a solver is run alike in all eras",
                            strcmp(k->name, "environment") == 0 ? "; for a build alone, write build = NAME=VALUE COMMAND" : "");
        if (d->place == PLACE_BINARY)
                return fail(e->line, "key '%s' cannot stand in a binary, which has 'file', 'sha256', 'output', 'run' and 'seed'", k->name);
        return fail(e->line, "key '%s' can stand only in a [binary \"TAG\"]", k->name);
}

static size_t key_number(const char *name)
{
        size_t i = 0;

        while (i < N_RECIPE_KEYS && strcmp(recipe_keys[i].name, name) != 0)
                i++;
        return i;
}

/* The key's line; 0: not given. */
static unsigned line_of(const struct draft *d, const char *key)
{
        return d->lines[key_number(key)];
}

/* The key's line; for a value that a variant inherits, the section's. */
static unsigned line_near(const struct draft *d, const char *key)
{
        return line_of(d, key) ?: d->line;
}

/* -- a draft becomes a recipe ----------------------------------------------------------------------------------- */

static void clear_list(char ***list)
{
        strings_free(*list);
        *list = allocate(1, sizeof(**list));
}

/* Texts and lines of a recipe are commands or parts of them. Other texts, such as names of solvers, occur only in a store's config. */
static bool is_command(const struct recipe_key *k)
{
        return k->kind == KIND_LINES || (k->kind == KIND_TEXT && !(k->places & PLACE_CONFIG));
}

static int apply_entry(const struct reader *rd, struct draft *d, const struct gitconfig_entry *entry, struct recipe *r)
{
        const size_t number = key_number(entry->key);
        const struct recipe_key *k = &recipe_keys[number];
        unsigned first;

        if (number == N_RECIPE_KEYS || (!rd->is_config && k->places & PLACE_CONFIG))
                return fail_unknown_key(rd, d, entry);
        if (!(k->places & (d->is_within ? d->place | PLACE_SOLVER : d->place)))
                return fail_misplaced_key(rd, d, entry, k);
        if (k->kind == KIND_RETIRED) {
                if (!rd->is_config)
                        log_warning("%s:%u: key '%s' means nothing any more: every build begins from a clean tree", rd->label, entry->line,
                                    k->name);
                return 0;
        }
        first = d->lines[number];
        d->lines[number] = first ?: entry->line;
        if (!entry->value)
                return fail(entry->line, "key '%s' has no value; write %s = VALUE", k->name, k->name);
        if (strspn(entry->value, " \t\n") == strlen(entry->value))
                return fail(entry->line, "key '%s' is empty; leave it out or give it a value", k->name);
        if (entry->lost_quotes && !rd->is_config && is_command(k)) /* not in a config: existing stores must still open */
                return fail(entry->line,
                            "key '%s': git-config takes these double quotes away, and the command would not see them; write single quotes, or "
                            "\\\" for each double one",
                            k->name);
        if (first > 0 && !recipe_key_repeats(k))
                return fail(entry->line, "key '%s' is given twice (first on line %u)", k->name, first);
        if (first == 0 && recipe_key_repeats(k))
                clear_list(recipe_field(r, k)); /* a variant's list replaces its solver's */
        return recipe_set_value(rd->label, k, entry->line, entry->value, r);
}

static void apply_entries(struct reader *rd, struct draft *d, struct recipe *r)
{
        for (size_t i = 0; i < d->n_entries; i++)
                mistakes_note(&rd->mistakes, apply_entry(rd, d, &d->entries[i], r));
}

/* Splits a command line of the recipe and counts its placeholders. */
static int check_words(const struct reader *rd, unsigned line, const char *key, const char *text, const char *const *known, unsigned *uses)
{
        cleanup_buffer struct buffer list = {0};
        bool has_seed_within = false;
        char **words;
        int r = recipe_split(text, &words);

        if (r < 0)
                return fail(line, "key '%s': %s", key, error_message(r));
        for (size_t i = 0; r == 0 && words[i]; i++) {
                r = recipe_check_placeholders(words[i], known, uses);
                has_seed_within |= strstr(words[i], "{seed}") && strcmp(words[i], "{seed}") != 0;
        }
        strings_free(words);
        if (r == 0 && has_seed_within)
                return fail(line, "key '%s': {seed} has to be a word of its own, as it is nothing when no seed is asked for; the text around "
                                  "{seed} belongs in 'seed'", key);
        for (size_t i = 0; r < 0 && known[i]; i++)
                buffer_addf(&list, "%s%s", i > 0 ? " " : "", known[i]);
        return r < 0 ? fail(line, "key '%s': placeholder %s; known are %s", key, error_message(r), list.data) : 0;
}

static int check_command_line(const struct reader *rd, const struct draft *d, const struct recipe *r)
{
        static const char *const in_run[] = {"{bin}", "{case}", "{seed}", "{timeout}", "{memory}", NULL};
        static const char *const in_arguments[] = {"{timeout}", "{memory}", NULL};
        static const char *const in_seed[] = {"{n}", NULL};
        unsigned run[5] = {0}, arguments[2] = {0}, trace[2] = {0}, seed[1] = {0};
        unsigned line = line_near(d, "run"), seed_line = line_near(d, "seed");
        int e = check_words(rd, line, "run", r->run, in_run, run);

        if (e == 0 && r->arguments)
                e = check_words(rd, line_near(d, "arguments"), "arguments", r->arguments, in_arguments, arguments);
        if (e == 0 && r->trace)
                e = check_words(rd, line_near(d, "trace"), "trace", r->trace, in_arguments, trace);
        if (e == 0 && r->seed)
                e = check_words(rd, seed_line, "seed", r->seed, in_seed, seed);
        if (e < 0)
                return e;
        if (run[0] == 0 || run[1] == 0)
                return fail(line, "key 'run': %s does not occur in it, so the solver would not %s",
                            run[0] == 0 ? "{bin}" : "{case}", run[0] == 0 ? "be run" : "see the case");
        if (run[2] > 0 && !r->seed)
                return fail(line, "key 'run' has a {seed}, but there is no key 'seed' to say what it stands for");
        if (r->seed && run[2] == 0)
                return fail(seed_line, "key 'seed' is given, but 'run' has no {seed}");
        if (r->seed && seed[0] == 0)
                return fail(seed_line, "key 'seed': {n}, the number, does not occur in it");
        return 0;
}

static int check_build_lines(const struct reader *rd, const struct draft *d)
{
        static const char *const others[] = {"{bin}", "{case}", "{seed}", "{timeout}", "{memory}", "{n}"};

        for (const struct gitconfig_entry *e = d->entries; e < d->entries + d->n_entries; e++)
                for (size_t k = 0; k < ARRAY_SIZE(others) && strcmp(e->key, "build") == 0 && e->value; k++)
                        if (strstr(e->value, others[k]))
                                return fail(e->line, "key 'build': %s is not known here; only {jobs} is", others[k]);
        return 0;
}

static void check_missing(struct reader *rd, const struct draft *d, const struct recipe *r)
{
        const struct {
                const char *key, *says;
                bool there;
        } needed[] = {{"build", "how it is built", r->build[0]},
                      {"output", "which file the build makes", r->outputs[0]},
                      {"run", "how it is run, for example: run = {bin} {case}", r->run}};

        for (size_t i = 0; i < ARRAY_SIZE(needed); i++)
                if (!needed[i].there && line_of(d, needed[i].key) == 0)
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

/* Without `output` the file is the program itself, under the name of the solver's first output. */
static int finish_binary(const struct reader *rd, const struct draft *d, struct recipe *base, struct recipe *r)
{
        const char *missing = !r->file ? "file" : "sha256";

        if (!r->file || !r->sha256)
                return line_of(d, missing) > 0 ? 0 : fail(d->line, "[binary \"%s\"] has no key '%s'", d->range, missing);
        r->is_archive = line_of(d, "output") > 0;
        if (!r->is_archive && looks_like_archive(r->file))
                return fail(line_of(d, "file"), "key 'file': %s is an archive; say which file in it is the program: output = PATH",
                            basename(r->file));
        if (!r->is_archive) {
                cleanup_free char *name = copy_string(base->is_programs || !r->outputs[0] ? basename(r->file) : r->outputs[0]);

                clear_list(&r->outputs);
                strings_add(&r->outputs, name);
        }
        if (line_of(d, "run") == 0 && line_of(d, "seed") == 0)
                return 0;
        base->binary_has_own_run = true;
        return check_command_line(rd, d, r);
}

/* Checks an era; finishes a binary. */
static int check_era(const struct reader *rd, const struct draft *d, struct recipe *base, struct recipe *r)
{
        char from[RECIPE_REVISION_SIZE], to[RECIPE_REVISION_SIZE];

        if (d->place == PLACE_BINARY)
                return finish_binary(rd, d, base, r);
        if (recipe_range(d->range, from, to) < 0)
                return fail(d->line, "%s", error_message(-EINVAL));
        return check_build_lines(rd, d);
}

static void check_recipe(struct reader *rd, const struct draft *d, const struct recipe *r)
{
        check_missing(rd, d, r);
        if (r->format == FORMAT_CNF && line_of(d, "dialect") > 0)
                mistakes_note(&rd->mistakes, fail(line_of(d, "dialect"), "key 'dialect' is for format = smt2 only"));
        mistakes_note(&rd->mistakes, check_build_lines(rd, d));
        if (r->run)
                mistakes_note(&rd->mistakes, check_command_line(rd, d, r));
}

/* Collects the paths, and the .gitattributes of the folders above each, which affect its checkout; those inside are part of it. */
static void find_sources(struct recipe *r)
{
        clear_list(&r->sources);
        if (r->within) /* the paths are in the other repository */
                return;
        for (size_t i = 0; r->paths[i]; i++) {
                const char *left_out = paths_left_out(r->paths[i]);

                if (!left_out || strcmp(basename(left_out), ".gitattributes") != 0) /* which a checkout follows all the same */
                        strings_add(&r->sources, r->paths[i]);
        }
        for (size_t i = 0; r->paths[i]; i++)
                for (const char *path = r->paths[i], *slash = paths_left_out(path) ? NULL : path - 1; slash; slash = strchr(slash + 1, '/')) {
                        cleanup_free char *name = format_string("%.*s.gitattributes", (int)(slash + 1 - path), path);

                        if (!strings_have(r->sources, name))
                                strings_add(&r->sources, name);
                }
}

/* Applies the draft's keys to the recipe. */
static void apply_draft(struct reader *rd, struct draft *d, struct recipe *r)
{
        r->text = d->text.size > 0 ? copy_string(d->text.data) : NULL;
        apply_entries(rd, d, r);
        find_sources(r);
}

/* A variant's `submodule` lines replace its solver's of the same path, in all eras. Released programs, built with others, are left out. */
static void hold_submodules(struct recipe *r, const struct recipe *base)
{
        char **ours = r->submodules;

        r->submodules = recipe_merge_submodules(base->submodules, ours);
        for (size_t i = 0; i < base->n_eras; i++) {
                struct recipe *era;

                if (base->eras[i]->file)
                        continue;
                era = recipe_copy(base->eras[i]);
                era->range = copy_string(base->eras[i]->range);
                strings_free(era->submodules);
                era->submodules = recipe_merge_submodules(base->eras[i]->submodules, ours);
                recipe_add_era(r, era);
        }
        strings_free(ours);
}

/* Despite mistakes the recipe is made as far as possible, so that its variants' mistakes are found, too. */
static struct recipe *make_recipe(struct reader *rd, struct draft *d, const struct recipe *base)
{
        struct recipe *r = base && !d->is_within ? recipe_copy(base) : recipe_new();
        unsigned n_before = rd->mistakes.n;
        bool cpu_follows = r->limits.cpu_ns == r->limits.wall_ns;

        free(r->name);
        r->name = copy_string(d->name);
        apply_draft(rd, d, r);
        if (base && line_of(d, "run") > 0 && line_of(d, "seed") == 0 && !strstr(r->run ?: "", "{seed}"))
                free(steal_pointer(r->seed)); /* the solver's, for its own way of running */
        r->is_programs = rd->is_config && !base && !r->repository && strcmp(r->name, RECIPE_PROGRAMS) == 0;
        if (cpu_follows && line_of(d, "cputime") == 0)
                r->limits.cpu_ns = r->limits.wall_ns;
        if (base) {
                free(r->base);
                r->base = copy_string(base->name);
                free(r->repository);
                r->repository = base->repository ? copy_string(base->repository) : NULL;
                if (!d->is_within && line_of(d, "submodule") > 0)
                        hold_submodules(r, base);
                else if (!d->is_within)
                        recipe_share_eras(r, base);
        }
        if (!base || n_before == 0) /* the solver's mistakes would be reported again */
                check_recipe(rd, d, r);
        return r;
}

/* Makes an era, the solver with other keys, and adds it behind the solver's eras. */
static void make_era(struct reader *rd, struct draft *d, struct recipe *base)
{
        struct recipe *r = recipe_copy(base);

        r->range = copy_string(d->range);
        apply_draft(rd, d, r);
        mistakes_note(&rd->mistakes, check_era(rd, d, base, r));
        recipe_add_era(base, r);
}

/* -- sections become drafts ------------------------------------------------------------------------------------- */

/* The draft of the same solver or variant, by its name, or of the same era or binary, by its kind, solver and range. NULL: none yet. */
static struct draft *find_draft(const struct reader *rd, const struct draft *like)
{
        for (size_t i = 0; i < rd->n_drafts; i++) {
                struct draft *d = &rd->drafts[i];

                if (!d->range == !like->range && strcmp(d->name, like->name) == 0 &&
                    (!d->range || (d->place == like->place && strcmp(d->base, like->base) == 0)))
                        return d;
        }
        return NULL;
}

static struct draft *find_solver(const struct reader *rd, const char *name)
{
        return find_draft(rd, &(struct draft){.name = name});
}

/* Adds the section's entries to its draft: the same one for all sections of that name. `as`: the draft that begins with it, if it is the first. */
static int add_section(struct reader *rd, const struct gitconfig_section *s, const struct draft *as)
{
        struct draft *d = find_draft(rd, as);

        if (!as->range && recipe_check_name(as->name) < 0)
                return fail(s->line, "%s", error_message(-EINVAL));
        if (d && strcmp(d->header, as->header) != 0)
                return fail(s->line, "[%s \"%s\"] has the name of the solver itself", as->header, as->name);
        if (!d)
                d = list_add(rd->drafts, rd->n_drafts, *as);
        if (rd->g)
                recipe_keep_text(rd->text, rd->g, (size_t)(s - rd->g->sections), &d->text);
        for (size_t i = 0; i < s->n_entries; i++) {
                d->is_within |= !d->range && strcmp(s->entries[i].key, "within") == 0;
                list_add(d->entries, d->n_entries, s->entries[i]);
        }
        return 0;
}

/* The place of a section by its name; 0: not about solvers. */
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
        d.range = d.place == PLACE_VARIANT ? NULL : d.name;
        return add_section(rd, s, &d);
}

/* [era "z3 v1..v2"]: cuts the name off the range, in place. */
static int add_config_era(struct reader *rd, const struct gitconfig_section *s)
{
        const unsigned place = place_of_section(s->name);
        char *range = s->subsection ? strchr(s->subsection, ' ') : NULL;

        if (!range || range == s->subsection || range[1] == '\0')
                return fail(s->line, "[%s] names its solver here: [%s \"NAME %s\"]", s->name, s->name, place == PLACE_ERA ? "A..B" : "TAG");
        *range++ = '\0';
        return add_section(rd, s,
                           &(struct draft){.name = range, .base = s->subsection, .range = range, .header = s->name, .line = s->line, .place = place});
}

static int add_config_section(struct reader *rd, const struct gitconfig_section *s)
{
        struct draft d = {.name = s->subsection, .header = "solver", .line = s->line, .place = PLACE_SOLVER};

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

/* In a config the key `variant` makes a section a variant, of this base. Then each draft's base must be there, and be no variant. */
static int find_bases(struct reader *rd)
{
        for (size_t i = 0; i < rd->n_drafts; i++)
                for (size_t k = 0; k < rd->drafts[i].n_entries; k++)
                        if (rd->is_config && !rd->drafts[i].range && strcmp(rd->drafts[i].entries[k].key, "variant") == 0) {
                                rd->drafts[i].base = rd->drafts[i].entries[k].value ?: "";
                                rd->drafts[i].place = PLACE_VARIANT;
                        }
        for (size_t i = 0; i < rd->n_drafts; i++) {
                struct draft *d = &rd->drafts[i], *base = d->base ? find_solver(rd, d->base) : NULL;

                if (d->base && rd->mistakes.n > 0 && !base)
                        return mistakes_end(&rd->mistakes); /* the mistake may be in the base */
                if (d->base && (!base || base->base))
                        return fail(d->line, "'%s' is %s of '%s', which is %s", d->name,
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

/* Solvers first, then their eras, then variants; each in the order of the text. */
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
                        struct draft *d = &rd->drafts[i];
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
        cleanup_reader struct reader rd = {.label = path, .text = text, .g = &g};
        int r = gitconfig_parse(path, text, is_any_section, &g);

        name = name ?: "solver";
        for (size_t i = 0; r == 0 && i < g.n_sections; i++)
                mistakes_note(&rd.mistakes, add_file_section(&rd, &g.sections[i], name));
        if (r < 0)
                return r;
        if (!find_solver(&rd, name))
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

        return read_file(path, RECIPE_SIZE_MAX, &text)
            ?: parse_recipe(SLICE(text.data, text.size), path, name, ret_list, ret_n);
}

int recipe_parse_config(struct slice text, const char *path, struct recipe ***ret_list, size_t *ret_n)
{
        cleanup_gitconfig struct gitconfig g = {0};
        cleanup_reader struct reader rd = {.label = path, .is_config = true};
        int r = gitconfig_parse(path, text, recipe_has_section, &g);

        for (size_t i = 0; r == 0 && i < g.n_sections; i++)
                mistakes_note(&rd.mistakes, add_config_section(&rd, &g.sections[i]));
        return r < 0 ? r : make_recipes(&rd, ret_list, ret_n);
}
