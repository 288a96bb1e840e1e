/* solverfs-trail.a: the hooks that a program built for its trail calls (solverfs-shim adds it to links). A trail is the sequence of a run's calls,
 * returns and comparisons, as GCC and Clang report them by -finstrument-functions and -fsanitize-coverage=trace-cmp; of the main thread alone.
 *
 * A step is the name of its function and, for a comparison, its outcome. Names, unlike addresses or values, let the trails of two versions be
 * aligned. Names come from the program's symbol table, without the compiler's suffixes (".isra.0"). A function in the list of $SOLVERFS_TRAIL_SKIP,
 * which the other version does not have, makes no steps; its callees do. Two addresses compare only as equal or different: the heap's place differs
 * between runs.
 *
 * Steps are gathered in chunks. A chunk's end depends on the last steps alone (as in LBFS and FastCDC), so that chunks are the same again after an
 * insertion. $SOLVERFS_TRAIL says what is printed, on descriptor TRAIL_FD; numbers are hexadecimal:
 *
 *     names              N NAME                each function, and the program ends before main()
 *     chunks             K STEPS HASH          a chunk; at once, so that a killed program has reported all but its last one
 *                        X                     the end, after the last chunk
 *     window FROM N      M FILE PATH           a file with code, from 0
 *                        F NUMBER FILE ADDRESS NAME    a function, before its first mention; the address is that of the file's own headers
 *                        S NUMBER              a call that was open after FROM steps, the outermost first
 *                        C NUMBER, R NUMBER    a call, a return
 *                        T NUMBER OUTCOME FILE ADDRESS    a comparison in the function
 *                        c NUMBER, r NUMBER    a call or return of one in the list: no step
 *                        and the program ends after N steps
 *     all                P                     once, when another thread makes a step
 *
 * It uses only functions of every libc, and no memory of the program's heap. Forked children are not followed, nor programs that they execute. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/stat.h>
#include <unistd.h>

#define TRAIL_FD    9
#define CHUNK_BITS  14 /* binary logarithm of their usual length */
#define CHUNK_LEAST (1u << 12)
#define CHUNK_MOST  (1u << 18)
#define HEAP_ALIGN  (UINT64_C(64) << 20)
#define STACK_MOST  (1u << 18)
#define FILES_MOST  256
#define POINTER     (INT64_C(1) << 32) /* from here on a number may be an address */
#define MIX_STEP    UINT64_C(0x9e3779b97f4a7c15)
#define MIX_CHUNK   UINT64_C(0x100000001b3)

struct function {
        uintptr_t address; /* 0: a free place of the table */
        const char *name;  /* in the file, which stays mapped */
        uint64_t id;       /* of the name; 0: makes no steps */
        unsigned file, number;
        bool is_told;
};
struct call {
        struct function *function;
        uintptr_t stack; /* the stack pointer at the call: longjmp() left every deeper call */
};

static __thread bool is_main __attribute__((tls_model("initial-exec")));
static bool is_on, has_others, has_begun;
static pid_t owner;
static uint64_t hash, gear; /* of the chunk's steps; of the last 64 steps */
static uint64_t steps, from = UINT64_MAX, until = UINT64_MAX; /* so far; of the window */
static uint32_t length; /* of the chunk */
static struct call stack[STACK_MOST];
static uint32_t depth;
static struct function *table;
static size_t n_functions, n_table;
static uint64_t *skipped;
static size_t n_skipped;
static struct file {
        uintptr_t base;
        char path[512];
} files[FILES_MOST];
static unsigned n_files;

/* -- printing ------------------------------------------------------------------------------------------------------ */

static char text[1 << 16];
static size_t n_text;

static void flush(void)
{
        const int before = errno; /* the program's */

        for (size_t at = 0; at < n_text && getpid() == owner;) {
                ssize_t n = write(TRAIL_FD, text + at, n_text - at);

                if (n < 0 && errno == EINTR)
                        continue;
                if (n <= 0)
                        is_on = false;
                at = n > 0 ? at + (size_t)n : n_text;
        }
        errno = before;
        n_text = 0;
}

static void put(const char *s, size_t n)
{
        if (n_text + n > sizeof(text))
                flush();
        if (n <= sizeof(text)) {
                memcpy(text + n_text, s, n);
                n_text += n;
        }
}

static void put_number(uint64_t x)
{
        char digits[17];
        size_t n = sizeof(digits);

        do
                digits[--n] = "0123456789abcdef"[x & 15];
        while (x >>= 4);
        digits[--n] = ' ';
        put(digits + n, sizeof(digits) - n);
}

static void put_string(const char *s, size_t n)
{
        put(" ", 1);
        put(s, n);
}

/* -- functions ----------------------------------------------------------------------------------------------------- */

/* The length of the name without a suffix that the compiler added. */
static size_t name_size(const char *name)
{
        const char *dot = strchr(name, '.');

        return dot && dot > name ? (size_t)(dot - name) : strlen(name);
}

static uint64_t name_id(const char *name, size_t n)
{
        uint64_t h = UINT64_C(0xcbf29ce484222325);

        for (size_t i = 0; i < n; i++)
                h = (h ^ (unsigned char)name[i]) * UINT64_C(0x100000001b3);
        return h | 1;
}

static bool is_skipped(uint64_t id)
{
        for (size_t at = id * MIX_STEP & (n_skipped - 1); n_skipped && skipped[at]; at = (at + 1) & (n_skipped - 1))
                if (skipped[at] == id)
                        return true;
        return false;
}

static void *anonymous(size_t size)
{
        void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        return p == MAP_FAILED ? NULL : p;
}

/* The function's place in the table, or the free one that it would have. */
static struct function *find(uintptr_t address)
{
        size_t at = (address * MIX_STEP) >> 20 & (n_table - 1);

        while (table[at].address && table[at].address != address)
                at = (at + 1) & (n_table - 1);
        return &table[at];
}

/* False if memory is out. The old table is kept, as the stack points to it. */
static bool make_room(size_t n)
{
        struct function *old = table;
        const size_t n_old = n_table;

        if (2 * (n_functions + n) < n_table)
                return true;
        while (n_table <= 2 * (n_functions + n))
                n_table = n_table ? 2 * n_table : 1 << 12;
        table = anonymous(n_table * sizeof(*table));
        if (!table)
                return false;
        for (size_t i = 0; i < n_old; i++)
                if (old[i].address)
                        *find(old[i].address) = old[i];
        return true;
}

/* Keeps the alphabetically first of two names for one address. The caller has made room. */
static void add_function(uintptr_t address, const char *name, unsigned file)
{
        struct function *f = find(address);
        const size_t n = name_size(name);
        const uint64_t id = name_id(name, n);

        if (f->address && (!f->name || strcmp(f->name, name) <= 0))
                return;
        *f = (struct function){.address = address,
                               .name = name,
                               .id = is_skipped(id) ? 0 : id,
                               .file = file,
                               .number = f->address ? f->number : (unsigned)n_functions++};
}

static bool lies_in(size_t size, uint64_t offset, uint64_t n)
{
        return offset <= size && n <= size - offset;
}

static void read_symbols(const char *bytes, size_t size, uintptr_t base, unsigned file)
{
        const Elf64_Ehdr *head = (const Elf64_Ehdr *)bytes;
        const Elf64_Shdr *sections = (const Elf64_Shdr *)(bytes + head->e_shoff);

        if (size < sizeof(*head) || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 || head->e_ident[EI_CLASS] != ELFCLASS64 ||
            !lies_in(size, head->e_shoff, (uint64_t)head->e_shnum * sizeof(*sections)))
                return;
        for (unsigned i = 0; i < head->e_shnum; i++) {
                const Elf64_Shdr *s = &sections[i], *names = s->sh_link < head->e_shnum ? &sections[s->sh_link] : NULL;
                const Elf64_Sym *list = (const Elf64_Sym *)(bytes + s->sh_offset);
                const size_t n = s->sh_size / sizeof(*list);

                if (s->sh_type != SHT_SYMTAB || !names || !lies_in(size, s->sh_offset, s->sh_size) ||
                    !lies_in(size, names->sh_offset, names->sh_size) || !make_room(n))
                        continue;
                for (size_t k = 0; k < n; k++)
                        if (ELF64_ST_TYPE(list[k].st_info) == STT_FUNC && list[k].st_shndx != SHN_UNDEF && list[k].st_name < names->sh_size)
                                add_function(base + list[k].st_value, bytes + names->sh_offset + list[k].st_name, file);
        }
}

static int read_object(struct dl_phdr_info *info, size_t size, void *user)
{
        struct file *f = &files[n_files];
        const char *path = n_files == 0 || !info->dlpi_name ? "/proc/self/exe" : info->dlpi_name;
        struct stat st;
        void *bytes;
        ssize_t n;
        int fd;

        for (unsigned i = 0; i < n_files; i++)
                if (files[i].base == info->dlpi_addr)
                        return 0;
        if (n_files == FILES_MOST || strlen(path) >= sizeof(f->path))
                return 0;
        strcpy(f->path, path);
        if (n_files == 0 && (n = readlink(path, f->path, sizeof(f->path) - 1)) > 0)
                f->path[n] = '\0';
        f->base = info->dlpi_addr;
        n_files++;
        fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd >= 0 && fstat(fd, &st) == 0 && st.st_size > 0 && (bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0)) != MAP_FAILED)
                read_symbols(bytes, (size_t)st.st_size, info->dlpi_addr, n_files - 1);
        if (fd >= 0)
                close(fd);
        (void)size;
        (void)user;
        return 0;
}

/* An unknown function is in a file loaded meanwhile, or has no symbol. */
static struct function *function_at(void *address)
{
        struct function *f = find((uintptr_t)address);

        if (f->address)
                return f;
        dl_iterate_phdr(read_object, NULL);
        if (!make_room(1))
                return f;
        f = find((uintptr_t)address);
        if (!f->address)
                *f = (struct function){.address = (uintptr_t)address, .number = (unsigned)n_functions++};
        return f;
}

/* -- steps --------------------------------------------------------------------------------------------------------- */

static void end_chunk(void)
{
        if (until == UINT64_MAX) {
                put("K", 1);
                put_number(length);
                put_number(hash);
                put("\n", 1);
                flush();
        }
        hash = length = 0;
}

/* Adds a step to the chunk. `x`: 3 * the function's id, + 1 for a return, + 2 (and the outcome) for a comparison. */
static void step(uint64_t x)
{
        x *= MIX_STEP;
        x ^= x >> 32;
        hash = (hash ^ x) * MIX_CHUNK;
        gear = (gear << 1) + x;
        steps++;
        if (++length >= CHUNK_MOST || (length >= CHUNK_LEAST && gear >> (64 - CHUNK_BITS) == 0))
                end_chunk();
}

/* Puts the beginning of a line about the function; before its first mention also the line F. */
static void put_function(char kind, struct function *f)
{
        if (!f->is_told) {
                put("F", 1);
                put_number(f->number);
                put_number(f->file);
                put_number(f->address - files[f->file].base);
                put_string(f->name ? f->name : "?", f->name ? name_size(f->name) : 1);
                put("\n", 1);
                f->is_told = true;
        }
        put(&kind, 1);
        put_number(f->number);
}

static void begin_window(void)
{
        has_begun = true;
        for (unsigned i = 0; i < n_files; i++) {
                put("M", 1);
                put_number(i);
                put_string(files[i].path, strlen(files[i].path));
                put("\n", 1);
        }
        for (uint32_t i = 0; i < depth && i < STACK_MOST; i++) {
                put_function('S', stack[i].function);
                put("\n", 1);
        }
}

/* True if the next step is to be printed. Prints the window's beginning before its first step, and ends the program behind its last one. */
static bool is_in_window(void)
{
        if (steps < from)
                return false;
        if ((!has_begun || steps >= until) && getpid() != owner) { /* a child goes on */
                from = UINT64_MAX;
                return false;
        }
        if (!has_begun)
                begin_window();
        if (steps < until)
                return true;
        flush();
        _exit(0);
}

/* Prints a call ('C') or return ('R') in the window; in small letters if it is no step. */
static void tell(char kind, struct function *f)
{
        if (!is_in_window())
                return;
        put_function(f->id ? kind : (char)(kind | 0x20), f);
        put("\n", 1);
}

/* True if the thread's steps are recorded. Only the main thread's are. */
static bool is_traced(void)
{
        if (is_main)
                return is_on;
        if (is_on && !has_others) {
                has_others = true;
                (void)!write(TRAIL_FD, "P\n", 2);
        }
        return false;
}

void __cyg_profile_func_enter(void *function, void *site);
void __cyg_profile_func_exit(void *function, void *site);

void __cyg_profile_func_enter(void *function, void *site)
{
        const uintptr_t at = (uintptr_t)__builtin_frame_address(0);
        struct function *f;

        (void)site;
        if (!is_traced())
                return;
        f = function_at(function);
        while (depth > 0 && depth <= STACK_MOST && stack[depth - 1].stack < at)
                depth--;
        tell('C', f);
        if (f->id)
                step(f->id * 3);
        if (depth < STACK_MOST)
                stack[depth] = (struct call){f, at};
        depth++;
}

void __cyg_profile_func_exit(void *function, void *site)
{
        struct function *f;
        uint32_t i;

        (void)site;
        if (!is_traced())
                return;
        i = depth < STACK_MOST ? depth : STACK_MOST;
        if (depth > STACK_MOST)
                depth--, f = function_at(function);
        else {
                while (i > 0 && stack[i - 1].function->address != (uintptr_t)function)
                        i--;
                f = i > 0 ? stack[i - 1].function : function_at(function);
                depth = i > 0 ? i - 1 : depth;
        }
        tell('R', f);
        if (f->id)
                step(f->id * 3 + 1);
}

/* `outcome`: 0 equal, 1 less, 2 greater, 3 two different addresses or a NaN; from 4 on a switch's case, by its number. */
static void compared(unsigned outcome, const void *at)
{
        struct function *f;

        if (!is_traced() || depth == 0)
                return;
        f = stack[(depth < STACK_MOST ? depth : STACK_MOST) - 1].function;
        if (f->id == 0)
                return;
        if (is_in_window()) {
                put_function('T', f);
                put_number(outcome);
                put_number(f->file);
                put_number((uintptr_t)at - 1 - files[f->file].base);
                put("\n", 1);
        }
        step((f->id * 3 + 2) ^ (uint64_t)(outcome + 1) << 40);
}

/* Visible to shared libraries, which find these in the program: -fvisibility=default. */
#define HOOK_INTEGER(name, type)                                                          \
        void name(type a, type b);                                                        \
        void name(type a, type b)                                                         \
        {                                                                                 \
                compared(a == b ? 0 : a < b ? 1 : 2, __builtin_return_address(0));        \
        }
#define HOOK_ADDRESS(name)                                                                                         \
        void name(int64_t a, int64_t b);                                                                           \
        void name(int64_t a, int64_t b)                                                                            \
        {                                                                                                          \
                compared(a == b ? 0 : a >= POINTER && b >= POINTER ? 3 : a < b ? 1 : 2, __builtin_return_address(0)); \
        }
#define HOOK_REAL(name, type)                                                                          \
        void name(type a, type b);                                                                     \
        void name(type a, type b)                                                                      \
        {                                                                                              \
                compared(a < b ? 1 : a > b ? 2 : a >= b ? 0 : 3, __builtin_return_address(0));         \
        }
HOOK_INTEGER(__sanitizer_cov_trace_cmp1, int8_t)
HOOK_INTEGER(__sanitizer_cov_trace_cmp2, int16_t)
HOOK_INTEGER(__sanitizer_cov_trace_cmp4, int32_t)
HOOK_ADDRESS(__sanitizer_cov_trace_cmp8)
HOOK_INTEGER(__sanitizer_cov_trace_const_cmp1, int8_t)
HOOK_INTEGER(__sanitizer_cov_trace_const_cmp2, int16_t)
HOOK_INTEGER(__sanitizer_cov_trace_const_cmp4, int32_t)
HOOK_ADDRESS(__sanitizer_cov_trace_const_cmp8)
HOOK_REAL(__sanitizer_cov_trace_cmpf, float)
HOOK_REAL(__sanitizer_cov_trace_cmpd, double)

void __sanitizer_cov_trace_switch(uint64_t value, uint64_t *cases);
void __sanitizer_cov_trace_switch(uint64_t value, uint64_t *cases) /* their number, their width, and the values */
{
        uint64_t i = 0;

        while (i < cases[0] && cases[2 + i] != value)
                i++;
        compared((unsigned)i + 4, __builtin_return_address(0));
}

/* -- its beginning and end ----------------------------------------------------------------------------------------- */

static void read_skipped(const char *path)
{
        const int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
        struct stat st;
        const char *bytes, *end;
        size_t n = 0;

        if (fd < 0 || fstat(fd, &st) < 0 || st.st_size == 0 || (bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0)) == MAP_FAILED)
                return;
        end = bytes + st.st_size;
        for (const char *p = bytes; p < end; p++)
                n += *p == '\n';
        for (n_skipped = 16; n_skipped < 2 * n + 2;)
                n_skipped *= 2;
        skipped = anonymous(n_skipped * sizeof(*skipped));
        if (!skipped)
                n_skipped = 0;
        for (const char *p = bytes, *newline; n_skipped && p < end && (newline = memchr(p, '\n', (size_t)(end - p))); p = newline + 1) {
                const uint64_t id = name_id(p, (size_t)(newline - p));
                size_t at = id * MIX_STEP & (n_skipped - 1);

                while (skipped[at])
                        at = (at + 1) & (n_skipped - 1);
                skipped[at] = id;
        }
}

static void print_names(void)
{
        for (size_t i = 0; i < n_table; i++)
                if (table[i].name) {
                        put("N", 1);
                        put_string(table[i].name, name_size(table[i].name));
                        put("\n", 1);
                }
        flush();
        _exit(0);
}

/* Code that depends on addresses (a sort, a hash) should do the same each time, and in two programs of different sizes. So address randomization is
 * turned off, if possible, and the heap begins at a round address. */
static void fix_addresses(char **argv, char **environment)
{
        const int now = personality(0xffffffff);

        if (now >= 0 && !(now & ADDR_NO_RANDOMIZE) && personality((unsigned long)now | ADDR_NO_RANDOMIZE) >= 0)
                execve("/proc/self/exe", argv, environment);
        sbrk((intptr_t)(HEAP_ALIGN - (uintptr_t)sbrk(0) % HEAP_ALIGN));
}

/* In glibc a library's constructors get the program's arguments, too. */
static __attribute__((constructor(101))) void begin(int argc, char **argv, char **environment)
{
        const char *mode = getenv("SOLVERFS_TRAIL");
        char *end;

        if (!mode || fcntl(TRAIL_FD, F_GETFD) < 0)
                return;
        if (argc > 0)
                fix_addresses(argv, environment);
        fcntl(TRAIL_FD, F_SETFD, FD_CLOEXEC);
        owner = getpid();
        read_skipped(getenv("SOLVERFS_TRAIL_SKIP"));
        if (!make_room(1))
                return;
        dl_iterate_phdr(read_object, NULL);
        if (strcmp(mode, "names") == 0)
                print_names();
        if (strncmp(mode, "window ", 7) == 0) {
                from = strtoull(mode + 7, &end, 10);
                until = from + strtoull(end, NULL, 10);
        }
        unsetenv("SOLVERFS_TRAIL"); /* the program's children are not asked for a trail */
        is_main = is_on = true;
}

static __attribute__((destructor(101))) void end(void)
{
        if (!is_on || !is_main || getpid() != owner)
                return;
        if (length > 0)
                end_chunk();
        put("X\n", 2);
        flush();
        is_on = false;
}
