#include "core/workspace/tables.h"

/* In the order of enum table. */
const char *const workspace_tables[N_TABLES] = {
        "meta",   "names", "commits", "oids",     "refs",      "sources", "cases",     "case-names", "case-digests", "builds",    "build-programs",
        "facts",  "sets",  "findings", "campaigns", "samples", "localized", "reduced", "portfolios", "alarms",       "scrambled"};
