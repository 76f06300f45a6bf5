/* What wrappers use of the tracer. Nothing here may change errno, allocate, block or print.
 *
 * The core library (POSIX and STDIO) defines it; the libraries of the higher layers find it in the core, which is
 * preloaded ahead of them.
 */
#ifndef IOTIDE_TRACER_H
#define IOTIDE_TRACER_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "ring.h"

#ifndef EXPORT
#define EXPORT __attribute__((visibility("default")))
#endif
/* Words that a forked child writes as it begins stand together: of each page written to, the child gets a copy. */
#define TOGETHER __attribute__((section("iotide_together")))
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/* ---- sites: one a wrapper ---- */

/* What the switches turn on and off besides layers (IOTIDE_CALLS). */
enum iotide_class { CLASS_DATA, CLASS_HANDLE, CLASS_SEEK, CLASS_SYNC, CLASS_META, CLASS_CHAR, CLASS_MEMORY };
enum { SITE_NEW, SITE_ON, SITE_OFF, SITE_SILENT }; /* silent: not recorded, but what it does to handles is remembered */

#define IOTIDE_COPIES 4 /* of a library in one process, whose functions are remembered; those of more are looked up */
/* Without pointers: those of thousands of sites would be relocated in each process. What a call needs comes first. */
struct iotide_site {
    _Atomic uint64_t number; /* iotide_generation << 32 | number of the call in its region */
    _Atomic uint8_t state;
    uint8_t layer;
    uint8_t kind;
    uint8_t class;
    uint16_t spec_at; /* in text */
    uint16_t gate;    /* its place among its library's, copies.h; 0: none */
    void *_Atomic real[IOTIDE_COPIES]; /* of libc's functions: the first; else by copy of the library */
    char text[];                       /* what programs link against; ENTRY_CALL's */
};
#define SITE(symbol) iotide_site_##symbol
#define SITE_TEXT(symbol, spec) .spec_at = sizeof symbol, .text = symbol "\0" spec
static inline const char *iotide_symbol(const struct iotide_site *site) {
    return site->text;
}
static inline const char *iotide_spec(const struct iotide_site *site) {
    return site->text + site->spec_at;
}

EXPORT bool iotide_switch(struct iotide_site *site); /* decides SITE_NEW; false: off */
EXPORT uint32_t iotide_define_call(struct iotide_site *site);
extern EXPORT _Atomic uint32_t iotide_generation; /* counts the regions that this memory image has begun */
static inline uint32_t iotide_number(struct iotide_site *site) {
    uint64_t known = atomic_load_explicit(&site->number, memory_order_relaxed);
    return likely(known >> 32 == atomic_load_explicit(&iotide_generation, memory_order_relaxed))
               ? (uint32_t)known
               : iotide_define_call(site);
}

/* The next definition of a libc function after ours; found without locks or allocation. */
EXPORT void *iotide_next(struct iotide_site *site);
static inline void *iotide_real(struct iotide_site *site) {
    void *real = atomic_load_explicit(&site->real[0], memory_order_relaxed);
    return likely(real != NULL) ? real : iotide_next(site);
}
#define REAL(symbol) ((__typeof__(&symbol))iotide_real(&SITE(symbol)))

/* ---- is this process traced (it may start to be, in a forked child)? ---- */

EXPORT bool iotide_start(void);
extern EXPORT volatile uint32_t *iotide_alive; /* a page that reads 0 in a forked child; NULL while untraced */
static inline bool iotide_active(void) {
    volatile uint32_t *alive = iotide_alive;
    if (unlikely(alive == NULL))
        return false;
    return likely(*alive != 0) || iotide_start();
}
/* A fork in a signal handler can end a call in the child that began in the parent: that must not be recorded. */
static inline bool iotide_begun(void) {
    volatile uint32_t *alive = iotide_alive;
    return likely(alive != NULL && *alive != 0);
}
/* A vfork child shares our memory but not our descriptors: what it does to its descriptors is not recorded. */
EXPORT bool iotide_same_process(void);
EXPORT void iotide_set_rank(int32_t rank, int32_t ranks);

/* ---- what a call is about ---- */

struct iotide_target {
    uint32_t handle;
    uint32_t file;
};
#define IOTIDE_LEFT_OUT UINT32_MAX /* as a file: the switches leave it out, and all that is done through its handles */

/* descriptors.c */
EXPORT struct iotide_target iotide_target_of(int fd); /* resolves a descriptor that we did not see being opened */
/* A new handle for a descriptor that has just been opened; a failed open (fd < 0) still names the file it wanted. */
EXPORT struct iotide_target iotide_opened(int fd, int directory, const char *path);
EXPORT void iotide_connected(int fd); /* what is behind the descriptor has another name now */
EXPORT struct iotide_target iotide_duplicated(int from, int to);
EXPORT struct iotide_target iotide_forget(int fd); /* before it is closed; returns what it was */
EXPORT void iotide_forget_range(unsigned int first, unsigned int last);
EXPORT uint32_t iotide_file_at(int directory, const char *path); /* made absolute; AT_FDCWD: the working directory */
/* Whether text can be read up to its end, as nothing says so of what a call that failed was given. Asks the kernel. */
EXPORT bool iotide_is_text(const char *text);
/* The same of the (first) path of a call that failed so: mostly the call has read it before. */
static inline bool iotide_is_path(const char *path, int error) {
    bool was_read = error != EFAULT && error != EINVAL && error != EBADF && error != ENOSYS && error != ENOMEM;
    return was_read || iotide_is_text(path);
}
/* Streams have handles of their own, by the descriptor under them; a descriptor first used beside its stream is the
 * stream's child. */
EXPORT struct iotide_target iotide_stream_of(int fd);
EXPORT struct iotide_target iotide_stream_opened(int fd, const char *path); /* by path: fopen, tmpfile */
EXPORT struct iotide_target iotide_stream_on(int fd); /* on a descriptor that was there: fdopen */
EXPORT struct iotide_target iotide_stream_forget(int fd);

/* objects.c: handles of the layers above libc, by the library's own value (an hid_t, an MPI_File, an ncid).
 * space: the layer, or any number from 64 on that a library's hooks choose. */
EXPORT uint32_t iotide_new_handle(void); /* reserved before a creating call, so that what it opens below has its parent */
EXPORT void iotide_bind(uint32_t space, uint64_t value, struct iotide_target target);
EXPORT struct iotide_target iotide_object(uint32_t space, uint64_t value); /* {0, 0}: not known */
EXPORT struct iotide_target iotide_unbind(uint32_t space, uint64_t value);

/* definitions.c. Bounded; a text that finds no room, or is longer than PATH_MAX, is 0 or cut. */
EXPORT uint32_t iotide_define_file(const char *path, size_t length);
EXPORT uint32_t iotide_define_string(const char *text); /* NULL: 0 */

/* ---- one traced call ---- */

/* Enclosing calls remembered; what is deeper counts as this deep. Each takes 16 bytes of each thread's stack, on which
 * the dynamic linker puts variables like iotide_self. */
#define IOTIDE_DEEPEST 16
#define IOTIDE_MOST_WORDS 64

struct iotide_clock {
    uint64_t ticks; /* when the kernel's clock was read, */
    int64_t ns;     /* what it said then, */
    uint64_t trusted; /* and how many ticks that is gone by; 0: not at all */
    uint32_t pace;    /* until then */
    uint32_t length;  /* of a tick */
    uint64_t since_ticks; /* when its length was last measured */
    int64_t since_ns;
};

struct iotide_thread {
    uint32_t depth;
    bool storing;
    bool quiet; /* a hook asks the library something: what that calls below is no call of the program's */
    uint32_t generation;
    uint32_t skipped; /* data calls since the last that IOTIDE_SAMPLE let through */
    const struct iotide_library *library; /* called last, of which copy and by whom: copies.h; NULL: not known */
    uint64_t known;
    struct iotide_slot *slot;
    struct iotide_record *lines;
    uint64_t head;
    uint64_t made;
    uint64_t look_at; /* up to this head there is room; past it the collector's tail is looked at anew */
    int64_t look_ns; /* when to look next whether the collector lives */
    struct iotide_clock clock;
    struct {
        const void *frame; /* where on the stack the call stands */
        uint32_t handle;
    } enclosing[IOTIDE_DEEPEST];
};
extern EXPORT __thread struct iotide_thread iotide_self __attribute__((tls_model("initial-exec")));

/* clock.c */
#ifdef __x86_64__
#define IOTIDE_HAS_TICKS 1
static inline uint64_t iotide_ticks(void) {
    return __builtin_ia32_rdtsc();
}
#else
#define IOTIDE_HAS_TICKS 0
#endif
#define IOTIDE_TICK_BITS 30 /* lengths of ticks are in units of 2^-30 ns */
static inline int64_t iotide_ticks_ns(const struct iotide_clock *clock, uint64_t ticks) {
    return (int64_t)(ticks * clock->pace >> IOTIDE_TICK_BITS);
}
EXPORT int64_t iotide_read_clock(void);
static inline int64_t iotide_now(void) {
#if IOTIDE_HAS_TICKS
    const struct iotide_clock *clock = &iotide_self.clock;
    uint64_t ticks = iotide_ticks() - clock->ticks;
    if (likely(ticks < clock->trusted))
        return clock->ns + iotide_ticks_ns(clock, ticks);
#endif
    return iotide_read_clock();
}

/* start_ns 0: not traced. */
struct iotide_span {
    int64_t start_ns;
    int64_t end_ns; /* 0: when the call is left */
    uint32_t depth;
};

EXPORT void iotide_unwind(const void *frame); /* forgets enclosing calls that a longjmp has left */

static inline bool iotide_traced(struct iotide_site *site) {
    if (unlikely(!iotide_active() || iotide_self.quiet))
        return false;
    uint8_t state = atomic_load_explicit(&site->state, memory_order_relaxed);
    return likely(state == SITE_ON) || state == SITE_SILENT || (state == SITE_NEW && iotide_switch(site));
}

static inline bool iotide_silent(struct iotide_site *site) {
    return atomic_load_explicit(&site->state, memory_order_relaxed) == SITE_SILENT;
}

static inline uint32_t iotide_parent_at(uint32_t depth) {
    return likely(depth == 0) ? 0 : iotide_self.enclosing[depth - 1].handle;
}

/* Enters a call that makes no traced calls of its own (libc's). */
static inline struct iotide_span iotide_enter(struct iotide_site *site) {
    if (!iotide_traced(site))
        return (struct iotide_span){0, 0, 0};
    if (unlikely(iotide_self.depth != 0))
        iotide_unwind(__builtin_frame_address(0));
    return (struct iotide_span){iotide_now(), 0, iotide_self.depth};
}

/* Enters a call of a higher layer: what it calls below has handle as its parent (0: that of the call around it). */
static inline struct iotide_span iotide_push(struct iotide_site *site, uint32_t handle) {
    if (!iotide_traced(site))
        return (struct iotide_span){0, 0, 0};
    const void *frame = __builtin_frame_address(0);
    if (iotide_self.depth != 0)
        iotide_unwind(frame);
    struct iotide_span span = {iotide_now(), 0, iotide_self.depth};
    if (span.depth < IOTIDE_DEEPEST && likely(!iotide_silent(site))) {
        iotide_self.enclosing[span.depth].frame = frame;
        iotide_self.enclosing[span.depth].handle = handle ? handle : iotide_parent_at(span.depth);
        iotide_self.depth = span.depth + 1;
    }
    return span;
}

/* Notes when the real call ended: what is looked up for the record afterwards is no time of the program's. */
static inline void iotide_stop(struct iotide_span *span) {
    span->end_ns = iotide_now();
}

/* Ends what iotide_push began: the first thing after the real call, unless the span is untraced (start_ns 0). */
static inline void iotide_pop(struct iotide_span span) {
    iotide_self.depth = span.depth;
}

struct iotide_facts {
    struct iotide_target target;
    int64_t offset; /* -1: unknown */
    int64_t requested;
    int64_t bytes; /* ignored when failed */
    uint32_t parent; /* 0: the handle of the enclosing call */
    int32_t descriptor; /* -1: none */
    uint8_t kind;
    uint16_t flags; /* without FLAG_FAILED */
    bool failed;
    int error; /* of a failed call */
};

/* Leaves errno as it is, too. words: the parameters that the site's specification sends as words, in its order; at most IOTIDE_MOST_WORDS. */
EXPORT void iotide_put(const struct iotide_record *record, const uint64_t *words);

static inline void iotide_leave(struct iotide_span span, struct iotide_site *site, struct iotide_facts facts,
                                const uint64_t *words, unsigned int count) {
    if (unlikely(!iotide_begun() || iotide_silent(site)))
        return;
    int64_t end_ns = span.end_ns ? span.end_ns : iotide_now();
    uint32_t number = iotide_number(site);
    struct iotide_record record = {
        .start_ns = span.start_ns,
        .duration_ns = likely(end_ns > span.start_ns) ? end_ns - span.start_ns : 0,
        .offset = facts.offset,
        .requested = facts.requested,
        .bytes = facts.failed ? 0 : facts.bytes,
        .handle = facts.target.handle,
        .parent = facts.parent ? facts.parent : iotide_parent_at(span.depth),
        .file = facts.target.file,
        .descriptor = facts.descriptor,
        .call = (uint16_t)number,
        .flags = (uint16_t)(facts.flags | (facts.failed ? FLAG_FAILED : 0)),
        .words = (uint8_t)count,
        .kind = facts.kind,
        .error = facts.failed ? (uint8_t)(facts.error > 255 || facts.error < 0 ? 255 : facts.error) : 0,
        .depth = (uint8_t)span.depth,
    };
    iotide_put(&record, words);
}

#endif
