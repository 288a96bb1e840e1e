/* Campaigns in the store: the table of settings and status, and their folders. */
#include "core/study/observation/observation_internal.h"

#include <fcntl.h>
#include <sys/file.h>

#include "core/run/host.h"
#include "core/study/observation/finding_compared.h"

/* In TABLE_CAMPAIGNS: 's' solver(4) name → settings, 't' solver(4) name → status */
#define KEY_MOST (5 + CAMPAIGN_NAME_MOST + 1)

static struct slice key_of(uint8_t key[KEY_MOST], char kind, uint32_t solver, const char *name)
{
        key[0] = (uint8_t)kind;
        key_u32(key + 1, solver);
        memcpy(key + 5, name, strlen(name));
        return SLICE(key, 5 + strlen(name));
}

int campaign_check_name(const char *name)
{
        size_t n = strlen(name);

        if (n == 0 || n > CAMPAIGN_NAME_MOST || name[0] == '.')
                return errorf(-EINVAL, "'%s' is not a name for a campaign: 1 to %d bytes, the first not a point", name, CAMPAIGN_NAME_MOST);
        if (strcmp(name, COMPARED_ORIGIN) == 0)
                return errorf(-EINVAL, "'%s' is not a name for a campaign: findings of 'compare --keep' have it", name);
        for (size_t i = 0; i < n; i++)
                if (name[i] == '/' || (unsigned char)name[i] <= ' ' || (unsigned char)name[i] == 127)
                        return errorf(-EINVAL, "the name of a campaign has no blanks, slashes or control characters: '%s'", name);
        return 0;
}

static int put_json(struct workspace *w, char kind, uint32_t solver, const char *name, json_t *j)
{
        cleanup_free char *text = json_dumps(j, JSON_COMPACT);
        uint8_t key[KEY_MOST];

        json_decref(j);
        if (!text)
                return errorf(-EINVAL, "a path or version of the campaign %s has bytes that are no UTF-8, which its record cannot keep: rename it", name);
        return store_set(workspace_store(w), TABLE_CAMPAIGNS, key_of(key, kind, solver, name), slice_string(text));
}

static int get_json(struct workspace *w, char kind, uint32_t solver, const char *name, json_t **ret)
{
        cleanup_blob struct blob b = {0};
        uint8_t key[KEY_MOST];
        int r = strlen(name) > CAMPAIGN_NAME_MOST ? -ENOENT
                                        : store_fetch(workspace_store(w), TABLE_CAMPAIGNS, key_of(key, kind, solver, name), &b);

        if (r == -ENOENT)
                return errorf(r, "there is no campaign '%s'", name);
        if (r < 0)
                return r;
        *ret = json_loadb(b.data, b.size, 0, NULL);
        return *ret ? 0 : errorf(-EIO, "the record of the campaign %s is damaged", name);
}

int campaign_put_settings(struct workspace *w, uint32_t solver, const struct campaign_settings *s)
{
        return put_json(w, 's', solver, s->name, campaign_settings_json(s));
}

int campaign_put_status(struct workspace *w, uint32_t solver, const char *name, const struct campaign_status *s)
{
        return put_json(w, 't', solver, name, campaign_status_json(s));
}

int campaign_get(struct workspace *w, uint32_t solver, const char *name, struct campaign_settings *ret_settings, struct campaign_status *ret_status)
{
        json_t *status = NULL, *settings = NULL;
        int r = 0;

        if (ret_status) {
                *ret_status = (struct campaign_status){0};
                r = get_json(w, 't', solver, name, &status);
                if (r == 0)
                        r = campaign_status_from_json(status, name, ret_status);
                else if (r == -ENOENT && ret_settings)
                        r = 0; /* the campaign was killed before it had one */
        }
        if (r == 0 && ret_settings)
                r = get_json(w, 's', solver, name, &settings);
        if (r == 0 && ret_settings)
                r = campaign_settings_from_json(settings, name, ret_settings);
        json_decref(status);
        json_decref(settings);
        return r;
}

int campaign_names(struct workspace *w, uint32_t solver, char ***ret, size_t *ret_n)
{
        uint8_t key[KEY_MOST];
        cleanup_walk struct store_walk each = {.store = workspace_store(w), .table = TABLE_CAMPAIGNS, .prefix = key_of(key, 's', solver, ""), .keys_only = true};
        int r;

        *ret = allocate(1, sizeof(**ret));
        while ((r = store_walk(&each)) > 0) {
                cleanup_free char *name = copy_prefix((const char *)each.key.data + 5, each.key.size - 5);

                strings_add(ret, name);
        }
        *ret_n = strings_count(*ret);
        return r;
}

int campaign_folder(struct workspace *w, const char *solver, const char *name, char ret[PATH_SIZE])
{
        char dir[PATH_SIZE];
        int n = snprintf(dir, sizeof(dir), "campaigns/%s/%s", solver, name);

        return n >= PATH_SIZE ? -ENAMETOOLONG : campaign_check_name(name) ?: path_join(ret, workspace_dir(w), dir);
}

static int file_of(struct workspace *w, const char *solver, const char *name, const char *file, char ret[PATH_SIZE])
{
        char folder[PATH_SIZE];

        return campaign_folder(w, solver, name, folder) ?: path_join(ret, folder, file);
}

bool campaign_is_running(struct workspace *w, const char *solver, const char *name)
{
        cleanup_close int fd = -1;
        char path[PATH_SIZE];

        if (file_of(w, solver, name, "journal", path) < 0)
                return false;
        fd = open(path, O_RDONLY | O_CLOEXEC);
        return fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) < 0; /* as campaign_journal.c locks it */
}

int campaign_machine(struct workspace *w, const char *solver, const char *name, char ret[PATH_SIZE])
{
        cleanup_blob struct blob b = {0};
        char path[PATH_SIZE];
        int r = file_of(w, solver, name, "machine", path) ?: read_file(path, PATH_SIZE - 1, &b);

        if (r == 0)
                snprintf(ret, PATH_SIZE, "%.*s", (int)b.size, (const char *)b.data);
        return r;
}

bool campaign_is_elsewhere(struct workspace *w, const char *solver, const char *name, char ret_machine[PATH_SIZE])
{
        return campaign_machine(w, solver, name, ret_machine) == 0 && *ret_machine && strcmp(ret_machine, host_machine()) != 0;
}

int campaign_put_conditions(struct workspace *w, const char *solver, const char *name, const json_t *conditions)
{
        cleanup_free char *text = json_dumps(conditions, JSON_INDENT(1) | JSON_SORT_KEYS);
        char path[PATH_SIZE];

        return file_of(w, solver, name, "conditions", path) ?: write_file_atomic(path, text, strlen(text), 0600);
}

json_t *campaign_get_conditions(struct workspace *w, const char *solver, const char *name)
{
        char path[PATH_SIZE];

        return file_of(w, solver, name, "conditions", path) == 0 ? json_load_file(path, 0, NULL) : NULL;
}
