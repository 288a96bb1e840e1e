/* fsck. Each area is a function; a finding never ends the check, what makes going on pointless (no memory, the disk gone) does. */
#include "core/care/care_internal.h"

const char *care_kind_name(enum care_kind k)
{
        static const char *const names[] = {"note", "repaired", "damaged"};

        return names[k];
}

void care_found(struct checking *c, const char *area, enum care_kind kind, const char *format, ...)
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

        care_found(c, c->area, c->kind, "%s", line);
}

int care_step(struct checking *c, const char *what, uint64_t done, uint64_t total)
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
        care_found(c, area, CARE_DAMAGED,
                   "the entry %s cannot be read, though its checksum is right; a newer solverfs may have written it: it is kept, "
                   "and "
                   "worked out again when asked for",
                   hex);
}

static int remember_program(struct checking *c, const struct digest *id)
{
        if (list_grow(c->programs, c->n_programs) < 0)
                return -ENOMEM;
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
        return ++c->report->facts % 1024 == 0 ? care_step(c, "measurements", c->report->facts, 0) : 0;
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

        sort_list(c->programs, c->n_programs, sizeof(*c->programs), by_bytes);
        for (size_t i = 0; i < c->n_programs && r == 0; i++) {
                const struct digest *id = &c->programs[i];
                char hex[DIGEST_HEX_SIZE];

                if (i > 0 && digest_equal(id, id - 1))
                        continue;
                r = care_step(c, "programs", i, c->n_programs);
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
                care_found(c, "programs", c->look_only ? CARE_DAMAGED : CARE_REPAIRED,
                           "program %.12s did not come out right%s; its build is done again when asked for", hex,
                           c->look_only ? "" : " and was dropped");
                r = 0;
        }
        if (absent > 0)
                care_found(c, "programs", CARE_NOTE,
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
                care_found(c, "cases", CARE_NOTE,
                           "a damaged case is put right by adding the same file again with 'solverfs case add'");
        if (r >= 0)
                r = cases_sweep(workspace_cases(c->workspace), true, &lost, &bytes);
        if (r == 0 && lost > 0)
                care_found(c, "cases", CARE_NOTE, CARE_LOST_CASES, (unsigned long long)lost, (unsigned long long)bytes);
        return r < 0 ? r : 0;
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
                {"programs", check_programs},        {"cases", check_cases},   {"repositories", care_check_repositories},
                {"downloads", care_check_downloads},
        };
        struct checking c = {
                .workspace = w, .look_only = look_only || store_read_only(workspace_store(w)), .watch = watch, .report = ret};
        int r = 0;

        *ret = (struct care_report){0};
        for (size_t i = 0; i < ARRAY_SIZE(areas) && r == 0; i++) {
                r = care_step(&c, areas[i].what, 0, 0);
                if (r == 0)
                        r = areas[i].check(&c);
        }
        free(c.programs);
        return r;
}
