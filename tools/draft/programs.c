/* The programs and shared libraries of a build, taken out of the sandbox in one archive. */
#include "draft.h"

#include <archive.h>
#include <archive_entry.h>
#include <ctype.h>
#include <fcntl.h>
#include <sys/stat.h>

#define ARCHIVE "solverfs-draft.tar"

const char programs_archive[] = ARCHIVE;
/* Follows links to shared libraries: the loader looks for them by the links' names. */
const char programs_command[] =
        "find . -name CMakeFiles -prune -o '(' -type f -size +0 '(' -perm -0100 -o -name '*.so' -o -name '*.so.*' ')' -o -type l -name '*.so*' -exec "
        "test -f '{}' ';' ')' -print0 | tar --create --file=" ARCHIVE " --dereference --hard-dereference --null --files-from=-";

void made_list_done(struct made_list *m)
{
        for (size_t i = 0; i < m->n; i++) {
                free(m->list[i].path);
                free(m->list[i].host);
        }
        free(m->list);
        *m = (struct made_list){0};
}

/* UTF-8 without control bytes and braces, which are placeholders. */
bool draft_name_is_plain(const char *name)
{
        for (const char *p = name; *p; p += utf8_length(p, strlen(p)))
                if (utf8_length(p, strlen(p)) == 0 || (unsigned char)*p < 0x20 || *p == 0x7f || *p == '{' || *p == '}')
                        return false;
        return true;
}

static bool is_library(const char *path)
{
        const char *at = strstr(basename(path), ".so");

        return at && (at[3] == '\0' || at[3] == '.');
}

static _Noreturn void refuse(struct archive *a)
{
        command_refuse(STATUS_SYSTEM, "cannot read what the build made: %s", archive_error_string(a));
}

/* Copies the archive's current file to `host` if it is an ELF file, and returns whether it is. */
static bool copy_program(struct archive *a, const char *host)
{
        cleanup_close int fd = -1;
        const void *block;
        la_int64_t offset;
        size_t size;
        int r;

        while ((r = archive_read_data_block(a, &block, &size, &offset)) == ARCHIVE_OK) {
                if (fd < 0 && (offset != 0 || size < 4 || memcmp(block, "\177ELF", 4) != 0))
                        return false;
                if (fd < 0)
                        fd = open(host, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
                if (fd < 0 || fchmod(fd, 0755) < 0)
                        command_must(errorf(-errno, "cannot make %s: %s", host, strerror(errno)));
                if (pwrite(fd, block, size, offset) != (ssize_t)size)
                        command_must(errorf(-ENOSPC, "cannot write %s: the disk may be full", host));
        }
        if (r != ARCHIVE_EOF)
                refuse(a);
        return fd >= 0;
}

void made_list_read(const char *archive, const git_tree *tree, const char *folder, struct made_list *ret)
{
        struct archive *a = archive_read_new();
        struct archive_entry *e;
        int r;

        if (archive_read_support_format_tar(a) != ARCHIVE_OK || archive_read_open_filename(a, archive, 1 << 16) != ARCHIVE_OK)
                refuse(a);
        while ((r = archive_read_next_header(a, &e)) >= ARCHIVE_WARN && r != ARCHIVE_EOF) {
                const char *path = archive_entry_pathname(e) ?: "";
                cleanup_free char *host = format_string("%s/%zu", folder, ret->n);
                cleanup(git_tree_entry_freep) git_tree_entry *committed = NULL;

                while (strncmp(path, "./", 2) == 0)
                        path += 2;
                if (!*path || !draft_name_is_plain(path) || archive_entry_filetype(e) != AE_IFREG ||
                    git_tree_entry_bypath(&committed, tree, path) == 0 || !copy_program(a, host))
                        continue;
                list_add(ret->list, ret->n, (struct made){.path = copy_string(path), .host = steal_pointer(host), .is_library = is_library(path)});
        }
        if (r != ARCHIVE_EOF)
                refuse(a);
        archive_read_free(a);
}

/* 0: the program is called `name`. 1: one name begins with the other, as with yices_smt2 of yices2, except for the number. 2: neither. */
static unsigned likeness(const char *program, const char *name)
{
        size_t n = strlen(name);

        if (strcasecmp(program, name) == 0)
                return 0;
        while (n > 1 && (isdigit((unsigned char)name[n - 1]) || name[n - 1] == '-' || name[n - 1] == '.'))
                n--;
        return strncasecmp(program, name, MIN(n, strlen(program))) == 0 ? 1 : 2;
}

static unsigned depth(const char *path)
{
        unsigned n = 0;

        for (; *path; path++)
                n += *path == '/';
        return n;
}

/* The order of made_list_sort(). */
static int compare_made(const void *a, const void *b, void *name)
{
        const struct made *x = a, *y = b;
        int likes = (int)likeness(basename(x->path), name) - (int)likeness(basename(y->path), name), deeper = (int)depth(x->path) - (int)depth(y->path);
        int longer = (int)strlen(basename(x->path)) - (int)strlen(basename(y->path));

        return likes ?: deeper ?: longer ?: strcmp(x->path, y->path);
}

void made_list_sort(struct made_list *m, const char *name)
{
        if (m->n > 0)
                qsort_r(m->list, m->n, sizeof(*m->list), compare_made, (void *)name);
}

const struct made *made_list_library(const struct made_list *m, const char *name)
{
        for (size_t i = 0; i < m->n; i++)
                if (strcmp(basename(m->list[i].path), name) == 0)
                        return &m->list[i];
        return NULL;
}
