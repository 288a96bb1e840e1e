/* What compilers and linkers of today refuse, and the option with which they do not, by their own words. */
#include "draft.h"

struct remedy {
        const char *words; /* in the log */
        bool is_cxx;
        const char *flag, *why; /* flag NULL: shared libraries of the project */
};
static const struct remedy remedies[] = {
        {"[-fpermissive]", true, "-fpermissive", "The compiler takes these sources with -fpermissive only"},
        {"ISO C++17 does not allow", true, "-std=gnu++14", "These sources are older than C++17, the compiler's default"},
        {"[-Wnarrowing]", true, "-Wno-narrowing", "The compiler takes these sources with -Wno-narrowing only"},
        {"multiple definition of", false, "-fcommon", "These sources define a variable in several files, which GCC since 10 wants -fcommon for"},
        {"[-Wincompatible-pointer-types]", false, "-Wno-incompatible-pointer-types", "GCC since 14 takes these sources with -Wno-incompatible-pointer-types only"},
        {"[-Wimplicit-function-declaration]", false, "-Wno-implicit-function-declaration", "GCC since 14 takes these sources with -Wno-implicit-function-declaration only"},
        {"attempted static link of dynamic object", false, NULL, "Without shared libraries of its own it wants static ones of the system, which are not there"},
};

void compiler_flags_done(struct compiler_flags *f)
{
        buffer_done(&f->c);
        buffer_done(&f->cxx);
}

/* Is that on a line that is an error? The same words may only warn. */
static bool is_error(struct slice log, const char *words)
{
        const char *at = log.data, *end = at + log.size, *hit;

        while (at < end && (hit = memmem(at, (size_t)(end - at), words, strlen(words)))) {
                const char *begin = memrchr(log.data, '\n', (size_t)(hit - (const char *)log.data)), *newline = memchr(hit, '\n', (size_t)(end - hit));

                begin = begin ? begin + 1 : log.data;
                if (!strstr(words, "[-W") || memmem(begin, (size_t)((newline ?: end) - begin), "error:", strlen("error:")))
                        return true;
                at = newline ?: end;
        }
        return false;
}

const char *compiler_flags_learn(struct compiler_flags *f, struct slice log)
{
        for (size_t i = 0; i < ARRAY_SIZE(remedies); i++) {
                const struct remedy *m = &remedies[i];
                struct buffer *b = m->is_cxx ? &f->cxx : &f->c;

                if (f->taken & (1U << i) || log.size == 0 || !is_error(log, m->words))
                        continue;
                f->taken |= 1U << i;
                f->shared |= !m->flag;
                if (m->flag)
                        buffer_addf(b, "%s %s", b->size > 0 ? "" : m->is_cxx ? "g++" : "gcc", m->flag);
                return m->why;
        }
        return NULL;
}
