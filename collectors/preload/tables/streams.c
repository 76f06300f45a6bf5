/* Streams whose single characters are counted, by their addresses. The open ones are found in libc's list of streams:
 * without system calls, and without a look at the memory of those that were closed unseen. */
#include "tables/streams.h"
#include "base/raw_syscall.h"
#include "base/user_text.h"

#define WAYS 8 /* streams in use whose addresses have the same hash */
#define SETS (IOTIDE_STREAMS / WAYS)
#define MAGIC 0xfbad0000u /* of glibc's streams */
#define MAGIC_MASK 0xffff0000u
#define LOAD(field) atomic_load_explicit(&(field), memory_order_relaxed)

static FILE *_Atomic streams[SETS][WAYS];
struct iotide_characters iotide_characters[IOTIDE_STREAMS];
static _Atomic uint64_t used; /* one bit per set */
_Static_assert(SETS == 64, "a bit each");

static uint32_t set_of(const FILE *stream) {
    return (uint32_t)((uint64_t)(uintptr_t)stream * UINT64_C(0x9e3779b97f4a7c15) >> 58);
}

static struct iotide_characters *at(uint32_t set, int way) {
    return &iotide_characters[set * WAYS + (uint32_t)way];
}

static int find(const FILE *stream, uint32_t set) {
    for (int way = 0; way < WAYS; way++)
        if (LOAD(streams[set][way]) == stream)
            return way;
    return -1;
}

struct iotide_characters *iotide_add_stream(FILE *stream) {
    uint32_t set = set_of(stream);
    int way = find(stream, set);
    for (int free = 0; way < 0 && free < WAYS; free++) {
        FILE *found = NULL;
        if (!atomic_compare_exchange_strong(&streams[set][free], &found, stream) && found != stream)
            continue;
        way = free;
        atomic_store_explicit(&at(set, way)->process, 0, memory_order_relaxed);
        atomic_store_explicit(&at(set, way)->stream, stream, memory_order_relaxed);
        atomic_fetch_or_explicit(&used, UINT64_C(1) << set, memory_order_relaxed);
    }
    return way < 0 ? NULL : at(set, way);
}

void iotide_remove_stream(const FILE *stream) {
    uint32_t set = set_of(stream);
    int way = stream ? find(stream, set) : -1;
    if (way >= 0) {
        atomic_store_explicit(&at(set, way)->stream, NULL, memory_order_relaxed);
        atomic_store_explicit(&streams[set][way], NULL, memory_order_relaxed);
    }
}

#define UNBUFFERED 0x2 /* of glibc's _flags */
#define LINE_BUFFERED 0x200

bool iotide_is_emptied(const FILE *stream, int64_t bytes, bool may_end_line) {
    int64_t filled = stream->_IO_write_ptr - stream->_IO_write_base;
    if (stream->_flags & UNBUFFERED || (stream->_flags & LINE_BUFFERED && may_end_line))
        return true;
    if (bytes == INT64_MAX)
        return filled > 0;
    int64_t size = stream->_IO_buf_base ? stream->_IO_buf_end - stream->_IO_buf_base : BUFSIZ;
    return bytes > size - filled;
}

/* ---- the open ones ---- */

static bool is_standard(const FILE *stream) {
    return stream == stdin || stream == stdout || stream == stderr;
}

static void visit_listed(iotide_stream_test *is_visited, iotide_stream_visit *visit) {
    for (FILE *stream = _IO_list_all; stream; stream = stream->_chain) {
        uint32_t set = set_of(stream);
        int way = LOAD(used) >> set & 1 ? find(stream, set) : -1;
        struct iotide_characters *of = way < 0 ? NULL : at(set, way);
        /* The other descriptor: of a stream that was closed unseen, and whose address this one has. */
        if (of && (stream->_fileno == LOAD(of->descriptor) || is_standard(stream)) && is_visited(of, stream))
            visit(of, stream);
    }
}

/* Returns a stream of the table if it is open, otherwise NULL: its memory may be freed, because its owner may have closed
 * it unseen. The result is a copy where the kernel allows one, as another thread may free the memory now. */
static FILE *open_stream(FILE *stream, int descriptor, FILE *copy) {
    if (is_standard(stream))
        return stream;
    enum iotide_copied copied = iotide_restricted() ? UNREADABLE : iotide_copy(copy, stream, sizeof *copy);
    if (copied == NOT_ALLOWED && iotide_is_readable(stream, sizeof *stream))
        *copy = *stream, copied = COPIED;
    bool is_open = copied == COPIED && ((uint32_t)copy->_flags & MAGIC_MASK) == MAGIC && copy->_fileno == descriptor;
    return is_open ? copy : NULL;
}

static void visit_table(iotide_stream_test *is_visited, iotide_stream_visit *visit) {
    for (uint64_t left = LOAD(used); left; left &= left - 1) {
        uint32_t set = (uint32_t)__builtin_ctzll(left);
        for (int way = 0; way < WAYS; way++) {
            FILE copy, *stream = LOAD(streams[set][way]);
            stream = stream ? open_stream(stream, LOAD(at(set, way)->descriptor), &copy) : NULL;
            if (stream && is_visited(at(set, way), stream))
                visit(at(set, way), stream);
        }
    }
}

void iotide_visit_streams(bool waits, iotide_stream_test *is_visited, iotide_stream_visit *visit) {
    if (!LOAD(used))
        return;
    bool has_list = &_IO_list_all && _IO_list_lock && _IO_list_unlock;
    if (has_list && &__libc_single_threaded && __libc_single_threaded) {
        visit_listed(is_visited, visit);
    } else if (has_list && waits) {
        uint64_t held = iotide_block_signals(); /* a handler might not return */
        _IO_list_lock();
        visit_listed(is_visited, visit);
        _IO_list_unlock();
        iotide_restore_signals(held);
    } else {
        visit_table(is_visited, visit);
    }
}
