#include "core/workspace/view.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *const settings[N_SETTINGS] = {"", "seed", "scrambled", "timeout"};

void view_print(const struct view *v, char ret[VIEW_NAME_SIZE])
{
        int n = snprintf(ret, VIEW_NAME_SIZE, "%" PRIu32 "/%s", v->solver, v->cached ? "cached" : "commits");

        if (v->setting != SETTING_NONE)
                snprintf(ret + n, VIEW_NAME_SIZE - (size_t)n, "/%s/%" PRIu64, settings[v->setting], v->n);
}

bool view_parse(const char *name, struct view *ret)
{
        char root[16] = "", setting[16] = "";
        int fields;

        *ret = (struct view){0};
        fields = sscanf(name, "%" SCNu32 "/%15[^/]/%15[^/]/%" SCNu64, &ret->solver, root, setting, &ret->n);
        ret->cached = strcmp(root, "cached") == 0;
        for (int i = SETTING_SEED; i < N_SETTINGS && fields == 4; i++)
                if (strcmp(setting, settings[i]) == 0)
                        ret->setting = (enum setting)i;
        return fields == 2 || (fields == 4 && ret->setting != SETTING_NONE);
}
