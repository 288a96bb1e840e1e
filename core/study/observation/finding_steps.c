/* Commands for people without solverfs: they fetch, build and run a version as its recipe does. */
#include "core/study/observation/observation_internal.h"

#include <inttypes.h>

#include "core/build/era.h"
#include "core/git/git.h"
#include "core/git/regular_files.h"
#include "core/recipe/recipe_keys.h"
#include "core/study/base/version.h"

#define SEED_MARK 987654321987 /* a seed unlike anything else in a command: add_word() replaces it by the seed's shell word */
#define SEED_TEXT "987654321987"

int steps_read_input(struct workspace *w, uint32_t id, size_t most, uint64_t *ret_size, struct blob *ret)
{
        cleanup(case_info_unrefp) struct case_info *info = NULL;
        cleanup_close int fd = -1;
        int r = cases_get(workspace_cases(w), id, &info) ?: cases_open_bytes(workspace_cases(w), info, &fd, NULL);

        if (r == 0)
                *ret_size = info->size;
        return r == 0 && info->size <= most ? read_fd(fd, most, ret) : r;
}

/* -- the repository -- */

/* The origin of a clone on this machine. */
static bool origin_of(const char *clone, char ret[PATH_SIZE])
{
        static const char *const configs[] = {".git/config", "config"};
        bool is_found = false;

        git_begin();
        for (size_t i = 0; !is_found && i < ARRAY_SIZE(configs) && regular_files_check(clone) == 0; i++) {
                cleanup_git_config git_config *config = NULL;
                git_buf url = GIT_BUF_INIT;
                char path[PATH_SIZE];

                is_found = path_join(path, clone, configs[i]) == 0 && git_config_open_ondisk(&config, path) == 0 &&
                           git_config_get_string_buf(&url, config, "remote.origin.url") == 0 && snprintf(ret, PATH_SIZE, "%s", url.ptr) < PATH_SIZE;
                git_buf_dispose(&url);
        }
        return is_found;
}

/* A repository's address for others: of a clone on this machine the clone's origin, unless that is on this machine, too. "": not known. */
static void address_of(struct slice repository, char ret[PATH_SIZE])
{
        cleanup_free char *address = copy_prefix(repository.data ?: "", repository.size);

        if (*address != '/' || !origin_of(address, ret) || *ret == '/' || *ret == '.')
                snprintf(ret, PATH_SIZE, "%s", address);
}

const char *steps_root(const struct solver *s, const char *version, char ret_clone[PATH_SIZE])
{
        const struct recipe_submodule host = recipe_submodule(s->recipe->within ?: "");

        address_of(host.commit ? host.repository : slice_string(s->recipe->repository ?: ""), ret_clone);
        return host.commit ?: version;
}

void steps_add_submodules(const struct recipe *recipe, const char *version, const char *begin, const char *end, struct buffer *ret)
{
        cleanup(recipe_unrefp) struct recipe *whole = recipe->within ? recipe_within_host(recipe, version) : NULL;
        bool has_unpinned = false; /* the sources say at which commit */

        for (char *const *p = (whole ?: recipe)->submodules; *p; p++)
                has_unpinned |= !recipe_submodule(*p).commit;
        if (has_unpinned)
                buffer_addf(ret, "%sgit submodule --quiet update --init%s", begin, end);
        for (char *const *p = (whole ?: recipe)->submodules; *p; p++) {
                const struct recipe_submodule s = recipe_submodule(*p);
                cleanup_free char *path = copy_prefix(s.path.data, s.path.size);
                cleanup_buffer struct buffer folder = {0}, from = {0};
                char repository[PATH_SIZE];

                if (!s.commit)
                        continue;
                address_of(s.repository, repository);
                buffer_add_shell_word(&folder, path);
                buffer_add_shell_word(&from, repository);
                buffer_addf(ret, "%srm -rf %s && git clone --quiet %s %s && git -C %s checkout --quiet %s%s", begin, folder.data, from.data, folder.data,
                            folder.data, s.commit, end);
        }
}

/* "github.com/z3prover/z3" of https://github.com/z3prover/z3.git, git@github.com:z3prover/z3 and the like. */
static bool forge_path(const char *address, char ret[PATH_SIZE])
{
        const char *scheme = strstr(address, "://"), *rest = scheme ? scheme + 3 : address, *at = strchr(rest, '@');
        size_t n;

        if (*address == '/' || (!scheme && !at))
                return false;
        if (at && (size_t)(at - rest) < strcspn(rest, "/"))
                rest = at + 1;
        n = strlen(rest);
        while (n > 0 && rest[n - 1] == '/')
                n--;
        if (n > 4 && strncmp(rest + n - 4, ".git", 4) == 0)
                n -= 4;
        snprintf(ret, PATH_SIZE, "%.*s", (int)MIN(n, (size_t)PATH_SIZE - 1), rest);
        if (!scheme && strchr(ret, ':'))
                *strchr(ret, ':') = '/';
        return strchr(ret, '/') != NULL;
}

bool steps_add_page(const struct solver *s, const char *sha, struct buffer *ret)
{
        static const char *const forges[][2] = {
                {"github.", "commit"}, {"codeberg.", "commit"}, {"git.sr.ht", "commit"}, {"bitbucket.", "commits"}, {"gitlab.", "-/commit"}, {"salsa.debian.", "-/commit"}};
        char repository[PATH_SIZE], place[PATH_SIZE];

        address_of(slice_string(s->recipe->repository ?: ""), repository);
        if (!forge_path(repository, place))
                return false;
        for (size_t i = 0; i < ARRAY_SIZE(forges); i++)
                if (strncmp(place, forges[i][0], strlen(forges[i][0])) == 0) {
                        buffer_addf(ret, "https://%s/%s/%.40s", place, forges[i][1], sha);
                        return true;
                }
        return false;
}

/* -- building and running -- */

const struct recipe *steps_recipe(const struct solver *s, const char *version)
{
        char sha[GIT_OID_HEXSZ + 1];
        uint32_t commit;

        if (!version_begins_with_sha(version))
                return NULL;
        snprintf(sha, sizeof(sha), "%.40s", version);
        return history_resolve(s->history, sha, &commit) < 0 ? s->recipe : era_or_solver(s->history, s->recipe, commit);
}

void steps_add_build_line(const char *line, struct buffer *ret)
{
        const char *jobs;

        for (; (jobs = strstr(line, "{jobs}")); line = jobs + strlen("{jobs}"))
                buffer_addf(ret, "%.*s$(nproc)", (int)(jobs - line), line);
        buffer_adds(ret, line);
}

/* The path of a build's program, relative to the build folder. */
static char *program_of(const struct recipe *recipe, bool is_programs)
{
        const char *built = recipe->outputs[0] ?: recipe->file ? basename(recipe->file) : "solver";

        if (is_programs)
                return copy_string(recipe->file ?: "");
        return format_string("./%s", recipe->file && !recipe->is_archive ? basename(recipe->file) : built);
}

/* Adds a word of the command, in which `seed` (a shell word; NULL: none) replaces the number SEED_TEXT. */
static void add_word(const char *word, const char *seed, struct buffer *ret)
{
        const char *mark = seed ? strstr(word, SEED_TEXT) : NULL;
        cleanup_free char *before = copy_prefix(word, mark ? (size_t)(mark - word) : strlen(word));

        if (*before || !mark)
                buffer_add_plain_word(ret, before, ":,@%");
        if (mark)
                buffer_adds(ret, seed);
        if (mark && mark[strlen(SEED_TEXT)])
                buffer_add_plain_word(ret, mark + strlen(SEED_TEXT), ":,@%");
}

const char *steps_seed(const struct observation *f, char ret[STEPS_SEED_SIZE])
{
        snprintf(ret, STEPS_SEED_SIZE, "%" PRIu64, f->seed);
        return f->seed > 0 ? ret : NULL;
}

/* Adds the command of a program that this store lacks, "exec:/usr/bin/z3 -smt2@sha256:…". The text may come from another store, so each word is quoted. */
static void add_absent(const struct solver *s, const char *version, struct buffer *ret)
{
        cleanup_free char *brief = version_brief(s, version);
        const char *command = brief + strlen("exec:");
        char **words = NULL;

        if (recipe_split(command, &words) < 0 || !words[0])
                buffer_add_shell_word(ret, command);
        for (size_t i = 0; words && words[i]; i++) {
                buffer_adds(ret, i > 0 ? " " : "");
                add_word(words[i], NULL, ret);
        }
        strings_free(words);
}

int steps_add_run(struct workspace *w, struct solver *s, const char *version, const char *file, const char *seed, double timeout, struct buffer *ret)
{
        cleanup_version struct version *v = NULL;
        const struct recipe *built = steps_recipe(s, version);
        cleanup_free char *program = NULL;
        struct recipe_limits limits = s->recipe->limits;
        const struct recipe *run;
        char **argv = NULL;
        int r;

        r = version_parse_in_full(w, s, version, -1, &v);
        if (r < 0 && program_is_text(version)) {
                add_absent(s, version, ret);
                buffer_addf(ret, " %s", file);
                return 0;
        }
        if (r < 0)
                return r;
        run = solver_recipe_at(v->solver, v->commit);
        program = program_of(built ?: era_or_solver(v->solver->history, v->solver->recipe, v->commit), v->solver->recipe->is_programs);
        limits.wall_ns = seconds_ns(timeout);
        r = recipe_command(run, program, file, seed && run->seed, SEED_MARK, &limits, &argv);
        if (r < 0)
                return r;
        for (size_t i = 0; argv[i]; i++) {
                buffer_adds(ret, i > 0 ? " " : "");
                add_word(argv[i], seed, ret);
        }
        if (recipe_reads_input(run))
                buffer_addf(ret, " <%s", file);
        strings_free(argv);
        return 0;
}
