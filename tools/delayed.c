#include "delayed.h"

#include <dlfcn.h>

#include "command.h"
#include "core/git/git.h"

/* The process cannot go on without the library, and no caller expects it to be missing. */
static void give_up(const char *what)
{
        complain("%s; install the package that it is in", what ? what : "a library is missing");
        _exit(STATUS_SYSTEM);
}

void *delayed_bind(size_t function)
{
        const char *name = delayed_functions[function];
        void *library = dlopen(delayed_libraries[delayed_owners[function]], RTLD_LAZY | RTLD_LOCAL), *found;

        if (!library)
                give_up(dlerror());
        found = dlsym(library, name);
        if (!found)
                give_up(dlerror());
        if (strncmp(name, "git_", 4) == 0 && strncmp(name, "git_libgit2_", 12) != 0)
                git_begin();
        __atomic_store_n(&delayed_slots[function], found, __ATOMIC_RELEASE); /* last: other threads call it at once */
        return found;
}

/* Stands before the function of Mbed TLS: libgit2 calls it when it begins, to parse every certificate of the system, a quarter of the time of a command.
 * None is needed here, as only solverfs-fetch talks to servers. Without certificates libgit2 would trust no server. */
__attribute__((visibility("default"))) int mbedtls_x509_crt_parse_file(void *chain, const char *path);
int mbedtls_x509_crt_parse_file(void *, const char *)
{
        return 0;
}

bool git_begins_by_itself(void)
{
        return true;
}
