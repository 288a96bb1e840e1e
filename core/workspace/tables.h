/* The tables of a store. The numbers are local to this program; a store knows tables by name. */
#pragma once

#include "cache/store/store.h"

enum table {
        TABLE_META,  /* the program's own settings, and notes: run_notes.c */
        TABLE_NAMES, /* core/workspace/names.h */
        TABLE_COMMITS, /* these four: core/history/history_internal.h */
        TABLE_OIDS,
        TABLE_REFS,
        TABLE_SOURCES,
        TABLE_CASES, /* these three: core/cases/cases.c */
        TABLE_CASE_NAMES,
        TABLE_CASE_DIGESTS,
        TABLE_BUILDS,         /* build key → build_record */
        TABLE_BUILD_PROGRAMS, /* build key → digest of the program under which results are stored (zero: failed), digest of the list used: build_used.c */
        TABLE_FACTS,          /* query.h: run key + limits → fact */
        TABLE_SETS, /* core/cases/sets.c */
        TABLE_FINDINGS,  /* core/study/observation/observation.h */
        TABLE_CAMPAIGNS, /* core/study/observation/campaign_store.h */
        TABLE_SAMPLES,   /* query.h: run key + limits + number → fact */
        TABLE_LOCALIZED, /* results of localizations: core/study/localize/localized.h */
        TABLE_REDUCED,   /* core/study/reduce/reduction.h */
        TABLE_PORTFOLIOS, /* core/portfolio/trial.c */
        TABLE_ALARMS,    /* core/study/observation/observation.h, and commits seen by a watch: core/study/watch/watched.c */
        TABLE_SCRAMBLED, /* scrambled.h */
        N_TABLES
};
extern const char *const workspace_tables[N_TABLES];
