#include "zed_z3.h"
#include <dlfcn.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include <z3_version.h>

struct z3 z3;

static const char *const names[] = {
#define F(name) "Z3_" #name,
        Z3_FUNCTIONS(F)
#undef F
};

/* A context of Z3 fills 17 MB at once. In pages of 2 MB that is half the time, so the heap gets room for it and asks for them; where the
 * kernel has none to give nothing changes. */
static void make_room(void)
{
        const size_t room = (size_t)24 << 20, page = (size_t)2 << 20;
        void *volatile grow; /* a compiler would leave out what it sees freed at once */
        uintptr_t from;

        mallopt(M_MMAP_THRESHOLD, 32 << 20);
        mallopt(M_TRIM_THRESHOLD, 64 << 20);
        mallopt(M_TOP_PAD, (int)room);
        from = ((uintptr_t)sbrk(0) + page - 1) & ~(page - 1);
        grow = malloc((size_t)1 << 20);
        free(grow);
        mallopt(M_TOP_PAD, 128 << 10);
        if ((uintptr_t)sbrk(0) > from)
                madvise((void *)from, ((uintptr_t)sbrk(0) - from) & ~(page - 1), MADV_HUGEPAGE);
}

/* libz3 and its functions; NULL: not there, or not all of them. */
static void *bind(const char *name)
{
        void *library = dlopen(name, RTLD_LAZY | RTLD_LOCAL), **slot = (void **)&z3;

        for (size_t i = 0; library && i < sizeof(names) / sizeof(*names); i++)
                if (!(slot[i] = dlsym(library, names[i])))
                        library = NULL;
        return library;
}

bool z3_load(void)
{
        static bool loaded;
        unsigned major, minor, build, revision;

        if (loaded)
                return true;
        if (!bind("libz3.so.4") && !bind("libz3.so")) {
                fprintf(stderr, "strand: cannot load Z3: %s; install libz3\n", dlerror());
                return false;
        }
        z3.get_version(&major, &minor, &build, &revision);
        if (major != Z3_MAJOR_VERSION || minor != Z3_MINOR_VERSION) { /* types of its callbacks have changed between these */
                fprintf(stderr, "strand: cannot use Z3 %u.%u: built for %u.%u; build strand again\n", major, minor, Z3_MAJOR_VERSION,
                        Z3_MINOR_VERSION);
                return false;
        }
        make_room();
        loaded = true;
        return true;
}
