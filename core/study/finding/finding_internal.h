/* The bytes of records, for the files of this room that read and write the store: finding_record.c, campaign_settings.c and campaign_status.c know them. */
#pragma once

#include <jansson.h>

#include "core/study/finding/campaign_store.h"
#include "core/study/finding/finding.h"

int finding_encode(const struct finding *f, struct buffer *ret); /* -ENOMEM */
/* -EBADMSG with a sentence: damaged. */
int finding_decode(uint32_t solver, uint32_t number, struct slice bytes, struct finding **ret);

/* New references; NULL: no memory. */
json_t *campaign_settings_json(const struct campaign_settings *s);
json_t *campaign_status_json(const struct campaign_status *s);
/* -EIO with a sentence: damaged. `name` is the campaign's. */
int campaign_settings_from_json(json_t *j, const char *name, struct campaign_settings *ret);
int campaign_status_from_json(json_t *j, const char *name, struct campaign_status *ret);
