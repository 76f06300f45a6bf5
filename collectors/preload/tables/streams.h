/* Streams whose single characters are counted, by their addresses, and those of them that are open. */
#ifndef IOTIDE_STREAMS_H
#define IOTIDE_STREAMS_H

#include "state/state.h"

#include <stdio.h>

enum iotide_output { OUTPUT_UNKNOWN, OUTPUT_PIPE, OUTPUT_OTHER };

/* The characters of one stream. */
struct iotide_characters {
    FILE *_Atomic stream;
    const struct iotide_thread *_Atomic owner;      /* the thread that uses it; NULL: several do */
    const char *_Atomic read_at, *_Atomic write_at; /* the stream's positions after the last call */
    _Atomic int64_t moved;   /* bytes that are not recorded yet; negative: they were returned after they were recorded */
    _Atomic int64_t fill_ns; /* time of calls that filled the buffer, which the next record has */
    _Atomic int32_t unrecorded; /* its part of unrecorded_bytes in the process's first region, */
    _Atomic pid_t process; /* a forked child counts from its fork */
    _Atomic int descriptor; /* -1: none */
    _Atomic uint16_t unrecorded_in; /* which has this iotide_generation, in its last bits */
    _Atomic uint8_t kind;   /* of the moved bytes */
    _Atomic uint8_t output; /* enum iotide_output */
};
_Static_assert(sizeof(struct iotide_characters) == 64, "a cache line");

/* glibc's list and its lock, which a thread may take again while it has it. */
extern FILE *_IO_list_all __attribute__((weak));
extern void _IO_list_lock(void) __attribute__((weak));
extern void _IO_list_unlock(void) __attribute__((weak));

#define IOTIDE_STREAMS 512
extern __attribute__((visibility("hidden"))) struct iotide_characters iotide_characters[IOTIDE_STREAMS];

/* Returns NULL if there is no room. process of a new stream is 0. */
__attribute__((visibility("hidden"))) struct iotide_characters *iotide_add_stream(FILE *stream);
/* Of a closed stream, and of a new one: another with its address may have been closed unseen. */
__attribute__((visibility("hidden"))) void iotide_remove_stream(const FILE *stream);

/* Whether a call that puts bytes into an output's buffer may empty it; INT64_MAX: it does if there are any. */
__attribute__((visibility("hidden"))) bool iotide_is_emptied(const FILE *stream, int64_t bytes, bool may_end_line);

/* Calls visit for each open stream of the table for which is_visited is true. waits: it may wait for another thread that
 * opens or closes a stream. The functions may get a copy of the stream. */
typedef bool iotide_stream_test(struct iotide_characters *of, const FILE *stream);
typedef void iotide_stream_visit(struct iotide_characters *of, const FILE *stream);
__attribute__((visibility("hidden"))) void iotide_visit_streams(bool waits, iotide_stream_test *is_visited,
                                                                iotide_stream_visit *visit);

#endif
