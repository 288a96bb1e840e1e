/* The tables of a store. Their numbers are this program's; a store knows them by name. */
#pragma once

#include "cache/store/store.h"

enum table {
        TABLE_META,  /* settings that are no person's, and notes: run_notes.c */
        TABLE_NAMES, /* core/workspace/names.h */
        TABLE_COMMITS,
        TABLE_OIDS,
        TABLE_REFS,
        TABLE_SOURCES,
        TABLE_CASES,
        TABLE_CASE_NAMES,
        TABLE_CASE_DIGESTS,
        TABLE_BUILDS,         /* build key → build_record */
        TABLE_BUILD_PROGRAMS, /* build key → digest of the program under which its results stand; zero: it failed. Behind it that of what it used: build_used.c */
        TABLE_FACTS,          /* query.h: run key + limits → fact */
        TABLE_SETS,
        TABLE_FINDINGS,  /* core/study/observation/observation.h */
        TABLE_CAMPAIGNS, /* core/study/observation/campaign_store.h */
        TABLE_SAMPLES,   /* query.h: run key + limits + number → fact */
        TABLE_LOCALIZED, /* core/study/localize/localized.h: what localizations came to */
        TABLE_REDUCED,   /* core/study/reduce/reduction.h */
        TABLE_PORTFOLIOS, /* core/portfolio/trial.c */
        TABLE_ALARMS,    /* core/study/observation/observation.h, and what a watch has seen: core/study/watch/watched.c */
        TABLE_SCRAMBLED, /* scrambled.h */
        N_TABLES
};
extern const char *const workspace_tables[N_TABLES];
