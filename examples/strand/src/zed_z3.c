#include "zed_z3.h"
#include <dlfcn.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

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

bool z3_load(void)
{
        void *library, **slot = (void **)&z3;

        if (z3.mk_context)
                return true;
        library = dlopen("libz3.so.4", RTLD_LAZY | RTLD_LOCAL);
        if (!library)
                library = dlopen("libz3.so", RTLD_LAZY | RTLD_LOCAL);
        for (size_t i = 0; library && i < sizeof(names) / sizeof(*names); i++)
                if (!(slot[i] = dlsym(library, names[i])))
                        library = NULL;
        if (!library) {
                fprintf(stderr, "strand: cannot load Z3: %s; install libz3\n", dlerror());
                z3.mk_context = NULL;
                return false;
        }
        make_room();
        return true;
}
