/* fsck and gc for files that recipes name, stored in <store>/downloads by their sha256. */
#include <fcntl.h>
#include <sys/stat.h>

#include "core/care/care_internal.h"

/* -- which are wanted ------------------------------------------------------------------------------------------- */

static int add_wanted(void *user, const struct recipe_file *f)
{
        digest_list_add(user, f->digest.bytes);
        return 0;
}

int care_wanted_files(struct workspace *w, struct digest_list *ret)
{
        struct recipe **recipes;
        size_t n;
        int r = workspace_recipes(w, &recipes, &n);

        if (r < 0)
                return r;
        for (size_t i = 0; r == 0 && i < n; i++)
                r = recipe_each_file(recipes[i], add_wanted, ret);
        recipe_list_free(recipes, n);
        return r;
}

/* -- fsck ------------------------------------------------------------------------------------------------------- */

struct looking {
        struct checking *checking;
        const struct recipe *recipe;
};

/* 1: present and right. 0: absent. -EBADMSG: other bytes. -EIO: the disk has lost some. Other errors: it cannot be read, and may be sound. */
static int look_at_file(const char *path, const struct digest *expected)
{
        cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
        struct digest d;
        int r;

        if (fd < 0)
                return errno == ENOENT ? 0 : -errno;
        r = digest_of_fd(fd, &d, NULL);
        return r < 0 ? r : digest_equal(&d, expected) ? 1 : -EBADMSG;
}

static int check_file(void *user, const struct recipe_file *f)
{
        struct looking *l = user;
        struct checking *c = l->checking;
        cleanup_free char *path = format_string("%s/downloads/%s", workspace_dir(c->workspace), digest_text(&f->digest).s);
        int r = look_at_file(path, &f->digest);

        if (r == 0) {
                care_say(c->watch, "downloads", CARE_NOTE, "%.*s, which the recipe of %s names, is not in the store; 'solverfs solver update %s' gets it",
                           (int)f->name.size, (const char *)f->name.data, l->recipe->name, l->recipe->name);
        } else if (r == -EBADMSG || r == -EIO) {
                bool gone = !c->look_only && unlink(path) == 0;

                care_say(c->watch, "downloads", gone ? CARE_REPAIRED : CARE_DAMAGED,
                           "%.*s, which the recipe of %s names, is damaged%s; 'solverfs solver update %s' gets it again", (int)f->name.size,
                           (const char *)f->name.data, l->recipe->name, gone ? " and was deleted" : "", l->recipe->name);
        } else if (r < 0) {
                care_say(c->watch, "downloads", CARE_DAMAGED, "%s, which the recipe of %s names, cannot be read: %s", path, l->recipe->name, strerror(-r));
        }
        return care_step(c, "downloads", 0, 0);
}

int care_check_downloads(struct checking *c)
{
        struct looking l = {.checking = c};
        struct recipe **recipes;
        size_t n;
        int r = 0;

        if (workspace_recipes(c->workspace, &recipes, &n) < 0)
                return 0; /* the check of the config reports it */
        for (size_t i = 0; r == 0 && i < n; i++) {
                l.recipe = recipes[i];
                if (!recipes[i]->base || recipes[i]->within) /* other variants share their solver's */
                        r = recipe_each_file(recipes[i], check_file, &l);
        }
        recipe_list_free(recipes, n);
        return r;
}
