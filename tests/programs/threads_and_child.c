/* Three threads that write, buffered output, a child that writes on request of an argument, and a file that is read
 * again: the counts are the same each time. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define TIMES 500
#define SIZE 4096

static void *writing(void *name) {
    char data[SIZE];
    memset(data, 1, sizeof data);
    int fd = open(name, O_CREAT | O_WRONLY | O_TRUNC, 0600);
    for (int i = 0; i < TIMES; i++)
        if (write(fd, data, sizeof data) != sizeof data)
            return NULL;
    fsync(fd);
    close(fd);
    return name;
}

int main(int count, char **words) {
    (void)words;
    char names[3][8] = {"out0", "out1", "out2"};
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, writing, names[i]);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    FILE *text = fopen("text", "w");
    for (int i = 0; i < 100; i++)
        fprintf(text, "%03d\n", i);
    fclose(text);
    int status = 0;
    if (count > 1) {
        pid_t child = fork();
        if (child == 0)
            _exit(writing("child") == NULL);
        waitpid(child, &status, 0);
    }
    char data[SIZE];
    int fd = open("out0", O_RDONLY);
    for (int i = 0; i < TIMES; i++)
        if (pread(fd, data, sizeof data, (off_t)i * SIZE) != sizeof data)
            return 1;
    close(fd);
    puts("done");
    return status;
}
