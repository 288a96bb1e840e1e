/* Checks a key's value and stores it in the recipe. */
#include <ctype.h>

#include "core/git/paths.h"
#include "core/recipe/pattern.h"
#include "core/recipe/recipe_keys.h"

/* Checks get a value and the key's earlier values. They say what is wrong; recipe_set_value() adds where. */

static int check_path(const char *path)
{
        const char *p = path;

        if (*p == '/')
                return errorf(-EINVAL, "'%s' is absolute; write it relative to the repository's root", path);
        if (strlen(path) >= PATH_SIZE / 2 || strpbrk(path, "\n\t"))
                return errorf(-EINVAL, "not a path that could be in a repository");
        for (;;) {
                size_t n = strcspn(p, "/");

                if (n == 0)
                        return errorf(-EINVAL, "'%s' has an empty component; one '/' is enough, and none at the end", path);
                if (n == 2 && memcmp(p, "..", 2) == 0)
                        return errorf(-EINVAL, "'%s' leaves the repository with '..'", path);
                if (n == 1 && *p == '.')
                        return errorf(-EINVAL, "'%s' has a '.' in it; leave it out", path);
                if (n == 4 && strncasecmp(p, ".git", 4) == 0)
                        return errorf(-EINVAL, "'%s' is not in the sources: a checkout has no .git", path);
                if (p[n] == '\0')
                        return 0;
                p += n + 1;
        }
}

static int check_repeated(const char *value, char *const *list)
{
        return strings_have(list, value) ? errorf(-EINVAL, "'%s' is given twice", value) : 0;
}

static int check_source(const char *value, char *const *list)
{
        int r;

        if (strcmp(value, ".") == 0)
                return errorf(-EINVAL, "'.' has a '.' in it; leave it out (without 'paths' the whole tree is meant)");
        r = check_path(paths_left_out(value) ?: value);
        return r < 0 ? r : check_repeated(value, list);
}

static int check_output(const char *value, char *const *list)
{
        int r = check_path(value) ?: check_repeated(value, list);

        for (size_t i = 0; r == 0 && list[i]; i++)
                if (strcmp(basename(list[i]), basename(value)) == 0)
                        r = errorf(-EINVAL, "'%s' and '%s' would both be bin/%s", list[i], value, basename(value));
        if (r == 0 && strings_count(list) >= RECIPE_OUTPUTS_MAX)
                r = errorf(-EINVAL, "a build has at most %d", RECIPE_OUTPUTS_MAX);
        return r;
}

static int check_pattern(const char *value, char *const *)
{
        cleanup_pattern struct pattern *p = NULL;

        return pattern_new(value, &p);
}

static int check_variable(const char *value, char *const *list)
{
        size_t n = strcspn(value, "=");

        if (value[n] != '=' || n == 0 || isdigit((unsigned char)value[0]))
                return errorf(-EINVAL, "'%s' is not NAME=VALUE", value);
        for (size_t i = 0; i < n; i++)
                if (!isalnum((unsigned char)value[i]) && value[i] != '_')
                        return errorf(-EINVAL, "'%.*s' is not a variable's name", (int)n, value);
        for (; *list; list++)
                if (strncmp(*list, value, n + 1) == 0)
                        return errorf(-EINVAL, "%.*s is given twice", (int)n, value);
        return 0;
}

/* A folder of the machine that is at the same path in the sandbox and hides nothing there. */
static int check_folder(const char *path, char *const *list)
{
        static const char *const there[] = {"/usr", "/etc", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"};
        static const char *const ours[] = {"/build", "/tools", "/ccache", "/scratch", "/case", "/downloads", "/proc",
                                           "/dev",   "/sys",   "/run",    "/tmp",     "/var/tmp"};
        cleanup_free char *closed = format_string("%s/", path);

        if (*path != '/')
                return errorf(-EINVAL, "'%s' is not absolute; it is a folder of this machine", path);
        if (strstr(closed, "//") || strstr(closed, "/./") || strstr(closed, "/../") || strlen(path) >= PATH_SIZE / 2 || strpbrk(path, "\n\t"))
                return errorf(-EINVAL, "'%s' is not a plain path: no '//', no '.' or '..', no '/' at the end", path);
        for (size_t i = 0; i < ARRAY_SIZE(there); i++)
                if (path_is_in(path, there[i]))
                        return errorf(-EINVAL, "builds see all of %s anyway", there[i]);
        for (size_t i = 0; i < ARRAY_SIZE(ours); i++)
                if (path_is_in(path, ours[i]))
                        return errorf(-EINVAL, "a build has a %s of its own; put the folder elsewhere, such as /opt", ours[i]);
        return check_repeated(path, list);
}

static int check_submodule(const char *value, char *const *list)
{
        const struct recipe_submodule s = recipe_submodule(value);
        cleanup_free char *path = copy_prefix(s.path.data, s.path.size), *repository = copy_prefix(s.repository.data, s.repository.size);
        int r;

        if (s.repository.size == 0 || s.path.size == 0)
                return errorf(-EINVAL, "'%s' is not PATH=REPO or PATH=REPO COMMIT", value);
        if (strstr(repository, "://") && strchr(repository, ' '))
                return errorf(-EINVAL, "'%s' is not the %d hex digits of a commit", strrchr(repository, ' ') + 1, RECIPE_COMMIT_DIGITS);
        r = check_path(path);
        return r == 0 && recipe_find_submodule(list, s.path) ? errorf(-EINVAL, "'%s' is given twice", path) : r;
}

static int check_within(const char *value, char *const *)
{
        return recipe_submodule(value).commit ? check_submodule(value, (char *[]){NULL})
                                              : errorf(-EINVAL, "'%s' is not PATH=REPO COMMIT, with %d hex digits", value, RECIPE_COMMIT_DIGITS);
}

static int check_download(const char *value, char *const *list)
{
        struct digest d, other;
        struct slice name, taken;
        size_t n = recipe_download(value, &d, &name);

        if (digest_is_zero(&d) || n == 0)
                return errorf(-EINVAL, "'%s' is not 'URL SHA256', with the 64 digits that sha256sum prints", value);
        if (name.size == 0 || name.size > 200 || *(const char *)name.data == '.')
                return errorf(-EINVAL, "'%.*s' does not end in a file's name", (int)n, value);
        for (; *list; list++) {
                recipe_download(*list, &other, &taken);
                if (same_bytes(taken, name))
                        return errorf(-EINVAL, "two files would both be /downloads/%.*s", (int)name.size, (const char *)name.data);
        }
        return 0;
}

/* The part behind the last '/' names the program or archive. */
static int check_file(const char *value, char *const *)
{
        if (*value != '/' && !strstr(value, "://"))
                return errorf(-EINVAL, "'%s' is neither an absolute path nor a URL", value);
        if (strpbrk(value, *value == '/' ? "\n" : " \t\n") || value[strlen(value) - 1] == '/' || strlen(basename(value)) > 200)
                return errorf(-EINVAL, "'%s' is no file's path or URL (no blanks in a URL, and a name at its end)", value);
        return 0;
}

static int check_digest(const char *value, char *const *)
{
        struct digest d;

        return digest_parse(value, &d) < 0 ? errorf(-EINVAL, "'%s' is not the 64 digits that sha256sum prints", value) : 0;
}

static int check_dialect(const char *value, char *const *)
{
        if (strcmp(value, "2.0") != 0 && strcmp(value, "2.5") != 0 && strcmp(value, "2.6") != 0)
                return errorf(-EINVAL, "'%s' is none of 2.0, 2.5, 2.6", value);
        return 0;
}

static int (*const checks[])(const char *value, char *const *list) = {
        [KIND_DIALECT] = check_dialect,
        [KIND_FILE] = check_file,
        [KIND_DIGEST] = check_digest,
        [KIND_WITHIN] = check_within,
        [KIND_PATHS] = check_source,
        [KIND_OUTPUTS] = check_output,
        [KIND_PATTERNS] = check_pattern,
        [KIND_VARIABLES] = check_variable,
        [KIND_FOLDERS] = check_folder,
        [KIND_SUBMODULES] = check_submodule,
        [KIND_DOWNLOADS] = check_download,
};

static int read_count(const char *text, uint64_t *ret)
{
        char *end;

        errno = 0;
        *ret = strtoull(text, &end, 10);
        if (!isdigit((unsigned char)*text) || *end != '\0' || errno != 0)
                return errorf(-EINVAL, "'%.40s' is not a whole number", text);
        return 0;
}

struct short_text recipe_quantity(const struct recipe_key *k, uint64_t n)
{
        struct short_text ret;

        snprintf(ret.s, sizeof(ret.s), "%llu", (unsigned long long)n);
        return k->kind == KIND_DURATION ? format_duration(n) : k->kind == KIND_SIZE ? format_size(n) : ret;
}

static int set_quantity(const struct recipe_key *k, const char *text, uint64_t *field)
{
        uint64_t value;
        int r = k->kind == KIND_DURATION ? parse_duration(text, &value)
                : k->kind == KIND_SIZE   ? parse_size(text, &value)
                                         : read_count(text, &value);

        if (r == 0 && (value < k->least || value > k->most))
                r = errorf(-EINVAL, "%s is not between %s and %s", text, recipe_quantity(k, k->least).s, recipe_quantity(k, k->most).s);
        if (r == 0)
                *field = value;
        return r;
}

static int set_format(const char *value, enum format *field)
{
        for (*field = FORMAT_SMT2; *field <= FORMAT_ANY; (*field)++)
                if (strcmp(value, format_name(*field)) == 0)
                        return 0;
        return errorf(-EINVAL, "'%s' is none of smt2, cnf and any", value);
}

static int set_value(const struct recipe_key *k, const char *value, void *field)
{
        char ***list = field, **text = field;
        int r;

        if (k->kind == KIND_FORMAT)
                return set_format(value, field);
        if (k->kind < KIND_TEXT)
                return set_quantity(k, value, field);
        r = checks[k->kind] ? checks[k->kind](value, *list) : 0;
        if (r == 0 && recipe_key_repeats(k))
                return strings_add(list, value);
        if (r == 0)
                set_string(text, value);
        return r;
}

int recipe_set_value(const char *label, const struct recipe_key *k, unsigned line, const char *value, struct recipe *r)
{
        int e = set_value(k, value, recipe_field(r, k));

        return e < 0 ? errorf(-EINVAL, "%s:%u: key '%s': %s", label, line, k->name, error_message(e)) : 0;
}
