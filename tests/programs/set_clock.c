/* A node whose wall clock has the offset in a file (nanoseconds, eight bytes), also while programs run. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static volatile int64_t *off_ns;

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("CLOCK_OFF_FILE");
    int file = path ? open(path, O_RDONLY) : -1;
    void *found = file < 0 ? MAP_FAILED : mmap(NULL, sizeof *off_ns, PROT_READ, MAP_SHARED, file, 0);
    if (found != MAP_FAILED)
        off_ns = found;
    if (file >= 0)
        close(file);
}

int clock_gettime(clockid_t which, struct timespec *now) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "clock_gettime");
    int result = real(which, now);
    if (!result && off_ns && which == CLOCK_REALTIME) {
        int64_t all = (int64_t)now->tv_sec * 1000000000 + now->tv_nsec + *off_ns;
        now->tv_sec = all / 1000000000;
        now->tv_nsec = all % 1000000000;
    }
    return result;
}
