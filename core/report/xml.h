/* Text for XML documents. Thread-safe. */
#pragma once

#include "cache/base/util.h"

/* With what XML 1.0 cannot carry, not even as a character reference, replaced by U+FFFD: control characters but tab and newline, bytes that are
 * not valid UTF-8, U+FFFE and U+FFFF. */
void xml_add_allowed(struct buffer *to, const char *text);
/* Allowed text, for an element or between double quotes. No more than `most` characters, then an ellipsis. */
void xml_add_escaped(struct buffer *to, const char *text, size_t most);
