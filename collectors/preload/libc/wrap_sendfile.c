/* Calls that move data between descriptors are recorded twice: as a read from one and as a write to the other. Each has
 * half of the time, so that it counts once. */
#include "libc/wrap_sendfile.h"
#include "libc/libc.h"
#include "sites_posix.h"

#include <sys/sendfile.h>
#include <unistd.h>

static void record_end(struct iotide_span span, struct iotide_site *site, struct iotide_transfer_end side,
                       uint8_t kind, size_t wanted,
                       ssize_t got, const uint64_t *words, unsigned int count) {
    struct iotide_facts facts = iotide_facts(site, iotide_descriptor_target(side.fd), side.fd, got < 0);
    facts.kind = kind;
    facts.requested = (int64_t)wanted;
    facts.bytes = got;
    if (side.at && got >= 0)
        facts.offset = *side.at - got;
    iotide_leave(span, site, facts, words, count);
}

/* words: first the two descriptors, in the order of the call's parameters. */
ssize_t iotide_record_transfer(struct iotide_span span, struct iotide_site *site, struct iotide_transfer_end from,
                               struct iotide_transfer_end to, size_t wanted, ssize_t got, const uint64_t *words,
                               unsigned int count) {
    if (span.start_ns) {
        iotide_end_span(&span);
        struct iotide_span reading = span, writing = span;
        reading.end_ns = writing.start_ns = span.start_ns + (span.end_ns - span.start_ns) / 2;
        record_end(reading, site, from, KIND_READ, wanted, got, words, count);
        record_end(writing, site, to, KIND_WRITE, wanted, got, words, count);
    }
    return got;
}

#define SENDFILE(symbol, type)                                                                     \
    EXPORT ssize_t symbol(int to, int from, type *at, size_t size) {                               \
        struct iotide_span span = iotide_enter(&SITE(symbol));                                     \
        ssize_t got = REAL(symbol)(to, from, at, size);                                            \
        return iotide_record_transfer(span, &SITE(symbol), (struct iotide_transfer_end){from, at}, \
                                      (struct iotide_transfer_end){to, NULL}, size, got,           \
                      (uint64_t[]){(uint64_t)to, (uint64_t)from}, 2);                              \
    }
SENDFILE(sendfile, off_t)
SENDFILE(sendfile64, off64_t)

#define BETWEEN(symbol)                                                                                          \
    EXPORT ssize_t symbol(int from, off64_t *from_at, int to, off64_t *to_at, size_t size, unsigned int flags) { \
        struct iotide_span span = iotide_enter(&SITE(symbol));                                                   \
        ssize_t got = REAL(symbol)(from, from_at, to, to_at, size, flags);                                       \
        return iotide_record_transfer(span, &SITE(symbol), (struct iotide_transfer_end){from, from_at},          \
                                      (struct iotide_transfer_end){to, to_at}, size, got,                        \
                      (uint64_t[]){(uint64_t)from, (uint64_t)to, flags}, 3);                                     \
    }
BETWEEN(copy_file_range)
BETWEEN(splice)

EXPORT ssize_t tee(int from, int to, size_t size, unsigned int flags) {
    struct iotide_span span = iotide_enter(&SITE(tee));
    ssize_t got = REAL(tee)(from, to, size, flags);
    return iotide_record_transfer(span, &SITE(tee), (struct iotide_transfer_end){from, NULL},
                                  (struct iotide_transfer_end){to, NULL}, size, got,
                  (uint64_t[]){(uint64_t)from, (uint64_t)to, flags}, 3);
}
