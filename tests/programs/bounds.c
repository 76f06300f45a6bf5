/* Exceeds one bound of the tracer per case. Each case ends with 7 and prints "done"; with 77 if the machine does not
 * allow it.
 * usage: bounds NAME FOLDER */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096

static void must(int right) {
    if (!right)
        _exit(2);
}

static int made(const char *path) {
    int fd = open(path, O_CREAT | O_RDWR, 0600);
    must(fd >= 0);
    return fd;
}

/* 65,536 and the next number; lower numbers are known. */
static void descriptors(void) {
    struct rlimit limit = {70000, 70000};
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
        _exit(77);
    int fd = made("file");
    must(dup2(fd, 65535) == 65535 && write(65535, "a", 1) == 1);
    must(dup2(fd, 65536) == 65536 && write(65536, "b", 1) == 1);
    must(dup2(fd, 65537) == 65537 && write(65537, "c", 1) == 1);
}

/* 76 mappings more than the table's capacity. */
static void mappings(void) {
    int fd = made("file");
    must(ftruncate(fd, PAGE) == 0);
    for (int i = 0; i < 1100; i++)
        must(mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, fd, 0) != MAP_FAILED);
}

/* A path that is too long for the kernel, too. */
static void paths(void) {
    static char path[3 * PAGE];
    memset(path, 'a', sizeof path - 1);
    for (int i = 0; i < 5; i++)
        must(open(path, O_RDONLY) == -1 && errno == ENAMETOOLONG);
}

/* A folder whose path is longer than any that the kernel returns. */
static void deep_folder(void) {
    char name[201];
    memset(name, 'd', 200);
    name[200] = '\0';
    for (int i = 0; i < 25; i++)
        must(mkdir(name, 0700) == 0 && chdir(name) == 0);
    int fd = made("file");
    must(write(fd, "a", 1) == 1 && close(fd) == 0 && unlink("file") == 0);
    for (int i = 0; i < 25; i++)
        must(chdir("..") == 0 && rmdir(name) == 0);
}

/* A text parameter of a failing call. */
static void texts(void) {
    static char target[3 * PAGE];
    memset(target, 't', sizeof target - 1);
    must(symlink(target, "link") == -1 && errno == ENAMETOOLONG);
}

/* Operations whose ends the tracer does not see, each in its own block, because libc is bypassed. */
static void operations(void) {
    enum { COUNT = 80000 };
    aio_context_t context = 0;
    if (syscall(SYS_io_setup, 16, &context) != 0)
        _exit(77);
    struct iocb *blocks = calloc(COUNT, sizeof *blocks);
    int fd = made("file");
    for (int i = 0; i < COUNT; i++) {
        struct iocb *block = &blocks[i];
        *block = (struct iocb){.aio_lio_opcode = IOCB_CMD_PREAD, .aio_fildes = (unsigned int)fd};
        must(syscall(SYS_io_submit, context, 1L, &block) == 1);
        struct io_event event;
        register long most __asm__("r10") = (long)&event;
        register long none __asm__("r8") = 0;
        long result = SYS_io_getevents;
        __asm__ volatile("syscall" : "+a"(result) : "D"(context), "S"(1L), "d"(1L), "r"(most), "r"(none)
                         : "rcx", "r11", "memory");
        must(result == 1);
    }
    free(blocks);
}

/* More file names than the log has space for while it is not read. A thousand of these long ones fill it: under strace
 * many calls would take longer than a process waits for a collector that does not read. */
static void names(void) {
    char path[4000] = "/nowhere";
    size_t length = strlen(path);
    while (length + 2 * 241 < sizeof path)
        length += (size_t)snprintf(path + length, sizeof path - length, "/%0240d", 0);
    for (int i = 0; i < 20000; i++) {
        snprintf(path + length, sizeof path - length, "/%0240d", i);
        must(open(path, O_RDONLY) == -1);
    }
}

/* The same while another thread exists. */
static void *wait_forever(void *unused) {
    for (;;)
        pause();
    return unused;
}

static void names_beside_a_thread(void) {
    pthread_t other;
    must(pthread_create(&other, NULL, wait_forever, NULL) == 0);
    names();
}

/* A mapping's file whose path is too long to be kept for children. */
static void forked_files(void) {
    char name[251];
    memset(name, 'f', 250);
    name[250] = '\0';
    int fd = made(name);
    must(ftruncate(fd, PAGE) == 0);
    char *at = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    must(at != MAP_FAILED);
    pid_t child = fork();
    if (!child)
        _exit(msync(at, PAGE, MS_SYNC) == 0 ? 0 : 3);
    int status;
    must(waitpid(child, &status, 0) == child && status == 0);
}

/* More concurrent threads than a region has rings: further regions are created. */
static void *write_one(void *barrier) {
    must(write(*(int *)((void **)barrier)[1], "t", 1) == 1);
    pthread_barrier_wait(((void **)barrier)[0]);
    return NULL;
}

static void threads(void) {
    enum { COUNT = 300 };
    static pthread_t all[COUNT];
    pthread_barrier_t barrier;
    pthread_attr_t attributes;
    int fd = made("file");
    void *shared[] = {&barrier, &fd};
    must(pthread_barrier_init(&barrier, NULL, COUNT) == 0);
    must(pthread_attr_init(&attributes) == 0 && pthread_attr_setstacksize(&attributes, 65536) == 0);
    for (int i = 0; i < COUNT; i++)
        must(pthread_create(&all[i], &attributes, write_one, shared) == 0);
    for (int i = 0; i < COUNT; i++)
        must(pthread_join(all[i], NULL) == 0);
}

/* More records than a ring has space for while it is not read. */
static void records(void) {
    int fd = made("file");
    for (int i = 0; i < 1000; i++)
        must(write(fd, "r", 1) == 1);
}

int main(int count, char **arguments) {
    static const struct {
        const char *name;
        void (*run)(void);
    } all[] = {{"descriptors", descriptors}, {"mappings", mappings}, {"paths", paths},
               {"deep-folder", deep_folder}, {"texts", texts},       {"operations", operations},
               {"names", names},             {"forked-files", forked_files}, {"threads", threads},
               {"records", records},         {"names-beside-a-thread", names_beside_a_thread}};
    must(count == 3 && chdir(arguments[2]) == 0);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i].name, arguments[1]) == 0) {
            all[i].run();
            puts("done");
            return 7;
        }
    return 1;
}
