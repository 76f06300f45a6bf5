/* An allocator for LD_PRELOAD that does I/O in its constructor, in the first allocation and every thousandth one. It
 * tests a tracer that is called inside malloc. Memory is never freed. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static char memory[512 << 20];
static _Atomic size_t used;
static _Atomic unsigned long count;
static _Thread_local int inside __attribute__((tls_model("initial-exec")));

static void look_around(void) {
    if (inside)
        return;
    inside = 1;
    int error = errno;
    char line[64];
    int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        (void)!read(fd, line, sizeof line);
        close(fd);
    }
    errno = error;
    inside = 0;
}

__attribute__((constructor)) static void begin(void) {
    look_around();
}

void *malloc(size_t size) {
    if (atomic_fetch_add(&count, 1) % 1000 == 0)
        look_around();
    size_t start = atomic_fetch_add(&used, (size + 31) & ~(size_t)15);
    if (start + size + 32 > sizeof memory) {
        errno = ENOMEM;
        return NULL;
    }
    char *at = (char *)(((uintptr_t)memory + start + 15) & ~(uintptr_t)15);
    *(size_t *)at = size;
    return at + 16;
}

void free(void *at) {
    (void)at;
}

void *calloc(size_t number, size_t size) {
    return malloc(number * size); /* the memory has not been used before */
}

void *realloc(void *old, size_t size) {
    void *made = malloc(size);
    if (old && made) {
        size_t before = *(size_t *)((char *)old - 16);
        memcpy(made, old, before < size ? before : size);
    }
    return made;
}

static void *aligned(size_t alignment, size_t size) {
    char *at = malloc(size + alignment);
    if (!at)
        return NULL;
    char *moved = (char *)(((uintptr_t)at + alignment - 1) / alignment * alignment);
    if (moved != at)
        *(size_t *)(moved - 16) = size;
    return moved;
}

int posix_memalign(void **to, size_t alignment, size_t size) {
    *to = aligned(alignment, size);
    return *to ? 0 : ENOMEM;
}

void *aligned_alloc(size_t alignment, size_t size) {
    return aligned(alignment, size);
}

void *memalign(size_t alignment, size_t size) {
    return aligned(alignment, size);
}
