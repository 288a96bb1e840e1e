/* Repositories for tests are made by git itself: what it writes is what has to be read. */
#pragma once

#include "tests/support/test.h"

#define GIT                                                                                                         \
        "export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null GIT_AUTHOR_NAME='A U Thor' "                \
        "GIT_AUTHOR_EMAIL=author@example.org "                                                                      \
        "GIT_COMMITTER_NAME=C GIT_COMMITTER_EMAIL=c@example.org; T=1700000000; "                                    \
        "git() { T=$((T+60)); GIT_AUTHOR_DATE=\"$T +0200\" GIT_COMMITTER_DATE=\"$T +0200\" command git \"$@\"; }; " \
        "commit() { git add -A && git commit -qm \"$1\"; }; set -e; "

static inline void shell(const char *script)
{
        cleanup_free char *text = NULL;
        int status;

        ck_assert_int_gt(asprintf(&text, GIT "%s", script), 0);
        status = system(text);
        ck_assert_msg(status == 0, "%s", script);
}

/* The one line that a command prints. */
static inline void ask(const char *script, char ret[256])
{
        cleanup_free char *text = NULL;
        FILE *f;

        ck_assert_int_gt(asprintf(&text, GIT "%s", script), 0);
        f = popen(text, "r");
        ck_assert_ptr_nonnull(f);
        ck_assert_ptr_nonnull(fgets(ret, 256, f));
        ck_assert_int_eq(pclose(f), 0);
        ret[strcspn(ret, "\n")] = '\0';
}
