/* fsck. Each area is a function. Findings never end the check; errors that make it pointless (no memory, the disk gone) do. */
#include "core/care/care_internal.h"

#include <fcntl.h>

#include "cache/base/lock.h"
#include "core/workspace/format.h"

#define FACTS_AT_ONCE 1000

const char *care_kind_name(enum care_kind k)
{
        static const char *const names[] = {"note", "repaired", "damaged"};

        return names[k];
}

void care_say(const struct care_watch *w, const char *area, enum care_kind kind, const char *format, ...)
{
        char text[PATH_SIZE + 128];

        format_rest(text, format);
        w->found(w->user, &(struct care_finding){.area = area, .kind = kind, .text = text});
}

/* For the modules' own checks, which report a line for each problem. */
static void say(void *user, const char *line)
{
        struct checking *c = user;

        care_say(c->watch, c->area, c->kind, "%s", line);
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
        if (r == 0 && format_was_lost(c->workspace)) {
                care_say(c->watch, "store", CARE_DAMAGED, "journal and index were gone: all cases, builds and measurements are lost; put %s back from a backup",
                         workspace_dir(c->workspace));
                return c->look_only ? 0 : format_forget_loss(c->workspace);
        }
        if (c->report->store.lost)
                care_say(c->watch, "store", CARE_DAMAGED, "a part of the journal was gone, and there was no index: what only that part had is lost");
        if (c->report->store.absent)
                care_say(c->watch, "store", CARE_NOTE, "there was no index; it was made from the journal");
        return r;
}

/* -- builds and facts ------------------------------------------------------------------------------------------- */

/* Reports a value that cannot be read although its checksum is right. The disk did not damage it, so it stays for a solverfs that can read it. */
static void unreadable(struct checking *c, const char *area, struct slice key)
{
        char hex[2 * 16 + 1];
        size_t n = MIN(key.size, (size_t)16);

        for (size_t i = 0; i < n; i++)
                snprintf(hex + 2 * i, 3, "%02x", ((const uint8_t *)key.data)[i]);
        hex[2 * n] = '\0';
        care_say(c->watch, area, CARE_DAMAGED,
                   "the entry %s cannot be read, though its checksum is right; a newer solverfs may have written it: it is kept, and worked out again "
                   "when asked for",
                   hex);
}

static void look_at_build(struct checking *c, struct slice key, struct slice value)
{
        cleanup(build_record_unrefp) struct build_record *record = NULL;
        int r = build_record_decode(value, WITH_LOG, &record);

        c->report->builds++;
        if (r < 0 && r != -ENOENT)
                unreadable(c, "builds", key);
        for (size_t i = 0; record && record->ok && i < record->n_outputs; i++)
                digest_list_add(&c->programs, record->outputs[i].id.bytes);
}

static int check_builds(struct checking *c)
{
        cleanup_walk struct store_walk w = {.store = workspace_store(c->workspace), .table = TABLE_BUILDS};
        int r;

        while ((r = store_walk(&w)) > 0)
                look_at_build(c, w.key, w.value);
        return r;
}

static int look_at_fact(struct checking *c, struct slice key, struct slice value)
{
        cleanup(fact_unrefp) struct fact *f = NULL;
        int r = fact_decode(value, FACT_WHOLE, &f);

        if (r == -ENOMEM) /* possible: a run's output may be large */
                return r;
        if (r < 0)
                unreadable(c, "facts", key);
        return ++c->report->facts % 1024 == 0 ? care_step(c, "measurements", c->report->facts, 0) : 0;
}

/* A transaction for each FACTS_AT_ONCE: the pages that others free during one can be used by nobody, so the index would grow. */
static int check_facts(struct checking *c)
{
        cleanup_buffer struct buffer from = {0};
        int r = 1;

        while (r > 0) {
                cleanup_walk struct store_walk w = {.store = workspace_store(c->workspace), .table = TABLE_FACTS, .from = SLICE(from.data, from.size)};

                for (size_t n = 0; (r = store_walk(&w)) > 0 && n < FACTS_AT_ONCE; n++) {
                        r = look_at_fact(c, w.key, w.value);
                        if (r < 0)
                                return r;
                }
                from.size = 0;
                if (r > 0)
                        buffer_add(&from, w.key.data, w.key.size);
        }
        return r;
}

/* -- programs --------------------------------------------------------------------------------------------------- */

/* Checks an executable copy: it is given to users without being read. */
static void check_copy(struct checking *c, const char *name, const struct digest *id)
{
        cleanup_free char *path = format_string("%s/programs/%s", workspace_dir(c->workspace), name);
        cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
        struct digest d;
        bool taken = false;

        if (fd < 0 || (digest_of_fd(fd, &d, NULL) == 0 && digest_equal(&d, id)))
                return;
        if (!c->look_only) {
                cleanup_close int idle = lock_if_idle(path); /* -1: it is being executed */

                taken = idle >= 0 && unlink(path) == 0;
        }
        care_say(c->watch, "programs", taken ? CARE_REPAIRED : CARE_DAMAGED, "the copy of program %.12s is damaged: it %s", name,
                   taken          ? "was taken away, and is made anew"
                   : c->look_only ? "has to go"
                                  : "is in use; end what runs, and try again");
}

static int look_at_program(void *user, const char *name, const struct digest *id, const struct stat *)
{
        struct checking *c = user;
        int r;

        if (!id) {
                care_say(c->watch, "programs", CARE_NOTE, "%s/deltas/%s is no program: it is left alone", workspace_dir(c->workspace), name);
                return 0;
        }
        r = care_step(c, "programs", c->report->programs, 0);
        if (r < 0)
                return r;
        check_copy(c, name, id);
        c->report->programs++;
        c->unwanted += !digest_list_find(&c->programs, id);
        r = programs_verify(workspace_programs(c->workspace), id, c->look_only);
        if (r == -EIO || r == -EBADMSG)
                care_say(c->watch, "programs", c->look_only ? CARE_DAMAGED : CARE_REPAIRED,
                           "program %.12s did not come out right%s; its build is done again when asked for", name,
                           c->look_only ? "" : " and was dropped");
        return r == -EIO || r == -EBADMSG || r == -ENOENT ? 0 : r;
}

static int check_programs(struct checking *c)
{
        struct programs *programs = workspace_programs(c->workspace);
        uint64_t absent = 0;
        int r = c->look_only ? 0 : programs_remove(programs, NULL, 0, NULL); /* only unfinished files of killed processes */

        digest_list_sort(&c->programs);
        if (r == 0)
                r = programs_each(programs, look_at_program, c);
        for (size_t i = 0; i < c->programs.n; i++) {
                const struct digest *id = &c->programs.list[i];

                absent += (i == 0 || !digest_equal(id, id - 1)) && !programs_has(programs, id);
        }
        if (absent > 0)
                care_say(c->watch, "programs", CARE_NOTE,
                           "%llu program%s not kept (removed by gc, or damaged): built again when needed",
                           (unsigned long long)absent, absent == 1 ? " is" : "s are");
        if (c->unwanted > 0)
                care_say(c->watch, "programs", CARE_NOTE, "%llu program%s of no build: 'solverfs gc' frees those older than an hour",
                           (unsigned long long)c->unwanted, c->unwanted == 1 ? " is" : "s are");
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
                care_say(c->watch, "cases", CARE_NOTE,
                           "a damaged case is put right by adding the same file again with 'solverfs case add'");
        if (r >= 0)
                r = cases_sweep(workspace_cases(c->workspace), true, &lost, &bytes);
        if (r == 0 && lost > 0)
                care_say(c->watch, "cases", CARE_NOTE, CARE_LOST_CASES, (unsigned long long)lost, (unsigned long long)bytes);
        return r < 0 ? r : 0;
}

/* -- all -------------------------------------------------------------------------------------------------------- */

static void count_finding(void *user, const struct care_finding *f)
{
        struct checking *c = user;

        c->report->damaged += f->kind == CARE_DAMAGED;
        c->report->repaired += f->kind == CARE_REPAIRED;
        c->asked_by->found(c->asked_by->user, f);
}

int care_check(struct workspace *w, bool look_only, const struct care_watch *watch, struct care_report *ret)
{
        static const struct {
                const char *what;
                int (*check)(struct checking *c);
        } areas[] = {
                {"the store's values", check_store},
                {"builds", check_builds},
                {"measurements", check_facts},
                {"programs", check_programs},
                {"cases", check_cases},
                {"repositories", care_check_repositories},
                {"downloads", care_check_downloads},
        };
        struct checking c = {.workspace = w, .look_only = look_only || store_read_only(workspace_store(w)), .report = ret, .asked_by = watch};
        int r = 0;

        *ret = (struct care_report){0};
        c.watch = &(struct care_watch){.found = count_finding, .user = &c, .progress = watch->progress};
        for (size_t i = 0; i < ARRAY_SIZE(areas) && r == 0; i++) {
                r = care_step(&c, areas[i].what, 0, 0);
                if (r == 0)
                        r = areas[i].check(&c);
        }
        digest_list_done(&c.programs);
        return r;
}
