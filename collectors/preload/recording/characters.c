/* Characters that a program moves one at a time: by getc, putc ..., and in the buffer of a stream itself, as compilers
 * inline getc_unlocked and putc_unlocked. To record each would take longer than to move it. They are counted by stream, and
 * recorded together: when the buffer is filled or emptied, and before calls such as fclose, fseek and fflush.
 *
 * Characters moved without a call are the difference of the stream's position to that after the last call. It is only
 * taken in streams that one thread uses, because other threads move the position before they are seen. */
#include "recording/characters.h"
#include "base/sockets.h"
#include "tracer.h"
#include "sites_stdio.h"

#include <pthread.h>

#define MUCH 4096 /* bytes that are recorded although the stream's buffer was not seen to be filled or emptied */

static _Atomic bool forking;  /* positions are those of the fork; remains true in the child */

#define LOAD(field) atomic_load_explicit(&(field), memory_order_relaxed)
#define STORE(field, value) atomic_store_explicit(&(field), value, memory_order_relaxed)

/* ---- what a kill would lose ---- */

/* Returns the value before. */
static int32_t exchange_unrecorded(struct iotide_characters *of, int32_t bytes) {
    uint16_t generation = (uint16_t)atomic_load_explicit(&iotide_generation, memory_order_relaxed);
    if (LOAD(of->unrecorded_in) == generation)
        return LOAD(of->unrecorded) == bytes ? bytes : atomic_exchange(&of->unrecorded, bytes);
    STORE(of->unrecorded_in, generation);
    STORE(of->unrecorded, bytes);
    return 0;
}

static void set_unrecorded(struct iotide_characters *of, int64_t most) {
    if (likely(!most && !LOAD(of->unrecorded)))
        return;
    int32_t bytes = most < INT32_MAX ? (int32_t)most : INT32_MAX;
    int32_t before = exchange_unrecorded(of, bytes);
    if (likely(before == bytes) || !iotide_region_count() || !iotide_is_tracing())
        return;
    struct iotide_header *region = iotide_region_at(0);
    if (!region || iotide_is_lost_cell(region))
        return;
    atomic_fetch_add_explicit(&region->unrecorded_bytes, (uint64_t)((int64_t)bytes - before), memory_order_relaxed);
    atomic_fetch_add_explicit(&region->unrecorded_streams, (uint64_t)((bytes > 0) - (before > 0)), memory_order_relaxed);
}

/* After a call that may have written the buffer to the file, or has filled it. */
static void update_unrecorded(struct iotide_characters *of, const FILE *stream) {
    int64_t moved = LOAD(of->moved) > 0 ? LOAD(of->moved) : 0;
    if (unlikely(LOAD(of->descriptor) < 0)) /* nothing of it is recorded */
        return;
    if (unlikely(stream->_mode > 0))
        moved = moved ? MUCH : 0;
    else if (LOAD(of->kind) == KIND_READ) /* the rest of the buffer may be taken without a call */
        moved += stream->_IO_read_end - stream->_IO_read_ptr + (stream->_IO_save_end - stream->_IO_save_base);
    if (moved && !LOAD(of->unrecorded) && iotide_stream_target(LOAD(of->descriptor)).file == IOTIDE_EXCLUDED)
        return;
    set_unrecorded(of, moved);
}

/* ---- streams of this process ---- */

static void mark(struct iotide_characters *of, const FILE *stream) {
    STORE(of->read_at, stream->_IO_read_ptr);
    STORE(of->write_at, stream->_IO_write_ptr);
}

/* Whether a forked child continues at the positions of its parent. */
static bool is_inherited(const struct iotide_characters *of) {
    return LOAD(forking) && LOAD(of->process) && LOAD(of->owner) == &iotide_self;
}

static void begin(struct iotide_characters *of, const FILE *stream) {
    STORE(of->moved, 0);
    STORE(of->fill_ns, 0);
    STORE(of->kind, KIND_OTHER);
    STORE(of->output, OUTPUT_UNKNOWN);
    STORE(of->unrecorded, 0);
    STORE(of->descriptor, stream->_fileno);
    if (!is_inherited(of))
        mark(of, stream);
    STORE(of->owner, &iotide_self);
    STORE(of->process, iotide_own_pid);
}

/* ---- moved bytes ---- */

static void add(struct iotide_characters *of, int64_t bytes) {
    if (likely(&__libc_single_threaded && __libc_single_threaded))
        STORE(of->moved, LOAD(of->moved) + bytes);
    else
        atomic_fetch_add_explicit(&of->moved, bytes, memory_order_relaxed);
}

static void record(uint8_t kind, int descriptor, struct iotide_span span, int64_t bytes, uint16_t flags, bool failed) {
    struct iotide_site *site = kind == KIND_READ ? &SITE(__uflow) : &SITE(__overflow);
    if (descriptor < 0 || !span.start_ns)
        return;
    iotide_end_span(&span);
    int error = errno;
    struct iotide_facts facts = {.target = iotide_stream_target(descriptor),
                                 .offset = -1,
                                 .requested = bytes,
                                 .bytes = bytes,
                                 .descriptor = descriptor,
                                 .kind = kind,
                                 .flags = flags,
                                 .failed = failed,
                                 .error = error};
    iotide_leave(span, site, facts, (uint64_t[]){(uint64_t)bytes}, 1);
    errno = error;
}

static void record_moved(struct iotide_characters *of, struct iotide_span span, uint16_t flags) {
    int64_t bytes = LOAD(of->moved) > 0 ? atomic_exchange_explicit(&of->moved, 0, memory_order_relaxed) : 0;
    if (bytes > 0)
        record(LOAD(of->kind), LOAD(of->descriptor), span, bytes, flags, false);
}

static struct iotide_span now(uint8_t kind) {
    return iotide_enter(kind == KIND_READ ? &SITE(__uflow) : &SITE(__overflow));
}

static void record_copied(struct iotide_characters *of) {
    if (LOAD(of->moved) <= 0)
        return;
    struct iotide_span span = now(LOAD(of->kind));
    int64_t fill_ns = LOAD(of->fill_ns);
    STORE(of->fill_ns, 0);
    if (span.start_ns)
        span.start_ns -= fill_ns;
    record_moved(of, span, FLAG_BLOCKING | (fill_ns ? FLAG_THROUGH : 0));
}

static void turn_to(struct iotide_characters *of, uint8_t kind) {
    if (likely(LOAD(of->kind) == kind))
        return;
    record_copied(of);
    if (LOAD(of->moved) < 0)
        STORE(of->moved, 0);
    STORE(of->kind, kind);
}

static int64_t taken(const FILE *stream, const char *from) {
    const char *at = stream->_IO_read_ptr;
    return from && from >= stream->_IO_read_base && from <= at && at <= stream->_IO_read_end ? at - from : 0;
}

static int64_t put(const FILE *stream, const char *from) {
    const char *at = stream->_IO_write_ptr, *base = stream->_IO_write_base;
    if (!from || at < base)
        return 0;
    return from >= base && from <= at ? at - from : at - base; /* the latter: fflush(NULL) emptied it */
}

/* Adds what the program moved in the buffer since the last call. Streams of wide characters have another buffer. */
static void add_uncalled(struct iotide_characters *of, const FILE *stream) {
    if (unlikely(!LOAD(of->owner) || stream->_mode > 0))
        return;
    int64_t bytes;
    if ((bytes = taken(stream, LOAD(of->read_at))) > 0) {
        turn_to(of, KIND_READ);
        add(of, bytes);
    }
    if ((bytes = put(stream, LOAD(of->write_at))) > 0) {
        turn_to(of, KIND_WRITE);
        add(of, bytes);
    }
}

static struct iotide_characters *characters_of(FILE *stream) {
    struct iotide_characters *of = iotide_add_stream(stream);
    if (unlikely(!of)) {
        iotide_count_overflow(BOUND_STREAMS);
        return NULL;
    }
    const struct iotide_thread *owner;
    if (unlikely(LOAD(of->process) != iotide_own_pid)) {
        begin(of, stream);
    } else if (unlikely((owner = LOAD(of->owner)) && owner != &iotide_self)) {
        add_uncalled(of, stream); /* what the first thread moved until now */
        STORE(of->owner, NULL);
    }
    return of;
}

/* ---- all streams ---- */

/* Of this process. A child begins with inherited ones in which it moved characters, and writes no pages for others. */
static bool is_own(struct iotide_characters *of, const FILE *stream) {
    if (likely(LOAD(of->process) == iotide_own_pid))
        return true;
    bool moved = is_inherited(of) && (taken(stream, LOAD(of->read_at)) > 0 || put(stream, LOAD(of->write_at)) > 0);
    if (moved)
        begin(of, stream);
    return moved;
}

/* Streams that this thread alone uses: others move the position before they are seen. */
static bool is_of_thread(struct iotide_characters *of, const FILE *stream) {
    return LOAD(of->owner) == &iotide_self && is_own(of, stream);
}

static bool has_streams(void) {
    return iotide_is_tracing() && iotide_same_process();
}

static void visit_streams_of_thread(iotide_stream_visit *visit) {
    if (has_streams())
        iotide_visit_streams(true, is_of_thread, visit);
}

/* Writes nothing for a stream that has not been used since: after an earlier fork that would copy pages. */
static void add_and_mark(struct iotide_characters *of, const FILE *stream) {
    add_uncalled(of, stream);
    if (LOAD(of->read_at) != stream->_IO_read_ptr || LOAD(of->write_at) != stream->_IO_write_ptr)
        mark(of, stream);
}

static void record_at_end(struct iotide_characters *of, const FILE *stream) {
    add_uncalled(of, stream);
    mark(of, stream);
    record_copied(of);
    set_unrecorded(of, 0);
}

/* ---- outputs ---- */

static bool is_to_pipe(struct iotide_characters *of, const FILE *stream) {
    if (LOAD(of->output) == OUTPUT_UNKNOWN)
        STORE(of->output, iotide_is_pipe(stream->_fileno, NULL) ? OUTPUT_PIPE : OUTPUT_OTHER);
    return LOAD(of->output) == OUTPUT_PIPE;
}

static void record_read(struct iotide_characters *of, const FILE *stream) {
    if (LOAD(of->kind) != KIND_WRITE)
        add_and_mark(of, stream);
    if (LOAD(of->kind) == KIND_READ)
        record_at_end(of, stream);
}

void iotide_prepare_output(FILE *stream, int64_t bytes, bool may_end_line) {
    struct iotide_characters *of;
    if (!stream || !iotide_is_emptied(stream, bytes, may_end_line) || !has_streams() || !(of = characters_of(stream)) ||
        !is_to_pipe(of, stream))
        return;
    iotide_visit_streams(false, is_of_thread, record_read); /* the program may have locked the output */
    set_unrecorded(of, 0); /* what the call cannot write is written nowhere */
    iotide_self.is_output_ready = true;
}

static void continue_read(struct iotide_characters *of, const FILE *stream) {
    if (LOAD(of->kind) == KIND_READ)
        update_unrecorded(of, stream);
}

static void continue_after_output(void) {
    iotide_self.is_output_ready = false;
    iotide_visit_streams(false, is_of_thread, continue_read);
}

/* ---- calls ---- */

static bool is_traced(uint8_t kind) {
    return iotide_traced(kind == KIND_READ ? &SITE(__uflow) : &SITE(__overflow));
}

struct iotide_characters *iotide_before_stream_call(FILE *stream, bool ends_use) {
    if (!is_traced(KIND_READ))
        return NULL;
    if (!stream) {
        visit_streams_of_thread(record_at_end);
        return NULL;
    }
    struct iotide_characters *of = characters_of(stream);
    if (!of)
        return NULL;
    add_uncalled(of, stream);
    if (ends_use || LOAD(of->moved) >= MUCH)
        record_copied(of);
    return of;
}

static void continue_from(struct iotide_characters *of, const FILE *stream) {
    mark(of, stream);
    update_unrecorded(of, stream);
}

void iotide_after_stream_call(struct iotide_characters *of, FILE *stream) {
    if (unlikely(iotide_self.is_output_ready))
        continue_after_output();
    if (of)
        continue_from(of, stream);
    else if (!stream)
        visit_streams_of_thread(continue_from);
}

struct iotide_character_call iotide_begin_character(FILE *stream, uint8_t kind, int character) {
    struct iotide_character_call call = {.kind = kind};
    if (!stream || !is_traced(kind))
        return call;
    call.of = characters_of(stream);
    if (call.of)
        add_uncalled(call.of, stream);
    if (call.of && stream->_mode > 0)
        return call;
    bool at_end = kind == KIND_READ ? stream->_IO_read_ptr >= stream->_IO_read_end
                                    : stream->_IO_write_ptr >= stream->_IO_write_end;
    call.filled = stream->_IO_write_ptr - stream->_IO_write_base;
    if (at_end && kind == KIND_WRITE && unlikely(iotide_has_unrecorded()))
        iotide_prepare_output(stream, 1, character == '\n');
    if (!call.of || at_end)
        call.span = now(kind);
    return call;
}

/* What the program has taken since the last time is recorded with the time of this one. The character that the call returns
 * counts for the next: it may be given back. */
static void end_fill(struct iotide_characters *of, struct iotide_span span) {
    if (LOAD(of->moved) > 0)
        record_moved(of, span, FLAG_BLOCKING | FLAG_THROUGH);
    else
        STORE(of->fill_ns, LOAD(of->fill_ns) + iotide_now() - span.start_ns);
}

void iotide_end_character(struct iotide_character_call call, FILE *stream, int64_t bytes, bool failed) {
    if (unlikely(iotide_self.is_output_ready))
        continue_after_output();
    if (!call.of) {
        record(call.kind, stream->_fileno, call.span, bytes, FLAG_BLOCKING, failed);
        return;
    }
    turn_to(call.of, call.kind);
    if (call.span.start_ns && call.kind == KIND_READ)
        end_fill(call.of, call.span);
    add(call.of, bytes);
    mark(call.of, stream);
    iotide_self.last_streams[call.kind == KIND_WRITE] = (uint16_t)(call.of - iotide_characters);
    if (unlikely(stream->_mode > 0 && LOAD(call.of->moved) >= MUCH))
        record_copied(call.of);
    if (call.span.start_ns && call.kind == KIND_WRITE &&
        stream->_IO_write_ptr - stream->_IO_write_base != call.filled + bytes)
        record_moved(call.of, call.span, FLAG_BLOCKING | FLAG_THROUGH);
    if (call.kind == KIND_READ || stream->_mode > 0 || !LOAD(call.of->moved)) /* written ones are only in the buffer */
        update_unrecorded(call.of, stream);
    if (call.span.start_ns && failed)
        record(call.kind, LOAD(call.of->descriptor), call.span, 0, FLAG_BLOCKING | FLAG_THROUGH, true);
}

void iotide_return_character(struct iotide_characters *of, FILE *stream, int64_t bytes) {
    if (!of)
        return;
    if (bytes) {
        turn_to(of, KIND_READ);
        add(of, -bytes);
    }
    continue_from(of, stream);
}

/* ---- forks ---- */

static void before_fork(void) {
    visit_streams_of_thread(add_and_mark);
    STORE(forking, true);
}

static void after_fork_in_parent(void) {
    STORE(forking, false);
}

__attribute__((constructor)) static void start(void) {
    pthread_atfork(before_fork, after_fork_in_parent, NULL);
}

/* ---- ends ---- */

void iotide_close_characters(FILE *stream) {
    BEFORE_OUTPUT(stream, INT64_MAX);
    struct iotide_characters *of = iotide_before_stream_call(stream, true);
    if (of)
        set_unrecorded(of, 0);
    iotide_remove_stream(stream);
}

void iotide_record_all_characters(bool waits) {
    if (has_streams())
        iotide_visit_streams(waits, is_own, record_at_end);
}

void iotide_continue_characters(void) {
    if (has_streams())
        iotide_visit_streams(false, is_own, update_unrecorded);
}

/* Before the destructor that ends the process's tracing. */
__attribute__((destructor(102))) static void end(void) {
    int error = errno;
    iotide_record_all_characters(true);
    errno = error;
}
