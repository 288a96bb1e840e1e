/* JSON looked at as text, for who reads one member of many long objects or passes them on: no value is made of the rest. Threads: any. */
#pragma once

#include <jansson.h>

#include "cache/base/util.h"

/* Appends what json_dumps(json_loadb(text), JSON_COMPACT | JSON_REAL_PRECISION(15)) would give, of an object in which no
 * key stands twice. -EINVAL, and nothing is appended: it is none. */
int json_add_compact(struct buffer *to, struct slice text);
/* The value of a member; json_decref(). NULL: there is none, or `text` is no object. */
json_t *json_load_member(struct slice text, const char *key);
