#include "core/query/tables.h"

const struct store_table workspace_tables[N_TABLES] = {
        [TABLE_META] = {"meta", true},
        [TABLE_NAMES] = {"names", true},
        [TABLE_COMMITS] = {"commits", true},
        [TABLE_OIDS] = {"oids", true},
        [TABLE_REFS] = {"refs", true},
        [TABLE_SOURCES] = {"sources", true},
        [TABLE_CASES] = {"cases", true},
        [TABLE_CASE_NAMES] = {"case-names", true},
        [TABLE_CASE_DIGESTS] = {"case-digests", true},
        [TABLE_BUILDS] = {"builds", true},
        [TABLE_BUILD_PROGRAMS] = {"build-programs", true},
        [TABLE_FACTS] = {"facts", true},
        [TABLE_SETS] = {"sets", true},
        [TABLE_FINDINGS] = {"findings", true},
        [TABLE_CAMPAIGNS] = {"campaigns", true},
        [TABLE_SAMPLES] = {"samples", true},
        [TABLE_LOCALIZED] = {"localized", true},
        [TABLE_REDUCED] = {"reduced", true},
        [TABLE_PORTFOLIOS] = {"portfolios", true},
        [TABLE_ALARMS] = {"alarms", true},
};
