/* Reads ahead what a launch of an app will read, and becomes the app at once.

   snapd starts it as the first entry of a command-chain. Beside it, NAME.list holds
   lines "FIRST LAST PATH": data blocks of 128 KiB of files of the snap. It needs no
   library. Whatever fails is left out; the app starts in any case.

   The readers are no children of the app: it would not expect any. */

#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/stat.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

#define BLOCK_BYTES 131072L
#define PAGE_BYTES 4096L
#define MOST_LIST_BYTES 4194304L
#define MOST_PATH 4096
#define SAMPLES 4
#define MOST_READERS 4
/* A cached page is read in 2 microseconds; the fastest codec, lz4, takes longer than
   100 for a block. */
#define COLD_NS 50000L
#define IO_PRIORITY_LOW (2 << 13 | 7) /* best effort, the last of eight levels */

static long call(long number, long a, long b, long c, long d, long e, long f) {
#if defined(__x86_64__)
    long result;
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
#elif defined(__aarch64__)
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    register long x4 __asm__("x4") = e;
    register long x5 __asm__("x5") = f;
    __asm__ volatile("svc 0"
                     : "+r"(x0)
                     : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                     : "memory");
    return x0;
#elif defined(__riscv) && __riscv_xlen == 64
    register long a7 __asm__("a7") = number;
    register long a0 __asm__("a0") = a;
    register long a1 __asm__("a1") = b;
    register long a2 __asm__("a2") = c;
    register long a3 __asm__("a3") = d;
    register long a4 __asm__("a4") = e;
    register long a5 __asm__("a5") = f;
    __asm__ volatile("ecall"
                     : "+r"(a0)
                     : "r"(a7), "r"(a1), "r"(a2), "r"(a3), "r"(a4), "r"(a5)
                     : "memory");
    return a0;
#else
#error "only amd64, arm64 and riscv64 are supported"
#endif
}

#define CALL1(n, a) call(n, (long)(a), 0, 0, 0, 0, 0)
#define CALL3(n, a, b, c) call(n, (long)(a), (long)(b), (long)(c), 0, 0, 0)
#define CALL4(n, a, b, c, d) call(n, (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)

#if defined(__x86_64__)
__asm__(".globl _start\n_start:\n xor %ebp,%ebp\n mov %rsp,%rdi\n and $-16,%rsp\n"
        " call begin\n");
#elif defined(__aarch64__)
__asm__(".globl _start\n_start:\n mov x29,#0\n mov x0,sp\n bl begin\n");
#else
__asm__(".globl _start\n_start:\n mv a0,sp\n call begin\n");
#endif

struct list {
    const char *text;
    long length;
    long directory; /* of the snap */
    long user;
};

struct entry {
    long first, last;
    char path[MOST_PATH];
};

static long now_ns(void) {
    struct timespec now = {0, 0};
    CALL3(SYS_clock_gettime, CLOCK_MONOTONIC, &now, 0);
    return now.tv_sec * 1000000000L + now.tv_nsec;
}

static long number(const char **at, const char *end) {
    long found = 0;
    while (*at < end && **at >= '0' && **at <= '9' && found < 1L << 40)
        found = found * 10 + *(*at)++ - '0';
    if (*at < end && **at == ' ')
        ++*at;
    return found;
}

/* Reads the line at a place, and returns the place of the next one. */
static const char *parse(const char *at, const char *end, struct entry *entry) {
    long length = 0;
    entry->first = number(&at, end);
    entry->last = number(&at, end);
    for (; at < end && *at != '\n'; ++at)
        if (length < MOST_PATH - 1)
            entry->path[length++] = *at;
    entry->path[length] = 0;
    return at < end ? at + 1 : end;
}

/* Where another build has a pipe, nobody may ever write to it. */
static long open_entry(const struct list *list, const struct entry *entry) {
    return CALL4(SYS_openat, list->directory, entry->path,
                 O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0);
}

static int reads_slowly(long file, long offset) {
    char byte;
    long start_ns = now_ns();
    long got = CALL4(SYS_pread64, file, &byte, 1, offset);
    return got == 1 && now_ns() - start_ns > COLD_NS;
}

/* The kernel tells a file's owner alone which pages are cached (can_do_mincore). */
static int tells_residency(const struct list *list, long file) {
    struct statx status;
    long failed = call(SYS_statx, file, (long)"", 0x1000 /* AT_EMPTY_PATH */, STATX_UID,
                       (long)&status, 0);
    return !list->user || (!failed && status.stx_uid == list->user);
}

static int is_cold(const struct list *list, const struct entry *entry) {
    long file = open_entry(list, entry), offset = entry->first * BLOCK_BYTES;
    unsigned char resident = 1;
    int cold = 0;
    if (file < 0)
        return 0;
    if (tells_residency(list, file)) {
        long page = call(SYS_mmap, 0, PAGE_BYTES, PROT_READ, MAP_SHARED, file, offset);
        if (page > 0) {
            cold = !CALL3(SYS_mincore, page, PAGE_BYTES, &resident) && !(resident & 1);
            CALL3(SYS_munmap, page, PAGE_BYTES, 0);
        }
    } else {
        cold = reads_slowly(file, offset);
    }
    CALL1(SYS_close, file);
    return cold;
}

/* Looks at a few entries, spread evenly; one that isn't cached is enough. */
static int any_cold(const struct list *list) {
    const char *end = list->text + list->length;
    struct entry entry;
    for (int sample = 0; sample < SAMPLES; ++sample) {
        const char *at = list->text + list->length / SAMPLES * sample;
        while (at > list->text && at < end && at[-1] != '\n')
            ++at;
        parse(at, end, &entry);
        if (is_cold(list, &entry))
            return 1;
    }
    return 0;
}

static void read_entries(const struct list *list, long own, long readers) {
    const char *at = list->text, *end = at + list->length;
    struct entry entry;
    char byte;
    for (long turn = 0; at < end; ++turn) {
        at = parse(at, end, &entry);
        if (turn % readers != own)
            continue;
        long file = open_entry(list, &entry);
        if (file < 0)
            continue;
        /* Without reading on: each block is asked for. One byte brings in all of it. */
        CALL4(SYS_fadvise64, file, 0, 0, POSIX_FADV_RANDOM);
        for (long block = entry.first; block <= entry.last; ++block)
            if (CALL4(SYS_pread64, file, &byte, 1, block * BLOCK_BYTES) != 1)
                break;
        CALL1(SYS_close, file);
    }
}

static long fork_process(void) { return call(SYS_clone, 17 /* SIGCHLD */, 0, 0, 0, 0, 0); }

static long usable_processors(void) {
    unsigned char mask[1024];
    long length = CALL3(SYS_sched_getaffinity, 0, sizeof mask, mask), count = 0;
    for (long place = 0; place < length; ++place)
        for (unsigned char bits = mask[place]; bits; bits &= bits - 1)
            ++count;
    return count < 1 ? 1 : count > MOST_READERS ? MOST_READERS : count;
}

static void start_readers(struct list *list) {
    long readers = usable_processors(), parent = fork_process();
    if (parent) { /* wait for it; what it has started goes to init */
        if (parent > 0)
            CALL4(SYS_wait4, parent, 0, 0, 0);
        return;
    }
    /* Nobody waits for the end of the readers because they hold a pipe open. */
    call(SYS_dup3, list->directory, 3, 0, 0, 0, 0);
    list->directory = 3;
    for (long file = 0; file < 3; ++file)
        CALL1(SYS_close, file);
    CALL3(SYS_close_range, 4, ~0U, 0);
    CALL3(SYS_ioprio_set, 1 /* IOPRIO_WHO_PROCESS */, 0, IO_PRIORITY_LOW);
    for (long own = 0; own < readers; ++own)
        if (!fork_process()) {
            read_entries(list, own, readers);
            CALL1(SYS_exit_group, 0);
        }
    CALL1(SYS_exit_group, 0);
}

/* Copies a path and adds something; returns where the last name begins. */
static long joined(char *target, const char *path, const char *added) {
    long length = 0, name = 0;
    for (; path[length] && length < MOST_PATH - 8; ++length) {
        target[length] = path[length];
        if (path[length] == '/')
            name = length + 1;
    }
    for (; *added; ++added)
        target[length++] = *added;
    target[length] = 0;
    return name;
}

/* Reads the list. A mapping of its file would end the launch where the image is broken. */
static void load(struct list *list, long file) {
    long length = CALL3(SYS_lseek, file, 0, 2 /* SEEK_END */), text;
    if (length <= 0 || length > MOST_LIST_BYTES)
        return;
    text = call(SYS_mmap, 0, length, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (text <= 0)
        return;
    list->text = (const char *)text;
    list->length = CALL4(SYS_pread64, file, text, length, 0);
}

static void read_ahead(const char *own_path, long user) {
    char path[MOST_PATH];
    struct list list = {0, 0, -1, user};
    long name = joined(path, own_path, ".list");
    long file = CALL4(SYS_openat, AT_FDCWD, path,
                      O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
    if (file < 0)
        return;
    load(&list, file);
    if (list.length > 0) {
        path[name] = '.', path[name + 1] = '.', path[name + 2] = 0;
        list.directory = CALL4(SYS_openat, AT_FDCWD, path,
                               O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
        if (list.directory >= 0 && any_cold(&list))
            start_readers(&list);
        if (list.directory >= 0)
            CALL1(SYS_close, list.directory);
    }
    CALL1(SYS_close, file);
}

__attribute__((used)) void begin(long *stack) {
    long count = stack[0], user = -1, failed = 127;
    char **words = (char **)(stack + 1), **variables = words + count + 1;
    char **end = variables, *own_path = NULL;
    if (count > 1) {
        while (*end)
            ++end;
        for (long *vector = (long *)(end + 1); vector[0]; vector += 2) {
            if (vector[0] == 31) /* AT_EXECFN */
                own_path = (char *)vector[1];
            if (vector[0] == 12) /* AT_EUID */
                user = vector[1];
        }
        if (own_path)
            read_ahead(own_path, user);
        failed = -CALL3(SYS_execve, words[1], words + 1, variables) == 13 ? 126 : 127;
    }
    CALL3(SYS_write, 2, "prefetch: there is no program to start\n", 39);
    CALL1(SYS_exit_group, failed);
}
