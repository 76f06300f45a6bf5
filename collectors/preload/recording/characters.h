/* Characters that a program moves one at a time. */
#ifndef IOTIDE_CHARACTERS_H
#define IOTIDE_CHARACTERS_H

#include "recording/session.h"
#include "tables/streams.h"

#include <stdio.h>

/* Around each other call on a stream: its part of the buffer is not counted as characters. ends_use: characters before
 * the call are recorded before it. stream: NULL for all. Result NULL: not traced. */
__attribute__((visibility("hidden"))) struct iotide_characters *iotide_before_stream_call(FILE *stream, bool ends_use);
__attribute__((visibility("hidden"))) void iotide_after_stream_call(struct iotide_characters *of, FILE *stream);

/* Before a call that puts bytes into an output's buffer, which may empty it. If that is a pipe that nobody reads, SIGPIPE
 * ends the process: what its thread has read until then is recorded before. bytes: INT64_MAX: the buffer is emptied. */
__attribute__((visibility("hidden"))) void iotide_prepare_output(FILE *stream, int64_t bytes, bool may_end_line);
static inline bool iotide_has_unrecorded(void) {
    struct iotide_header *region = atomic_load_explicit(&iotide_region, memory_order_relaxed);
    return region && atomic_load_explicit(&region->unrecorded_streams, memory_order_relaxed);
}
#define BEFORE_OUTPUT(stream, bytes)                                   \
    do {                                                               \
        if (unlikely(iotide_has_unrecorded()))                         \
            iotide_prepare_output(stream, (int64_t)(bytes), true);     \
    } while (0)

/* Whether a call that moves one character changes only the position in the buffer, which is counted by the next call that
 * does more. */
static inline bool iotide_is_in_buffer(const struct iotide_site *site, FILE *stream, uint8_t kind) {
    const struct iotide_characters *of = &iotide_characters[iotide_self.last_streams[kind == KIND_WRITE]];
    return likely(stream && atomic_load_explicit(&of->stream, memory_order_relaxed) == stream) && iotide_is_tracing() &&
           atomic_load_explicit(&site->state, memory_order_relaxed) == SITE_OFF &&
           atomic_load_explicit(&of->process, memory_order_relaxed) == iotide_own_pid &&
           atomic_load_explicit(&of->owner, memory_order_relaxed) == &iotide_self && stream->_mode <= 0 &&
           (kind == KIND_READ ? stream->_IO_read_ptr < stream->_IO_read_end
                              : stream->_IO_write_ptr < stream->_IO_write_end);
}

/* Around a call that moves one character and is not recorded itself. */
struct iotide_character_call {
    struct iotide_characters *of; /* NULL: not traced, or no room for the stream */
    struct iotide_span span;      /* of a call that may make a system call */
    int64_t filled;               /* bytes of the output in the buffer */
    uint8_t kind;                 /* KIND_READ or KIND_WRITE */
};
__attribute__((visibility("hidden"))) struct iotide_character_call iotide_begin_character(FILE *stream, uint8_t kind,
                                                                                  int character);
static inline bool iotide_is_counted(struct iotide_character_call call) {
    return call.of || call.span.start_ns;
}
/* bytes: 0 if nothing was moved. */
__attribute__((visibility("hidden"))) void iotide_end_character(struct iotide_character_call call, FILE *stream,
                                                                int64_t bytes, bool failed);
/* After ungetc. */
__attribute__((visibility("hidden"))) void iotide_return_character(struct iotide_characters *of, FILE *stream,
                                                                   int64_t bytes);

/* Before a stream is closed: records its characters. */
__attribute__((visibility("hidden"))) void iotide_close_characters(FILE *stream);
/* Of all streams, before an exec or the end of the process. waits: it may wait for another thread that opens or closes a
 * stream. */
__attribute__((visibility("hidden"))) void iotide_record_all_characters(bool waits);
/* After an exec that failed. */
__attribute__((visibility("hidden"))) void iotide_continue_characters(void);

#endif
