/* Short ways to read and write JSON with jansson. Header only; the including program links jansson. Threads: any. */
#pragma once

#include <jansson.h>
#include <stdint.h>

#include "cache/base/util.h"

/* printable() of the text; null for NULL. */
static inline json_t *json_printable(const char *text)
{
        cleanup_free char *shown = text ? printable(text) : NULL;

        return shown ? json_string(shown) : json_null();
}

/* The text as it is; printable() if it is not UTF-8, which JSON cannot hold. */
static inline json_t *json_legible(const char *text)
{
        return json_string(text) ?: json_printable(text);
}

/* The texts of a NULL-terminated list; none for NULL. */
static inline json_t *json_strings(char *const *list)
{
        json_t *array = json_array();

        for (; list && *list; list++)
                json_array_append_new(array, json_legible(*list));
        return array;
}

/* A member's text, owned by the object; `otherwise` if the member is missing or not a text. */
static inline const char *json_text(const json_t *object, const char *key, const char *otherwise)
{
        const char *text = json_string_value(json_object_get(object, key));

        return text ? text : otherwise;
}

static inline json_t *json_seconds(uint64_t ns)
{
        return json_real((double)ns / 1e9);
}
