/* A key's value: checked, and put into the recipe. */
#include <ctype.h>

#include "core/git/paths.h"
#include "core/recipe/pattern.h"
#include "core/recipe/recipe_keys.h"

#define fail(line, format, ...) errorf(-EINVAL, "%s:%u: " format, label, line, ##__VA_ARGS__)

static int check_path(const char *label, unsigned line, const char *key, const char *path)
{
        const char *p = path;

        if (*p == '/')
                return fail(line, "key '%s': '%s' is absolute; write it relative to the repository's root", key, path);
        if (strlen(path) >= PATH_SIZE / 2 || strpbrk(path, "\n\t"))
                return fail(line, "key '%s': not a path that could be in a repository", key);
        for (;;) {
                size_t n = strcspn(p, "/");

                if (n == 0)
                        return fail(line, "key '%s': '%s' has an empty component; one '/' is enough, and none at the end", key,
                                    path);
                if (n == 2 && memcmp(p, "..", 2) == 0)
                        return fail(line, "key '%s': '%s' leaves the repository with '..'", key, path);
                if (n == 1 && *p == '.')
                        return fail(line, "key '%s': '%s' has a '.' in it; leave it out%s", key, path,
                                    strcmp(path, ".") == 0 && strcmp(key, "paths") == 0
                                            ? " (without 'paths' the whole tree is meant)"
                                            : "");
                if (n == 4 && strncasecmp(p, ".git", 4) == 0)
                        return fail(line, "key '%s': '%s' is not in the sources: a checkout has no .git", key, path);
                if (p[n] == '\0')
                        return 0;
                p += n + 1;
        }
}

static int check_again(const char *label, unsigned line, const char *key, const char *path, char *const *list)
{
        for (size_t i = 0; list[i]; i++)
                if (strcmp(list[i], path) == 0)
                        return fail(line, "key '%s': '%s' is given twice", key, path);
                else if (strcmp(key, "output") == 0 && strcmp(basename(list[i]), basename(path)) == 0)
                        return fail(line, "key 'output': '%s' and '%s' would both be bin/%s", list[i], path, basename(path));
        return 0;
}

static int check_pattern(const char *label, unsigned line, const char *text)
{
        cleanup_pattern struct pattern *p = NULL;

        return pattern_new(text, &p) < 0 ? fail(line, "key 'effort': %s", error_message(-EINVAL)) : 0;
}

static int check_variable(const char *label, unsigned line, const char *value, char *const *list)
{
        size_t n = strcspn(value, "=");

        if (value[n] != '=' || n == 0 || isdigit((unsigned char)value[0]))
                return fail(line, "key 'environment': '%s' is not NAME=VALUE", value);
        for (size_t i = 0; i < n; i++)
                if (!isalnum((unsigned char)value[i]) && value[i] != '_')
                        return fail(line, "key 'environment': '%.*s' is not a variable's name", (int)n, value);
        for (size_t i = 0; list[i]; i++)
                if (strncmp(list[i], value, n + 1) == 0)
                        return fail(line, "key 'environment': %.*s is given twice", (int)n, value);
        return 0;
}

static bool is_at_or_below(const char *path, const char *folder)
{
        size_t n = strlen(folder);

        return strncmp(path, folder, n) == 0 && (path[n] == '/' || path[n] == '\0');
}

/* A folder of the machine that stands in the sandbox where it stands outside, and in the way of nothing there. */
static int check_folder(const char *label, unsigned line, const char *path, char *const *list)
{
        static const char *const there[] = {"/usr", "/etc", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"};
        static const char *const ours[] = {"/build", "/tools", "/ccache", "/scratch", "/case", "/downloads", "/proc",
                                           "/dev",   "/sys",   "/run",    "/tmp",     "/var/tmp"};

        if (*path != '/')
                return fail(line, "key 'dependency': '%s' is not absolute; it is a folder of this machine", path);
        if (path[1] == '\0' || path[1] == '.' || path[strlen(path) - 1] == '/' || strstr(path, "//") || strstr(path, "/./") ||
            strstr(path, "/../") || strlen(path) >= PATH_SIZE / 2 || strpbrk(path, "\n\t"))
                return fail(line, "key 'dependency': '%s' is not a plain path: no '//', no '.' or '..', no '/' at the end", path);
        for (size_t i = 0; i < ARRAY_SIZE(there); i++)
                if (is_at_or_below(path, there[i]))
                        return fail(line, "key 'dependency': builds see all of %s anyway", there[i]);
        for (size_t i = 0; i < ARRAY_SIZE(ours); i++)
                if (is_at_or_below(path, ours[i]))
                        return fail(line, "key 'dependency': a build has a %s of its own; put the folder elsewhere, such as /opt",
                                    ours[i]);
        return check_again(label, line, "dependency", path, list);
}

static int check_submodule(const char *label, unsigned line, const char *value, char *const *list)
{
        char path[PATH_SIZE];
        const char *repository;
        size_t n = recipe_submodule(value, &repository);
        int r;

        if (*repository == '\0' || n == 0)
                return fail(line, "key 'submodule': '%s' is not PATH=REPO", value);
        snprintf(path, sizeof(path), "%.*s", (int)n, value);
        r = check_path(label, line, "submodule", path);
        for (size_t i = 0; r == 0 && list[i]; i++)
                if (recipe_submodule(list[i], NULL) == n && strncmp(list[i], value, n) == 0)
                        r = fail(line, "key 'submodule': '%s' is given twice", path);
        return r;
}

static int check_download(const char *label, unsigned line, const char *value, char *const *list)
{
        struct digest d, other;
        struct slice name, taken;
        size_t n = recipe_download(value, &d, &name);

        if (digest_is_zero(&d) || n == 0)
                return fail(line, "key 'download': '%s' is not 'URL SHA256', with the 64 digits that sha256sum prints", value);
        if (name.size == 0 || name.size > 200 || *(const char *)name.data == '.')
                return fail(line, "key 'download': '%.*s' does not end in a file's name", (int)n, value);
        for (size_t i = 0; list[i]; i++) {
                recipe_download(list[i], &other, &taken);
                if (taken.size == name.size && memcmp(taken.data, name.data, name.size) == 0)
                        return fail(line, "key 'download': two files would both be /downloads/%.*s", (int)name.size,
                                    (const char *)name.data);
        }
        return 0;
}

/* The part behind the last '/' names the program, or the archive. */
static int check_file(const char *label, unsigned line, const char *value)
{
        if (*value != '/' && !strstr(value, "://"))
                return fail(line, "key 'file': '%s' is neither an absolute path nor a URL", value);
        if (strpbrk(value, *value == '/' ? "\n" : " \t\n") || value[strlen(value) - 1] == '/' || strlen(basename(value)) > 200)
                return fail(line, "key 'file': '%s' is no file's path or URL (no blanks in a URL, and a name at its end)", value);
        return 0;
}

static int check_digest(const char *label, unsigned line, const char *value)
{
        struct digest d;

        return digest_parse(value, &d) < 0 ? fail(line, "key 'sha256': '%s' is not the 64 digits that sha256sum prints", value) : 0;
}

static int check_paths(const char *label, const struct recipe_key *k, unsigned line, const char *value, char *const *list)
{
        const char *left_out = strcmp(k->name, "paths") == 0 ? paths_left_out(value) : NULL;
        int r = check_path(label, line, k->name, left_out ?: value);

        if (r == 0)
                r = check_again(label, line, k->name, value, list);
        if (r == 0 && strcmp(k->name, "output") == 0 && strings_count(list) >= RECIPE_OUTPUTS_MAX)
                r = fail(line, "key 'output': a build has at most %d", RECIPE_OUTPUTS_MAX);
        return r;
}

static int read_count(const char *text, uint64_t *ret)
{
        char *end;

        errno = 0;
        *ret = strtoull(text, &end, 10);
        if (!isdigit((unsigned char)*text) || *end != '\0' || errno != 0)
                return errorf(-EINVAL, "'%.40s' is not a whole number", text);
        return 0;
}

static int set_quantity(const char *label, const struct recipe_key *k, unsigned line, const char *text, void *field)
{
        uint64_t value;
        int r = k->kind == KIND_DURATION ? parse_duration(text, &value)
                : k->kind == KIND_SIZE   ? parse_size(text, &value)
                                         : read_count(text, &value);

        if (r < 0)
                return fail(line, "key '%s': %s", k->name, error_message(r));
        if (value < k->least || value > k->most) {
                char least[32], most[32];
                void (*format)(uint64_t, char[32]) = k->kind == KIND_DURATION ? format_duration : format_size;

                format(k->least, least);
                format(k->most, most);
                return fail(line, "key '%s': %s is not between %s and %s", k->name, text, least, most);
        }
        *(uint64_t *)field = value;
        return 0;
}

static int check_dialect(const char *label, unsigned line, const char *value)
{
        if (strcmp(value, "2.0") != 0 && strcmp(value, "2.5") != 0 && strcmp(value, "2.6") != 0)
                return fail(line, "key 'dialect': '%s' is none of 2.0, 2.5, 2.6", value);
        return 0;
}

static int set_format(const char *label, unsigned line, const char *value, enum format *field)
{
        for (*field = FORMAT_SMT2; *field <= FORMAT_ANY; (*field)++)
                if (strcmp(value, format_name(*field)) == 0)
                        return 0;
        return fail(line, "key 'format': '%s' is none of smt2, cnf and any", value);
}

int recipe_set_value(const char *label, const struct recipe_key *k, unsigned line, const char *value, struct recipe *r)
{
        char ***list = recipe_field(r, k), **text = (char **)list;
        int e = 0;

        switch (k->kind) {
        case KIND_RETIRED:
                return 0;
        case KIND_FORMAT:
                return set_format(label, line, value, recipe_field(r, k));
        case KIND_DURATION:
        case KIND_SIZE:
        case KIND_COUNT:
                return set_quantity(label, k, line, value, recipe_field(r, k));
        case KIND_FILE:
                e = check_file(label, line, value);
                break;
        case KIND_DIGEST:
                e = check_digest(label, line, value);
                break;
        case KIND_DIALECT:
                e = check_dialect(label, line, value);
                break;
        case KIND_PATHS:
                e = check_paths(label, k, line, value, *list);
                break;
        case KIND_PATTERNS:
                e = check_pattern(label, line, value);
                break;
        case KIND_VARIABLES:
                e = check_variable(label, line, value, *list);
                break;
        case KIND_FOLDERS:
                e = check_folder(label, line, value, *list);
                break;
        case KIND_SUBMODULES:
                e = check_submodule(label, line, value, *list);
                break;
        case KIND_DOWNLOADS:
                e = check_download(label, line, value, *list);
                break;
        case KIND_TEXT:
        case KIND_LINES:
                break;
        }
        if (e < 0)
                return e;
        if (recipe_key_repeats(k))
                return strings_add(list, value);
        free(*text);
        *text = copy_string(value);
        return 0;
}
