/* fsck. Each area is a function; a finding never ends the check, what makes going on pointless (no memory, the disk gone) does. */
#include "care_internal.h"

#include <dirent.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <sys/stat.h>

struct checking {
        struct workspace *workspace;
        bool look_only;
        const struct care_watch *watch;
        struct care_report *report;

        const char *area;        /* of say() */
        enum care_kind kind;     /* of say() */
        struct digest *programs; /* outputs of builds that went well, malloc'd */
        size_t n_programs, programs_capacity;
};

const char *care_kind_name(enum care_kind k)
{
        static const char *const names[] = {"note", "repaired", "damaged"};

        return names[k];
}

static void found(struct checking *c, const char *area, enum care_kind kind, const char *format, ...) printf_like(4, 5);
static void found(struct checking *c, const char *area, enum care_kind kind, const char *format, ...)
{
        char text[2048];
        va_list args;

        va_start(args, format);
        vsnprintf(text, sizeof(text), format, args);
        va_end(args);
        c->report->damaged += kind == CARE_DAMAGED;
        c->report->repaired += kind == CARE_REPAIRED;
        c->watch->found(c->watch->user, &(struct care_finding){.area = area, .kind = kind, .text = text});
}

/* For the modules' own checks, which say a line for each thing that is wrong. */
static void say(void *user, const char *line)
{
        struct checking *c = user;

        found(c, c->area, c->kind, "%s", line);
}

static int step(struct checking *c, const char *what, uint64_t done, uint64_t total)
{
        return progress_step(c->watch->progress, what, done, total);
}

/* -- the store's values ----------------------------------------------------------------------------------------- */

static int check_store(struct checking *c)
{
        struct store *store = workspace_store(c->workspace);
        int r;

        c->area = "store";
        c->kind = c->look_only ? CARE_DAMAGED : CARE_REPAIRED;
        r = store_check(store, c->look_only, &c->report->store, say, c);
        if (r != -EIO || c->look_only)
                return r;
        /* Pages of the index: the next transaction makes it anew, which is then looked at. */
        return store_check(store, false, &c->report->store, say, c);
}

/* -- builds and facts ------------------------------------------------------------------------------------------- */

/* A value whose checksum is right and that cannot be read was not damaged by the disk: it is left where it is, for a solverfs that can. */
static void unreadable(struct checking *c, const char *area, struct slice key)
{
        char hex[2 * 16 + 1];
        size_t n = MIN(key.size, (size_t)16);

        for (size_t i = 0; i < n; i++)
                snprintf(hex + 2 * i, 3, "%02x", ((const uint8_t *)key.data)[i]);
        hex[2 * n] = '\0';
        found(c, area, CARE_DAMAGED,
              "the entry %s cannot be read, though its checksum is right; a newer solverfs may have written it: it is kept, and "
              "worked out again when asked for",
              hex);
}

static int remember_program(struct checking *c, const struct digest *id)
{
        if (c->n_programs == c->programs_capacity) {
                size_t capacity = MAX(2 * c->programs_capacity, (size_t)64);
                struct digest *grown = reallocarray(c->programs, capacity, sizeof(*grown));

                if (!grown)
                        return -ENOMEM;
                c->programs = grown;
                c->programs_capacity = capacity;
        }
        c->programs[c->n_programs++] = *id;
        return 0;
}

static int look_at_build(void *user, struct slice key, struct slice value)
{
        struct checking *c = user;
        cleanup(build_record_unrefp) struct build_record *record = NULL;
        int r = build_record_decode(value, true, &record);

        if (r == -ENOMEM)
                return r;
        c->report->builds++;
        if (r < 0) {
                unreadable(c, "builds", key);
                return 0;
        }
        r = 0;
        for (size_t i = 0; record->ok && i < record->n_outputs && r == 0; i++)
                r = remember_program(c, &record->outputs[i].id);
        return r;
}

static int look_at_fact(void *user, struct slice key, struct slice value)
{
        struct checking *c = user;
        cleanup(fact_unrefp) struct fact *f = NULL;
        int r = fact_decode(value, false, &f);

        if (r == -ENOMEM)
                return r;
        if (r < 0)
                unreadable(c, "facts", key);
        return ++c->report->facts % 1024 == 0 ? step(c, "measurements", c->report->facts, 0) : 0;
}

static int each_value(struct checking *c, enum table table, store_each_fn fn)
{
        cleanup_txn struct store_txn *t = NULL;
        int r = store_read(workspace_store(c->workspace), &t);

        return r < 0 ? r : store_each(t, table, SLICE("", 0), SLICE("", 0), true, fn, c);
}

/* -- programs --------------------------------------------------------------------------------------------------- */

static int by_bytes(const void *a, const void *b)
{
        return memcmp(a, b, DIGEST_SIZE);
}

/* Without changing anything one can only see whether all that it is a delta against is there; the bytes of each link were checked with the
 * store's values. */
static int look_at_chain(struct programs *p, const struct digest *id)
{
        struct digest next = *id;

        for (;;) {
                struct digest base;
                uint64_t stored;
                unsigned depth;
                int r = programs_info(p, &next, &stored, &depth, &base);

                if (r < 0 || digest_is_zero(&base))
                        return r;
                next = base;
        }
}

/* Takes it out of the store, which verifies it; a damaged one is dropped on the way (programs.h). A copy that is there already would be
 * handed out unread, so it goes first, unless somebody uses it, in which case the chain is looked at. */
static int take_out(struct checking *c, const struct digest *id)
{
        struct programs *programs = workspace_programs(c->workspace);
        cleanup_close int fd = -1;
        char dir[PATH_SIZE], path[PATH_SIZE], hex[DIGEST_HEX_SIZE];
        int r = path_join(dir, workspace_dir(c->workspace), "programs");

        digest_hex(id, hex);
        if (r == 0)
                r = path_join(path, dir, hex);
        if (r < 0)
                return r;
        if (c->look_only || (!care_take_copy(path, NULL) && access(path, F_OK) == 0))
                return look_at_chain(programs, id);
        return programs_get(programs, id, &fd, NULL);
}

static int check_programs(struct checking *c)
{
        uint64_t absent = 0;
        int r = 0;

        qsort(c->programs, c->n_programs, sizeof(*c->programs), by_bytes);
        for (size_t i = 0; i < c->n_programs && r == 0; i++) {
                const struct digest *id = &c->programs[i];
                char hex[DIGEST_HEX_SIZE];

                if (i > 0 && digest_equal(id, id - 1))
                        continue;
                r = step(c, "programs", i, c->n_programs);
                if (r < 0)
                        break;
                if (!programs_has(workspace_programs(c->workspace), id)) {
                        absent++;
                        continue;
                }
                c->report->programs++;
                r = take_out(c, id);
                if (r != -ENOENT && r != -EIO && r != -EBADMSG)
                        continue;
                digest_hex(id, hex);
                found(c, "programs", c->look_only ? CARE_DAMAGED : CARE_REPAIRED,
                      "program %.12s did not come out right%s; its build is done again when asked for", hex,
                      c->look_only ? "" : " and was dropped");
                r = 0;
        }
        if (absent > 0)
                found(c, "programs", CARE_NOTE,
                      "%llu programs are not kept (gc took them, or they were damaged): built again when asked for",
                      (unsigned long long)absent);
        return r;
}

/* -- cases ------------------------------------------------------------------------------------------------------ */

static int check_cases(struct checking *c)
{
        cleanup_free uint32_t *ids = NULL;
        uint64_t lost, bytes;
        size_t n;
        int r = cases_list(workspace_cases(c->workspace), &ids, &n);

        if (r < 0)
                return r;
        c->report->cases = n;
        c->area = "cases";
        c->kind = CARE_DAMAGED;
        r = cases_check(workspace_cases(c->workspace), say, c);
        if (r > 0)
                found(c, "cases", CARE_NOTE,
                      "a damaged case is put right by adding the same file again with 'solverfs case add'");
        if (r >= 0)
                r = cases_sweep(workspace_cases(c->workspace), true, &lost, &bytes);
        if (r == 0 && lost > 0)
                found(c, "cases", CARE_NOTE, CARE_LOST_CASES, (unsigned long long)lost, (unsigned long long)bytes);
        return r < 0 ? r : 0;
}

/* -- repositories ----------------------------------------------------------------------------------------------- */

/* Packs and their indexes end in the SHA-1 of all that stands before (gitformat-pack(5)): one read tells every flipped bit. */
static int trailer_is_right(int dirfd, const char *name, bool *ret)
{
        cleanup_close int fd = openat(dirfd, name, O_RDONLY | O_CLOEXEC);
        uint8_t trailer[20], sum[EVP_MAX_MD_SIZE], block[1 << 16];
        EVP_MD_CTX *hash = EVP_MD_CTX_new();
        struct stat st;
        off_t left;
        int r = 0;

        *ret = false;
        if (!hash || EVP_DigestInit_ex(hash, EVP_sha1(), NULL) != 1)
                r = -ENOMEM;
        else if (fd < 0 || fstat(fd, &st) < 0)
                r = -errno;
        left = r == 0 ? st.st_size - (off_t)sizeof(trailer) : -1;
        while (r == 0 && left > 0) {
                ssize_t n = read(fd, block, (size_t)MIN(left, (off_t)sizeof(block)));

                if (n <= 0)
                        r = n < 0 ? -errno : -EIO;
                else if (EVP_DigestUpdate(hash, block, (size_t)n) != 1)
                        r = -EIO;
                left -= n;
        }
        if (r == 0 && left == 0 && EVP_DigestFinal_ex(hash, sum, NULL) == 1 &&
            read(fd, trailer, sizeof(trailer)) == (ssize_t)sizeof(trailer))
                *ret = memcmp(sum, trailer, sizeof(trailer)) == 0;
        EVP_MD_CTX_free(hash);
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
                r = step(c, what, c->report->files++, 0);
                k = r == 0 ? trailer_is_right(dirfd(dir), e->d_name, &right) : 0;
                if (r == 0 && k == -ENOENT) /* repacked meanwhile */
                        continue;
                if (r == 0 && (k < 0 || !right))
                        found(c, "repositories", CARE_DAMAGED,
                              "%s/%s is damaged (%s): put it back from a backup, or take what a fresh clone has", path, e->d_name,
                              k < 0 ? strerror(-k) : "its checksum is wrong");
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
                r = step(l->checking, l->name, l->checking->report->files++, 0);
                if (r == 0 && git_odb_read(&o, l->odb, &oid) < 0)
                        found(l->checking, "repositories", CARE_DAMAGED,
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
                        r = step(c, what, i, n);
                if (r < 0 || history_oids(h, i, 1, &oid) != 1)
                        continue;
                c->report->commits++;
                if (git_odb_exists(odb, &oid))
                        continue;
                if (lost++ == 0)
                        git_oid_tostr(first, sizeof(first), &oid);
        }
        if (lost > 0)
                found(c, "repositories", CARE_DAMAGED,
                      "%s: the repository has lost %u commits that the index knows, %s the first: 'solverfs "
                      "solver update %s' fetches what upstream still has",
                      name, lost, first, name);
        return r;
}

static void say_ref(void *user, bool mended, const char *line)
{
        found(user, "repositories", mended ? CARE_REPAIRED : CARE_DAMAGED, "%s", line);
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
                found(c, "repositories", CARE_DAMAGED, "%s: %s", s->repository, error_message(r));
                return 0;
        }
        if (snprintf(objects, sizeof(objects), "%sobjects", git_repository_path(repository)) >= (int)sizeof(objects))
                r = -ENAMETOOLONG;
        if (r == 0)
                r = check_packs(c, s->repository, objects);
        if (r == 0 && git_repository_odb(&odb, repository) < 0)
                found(c, "repositories", CARE_DAMAGED, "%s: its objects cannot be read: %s", s->repository,
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
                found(c, "repositories", CARE_DAMAGED, "%s", error_message(r));
                return 0;
        }
        for (size_t i = 0; i < n; i++) {
                const char *base = recipes[i]->base ? recipes[i]->base : recipes[i]->name;
                git_repository *repository = NULL;

                if (is_listed(l, recipes[i]->name) ||
                    snprintf(path, sizeof(path), "%s/repos/%s.git", workspace_dir(c->workspace), base) >= (int)sizeof(path))
                        continue;
                found(c, "repositories", CARE_DAMAGED,
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
                found(c, "config", r > 0 && !c->look_only ? CARE_REPAIRED : CARE_DAMAGED, "%s",
                      error_message(r > 0 ? -EUCLEAN : r));
}

static int check_repositories(struct checking *c)
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

/* -- all -------------------------------------------------------------------------------------------------------- */

static int check_builds(struct checking *c)
{
        return each_value(c, TABLE_BUILDS, look_at_build);
}

static int check_facts(struct checking *c)
{
        return each_value(c, TABLE_FACTS, look_at_fact);
}

int care_check(struct workspace *w, bool look_only, const struct care_watch *watch, struct care_report *ret)
{
        static const struct {
                const char *what;
                int (*check)(struct checking *c);
        } areas[] = {
                {"the store's values", check_store}, {"builds", check_builds}, {"measurements", check_facts},
                {"programs", check_programs},        {"cases", check_cases},   {"repositories", check_repositories},
        };
        struct checking c = {
                .workspace = w, .look_only = look_only || store_read_only(workspace_store(w)), .watch = watch, .report = ret};
        int r = 0;

        *ret = (struct care_report){0};
        for (size_t i = 0; i < ARRAY_SIZE(areas) && r == 0; i++) {
                r = step(&c, areas[i].what, 0, 0);
                if (r == 0)
                        r = areas[i].check(&c);
        }
        free(c.programs);
        return r;
}
