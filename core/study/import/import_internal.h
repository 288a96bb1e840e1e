/* Shared by import_study.c (findings) and import_campaign.c. */
#pragma once

#include "core/study/observation/campaign_store.h"
#include "core/study/observation/observation.h"
#include "core/study/import/import_study.h"

/* A campaign of the other store. */
struct taken_campaign {
        char *there, *here; /* owned; its names */
        struct campaign_settings settings;
        struct campaign_status status;
        char machine[PATH_SIZE]; /* "": it does not say */
        bool is_left_out;
};

/* A solver that both stores have. */
struct taking {
        struct store_source *source;
        struct study_import *report;
        struct solver *there, *here; /* refs */
        struct taken_campaign *campaigns; /* owned */
        size_t n_campaigns;
        uint32_t *numbers; /* owned; from a finding's number there to its number here; 0: it is passed over */
        uint32_t n_numbers;
        bool has_other_recipe; /* and it was said */
};

/* Is the commit that a version's text in full names here? True of what names none. */
bool taking_has_version(const struct taking *t, const char *version);

/* -- import_campaign.c -- */

/* Reads the campaigns and gives each a name here. A new one has only its settings and status then. */
int taking_read_campaigns(struct taking *t);
void taken_campaign_done(struct taken_campaign *c);
/* NULL: there is none of that name. */
const struct taken_campaign *taking_find_campaign(const struct taking *t, const char *there);
/* Copies their files, once all findings have their numbers. */
int taking_copy_campaigns(struct taking *t);
