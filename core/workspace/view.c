#include "core/workspace/view.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void view_print(const struct view *v, char ret[VIEW_NAME_SIZE])
{
        const char *root = v->cached ? "cached" : "commits";

        if (v->has_seed)
                snprintf(ret, VIEW_NAME_SIZE, "%" PRIu32 "/%s/seed/%" PRIu64, v->solver, root, v->seed);
        else if (v->scramble > 0)
                snprintf(ret, VIEW_NAME_SIZE, "%" PRIu32 "/%s/scrambled/%" PRIu64, v->solver, root, v->scramble);
        else if (v->has_timeout)
                snprintf(ret, VIEW_NAME_SIZE, "%" PRIu32 "/%s/timeout/%" PRIu64, v->solver, root, v->timeout_ns);
        else
                snprintf(ret, VIEW_NAME_SIZE, "%" PRIu32 "/%s", v->solver, root);
}

bool view_parse(const char *name, struct view *ret)
{
        char root[16] = "", setting[16] = "";
        uint64_t n = 0;
        int fields = sscanf(name, "%" SCNu32 "/%15[^/]/%15[^/]/%" SCNu64, &ret->solver, root, setting, &n);

        if (fields != 2 && fields != 4)
                return false;
        ret->cached = strcmp(root, "cached") == 0;
        ret->has_seed = strcmp(setting, "seed") == 0;
        ret->has_timeout = strcmp(setting, "timeout") == 0;
        if (ret->has_seed)
                ret->seed = n;
        else if (strcmp(setting, "scrambled") == 0)
                ret->scramble = n;
        else
                ret->timeout_ns = n;
        return true;
}
