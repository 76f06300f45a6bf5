/* Loads and unloads a library that does I/O, repeatedly. usage: IOTIDE_TEST_FILE=FILE loader LIBRARY COUNT */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

int main(int count, char **words) {
    if (count != 3)
        return 1;
    for (int i = 0; i < atoi(words[2]); i++) {
        void *library = dlopen(words[1], (i % 2 ? RTLD_LAZY : RTLD_NOW) | (i % 3 ? RTLD_LOCAL : RTLD_GLOBAL));
        if (!library)
            return 2;
        void (*use)(void) = (void (*)(void))dlsym(library, "use_library");
        use();
        if (dlclose(library) != 0)
            return 3;
    }
    void *libc = dlopen("libc.so.6", RTLD_LAZY);
    long (*direct)(int, const void *, size_t) = (long (*)(int, const void *, size_t))dlsym(libc, "write");
    if (dlerror() != NULL || !direct || dlsym(libc, "no_such_function") || !dlerror())
        return 4;
    return direct(1, "done\n", 5) == 5 ? 7 : 2;
}
