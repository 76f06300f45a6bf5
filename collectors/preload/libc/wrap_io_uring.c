/* Rings of liburing, whose functions enter the kernel by their own instructions. The ring's file is recorded, so that
 * the collector reports a program whose I/O by io_uring is not recorded. */
#include "libc/libc.h"
#include "base/symbol_lookup.h"

#include <linux/io_uring.h>

/* Beginning of liburing's struct io_uring; programs have it in their own code, so it is the same in all versions. */
struct ring {
    uint8_t queues[192];
    uint32_t flags;
    int32_t fd;
};

#define RING_SITE(symbol)                                                  \
    static struct iotide_site SITE(symbol) = {.layer = LAYER_POSIX,        \
                                              .kind = KIND_CREATE,         \
                                              .class = CLASS_HANDLE,       \
                                              SITE_TEXT(#symbol, #symbol "(entries:u)=d")};
RING_SITE(io_uring_queue_init)
RING_SITE(io_uring_queue_init_params)
RING_SITE(io_uring_queue_init_mem)
RING_SITE(io_uring_setup)

static __thread bool within __attribute__((tls_model("initial-exec"))); /* some of these functions call others */

static void made(struct iotide_span span, struct iotide_site *site, unsigned int entries, int fd) {
    if (!span.start_ns || !iotide_same_process())
        return;
    int error = errno;
    iotide_end_span(&span);
    if (fd >= 0) {
        struct iotide_facts facts = iotide_facts(site, iotide_register_open(fd, AT_FDCWD, NULL), fd, false);
        iotide_leave(span, site, facts, (uint64_t[]){entries, (uint64_t)fd}, 2);
    }
    errno = error;
}

/* A program in which liburing is not found only has a weak reference to the function, and expects an error. */
#define RING(symbol, parameters, arguments, ring_fd)                               \
    EXPORT int symbol parameters {                                                 \
        int(*real) parameters = (int(*) parameters)iotide_real_late(&SITE(symbol));         \
        if (!real)                                                                 \
            return -ENOSYS;                                                        \
        if (within)                                                                \
            return real arguments;                                                 \
        struct iotide_span span = iotide_enter(&SITE(symbol));                     \
        within = true;                                                             \
        int result = real arguments;                                               \
        within = false;                                                            \
        made(span, &SITE(symbol), entries, result < 0 ? -1 : (ring_fd));           \
        return result;                                                             \
    }
RING(io_uring_queue_init, (unsigned int entries, struct ring *ring, unsigned int flags), (entries, ring, flags),
     ring->fd)
RING(io_uring_queue_init_params, (unsigned int entries, struct ring *ring, struct io_uring_params *p),
     (entries, ring, p), ring->fd)
RING(io_uring_queue_init_mem,
     (unsigned int entries, struct ring *ring, struct io_uring_params *p, void *memory, size_t size),
     (entries, ring, p, memory, size), ring->fd)
RING(io_uring_setup, (unsigned int entries, struct io_uring_params *p), (entries, p), result)
