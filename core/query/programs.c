/* The text becomes the keys of a [binary], `run` and `seed`. If the config has one with these keys and this file, its commit is the program's. Else the
 * program is asked for its version, which gives its name; then the file is copied, and the commit and the section of the config are made. */
#include "core/query/programs.h"

#include <ctype.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "cache/base/lock.h"
#include "core/query/query.h"
#include "core/workspace/workspace_internal.h"
#include "core/git/gitconfig.h"
#include "core/recipe/recipe_keys.h"
#include "core/run/file_digest.h"
#include "core/run/host.h"
#include "core/run/leftovers.h"
#include "core/run/runner.h"
#include "core/workspace/lease.h"

#define PREFIX      "exec:"
#define NAME_MOST   64 /* characters of a name, without what makes it unique */
#define WORDS_MOST  5 /* searched for a version number */
#define VERSION_NS  (10 * NSEC_PER_SEC) /* for the program to print its version */
#define BRIEF_HEX   8 /* digits of a digest in a name */

/* The parts of the text. */
struct program {
        const char *text;
        char *path; /* as it was typed */
        struct digest digest;
        char hex[DIGEST_HEX_SIZE];
        struct buffer run, seed; /* as keys of a recipe; seed: empty where there is none */
        struct buffer arguments; /* of the name: without {case} and the seed's */
};

static void program_done(struct program *p)
{
        free(p->path);
        buffer_done(&p->run);
        buffer_done(&p->seed);
        buffer_done(&p->arguments);
}
#define cleanup_program cleanup(program_done)

bool program_is_text(const char *text)
{
        return strncmp(text, PREFIX, strlen(PREFIX)) == 0;
}

/* -- the text --------------------------------------------------------------------------------------------------- */

/* Splits off the path, which is in single quotes if it has blanks; *ret_arguments: the rest. */
static int split_path(const char *text, char **ret, const char **ret_arguments)
{
        const char *command = text + strlen(PREFIX);
        bool is_quoted = command[0] == '\'';
        size_t n = strcspn(command + is_quoted, is_quoted ? "'" : " ");

        if (is_quoted && command[1 + n] != '\'')
                return errorf(-EINVAL, "the quote in '%s' is not closed", text);
        *ret = copy_prefix(command + is_quoted, n);
        *ret_arguments = command + n + (is_quoted ? 2 : 0);
        return **ret == '/' ? 0 : errorf(-EINVAL, "'%s' names a program without its whole path; write exec:/usr/bin/z3, say", text);
}

static void add_word(struct buffer *b, const char *word)
{
        if (b->size > 0)
                buffer_adds(b, " ");
        buffer_add_plain_word(b, word, ":,@%{}");
}

static bool has_seed(const char *word)
{
        return strstr(word, "{n}") || strstr(word, "{seed}");
}

/* Takes the seed's words and returns their number. For `--seed {n}` they begin with --seed. The key writes {seed} as {n}, the name as "--seed=N". */
static int take_seed(struct program *p, char **words)
{
        const bool has_option = !has_seed(words[0]);
        const char *word = words[has_option], *mark = strstr(word, "{seed}");
        cleanup_free char *number = mark ? format_string("%.*s{n}%s", (int)(mark - word), word, mark + strlen("{seed}")) : copy_string(word);

        if (p->seed.size > 0)
                return errorf(-EINVAL, "'%s' has two places for a seed; one is possible", p->text);
        if (has_option) {
                add_word(&p->seed, words[0]);
                add_word(&p->arguments, words[0]);
        }
        add_word(&p->seed, number);
        buffer_addf(&p->arguments, "%s%.*sN", p->arguments.size > 0 ? " " : "", (int)strcspn(word, "{"), word);
        buffer_adds(&p->run, " {seed}");
        return has_option + 1;
}

static int check_word(const struct program *p, const char *word, bool *ret_is_case)
{
        static const char *const known[] = {"{case}", "{n}", "{seed}", "{timeout}", "{memory}", NULL};
        unsigned uses[ARRAY_SIZE(known)] = {0};

        if (recipe_check_placeholders(word, known, uses) < 0)
                return errorf(-EINVAL, "'%s': %s; known are {case}, {n}, {seed}, {timeout} and {memory}", p->text, error_message(-EINVAL));
        *ret_is_case |= uses[0] > 0;
        return 0;
}

static int read_arguments(struct program *p, char **words)
{
        bool has_case = false;
        int r = 0;

        buffer_adds(&p->run, "{bin}");
        for (size_t i = 0; r >= 0 && words[i]; i++) {
                const char *next = words[i][0] == '-' && words[i + 1] ? words[i + 1] : "";

                r = check_word(p, words[i], &has_case);
                if (r == 0 && (has_seed(words[i]) || strcmp(next, "{n}") == 0 || strcmp(next, "{seed}") == 0)) {
                        r = take_seed(p, &words[i]);
                        i += r > 1;
                        continue;
                }
                add_word(&p->run, words[i]);
                if (!strstr(words[i], "{case}"))
                        add_word(&p->arguments, words[i]);
        }
        if (r >= 0 && !has_case)
                buffer_adds(&p->run, " {case}");
        return MIN(r, 0);
}

static int parse(struct program *p)
{
        char **words = NULL;
        const char *arguments = "";
        int r = split_path(p->text, &p->path, &arguments);

        if (r == 0 && (r = recipe_split(arguments, &words)) < 0)
                r = errorf(r, "'%s': %s", p->text, error_message(r));
        if (r == 0)
                r = read_arguments(p, words);
        strings_free(words);
        return r;
}

/* -- the file --------------------------------------------------------------------------------------------------- */

/* Checks that the interpreter in a script's first line exists, and that a program is for this processor. */
static int check_head(const char *path)
{
        char head[PATH_SIZE] = "", *interpreter;
        cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC);

        if (fd >= 0 && host_is_foreign(fd))
                return errorf(-ENOEXEC, "%s is for another processor, and an emulator's times are not its own", path);
        if (fd < 0 || read(fd, head, sizeof(head) - 1) < 2 || strncmp(head, "#!", 2) != 0)
                return 0;
        interpreter = head + 2 + strspn(head + 2, " \t");
        interpreter[strcspn(interpreter, " \t\r\n")] = '\0';
        return !*interpreter || access(interpreter, X_OK) == 0
                       ? 0
                       : errorf(-ENOENT, "%s is a script for %s, which is not there: install that, or correct the first line", path, interpreter);
}

int program_digest(const char *path, struct digest *ret)
{
        struct file_look look;

        file_look(path, &look);
        *ret = look.digest;
        return look.kind == FILE_CONTENT && access(path, X_OK) == 0 ? 0 : errorf(-EINVAL, "%s is not a program, or cannot be read", path);
}

/* Checks that the file is a program that can be executed here, and finds its digest. */
static int check_file(struct program *p)
{
        cleanup_free char *real = realpath(p->path, NULL);
        struct stat st;
        int r;

        if (!real || stat(real, &st) < 0)
                return errorf(-errno, "there is no program %s: %s", p->path, strerror(errno));
        if (S_ISDIR(st.st_mode))
                return errorf(-EINVAL, "%s is a folder, not a program", p->path);
        if (!S_ISREG(st.st_mode)) /* the open of a FIFO waits for a writer */
                return errorf(-EINVAL, "%s is no file, and so no program", p->path);
        if (access(real, X_OK) < 0)
                return errorf(-EACCES, "%s cannot be executed by you: make it executable, or name another file", p->path);
        r = check_head(real) ?: program_digest(real, &p->digest);
        digest_hex(&p->digest, p->hex);
        return r;
}

/* -- its name --------------------------------------------------------------------------------------------------- */

static int run_version(struct workspace *w, const struct recipe *like, const struct run_program *list, size_t n, const cpu_set_t *cpus,
                       struct run_remote *remote, int cancel_fd, struct run_result *ret)
{
        cleanup(recipe_unrefp) struct recipe *recipe = recipe_asking(like, "--version", VERSION_NS);
        cleanup(runner_closep) struct runner *runner = NULL;
        cleanup_free char *scratch = format_string("%s/scratch", w->dir);

        runner = runner_open(&(struct runner_options){.recipe = recipe,
                                                      .programs = list,
                                                      .n_programs = n,
                                                      .limits = recipe->limits,
                                                      .scratch_parent = scratch,
                                                      .sandbox = w->settings.sandbox,
                                                      .cpus = cpus,
                                                      .remote = remote});
        return runner_run(runner, &(struct run_input){.bytes = SLICE("", 0)}, cancel_fd, ret);
}

int program_ask_version(struct workspace *w, const struct recipe *recipe, const struct run_program *list, size_t n, const cpu_set_t *cpus,
                        struct run_remote *remote, int cancel_fd, int *ret_code, char ret_line[VERSION_LINE])
{
        struct run_result result = {0};
        int r = run_version(w, recipe, list, n, cpus, remote, cancel_fd, &result);
        const struct blob *out = &result.run.out;
        const char *text = out->data;
        size_t size = 0;

        if (r == 0 && result.run.end == END_EXIT)
                while (size < out->size && size < VERSION_LINE - 1 && text[size] >= ' ' && text[size] <= '~')
                        size++;
        snprintf(ret_line, VERSION_LINE, "%.*s", (int)size, size > 0 ? text : "");
        if (r == 0 && result.run.end == END_NOEXEC)
                r = errorf(-ENOEXEC, "%s cannot be executed on this machine: %s", list[0].path, strerror(result.run.code));
        *ret_code = result.run.code;
        run_result_done(&result);
        return r;
}

/* The length of a version at the beginning of the text, such as 4.8.12 or v1.2-rc1: a digit first, and a point in it. 0: none. */
static size_t number_length(const char *word)
{
        size_t n = (word[0] == 'v' || word[0] == 'V') && isdigit((unsigned char)word[1]), from = n;

        while (isalnum((unsigned char)word[n]) || (strchr(".-+_", word[n]) && word[n]))
                n++;
        while (n > 0 && !isalnum((unsigned char)word[n - 1]))
                n--;
        return isdigit((unsigned char)word[from]) && memchr(word, '.', n) ? n : 0;
}

/* "Z3 4.8.12" from "Z3 version 4.8.12 - 64 bit", "cadical sc2021" from "sc2021"; "" if there is no number, or only one in a long sentence. */
static void brief_version(const char *line, const char *file, struct buffer *ret)
{
        const char *p = strncmp(line, "This is ", 8) == 0 ? line + 8 : line;
        cleanup_buffer struct buffer words = {0};

        if (!strchr(line, ' ') && strpbrk(line, "0123456789")) {
                buffer_addf(ret, "%s %s", file, line);
                return;
        }
        for (unsigned i = 0; *p && i < WORDS_MOST; i++) {
                size_t n = strcspn(p, " ,;()[]:"), number = number_length(p);

                if (number > 0) {
                        buffer_addf(ret, "%s %.*s", words.size > 0 ? words.data : file, (int)number, p);
                        return;
                }
                if (n > 0 && !(n == 7 && strncasecmp(p, "version", 7) == 0))
                        buffer_addf(&words, "%s%.*s", words.size > 0 ? " " : "", (int)n, p);
                p += n + (p[n] != '\0');
        }
}

/* Appends text in a form that suits a tag, a file name and a table. */
static void add_name(struct buffer *name, const char *text)
{
        for (; *text && name->size < NAME_MOST; text++) {
                char c = isalnum((unsigned char)*text) || strchr(".+=@_", *text) ? *text : '-';

                if (strchr(".-@", c) && name->size > 0 && name->data[name->size - 1] == c)
                        continue; /* ".." is a range */
                if (name->size > 0 || isalnum((unsigned char)c))
                        buffer_add(name, &c, 1);
        }
}

static bool is_taken(const struct recipe *recipe, const char *name)
{
        size_t i = 0;

        while (recipe && i < recipe->n_eras && strcmp(recipe->eras[i]->range, name) != 0)
                i++;
        return recipe && i < recipe->n_eras;
}

/* The program's name, from the line that it printed for --version, or else from its file. *line becomes "" if it has no version. */
static void make_name(const struct program *p, const struct recipe *recipe, char *line, struct buffer *ret)
{
        cleanup_buffer struct buffer text = {0};

        brief_version(line, basename(p->path), &text);
        if (text.size == 0)
                line[0] = '\0';
        if (text.size == 0)
                buffer_addf(&text, "%s@%.*s", basename(p->path), BRIEF_HEX, p->hex);
        if (p->arguments.size > 0)
                buffer_addf(&text, " %s", p->arguments.data);
        add_name(ret, text.data);
        while (ret->size > 0 && !isalnum((unsigned char)ret->data[ret->size - 1])) /* a tag's name cannot end in "." or ".lock" */
                ret->data[--ret->size] = '\0';
        if (ret->size == 0 || is_taken(recipe, ret->data) || (ret->size > 5 && strcmp(ret->data + ret->size - 5, ".lock") == 0)) {
                struct hasher *h = hasher_new();
                struct digest d;

                hasher_string(h, basename(p->path));
                hasher_string(h, p->hex);
                hasher_string(h, p->run.data);
                hasher_string(h, p->seed.data);
                hasher_finish(h, &d);
                buffer_addf(ret, "%s%.*s", ret->size > 0 ? "@" : "", BRIEF_HEX, digest_text(&d).s);
        }
}

/* -- keeping it ------------------------------------------------------------------------------------------------- */

/* Copies the file into <store>/downloads, where its build finds it. */
static int keep_file(struct workspace *w, const struct program *p)
{
        const struct recipe_file file = {.url = p->path, .n_url = strlen(p->path), .digest = p->digest, .name = slice_string(basename(p->path))};
        int r = workspace_fetch_file(w, &file, NULL);

        return r == -EINVAL ? errorf(-EAGAIN, "%s was changed while it was read: name it again", p->path) : r;
}

/* The program's sections of the config. */
static void print_sections(const struct program *p, const char *name, bool is_first, struct buffer *ret)
{
        if (is_first)
                buffer_adds(ret, "[solver \"" RECIPE_PROGRAMS "\"]\n"
                                 "    # Programs without a repository, each a [binary] below, as 'exec:PATH ARG...' named it. "
                                 "Limits and 'effort' here are theirs.\n"
                                 "    format = any\n"
                                 "    build = false\n"
                                 "    output = program\n"
                                 "    run = {bin} {case}\n");
        buffer_addf(ret, "[binary \"" RECIPE_PROGRAMS " %s\"]\n", name);
        gitconfig_line(ret, "    ", "file", p->path);
        gitconfig_line(ret, "    ", "sha256", p->hex);
        gitconfig_line(ret, "    ", "run", p->run.data);
        if (p->seed.size > 0)
                gitconfig_line(ret, "    ", "seed", p->seed.data);
}

static int make_commit(struct workspace *w, const struct program *p, const char *name, const char *line)
{
        cleanup(history_unrefp) struct history *h = NULL;
        cleanup_buffer struct buffer message = {0}, text = {0};
        struct stat st;
        uint32_t commit;
        int r = stat(p->path, &st) < 0 ? errorf(-errno, "cannot read the program %s: %s", p->path, strerror(errno))
                                       : history_init(w->repos, RECIPE_PROGRAMS);

        if (r == 0) {
                pthread_mutex_lock(&w->lock);
                r = workspace_history(w, RECIPE_PROGRAMS, &h);
                pthread_mutex_unlock(&w->lock);
        }
        if (r < 0)
                return r;
        buffer_addf(&message, "%s\n\n%s\n", *line ? line : name, p->text);
        buffer_addf(&text, "sha256 %s\nrun %s\n", p->hex, p->run.data);
        if (p->seed.size > 0)
                buffer_addf(&text, "seed %s\n", p->seed.data);
        return history_add_root(h, &(struct history_root){name, message.data, st.st_mtim.tv_sec, "program", SLICE(text.data, text.size)}, &commit);
}

/* Checks that the config can hold the program, before anything of it is kept. */
static int check_sections(const struct program *p)
{
        cleanup_buffer struct buffer sections = {0};
        cleanup_free char *text = printable(p->text);
        struct recipe **list = NULL;
        size_t n = 0;
        int r;

        print_sections(p, "name", true, &sections);
        r = recipe_parse_config(SLICE(sections.data, sections.size), "its recipe", &list, &n);
        recipe_list_free(list, n);
        return r < 0 ? errorf(r, "'%s' cannot be kept: %s", text, error_message(r)) : 0;
}

/* Its first line for --version; "": it failed. Not under the lock of the config, as this may wait for a core, and for the program. */
static int ask_version(struct workspace *w, const struct program *p, int cancel_fd, char ret_line[VERSION_LINE])
{
        const struct run_program program = {.path = p->path, .name = basename(p->path), .id = p->digest};
        struct lease lease = {.workspace = w, .what = p->text, .cancel_fd = cancel_fd, .slot.lock = -1};
        cleanup(recipe_unrefp) struct recipe *asking = recipe_new();
        cleanup_free char *engines = format_string("%s/engines", w->dir);
        cleanup_close int alive = -1;
        int code, r = make_dirs(engines, 0700);

        if (r == 0)
                r = leftovers_own(w->dir, &alive); /* as an engine has it: without it, another process sweeps our scratch folder away */
        if (r == 0)
                r = lease_take(&lease);
        if (r < 0)
                return r;
        r = program_ask_version(w, asking, &program, 1, lease_cpus(&lease), NULL, cancel_fd, &code, ret_line);
        lease_leave(&lease);
        if (r == 0 && code != 0)
                ret_line[0] = '\0';
        return r;
}

/* Under the lock of the config. */
static int add(struct workspace *w, const struct program *p, const struct recipe *recipe, char *line)
{
        cleanup_buffer struct buffer name = {0}, sections = {0};
        int r;

        make_name(p, recipe, line, &name);
        r = keep_file(w, p) ?: make_commit(w, p, name.data, line);
        print_sections(p, name.data, !recipe, &sections);
        if (r == 0)
                r = recipe_append_config(w->config, sections.data);
        return workspace_config_written(w, r);
}

/* -- finding it ------------------------------------------------------------------------------------------------- */

static bool is_of_program(const struct recipe *b, const struct program *p)
{
        return b->file && strcmp(basename(b->file), basename(p->path)) == 0 && strcmp(b->sha256, p->hex) == 0 &&
               strcmp(b->run ?: "", p->run.data ?: "") == 0 && strcmp(b->seed ?: "", p->seed.data ?: "") == 0;
}

/* -ENOENT: the program was not named before. */
static int find_commit(struct workspace *w, const struct program *p, struct solver **ret, uint32_t *ret_commit)
{
        cleanup(solver_unrefp) struct solver *s = NULL;
        const struct recipe *binary = NULL;
        int r = workspace_solver(w, RECIPE_PROGRAMS, &s);

        if (r < 0)
                return r;
        if (!s->recipe->is_programs)
                return errorf(-EEXIST, "a solver of yours is called '" RECIPE_PROGRAMS "', where programs like '%s' are kept: remove it, and add it under "
                                       "another name", p->text);
        for (size_t i = 0; i < s->recipe->n_eras && !binary; i++)
                binary = is_of_program(s->recipe->eras[i], p) ? s->recipe->eras[i] : NULL;
        if (!binary)
                return -ENOENT;
        r = history_resolve(s->history, binary->range, ret_commit);
        if (r == 0)
                *ret = steal_pointer(s);
        return r == -ENOENT ? errorf(-EIO, "the commit of %s is lost: 'solverfs fsck' says more", binary->range) : r;
}

static int add_new(struct workspace *w, const struct program *p, int cancel_fd, const struct progress *progress, struct solver **ret, uint32_t *ret_commit)
{
        cleanup(solver_unrefp) struct solver *s = NULL;
        char line[VERSION_LINE];
        cleanup_close int lock = -1;
        int r = store_read_only(w->store) ? errorf(-EROFS, "'%s' was not named before, and the store is read-only", p->text) : check_sections(p);

        if (r == 0)
                r = ask_version(w, p, cancel_fd, line)
                    ?: lock_wait_for(w->dir, "solvers.lock", progress, "waiting for another process's changes", &lock);
        if (r < 0)
                return r;
        workspace_look_again(w);
        r = find_commit(w, p, ret, ret_commit); /* another process may have added it first */
        if (r != -ENOENT)
                return r;
        r = workspace_check_editable(w);
        if (r == 0 && workspace_solver(w, RECIPE_PROGRAMS, &s) < 0)
                s = NULL;
        if (r == 0)
                r = add(w, p, s ? s->recipe : NULL, line);
        return r == 0 ? find_commit(w, p, ret, ret_commit) : r;
}

int program_commit(struct workspace *w, const char *text, int cancel_fd, const struct progress *progress, struct solver **ret, uint32_t *ret_commit)
{
        cleanup_program struct program p = {.text = text};
        int r = parse(&p) ?: check_file(&p);

        if (r < 0)
                return r;
        r = find_commit(w, &p, ret, ret_commit);
        return r == -ENOENT ? add_new(w, &p, cancel_fd, progress, ret, ret_commit) : r;
}

struct commit_label commit_label(const struct solver *s, uint32_t commit)
{
        cleanup(ref_list_unrefp) struct ref_list *refs = NULL;
        struct commit_label ret = {""};
        struct commit c;

        if (s->recipe->is_programs && history_refs(s->history, &refs) == 0)
                for (size_t i = 0; i < refs->n && !*ret.s; i++)
                        if (refs->list[i].kind == REF_TAG && refs->list[i].commit == commit)
                                snprintf(ret.s, sizeof(ret.s), "%s", refs->list[i].name);
        if (!*ret.s && history_commit(s->history, commit, &c) == 0)
                snprintf(ret.s, sizeof(ret.s), "%.12s", oid_text(&c.oid));
        return ret;
}
