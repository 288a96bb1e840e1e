/* fsck of repositories: their files, objects and refs, and the config that names them. */
#include "core/care/care_internal.h"
#include "core/git/git.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <nettle/sha1.h>
#include <sys/stat.h>

/* Packs and their indexes end in the SHA-1 of all that precedes it (gitformat-pack(5)): one read finds every flipped bit. */
static int trailer_is_right(const char *path, bool *ret)
{
        cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC);
        uint8_t trailer[SHA1_DIGEST_SIZE], sum[SHA1_DIGEST_SIZE], block[1 << 16];
        struct sha1_ctx hash;
        struct stat st;
        off_t left;

        *ret = false;
        if (fd < 0 || fstat(fd, &st) < 0)
                return -errno;
        sha1_init(&hash);
        for (left = st.st_size - (off_t)sizeof(trailer); left > 0;) {
                ssize_t n = read(fd, block, (size_t)MIN(left, (off_t)sizeof(block)));

                if (n <= 0)
                        return n < 0 ? -errno : -EIO;
                sha1_update(&hash, (size_t)n, block);
                left -= n;
        }
        sha1_digest(&hash, sizeof(sum), sum);
        *ret = left == 0 && read(fd, trailer, sizeof(trailer)) == (ssize_t)sizeof(trailer) && memcmp(sum, trailer, sizeof(trailer)) == 0;
        return 0;
}

/* The objects of a repository. */
struct objects {
        struct checking *checking;
        const char *name;
        char what[128];
        const char *path; /* of the repository, with a slash at its end */
        git_odb *odb;
};

static int check_pack(void *user, const char *folder, const char *name)
{
        struct objects *o = user;
        cleanup_free char *path = format_string("%s/%s", folder, name);
        struct checking *c = o->checking;
        bool right = false;
        int k, r;

        if (fnmatch("*.pack", name, 0) != 0 && fnmatch("*.idx", name, 0) != 0)
                return 0;
        r = care_step(c, o->what, c->report->files++, 0);
        if (r < 0)
                return r;
        k = trailer_is_right(path, &right);
        if (k != -ENOENT && (k < 0 || !right)) /* ENOENT: repacked meanwhile */
                care_say(c->watch, "repositories", CARE_DAMAGED, "%s is damaged (%s): put it back from a backup, or take what a fresh clone has", path,
                           k < 0 ? strerror(-k) : "its checksum is wrong");
        return 0;
}

/* objects/ab/cdef…: libgit2 verifies the hash of what it reads. */
static int check_loose(void *user, const char *folder, const char *name)
{
        struct objects *o = user;
        char hex[GIT_OID_HEXSZ + 1];
        git_odb_object *object = NULL;
        git_oid oid;
        int r;

        snprintf(hex, sizeof(hex), "%s%.38s", basename(folder), name);
        if (strlen(name) != GIT_OID_HEXSZ - 2 || oid_parse(hex, &oid) < 0)
                return 0;
        r = care_step(o->checking, o->what, o->checking->report->files++, 0);
        if (r == 0 && git_odb_read(&object, o->odb, &oid) < 0)
                care_say(o->checking->watch, "repositories", CARE_DAMAGED, "%s/%s is damaged (%s): put it back from another clone", folder, name,
                         git_error_text());
        git_odb_object_free(object);
        return r;
}

static int check_files(struct objects *o)
{
        cleanup_free char *packs = format_string("%sobjects/pack", o->path);
        int r = folder_each(packs, check_pack, o);

        for (unsigned i = 0; i < 256 && r == 0 && o->odb; i++) {
                cleanup_free char *folder = format_string("%sobjects/%02x", o->path, i);

                r = folder_each(folder, check_loose, o);
        }
        return r;
}

static int check_commits(struct objects *o, struct history *h)
{
        struct checking *c = o->checking;
        uint32_t n = history_count(h), lost = 0;
        char first[GIT_OID_HEXSZ + 1] = "";
        int r = 0;

        for (uint32_t i = 0; i < n && r == 0; i++) {
                git_oid oid;

                if (i % 1024 == 0)
                        r = care_step(c, o->what, i, n);
                if (r < 0 || history_oids(h, i, 1, &oid) != 1)
                        continue;
                c->report->commits++;
                if (git_odb_exists(o->odb, &oid))
                        continue;
                if (lost++ == 0)
                        oid_print(first, sizeof(first), &oid);
        }
        if (lost > 0)
                care_say(c->watch, "repositories", CARE_DAMAGED,
                           "%s: the repository has lost %u commits that the index knows, %s the first: run 'git fetch "
                           "--refetch' twice in %s to get back what upstream still has",
                           o->name, lost, first, o->path);
        return r;
}

static void say_ref(void *user, bool mended, const char *line)
{
        care_say(((struct checking *)user)->watch, "repositories", mended ? CARE_REPAIRED : CARE_DAMAGED, "%s", line);
}

static int check_repository(struct checking *c, const struct solver *s)
{
        struct objects objects = {.checking = c, .name = s->repository};
        cleanup_git_repository git_repository *repository = NULL;
        int r = history_check(s->history, s->recipe->repository, c->look_only, say_ref, c);

        if (r < 0)
                return r;
        r = history_repository(s->history, &repository);
        c->report->repositories++;
        if (r < 0) {
                care_say(c->watch, "repositories", CARE_DAMAGED, "%s: %s", s->repository, error_message(r));
                return 0;
        }
        snprintf(objects.what, sizeof(objects.what), "repository %s", s->repository);
        objects.path = git_repository_path(repository);
        if (git_repository_odb(&objects.odb, repository) < 0)
                care_say(c->watch, "repositories", CARE_DAMAGED, "%s: its objects cannot be read: %s", s->repository, git_error_text());
        r = check_files(&objects);
        if (r == 0 && objects.odb)
                r = check_commits(&objects, s->history);
        git_odb_free(objects.odb);
        return r;
}

static bool is_listed(const struct solver_list *l, const char *name)
{
        for (size_t i = 0; i < l->n; i++)
                if (strcmp(l->list[i]->recipe->name, name) == 0)
                        return true;
        return false;
}

/* A solver that was left out, though its repository can be opened: a mistake in the config, whose line is among the workspace's. */
static void say_mistake(struct checking *c, const char *name)
{
        cleanup_buffer struct buffer all = {0};
        cleanup_free char *begin = format_string("solver %.64s is left out: ", name);
        const char *line;

        workspace_mistakes(c->workspace, &all);
        line = all.data ? strstr(all.data, begin) : NULL;
        care_say(c->watch, "config", CARE_DAMAGED, "%.*s", line ? (int)strcspn(line, "\n") : (int)strlen(begin) - 2, line ?: begin);
}

/* Reports solvers of the config that could not be opened. */
static int check_left_out(struct checking *c, const struct solver_list *l)
{
        struct recipe **recipes;
        size_t n;
        int r = workspace_recipes(c->workspace, &recipes, &n);

        if (r == -ENODATA) /* already reported */
                return 0;
        if (r < 0) {
                care_say(c->watch, "config", CARE_DAMAGED, "%s", error_message(r));
                return 0;
        }
        for (size_t i = 0; i < n; i++) {
                const char *base = recipes[i]->base ? recipes[i]->base : recipes[i]->name;
                cleanup_free char *path = format_string("%s/repos/%s.git", workspace_dir(c->workspace), base);
                cleanup_git_repository git_repository *repository = NULL;

                if (is_listed(l, recipes[i]->name))
                        continue;
                if (git_repository_open_bare(&repository, path) < 0)
                        care_say(c->watch, "repositories", CARE_DAMAGED, "solver %s cannot be opened (%s): put %s back from a backup or a fresh clone",
                                 recipes[i]->name, git_error_text(), path);
                else
                        say_mistake(c, recipes[i]->name);
        }
        recipe_list_free(recipes, n);
        return 0;
}

int care_check_repositories(struct checking *c)
{
        cleanup(solver_list_unrefp) struct solver_list *l = NULL;
        int r = workspace_solvers(c->workspace, &l), config = workspace_check_config(c->workspace, c->look_only);

        if (config != 0)
                care_say(c->watch, "config", config > 0 && !c->look_only ? CARE_REPAIRED : CARE_DAMAGED, "%s",
                         error_message(config > 0 ? -EUCLEAN : config));
        if (r == 0)
                r = check_left_out(c, l);
        for (size_t i = 0; r == 0 && i < l->n; i++)
                if (!l->list[i]->recipe->base) /* variants share their base's */
                        r = check_repository(c, l->list[i]);
        return r;
}
