/* Imports campaigns of another store: finds those that are here already, and copies files. */
#include "core/study/import/import_internal.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sys/file.h>

#include "cache/base/fault.h"
#include "cache/base/hash.h"
#include "core/study/campaign/campaign_journal.h"
#include "core/study/import/import_log.h"

#define FILE_SIZE (PATH_SIZE + 32) /* a file in a campaign's folder */

void imported_campaign_done(struct imported_campaign *c)
{
        free(c->there);
        free(c->here);
        campaign_settings_done(&c->settings);
}

const struct imported_campaign *importing_find_campaign(const struct importing *t, const char *there)
{
        for (size_t i = 0; i < t->n_campaigns; i++)
                if (strcmp(t->campaigns[i].there, there) == 0)
                        return &t->campaigns[i];
        return NULL;
}

/* -- names and identity -- */

/* The parts of a campaign that never change, except its name. */
static void identity_of(const struct imported_campaign *c, struct digest *ret)
{
        cleanup_free char *decisions = campaign_decisions(&c->settings);
        struct hasher *h = hasher_new();

        hasher_string(h, decisions);
        hasher_number(h, (uint64_t)c->status.begun);
        hasher_string(h, c->machine);
        hasher_finish(h, ret);
}

static int read_campaign(struct workspace *w, const struct solver *s, const char *name, struct imported_campaign *ret)
{
        int r = campaign_get(w, s->number, name, &ret->settings, &ret->status);

        if (r == 0 && campaign_machine(w, s->recipe->name, name, ret->machine) < 0)
                *ret->machine = '\0';
        return r;
}

/* *ret: the campaign of this name here is the same one. -ENOENT: there is none. */
static int is_campaign(const struct importing *t, const char *name, const struct digest *identity, bool *ret)
{
        cleanup(imported_campaign_done) struct imported_campaign c = {0};
        struct digest d;
        int r = read_campaign(t->source->here, t->here, name, &c);

        if (r < 0)
                return r;
        identity_of(&c, &d);
        *ret = digest_equal(&d, identity);
        return 0;
}

/* Finds its name here, where it was imported before, or comes from here. *ret NULL: it is not here. */
static int find_known(const struct importing *t, const struct digest *identity, char **ret)
{
        char **names = NULL;
        size_t n = 0;
        int r = campaign_names(t->source->here, t->here->number, &names, &n);

        for (size_t i = 0; r == 0 && i < n && !*ret; i++) {
                bool is_same = false;

                if (is_campaign(t, names[i], identity, &is_same) == 0 && is_same)
                        *ret = copy_string(names[i]);
        }
        strings_free(names);
        return r;
}

/* Gives a campaign a name here. If another campaign has its name, the new name contains its digest, and is the same at the next import. */
static int choose_name(const struct importing *t, struct imported_campaign *c, const struct digest *identity)
{
        char hex[DIGEST_HEX_SIZE];
        size_t n = strlen(c->there);
        bool is_same;

        if (is_campaign(t, c->there, identity, &is_same) == -ENOENT) {
                c->here = copy_string(c->there);
                return 0;
        }
        digest_hex(identity, hex);
        n = MIN(n, (size_t)CAMPAIGN_NAME_MOST - 9);
        while (n < strlen(c->there) && n > 0 && ((unsigned char)c->there[n] & 0xc0) == 0x80) /* never within a character */
                n--;
        c->here = format_string("%.*s~%.8s", (int)n, c->there, hex);
        if (is_campaign(t, c->here, identity, &is_same) != -ENOENT)
                return errorf(-EEXIST, "%s has campaigns '%s' and '%s', which are others than '%s' there", t->here->recipe->name,
                              c->there, c->here, c->there);
        source_say(t->source, "%s has another campaign '%s' here: the one there is '%s'", t->here->recipe->name, c->there, c->here);
        return 0;
}

/* Stores settings and status under the name here. */
static int put_rows(const struct importing *t, const struct imported_campaign *c)
{
        struct campaign_settings settings = c->settings;
        struct campaign_status status = c->status;

        settings.name = c->here;
        status.state = status.state == CAMPAIGN_FINISHED ? CAMPAIGN_FINISHED : CAMPAIGN_STOPPED;
        return campaign_put_status(t->source->here, t->here->number, c->here, &status)
            ?: campaign_put_settings(t->source->here, t->here->number, &settings);
}

/* Makes the folder and the rows of the new name. The machine's name comes first, as it is part of the campaign's identity. */
static int reserve(const struct importing *t, const struct imported_campaign *c)
{
        char folder[PATH_SIZE], path[FILE_SIZE];
        int r = campaign_folder(t->source->here, t->here->recipe->name, c->here, folder) ?: make_dirs(folder, 0700);

        snprintf(path, sizeof(path), "%s/machine", folder);
        if (r == 0 && *c->machine)
                r = write_file_atomic(path, c->machine, strlen(c->machine), 0600);
        else if (r == 0 && unlink(path) < 0 && errno != ENOENT)
                r = -errno;
        if (r == 0)
                r = fault_at("import.campaign");
        return r < 0 ? r : put_rows(t, c);
}

static bool has_versions(const struct importing *t, const struct campaign_settings *s)
{
        bool has_all = importing_has_version(t, s->target);

        for (char *const *p = s->references; p && *p; p++)
                has_all &= importing_has_version(t, *p);
        for (char *const *p = s->oracles; p && *p; p++)
                has_all &= importing_has_version(t, *p);
        return has_all;
}

static int read_one(struct importing *t, struct imported_campaign *c)
{
        struct digest identity;
        int r = campaign_check_name(c->there) ?: read_campaign(t->source->there, t->there, c->there, c);

        c->is_left_out = r == -EINVAL || r == -EIO || r == -ENOENT || (r == 0 && !has_versions(t, &c->settings));
        if (c->is_left_out && r < 0) {
                c->here = copy_string(c->there);
                t->report->damaged++;
                source_say(t->source, "%s: the campaign '%s' is left out: %s", t->here->recipe->name, c->there, error_message(r));
                return 0;
        }
        if (r < 0)
                return r;
        if (c->is_left_out) {
                t->report->absent++;
                source_note_missing(t->source, t->there->recipe->name);
        }
        identity_of(c, &identity);
        r = find_known(t, &identity, &c->here);
        if (r < 0 || c->here)
                return r;
        r = choose_name(t, c, &identity); /* also for one that is left out: its findings may come */
        return r < 0 || c->is_left_out ? r : reserve(t, c);
}

int importing_read_campaigns(struct importing *t)
{
        char **names = NULL;
        size_t n = 0;
        int r = campaign_names(t->source->there, t->there->number, &names, &n);

        t->campaigns = allocate(n, sizeof(*t->campaigns));
        for (size_t i = 0; r == 0 && i < n; i++) {
                t->campaigns[t->n_campaigns].there = copy_string(names[i]);
                r = read_one(t, &t->campaigns[t->n_campaigns++]);
        }
        strings_free(names);
        return r;
}

/* -- the journal -- */

struct copying {
        const struct importing *importing;
        struct campaign_journal *journal;
        bool has_state, is_written;    /* of a checkpoint there; it is here */
        double now;                    /* of the checkpoint */
        struct buffer state;           /* owned */
        struct campaign_record *known; /* owned; the checkpoint's */
        size_t n_known;
};

static void copying_done(struct copying *c)
{
        campaign_journal_close(c->journal);
        buffer_done(&c->state);
        free(c->known);
}

/* Changes the numbers of findings to those here. False: one is not here: it was made after the findings were read, or was passed over. */
static bool translate(const struct copying *c, struct campaign_record *r)
{
        uint64_t there = r->finding;

        r->finding = there <= c->importing->n_numbers ? c->importing->numbers[there] : 0;
        return there == 0 || r->finding != 0;
}

static int write_checkpoint(struct copying *c)
{
        if (!c->has_state || c->is_written)
                return 0;
        c->is_written = true;
        return campaign_journal_checkpoint(c->journal, c->now, SLICE(c->state.data, c->state.size), c->known, c->n_known);
}

/* 1: the record names a finding that is not here; it and all later records are not copied. */
static int copy_record(void *user, const struct campaign_record *record)
{
        struct copying *c = user;
        struct campaign_record ours = *record;
        int r;

        if (ours.event == EVENT_CHECKPOINT) {
                c->has_state = true;
                c->now = ours.now;
                buffer_add(&c->state, ours.state.data, ours.state.size);
                return buffer_error(&c->state);
        }
        if (!translate(c, &ours))
                return ours.is_known ? 0 : 1;
        if (ours.is_known) {
                list_add(c->known, c->n_known, ours);
                return 0;
        }
        r = write_checkpoint(c);
        return r < 0 ? r : campaign_journal_add(c->journal, &ours);
}

/* Copies checkpoint and whole records, with the numbers that findings have here. 1: not all records. */
static int copy_journal(const struct importing *t, const char *from, const char *to)
{
        cleanup(copying_done) struct copying c = {.importing = t};
        bool is_cut;
        int r = unlink(to) < 0 && errno != ENOENT ? errorf(-errno, "cannot remove %s: %s", to, strerror(errno)) : 0;

        if (r == 0)
                r = campaign_journal_open(to, &c.journal)
                    ?: campaign_journal_replay(c.journal, NULL, NULL)
                    ?: campaign_journal_read(from, copy_record, &c);
        if (r < 0 && r != -ENOENT)
                return r;
        is_cut = r == 1;
        r = write_checkpoint(&c) ?: campaign_journal_sync(c.journal);
        return r < 0 ? r : is_cut;
}

/* -- other files -- */

static int copy_file(const struct importing *t, const char *from, const char *to, bool is_log)
{
        cleanup_buffer struct buffer text = {0};
        cleanup_blob struct blob b = {0};
        cleanup_free char *lines = NULL;
        char *rest;
        int r = read_file(from, SIZE_MAX, &b);

        if (r == -ENOENT)
                return 0;
        if (r < 0)
                return errorf(r, "cannot read %s: %s", from, strerror(-r));
        if (is_log) {
                rest = lines = copy_prefix(b.data, b.size);
                for (char *line = strsep(&rest, "\n"); line && (rest || *line); line = strsep(&rest, "\n"))
                        log_line_import(line, t->numbers, t->n_numbers, &text);
        } else {
                buffer_add(&text, b.data, b.size);
        }
        r = buffer_error(&text) < 0 ? -ENOMEM : write_file_atomic(to, text.data, text.size, 0600);
        return r < 0 ? errorf(r, "cannot write %s: %s", to, strerror(-r)) : 0;
}

static int copy_files(const struct importing *t, const char *there, const char *here)
{
        static const char *const names[] = {"log", "progress.tsv", "operators.tsv", "rules.tsv", "unsupported", "logics", "conditions"};
        char from[FILE_SIZE], to[FILE_SIZE];
        int r = 0;

        for (size_t i = 0; i < ARRAY_SIZE(names) && r == 0; i++) {
                snprintf(from, sizeof(from), "%s/%s", there, names[i]);
                snprintf(to, sizeof(to), "%s/%s", here, names[i]);
                r = fault_at("import.campaign") ?: copy_file(t, from, to, i == 0);
        }
        return r;
}

/* -- a campaign -- */

struct paths {
        char there[PATH_SIZE], here[PATH_SIZE];                                   /* folders */
        char journal_there[FILE_SIZE], journal_here[FILE_SIZE], fresh[FILE_SIZE]; /* fresh: the journal as it will be */
        char imported[FILE_SIZE], imported_there[FILE_SIZE]; /* hashes of what imports took: as it became here, and as it was there */
};

static int find_paths(const struct importing *t, const struct imported_campaign *c, struct paths *ret)
{
        int r = campaign_folder(t->source->there, t->there->recipe->name, c->there, ret->there)
            ?: campaign_folder(t->source->here, t->here->recipe->name, c->here, ret->here)
            ?: make_dirs(ret->here, 0700);

        snprintf(ret->journal_there, FILE_SIZE, "%s/journal", ret->there);
        snprintf(ret->journal_here, FILE_SIZE, "%s/journal", ret->here);
        snprintf(ret->fresh, FILE_SIZE, "%s/journal.import", ret->here);
        snprintf(ret->imported, FILE_SIZE, "%s/imported", ret->here);
        snprintf(ret->imported_there, FILE_SIZE, "%s/imported", ret->there);
        return r;
}

/* -- which side went on -- */

struct journal_bytes {
        struct blob journal; /* owned; empty: there is none */
        char hash[17];       /* of these bytes */
};

static int read_journal(const char *path, struct journal_bytes *ret)
{
        int r = read_file(path, SIZE_MAX, &ret->journal);

        snprintf(ret->hash, sizeof(ret->hash), "%016" PRIx64, hash_quick(ret->journal.data, ret->journal.size));
        return r == -ENOENT ? 0 : r;
}

/* True if an import took exactly this state. `imported`: the file of that name. */
static bool was_imported(const char *imported, const struct journal_bytes *k)
{
        cleanup_blob struct blob lines = {0};
        cleanup_free char *text = NULL;

        if (read_file(imported, SIZE_MAX, &lines) < 0)
                return false;
        text = copy_prefix(lines.data, lines.size);
        return strstr(text, k->hash) != NULL;
}

enum progress_here {
        NOT_BEHIND, /* all that is there is here */
        BEHIND,     /* only the other store went on */
        PARTED      /* both went on */
};

/* Compares the journal here with p->fresh. Without a checkpoint in between, the longer one begins with the shorter one. A checkpoint has no past to
 * compare: then it counts which side has not gone on since an import. *ret_hash: of p->fresh. */
static int compare(const struct paths *p, enum progress_here *ret, char ret_hash[17])
{
        struct journal_bytes here = {0}, there = {0};
        int r = read_journal(p->journal_here, &here);
        size_t n;

        if (r == 0)
                r = read_journal(p->fresh, &there);
        n = MIN(here.journal.size, there.journal.size);
        memcpy(ret_hash, there.hash, sizeof(there.hash));
        if (n == 0 || memcmp(here.journal.data, there.journal.data, n) == 0)
                *ret = here.journal.size < there.journal.size ? BEHIND : NOT_BEHIND;
        else
                *ret = was_imported(p->imported, &here)         ? BEHIND     /* here it is as the last import left it */
                       : was_imported(p->imported, &there)      ? NOT_BEHIND /* this state of it was imported before */
                       : was_imported(p->imported_there, &here) ? BEHIND     /* there it went on from the state here */
                                                             : PARTED;
        blob_done(&here.journal);
        blob_done(&there.journal);
        return r;
}

/* Adds what this import took to the list: `hash` of the journal as it became here, `raw` as it was there; "": unknown. */
static int note_import(const struct paths *p, const char *hash, const char *raw)
{
        cleanup_close int fd = open(p->imported, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        char lines[40];
        int r, n = snprintf(lines, sizeof(lines), "%s\n%s%s", hash, raw, *raw ? "\n" : "");

        r = fd < 0 ? -errno : write_all(fd, lines, (size_t)n);
        if (r == 0 && fdatasync(fd) < 0) /* after a power cut the journal must not be here without it */
                r = -errno;
        return r < 0 ? errorf(r, "cannot write %s: %s", p->imported, strerror(-r)) : 0;
}

/* The journal comes last: where it is there, the other files are there too. */
static int replace(const struct importing *t, const struct imported_campaign *c, const struct paths *p, const char *hash, const char *raw)
{
        int r = copy_files(t, p->there, p->here)
            ?: note_import(p, hash, raw)
            ?: put_rows(t, c)
            ?: fault_at("import.campaign");

        if (r == 0 && rename(p->fresh, p->journal_here) < 0)
                r = errorf(-errno, "cannot rename %s: %s", p->fresh, strerror(errno));
        return r < 0 ? r : sync_folder(p->here);
}

static int copy_campaign(struct importing *t, const struct imported_campaign *c)
{
        const char *solver = t->here->recipe->name;
        enum progress_here progress = NOT_BEHIND;
        cleanup_close int lock = -1; /* on the journal: nobody runs the campaign here meanwhile; -1: there is none yet */
        struct paths p;
        struct journal_bytes raw = {0};
        char hash[17];
        int r = find_paths(t, c, &p);

        if (r < 0)
                return r;
        lock = open(p.journal_here, O_RDONLY | O_CLOEXEC);
        if (lock < 0 && errno != ENOENT)
                return errorf(-errno, "cannot open %s: %s", p.journal_here, strerror(errno));
        if (lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) < 0) {
                source_say(t->source, "%s: the campaign '%s' is running here, and stays as it is", solver, c->here);
                t->report->known_campaigns++;
                return 0;
        }
        r = read_journal(p.journal_there, &raw); /* first, as it may go on there */
        blob_done(&raw.journal);
        if (r == 0)
                r = copy_journal(t, p.journal_there, p.fresh);
        if (r == 1) { /* the campaign there has more than what goes on from here */
                *raw.hash = '\0';
                r = 0;
        }
        if (r == 0)
                r = compare(&p, &progress, hash);
        if (r == 0 && progress == BEHIND)
                r = replace(t, c, &p, hash, raw.hash);
        unlink(p.fresh);
        if (r == -EKEYREJECTED || r == -EIO || r == -EBADMSG) { /* of another solverfs, or damaged */
                source_say(t->source, "%s: the campaign '%s' comes without its files: %s", solver, c->here, error_message(r));
                t->report->damaged++;
                return 0;
        }
        if (r < 0)
                return r;
        if (progress == PARTED)
                source_say(t->source, "%s: the campaign '%s' went on both here and there: here it stays as it is", solver, c->here);
        if (progress == BEHIND && c->status.state == CAMPAIGN_RUNNING)
                source_say(t->source, "%s: the campaign '%s' is running there, or was killed: it is taken as far as it is", solver, c->there);
        *(progress == BEHIND ? &t->report->campaigns : &t->report->known_campaigns) += 1;
        return 0;
}

int importing_copy_campaigns(struct importing *t)
{
        int r = 0;

        for (size_t i = 0; r == 0 && i < t->n_campaigns; i++) {
                r = progress_step(t->source->progress, "import campaigns", i, t->n_campaigns);
                if (r == 0 && !t->campaigns[i].is_left_out)
                        r = copy_campaign(t, &t->campaigns[i]);
        }
        return r;
}
