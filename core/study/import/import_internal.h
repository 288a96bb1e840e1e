/* Shared by import_study.c (findings) and import_campaign.c. */
#pragma once

#include "core/study/observation/campaign_store.h"
#include "core/study/observation/observation.h"
#include "core/study/import/import_study.h"

/* A campaign of the other store. */
struct imported_campaign {
        char *there, *here; /* owned; its names in both stores */
        struct campaign_settings settings;
        struct campaign_status status;
        char machine[PATH_SIZE]; /* "": not recorded */
        bool is_left_out;
};

/* A solver that both stores have. */
struct importing {
        struct store_source *source;
        struct study_import *report;
        struct solver *there, *here; /* here: a ref; there: borrowed */
        struct imported_campaign *campaigns; /* owned */
        size_t n_campaigns;
        uint32_t *numbers; /* owned; [n_numbers + 1]: from a finding's number there to its number here; 0: skipped */
        uint32_t n_numbers;
        bool has_other_recipe; /* the recipes differ, and that was reported */
};

/* True if the commit of a version's text in full is here, or the text names no commit. */
bool importing_has_version(const struct importing *t, const char *version);

/* -- import_campaign.c -- */

/* Reads the campaigns and gives each a name here. A new campaign then has only its settings and status. */
int importing_read_campaigns(struct importing *t);
void imported_campaign_done(struct imported_campaign *c);
/* NULL: no campaign of that name. */
const struct imported_campaign *importing_find_campaign(const struct importing *t, const char *there);
/* Copies the campaigns' files, once all findings have their numbers. */
int importing_copy_campaigns(struct importing *t);
