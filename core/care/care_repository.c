/* fsck of repositories: their files, objects and refs, and the config that names them. */
#include "core/care/care_internal.h"
#include "cache/base/fault.h"
#include "core/git/git.h"
#include "core/git/tree_walk.h"

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
        git_repository *repository;
        git_odb *odb;
        git_repository *upstream; /* has objects to put back; NULL: none on this machine */
        uint64_t restored;        /* with look_only those that can be */
        bool is_partial;

        uint32_t done, total; /* commits */
        struct tree_walk trees;
        const git_oid *commit; /* whose tree is looked at */
        uint64_t lost;
        char first_lost[PATH_SIZE + 128];
};

static bool write_object(git_odb *odb, git_odb_object *object)
{
        git_oid written;

        return git_odb_write(&written, odb, git_odb_object_data(object), git_odb_object_size(object), git_odb_object_type(object)) == 0;
}

/* Puts an object in the place of a damaged one, which libgit2 would take for the same. That one stays until this one is on the disk. */
static bool write_over(const struct objects *o, git_odb_object *object, const char *damaged)
{
        cleanup_free char *beside = format_string("%sobjects/put-back", o->path);
        cleanup_free char *file = format_string("%s%s", beside, damaged + strlen(o->path) + strlen("objects"));
        cleanup_git_odb git_odb *odb = NULL;
        git_odb_backend *loose = NULL;
        bool done = make_dirs(beside, 0700) == 0 && git_odb_new(&odb) == 0 && git_odb_backend_loose(&loose, beside, -1, 1, 0, 0) == 0 &&
                    git_odb_add_backend(odb, loose, 1) == 0 && write_object(odb, object) && rename(file, damaged) == 0 && sync_folder_of(damaged) == 0;

        remove_tree(beside);
        return done;
}

/* Copies an object from upstream; with look_only, says whether that can be done. `damaged`: the file in its place, or NULL. */
static bool put_back(struct objects *o, const git_oid *oid, const char *damaged)
{
        cleanup_git_odb git_odb *upstream = NULL;
        git_odb_object *object = NULL;
        bool done = o->upstream && git_repository_odb(&upstream, o->upstream) == 0 && git_odb_read(&object, upstream, oid) == 0 &&
                    (o->checking->look_only || (damaged ? write_over(o, object, damaged) : write_object(o->odb, object)));

        git_odb_object_free(object);
        o->restored += done;
        return done;
}

/* Looks up an object that is_there() has found: with look_only it may be upstream only. */
static git_object *look_up(const struct objects *o, const git_oid *oid, git_object_t type)
{
        git_object *ret = NULL;

        if (git_object_lookup(&ret, o->repository, oid, type) < 0 && o->upstream)
                git_object_lookup(&ret, o->upstream, oid, type);
        return ret;
}

static int check_pack(void *user, const char *folder, const char *name)
{
        struct objects *o = user;
        cleanup_free char *path = format_string("%s/%s", folder, name);
        struct checking *c = o->checking;
        bool right = false;
        int k, r;

        o->is_partial |= fnmatch("*.promisor", name, 0) == 0;
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
        cleanup_free char *path = format_string("%s/%s", folder, name);
        char hex[GIT_OID_HEXSZ + 1];
        git_odb_object *object = NULL;
        git_oid oid;
        int r;

        snprintf(hex, sizeof(hex), "%s%.38s", basename(folder), name);
        if (strlen(name) != GIT_OID_HEXSZ - 2 || oid_parse(hex, &oid) < 0)
                return 0;
        r = care_step(o->checking, o->what, o->checking->report->files++, 0);
        if (r == 0 && git_odb_read(&object, o->odb, &oid) < 0 && !put_back(o, &oid, path))
                care_say(o->checking->watch, "repositories", CARE_DAMAGED,
                         "%s is damaged: remove it, and run 'git -C %s fetch --refetch REPO', where REPO is a clone that has it", path, o->path);
        git_odb_object_free(object);
        return r;
}

static void objects_done(struct objects *o)
{
        git_repository_free(o->upstream);
        git_odb_free(o->odb);
        git_repository_free(o->repository);
        tree_walk_done(&o->trees);
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

static bool is_there(struct objects *o, const git_oid *oid, const char *path)
{
        if (git_odb_exists(o->odb, oid) || put_back(o, oid, NULL))
                return true;
        if (o->lost++ == 0)
                snprintf(o->first_lost, sizeof(o->first_lost), "%s of commit %s", *path ? path : "all", oid_text(o->commit));
        return false;
}

/* A damaged object has been reported with its file. */
static int check_object(void *user, const git_oid *oid, const char *path, git_tree **ret_tree)
{
        struct objects *o = user;

        if (is_there(o, oid, path) && ret_tree)
                *ret_tree = (git_tree *)look_up(o, oid, GIT_OBJECT_TREE);
        return ret_tree ? fault_at("fsck.folder") ?: care_step(o->checking, o->what, o->done, o->total) : 0;
}

static int check_commit(struct objects *o, const git_oid *oid)
{
        cleanup_git_object git_object *commit = look_up(o, oid, GIT_OBJECT_COMMIT);

        o->commit = oid;
        return commit ? tree_walk(&o->trees, git_commit_tree_id((git_commit *)commit)) : 0;
}

static void say_objects(const struct objects *o)
{
        const struct care_watch *watch = o->checking->watch;

        if (o->restored > 0)
                care_say(watch, "repositories", o->checking->look_only ? CARE_DAMAGED : CARE_REPAIRED,
                         "%s: %s %llu lost or damaged objects from its upstream", o->name,
                         o->checking->look_only ? "'solverfs fsck' puts back" : "put back", (unsigned long long)o->restored);
        if (o->lost > 0)
                care_say(watch, "repositories", o->is_partial ? CARE_NOTE : CARE_DAMAGED,
                         "%s: the repository lacks objects of its commits (%llu)%s, first %s: run 'git -C %s fetch --refetch REPO', where REPO "
                         "is a clone that has them",
                         o->name, (unsigned long long)o->lost, o->is_partial ? ", as it was made from a partial clone" : "", o->first_lost, o->path);
}

static int check_commits(struct objects *o, struct history *h)
{
        struct checking *c = o->checking;
        uint32_t lost = 0;
        char first[GIT_OID_HEXSZ + 1] = "";
        int r = 0;

        for (o->total = history_count(h); o->done < o->total && r == 0; o->done++) {
                git_oid oid;

                if (history_oids(h, o->done, 1, &oid) != 1)
                        continue;
                c->report->commits++;
                if (git_odb_exists(o->odb, &oid) || put_back(o, &oid, NULL))
                        r = check_commit(o, &oid);
                else if (lost++ == 0)
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
        cleanup(objects_done) struct objects objects = {.checking = c, .name = s->repository, .trees = {.take = check_object}};
        int r = history_check(s->history, s->recipe->repository, c->look_only, say_ref, c);

        if (r < 0)
                return r;
        r = history_repository(s->history, &objects.repository);
        c->report->repositories++;
        if (r < 0) {
                care_say(c->watch, "repositories", CARE_DAMAGED, "%s: %s", s->repository, error_message(r));
                return 0;
        }
        objects.trees.user = &objects;
        snprintf(objects.what, sizeof(objects.what), "repository %s", s->repository);
        objects.path = git_repository_path(objects.repository);
        if (git_repository_odb(&objects.odb, objects.repository) < 0)
                care_say(c->watch, "repositories", CARE_DAMAGED, "%s: its objects cannot be read: %s", s->repository, git_error_text());
        if (s->recipe->repository && history_open_local(s->recipe->repository, &objects.upstream) < 0)
                git_repository_free(steal_pointer(objects.upstream));
        r = check_files(&objects);
        if (r == 0 && objects.odb)
                r = check_commits(&objects, s->history);
        say_objects(&objects);
        return r;
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
static int check_left_out(struct checking *c)
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
                cleanup(solver_unrefp) struct solver *opened = NULL;

                if (workspace_solver(c->workspace, recipes[i]->name, &opened) == 0)
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
                r = check_left_out(c);
        for (size_t i = 0; r == 0 && i < l->n; i++)
                if (!l->list[i]->recipe->base) /* variants share their base's */
                        r = check_repository(c, l->list[i]);
        return r;
}
