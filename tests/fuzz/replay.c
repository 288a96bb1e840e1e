/* In place of libFuzzer: gives a target each file of the folders that are named, and nothing at all once, so that the seeds are a test that
 * every compiler builds. An input that crashes ends the program, as it does under the fuzzer. */
#include "fuzz.h"

#include <dirent.h>

#pragma weak LLVMFuzzerInitialize

static void replay(const char *folder, const char *name)
{
        cleanup_free char *path = NULL;
        cleanup_blob struct blob b = {0};

        must(asprintf(&path, "%s/%s", folder, name) >= 0);
        must(read_file(path, 1 << 20, &b) == 0);
        LLVMFuzzerTestOneInput(b.data, b.size);
}

static unsigned replay_all(const char *folder)
{
        DIR *dir = opendir(folder);
        unsigned n = 0;

        must(dir);
        for (const struct dirent *e; (e = readdir(dir));)
                if (e->d_name[0] != '.') {
                        replay(folder, e->d_name);
                        n++;
                }
        closedir(dir);
        return n;
}

static void leave_scratch(void)
{
        char path[PATH_SIZE];

        if (getcwd(path, sizeof(path)) && strncmp(path, "/dev/shm/solverfs-fuzz-", strlen("/dev/shm/solverfs-fuzz-")) == 0)
                remove_tree(path);
}

int main(int argc, char **argv)
{
        unsigned n = 0;

        if (LLVMFuzzerInitialize)
                LLVMFuzzerInitialize(&argc, &argv);
        LLVMFuzzerTestOneInput((const uint8_t *)"", 0);
        for (int i = 1; i < argc; i++)
                n += replay_all(argv[i]);
        must(n > 0);
        leave_scratch();
        printf("1..1\nok 1 - %u inputs\n", n);
        return 0;
}
