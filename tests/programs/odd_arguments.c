/* Calls with invalid arguments, each in its own child, whose exit is printed. The C library and the kernel decide on
 * the result; a tracer must not read memory that they do not read.
 * usage: odd_arguments FOLDER */
#define _GNU_SOURCE
#include <aio.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <utime.h>
#include <wchar.h>

#define BAD ((void *)(uintptr_t)9)
#define FAR ((void *)(uintptr_t)0x7fffffffe000)

static int file, folder, ends[2];
static char block[4096];
static char *edge; /* the last byte before unmapped memory */

#define TRY(call)                                                                                                      \
    do {                                                                                                               \
        fflush(stdout);                                                                                                \
        pid_t child = fork();                                                                                          \
        if (child == 0) {                                                                                              \
            alarm(5);                                                                                                  \
            errno = 0;                                                                                                 \
            long result = (long)(call);                                                                                \
            printf("%s = %s %d\n", #call, result < 0 ? "negative" : result == 0 ? "0" : "positive", errno);            \
            fflush(stdout);                                                                                            \
            _exit(0);                                                                                                  \
        }                                                                                                              \
        int status = 0;                                                                                                \
        waitpid(child, &status, 0);                                                                                    \
        if (WIFSIGNALED(status))                                                                                       \
            printf("%s: signal %d\n", #call, WTERMSIG(status));                                                        \
    } while (0)

static void paths(char *bad) {
    TRY(open(bad, O_RDONLY));
    TRY(open64(bad, O_RDWR | O_CREAT, 0600));
    TRY(openat(folder, bad, O_RDONLY));
    TRY(openat(-7, "relative", O_RDONLY));
    TRY(openat(file, "below-a-file", O_RDONLY));
    TRY(creat(bad, 0600));
    TRY(unlink(bad));
    TRY(unlinkat(folder, bad, 0));
    TRY(rmdir(bad));
    TRY(mkdir(bad, 0700));
    TRY(mkdirat(folder, bad, 0700));
    TRY(rename(bad, "to"));
    TRY(rename("from", bad));
    TRY(renameat(folder, "from", -7, bad));
    TRY(renameat2(folder, bad, folder, bad, 0));
    TRY(link(bad, bad));
    TRY(linkat(folder, bad, folder, "to", 0));
    TRY(symlink(bad, "link"));
    TRY(symlinkat("to", folder, bad));
    TRY(readlink(bad, block, 10));
    TRY(readlink("/proc/self/exe", bad, 10));
    TRY(readlinkat(folder, bad, block, 10));
    TRY(access(bad, R_OK));
    TRY(faccessat(folder, bad, R_OK, 0));
    TRY(chmod(bad, 0600));
    TRY(fchmodat(folder, bad, 0600, 0));
    TRY(chown(bad, 0, 0));
    TRY(lchown(bad, 0, 0));
    TRY(fchownat(folder, bad, 0, 0, 0));
    TRY(truncate(bad, 10));
    TRY(chdir(bad));
    TRY(stat(bad, (struct stat *)block));
    TRY(stat("/", bad == NULL ? BAD : (void *)bad));
    TRY(lstat(bad, (struct stat *)block));
    TRY(fstatat(folder, bad, (struct stat *)block, 0));
    TRY(statfs(bad, (struct statfs *)block));
    TRY(mkfifo(bad, 0600));
    TRY(mknod(bad, S_IFREG, 0));
    TRY(getxattr(bad, "user.x", block, 10));
    TRY(setxattr("/", bad, block, 10, 0));
    TRY(listxattr(bad, block, 10));
    TRY(utime(bad, NULL));
    TRY(utimensat(folder, bad, NULL, 0));
    TRY(fopen(bad, "r"));
    TRY(opendir(bad));
    TRY(remove(bad));
}

static void numbers(int bad) {
    TRY(read(bad, block, 10));
    TRY(write(bad, block, 10));
    TRY(pread(bad, block, 10, 0));
    TRY(pwrite(bad, block, 10, 0));
    TRY(readv(bad, (struct iovec[]){{block, 10}}, 1));
    TRY(writev(bad, (struct iovec[]){{block, 10}}, 1));
    TRY(lseek(bad, 0, SEEK_SET));
    TRY(close(bad));
    TRY(dup(bad));
    TRY(dup2(bad, 77));
    TRY(dup3(file, bad, 0));
    TRY(fcntl(bad, F_GETFL));
    TRY(fcntl(bad, F_DUPFD, 50));
    TRY(fsync(bad));
    TRY(fdatasync(bad));
    TRY(ftruncate(bad, 5));
    TRY(fstat(bad, (struct stat *)block));
    TRY(fchmod(bad, 0600));
    TRY(fallocate(bad, 0, 0, 10));
    TRY(posix_fallocate(bad, 0, 10));
    TRY(posix_fadvise(bad, 0, 10, 99));
    TRY(sendfile(bad, file, NULL, 10));
    TRY(copy_file_range(bad, NULL, file, NULL, 10, 0));
    TRY(splice(bad, NULL, ends[1], NULL, 10, 0));
    TRY(ioctl(bad, FIONREAD, block));
    TRY(fdopen(bad, "r"));
    TRY(fdopendir(bad));
    TRY(fchdir(bad));
    TRY(mmap(NULL, 4096, PROT_READ, MAP_SHARED, bad, 0) == MAP_FAILED ? -1 : 1);
    TRY(syncfs(bad));
    TRY(sync_file_range(bad, 0, 10, 0));
    TRY(close_range((unsigned)bad, 5, 0));
    TRY(dprintf(bad, "x%d", 1));
}

static void buffers(char *bad) {
    TRY(read(file, bad, 10));
    TRY(write(file, bad, 10));
    TRY(write(file, block, SIZE_MAX));
    TRY(pread(file, bad, 10, 0));
    TRY(pread(file, block, 10, -5));
    TRY(pwrite(file, block, 10, -5));
    TRY(readv(file, (void *)bad, 2));
    TRY(writev(file, (void *)bad, 2));
    TRY(writev(file, (struct iovec[]){{bad, 10}, {block, 10}}, 2));
    TRY(writev(file, (struct iovec[]){{block, SIZE_MAX}, {block, SIZE_MAX}}, 2));
    TRY(writev(file, (void *)block, -1));
    TRY(writev(file, (void *)block, INT_MAX));
    TRY(writev(file, (void *)(edge + 1 - sizeof(struct iovec)), 2));
    TRY(preadv(file, (void *)bad, 2, 0));
    TRY(pwritev(file, (void *)bad, -3, 0));
    TRY(preadv2(file, (void *)bad, 2, 0, 0));
    TRY(pwritev2(file, (void *)bad, 2, 0, -1));
    TRY(sendfile(file, file, (void *)bad, 10));
    TRY(copy_file_range(file, (void *)bad, file, (void *)bad, 10, 0));
    TRY(splice(ends[0], (void *)bad, ends[1], (void *)bad, 10, 0));
    TRY(vmsplice(ends[1], (void *)bad, 1, 0));
    TRY(tee(ends[0], ends[0], 10, SPLICE_F_NONBLOCK));
    TRY(pipe((void *)bad));
    TRY(pipe2((void *)bad, -1));
    TRY(ioctl(file, FIONREAD, bad));
    TRY(fcntl(file, F_SETLK, bad));
    TRY(fcntl(file, F_GETLK, bad));
    TRY(fcntl(file, 12345, bad));
    TRY(fgetxattr(file, bad, block, 10));
    TRY(fsetxattr(file, "user.x", bad, 10, 0));
    TRY(futimens(file, (void *)(bad ? bad : BAD)));
    TRY(utimes("/nowhere", (void *)(bad ? bad : BAD)));
    TRY(munmap(bad, 10));
    TRY(msync(bad, 10, 77));
    TRY(mmap(NULL, 0, PROT_READ, MAP_PRIVATE, file, 0) == MAP_FAILED ? -1 : 1);
    TRY(mmap(NULL, 4096, PROT_READ, 0, file, 1) == MAP_FAILED ? -1 : 1);
    TRY(getcwd(bad ? bad : BAD, 10) != NULL);
}

static void texts(void) {
    char template[] = "no-marks", good[32] = "made.XXXXXX";
    (void)good;
    TRY(open("", O_RDONLY));
    TRY(open(memset(block, 'x', sizeof block - 1), O_RDONLY));
    TRY(openat(AT_FDCWD, "", O_RDONLY));
    TRY(open("/dev/null/below", O_RDONLY));
    TRY(open(edge - 3, O_RDONLY)); /* a path that ends where mapped memory ends */
    TRY(openat(folder, edge - 3, O_RDONLY));
    TRY(rename(edge - 3, edge - 3));
    TRY(access(edge, F_OK));
    TRY(mkstemp(template));
    TRY(mkstemp(strcpy(good, "made.XXXXXX")));
    TRY(mkostemp(template, 0));
    TRY(mkstemps(template, 3));
    TRY(mkdtemp(template) != NULL);
    TRY(fopen("/dev/null", "nonsense") != NULL);
    TRY(fopen("/dev/null", "") != NULL);
    TRY(fopen("", "r") != NULL);
    TRY(freopen(NULL, "r", stdin) != NULL);
    TRY(freopen("/nowhere", "r", stdin) != NULL);
    TRY(fdopen(file, "nonsense") != NULL);
    TRY(popen("exit 3", "nonsense") != NULL);
    TRY(tmpfile() != NULL);
    TRY(fmemopen(block, 10, "w") != NULL);
}

static FILE *scratch_file(void) {
    FILE *stream = fmemopen(block, sizeof block, "w+");
    return stream ? stream : stdout;
}

static void streams(void) {
    FILE *memory = scratch_file(), *device = fopen("/dev/full", "w+"), *reader = fopen("/dev/null", "r");
    char *line = NULL;
    size_t room = 0;
    wchar_t wide[8];
    struct aiocb none;
    memset(&none, 0, sizeof none);
    none.aio_fildes = -1;
    struct aiocb *list[2] = {NULL, NULL};
    TRY(fwrite(block, 10, 10, memory));
    TRY(fwrite(block, 0, 10, device));
    TRY(fwrite(block, 10, 0, device));
    TRY(fwrite(block, 1, 10, reader));
    TRY(fread(block, SIZE_MAX / 2, 4, reader));
    TRY(fread(block, 1, 10, device));
    TRY(fgets(block, 0, reader) != NULL);
    TRY(fgets(block, -3, reader) != NULL);
    TRY(fgets(block, 1, memory) != NULL);
    TRY(fputs("text", reader));
    TRY(fprintf(reader, "%s", "text"));
    TRY(fprintf(device, "%5000d", 1));
    TRY(fflush(device));
    TRY(fflush(NULL));
    TRY(fclose(device));
    TRY(getline(&line, &room, reader));
    TRY(getline(NULL, &room, memory));
    TRY(getdelim(&line, NULL, 'x', memory));
    TRY(fseek(reader, -5, SEEK_SET));
    TRY(fseek(memory, 0, 99));
    TRY(fseeko(reader, LONG_MIN, SEEK_CUR));
    TRY(ftell(memory));
    TRY(fileno(memory));
    TRY(fwide(memory, 1));
    TRY(fputws(L"wide", memory));
    TRY(fgetws(wide, 0, reader) != NULL);
    TRY(fgetwc(reader) == WEOF ? -1 : 1);
    TRY(ungetc(EOF, reader));
    TRY(setvbuf(reader, NULL, 99, 10));
    TRY(pclose(fopen("/dev/null", "r")));
    TRY(fscanf(reader, "%d", &room));
    TRY(fcloseall());
    TRY(aio_read(&none));
    TRY(aio_write(&none));
    TRY(aio_error(&none));
    TRY(aio_fsync(77, &none));
    TRY(aio_cancel(-1, NULL));
    TRY(lio_listio(77, list, 2, NULL));
    TRY(lio_listio(LIO_WAIT, list, 2, NULL));
    TRY(lio_listio(LIO_WAIT, list, -1, NULL));
    TRY(aio_suspend((const struct aiocb *const *)list, 2, NULL));
    TRY(readdir(opendir("/")) != NULL);
    TRY(closedir(opendir("/")));
    TRY(scandir("/nowhere", (struct dirent ***)block, NULL, NULL));
}

int main(int count, char **words) {
    if (count != 2 || chdir(words[1]) != 0)
        return 1;
    file = open("file", O_CREAT | O_RDWR, 0600);
    folder = open(".", O_RDONLY | O_DIRECTORY);
    char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (file < 0 || folder < 0 || pipe(ends) != 0 || pages == MAP_FAILED || munmap(pages + 4096, 4096) != 0)
        return 1;
    edge = pages + 4095;
    memcpy(edge - 3, "abc", 4);
    paths(BAD);
    paths(NULL);
    paths(FAR);
    paths(edge - 1 + 2);
    numbers(-1);
    numbers(999);
    numbers(INT_MAX);
    numbers(INT_MIN);
    numbers(70000);
    buffers(BAD);
    buffers(NULL);
    buffers(FAR);
    texts();
    streams();
    return 7;
}
