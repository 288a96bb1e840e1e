/* The commits responsible for a solver's slowdowns, over all localized findings, and the class of each change (SPRFinder, section 6.2, Table 4).
 *
 * The class is derived from the commit's message and changed paths. The intent is compromise (the slowdown was accepted for something) or bug: a bug
 * if a finding of it was confirmed or fixed, else by the message. Both can be set by hand.
 *
 * Threads: any. */
#pragma once

#include "core/study/observation/observation.h"

enum culprit_class {
        CLASS_UNKNOWN,
        CLASS_FIX,         /* of a known bug */
        CLASS_ALGORITHM,   /* another way of doing something */
        CLASS_THEORY,      /* another theory solver, or another default */
        CLASS_REFACTORING, /* no change was intended */
        N_CLASSES
};
const char *culprit_class_name(enum culprit_class c); /* "fix" … */

enum culprit_intent {
        INTENT_UNKNOWN,
        INTENT_COMPROMISE,
        INTENT_BUG,
        N_INTENTS
};
const char *culprit_intent_name(enum culprit_intent i);
/* Parses the name of a class or an intent; the other one is not set. -EINVAL with the list of words. */
int culprit_word_parse(const char *word, enum culprit_class *ret_class, bool *ret_is_class, enum culprit_intent *ret_intent);

/* The class suggested by a message and the changed paths (one per line, as from history_text()). */
enum culprit_class culprit_classify(const char *message, const char *changes);
enum culprit_intent culprit_intent_of(const char *message);

struct culprit {
        uint32_t commit;
        uint32_t *findings; /* owned; numbers, ascending */
        size_t n;
        /* The finding by time with the largest slowdown at this commit, in seconds. If none is by time: of those with the first one's measure, the
         * finding with the largest ratio. */
        uint32_t worst; /* its number */
        enum judge_measure measure;
        double before, after; /* of the measure, seconds as a rule; infinite or NaN: an end without an answer */
        enum culprit_class class;
        enum culprit_intent intent;
        bool is_class_set, is_intent_set; /* by hand */
};
struct culprits {
        struct culprit *list; /* owned; in the order of the history */
        size_t n;
        size_t localizable, open, unexplained; /* localizable slowdowns; those not localized yet; those localized to no single commit */
};
int culprits_read(struct workspace *w, struct solver *s, struct culprits *ret);
void culprits_done(struct culprits *c);
#define cleanup_culprits cleanup(culprits_done)

/* Sets class, intent or both; NULL leaves one as it is. -ENOENT: no finding is localized to this commit. */
int culprit_set(struct workspace *w, struct solver *s, uint32_t commit, const enum culprit_class *class, const enum culprit_intent *intent);
