#include "core/query/tables.h"

const char *const workspace_tables[N_TABLES] = {
        [TABLE_META] = "meta",
        [TABLE_NAMES] = "names",
        [TABLE_COMMITS] = "commits",
        [TABLE_OIDS] = "oids",
        [TABLE_REFS] = "refs",
        [TABLE_SOURCES] = "sources",
        [TABLE_CASES] = "cases",
        [TABLE_CASE_NAMES] = "case-names",
        [TABLE_CASE_DIGESTS] = "case-digests",
        [TABLE_BUILDS] = "builds",
        [TABLE_BUILD_PROGRAMS] = "build-programs",
        [TABLE_FACTS] = "facts",
        [TABLE_SETS] = "sets",
        [TABLE_FINDINGS] = "findings",
        [TABLE_CAMPAIGNS] = "campaigns",
        [TABLE_SAMPLES] = "samples",
        [TABLE_LOCALIZED] = "localized",
        [TABLE_REDUCED] = "reduced",
        [TABLE_PORTFOLIOS] = "portfolios",
        [TABLE_ALARMS] = "alarms",
};
