/* Two copies of a library in one process, as Python wheels bring them. Built three ways: as a copy of the library
 * (PROVIDER), as an extension linked with one copy (CONSUMER), and as the program that loads two extensions: PROGRAM
 * EXTENSION EXTENSION, one after the other, or PROGRAM EXTENSION EXTENSION FILE FILE, both. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

int64_t H5Fcreate(const char *filename, unsigned int flags, int64_t fcpl_id, int64_t fapl_id);
int H5Fclose(int64_t file_id);
int H5open(void);
int H5Iis_valid(int64_t id);

#if defined PROVIDER
static int descriptor;

int H5open(void) {
    return 0;
}

#define FILE_ID (INT64_C(1) << 56)

/* Both copies use the same numbers for their files. */
int64_t H5Fcreate(const char *filename, unsigned int flags, int64_t fcpl_id, int64_t fapl_id) {
    (void)flags, (void)fcpl_id, (void)fapl_id;
    descriptor = open(filename, O_CREAT | O_TRUNC | O_WRONLY, 0600);
    printf("%s creates\n", PROVIDER);
    return FILE_ID;
}

int H5Fclose(int64_t file_id) {
    (void)file_id;
    printf("%s closes\n", PROVIDER);
    return close(descriptor);
}

int H5Iis_valid(int64_t id) {
    if (id != FILE_ID) /* otherwise the tracer is calling */
        printf("%s answers\n", PROVIDER);
    return 1;
}
#elif defined CONSUMER
int64_t create(const char *path) {
    H5open();
    return H5Fcreate(path, 2, 0, 0);
}

int finish(int64_t file) {
    return H5Fclose(file);
}

int ask(int64_t file) {
    int answers = 0;
    for (int i = 0; i < 3; i++)
        answers += H5Iis_valid(file);
    return answers;
}
#else
/* One extension is unloaded before the other is loaded, which may get the same address. Prints whether it does. */
static int in_turn(char **extensions) {
    void *places[2];
    for (int i = 0; i < 2; i++) {
        void *extension = dlopen(extensions[i], RTLD_NOW | RTLD_LOCAL);
        int (*ask)(int64_t) = extension ? (int (*)(int64_t))dlsym(extension, "ask") : NULL;
        if (!ask || ask(1) != 3)
            return 3;
        places[i] = (void *)ask;
        dlclose(extension);
    }
    puts(places[0] == places[1] ? "same place" : "another place");
    return 0;
}

int main(int count, char **arguments) {
    int64_t files[2];
    void *extensions[2];
    if (count == 3)
        return in_turn(arguments + 1);
    if (count != 5)
        return 2;
    for (int i = 0; i < 2; i++) {
        extensions[i] = dlopen(arguments[1 + i], RTLD_NOW | RTLD_LOCAL);
        if (!extensions[i])
            return 3;
        files[i] = ((int64_t(*)(const char *))dlsym(extensions[i], "create"))(arguments[3 + i]);
    }
    for (int i = 0; i < 2; i++)
        ((int (*)(int64_t))dlsym(extensions[i], "finish"))(files[i]);
    return files[0] != files[1];
}
#endif
