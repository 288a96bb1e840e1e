/* The files that every page contains, embedded into the command by core/report/page/embed.py. */
#pragma once

#include <stddef.h>

struct page_file {
        const char *text; /* NUL behind it */
        size_t size;
        const char *sha256; /* in base64, as in a page's policy */
};
extern const struct page_file page_style, page_script; /* page/page.css, page/page.js */
