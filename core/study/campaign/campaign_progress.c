/* A running campaign's log, its status, and the tables beside its journal. */
#include "core/study/campaign/campaign_internal.h"

#include <inttypes.h>


#define JOURNAL_MOST (1 << 20) /* bytes: some 12,000 runs */

void campaign_say(struct campaign *c, const char *format, ...)
{
        char line[PATH_SIZE + 600];
        va_list ap;

        va_start(ap, format);
        vsnprintf(line, sizeof(line), format, ap);
        va_end(ap);
        if (c->log) {
                fprintf(c->log, "%s %s\n", format_date(now_seconds()).s, line);
                fflush(c->log);
        }
        if (c->watch && c->watch->line)
                c->watch->line(c->watch->user, line);
}

void campaign_say_open(struct campaign *c, size_t n, const char *done, double seconds, const char *option, const char *next)
{
        if (n > 0)
                campaign_say(c, "%zu finding%s not %s to the end in %s (%s); %s", n, n == 1 ? " is" : "s are", done,
                             format_duration((uint64_t)(seconds * 1e9)).s, option, next);
}

static void write_progress(const struct campaign *c, const struct campaign_status *s, uint64_t culprits)
{
        cleanup_free char *path = format_string("%s/progress.tsv", c->folder);
        FILE *f = fopen(path, "ae");

        if (!f)
                return;
        if (ftello(f) == 0)
                fputs("seconds\tinputs\truns\tmean-solving-time\tfinds\tsoundness\tcrashes\tculprits\timplications\tcandidates\n", f);
        fprintf(f,
                "%.0f\t%" PRIu64 "\t%" PRIu64 "\t%.6f\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\n",
                s->worked, s->inputs, s->runs, s->runs > 0 ? s->solving / (double)s->runs : 0, s->finds, s->soundness, s->crashes,
                culprits, s->implications, s->candidates);
        fclose(f);
}

int campaign_record_status(struct campaign *c, enum campaign_state state)
{
        cleanup_free char *path = format_string("%s/%s", c->folder, c->type->table);
        cleanup_buffer struct buffer table = {0};
        struct campaign_status s;
        uint64_t culprits;
        int r;

        pthread_mutex_lock(&c->lock);
        c->status.state = state;
        c->status.worked = campaign_now(c);
        c->status.changed = now_seconds();
        s = c->status;
        culprits = campaign_count_causes(c);
        r = campaign_journal_size(c->journal) > JOURNAL_MOST ? campaign_checkpoint(c) : campaign_journal_sync(c->journal);
        c->type->print_table(c, &table);
        pthread_mutex_unlock(&c->lock);
        write_progress(c, &s, culprits);
        write_file_atomic(path, table.data, table.size, 0600);
        if (r == 0 && c->type->record)
                r = c->type->record(c);
        return r < 0 ? r : campaign_put_status(c->workspace, c->solver->number, c->settings->name, &s);
}
