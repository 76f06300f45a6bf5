/* A thread that nearly fills its ring, and writes in a destructor that runs after the tracer's. */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#define BEFORE 250
#define AFTER 100

static int fd;

static void write_blocks(int count) {
    char block[64] = {0};
    for (int i = 0; i < count; i++)
        if (pwrite(fd, block, sizeof block, 64 * i) != (ssize_t)sizeof block)
            _exit(3);
}

static void at_end(void *unused) {
    (void)unused;
    write_blocks(AFTER);
}

static void *work(void *key) {
    if (pthread_setspecific(*(pthread_key_t *)key, key) != 0)
        _exit(4);
    write_blocks(BEFORE);
    return NULL;
}

int main(int count, char **arguments) {
    pthread_key_t key;
    pthread_t thread;
    if (count != 2 || (fd = open(arguments[1], O_WRONLY | O_CREAT, 0600)) < 0)
        return 2;
    if (pthread_key_create(&key, at_end) != 0 || pthread_create(&thread, NULL, work, &key) != 0)
        return 2;
    return pthread_join(thread, NULL);
}
