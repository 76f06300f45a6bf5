/* The records of the traced calls: each is written to its thread's ring. */
#include "recording/record.h"
#include "state/clock.h"
#include "recording/collector_wait.h"
#include "tables/definitions.h"
#include "base/raw_syscall.h"
#include "state/region.h"
#include "state/thread_memory.h"
#include "recording/session.h"
#include "state/state.h"
#include "state/filters.h"

#include <pthread.h>

#define PREFETCH_LINES 16 /* lines */

static pthread_key_t exit_key;
static bool has_exit_key;
/* Whether the key is set in this thread; a forked child's first thread has it from its parent. */
static __thread bool awaits_exit __attribute__((tls_model("initial-exec")));

static void release_slot(void *thread) {
    (void)thread;
    awaits_exit = false;
    if (iotide_is_tracing() && iotide_self.slot && iotide_self.generation == atomic_load(&iotide_generation))
        atomic_store_explicit(&iotide_self.slot->state, SLOT_RELEASED, memory_order_release);
    iotide_self.slot = NULL;
    iotide_self.generation = 0;
    iotide_release_thread_memory();
}

void iotide_register_thread_exit(void) {
    has_exit_key = pthread_key_create(&exit_key, release_slot) == 0;
}

/* Stack position of the thread's unfinished record. */
static __thread uintptr_t record_frame __attribute__((tls_model("initial-exec")));

/* Whether a handler's siglongjmp has abandoned the unfinished record. Otherwise this is the handler, which is more
 * than a kilobyte further down the stack: the registers that the kernel has saved. */
static bool is_abandoned(uintptr_t frame) {
    return frame + 1024 > record_frame && !iotide_on_signal_stack();
}

void iotide_unwind(const void *frame) {
    /* The stack grows downward: an enclosing call has a higher address. */
    while (iotide_self.depth && iotide_self.enclosing[iotide_self.depth - 1].frame <= frame)
        iotide_self.depth--;
    if (unlikely(iotide_self.depth == IOTIDE_MAX_DEPTH))
        iotide_count_overflow(BOUND_NESTED);
}

/* Returns the slot's number, or -1 if none is free. */
static int claim_slot_in(struct iotide_header *region) {
    struct iotide_slot *slots = (struct iotide_slot *)((char *)region + region->slots_offset);
    long asked = iotide_syscall(SYS_gettid);
    int32_t tid = asked < 0 ? 0 : (int32_t)asked;
    bool in_cell = iotide_is_cell(region);
    uint32_t ring_lines = in_cell ? IOTIDE_CELL_LINES : iotide_ring_lines;
    for (uint32_t i = 0; i < iotide_slots_of(region); i++) {
        struct iotide_slot *slot = &slots[i];
        uint32_t state = atomic_load_explicit(&slot->state, memory_order_acquire);
        /* A released ring is reused only when it is drained, so that its tid remains right for its records; or by
         * its own thread, whose destructors may do I/O after the tracer's. */
        if (state == SLOT_CLAIMED ||
            (state == SLOT_RELEASED && atomic_load(&slot->tid) != tid &&
             atomic_load(&slot->head) != atomic_load_explicit(&slot->tail, memory_order_acquire)))
            continue;
        if (!atomic_compare_exchange_strong(&slot->state, &state, SLOT_CLAIMED))
            continue;
        atomic_store(&slot->tid, tid);
        iotide_self.lines =
            (struct iotide_record *)((char *)region + region->rings_offset) + (size_t)i * ring_lines;
        iotide_self.line_mask = ring_lines - 1;
        iotide_self.in_cell = in_cell;
        iotide_self.head = atomic_load(&slot->head);
        iotide_self.room_until = iotide_self.head;
        iotide_self.made = atomic_load(&slot->made);
        iotide_self.slot = slot;
        iotide_self.generation = atomic_load(&iotide_generation);
        if (has_exit_key && !awaits_exit)
            awaits_exit = pthread_setspecific(exit_key, &iotide_self) == 0;
        return (int)i;
    }
    return -1;
}

static bool claim_slot(int64_t now) {
    uint32_t count = iotide_region_count();
    if (count)
        iotide_publish_missed_calls(iotide_region_at(0));
    for (uint32_t i = 0; i < count; i++) {
        int slot = claim_slot_in(iotide_region_at(i));
        if (slot < 0)
            continue;
        /* The next region is made while there is still room, so that new threads need not wait for it. */
        if (i == count - 1 && slot >= IOTIDE_SLOTS / 4)
            iotide_add_region(count, now);
        return true;
    }
    return iotide_add_region(count, now) && claim_slot_in(iotide_region_at(count)) >= 0;
}

/* Continues in an extent. If there is none, the cell's ring is used like any other. */
static void leave_cell(struct iotide_thread *thread, int64_t now) {
    if (iotide_region_count() == 1 && !iotide_add_region(1, now))
        return;
    thread->slot = NULL;
    thread->in_cell = false;
}

void iotide_claim_slot(void) {
    struct iotide_thread *thread = &iotide_self;
    if (thread->storing)
        return;
    if (thread->slot && thread->in_cell) /* for all records that may follow */
        leave_cell(thread, iotide_now());
    if (!thread->slot)
        claim_slot(iotide_now());
}

/* The thread's own words of its slot: no other thread writes them. */
static void add_to_counter(_Atomic uint64_t *counter, uint64_t by) {
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + by, memory_order_relaxed);
}

/* The collector's core has these lines in its cache: fetching them for writing takes longer than a call. */
static inline void prefetch_line(const struct iotide_record *line) {
#ifdef __x86_64__
    __asm__ volatile("prefetchw %0" : : "m"(*line)); /* the compiler's builtin only fetches for reading, unless the
                                                      * processor is specified */
#else
    __builtin_prefetch(line, 1);
#endif
}

/* Field by field, each as wide as it was just written: a wider load would wait for the stores to reach the cache. */
static inline void copy_record(struct iotide_record *to, const volatile struct iotide_record *from) {
    to->start_ns = from->start_ns;
    to->duration_ns = from->duration_ns;
    to->offset = from->offset;
    to->requested = from->requested;
    to->bytes = from->bytes;
    to->handle = from->handle;
    to->parent = from->parent;
    to->file = from->file;
    to->descriptor = from->descriptor;
    to->call = from->call;
    to->flags = from->flags;
    to->words = from->words;
    to->kind = from->kind;
    to->error = from->error;
    to->depth = from->depth;
}

/* Checks the collector's position, and wakes it if much data waits: so it can sleep otherwise. */
__attribute__((noinline)) static bool has_room(struct iotide_thread *thread, uint32_t lines) {
    uint64_t tail = atomic_load_explicit(&thread->slot->tail, memory_order_acquire);
    uint64_t ring_lines = thread->line_mask + 1;
    uint64_t much = tail + ring_lines / IOTIDE_WAKE_FRACTION, end = tail + ring_lines;
    uint64_t wanted = thread->head + lines;
    if (wanted > much) {
        iotide_wake_collector(atomic_load_explicit(&iotide_region, memory_order_relaxed));
        much = wanted + ring_lines / (4 * IOTIDE_WAKE_FRACTION);
    }
    thread->room_until = much < end ? much : end;
    return wanted <= end;
}

static uint32_t lines_of(const struct iotide_record *record) {
    return 1 + (record->words + WORDS_PER_LINE - 1u) / WORDS_PER_LINE;
}

static void store(struct iotide_thread *thread, const struct iotide_record *record, const uint64_t *words) {
    struct iotide_slot *slot = thread->slot;
    uint32_t lines = lines_of(record);
    uint64_t mask = thread->line_mask;
    if (unlikely(thread->head + lines > thread->room_until) && !has_room(thread, lines)) {
        add_to_counter(&slot->dropped_full, 1);
        add_to_counter(&slot->dropped_bytes, iotide_moved_bytes(record));
        return;
    }
    prefetch_line(&thread->lines[(thread->head + PREFETCH_LINES) & mask]);
    copy_record(&thread->lines[thread->head & mask], record);
    for (uint32_t line = 1; line < lines; line++) {
        uint64_t *to = (uint64_t *)&thread->lines[(thread->head + line) & mask];
        uint32_t first = (line - 1) * WORDS_PER_LINE;
        for (uint32_t i = 0; i < WORDS_PER_LINE; i++)
            to[i] = first + i < record->words ? words[first + i] : 0;
        to[WORDS_PER_LINE] = (uint64_t)MARK_WORDS << 56;
    }
    thread->head += lines;
    atomic_store_explicit(&slot->made, ++thread->made, memory_order_relaxed);
    atomic_store_explicit(&slot->head, thread->head, memory_order_release);
}

static bool is_sampled_out(struct iotide_thread *thread, const struct iotide_record *record) {
    if (record->kind != KIND_READ && record->kind != KIND_WRITE && record->kind != KIND_SEEK)
        return false;
    if (++thread->skipped >= iotide_sample) {
        thread->skipped = 0;
        return false;
    }
    add_to_counter(&thread->slot->sampled_out, 1);
    add_to_counter(&thread->slot->sampled_out_bytes, (uint64_t)record->bytes);
    return true;
}

static void count_drop(_Atomic uint64_t *counter) {
    atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

static void drop_without_slot(struct iotide_header *region, const struct iotide_record *record) {
    count_drop(&region->dropped_no_slot);
    atomic_fetch_add_explicit(&region->dropped_no_slot_bytes, iotide_moved_bytes(record), memory_order_relaxed);
}

/* Whether a record fits the rest of the cell, and the definitions of the next call do, too. */
static bool fits_cell(const struct iotide_thread *thread, const struct iotide_record *record) {
    uint64_t definitions = atomic_load_explicit(&atomic_load(&iotide_cell)->log_head, memory_order_relaxed);
    return thread->head + lines_of(record) <= IOTIDE_CELL_LINES && definitions <= IOTIDE_CELL_LOG_BYTES / 2;
}

/* Rare steps of writing a record. */
__attribute__((noinline)) static void write_record_slow(struct iotide_thread *thread,
                                                        const struct iotide_record *record,
                                                        const uint64_t *words, uintptr_t frame) {
    struct iotide_header *region = atomic_load_explicit(&iotide_region, memory_order_relaxed);
    iotide_repair_definitions(frame);
    if (record->file == IOTIDE_EXCLUDED) {
        count_drop(&region->left_out);
        return;
    }
    if (thread->storing && !is_abandoned(frame)) { /* a signal handler within the few instructions of a record */
        count_drop(&region->dropped_reentrant);
        atomic_fetch_add_explicit(&region->dropped_reentrant_bytes, iotide_moved_bytes(record), memory_order_relaxed);
        return;
    }
    record_frame = frame;
    thread->storing = true;
    atomic_signal_fence(memory_order_seq_cst);
    uint32_t before = thread->generation;
    if (record->start_ns > thread->next_check_ns)
        iotide_check_collector(record->start_ns + record->duration_ns);
    if (atomic_load_explicit(&iotide_pending_fd, memory_order_relaxed) >= 0)
        iotide_retry_hand_over(record->start_ns);
    uint32_t now = atomic_load_explicit(&iotide_generation, memory_order_relaxed);
    if (thread->in_cell && before == now && !fits_cell(thread, record))
        leave_cell(thread, record->start_ns);
    if (before && before != now) {
        /* Another region has replaced the one in which this call looked up its numbers, which are invalid there. */
        thread->generation = 0;
        thread->slot = NULL;
        drop_without_slot(atomic_load(&iotide_region), record);
    } else if ((before != now || !thread->slot) && !claim_slot(record->start_ns)) {
        drop_without_slot(region, record);
    } else if (!(thread->in_cell && iotide_is_lost_cell(atomic_load(&iotide_cell))) &&
               (iotide_sample == 1 || !is_sampled_out(thread, record))) { /* it counts in the cell */
        store(thread, record, words);
    }
    atomic_signal_fence(memory_order_seq_cst);
    thread->storing = false;
}

void iotide_write_record(const struct iotide_record *record, const uint64_t *words) {
    struct iotide_thread *thread = &iotide_self;
    uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
    if (unlikely(thread->storing || thread->in_cell || record->file == IOTIDE_EXCLUDED ||
                 record->start_ns > thread->next_check_ns ||
                 atomic_load_explicit(&iotide_pending_fd, memory_order_relaxed) >= 0 || !thread->slot ||
                 thread->generation != atomic_load_explicit(&iotide_generation, memory_order_relaxed) ||
                 iotide_sample != 1)) {
        int error = errno;
        write_record_slow(thread, record, words, frame);
        errno = error;
        return;
    }
    record_frame = frame;
    atomic_signal_fence(memory_order_seq_cst);
    thread->storing = true;
    atomic_signal_fence(memory_order_seq_cst);
    store(thread, record, words);
    atomic_signal_fence(memory_order_seq_cst);
    thread->storing = false;
}
