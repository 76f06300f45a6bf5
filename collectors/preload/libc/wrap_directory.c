/* Directory streams, whose descriptor libc opens and closes internally. */
#include "libc/libc.h"
#include "sites_posix.h"

#include <dirent.h>

static int directory_descriptor(DIR *directory) {
    return directory ? dirfd(directory) : -1;
}

EXPORT DIR *opendir(const char *path) {
    struct iotide_span span = iotide_enter(&SITE(opendir));
    DIR *directory = REAL(opendir)(path);
    if (span.start_ns && iotide_same_process()) {
        iotide_end_span(&span);
        int fd = directory_descriptor(directory);
        struct iotide_target target = iotide_register_open(fd, AT_FDCWD, path);
        iotide_leave(span, &SITE(opendir), iotide_facts(&SITE(opendir), target, fd, !directory), NULL, 0);
    }
    return directory;
}

/* The descriptor keeps its target. */
EXPORT DIR *fdopendir(int fd) {
    struct iotide_span span = iotide_enter(&SITE(fdopendir));
    DIR *directory = REAL(fdopendir)(fd);
    if (span.start_ns)
        iotide_leave(span, &SITE(fdopendir), iotide_facts(&SITE(fdopendir), iotide_descriptor_target(fd), fd,
                                                          !directory), NULL,
                     0);
    return directory;
}

EXPORT int closedir(DIR *directory) {
    struct iotide_span span = iotide_enter(&SITE(closedir));
    int fd = iotide_is_tracing() ? directory_descriptor(directory) : -1;
    struct iotide_target target = {0, 0};
    if (fd >= 0 && iotide_same_process())
        target = iotide_unregister_descriptor(fd);
    int result = REAL(closedir)(directory);
    if (span.start_ns)
        iotide_leave(span, &SITE(closedir), iotide_facts(&SITE(closedir), target, fd, result != 0), NULL, 0);
    return result;
}

static void record_directory_call(struct iotide_span span, struct iotide_site *site, DIR *directory, int failure,
                                  const uint64_t *words, unsigned int count) {
    if (!span.start_ns)
        return;
    int fd = directory_descriptor(directory);
    struct iotide_facts facts = iotide_facts(site, iotide_descriptor_target(fd), fd, failure != 0);
    facts.error = failure;
    iotide_leave(span, site, facts, words, count);
}

/* No entry means the end, not a failure. */
#define READDIR(symbol, type)                                              \
    EXPORT struct type *symbol(DIR *directory) {                           \
        struct iotide_span span = iotide_enter(&SITE(symbol));             \
        struct type *entry = REAL(symbol)(directory);                      \
        record_directory_call(span, &SITE(symbol), directory, 0, NULL, 0); \
        return entry;                                                      \
    }
READDIR(readdir, dirent)
READDIR(readdir64, dirent64)

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#define READDIR_R(symbol, type)                                                  \
    EXPORT int symbol(DIR *directory, struct type *entry, struct type **found) { \
        struct iotide_span span = iotide_enter(&SITE(symbol));                   \
        int failure = REAL(symbol)(directory, entry, found);                     \
        record_directory_call(span, &SITE(symbol), directory, failure, NULL, 0); \
        return failure;                                                          \
    }
READDIR_R(readdir_r, dirent)
READDIR_R(readdir64_r, dirent64)

EXPORT void rewinddir(DIR *directory) {
    struct iotide_span span = iotide_enter(&SITE(rewinddir));
    REAL(rewinddir)(directory);
    record_directory_call(span, &SITE(rewinddir), directory, 0, NULL, 0);
}

EXPORT void seekdir(DIR *directory, long position) {
    struct iotide_span span = iotide_enter(&SITE(seekdir));
    REAL(seekdir)(directory, position);
    record_directory_call(span, &SITE(seekdir), directory, 0, (uint64_t[]){(uint64_t)position}, 1);
}

EXPORT long telldir(DIR *directory) {
    struct iotide_span span = iotide_enter(&SITE(telldir));
    long position = REAL(telldir)(directory);
    record_directory_call(span, &SITE(telldir), directory, 0, NULL, 0);
    return position;
}
