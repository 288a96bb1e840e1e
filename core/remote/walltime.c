#include "core/remote/walltime.h"

#include <ctype.h>

#define DAY_SECONDS  (24 * 60 * 60)
#define ANSWER_MOST  64
#define ASK_SLURM    "exec timeout 10 squeue --noheader --jobs=\"$SLURM_JOB_ID\" --format=%L </dev/null 2>&1"

int walltime_parse(const char *text, uint64_t *ret_ns)
{
        unsigned days = 0, part[3] = {0}, n = 0;
        int used = 0;

        if (strcmp(text, "UNLIMITED") == 0) {
                *ret_ns = UINT64_MAX;
                return 0;
        }
        if (sscanf(text, "%5u-%n", &days, &used) == 1 && used > 0)
                text += used;
        else
                days = 0;
        for (bool more = true; more; text += more) {
                if (n == ARRAY_SIZE(part) || !isdigit((unsigned char)*text) || sscanf(text, "%5u%n", &part[n++], &used) != 1)
                        return -EINVAL;
                text += used;
                more = *text == ':';
        }
        if (*text || n < 2) /* the last two parts are minutes and seconds */
                return -EINVAL;
        *ret_ns = ((uint64_t)days * DAY_SECONDS + (n == 3 ? part[0] * UINT64_C(3600) : 0) + part[n - 2] * UINT64_C(60) + part[n - 1]) * NSEC_PER_SEC;
        return 0;
}

/* The first line of a command's output. */
static int first_line(const char *command, char ret[ANSWER_MOST])
{
        FILE *from = popen(command, "re");
        bool any = from && fgets(ret, ANSWER_MOST, from);

        ret[any ? strcspn(ret, "\n") : 0] = '\0';
        return from && pclose(from) == 0 && any ? 0 : -EIO;
}

uint64_t walltime_left(bool *ret_unknown)
{
        const char *end_text = getenv("SLURM_JOB_END_TIME");
        int64_t end = end_text ? atoll(end_text) : 0, now = now_seconds();
        char answer[ANSWER_MOST] = "";
        uint64_t left;

        *ret_unknown = false;
        if (end > 0)
                return end > now ? (uint64_t)(end - now) * NSEC_PER_SEC : 0;
        if (!getenv("SLURM_JOB_ID"))
                return UINT64_MAX;
        if (first_line(ASK_SLURM, answer) == 0 && walltime_parse(answer, &left) == 0)
                return left;
        *ret_unknown = true;
        return UINT64_MAX;
}
