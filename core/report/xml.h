/* Text for XML documents. Thread-safe. */
#pragma once

#include "cache/base/util.h"

/* Adds text with U+FFFD in place of control characters except tab and newline, bytes that are not valid UTF-8, U+FFFE and U+FFFF (XML 1.0 cannot
 * express these), and characters that change the direction of text. */
void xml_add_allowed(struct buffer *to, const char *text);
/* The same for an element or between double quotes. */
void xml_add_escaped(struct buffer *to, const char *text);
/* Adds markup with such a text for each %s and a number for each %zu; no other conversions. */
void xml_addf(struct buffer *to, const char *format, ...) printf_like(2, 3);
