/* A library that does I/O when it is loaded, used, and unloaded. Built under several names. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef NAME
#define NAME "loaded"
#endif

static void write_own(const char *suffix) {
    char name[4096];
    const char *path = getenv("IOTIDE_TEST_FILE");
    if (!path)
        return;
    strcpy(name, path);
    strcat(name, "." NAME);
    strcat(name, suffix);
    int fd = open(name, O_CREAT | O_WRONLY | O_APPEND, 0600);
    if (fd < 0 || write(fd, "0123456789", 10) != 10 || close(fd) != 0)
        _exit(2);
}

__attribute__((constructor)) static void loading(void) {
    write_own(".loading");
}

__attribute__((destructor)) static void unloading(void) {
    write_own(".unloading");
}

void use_library(void) {
    write_own(".used");
}
