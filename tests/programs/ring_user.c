/* Creates a ring by the function named in its first argument, and leaves it open. Status: 0, or the error. */
#include <linux/io_uring.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct io_uring {
    char queues[192];
    unsigned int flags;
    int ring_fd;
};
int io_uring_setup(unsigned int entries, struct io_uring_params *p);
int io_uring_queue_init_params(unsigned int entries, struct io_uring *ring, struct io_uring_params *p);
int io_uring_queue_init(unsigned int entries, struct io_uring *ring, unsigned int flags);

int main(int count, char **given) {
    struct io_uring_params p;
    struct io_uring ring;
    memset(&p, 0, sizeof p);
    if (count < 3)
        return 1;
    unsigned int entries = (unsigned int)atoi(given[2]);
    int result = !strcmp(given[1], "io_uring_setup")        ? io_uring_setup(entries, &p)
                 : !strcmp(given[1], "io_uring_queue_init") ? io_uring_queue_init(entries, &ring, 0)
                                                            : io_uring_queue_init_params(entries, &ring, &p);
    if (result < 0)
        return -result;
    puts("a ring");
    return 0;
}
