/* Campaigns of another store: which of them are here already, and their files. */
#include "core/study/import/import_internal.h"

#include <fcntl.h>
#include <sys/file.h>

#include "cache/base/fault.h"
#include "core/study/campaign/campaign_journal.h"

void taken_campaign_done(struct taken_campaign *c)
{
        free(c->there);
        free(c->here);
        campaign_settings_done(&c->settings);
}

const struct taken_campaign *taking_find_campaign(const struct taking *t, const char *there)
{
        for (size_t i = 0; i < t->n_campaigns; i++)
                if (strcmp(t->campaigns[i].there, there) == 0)
                        return &t->campaigns[i];
        return NULL;
}

/* -- names and identity -- */

static void add_strings(struct hasher *h, char *const *list)
{
        for (; list && *list; list++)
                hasher_string(h, *list);
        hasher_string(h, NULL);
}

/* The settings that a campaign keeps for good, without its name. */
static void identity_of(const struct taken_campaign *c, struct digest *ret)
{
        const struct campaign_settings *s = &c->settings;
        const double seconds[] = {s->timeout, s->threshold};
        struct hasher *h = hasher_new();

        hasher_number(h, s->kind);
        add_strings(h, s->references);
        hasher_string(h, s->target);
        add_strings(h, s->oracles);
        hasher_string(h, s->strategy);
        hasher_number(h, s->seed);
        hasher_field(h, seconds, sizeof(seconds));
        hasher_string(h, s->corpus);
        hasher_number(h, s->any_pair);
        hasher_number(h, s->cpu_time ? JUDGE_CPU_TIME : s->measure);
        hasher_number(h, s->label);
        hasher_number(h, s->iterations);
        hasher_number(h, s->chain);
        hasher_number(h, (uint64_t)c->status.begun);
        hasher_string(h, c->machine);
        hasher_finish(h, ret);
}

static int read_campaign(struct workspace *w, const struct solver *s, const char *name, struct taken_campaign *ret)
{
        int r = campaign_get(w, s->number, name, &ret->settings, &ret->status);

        if (r == 0 && campaign_machine(w, s->recipe->name, name, ret->machine) < 0)
                *ret->machine = '\0';
        return r;
}

/* Is the campaign of this name in the store here just that one? -ENOENT: there is none. */
static int is_campaign(const struct taking *t, const char *name, const struct digest *identity, bool *ret)
{
        cleanup(taken_campaign_done) struct taken_campaign c = {0};
        struct digest d;
        int r = read_campaign(t->source->here, t->here, name, &c);

        if (r < 0)
                return r;
        identity_of(&c, &d);
        *ret = digest_equal(&d, identity);
        return 0;
}

/* Finds its name here, where it was taken before, or comes from here. *ret NULL: it is not here. */
static int find_known(const struct taking *t, const struct digest *identity, char **ret)
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

/* Gives it a name here. Where another campaign has its name, it gets one with its digest, which is the same at the next import. */
static int choose_name(const struct taking *t, struct taken_campaign *c, const struct digest *identity)
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
static int put_rows(const struct taking *t, const struct taken_campaign *c)
{
        struct campaign_settings settings = c->settings;
        struct campaign_status status = c->status;
        int r;

        settings.name = c->here;
        status.state = status.state == CAMPAIGN_FINISHED ? CAMPAIGN_FINISHED : CAMPAIGN_STOPPED;
        r = campaign_put_status(t->source->here, t->here->number, c->here, &status);
        return r < 0 ? r : campaign_put_settings(t->source->here, t->here->number, &settings);
}

/* Makes the folder and the rows of the new name. The machine's name comes first, as it is part of the campaign's identity. */
static int reserve(const struct taking *t, const struct taken_campaign *c)
{
        char folder[PATH_SIZE], path[PATH_SIZE];
        int r = campaign_folder(t->source->here, t->here->recipe->name, c->here, folder);

        if (r == 0)
                r = make_dirs(folder, 0700);
        if (r == 0)
                r = path_join(path, folder, "machine");
        if (r == 0 && *c->machine)
                r = write_file_atomic(path, c->machine, strlen(c->machine), 0600);
        else if (r == 0 && unlink(path) < 0 && errno != ENOENT)
                r = -errno;
        if (r == 0)
                r = fault_at("import.campaign");
        return r < 0 ? r : put_rows(t, c);
}

static bool has_versions(const struct taking *t, const struct campaign_settings *s)
{
        bool has_all = taking_has_version(t, s->target);

        for (char *const *p = s->references; p && *p; p++)
                has_all &= taking_has_version(t, *p);
        for (char *const *p = s->oracles; p && *p; p++)
                has_all &= taking_has_version(t, *p);
        return has_all;
}

static int read_one(struct taking *t, struct taken_campaign *c)
{
        struct digest identity;
        int r = read_campaign(t->source->there, t->there, c->there, c);

        c->is_left_out = r == -EIO || r == -ENOENT || (r == 0 && !has_versions(t, &c->settings));
        if (c->is_left_out) {
                c->here = copy_string(c->there);
                *(r < 0 ? &t->report->damaged : &t->report->absent) += 1;
                if (r < 0)
                        source_say(t->source, "%s: the campaign '%s' is left out: %s", t->here->recipe->name, c->there, error_message(r));
                else
                        source_note_missing(t->source, t->there->recipe->name);
                return 0;
        }
        if (r < 0)
                return r;
        identity_of(c, &identity);
        r = find_known(t, &identity, &c->here);
        if (r < 0 || c->here)
                return r;
        r = choose_name(t, c, &identity);
        return r < 0 ? r : reserve(t, c);
}

int taking_read_campaigns(struct taking *t)
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
        const struct taking *taking;
        struct campaign_journal *journal;
};

/* Copies a record with the finding's number here. 1: the finding is not here: it was made after the findings were read, or was passed over. */
static int copy_record(void *user, const struct campaign_record *record)
{
        const struct copying *c = user;
        const struct taking *t = c->taking;
        struct campaign_record ours = *record;
        uint64_t number = ours.event == EVENT_CONFIRMED ? ours.finding : ours.event == EVENT_FOUND ? ours.cause : 0;

        if (number != 0 && (number > t->n_numbers || t->numbers[number] == 0))
                return 1;
        if (number != 0 && ours.event == EVENT_CONFIRMED)
                ours.finding = t->numbers[number];
        else if (number != 0)
                ours.cause = t->numbers[number];
        return campaign_journal_add(c->journal, &ours);
}

/* Copies the whole records, with the numbers that findings have here. */
static int copy_journal(const struct taking *t, const char *from, const char *to)
{
        cleanup(campaign_journal_closep) struct campaign_journal *journal = NULL;
        struct copying c = {.taking = t};
        int r;

        if (unlink(to) < 0 && errno != ENOENT)
                return errorf(-errno, "cannot remove %s: %s", to, strerror(errno));
        r = campaign_journal_open(to, NULL, NULL, &journal);
        c.journal = journal;
        if (r == 0)
                r = campaign_journal_read(from, copy_record, &c);
        return r < 0 && r != -ENOENT ? r : campaign_journal_sync(journal);
}

/* -- other files -- */

/* The place of a finding's number in a line of the log; NULL: it has none. */
static const char *find_number(const char *line)
{
        static const char *const verbs[] = {"found ", "localized ", "reduced ", "not reduced: "};
        static const enum observation_kind kinds[] = {FINDING_SPR, FINDING_SOUNDNESS, FINDING_REGRESSION};
        const char *at = line + MIN(strlen(line), sizeof("2026-01-01 00:00:00"));

        for (size_t v = 0; v < ARRAY_SIZE(verbs); v++)
                for (size_t k = 0; k < ARRAY_SIZE(kinds); k++) {
                        const char *folder = observation_folder(kinds[k]);
                        size_t n = strlen(verbs[v]), m = strlen(folder);

                        if (strncmp(at, verbs[v], n) == 0 && strncmp(at + n, folder, m) == 0 && at[n + m] == '/')
                                return at + n + m + 1;
                }
        return NULL;
}

static void add_log_line(const struct taking *t, const char *line, struct buffer *to)
{
        const char *at = find_number(line);
        char *end = NULL;
        uint64_t number = at ? strtoull(at, &end, 10) : 0;

        if (number == 0 || number > t->n_numbers || t->numbers[number] == 0)
                buffer_adds(to, line);
        else
                buffer_addf(to, "%.*s%u%s", (int)(at - line), line, t->numbers[number], end);
        buffer_adds(to, "\n");
}

static int copy_file(const struct taking *t, const char *from, const char *to, bool is_log)
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
                        add_log_line(t, line, &text);
        } else {
                buffer_add(&text, b.data, b.size);
        }
        r = buffer_error(&text) < 0 ? -ENOMEM : write_file_atomic(to, text.data, text.size, 0600);
        return r < 0 ? errorf(r, "cannot write %s: %s", to, strerror(-r)) : 0;
}

static int copy_files(const struct taking *t, const char *there, const char *here)
{
        static const char *const names[] = {"log", "progress.tsv", "operators.tsv", "rules.tsv", "left-out", "conditions"};
        char from[PATH_SIZE], to[PATH_SIZE];
        int r = 0;

        for (size_t i = 0; i < ARRAY_SIZE(names) && r == 0; i++) {
                r = path_join(from, there, names[i]);
                if (r == 0)
                        r = path_join(to, here, names[i]);
                if (r == 0)
                        r = fault_at("import.campaign");
                if (r == 0)
                        r = copy_file(t, from, to, i == 0);
        }
        return r;
}

/* -- a campaign -- */

struct places {
        char there[PATH_SIZE], here[PATH_SIZE];                                   /* folders */
        char journal_there[PATH_SIZE], journal_here[PATH_SIZE], fresh[PATH_SIZE]; /* fresh: the journal as it will be */
};

static int find_places(const struct taking *t, const struct taken_campaign *c, struct places *ret)
{
        int r = campaign_folder(t->source->there, t->there->recipe->name, c->there, ret->there);

        if (r == 0)
                r = campaign_folder(t->source->here, t->here->recipe->name, c->here, ret->here);
        if (r == 0)
                r = make_dirs(ret->here, 0700);
        if (r == 0)
                r = path_join(ret->journal_there, ret->there, "journal");
        if (r == 0)
                r = path_join(ret->journal_here, ret->here, "journal");
        return r < 0 ? r : path_join(ret->fresh, ret->here, "journal.import");
}

/* The journal comes last: where it is there, the other files are there too. */
static int replace(const struct taking *t, const struct taken_campaign *c, const struct places *p)
{
        int r = copy_files(t, p->there, p->here);

        if (r == 0)
                r = put_rows(t, c);
        if (r == 0)
                r = fault_at("import.campaign");
        if (r == 0 && rename(p->fresh, p->journal_here) < 0)
                r = errorf(-errno, "cannot rename %s: %s", p->fresh, strerror(errno));
        return r < 0 ? r : sync_folder(p->here);
}

enum progress_here {
        NOT_BEHIND,
        BEHIND,
        PARTED
};

static int compare(const struct places *p, enum progress_here *ret)
{
        cleanup_blob struct blob here = {0}, there = {0};
        int r = read_file(p->journal_here, SIZE_MAX, &here);

        if (r == 0 || r == -ENOENT)
                r = read_file(p->fresh, SIZE_MAX, &there);
        if (r < 0)
                return r;
        *ret = here.size < there.size ? BEHIND : NOT_BEHIND;
        if (here.size > 0 && memcmp(here.data, there.data, MIN(here.size, there.size)) != 0)
                *ret = PARTED;
        return 0;
}

static int copy_campaign(struct taking *t, const struct taken_campaign *c)
{
        const char *solver = t->here->recipe->name;
        enum progress_here progress = NOT_BEHIND;
        cleanup_close int lock = -1; /* nobody runs it here while it is held; -1: there is no journal yet */
        struct places p;
        int r = find_places(t, c, &p);

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
        r = copy_journal(t, p.journal_there, p.fresh);
        if (r == 0)
                r = compare(&p, &progress);
        if (r == 0 && progress == BEHIND)
                r = replace(t, c, &p);
        unlink(p.fresh);
        if (r == -EPROTONOSUPPORT) {
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

int taking_copy_campaigns(struct taking *t)
{
        int r = 0;

        for (size_t i = 0; r == 0 && i < t->n_campaigns; i++) {
                r = progress_step(t->source->progress, "import campaigns", i, t->n_campaigns);
                if (r == 0 && !t->campaigns[i].is_left_out)
                        r = copy_campaign(t, &t->campaigns[i]);
        }
        return r;
}
