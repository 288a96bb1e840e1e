#include "core/git/regular_files.h"

#include <fcntl.h>
#include <sys/stat.h>

#define ALTERNATES_MOST 5 /* git's own bound on chains of alternates */

static int check_one(const char *path)
{
        struct stat st;

        if (stat(path, &st) < 0 || S_ISREG(st.st_mode) || S_ISDIR(st.st_mode))
                return 0;
        return errorf(-EINVAL, "%s is a %s, and not the file that belongs there: reading it could wait for ever; take it away",
                      path,
                      S_ISFIFO(st.st_mode)   ? "fifo"
                      : S_ISSOCK(st.st_mode) ? "socket"
                                             : "device");
}

/* Checks a folder and `depth` levels below. Entries that readdir() reports as regular files need no stat(). */
static int check_folder(const char *dir, unsigned depth)
{
        cleanup_dir DIR *d = opendir(dir);
        struct dirent *e;
        int r = 0;

        while (d && r == 0 && (e = readdir(d))) {
                cleanup_free char *path = format_string("%s/%s", dir, e->d_name);

                if (e->d_type == DT_REG || strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
                        continue;
                r = check_one(path);
                if (r == 0 && depth > 0 && (e->d_type == DT_DIR || e->d_type == DT_UNKNOWN))
                        r = check_folder(path, depth - 1);
        }
        return r;
}

/* The folder that a line of text names, relative to `base`; free(). */
static char *named_folder(const char *base, const char *line)
{
        return *line == '/' ? copy_string(line) : format_string("%s/%s", base, line);
}

/* `borrowed`: the length of the chains of alternates that are followed. */
static int each_objects(const char *objects, unsigned borrowed, int (*fn)(const char *objects))
{
        cleanup_free char *path = format_string("%s/info/alternates", objects), *text = NULL;
        cleanup_blob struct blob alternates = {0};
        int r = fn(objects);

        if (r != 0 || read_file(path, 1 << 20, &alternates) < 0)
                return r;
        text = copy_prefix(alternates.data ?: "", alternates.size);
        for (char *line, *rest = text; r == 0 && borrowed > 0 && (line = strsep(&rest, "\n"));) {
                cleanup_free char *other = named_folder(objects, line);

                if (*line && *line != '#')
                        r = each_objects(other, borrowed - 1, fn);
        }
        return r;
}

int objects_each(const char *objects, int (*fn)(const char *objects))
{
        return each_objects(objects, ALTERNATES_MOST, fn);
}

static int check_objects(const char *objects)
{
        return check_folder(objects, 2);
}

/* The folder that a small file names behind `lead`; free(). NULL: no such file, or it does not begin with `lead`. */
static char *folder_named_in(const char *file, const char *lead, const char *base)
{
        cleanup_blob struct blob text = {0};
        cleanup_free char *line = NULL;
        size_t n = strlen(lead);
        struct stat st;

        if (stat(file, &st) < 0 || !S_ISREG(st.st_mode) || read_file(file, PATH_SIZE, &text) < 0 || text.size <= n ||
            memcmp(text.data, lead, n) != 0)
                return NULL;
        line = copy_prefix((const char *)text.data + n, text.size - n);
        line[strcspn(line, "\n")] = '\0';
        return named_folder(base, line);
}

static int check_git(const char *git)
{
        static const char *const names[] = {"HEAD",        "config",     "config.worktree", "packed-refs",     "commondir",
                                            "gitdir",      "shallow",    "index",           "info/attributes", "info/exclude",
                                            "info/grafts", "FETCH_HEAD", "refs/heads",      "refs/tags"};
        cleanup_free char *objects = format_string("%s/objects", git);
        int r = 0;

        for (size_t i = 0; r == 0 && i < ARRAY_SIZE(names); i++) {
                cleanup_free char *path = format_string("%s/%s", git, names[i]);

                r = check_one(path);
        }
        return r < 0 ? r : objects_each(objects, check_objects);
}

int regular_files_check(const char *path)
{
        cleanup_free char *dot = format_string("%s/.git", path), *named = NULL, *git = NULL, *file = NULL, *common = NULL, *head = NULL, *branch = NULL;
        int r = check_one(dot);

        if (r < 0)
                return r;
        /* a checkout's repository is its folder .git, or the one that a file .git names */
        named = folder_named_in(dot, "gitdir: ", path);
        git = named ? steal_pointer(named) : copy_string(access(dot, F_OK) == 0 ? dot : path);
        file = format_string("%s/commondir", git);
        r = check_git(git);
        if (r == 0)
                common = folder_named_in(file, "", git); /* of a linked worktree: has all but HEAD */
        if (common)
                r = check_git(common);
        head = format_string("%s/HEAD", git);
        if (r == 0)
                branch = folder_named_in(head, "ref: ", common ?: git);
        return branch ? check_one(branch) : r;
}
