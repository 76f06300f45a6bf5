/* The life of the tracer in a process: find out whether to trace, make the region, hand it over, give threads rings. */
#include "core.h"
#include "room.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MAX_EXTENTS 128
#define RETRY_NS 10000000
#define LOOK_NS INT64_C(1000000000)  /* how often a thread looks whether the collector lives */
#define GONE_NS INT64_C(3000000000)  /* not seen for so long, it is taken for gone */
#define AHEAD 16                     /* lines */
#define MOST_LEFT_BEHIND 8           /* regions of collectors that are gone, kept as other threads may be writing */

volatile uint32_t *iotide_alive;
struct iotide_header *_Atomic iotide_region;
_Atomic uint32_t iotide_generation;
__thread struct iotide_thread iotide_self __attribute__((tls_model("initial-exec")));

/* Process-wide; written by iotide_start while no other thread of this process traces. */
static struct iotide_header *_Atomic regions[MAX_EXTENTS];
static _Atomic uint32_t region_count;
static _Atomic bool extending;
static _Atomic int64_t no_region_until;
static _Atomic bool attaching;
static uint32_t left_behind;
static pid_t own_pid;
static pthread_key_t exit_key;
static bool has_exit_key;

/* A region whose hand-over found the collector's queue full: tried again later, as the memory fills meanwhile. */
static _Atomic int pending_fd = -1;
static _Atomic int64_t pending_since;
static struct stat pending_identity;
static _Atomic bool handing_over;

bool iotide_same_process(void) {
    return iotide_restricted() || getpid() == own_pid;
}

void iotide_give_up(void) {
    iotide_alive = NULL;
}

/* ---- handing over later ---- */

/* Keeps a region's descriptor for later, out of the way of the program's own numbers. */
static bool keep_pending(int fd) {
    struct rlimit limit;
    int high = getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur > 256 && limit.rlim_cur < 1u << 20
                   ? (int)limit.rlim_cur - 128
                   : 1024;
    int kept = (int)syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, high);
    if (kept < 0 || syscall(SYS_fstat, kept, &pending_identity) != 0)
        return false;
    atomic_store(&pending_since, iotide_now());
    atomic_store(&pending_fd, kept);
    return true;
}

/* The program may have closed it, or even have given the number to a file of its own. */
static bool is_pending(int fd) {
    struct stat identity;
    return syscall(SYS_fstat, fd, &identity) == 0 && identity.st_ino == pending_identity.st_ino &&
           identity.st_dev == pending_identity.st_dev;
}

static void retry_hand_over(int64_t now) {
    if (now - atomic_load(&pending_since) < RETRY_NS || atomic_exchange(&handing_over, true))
        return;
    int fd = atomic_load(&pending_fd);
    if (fd >= 0) {
        int failure = ENOENT;
        if (is_pending(fd)) {
            failure = iotide_hand_over(atomic_load(&regions[0]), fd);
            if (failure != EAGAIN)
                syscall(SYS_close, fd);
        }
        if (failure != EAGAIN)
            atomic_store(&pending_fd, -1);
        else
            atomic_store(&pending_since, now);
    }
    atomic_store(&handing_over, false);
}

/* ---- the process ---- */

static void release_slot(void *slot) {
    if (iotide_self.slot == slot && iotide_self.generation == atomic_load(&iotide_generation))
        atomic_store_explicit(&iotide_self.slot->state, SLOT_RELEASED, memory_order_release);
    iotide_self.slot = NULL;
    iotide_self.generation = 0;
    iotide_leave_room();
}

/* That a call moved; those of a call within another are the other's. */
static uint64_t bytes_of(const struct iotide_record *record) {
    bool moves = (record->kind == KIND_READ || record->kind == KIND_WRITE) && record->depth == 0 && record->bytes > 0;
    return moves ? (uint64_t)record->bytes : 0;
}

/* Of the records that a ring still holds. Other threads may be writing beyond its head. */
static uint64_t bytes_in(const struct iotide_header *region, uint32_t number, const struct iotide_slot *slot) {
    const struct iotide_record *lines =
        (const struct iotide_record *)((const char *)region + region->rings_offset) + (size_t)number * region->ring_lines;
    uint64_t head = atomic_load_explicit(&slot->head, memory_order_acquire), bytes = 0;
    for (uint64_t at = atomic_load(&slot->tail); at < head; at++) {
        const struct iotide_record *line = &lines[at & (region->ring_lines - 1)];
        bytes += line->depth == MARK_WORDS ? 0 : bytes_of(line);
    }
    return bytes;
}

/* Tells a new region what becomes of the calls before it. */
static void follow(struct iotide_header *fresh) {
    for (uint32_t i = 0; i < atomic_load(&region_count); i++) {
        const struct iotide_header *region = atomic_load(&regions[i]);
        const struct iotide_slot *slots = (const struct iotide_slot *)((const char *)region + region->slots_offset);
        fresh->before_token = region->token;
        fresh->lost_before += atomic_load(&region->dropped_no_slot) + atomic_load(&region->dropped_reentrant);
        fresh->lost_before_bytes +=
            atomic_load(&region->dropped_no_slot_bytes) + atomic_load(&region->dropped_reentrant_bytes);
        for (uint32_t j = 0; j < IOTIDE_SLOTS; j++) {
            uint64_t taken = atomic_load(&slots[j].taken);
            fresh->taken_before += taken;
            fresh->lost_before += atomic_load(&slots[j].made) - taken + atomic_load(&slots[j].dropped_full);
            fresh->lost_before_bytes += atomic_load(&slots[j].dropped_bytes) + bytes_in(region, j, &slots[j]);
        }
    }
}

/* Makes the process's first region and hands it over. */
static struct iotide_header *handed_over(bool follows, int *failure) {
    *failure = 0;
    if (iotide_restricted())
        return NULL;
    uint64_t token = (uint64_t)iotide_now() ^ ((uint64_t)own_pid << 32) ^ (uint64_t)(uintptr_t)&token;
    int fd;
    struct iotide_header *region = iotide_make_region(0, token, &fd);
    if (!region)
        return NULL;
    if (follows)
        follow(region);
    *failure = iotide_hand_over(region, fd);
    bool kept = *failure == 0 || (!follows && *failure == EAGAIN && keep_pending(fd));
    syscall(SYS_close, fd);
    if (!kept) {
        syscall(SYS_munmap, region, region->region_bytes);
        return NULL;
    }
    return region;
}

/* All numbers begin anew with a region: its collector has heard none of the definitions. */
static void adopt(struct iotide_header *region) {
    atomic_store(&iotide_region, region);
    atomic_store(&regions[0], region);
    iotide_reset_definitions();
    iotide_reset_descriptors();
    atomic_fetch_add(&iotide_generation, 1);
    iotide_self.generation = 0;
    iotide_self.slot = NULL;
    atomic_store(&region_count, 1);
}

/* In a forked child the parent's regions are let go first. */
static bool begin(void) {
    uint32_t inherited = atomic_exchange(&region_count, 0);
    struct iotide_header *parents = NULL; /* the page with the parent's counters */
    for (uint32_t i = 0; i < inherited && i < MAX_EXTENTS; i++) {
        struct iotide_header *old = atomic_exchange(&regions[i], NULL);
        if (!old || iotide_self.storing) /* a fork in a signal handler may go on in the middle of a record */
            continue;
        uint64_t bytes = old->region_bytes;
        if (i == 0 && syscall(SYS_munmap, (char *)old + IOTIDE_HEADER_BYTES, bytes - IOTIDE_HEADER_BYTES) == 0)
            parents = old;
        else
            syscall(SYS_munmap, old, bytes);
    }
    int left = atomic_exchange(&pending_fd, -1);
    if (left >= 0 && is_pending(left))
        syscall(SYS_close, left);
    /* The threads that were at these stayed in the parent. */
    atomic_store(&handing_over, false);
    atomic_store(&extending, false);
    atomic_store(&attaching, false);
    atomic_store(&no_region_until, 0);
    if (atomic_load(&iotide_generation)) { /* else nobody has touched their pages yet */
        iotide_reset_scratch();
        iotide_reset_objects();
    }
    left_behind = 0;
    own_pid = getpid();
    int failure;
    struct iotide_header *region = handed_over(false, &failure);
    if (region)
        adopt(region);
    else if (!iotide_leave_word(failure) && parents)
        atomic_fetch_add(&parents->children_unheard, 1);
    if (parents)
        syscall(SYS_munmap, parents, IOTIDE_HEADER_BYTES);
    return region != NULL;
}

bool iotide_start(void) {
    volatile uint32_t *alive = iotide_alive;
    if (!alive) /* another thread has just given up */
        return false;
    /* alive[0]: traced; alive[1]: somebody is at it. Both read 0 in a forked child. */
    if (__atomic_exchange_n((uint32_t *)&alive[1], 1, __ATOMIC_ACQ_REL))
        return alive[0] != 0;
    int error = errno;
    if (iotide_restricted())
        iotide_define_unseen(UNSEEN_CHILD, NULL);
    if (!iotide_restricted() && begin())
        alive[0] = 1;
    else
        iotide_give_up(); /* for good: a child of ours has no better chance */
    errno = error;
    return alive[0] != 0;
}

/* glibc hands the program's arguments to constructors; environ may not be set yet, as ours is the first to run. */
__attribute__((constructor(101))) static void load(int count, char **arguments, char **environment) {
    int error = errno;
    iotide_find_objects();
    if (iotide_read_environment(count, arguments, environment)) {
        iotide_read_switches(environment);
        iotide_choose_clock();
        void *page = (void *)syscall(SYS_mmap, NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (page != MAP_FAILED && madvise(page, 4096, MADV_WIPEONFORK) == 0) {
            has_exit_key = pthread_key_create(&exit_key, release_slot) == 0;
            iotide_alive = page;
            iotide_start();
        }
    }
    errno = error;
}

__attribute__((destructor(101))) static void unload(void) {
    if (iotide_alive && *iotide_alive && atomic_load(&pending_fd) >= 0) {
        int error = errno;
        retry_hand_over(INT64_MAX);
        errno = error;
    }
}

/* ---- a collector that is gone ---- */

/* Hands a new region to whoever listens now. What the old one holds counts as lost, though a collector that had only
 * been stopped will still read it. Other threads may be writing into the old one: it stays mapped. */
static void look_for_collector(int64_t now) {
    iotide_self.look_ns = now + LOOK_NS;
    struct iotide_header *region = atomic_load(&iotide_region);
    if (now - atomic_load_explicit(&region->collector_seen_ns, memory_order_relaxed) < GONE_NS ||
        atomic_load(&pending_fd) >= 0 || left_behind >= MOST_LEFT_BEHIND || atomic_exchange(&attaching, true))
        return;
    if (region == atomic_load(&iotide_region)) { /* else another thread has just done it */
        int failure;
        struct iotide_header *fresh = handed_over(true, &failure);
        if (fresh) {
            left_behind++;
            adopt(fresh);
        }
    }
    atomic_store(&attaching, false);
}

/* ---- the threads ---- */

bool iotide_on_signal_stack(void) {
    int error = errno;
    stack_t stack;
    bool on = syscall(SYS_sigaltstack, NULL, &stack) == 0 && stack.ss_flags & SS_ONSTACK;
    errno = error;
    return on;
}

/* Where on the stack the thread's record is in the making. */
static __thread uintptr_t making __attribute__((tls_model("initial-exec")));

/* Whether a handler's siglongjmp has left the record in the making for good. Else we are in the handler, which stands
 * below on the stack by more than a kilobyte: the registers that the kernel has saved. */
static bool was_left(uintptr_t frame) {
    return frame + 1024 > making && !iotide_on_signal_stack();
}

void iotide_unwind(const void *frame) {
    /* The stack grows downward: a call that encloses this one stands above it. */
    while (iotide_self.depth && iotide_self.enclosing[iotide_self.depth - 1].frame <= frame)
        iotide_self.depth--;
}

/* Returns the slot's number, or -1 when none is free. */
static int claim_in(struct iotide_header *region) {
    struct iotide_slot *slots = (struct iotide_slot *)((char *)region + region->slots_offset);
    long asked = syscall(SYS_gettid);
    int32_t tid = asked < 0 ? 0 : (int32_t)asked;
    for (uint32_t i = 0; i < IOTIDE_SLOTS; i++) {
        struct iotide_slot *slot = &slots[i];
        uint32_t state = atomic_load_explicit(&slot->state, memory_order_acquire);
        /* A released ring is used again only when it is drained, so that the tid stays right for what it holds; or by
         * its own thread, whose destructors do I/O after ours. */
        if (state == SLOT_CLAIMED ||
            (state == SLOT_RELEASED && atomic_load(&slot->tid) != tid &&
             atomic_load(&slot->head) != atomic_load_explicit(&slot->tail, memory_order_acquire)))
            continue;
        if (!atomic_compare_exchange_strong(&slot->state, &state, SLOT_CLAIMED))
            continue;
        atomic_store(&slot->tid, tid);
        iotide_self.lines =
            (struct iotide_record *)((char *)region + region->rings_offset) + (size_t)i * iotide_ring_lines;
        iotide_self.head = atomic_load(&slot->head);
        iotide_self.look_at = iotide_self.head;
        iotide_self.made = atomic_load(&slot->made);
        iotide_self.slot = slot;
        iotide_self.generation = atomic_load(&iotide_generation);
        if (has_exit_key)
            pthread_setspecific(exit_key, slot);
        return (int)i;
    }
    return -1;
}

static bool extend(uint32_t count, int64_t now) {
    /* Making a region in vain costs tens of microseconds: not again at each call. */
    if (now < atomic_load_explicit(&no_region_until, memory_order_relaxed))
        return false;
    /* The collector knows extents only of processes whose first region it has. */
    if (count >= MAX_EXTENTS || iotide_restricted() || atomic_load(&pending_fd) >= 0 || atomic_exchange(&extending, true))
        return false;
    bool made = false;
    if (atomic_load(&region_count) == count) {
        int fd;
        struct iotide_header *region = iotide_make_region(count, atomic_load(&regions[0])->token, &fd);
        if (region) {
            made = iotide_hand_over(region, fd) == 0;
            syscall(SYS_close, fd);
            if (made) {
                atomic_store(&regions[count], region);
                atomic_store(&region_count, count + 1);
            } else {
                syscall(SYS_munmap, region, region->region_bytes);
            }
        }
    }
    if (!made && atomic_load(&region_count) == count)
        atomic_store(&no_region_until, now + RETRY_NS);
    atomic_store(&extending, false);
    return made;
}

static bool claim_slot(int64_t now) {
    uint32_t count = atomic_load(&region_count);
    for (uint32_t i = 0; i < count; i++) {
        int slot = claim_in(atomic_load(&regions[i]));
        if (slot < 0)
            continue;
        /* The next region is made while there is still room: a thread that comes meanwhile must not wait for it. */
        if (i == count - 1 && slot >= IOTIDE_SLOTS / 4)
            extend(count, now);
        return true;
    }
    return extend(count, now) && claim_in(atomic_load(&regions[count])) >= 0;
}

void iotide_take_slot(void) {
    if (!iotide_self.slot && !iotide_self.storing)
        claim_slot(iotide_now());
}

/* The thread's own words of its slot: nobody else writes them. */
static void count_up(_Atomic uint64_t *counter, uint64_t by) {
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + by, memory_order_relaxed);
}

/* The collector has had these lines on its core: getting them back, for writing, takes longer than a call. */
static inline void fetch_ahead(const struct iotide_record *line) {
#ifdef __x86_64__
    __asm__ volatile("prefetchw %0" : : "m"(*line)); /* the compiler's own only reads, unless told of the processor */
#else
    __builtin_prefetch(line, 1);
#endif
}

/* By fields, each as wide as it has just been written: a wider load of it waits for the stores to reach the cache. */
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

/* Looks how far the collector is, and has it woken where much waits for it: so it may sleep while nothing does. */
__attribute__((noinline)) static bool has_room(struct iotide_thread *thread, uint32_t lines) {
    uint64_t tail = atomic_load_explicit(&thread->slot->tail, memory_order_acquire);
    uint64_t much = tail + iotide_ring_lines / IOTIDE_WAKE_AT, end = tail + iotide_ring_lines;
    uint64_t wanted = thread->head + lines;
    if (wanted > much) {
        iotide_wake(atomic_load(&regions[0]));
        much = wanted + iotide_ring_lines / (4 * IOTIDE_WAKE_AT);
    }
    thread->look_at = much < end ? much : end;
    return wanted <= end;
}

static void store(struct iotide_thread *thread, const struct iotide_record *record, const uint64_t *words) {
    struct iotide_slot *slot = thread->slot;
    uint32_t lines = 1 + (record->words + WORDS_A_LINE - 1u) / WORDS_A_LINE;
    uint64_t mask = iotide_ring_lines - 1;
    if (unlikely(thread->head + lines > thread->look_at) && !has_room(thread, lines)) {
        count_up(&slot->dropped_full, 1);
        count_up(&slot->dropped_bytes, bytes_of(record));
        return;
    }
    fetch_ahead(&thread->lines[(thread->head + AHEAD) & mask]);
    copy_record(&thread->lines[thread->head & mask], record);
    for (uint32_t line = 1; line < lines; line++) {
        uint64_t *to = (uint64_t *)&thread->lines[(thread->head + line) & mask];
        uint32_t first = (line - 1) * WORDS_A_LINE;
        for (uint32_t i = 0; i < WORDS_A_LINE; i++)
            to[i] = first + i < record->words ? words[first + i] : 0;
        to[WORDS_A_LINE] = (uint64_t)MARK_WORDS << 56;
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
    count_up(&thread->slot->sampled_out, 1);
    count_up(&thread->slot->sampled_out_bytes, (uint64_t)record->bytes);
    return true;
}

static void count_drop(_Atomic uint64_t *counter) {
    atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

static void drop_without_slot(struct iotide_header *region, const struct iotide_record *record) {
    count_drop(&region->dropped_no_slot);
    atomic_fetch_add_explicit(&region->dropped_no_slot_bytes, bytes_of(record), memory_order_relaxed);
}

/* All that a record needs now and then. */
__attribute__((noinline)) static void put_with_care(struct iotide_thread *thread, const struct iotide_record *record,
                                                    const uint64_t *words, uintptr_t frame) {
    struct iotide_header *region = atomic_load_explicit(&iotide_region, memory_order_relaxed);
    if (record->file == IOTIDE_LEFT_OUT) {
        count_drop(&region->left_out);
        return;
    }
    if (thread->storing && !was_left(frame)) { /* a signal handler inside the few instructions of a record */
        count_drop(&region->dropped_reentrant);
        atomic_fetch_add_explicit(&region->dropped_reentrant_bytes, bytes_of(record), memory_order_relaxed);
        return;
    }
    making = frame;
    thread->storing = true;
    atomic_signal_fence(memory_order_seq_cst);
    uint32_t before = thread->generation;
    if (record->start_ns > thread->look_ns)
        look_for_collector(record->start_ns + record->duration_ns);
    if (atomic_load_explicit(&pending_fd, memory_order_relaxed) >= 0)
        retry_hand_over(record->start_ns);
    uint32_t now = atomic_load_explicit(&iotide_generation, memory_order_relaxed);
    if (before && before != now) {
        /* Another region has taken over since this call looked up its numbers, which mean nothing there. */
        thread->generation = 0;
        thread->slot = NULL;
        drop_without_slot(atomic_load(&iotide_region), record);
    } else if ((before != now || !thread->slot) && !claim_slot(record->start_ns)) {
        drop_without_slot(region, record);
    } else if (iotide_sample == 1 || !is_sampled_out(thread, record)) {
        store(thread, record, words);
    }
    atomic_signal_fence(memory_order_seq_cst);
    thread->storing = false;
}

void iotide_put(const struct iotide_record *record, const uint64_t *words) {
    struct iotide_thread *thread = &iotide_self;
    uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
    if (unlikely(thread->storing || record->file == IOTIDE_LEFT_OUT || record->start_ns > thread->look_ns ||
                 atomic_load_explicit(&pending_fd, memory_order_relaxed) >= 0 || !thread->slot ||
                 thread->generation != atomic_load_explicit(&iotide_generation, memory_order_relaxed) ||
                 iotide_sample != 1)) {
        int error = errno;
        put_with_care(thread, record, words, frame);
        errno = error;
        return;
    }
    making = frame;
    atomic_signal_fence(memory_order_seq_cst);
    thread->storing = true;
    atomic_signal_fence(memory_order_seq_cst);
    store(thread, record, words);
    atomic_signal_fence(memory_order_seq_cst);
    thread->storing = false;
}
