/* Relations of handles: descriptors of streams, streams on descriptors, duplicates, handles open at the start.
 * usage: posix_handles, in an empty folder, with standard input from a file and 7 open on one; ends with 7 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void must(int right) {
    if (!right)
        _exit(2);
}

int main(void) {
    char block[100] = {0};
    /* open at the start */
    must(read(0, block, 10) == 10);
    must(write(7, block, 10) == 10);
    must(fgets(block, 10, stdin) != NULL);
    /* a stream, then its descriptor beside it */
    FILE *stream = fopen("stream", "w");
    must(fputs("text", stream) >= 0);
    must(fflush(stream) == 0);
    must(write(fileno(stream), block, 10) == 10);
    must(fclose(stream) == 0);
    /* a descriptor, then a stream on it */
    int fd = open("descriptor", O_CREAT | O_RDWR | O_APPEND, 0640);
    stream = fdopen(fd, "a+");
    must(fputs("text", stream) >= 0);
    must(fclose(stream) == 0);
    /* the same number again is another file */
    must(open("again", O_CREAT | O_RDWR, 0600) == fd);
    must(write(fd, block, 10) == 10);
    int twin = dup(fd);
    must(write(twin, block, 20) == 20);
    must(dup2(fd, 0) == 0);
    must(write(0, block, 30) == 30);
    must(dup2(fd, fd) == fd);
    close(twin);
    close(fd);
    /* a vfork child closes and moves its own descriptors, not its parent's */
    fd = open("parent", O_CREAT | O_WRONLY, 0600);
    pid_t child = vfork();
    if (child == 0) {
        dup2(0, fd);
        close(0);
        close(fd);
        _exit(0);
    }
    must(waitpid(child, NULL, 0) == child);
    must(write(fd, block, 40) == 40);
    must(write(0, block, 50) == 50);
    _exit(7);
}
