/* The kernel's asynchronous I/O, by libaio or syscall(2): io_submit begins operations, io_getevents returns their
 * results, on any thread. Both have the operation's number in their signatures; the bytes are recorded at the end. A
 * block may be freed once it is submitted, so data needed at its end is stored here. */
#include "libc/wrap_linux_aio.h"
#include "base/symbol_lookup.h"
#include "base/raw_syscall.h"
#include "hooks/posix.h"
#include "libc/libc.h"
#include "tables/operation_numbers.h"
#include "sites_posix.h"

#include <linux/aio_abi.h>

/* By a block's address: {number of an operation or 0, its kind + 1}; {an early result, 1}; contexts. */
#define SPACE_NUMBER 66
#define SPACE_EARLY 67
#define SPACE_CONTEXT 68

#define NUMBERS 4096 /* distinct pending operations; the ends of others have no offset */

/* Ring of completion events in the program's memory: some programs (QEMU, fio) read events from it directly. */
struct ring {
    uint32_t id, count;
    uint32_t head, tail;
    uint32_t magic, features, other_features, header_bytes;
    struct io_event events[];
};
#define RING_MAGIC 0xa10a10a1u

struct operation {
    struct iotide_target target;
    int64_t offset; /* -1: none */
    int64_t size;
    uint32_t generation; /* of the region that numbers the file */
    int32_t fd;
};
static struct operation operations[NUMBERS]; /* written by the owner of the number, before the number is published */
OPERATION_NUMBERS(numbers, NUMBERS);

static struct iotide_site SITE(io_submit) = {.layer = LAYER_POSIX,
                                             .kind = KIND_OTHER,
                                             .class = CLASS_DATA,
                                             SITE_TEXT("io_submit", "io_submit(fd:d,size:u,id:u)=i")};
static struct iotide_site SITE(io_getevents) = {
    .layer = LAYER_POSIX, .kind = KIND_OTHER, .class = CLASS_DATA, SITE_TEXT("io_getevents", "io_getevents(id:u)=i")};
static struct iotide_site SITE(io_pgetevents) = {
    .layer = LAYER_POSIX, .kind = KIND_OTHER, .class = CLASS_DATA, SITE_TEXT("io_pgetevents", "io_pgetevents(id:u)=i")};
static struct iotide_site SITE(io_destroy) = {
    .layer = LAYER_POSIX, .kind = KIND_OTHER, .class = CLASS_DATA, SITE_TEXT("io_destroy", "io_destroy(id:u)=i")};

static uint8_t kind_of(const struct iocb *block) {
    switch (block->aio_lio_opcode) {
    case IOCB_CMD_PREAD:
    case IOCB_CMD_PREADV: return KIND_READ;
    case IOCB_CMD_PWRITE:
    case IOCB_CMD_PWRITEV: return KIND_WRITE;
    case IOCB_CMD_FSYNC:
    case IOCB_CMD_FDSYNC: return KIND_SYNC;
    default: return KIND_OTHER;
    }
}

static bool moves(uint8_t kind) {
    return kind == KIND_READ || kind == KIND_WRITE;
}

static int64_t size_of(const struct iocb *block) {
    if (block->aio_lio_opcode == IOCB_CMD_PREADV || block->aio_lio_opcode == IOCB_CMD_PWRITEV)
        return iotide_iovec_bytes((const struct iovec *)(uintptr_t)block->aio_buf, block->aio_nbytes);
    return moves(kind_of(block)) ? (int64_t)block->aio_nbytes : 0;
}

/* For several records of one call: the first has its time. */
static struct iotide_span without_duration(struct iotide_span span) {
    return (struct iotide_span){span.end_ns, span.end_ns, span.depth, 0};
}

/* ---- ends ---- */

static void record_end(struct iotide_span span, struct iotide_site *site, struct iotide_target number, int64_t result) {
    struct operation operation = {.offset = -1, .fd = -1, .size = result > 0 ? result : 0};
    if (number.handle)
        operation = operations[number.handle - 1];
    if (operation.generation != atomic_load(&iotide_generation))
        operation.target = (struct iotide_target){0, 0};
    struct iotide_facts facts = iotide_facts(site, operation.target, operation.fd, result < 0);
    facts.kind = (uint8_t)(number.file - 1);
    facts.flags = 0;
    facts.error = result < 0 ? (int)-result : 0;
    facts.offset = operation.offset;
    if (moves(facts.kind)) {
        facts.requested = operation.size;
        facts.bytes = result;
    }
    iotide_leave(span, site, facts, (uint64_t[]){number.handle, (uint64_t)result}, 2);
    release_number(&numbers, number.handle);
}

/* Processes the end of a block's operation; the caller that unbinds its number records it. An end that is seen
 * before io_submit has returned waits for that. Returns whether it was recorded. */
static bool claim_end(struct iotide_span span, struct iotide_site *site, uint64_t block, int64_t result) {
    struct iotide_target number = iotide_unbind(SPACE_NUMBER, block);
    if (!number.file) {
        iotide_bind(SPACE_EARLY, block, (struct iotide_target){(uint32_t)(int32_t)result, 1});
        number = iotide_unbind(SPACE_NUMBER, block);
        if (!number.file)
            return false;
        iotide_unbind(SPACE_EARLY, block);
    }
    record_end(span, site, number, result);
    return true;
}

/* Finds the end of a block that the program took from the ring itself, among those before a position. */
static bool find_in_ring(const struct ring *ring, uint32_t before, uint64_t block, int64_t *result) {
    for (uint32_t i = 1; i <= ring->count; i++) {
        const struct io_event *event = &ring->events[(before + ring->count - i) % ring->count];
        if (event->obj == block) {
            *result = event->res;
            return true;
        }
    }
    return false;
}

/* The ring of a context that the kernel has accepted before; NULL: unknown. */
static const struct ring *ring_of(aio_context_t context) {
    if (!context || !iotide_object(SPACE_CONTEXT, context).file)
        return NULL;
    const struct ring *ring = (const struct ring *)context;
    return ring->magic == RING_MAGIC && ring->count ? ring : NULL;
}

/* ---- io_submit ---- */

struct iotide_aio_ring_end iotide_aio_ring_end(aio_context_t context) {
    const struct ring *ring = iotide_is_tracing() ? ring_of(context) : NULL;
    return (struct iotide_aio_ring_end){ring, ring ? ring->tail % ring->count : 0};
}

/* Binds a block that the kernel has accepted, so it is readable. */
static void register_operation(struct iotide_span span, struct iotide_site *site, const struct iocb *block,
                               struct iotide_aio_ring_end look) {
    uint64_t key = (uint64_t)(uintptr_t)block;
    uint8_t kind = kind_of(block);
    struct iotide_target before = iotide_unbind(SPACE_NUMBER, key);
    int64_t result;
    if (before.file && look.ring && find_in_ring(look.ring, look.tail, key, &result))
        record_end(without_duration(span), &SITE(io_getevents), before, result);
    else if (before.file)
        release_number(&numbers, before.handle);
    uint32_t number = allocate_number(&numbers);
    struct iotide_target target = iotide_descriptor_target((int)block->aio_fildes);
    int64_t offset = kind == KIND_SYNC || kind == KIND_OTHER ? -1 : block->aio_offset;
    if (number)
        operations[number - 1] = (struct operation){.target = target,
                                                    .offset = offset,
                                                    .size = size_of(block),
                                                    .generation = atomic_load(&iotide_generation),
                                                    .fd = (int32_t)block->aio_fildes};
    struct iotide_facts facts = iotide_facts(site, target, (int)block->aio_fildes, false);
    facts.kind = kind;
    facts.flags = 0;
    facts.offset = offset;
    iotide_leave(span, site, facts, (uint64_t[]){block->aio_nbytes, number, 1}, 3);
    iotide_bind(SPACE_NUMBER, key, (struct iotide_target){number, (uint32_t)kind + 1});
    struct iotide_target early = iotide_unbind(SPACE_EARLY, key);
    if (early.file) {
        struct iotide_target known = iotide_unbind(SPACE_NUMBER, key);
        if (known.file)
            record_end(without_duration(span), &SITE(io_getevents), known, (int32_t)early.handle);
    }
}

void iotide_aio_record_submit(struct iotide_span span, aio_context_t context, struct iotide_aio_ring_end look,
                              struct iocb *const *blocks, long result) {
    if (!span.start_ns || !iotide_is_tracing())
        return;
    int error = errno;
    iotide_end_span(&span);
    if (result > 0)
        iotide_bind(SPACE_CONTEXT, context, (struct iotide_target){0, 1});
    for (long i = 0; i < result; i++)
        register_operation(i ? without_duration(span) : span, &SITE(io_submit), blocks[i], look);
    if (result <= 0) {
        struct iotide_facts facts = iotide_facts(&SITE(io_submit), (struct iotide_target){0, 0}, -1, result < 0);
        facts.error = result < 0 ? (int)-result : 0;
        iotide_leave(span, &SITE(io_submit), facts, (uint64_t[]){0, 0, (uint64_t)result}, 3);
    }
    errno = error;
}

/* ---- io_getevents ---- */

/* Unsuccessful queries without waiting are not I/O: programs poll in loops. */
static void record_reap(struct iotide_span span, struct iotide_site *site, long least, const struct io_event *events,
                        long result) {
    if (!span.start_ns || !iotide_is_tracing() || (!result && !least))
        return;
    int error = errno;
    iotide_end_span(&span);
    bool any = false;
    for (long i = 0; i < result; i++)
        any |= claim_end(any ? without_duration(span) : span, site, events[i].obj, events[i].res);
    if (result <= 0) {
        struct iotide_facts facts = iotide_facts(site, (struct iotide_target){0, 0}, -1, result < 0);
        facts.error = result < 0 ? (int)-result : 0;
        iotide_leave(span, site, facts, (uint64_t[]){0, (uint64_t)result}, 2);
    }
    errno = error;
}

void iotide_aio_record_reap(struct iotide_span span, long least, const struct io_event *events, long result) {
    record_reap(span, &SITE(io_getevents), least, events, result);
}

/* ---- io_destroy: operations whose ends the program took from the ring itself ---- */

void iotide_aio_record_destroy(struct iotide_span span, aio_context_t context) {
    const struct ring *ring = span.start_ns ? ring_of(context) : NULL;
    if (!ring)
        return;
    int error = errno;
    iotide_end_span(&span);
    for (uint32_t i = 0; i < ring->count; i++) {
        const struct io_event *event = &ring->events[(ring->tail + ring->count - 1 - i) % ring->count];
        struct iotide_target number = event->obj ? iotide_unbind(SPACE_NUMBER, event->obj) : (struct iotide_target){0, 0};
        if (number.file)
            record_end(without_duration(span), &SITE(io_getevents), number, event->res);
    }
    iotide_unbind(SPACE_CONTEXT, context);
    errno = error;
}

struct iotide_site *iotide_aio_site(enum iotide_aio_call call) {
    return call == AIO_SUBMIT ? &SITE(io_submit) : call == AIO_REAP ? &SITE(io_getevents) : &SITE(io_destroy);
}

/* ---- libaio's functions: the result is the negative error ---- */

static __thread bool in_libaio __attribute__((tls_model("initial-exec"))); /* libaio calls the kernel by syscall(2), too */

bool iotide_aio_in_libaio(void) {
    return in_libaio;
}

typedef int submit_call(aio_context_t context, long count, struct iocb **blocks);
typedef int getevents_call(aio_context_t context, long least, long most, struct io_event *events, void *timeout);
typedef int pgetevents_call(aio_context_t context, long least, long most, struct io_event *events, void *timeout,
                            void *mask);
typedef int destroy_call(aio_context_t context);

/* Equivalent of libaio's function; for a program in which it is not found. */
static int call_kernel(long result) {
    return result == -1 ? -errno : (int)result;
}

EXPORT int io_submit(aio_context_t context, long count, struct iocb **blocks) {
    struct iotide_aio_ring_end look = iotide_aio_ring_end(context);
    struct iotide_span span = iotide_enter(&SITE(io_submit));
    submit_call *real = (submit_call *)iotide_real_late(&SITE(io_submit));
    in_libaio = true;
    int result = real ? real(context, count, blocks) : call_kernel(iotide_program_syscall()(SYS_io_submit, context, count, blocks));
    in_libaio = false;
    iotide_aio_record_submit(span, context, look, blocks, result);
    return result;
}

EXPORT int io_getevents(aio_context_t context, long least, long most, struct io_event *events, void *timeout) {
    struct iotide_span span = iotide_enter(&SITE(io_getevents));
    getevents_call *real = (getevents_call *)iotide_real_late(&SITE(io_getevents));
    in_libaio = true;
    int result = real ? real(context, least, most, events, timeout)
                      : call_kernel(iotide_program_syscall()(SYS_io_getevents, context, least, most, events, timeout));
    in_libaio = false;
    iotide_aio_record_reap(span, least, events, result);
    return result;
}

EXPORT int io_pgetevents(aio_context_t context, long least, long most, struct io_event *events, void *timeout,
                         void *mask) {
    struct iotide_span span = iotide_enter(&SITE(io_pgetevents));
    pgetevents_call *real = (pgetevents_call *)iotide_real_late(&SITE(io_pgetevents));
    struct {
        void *mask;
        size_t bytes;
    } masked = {mask, 8};
    in_libaio = true;
    int result = real ? real(context, least, most, events, timeout, mask)
                      : call_kernel(iotide_program_syscall()(SYS_io_pgetevents, context, least, most, events, timeout,
                                            mask ? &masked : NULL));
    in_libaio = false;
    record_reap(span, &SITE(io_pgetevents), least, events, result);
    return result;
}

EXPORT int io_destroy(aio_context_t context) {
    struct iotide_span span = iotide_enter(&SITE(io_destroy));
    iotide_aio_record_destroy(span, context);
    destroy_call *real = (destroy_call *)iotide_real_late(&SITE(io_destroy));
    in_libaio = true;
    int result = real ? real(context) : call_kernel(iotide_program_syscall()(SYS_io_destroy, context));
    in_libaio = false;
    return result;
}
