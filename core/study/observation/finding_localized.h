/* The commits responsible for a finding: the localizer (localization.h) asked of what the finding compares. Threads: any. */
#pragma once

#include "core/study/observation/observation.h"
#include "core/study/localize/localization.h"

/* Can it be localized? What differs between two commits of one history: a slowdown by its times, else by the answers. A version with arguments, or
 * a program of the machine, has no history. */
bool finding_is_localizable(const struct solver *s, const struct observation *f);
enum verdict finding_verdict(const struct observation *f, const char *version); /* its answer when the finding was made */
/* The search for its commits; *info is its case, a reference, to which the options point. -ENODATA with a sentence where it has no history. */
int finding_localization_options(struct workspace *w, struct solver *s, const struct observation *f, struct case_info **info,
                                 struct localization_options *ret);
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
