/* The commits responsible for a finding: the localizer (localization.h) asked of what the finding compares. Threads: any. */
#pragma once

#include "core/study/observation/observation.h"
#include "core/study/localize/localization.h"

/* Can it be localized? What differs between two commits of one history: a slowdown by its times, else by the answers. A version with arguments, or
 * a program of the machine, has no history. */
bool finding_is_localizable(const struct solver *s, const struct observation *f);
/* The query whose value is its localization (struct localized). -ENODATA with a sentence where it has no history. */
int finding_query_localized(struct workspace *w, struct solver *s, const struct observation *f, struct query **ret);
/* The result of its localization, or how far that has come (localized_is_final()): a new reference. -ENOENT: there is none. */
int finding_localization(struct workspace *w, struct solver *s, const struct observation *f, struct localized **ret);
/* culprits_each() of its localization. -ENOENT: it is not localized yet. */
int finding_culprits(struct workspace *w, struct solver *s, const struct observation *f, culprit_fn fn, void *user);
/* A number that is the same for all findings of the same newest culprit; 0: it has none. -ENOENT: not localized yet. */
int finding_cause(struct workspace *w, struct solver *s, const struct observation *f, uint64_t *ret);
/* localized.tsv: "case\tcommit\tbefore\tafter\tsubject". */
int finding_print_localized(const struct localized *result, struct buffer *ret);

/* How findings_localize() goes about it. */
struct localizing {
        unsigned (*width)(void *user);  /* builds and runs at once, from the next asking on */
        void (*await_turn)(void *user); /* before each of them */
        bool (*is_left_out)(void *user, const struct observation *f);
        void (*ended)(void *user, const struct observation *f); /* its search has come to its end, if only to "no culprit" */
        void (*tell)(void *user, const char *line);             /* a line for each */
        bool (*is_over)(void *user);                            /* end_fd: its time is; else it was cancelled */
        void *user;
        int end_fd; /* -1: none */
};
/* The findings of a campaign that are not localized yet, all in one search that shares its builds; what it finds is kept, so that the queries above
 * answer from then on. When end_fd becomes readable it ends: -ECANCELED, or 0 where its time is over; *ret_open is how many are not localized then. What is
 * known of those by then is kept as unfinished (localization.h), and the next call goes on. */
int findings_localize(struct workspace *w, struct engine *e, struct solver *s, const char *campaign, const struct localizing *how,
                      size_t *ret_open);
