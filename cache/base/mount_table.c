#include "cache/base/mount_table.h"

#include <mntent.h>

/* The kernel writes '#' in a source as \043, which getmntent_r() leaves as it is. */
static void restore_number_signs(char *source)
{
        for (char *at = source; (at = strstr(at, "\\043")); at++) {
                *at = '#';
                memmove(at + 1, at + 4, strlen(at + 4) + 1);
        }
}

/* libfuse and fusermount3 write the user's id into the options. */
static uid_t user_of(const struct mntent *m)
{
        const char *option = hasmntopt(m, "user_id"), *value = option ? strchr(option, '=') : NULL;

        return value ? (uid_t)strtoul(value + 1, NULL, 10) : 0;
}

int mount_table_each(int (*fn)(void *user, const struct mount_entry *m), void *user)
{
        FILE *f = setmntent("/proc/self/mounts", "re");
        char text[4 * PATH_SIZE];
        struct mntent m;
        int r = 0;

        if (!f)
                return errorf(errno == ENOENT ? -ENODEV : -errno, "cannot read /proc/self/mounts: %s", strerror(errno)); /* not: no mount of ours */
        while (r == 0 && getmntent_r(f, &m, text, sizeof(text))) {
                restore_number_signs(m.mnt_fsname);
                r = fn(user,
                       &(struct mount_entry){.path = m.mnt_dir, .source = m.mnt_fsname, .type = m.mnt_type, .user = user_of(&m)});
        }
        endmntent(f);
        return r;
}

static int is_ours(void *path, const struct mount_entry *m)
{
        return strcmp(m->type, MOUNT_TYPE) == 0 && path_is_in(path, m->path);
}

bool mount_table_has(const char *path)
{
        return mount_table_each(is_ours, (void *)path) > 0;
}
