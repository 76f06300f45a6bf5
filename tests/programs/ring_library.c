/* Creates io_uring rings as liburing does: with its own system call instructions, and liburing's layout. */
#include <linux/io_uring.h>
#include <string.h>
#include <sys/syscall.h>

struct io_uring {
    char queues[192];
    unsigned int flags;
    int ring_fd;
};

int io_uring_setup(unsigned int entries, struct io_uring_params *p) {
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(SYS_io_uring_setup), "D"(entries), "S"(p)
                     : "rcx", "r11", "memory");
    return (int)result;
}

int io_uring_queue_init_params(unsigned int entries, struct io_uring *ring, struct io_uring_params *p) {
    int fd = io_uring_setup(entries, p);
    memset(ring, 0, sizeof *ring);
    ring->ring_fd = fd;
    return fd < 0 ? fd : 0;
}

int io_uring_queue_init(unsigned int entries, struct io_uring *ring, unsigned int flags) {
    struct io_uring_params p;
    memset(&p, 0, sizeof p);
    p.flags = flags;
    return io_uring_queue_init_params(entries, ring, &p);
}
