/* Text for XML documents. Thread-safe. */
#pragma once

#include "cache/base/util.h"

/* With what a document should not carry replaced by U+FFFD: control characters but tab and newline, bytes that are not valid UTF-8, U+FFFE and U+FFFF
 * (XML 1.0 has no way to write these), and characters that turn the direction of the text behind them. */
void xml_add_allowed(struct buffer *to, const char *text);
/* The same for an element or between double quotes. */
void xml_add_escaped(struct buffer *to, const char *text);
/* Markup in which each %s stands for such a text, and %zu for a number; there is no other. */
void xml_addf(struct buffer *to, const char *format, ...) printf_like(2, 3);
