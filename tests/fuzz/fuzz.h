/* What the fuzz targets share. A target is a file fuzz_<name>.c with libFuzzer's LLVMFuzzerTestOneInput(), built by -Dfuzz=true (clang) and
 * run by tests/fuzz/run.sh; its seeds are in corpus/<name>, which replay.c makes a test. A property that does not hold ends it as a crash would: must(). */
#pragma once

#include <fcntl.h>
#include <sys/stat.h>

#include "cache/base/util.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

#define must(condition)                                                                                                      \
        do {                                                                                                                 \
                if (!(condition)) {                                                                                          \
                        fprintf(stderr, "%s:%d: does not hold: %s (%s)\n", __FILE__, __LINE__, #condition, strerror(errno)); \
                        abort();                                                                                             \
                }                                                                                                            \
        } while (0)

/* Takes bytes off the front; zeros when there are none left. */
struct input {
        const uint8_t *data;
        size_t size;
};

static inline uint8_t take_byte(struct input *in)
{
        return in->size > 0 ? (in->size--, *in->data++) : 0;
}

static inline uint64_t take_number(struct input *in, unsigned bytes)
{
        uint64_t n = 0;

        while (bytes-- > 0)
                n = n << 8 | take_byte(in);
        return n;
}

static inline struct slice take(struct input *in, size_t most)
{
        struct slice s = SLICE(in->data, MIN(in->size, most));

        in->data += s.size;
        in->size -= s.size;
        return s;
}

/* Up to the next zero byte, which is passed: a string of its own; free(). */
static inline char *take_string(struct input *in, size_t most)
{
        const uint8_t *end = in->size > 0 ? memchr(in->data, 0, in->size) : NULL;
        struct slice s = take(in, end ? MIN((size_t)(end - in->data), most) : most);
        char *text = malloc(s.size + 1);

        must(text);
        if (s.size > 0)
                memcpy(text, s.data, s.size);
        text[s.size] = '\0';
        if (end && in->size > 0 && in->data == end)
                take_byte(in);
        return text;
}

/* A folder in memory, made the working directory; the process's for as long as it lives. */
static inline void enter_scratch(void)
{
        static char dir[] = "/dev/shm/solverfs-fuzz-XXXXXX";

        must(mkdtemp(dir) && chdir(dir) == 0);
        log_set(LOG_LEVEL_ERROR, fopen("/dev/null", "we"));
}
