/* Shared types of the tracer: call sites, targets of calls, the state of a thread. */
#ifndef IOTIDE_TYPES_H
#define IOTIDE_TYPES_H

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
/* Words that a forked child writes at its beginning are contiguous, because the child gets a copy of each written
 * page. */
#define FORK_WRITTEN __attribute__((section("iotide_fork_written")))
/* Functions that most short processes call are contiguous: a forked child maps code by pages. */
#define FREQUENT __attribute__((hot))
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/* ---- sites: one per wrapper ---- */

/* Classes of calls that IOTIDE_CALLS can switch. */
enum iotide_class { CLASS_DATA, CLASS_HANDLE, CLASS_SEEK, CLASS_SYNC, CLASS_META, CLASS_CHAR, CLASS_MEMORY };
enum { SITE_NEW, SITE_ON, SITE_OFF, SITE_SILENT }; /* silent: not recorded, but its effect on handles is tracked */

#define IOTIDE_COPIES 4 /* copies of a library in one process whose functions are cached; those of further copies are
                         * looked up */
/* Without pointers, because those of thousands of sites would be relocated in each process. Fields needed per call
 * come first. */
struct iotide_site {
    _Atomic uint64_t number; /* iotide_generation << 32 | number of the call in its region */
    _Atomic uint8_t state;
    uint8_t layer;
    uint8_t kind;
    uint8_t class;
    uint16_t spec_at; /* offset in text */
    uint16_t gate;    /* index of its gate in its library, library_copies.h; 0: none */
    void *_Atomic real[IOTIDE_COPIES]; /* for libc's functions the first; otherwise by copy of the library */
    char text[];                       /* the symbol of the function, then the text of ENTRY_CALL */
};
#define SITE(symbol) iotide_site_##symbol
#define SITE_TEXT(symbol, spec) .spec_at = sizeof symbol, .text = symbol "\0" spec
static inline const char *iotide_symbol(const struct iotide_site *site) {
    return site->text;
}
static inline const char *iotide_spec(const struct iotide_site *site) {
    return site->text + site->spec_at;
}

/* ---- target of a call ---- */

struct iotide_target {
    uint32_t handle;
    uint32_t file;
};
#define IOTIDE_EXCLUDED UINT32_MAX /* as a file: the filters leave it out, and all calls through its handles */

struct iotide_facts {
    struct iotide_target target;
    int64_t offset; /* -1: unknown */
    int64_t requested;
    int64_t bytes; /* ignored if failed */
    uint32_t parent; /* 0: the handle of the enclosing call */
    int32_t descriptor; /* -1: none */
    uint8_t kind;
    uint16_t flags; /* without FLAG_FAILED */
    bool failed;
    int error; /* of a failed call */
};

/* start_ns 0: not traced. */
struct iotide_span {
    int64_t start_ns;
    int64_t end_ns; /* 0: the time when the call is recorded */
    uint32_t depth;
    uint32_t paced; /* whether the process is paced, for calls of libc */
};

/* ---- a thread ---- */

/* Maximum stored nesting depth of calls; deeper calls count as this deep. Each takes 16 bytes of each thread's
 * stack, which contains thread-local variables such as iotide_self. */
#define IOTIDE_MAX_DEPTH 16
#define IOTIDE_MAX_WORDS 64

struct iotide_clock {
    uint64_t ticks; /* at the last reading of the kernel's clock, */
    int64_t ns;     /* the result of that reading, */
    uint64_t trusted; /* and the number of ticks for which it is valid; 0: invalid */
    uint32_t pace;    /* length of a tick until then */
    uint32_t length;  /* measured length of a tick */
    uint64_t since_ticks; /* when the length was last measured */
    int64_t since_ns;
};

struct iotide_thread {
    uint32_t depth;
    bool storing;
    bool quiet; /* a hook queries the library: nested calls are not calls of the program */
    bool in_cell; /* its slot is that of a cell */
    bool is_output_ready; /* what was read is recorded before a call that empties an output into a pipe */
    uint32_t generation;
    uint32_t skipped; /* data calls since the last one that IOTIDE_SAMPLE selected */
    const struct iotide_library *library; /* library called last, its copy and the caller: library_copies.h; NULL:
                                           * unknown */
    uint64_t known;
    struct iotide_slot *slot;
    struct iotide_record *lines;
    uint64_t head;
    uint64_t made;
    uint64_t room_until; /* up to this head there is room; beyond it the collector's tail is read again */
    int64_t next_check_ns; /* next check that the collector is alive */
    struct iotide_clock clock;
    struct {
        const void *frame; /* stack position of the call */
        uint32_t handle;
    } enclosing[IOTIDE_MAX_DEPTH];
    /* While there is no collector. */
    uint32_t clock_skips;  /* calls that do not read the clock */
    uint16_t last_streams[2]; /* last read and last written: recording/characters.h */
    int64_t coarse_ns; /* its last reading */
    uint64_t line_mask; /* number of lines of its ring, - 1 */
};

#endif
