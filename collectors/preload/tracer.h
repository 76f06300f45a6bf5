/* What the wrappers use of the tracer. Nothing here may change errno, allocate, block or print. */
#ifndef IOTIDE_TRACER_H
#define IOTIDE_TRACER_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "calls.h"
#include "ring.h"

#define EXPORT __attribute__((visibility("default")))
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

enum iotide_call_id {
    CALL_NONE,
#define X(symbol, name, layer, kind) CALL_##symbol,
    IOTIDE_CALLS(X)
#undef X
        CALL_COUNT
};
extern const struct iotide_call iotide_calls[CALL_COUNT];

/* The real function behind a wrapper, found once by dlsym(RTLD_NEXT). */
extern void *_Atomic iotide_real[CALL_COUNT];
void *iotide_resolve(enum iotide_call_id call);
static inline void *iotide_real_of(enum iotide_call_id call) {
    void *real = atomic_load_explicit(&iotide_real[call], memory_order_relaxed);
    return likely(real != NULL) ? real : iotide_resolve(call);
}
#define REAL(symbol) ((__typeof__(&symbol))iotide_real_of(CALL_##symbol))

/* tracer.c: is this process traced (it may start to be, in a forked child)? */
bool iotide_start(void);
extern volatile uint32_t *iotide_alive; /* a page that reads 0 in a forked child; NULL while untraced */
/* A fork in a signal handler can end a call in the child that began in the parent: that must not be recorded. */
static inline bool iotide_begun(void) {
    volatile uint32_t *alive = iotide_alive;
    return likely(alive != NULL && *alive != 0);
}
static inline bool iotide_active(void) {
    volatile uint32_t *alive = iotide_alive;
    if (unlikely(alive == NULL))
        return false;
    return likely(*alive != 0) || iotide_start();
}
/* A vfork child shares our memory but not our descriptors: what it does to its descriptors is not recorded. */
bool iotide_same_process(void);

static inline int64_t iotide_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

void iotide_put(const struct iotide_record *record);
uint32_t iotide_define_file(const char *path, size_t length);

/* descriptors.c: what is behind a descriptor. */
struct iotide_target {
    uint32_t handle;
    uint32_t file;
};
struct iotide_target iotide_target_of(int fd);    /* resolves a descriptor that we did not see being opened */
struct iotide_target iotide_opened(int fd);       /* a new handle for a descriptor that has just been opened */
struct iotide_target iotide_duplicated(int from, int to);
struct iotide_target iotide_forget(int fd);       /* before it is closed; returns what it was */
void iotide_forget_range(unsigned int first, unsigned int last);
uint32_t iotide_file_at(int directory, const char *path);
void iotide_reset_descriptors(void);

/* One traced call. start_ns 0: not traced. */
struct iotide_span {
    int64_t start_ns;
};
static inline struct iotide_span iotide_enter(void) {
    return (struct iotide_span){iotide_active() ? iotide_now() : 0};
}
static inline void iotide_leave_as(struct iotide_span span, enum iotide_call_id call, uint8_t kind,
                                   struct iotide_target target, int64_t offset, int64_t requested, int64_t moved,
                                   bool failed) {
    if (unlikely(!iotide_begun()))
        return;
    int error = errno;
    struct iotide_record record = {
        .start_ns = span.start_ns,
        .duration_ns = iotide_now() - span.start_ns,
        .offset = offset,
        .requested = requested,
        .bytes = failed ? 0 : moved,
        .handle = target.handle,
        .file = target.file,
        .call = (uint16_t)call,
        .flags = FLAG_BLOCKING | (failed ? FLAG_FAILED : 0),
        .layer = iotide_calls[call].layer,
        .kind = kind,
        .error = failed ? (uint8_t)(error > 255 ? 255 : error) : 0,
    };
    iotide_put(&record);
    errno = error;
}
static inline void iotide_leave(struct iotide_span span, enum iotide_call_id call, struct iotide_target target,
                                int64_t offset, int64_t requested, int64_t moved, bool failed) {
    iotide_leave_as(span, call, iotide_calls[call].kind, target, offset, requested, moved, failed);
}

#endif
