/* The record of a case and its stored form. Part of cases.c. */
#pragma once

#include "core/cases/cases.h"

/* With its name, logic, and room for what it expects; the rest is zero. */
struct case_info *case_info_new(struct slice name, struct slice logic, size_t n_expected);
struct case_info *case_info_renamed(const struct case_info *old, const char *name); /* a copy that is not removed */

int case_record_encode(const struct case_info *i, struct buffer *ret);
int case_record_decode(uint32_t id, struct slice bytes, struct case_info **ret); /* -EBADMSG */
bool case_record_is_removed(struct slice bytes);                                 /* without looking at the rest */
