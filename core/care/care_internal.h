/* Shared by care_check.c, care_repository.c (the check of repositories) and care_collect.c. */
#pragma once

#include "core/care/care.h"

#define CARE_LOST_CASES                                                                                                                   \
        "%llu files in cases/ (%llu bytes) are of no case: an adding was broken off, or the index lost them; 'solverfs case add FILE' " \
        "makes one a case again, 'solverfs gc --lost-cases' frees them"

/* A check under way. */
struct checking {
        struct workspace *workspace;
        bool look_only;
        const struct care_watch *watch, *asked_by; /* watch: counts each finding and passes it to asked_by */
        struct care_report *report;

        const char *area;        /* of lines that another room's check reports */
        enum care_kind kind;     /* likewise */
        struct digest_list programs; /* outputs of successful builds */
        uint64_t unwanted;           /* programs that no build made */
};
void care_say(const struct care_watch *w, const char *area, enum care_kind kind, const char *format, ...) printf_like(4, 5);
int care_step(struct checking *c, const char *what, uint64_t done, uint64_t total); /* progress_step() */

int care_check_repositories(struct checking *c);
int care_check_downloads(struct checking *c);
/* Adds the digests of all files that recipes of the config name. Fails if the config cannot be read. */
int care_wanted_files(struct workspace *w, struct digest_list *ret);
