/* Samples two versions on the case, and asks addr2line(1) for the functions at the addresses. */
#include "core/why/diverge/diverge_internal.h"

#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>

#include "cache/base/helper.h"
#include "core/run/leftovers.h"

#define SAMPLER     "solverfs-sample"
#define GRACE_NS    (30 * NSEC_PER_SEC) /* for the sampler to end a program at its limit */
#define HEAD        (64 << 10) /* of a program: its headers are in it */
#define OUTPUT_MOST (UINT64_C(64) << 20)
#define TEXT_MOST   (UINT64_C(256) << 20)
#define NAMING_NS   (600 * NSEC_PER_SEC) /* limits of addr2line */
#define NAMING_MEMORY (UINT64_C(8) << 30)

/* -- samples ------------------------------------------------------------------------------------------------------- */

/* Runs a side's program under the sampler. *ret: its output; *ret_why, unless set: why there may be no more. */
static int sample(struct diverging *d, int side, struct blob *ret, char **ret_why)
{
        const struct run_input input = {.path = d->case_path, .id = d->options->info->sha256};
        cleanup(recipe_unrefp) struct recipe *recipe = diverge_recipe(d, side, NULL);
        struct recipe_limits limits = diverge_limits(d, side);
        struct held programs = d->programs[side]; /* and the sampler beside them */
        cleanup_free char *run = recipe->run;
        cleanup(run_result_done) struct run_result result = {0};
        char path[PATH_SIZE];
        int r = helper_path(SAMPLER, "core", "SOLVERFS_SAMPLE", path);

        recipe->run = format_string("/solver/" SAMPLER " %.3f %s", (double)limits.wall_ns / 1e9, run);
        if (r == 0 && programs.n == RECIPE_OUTPUTS_MAX)
                r = errorf(-E2BIG, "its build has too many programs for one more beside them");
        if (r < 0)
                return r;
        programs.list[programs.n++] = (struct run_program){.path = path, .name = SAMPLER};
        limits.wall_ns += GRACE_NS;
        limits.processes += limits.processes > 0;
        limits.output = OUTPUT_MOST;
        diverge_say(d, "sampled", side);
        r = diverge_run(d, recipe, &limits, &programs, NULL, &input, &result);
        if (r == 0 && (result.run.end != END_EXIT || result.run.code != 0) && !*ret_why)
                *ret_why = result.run.err.size > 0 ? copy_prefix(result.run.err.data, MIN(result.run.err.size, 200))
                                                   : format_string("%s was ended before its sampler was", d->options->version[side]->name);
        if (r == 0) {
                *ret = result.run.out;
                result.run.out = (struct blob){0};
        }
        return r;
}

/* -- names --------------------------------------------------------------------------------------------------------- */

/* The address in the program, by its headers, of an offset in the file. */
static uint64_t address_of(struct slice file, uint64_t offset)
{
        const Elf64_Ehdr *head = file.data;

        if (file.size < sizeof(*head) || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 || head->e_ident[EI_CLASS] != ELFCLASS64 ||
            head->e_phoff > file.size || head->e_phnum > (file.size - head->e_phoff) / sizeof(Elf64_Phdr))
                return offset;
        for (unsigned i = 0; i < head->e_phnum; i++) {
                Elf64_Phdr p;

                memcpy(&p, (const char *)file.data + head->e_phoff + i * sizeof(p), sizeof(p));
                if (p.p_type == PT_LOAD && offset >= p.p_offset && offset - p.p_offset < p.p_filesz)
                        return offset - p.p_offset + p.p_vaddr;
        }
        return offset;
}

/* The source file that addr2line names "/build/build/../src/a.c:12 (discriminator 3)", as builds are in the sandbox: "src/a.c" with `stop` ":", and with
 * `stop` " " "src/a.c:12"; "": not known. */
static char *source_file(const char *text, const char *stop)
{
        static const char inside[] = "/build/";
        char *path = copy_prefix(text, strcspn(text, stop)), *up;

        while ((up = strstr(path, "/../")) && up > path) {
                char *parent = memrchr(path, '/', (size_t)(up - path)) ?: path;

                memmove(parent, up + 3, strlen(up + 3) + 1);
        }
        if (strncmp(path, inside, strlen(inside)) == 0)
                memmove(path, path + strlen(inside), strlen(path + strlen(inside)) + 1);
        if (strncmp(path, "??", 2) == 0)
                path[0] = '\0';
        return path;
}

/* Cuts a compiler's suffix of a copied function: "work.isra.0", "work(int) [clone .part.0]". */
static void cut_clone(char *name)
{
        char *clone = strstr(name, " [clone");

        if (!clone && !strpbrk(name, " ("))
                clone = strchr(name, '.');
        if (clone && clone > name)
                *clone = '\0';
}

/* Reads "0xADDRESS" and its function, file, function, file, …; then the next address, in the order of asking. `library`: the one that the file is from;
 * NULL: the program. */
static void read_names(struct profile *p, struct profile_address *list, size_t n, char *text, const char *library)
{
        char *line, *rest = text, *name = NULL;
        size_t i = 0;

        while ((line = strsep(&rest, "\n"))) {
                if (strncmp(line, "0x", 2) == 0) {
                        i++;
                        name = NULL;
                } else if (!name)
                        cut_clone(name = line);
                else {
                        cleanup_free char *file = source_file(line, ":"), *where = library ? format_string("%s (%s)", name, library) : NULL;

                        if (i > 0 && i <= n && strcmp(name, "??") != 0)
                                profile_add_code(p, &list[i - 1], where ?: name, where ? "" : *file ? file : "?");
                        name = NULL;
                }
        }
}

void addr2line_first(const struct blob *text, char **ret_name, char **ret_file)
{
        cleanup_free char *copy = copy_prefix(text->data ?: "", text->size);
        char *rest = copy, *line;

        for (int i = 0; i < 3 && (line = strsep(&rest, "\n")); i++)
                if (i == 1 && strcmp(line, "??") != 0) {
                        cut_clone(line);
                        *ret_name = printable(line);
                } else if (i == 2 && strncmp(line, "??", 2) != 0) {
                        cleanup_free char *file = source_file(line, " ");

                        *ret_file = printable(file);
                }
}

static bool is_of_system(const char *path)
{
        return path_is_in(path, "/usr") || path_is_in(path, "/lib") || path_is_in(path, "/lib64");
}

bool code_find(const struct held *programs, const char *inside, struct code *ret)
{
        const char *name = strrchr(inside, '/') ? strrchr(inside, '/') + 1 : inside;

        *ret = (struct code){0};
        for (size_t i = 0; i < programs->n; i++)
                if (strcmp(programs->list[i].name, name) == 0) {
                        snprintf(ret->path, sizeof(ret->path), "%s", programs->list[i].path);
                        ret->is_program = true;
                        return true;
                }
        return is_of_system(inside) && realpath(inside, ret->path) && is_of_system(ret->path);
}

int ask_addr2line(const struct diverging *d, const struct code *code, struct slice addresses, struct blob *ret)
{
        static const char command[] = "exec addr2line -a -f -i -C -e \"$1\"", program[] = "/program";
        char *argv[] = {(char *)"/bin/sh", (char *)"-c", (char *)command, (char *)"sh", (char *)(code->is_program ? program : code->path), NULL};
        char folder[PATH_SIZE];
        struct execute_request q = {.argv = argv,
                                    .binds = &(struct bind){.source = code->path, .target = program},
                                    .n_binds = code->is_program,
                                    .scratch = folder,
                                    .sandbox = workspace_settings(d->options->workspace)->sandbox,
                                    .wall_ns = NAMING_NS,
                                    .memory = NAMING_MEMORY,
                                    .out = {.keep = TEXT_MOST, .most = TEXT_MOST},
                                    .cancel_fd = d->options->cancel_fd,
                                    .input = "/scratch/addresses"};
        cleanup(execute_result_done) struct execute_result result = {0};
        int r = scratch_make(d->scratch, folder);

        if (r == 0) {
                cleanup_free char *list = format_string("%s/addresses", folder);

                r = write_file_atomic(list, addresses.data, addresses.size, 0644) ?: execute(&q, &result);
                remove_tree(folder);
        }
        if (r < 0)
                return r;
        *ret = result.out;
        result.out = (struct blob){0};
        return result.end == END_EXIT ? result.code : 1;
}

/* Names n addresses in one file of one side. A library that cannot be read, or has no symbols, counts as one function, named after the file. */
static int name_addresses(const struct diverging *d, struct profile *p, struct profile_address *list, size_t n, char **ret_why)
{
        const struct held *programs = &d->programs[list->side];
        char *const *files = p->files[list->side];
        const char *inside = files[list->file], *name = strrchr(inside, '/') ? strrchr(inside, '/') + 1 : inside;
        const size_t folder = strrchr(files[0], '/') ? (size_t)(strrchr(files[0], '/') - files[0]) : 0;
        /* files[0] is the sampler; what is not in its folder, /solver, is a library */
        const char *library = strncmp(inside, files[0], folder) != 0 || inside[folder] != '/' || strchr(inside + folder + 1, '/') ? name : NULL;
        cleanup_buffer struct buffer addresses = {0};
        cleanup_blob struct blob text = {0};
        cleanup_free char *head = allocate(1, HEAD);
        struct code code;
        ssize_t size = -1;
        int r;

        if (code_find(programs, inside, &code)) {
                cleanup_close int fd = open(code.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

                size = fd >= 0 ? read(fd, head, HEAD) : -1;
        }
        if (size > 0) {
                for (size_t i = 0; i < n; i++)
                        buffer_addf(&addresses, "0x%" PRIx64 "\n", address_of(SLICE(head, (size_t)size), list[i].offset));
                r = ask_addr2line(d, &code, SLICE(addresses.data, addresses.size), &text);
                if (r < 0)
                        return r;
                if (r == 127 && !*ret_why)
                        *ret_why = copy_string("functions have no names without addr2line (binutils)");
                if (r == 0) {
                        cleanup_free char *names = copy_prefix(text.data ?: "", text.size);

                        read_names(p, list, n, names, library);
                }
        }
        for (size_t i = 0; i < n; i++)
                if (list[i].n == 0 && library) /* an address in the program itself stays unnamed: it may be a jump to a library */
                        profile_add_code(p, &list[i], name, "");
        return 0;
}

/* -- both versions ------------------------------------------------------------------------------------------------- */

int diverge_profile(struct diverging *d, struct diverge_result *ret)
{
        struct profile *p = &ret->profile;
        struct blob text[2] = {0};
        int r = 0;

        if (d->lease.pool) {
                ret->no_profile = format_string("profiles are taken on this machine, and runs are done at %s: add --on local", d->lease.pool->name);
                return 0;
        }
        for (int side = 0; r == 0 && side < 2; side++)
                r = sample(d, side, &text[side], &ret->no_profile);
        if (r == 0) {
                const struct slice samples[2] = {SLICE(text[0].data, text[0].size), SLICE(text[1].data, text[1].size)};

                profile_read(p, samples);
                for (size_t i = 0, n; r == 0 && i < p->n_addresses; i += n) {
                        struct profile_address *a = &p->addresses[i];

                        for (n = 1; i + n < p->n_addresses && a[n].side == a->side && a[n].file == a->file; n++)
                                ;
                        r = a->file < p->n_files[a->side] ? name_addresses(d, p, a, n, &ret->no_profile) : 0;
                }
                profile_count(p, samples);
                for (int side = 0; side < 2 && !ret->no_profile; side++)
                        if (p->samples[side] == 0)
                                ret->no_profile = format_string("%s gave no samples: it was over at once, or could not be started",
                                                                d->options->version[side]->name);
        }
        blob_done(&text[0]);
        blob_done(&text[1]);
        return r;
}
