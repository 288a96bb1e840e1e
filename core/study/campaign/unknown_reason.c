#include "core/study/campaign/unknown_reason.h"

void unknown_reason(struct slice output, char ret[REASON_MOST])
{
        static const char key[] = "(:reason-unknown";
        const char *at = output.size > 0 ? memmem(output.data, output.size, key, strlen(key)) : NULL, *end = at, *newline;
        size_t open = 0;

        ret[0] = '\0';
        if (!at)
                return;
        at += strlen(key);
        end = (const char *)output.data + output.size;
        newline = memchr(at, '\n', (size_t)(end - at));
        end = newline ?: end;
        while (at < end && strchr(" \"|", *at))
                at++;
        for (const char *p = at; p < end; p++) { /* "(incomplete (theory arithmetic))": the last parenthesis is the attribute's, the others are the reason's */
                open += *p == '(';
                if (*p == ')' && open-- == 0)
                        end = p;
        }
        while (end > at && strchr(" \"|\r", end[-1]))
                end--;
        snprintf(ret, REASON_MOST, "%.*s", (int)MIN((size_t)(end - at), (size_t)REASON_MOST - 1), at);
}

bool reason_is_limit(const char *reason)
{
        static const char *const limits[] = {"timeout", "timed out", "resource", "cancel", "memout", "memory", "interrupted"};

        for (size_t i = 0; i < ARRAY_SIZE(limits); i++)
                if (strcasestr(reason, limits[i]))
                        return true;
        return false;
}
