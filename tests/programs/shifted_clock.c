/* As libfaketime: the program gets a time that is two hours ahead and passes at half the speed. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>

int clock_gettime(clockid_t which, struct timespec *now) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "clock_gettime");
    int result = real(which, now);
    now->tv_sec = now->tv_sec / 2 + 7200;
    return result;
}
