/* fsck of repositories: their files, objects and refs, and the config that names them. */
#include "core/care/care_internal.h"

#include <dirent.h>
#include <fcntl.h>
#include <nettle/sha1.h>
#include <sys/stat.h>

/* Packs and their indexes end in the SHA-1 of all that stands before (gitformat-pack(5)): one read tells every flipped bit. */
static int trailer_is_right(int dirfd, const char *name, bool *ret)
{
        cleanup_close int fd = openat(dirfd, name, O_RDONLY | O_CLOEXEC);
        uint8_t trailer[SHA1_DIGEST_SIZE], sum[SHA1_DIGEST_SIZE], block[1 << 16];
        struct sha1_ctx hash;
        struct stat st;
        off_t left;
        int r = 0;

        *ret = false;
        sha1_init(&hash);
        if (fd < 0 || fstat(fd, &st) < 0)
                r = -errno;
        left = r == 0 ? st.st_size - (off_t)sizeof(trailer) : -1;
        while (r == 0 && left > 0) {
                ssize_t n = read(fd, block, (size_t)MIN(left, (off_t)sizeof(block)));

                if (n <= 0)
                        r = n < 0 ? -errno : -EIO;
                else
                        sha1_update(&hash, (size_t)n, block);
                left -= n;
        }
        sha1_digest(&hash, sizeof(sum), sum);
        if (r == 0 && left == 0 && read(fd, trailer, sizeof(trailer)) == (ssize_t)sizeof(trailer))
                *ret = memcmp(sum, trailer, sizeof(trailer)) == 0;
        return r;
}

static bool ends_in(const char *name, const char *end)
{
        size_t n = strlen(name), m = strlen(end);

        return n > m && strcmp(name + n - m, end) == 0;
}

static int check_packs(struct checking *c, const char *name, const char *objects)
{
        char path[PATH_SIZE], what[128];
        struct dirent *e;
        DIR *dir;
        int r = path_join(path, objects, "pack");

        if (r < 0)
                return r;
        dir = opendir(path);
        if (!dir)
                return errno == ENOENT ? 0 : errorf(-errno, "cannot read %s: %s", path, strerror(errno));
        snprintf(what, sizeof(what), "repository %s", name);
        while (r == 0 && (e = readdir(dir))) {
                bool right;
                int k;

                if (!ends_in(e->d_name, ".pack") && !ends_in(e->d_name, ".idx"))
                        continue;
                r = care_step(c, what, c->report->files++, 0);
                k = r == 0 ? trailer_is_right(dirfd(dir), e->d_name, &right) : 0;
                if (r == 0 && k == -ENOENT) /* repacked meanwhile */
                        continue;
                if (r == 0 && (k < 0 || !right))
                        care_found(c, "repositories", CARE_DAMAGED,
                                   "%s/%s is damaged (%s): put it back from a backup, or take what a fresh clone has", path,
                                   e->d_name, k < 0 ? strerror(-k) : "its checksum is wrong");
        }
        closedir(dir);
        return r;
}

struct loose {
        struct checking *checking;
        const char *name, *objects;
        git_odb *odb;
};

/* objects/ab/cdef…: libgit2 verifies the hash of what it reads. */
static int check_loose_folder(struct loose *l, const char *prefix)
{
        char path[PATH_SIZE], hex[GIT_OID_HEXSZ + 1];
        struct dirent *e;
        DIR *dir;
        int r = path_join(path, l->objects, prefix);

        if (r < 0)
                return r;
        dir = opendir(path);
        if (!dir)
                return 0;
        while (r == 0 && (e = readdir(dir))) {
                git_odb_object *o = NULL;
                git_oid oid;

                if (strlen(e->d_name) != GIT_OID_HEXSZ - 2)
                        continue;
                snprintf(hex, sizeof(hex), "%s%.38s", prefix, e->d_name);
                if (git_oid_fromstr(&oid, hex) < 0)
                        continue;
                r = care_step(l->checking, l->name, l->checking->report->files++, 0);
                if (r == 0 && git_odb_read(&o, l->odb, &oid) < 0)
                        care_found(l->checking, "repositories", CARE_DAMAGED,
                                   "%s/%.2s/%s is damaged (%s): put it back from another clone", l->objects, hex, hex + 2,
                                   git_error_last() ? git_error_last()->message : "no reason given");
                git_odb_object_free(o);
        }
        closedir(dir);
        return r;
}

static int check_loose(struct checking *c, const char *name, const char *objects, git_odb *odb)
{
        struct loose l = {.checking = c, .name = name, .objects = objects, .odb = odb};
        char prefix[3];
        int r = 0;

        for (unsigned i = 0; i < 256 && r == 0; i++) {
                snprintf(prefix, sizeof(prefix), "%02x", i);
                r = check_loose_folder(&l, prefix);
        }
        return r;
}

static int check_commits(struct checking *c, const char *name, struct history *h, git_odb *odb)
{
        uint32_t n = history_count(h), lost = 0;
        char first[GIT_OID_HEXSZ + 1] = "", what[128];
        int r = 0;

        snprintf(what, sizeof(what), "repository %s", name);
        for (uint32_t i = 0; i < n && r == 0; i++) {
                git_oid oid;

                if (i % 1024 == 0)
                        r = care_step(c, what, i, n);
                if (r < 0 || history_oids(h, i, 1, &oid) != 1)
                        continue;
                c->report->commits++;
                if (git_odb_exists(odb, &oid))
                        continue;
                if (lost++ == 0)
                        git_oid_tostr(first, sizeof(first), &oid);
        }
        if (lost > 0)
                care_found(c, "repositories", CARE_DAMAGED,
                           "%s: the repository has lost %u commits that the index knows, %s the first: 'solverfs "
                           "solver update %s' fetches what upstream still has",
                           name, lost, first, name);
        return r;
}

static void say_ref(void *user, bool mended, const char *line)
{
        care_found(user, "repositories", mended ? CARE_REPAIRED : CARE_DAMAGED, "%s", line);
}

static int check_repository(struct checking *c, const struct solver *s)
{
        char objects[PATH_SIZE];
        git_repository *repository = NULL;
        git_odb *odb = NULL;
        int r = history_check(s->history, s->recipe->repository, c->look_only, say_ref, c);

        if (r < 0)
                return r;
        r = history_repository(s->history, &repository);
        c->report->repositories++;
        if (r < 0) {
                care_found(c, "repositories", CARE_DAMAGED, "%s: %s", s->repository, error_message(r));
                return 0;
        }
        if (snprintf(objects, sizeof(objects), "%sobjects", git_repository_path(repository)) >= (int)sizeof(objects))
                r = -ENAMETOOLONG;
        if (r == 0)
                r = check_packs(c, s->repository, objects);
        if (r == 0 && git_repository_odb(&odb, repository) < 0)
                care_found(c, "repositories", CARE_DAMAGED, "%s: its objects cannot be read: %s", s->repository,
                           git_error_last() ? git_error_last()->message : "no reason given");
        if (r == 0 && odb)
                r = check_loose(c, s->repository, objects, odb);
        if (r == 0 && odb)
                r = check_commits(c, s->repository, s->history, odb);
        git_odb_free(odb);
        git_repository_free(repository);
        return r;
}

static bool is_listed(const struct solver_list *l, const char *name)
{
        for (size_t i = 0; i < l->n; i++)
                if (strcmp(l->list[i]->recipe->name, name) == 0)
                        return true;
        return false;
}

/* Solvers of the config that could not be opened. */
static int check_left_out(struct checking *c, const struct solver_list *l)
{
        struct recipe **recipes;
        char path[PATH_SIZE];
        size_t n;
        int r = workspace_recipes(c->workspace, &recipes, &n);

        if (r == -ENODATA) /* said before */
                return 0;
        if (r < 0) {
                care_found(c, "repositories", CARE_DAMAGED, "%s", error_message(r));
                return 0;
        }
        for (size_t i = 0; i < n; i++) {
                const char *base = recipes[i]->base ? recipes[i]->base : recipes[i]->name;
                git_repository *repository = NULL;

                if (is_listed(l, recipes[i]->name) ||
                    snprintf(path, sizeof(path), "%s/repos/%s.git", workspace_dir(c->workspace), base) >= (int)sizeof(path))
                        continue;
                care_found(c, "repositories", CARE_DAMAGED,
                           "solver %s cannot be opened (%s): put %s back from a backup or a fresh clone", recipes[i]->name,
                           git_repository_open_bare(&repository, path) < 0 && git_error_last() ? git_error_last()->message
                                                                                               : "its index does not fit it",
                           path);
                git_repository_free(repository);
        }
        recipe_list_free(recipes, n);
        return 0;
}

static void check_config(struct checking *c)
{
        int r = workspace_check_config(c->workspace, c->look_only);

        if (r != 0)
                care_found(c, "config", r > 0 && !c->look_only ? CARE_REPAIRED : CARE_DAMAGED, "%s",
                           error_message(r > 0 ? -EUCLEAN : r));
}

int care_check_repositories(struct checking *c)
{
        cleanup(solver_list_unrefp) struct solver_list *l = NULL;
        int r = workspace_solvers(c->workspace, &l);

        check_config(c);
        if (r == 0)
                r = check_left_out(c, l);
        for (size_t i = 0; r == 0 && i < l->n; i++)
                if (!l->list[i]->recipe->base) /* variants share their base's */
                        r = check_repository(c, l->list[i]);
        return r;
}
