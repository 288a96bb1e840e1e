/* Pages of HTML: begin and end, links, data for scripts. */
#include "core/report/html.h"

#include <math.h>

#include "core/report/page_files.h"

/* -- text --------------------------------------------------------------------------------------------------------- */

void html_link(struct buffer *b, const char *path, const char *text)
{
        if (path) {
                buffer_adds(b, "<a href=\"");
                buffer_add_url_path(b, path);
                buffer_adds(b, "\">");
        }
        xml_add_escaped(b, text);
        if (path)
                buffer_adds(b, "</a>");
}

/* -- data --------------------------------------------------------------------------------------------------------- */

json_t *html_string(const char *text)
{
        cleanup_buffer struct buffer allowed = {0};

        buffer_adds(&allowed, "");
        xml_add_allowed(&allowed, text);
        return json_stringn(allowed.data, allowed.size);
}

/* These three occur only in strings, where JSON can escape them: so a parser of HTML sees neither the end of the script nor a comment. */
static int add_json(const char *text, size_t size, void *user)
{
        struct buffer *b = user;

        for (size_t i = 0, from = 0; i <= size; i++) {
                if (i < size && text[i] != '<' && text[i] != '>' && text[i] != '&')
                        continue;
                buffer_add(b, text + from, i - from);
                if (i < size)
                        buffer_addf(b, "\\u%04x", text[i]);
                from = i + 1;
        }
        return 0;
}

void html_data(struct buffer *b, const char *id, json_t *value)
{
        buffer_addf(b, "<script type=\"application/json\" id=\"%s\">", id);
        if (!value || json_dump_callback(value, add_json, b, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(6)) < 0)
                b->failed = true;
        json_decref(value);
        buffer_adds(b, "</script>\n");
}

/* -- the page ----------------------------------------------------------------------------------------------------- */

void html_page_begin(struct buffer *b, const char *title, const char *home)
{
        buffer_adds(b, "<!DOCTYPE html>\n<html lang=\"en\"");
        if (home)
                xml_addf(b, " data-home=\"%s\"", home);
        xml_addf(b, ">\n<head>\n<meta charset=\"utf-8\">\n"
                    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'sha256-%s'; "
                    "style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n"
                    "<meta name=\"referrer\" content=\"no-referrer\">\n"
                    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>%s</title>\n<style>",
                 page_script.sha256, title);
        buffer_add(b, page_style.text, page_style.size);
        buffer_adds(b, "</style>\n</head>\n<body>\n");
}

void html_page_end(struct buffer *b)
{
        buffer_adds(b, "<script>");
        buffer_add(b, page_script.text, page_script.size);
        buffer_adds(b, "</script>\n</body>\n</html>\n");
}

/* -- numbers for people ------------------------------------------------------------------------------------------- */

/* False if the value is finite. Else *ret is a dash for NaN, or the sign of infinity. */
static bool show_not_finite(double value, struct short_text *ret)
{
        strcpy(ret->s, isnan(value) ? "\xe2\x80\x93" : "\xe2\x88\x9e");
        return !isfinite(value);
}

struct short_text html_seconds(double seconds)
{
        double size = fabs(seconds);
        struct short_text n;

        if (!show_not_finite(seconds, &n))
                snprintf(n.s, sizeof(n.s), "%.*f s", size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : size >= 0.1 ? 3 : 4, seconds);
        return n;
}

struct short_text html_ratio(double ratio)
{
        struct short_text n;

        if (!show_not_finite(ratio, &n))
                snprintf(n.s, sizeof(n.s), ratio < 0.0995 ? "%.2g\xc3\x97" : ratio >= 99.5 ? "%.0f\xc3\x97" : ratio >= 9.95 ? "%.1f\xc3\x97" : "%.2f\xc3\x97", ratio);
        return n;
}
