/* What all of the tracer shares: sites of calls, what calls are about, the state of a thread. */
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
    uint16_t gate;    /* its place among its library's, library_copies.h; 0: none */
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

/* ---- what a call is about ---- */

struct iotide_target {
    uint32_t handle;
    uint32_t file;
};
#define IOTIDE_LEFT_OUT UINT32_MAX /* as a file: the switches leave it out, and all that is done through its handles */

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

/* start_ns 0: not traced. */
struct iotide_span {
    int64_t start_ns;
    int64_t end_ns; /* 0: when the call is left */
    uint32_t depth;
    uint32_t paced; /* whether the process is, in calls of libc */
};

/* ---- a thread ---- */

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
    const struct iotide_library *library; /* called last, of which copy and by whom: library_copies.h; NULL: not known */
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
    /* While there is no collector. */
    uint32_t unasked;  /* calls that do not read the clock */
    int64_t coarse_ns; /* what it said last */
};

#endif
