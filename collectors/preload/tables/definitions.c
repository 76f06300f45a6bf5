/* The definitions log: meaning of the numbers in records. Written by all threads, read and freed by the collector. */
#include "tables/definitions.h"
#include "base/hash.h"
#include "base/environment.h"
#include "base/raw_syscall.h"
#include "state/region.h"
#include "state/locks.h"
#include "state/path_buffers.h"
#include "state/state.h"
#include "state/filters.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>

#define KNOWN_TEXTS 4096

/* Numbers of recent texts, by hash: upper half of the hash, and the number. A path that is opened repeatedly is
 * defined once. 44 bits are compared, so no two texts of a real program share a number. */
static _Atomic uint64_t known_files[KNOWN_TEXTS];
static _Atomic uint64_t known_strings[KNOWN_TEXTS];
/* Of a process in a cell, which uses few: most of these pages would be written in it for the first time. */
#define CELL_TEXTS 16
FORK_WRITTEN static _Atomic uint64_t cell_files[CELL_TEXTS];
/* Texts of the latest files, by number: places by hash would touch a page for each file. A thread that finds the table
 * locked does not write to it, and then only the hash identifies the file. */
static struct stored_path {
    uint32_t number; /* 0: empty */
    uint32_t generation; /* numbers of an earlier region are invalid */
    uint32_t length;
    char text[IOTIDE_MAX_STORED_PATH];
} texts[KNOWN_TEXTS];
FORK_WRITTEN static _Atomic uint64_t texts_owner; /* of locks.h; 0: none */
FORK_WRITTEN static _Atomic uint32_t next_file;
FORK_WRITTEN static _Atomic uint32_t next_string;
FORK_WRITTEN static _Atomic uint32_t next_call;

/* Entries of an earlier region are invalid by their hash: clearing would make a forked child write to all of the
 * table. */
static uint64_t hash_of(const char *text, size_t length) {
    uint64_t generation = atomic_load_explicit(&iotide_generation, memory_order_relaxed);
    return iotide_hash(generation, text, length);
}

/* The thread's reserved and uncommitted log entry. A handler's siglongjmp may abandon it, and the collector could
 * not read past it. */
static __thread struct {
    uintptr_t frame; /* position on the stack; 0: nothing reserved */
    struct iotide_header *region;
    char *log;
    uint64_t head;
    uint32_t generation;
    uint32_t skip; /* padding to the log's end */
    uint32_t need;
    bool is_certain; /* else the only thread was about to move log_head, or has just done so */
} reserved __attribute__((tls_model("initial-exec")));

static void commit(struct iotide_entry *entry, uint64_t size) {
    atomic_store_explicit(&entry->size, (uint32_t)size, memory_order_release);
}

static uint64_t log_bytes(const struct iotide_header *region) {
    return iotide_is_cell(region) ? IOTIDE_CELL_LOG_BYTES : IOTIDE_LOG_BYTES;
}

static struct iotide_entry *entry_at(const struct iotide_header *region, char *log, uint64_t at) {
    return (struct iotide_entry *)(log + at % log_bytes(region));
}

static void commit_pad(const struct iotide_header *region, char *log, uint64_t at, uint64_t size) {
    struct iotide_entry *pad = entry_at(region, log, at);
    pad->type = ENTRY_PAD;
    commit(pad, size);
}

/* glibc before 2.32 does not say. */
static bool is_only_thread(void) {
    return &__libc_single_threaded && __libc_single_threaded;
}

/* Whether the thread's entry is reserved. Interrupted between the atomic instruction and its result, a thread cannot
 * know this unless nobody else moves log_head: beside other threads, its signals are blocked then. */
static bool is_reserved(void) {
    if (reserved.is_certain)
        return true;
    struct iotide_entry *first = entry_at(reserved.region, reserved.log, reserved.head);
    return is_only_thread() &&
           atomic_load_explicit(&reserved.region->log_head, memory_order_relaxed) != reserved.head &&
           atomic_load_explicit(&first->size, memory_order_relaxed) == 0;
}

void iotide_repair_definitions(uintptr_t frame) {
    /* As for records: a handler that interrupts this is more than a kilobyte further down the stack. */
    if (likely(!reserved.frame) || frame + 1024 <= reserved.frame || iotide_on_signal_stack())
        return;
    if (reserved.generation == atomic_load_explicit(&iotide_generation, memory_order_relaxed) && is_reserved()) {
        if (reserved.skip)
            commit_pad(reserved.region, reserved.log, reserved.head, reserved.skip);
        commit_pad(reserved.region, reserved.log, reserved.head + reserved.skip, reserved.need);
    }
    atomic_signal_fence(memory_order_seq_cst);
    reserved.frame = 0;
}

static void reserve(struct iotide_header *region, char *log, uint64_t head, uint64_t skip, uint64_t need) {
    reserved.frame = 0; /* a handler that jumps now abandons nothing */
    atomic_signal_fence(memory_order_seq_cst);
    reserved.region = region;
    reserved.log = log;
    reserved.head = head;
    reserved.generation = atomic_load_explicit(&iotide_generation, memory_order_relaxed);
    reserved.skip = (uint32_t)skip;
    reserved.need = (uint32_t)need;
    reserved.is_certain = false;
    atomic_signal_fence(memory_order_seq_cst);
}

/* Returns the padding to the log's end before an entry. */
static uint64_t skip_at(const struct iotide_header *region, uint64_t head, uint64_t need) {
    uint64_t to_end = log_bytes(region) - head % log_bytes(region);
    return to_end < need ? to_end : 0;
}

/* Returns the unread bytes after appending an entry; negative if other threads have appended and the collector has read
 * beyond head since it was loaded: it is not the log's head any longer. */
static int64_t waiting_after(struct iotide_header *region, uint64_t head, uint64_t need) {
    uint64_t tail = atomic_load_explicit(&region->log_tail, memory_order_acquire);
    return (int64_t)(head + skip_at(region, head, need) + need - tail);
}

/* Returns the entry's number (counted up in next, or number if next is NULL); 0: no room. */
static uint32_t append_to(struct iotide_header *region, enum iotide_entry_type type, _Atomic uint32_t *next,
                          uint32_t number, uint32_t aux, const char *text, size_t length) {
    char *log = (char *)region + region->log_offset;
    uint64_t need = (sizeof(struct iotide_entry) + length + 15) & ~UINT64_C(15);
    uint64_t head = atomic_load_explicit(&region->log_head, memory_order_relaxed);
    uint64_t skip;
    int64_t waiting, room = (int64_t)log_bytes(region);
    if (unlikely(waiting_after(region, head, need) > room)) { /* each call would block signals in vain */
        atomic_fetch_add_explicit(&region->definitions_dropped, 1, memory_order_relaxed);
        return 0;
    }
    bool nested = reserved.frame != 0; /* in a handler that has interrupted this */
    bool beside_others = !nested && !is_only_thread();
    uint64_t held = beside_others ? iotide_block_signals() : 0;
    do {
        skip = skip_at(region, head, need);
        waiting = waiting_after(region, head, need);
        if (waiting > room) {
            atomic_fetch_add_explicit(&region->definitions_dropped, 1, memory_order_relaxed);
            if (!nested)
                reserved.frame = 0;
            if (beside_others)
                iotide_restore_signals(held);
            return 0;
        }
        if (!nested) {
            reserve(region, log, head, skip, need);
            reserved.frame = (uintptr_t)__builtin_frame_address(0);
        }
        atomic_signal_fence(memory_order_seq_cst);
    } while (!atomic_compare_exchange_weak_explicit(&region->log_head, &head, head + skip + need, memory_order_relaxed,
                                                    memory_order_relaxed));
    if (!nested)
        reserved.is_certain = true;
    if (beside_others)
        iotide_restore_signals(held);
    atomic_signal_fence(memory_order_seq_cst);
    if (skip)
        commit_pad(region, log, head, skip);
    struct iotide_entry *entry = entry_at(region, log, head + skip);
    if (next)
        number = atomic_fetch_add(next, 1) + 1;
    entry->type = (uint16_t)type;
    entry->length = (uint16_t)length;
    entry->number = number;
    entry->aux = aux;
    memcpy(entry + 1, text, length);
    commit(entry, need);
    atomic_signal_fence(memory_order_seq_cst);
    if (!nested)
        reserved.frame = 0;
    if (waiting > room / IOTIDE_WAKE_FRACTION)
        iotide_wake_collector(region);
    return number;
}

static uint32_t append(enum iotide_entry_type type, _Atomic uint32_t *next, uint32_t number, uint32_t aux,
                       const char *text, size_t length) {
    struct iotide_header *region = atomic_load_explicit(&iotide_region, memory_order_acquire);
    /* In a child that has not begun, the log belongs to its parent. */
    if (!region || !iotide_is_tracing() || iotide_is_lost_cell(region))
        return 0;
    iotide_repair_definitions((uintptr_t)__builtin_frame_address(0));
    return append_to(region, type, next, number, aux, text, length);
}

void iotide_define_unseen(enum iotide_unseen why, const char *program) {
    struct iotide_header *region = atomic_load_explicit(&iotide_region, memory_order_acquire);
    if (iotide_is_lost_cell(region))
        region = iotide_cell_host;
    if (!region)
        return;
    /* An untraced child also reports it, to its parent's collector: both have the memory. */
    const char *text = program ? program : region->command;
    append_to(region, ENTRY_UNSEEN, NULL, 0, why, text, strnlen(text, program ? PATH_MAX : sizeof region->command));
}

/* Emulators such as valgrind name the program that they run, but only for the usual path of the link. */
void iotide_define_emulator(void) {
    if (likely(iotide_has_kernels_object())) /* each name of these takes 6 to 9 us */
        return;
    char *own = iotide_acquire_path_buffer(), *image = own ? own + PATH_MAX : NULL;
    long own_length = own ? iotide_syscall(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", own, PATH_MAX - 1) : 0;
    long length = own_length > 0 ? iotide_syscall(SYS_readlinkat, AT_FDCWD, "/proc/thread-self/exe", image, PATH_MAX - 1) : 0;
    if (length > 0 && (length != own_length || memcmp(own, image, (size_t)length) != 0)) {
        image[length] = '\0';
        iotide_define_unseen(UNSEEN_NOT_EMULATOR, image);
    }
    iotide_release_path_buffer(own);
}

/* The generation is from before the number was assigned, so that a number of a later region is not found. */
static void store_path(uint32_t number, uint32_t generation, const char *text, size_t length) {
    if (length > IOTIDE_MAX_STORED_PATH || !iotide_try_acquire(&texts_owner, __builtin_frame_address(0)))
        return;
    struct stored_path *stored = &texts[number % KNOWN_TEXTS];
    stored->number = 0; /* a handler's siglongjmp may leave a part of the text */
    atomic_signal_fence(memory_order_seq_cst);
    stored->generation = generation;
    stored->length = (uint32_t)length;
    memcpy(stored->text, text, length);
    atomic_signal_fence(memory_order_seq_cst);
    stored->number = number;
    atomic_store_explicit(&texts_owner, 0, memory_order_release);
}

static uint32_t define(enum iotide_entry_type type, _Atomic uint64_t *table, _Atomic uint32_t *next, const char *text,
                       size_t length) {
    uint32_t generation = atomic_load_explicit(&iotide_generation, memory_order_relaxed);
    uint64_t hash = hash_of(text, length);
    bool is_short = table == known_files && iotide_is_cell(atomic_load_explicit(&iotide_region, memory_order_relaxed));
    _Atomic uint64_t *known = is_short ? &cell_files[hash % CELL_TEXTS] : &table[hash % KNOWN_TEXTS];
    uint64_t entry = atomic_load_explicit(known, memory_order_relaxed);
    if (entry && entry >> 32 == hash >> 32)
        return (uint32_t)entry;
    uint32_t number = type == ENTRY_FILE && iotide_is_excluded(text, length)
                          ? IOTIDE_EXCLUDED
                          : append(type, next, 0, 0, text, length);
    if (number && number != IOTIDE_EXCLUDED && table == known_files)
        store_path(number, generation, text, length);
    if (number)
        atomic_store_explicit(known, (hash & ~UINT64_C(0xffffffff)) | number, memory_order_relaxed);
    return number;
}

uint32_t iotide_stored_path(uint32_t number, char *to) {
    if (!iotide_try_acquire(&texts_owner, __builtin_frame_address(0)))
        return 0;
    const struct stored_path *stored = &texts[number % KNOWN_TEXTS];
    uint32_t found = 0;
    if (stored->number == number &&
        stored->generation == atomic_load_explicit(&iotide_generation, memory_order_relaxed)) {
        found = stored->length;
        memcpy(to, stored->text, found);
    }
    atomic_store_explicit(&texts_owner, 0, memory_order_release);
    return found;
}

uint32_t iotide_define_file(const char *path, size_t length) {
    return iotide_is_tracing() ? define(ENTRY_FILE, known_files, &next_file, path, length) : 0;
}

uint32_t iotide_define_string(const char *text) {
    if (!text || !iotide_is_tracing())
        return 0;
    size_t length = strnlen(text, PATH_MAX);
    if (length == PATH_MAX && text[length])
        iotide_count_overflow(BOUND_TEXTS);
    return define(ENTRY_STRING, known_strings, &next_string, text, length);
}

/* Two threads may define the same call twice, under two numbers: both are valid. */
uint32_t iotide_define_call(struct iotide_site *site) {
    uint64_t generation = atomic_load_explicit(&iotide_generation, memory_order_relaxed);
    const char *spec = iotide_spec(site);
    uint32_t number = append(ENTRY_CALL, &next_call, 0, site->layer, spec, strlen(spec));
    if (number > UINT16_MAX)
        number = 0;
    if (number)
        atomic_store_explicit(&site->number, generation << 32 | number, memory_order_relaxed);
    return number;
}

/* Writes without stdio, which is not safe in a signal handler. */
static char *write_number(char *to, int64_t number) {
    char digits[20];
    int count = 0;
    if (number < 0) {
        *to++ = '-';
        number = -number;
    }
    do
        digits[count++] = (char)('0' + number % 10);
    while (number /= 10);
    while (count)
        *to++ = digits[--count];
    *to++ = ' ';
    return to;
}

void iotide_define_handle(uint32_t handle, uint8_t layer, struct iotide_handle_text text) {
    char line[128], *to = line;
    to = write_number(to, text.descriptor);
    to = write_number(to, text.file);
    to = write_number(to, text.parent);
    to = write_number(to, text.open_flags);
    size_t length = strlen(text.origin);
    memcpy(to, text.origin, length);
    append(ENTRY_HANDLE, NULL, handle, layer, line, (size_t)(to - line) + length);
}

void iotide_reset_definitions(void) {
    atomic_store(&texts_owner, 0); /* its holder remained in the parent */
    atomic_store(&next_file, 0);
    atomic_store(&next_string, 0);
    atomic_store(&next_call, 0);
}
