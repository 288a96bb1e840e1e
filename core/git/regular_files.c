#include "core/git/regular_files.h"

#include <fcntl.h>
#include <sys/stat.h>

#define ALTERNATES_MOST 5 /* git's own bound on one repository borrowing from another that borrows … */

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

/* All that is in a folder, and `depth` levels below. Only what the folder does not say to be a plain file costs a look. */
static int check_folder(const char *dir, unsigned depth)
{
        cleanup_dir DIR *d = opendir(dir);
        struct dirent *e;
        int r = 0;

        while (d && r == 0 && (e = readdir(d))) {
                char path[PATH_SIZE];

                if (e->d_type == DT_REG || strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
                        continue;
                r = path_join(path, dir, e->d_name);
                if (r == 0)
                        r = check_one(path);
                if (r == 0 && depth > 0 && (e->d_type == DT_DIR || e->d_type == DT_UNKNOWN))
                        r = check_folder(path, depth - 1);
        }
        return r;
}

static size_t line_length(const char *line, const char *end)
{
        const char *newline = memchr(line, '\n', (size_t)(end - line));

        return (size_t)((newline ? newline : end) - line);
}

/* The folder that a line of text names, from `base` when it is relative. */
static int named_folder(const char *base, const char *line, size_t n, char ret[PATH_SIZE])
{
        bool absolute = n > 0 && line[0] == '/';

        if (snprintf(ret, PATH_SIZE, "%s%s%.*s", absolute ? "" : base, absolute ? "" : "/", (int)n, line) >= PATH_SIZE)
                return errorf(-ENAMETOOLONG, "%s names a folder whose path is too long", base);
        return 0;
}

static int check_objects(const char *objects, unsigned borrowed)
{
        cleanup_blob struct blob alternates = {0};
        char path[PATH_SIZE];
        int r = check_folder(objects, 2);

        if (r == 0)
                r = path_join(path, objects, "info/alternates");
        if (r < 0 || read_file(path, 1 << 20, &alternates) < 0)
                return r;
        for (const char *line = alternates.data, *end = line + alternates.size; r == 0 && line < end && borrowed > 0;) {
                size_t n = line_length(line, end);

                if (n > 0 && line[0] != '#') {
                        r = named_folder(objects, line, n, path);
                        if (r == 0)
                                r = check_objects(path, borrowed - 1);
                }
                line += n + 1;
        }
        return r;
}

/* The folder that a small file names behind `lead`; -ENOENT when there is no such file, or it is another one. */
static int file_names(const char *file, const char *lead, const char *base, char ret[PATH_SIZE])
{
        cleanup_blob struct blob text = {0};
        size_t n = strlen(lead);
        struct stat st;

        if (stat(file, &st) < 0 || !S_ISREG(st.st_mode) || read_file(file, PATH_SIZE, &text) < 0 || text.size <= n ||
            memcmp(text.data, lead, n) != 0)
                return -ENOENT;
        return named_folder(base, (const char *)text.data + n,
                            line_length((const char *)text.data + n, (const char *)text.data + text.size), ret);
}

/* The repository of a checkout: its folder .git, or the one that a file .git names. */
static int git_folder(const char *path, char ret[PATH_SIZE])
{
        char dot[PATH_SIZE];
        struct stat st;
        int r = path_join(dot, path, ".git");

        if (r == 0)
                r = check_one(dot);
        if (r == 0)
                r = file_names(dot, "gitdir: ", path, ret);
        if (r == -ENOENT)
                r = snprintf(ret, PATH_SIZE, "%s", stat(dot, &st) == 0 ? dot : path) < PATH_SIZE ? 0 : -ENAMETOOLONG;
        return r;
}

static int check_git(const char *git)
{
        static const char *const names[] = {"HEAD",        "config",     "config.worktree", "packed-refs",     "commondir",
                                            "gitdir",      "shallow",    "index",           "info/attributes", "info/exclude",
                                            "info/grafts", "FETCH_HEAD", "refs/heads",      "refs/tags"};
        char path[PATH_SIZE];
        int r = 0;

        for (size_t i = 0; r == 0 && i < ARRAY_SIZE(names); i++) {
                r = path_join(path, git, names[i]);
                if (r == 0)
                        r = check_one(path);
        }
        if (r == 0)
                r = path_join(path, git, "objects");
        return r < 0 ? r : check_objects(path, ALTERNATES_MOST);
}

int regular_files_check(const char *path)
{
        char git[PATH_SIZE], file[PATH_SIZE], common[PATH_SIZE];
        int r = git_folder(path, git);

        if (r == 0)
                r = check_git(git);
        if (r == 0)
                r = path_join(file, git, "commondir");
        if (r == 0) {
                r = file_names(file, "", git, common); /* of a linked worktree: all but HEAD is there */
                r = r == -ENOENT ? 0 : r < 0 ? r : check_git(common);
        }
        return r;
}
