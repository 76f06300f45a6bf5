/* POSIX asynchronous I/O: one call begins an operation, and another one, on any thread, returns its result. Both
 * have the operation's number in their signatures; the bytes are recorded at the end. */
#include "libc/libc.h"
#include "tables/operation_numbers.h"
#include "sites_posix.h"

#include <aio.h>

/* Stored facts about an operation, by the address of its control block, in two spaces of the handle table. */
#define SPACE_NUMBER 64 /* handle: the operation's number; file: its kind */
#define SPACE_TARGET 65

OPERATION_NUMBERS(numbers, 1024); /* distinct pending operations */

/* glibc's functions for 64-bit offsets are the same on 64-bit machines. */
_Static_assert(sizeof(struct aiocb) == sizeof(struct aiocb64), "one layout of control blocks");

/* Before the real call, because another thread may see the end before it returns. Before the span begins, so that a
 * reused number begins again after its last end. A block whose end was not fetched counts as reused. */
static uint32_t register_operation(struct iotide_site *site, const struct aiocb *block, uint8_t kind) {
    if (!iotide_traced(site))
        return 0;
    release_number(&numbers, iotide_unbind(SPACE_NUMBER, (uintptr_t)block).handle);
    uint32_t number = allocate_number(&numbers);
    iotide_bind(SPACE_TARGET, (uintptr_t)block, iotide_descriptor_target(block->aio_fildes));
    iotide_bind(SPACE_NUMBER, (uintptr_t)block, (struct iotide_target){number, kind});
    return number;
}

struct operation {
    bool known;
    uint32_t number;
    uint8_t kind;
    struct iotide_target target;
};

/* The operation keeps its number until its end is recorded: release_number is called afterwards. */
static struct operation remove_operation(const struct aiocb *block) {
    struct iotide_target number = iotide_unbind(SPACE_NUMBER, (uintptr_t)block);
    struct iotide_target target = iotide_unbind(SPACE_TARGET, (uintptr_t)block);
    return (struct operation){number.file != 0, number.handle, (uint8_t)number.file, target};
}

static void discard_operation(const struct aiocb *block) {
    release_number(&numbers, remove_operation(block).number);
}

static struct iotide_facts facts_of(const struct iotide_site *site, const struct aiocb *block,
                                    struct iotide_target target, uint8_t kind, bool failed) {
    struct iotide_facts facts = iotide_facts(site, target, block->aio_fildes, failed);
    facts.kind = kind;
    facts.flags = 0;
    facts.offset = kind == KIND_SYNC ? -1 : block->aio_offset;
    return facts;
}

/* ---- beginning ---- */

static int record_submit(struct iotide_span span, struct iotide_site *site, const struct aiocb *block, uint32_t number,
                         int result) {
    if (!span.start_ns || !iotide_is_tracing())
        return result;
    struct iotide_target target = iotide_object(SPACE_TARGET, (uintptr_t)block);
    if (!target.handle) /* its end was fetched meanwhile */
        target = iotide_descriptor_target(block->aio_fildes);
    iotide_leave(span, site, facts_of(site, block, target, site->kind, result != 0),
                 (uint64_t[]){(uint64_t)block->aio_fildes, block->aio_nbytes, number}, 3);
    if (result != 0)
        discard_operation(block);
    return result;
}

#define BEGIN(symbol, type)                                                                            \
    EXPORT int symbol(struct type *block) {                                                            \
        uint32_t number = register_operation(&SITE(symbol), (struct aiocb *)block, SITE(symbol).kind); \
        struct iotide_span span = iotide_enter(&SITE(symbol));                                         \
        int result = REAL(symbol)(block);                                                              \
        return record_submit(span, &SITE(symbol), (struct aiocb *)block, number, result);              \
    }
BEGIN(aio_read, aiocb)
BEGIN(aio_read64, aiocb64)
BEGIN(aio_write, aiocb)
BEGIN(aio_write64, aiocb64)

static int record_sync_submit(struct iotide_span span, struct iotide_site *site, int operation,
                              const struct aiocb *block,
                              uint32_t number, int result) {
    if (!span.start_ns || !iotide_is_tracing())
        return result;
    struct iotide_target target = iotide_descriptor_target(block->aio_fildes);
    iotide_leave(span, site, facts_of(site, block, target, KIND_SYNC, result != 0),
                 (uint64_t[]){(uint64_t)operation, (uint64_t)block->aio_fildes, number}, 3);
    if (result != 0)
        discard_operation(block);
    return result;
}

#define BEGIN_SYNC(symbol, type)                                                                          \
    EXPORT int symbol(int operation, struct type *block) {                                                \
        uint32_t number = register_operation(&SITE(symbol), (struct aiocb *)block, KIND_SYNC);            \
        struct iotide_span span = iotide_enter(&SITE(symbol));                                            \
        int result = REAL(symbol)(operation, block);                                                      \
        return record_sync_submit(span, &SITE(symbol), operation, (struct aiocb *)block, number, result); \
    }
BEGIN_SYNC(aio_fsync, aiocb)
BEGIN_SYNC(aio_fsync64, aiocb64)

static uint8_t kind_of(const struct aiocb *block) {
    return block->aio_lio_opcode == LIO_READ ? KIND_READ : block->aio_lio_opcode == LIO_WRITE ? KIND_WRITE : KIND_OTHER;
}

static bool moves_data(const struct aiocb *block) {
    return block && block->aio_lio_opcode != LIO_NOP;
}

/* Blocks that the list call has not begun (EAGAIN) have an error of their own. */
static void record_list_submit(struct iotide_span span, struct iotide_site *site, int mode, struct aiocb *const *blocks,
                               int count, int result) {
    int error = errno;
    bool refused = result != 0 && error == EINVAL;
    for (int i = 0; i < count; i++) {
        if (!moves_data(blocks[i]))
            continue;
        const struct aiocb *block = blocks[i];
        int state = refused ? error : block->__error_code;
        struct iotide_target target = iotide_object(SPACE_TARGET, (uintptr_t)block);
        uint32_t number = iotide_object(SPACE_NUMBER, (uintptr_t)block).handle;
        struct iotide_facts facts = facts_of(site, block, target, kind_of(block), state != 0 && state != EINPROGRESS);
        facts.error = state;
        bool waited = mode == LIO_WAIT && state != EINPROGRESS;
        if (waited) {
            facts.flags = FLAG_BLOCKING;
            facts.requested = (int64_t)block->aio_nbytes;
            facts.bytes = block->__return_value;
        }
        uint64_t words[] = {(uint64_t)mode, (uint64_t)count, (uint64_t)block->aio_fildes, block->aio_nbytes, number};
        iotide_leave(span, site, facts, words, 5);
        if (waited || facts.failed)
            discard_operation(block);
    }
    errno = error;
}

#define LIST(symbol, type)                                                                      \
    EXPORT int symbol(int mode, struct type *const list[], int count, struct sigevent *event) { \
        struct aiocb *const *blocks = (struct aiocb *const *)list;                              \
        for (int i = 0; i < count && iotide_traced(&SITE(symbol)); i++)                         \
            if (moves_data(blocks[i]))                                                          \
                register_operation(&SITE(symbol), blocks[i], kind_of(blocks[i]));               \
        struct iotide_span span = iotide_enter(&SITE(symbol));                                  \
        int result = REAL(symbol)(mode, list, count, event);                                    \
        if (span.start_ns && iotide_is_tracing())                                               \
            record_list_submit(span, &SITE(symbol), mode, blocks, count, result);               \
        return result;                                                                          \
    }
LIST(lio_listio, aiocb)
LIST(lio_listio64, aiocb64)

/* ---- the end, recorded by the first of these calls that returns it ---- */

static void record_completion(struct iotide_span span, struct iotide_site *site, const struct aiocb *block, int error,
                              int64_t moved, int64_t result) {
    struct operation operation = remove_operation(block);
    struct iotide_facts facts =
        facts_of(site, block, operation.target, operation.known ? operation.kind : KIND_OTHER, error != 0);
    facts.error = error;
    if (facts.kind == KIND_READ || facts.kind == KIND_WRITE) {
        facts.requested = (int64_t)block->aio_nbytes;
        facts.bytes = moved;
    }
    iotide_leave(span, site, facts, (uint64_t[]){operation.number, (uint64_t)result}, 2);
    release_number(&numbers, operation.number);
}

/* Unsuccessful queries are not I/O: programs poll in loops. */
#define ERROR(symbol, type)                                                                                           \
    EXPORT int symbol(const struct type *block) {                                                                     \
        struct iotide_span span = iotide_enter(&SITE(symbol));                                                        \
        int error = REAL(symbol)(block);                                                                              \
        if (span.start_ns && error != EINPROGRESS && iotide_is_tracing() &&                                           \
            iotide_object(SPACE_NUMBER, (uintptr_t)block).file)                                                       \
            record_completion(span, &SITE(symbol), (const struct aiocb *)block, error, block->__return_value, error); \
        return error;                                                                                                 \
    }
ERROR(aio_error, aiocb)
ERROR(aio_error64, aiocb64)

#define RETURN(symbol, type)                                                                                        \
    EXPORT ssize_t symbol(struct type *block) {                                                                     \
        struct iotide_span span = iotide_enter(&SITE(symbol));                                                      \
        ssize_t moved = REAL(symbol)(block);                                                                        \
        if (span.start_ns && iotide_is_tracing())                                                                   \
            record_completion(span, &SITE(symbol), (const struct aiocb *)block, block->__error_code, moved, moved); \
        return moved;                                                                                               \
    }
RETURN(aio_return, aiocb)
RETURN(aio_return64, aiocb64)

#define CANCEL(symbol, type)                                                                          \
    EXPORT int symbol(int fd, struct type *block) {                                                   \
        struct iotide_span span = iotide_enter(&SITE(symbol));                                        \
        int result = REAL(symbol)(fd, block);                                                         \
        if (span.start_ns) {                                                                          \
            uint32_t number = block ? iotide_object(SPACE_NUMBER, (uintptr_t)block).handle : 0;       \
            iotide_leave(span, &SITE(symbol),                                                         \
                         iotide_facts(&SITE(symbol), iotide_descriptor_target(fd), fd, result == -1), \
                         (uint64_t[]){number, (uint64_t)result}, 2);                                  \
        }                                                                                             \
        return result;                                                                                \
    }
CANCEL(aio_cancel, aiocb)
CANCEL(aio_cancel64, aiocb64)
