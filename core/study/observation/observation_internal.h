/* The bytes of records, for the files of this room that read and write the store: observation_record.c, campaign_settings.c and campaign_status.c know them. */
#pragma once

#include <jansson.h>

#include "core/study/observation/campaign_store.h"

/* The texts of an observation, in the order of its record. */
#define N_OBSERVATION_TEXTS 8
char **observation_text(struct observation *o, size_t i);

void observation_encode(const struct observation *o, struct buffer *ret);
/* -EIO with a sentence: damaged. */
int observation_decode(enum observation_series series, uint32_t solver, uint32_t number, struct slice bytes, struct observation **ret);

/* New references. */
json_t *campaign_settings_json(const struct campaign_settings *s);
json_t *campaign_status_json(const struct campaign_status *s);
/* -EIO with a sentence: damaged. `name` is the campaign's. */
int campaign_settings_from_json(json_t *j, const char *name, struct campaign_settings *ret);
int campaign_status_from_json(json_t *j, const char *name, struct campaign_status *ret);
