#include "core/git/git.h"

#include <pthread.h>

static void begin(void)
{
        git_libgit2_init();
        git_libgit2_opts(GIT_OPT_SET_OWNER_VALIDATION, 0); /* see git.h */
        git_libgit2_opts(GIT_OPT_ENABLE_FSYNC_GITDIR, 1);  /* the index refers to commits durably, so they must be on disk */
        git_libgit2_opts(GIT_OPT_SET_CACHE_MAX_SIZE,
                         (ssize_t)(8 << 20)); /* the default, 256 MB, is too much for a daemon */
}

void git_begin(void)
{
        static pthread_once_t once = PTHREAD_ONCE_INIT;

        pthread_once(&once, begin);
}

void git_begin_unless_delayed(void)
{
        if (!git_begins_by_itself)
                git_begin();
}

const char *git_error_text(void)
{
        const git_error *e = git_error_last();

        return e && e->message ? e->message : "libgit2 gives no reason";
}

int git_errno(int r)
{
        static const struct {
                int code, error;
        } rows[] = {{GIT_ENOTFOUND, -ENOENT}, {GIT_EAMBIGUOUS, -ENOTUNIQ}, {GIT_EINVALIDSPEC, -EINVAL}, {GIT_EEXISTS, -EEXIST},
                    {GIT_EUSER, -ECANCELED},  {GIT_EAUTH, -EACCES},        {GIT_ECERTIFICATE, -EACCES},
                    {GIT_EUNBORNBRANCH, -ENODATA}};
        const git_error *e = git_error_last();

        for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
                if (rows[i].code == r)
                        return rows[i].error;
        if (r < 0 && e && e->klass == GIT_ERROR_NOMEMORY)
                return -ENOMEM;
        if (r < 0 && e && e->klass == GIT_ERROR_OS && e->message && strstr(e->message, strerror(ENOSPC)))
                return -ENOSPC; /* libgit2 has errno only in its message */
        return r < 0 ? -EIO : 0;
}

#ifdef __SANITIZE_ADDRESS__
/* libgit2 1.5 leaks pcre2's match data: 20 kB for each regular expression it matches (when making a remote, in `^{/text}`). */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
        return "leak:libpcre2";
}
#endif
