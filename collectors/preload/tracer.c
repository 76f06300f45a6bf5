/* The life of the tracer in a process: find out whether to trace, make the region, hand it over, give threads rings. */
#define _GNU_SOURCE
#include "tracer.h"

#include "region.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MAX_EXTENTS 128
#define RETRY_NS 10000000
#define KNOWN_PATHS 4096

const struct iotide_call iotide_calls[CALL_COUNT] = {
#define X(symbol, shown, layer_, kind_) [CALL_##symbol] = {.name = shown, .layer = LAYER_##layer_, .kind = KIND_##kind_},
    IOTIDE_CALLS(X)
#undef X
};
static const char *const symbols[CALL_COUNT] = {
#define X(symbol, shown, layer, kind) [CALL_##symbol] = #symbol,
    IOTIDE_CALLS(X)
#undef X
};

void *_Atomic iotide_real[CALL_COUNT];
volatile uint32_t *iotide_alive;

/* Process-wide; written by iotide_start while no other thread of this process traces. */
static struct iotide_header *_Atomic regions[MAX_EXTENTS];
static _Atomic uint32_t region_count;
static _Atomic uint32_t generation; /* counts the processes that this memory image has been: threads compare it */
static _Atomic uint32_t next_file;
static _Atomic bool extending;
static _Atomic int64_t no_region_until;
static _Atomic uint64_t known_paths[KNOWN_PATHS];
static pid_t own_pid;
static pthread_key_t exit_key;
static bool has_exit_key;

/* A region whose hand-over found the collector's queue full: tried again later, as the memory fills meanwhile. */
static _Atomic int pending_fd = -1;
static _Atomic int64_t pending_since;
static struct stat pending_identity;
static _Atomic bool handing_over;

struct thread {
    struct iotide_slot *slot;
    struct iotide_record *records;
    uint64_t head;
    uint64_t tail_seen;
    uint32_t generation;
    bool storing;
};
static __thread struct thread self __attribute__((tls_model("initial-exec")));

/* Stands in for a call that this libc does not have, but that a program may find in us. */
static long absent(void) {
    errno = ENOSYS;
    return -1;
}

void *iotide_resolve(enum iotide_call_id call) {
    void *real = dlsym(RTLD_NEXT, symbols[call]);
    if (!real)
        real = (void *)absent;
    atomic_store_explicit(&iotide_real[call], real, memory_order_relaxed);
    return real;
}

bool iotide_same_process(void) {
    return getpid() == own_pid;
}

/* ---- handing over later ---- */

/* Keeps a region's descriptor for later, out of the way of the program's own numbers. */
static bool keep_pending(int fd) {
    struct rlimit limit;
    int high = getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur > 256 && limit.rlim_cur < 1u << 20
                   ? (int)limit.rlim_cur - 128
                   : 1024;
    int kept = fcntl(fd, F_DUPFD_CLOEXEC, high);
    if (kept < 0 || fstat(kept, &pending_identity) != 0)
        return false;
    atomic_store(&pending_since, iotide_now());
    atomic_store(&pending_fd, kept);
    return true;
}

/* The program may have closed it, or even have given the number to a file of its own. */
static bool is_pending(int fd) {
    struct stat identity;
    return fstat(fd, &identity) == 0 && identity.st_ino == pending_identity.st_ino &&
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
    if (self.slot == slot && self.generation == atomic_load(&generation))
        atomic_store_explicit(&self.slot->state, SLOT_RELEASED, memory_order_release);
    self.slot = NULL;
    self.generation = 0;
}

/* Makes and hands over the first region of this process. In a forked child the parent's regions are let go first. */
static bool begin(void) {
    uint32_t inherited = atomic_exchange(&region_count, 0);
    for (uint32_t i = 0; i < inherited && i < MAX_EXTENTS; i++) {
        struct iotide_header *old = atomic_exchange(&regions[i], NULL);
        if (old)
            munmap(old, old->region_bytes);
    }
    int left = atomic_exchange(&pending_fd, -1);
    if (left >= 0 && is_pending(left))
        syscall(SYS_close, left);
    /* The thread that was at these stayed in the parent. */
    atomic_store(&handing_over, false);
    atomic_store(&extending, false);
    atomic_store(&no_region_until, 0);
    atomic_fetch_add(&generation, 1);
    own_pid = getpid();
    uint64_t token = (uint64_t)iotide_now() ^ ((uint64_t)own_pid << 32) ^ (uint64_t)(uintptr_t)&token;
    int fd;
    struct iotide_header *region = iotide_make_region(0, token, &fd);
    if (!region)
        return false;
    atomic_store(&regions[0], region);
    int failure = iotide_hand_over(region, fd);
    bool kept = failure == 0 || (failure == EAGAIN && keep_pending(fd));
    syscall(SYS_close, fd);
    if (!kept) {
        atomic_store(&regions[0], NULL);
        munmap(region, region->region_bytes);
        return false;
    }
    iotide_reset_descriptors();
    atomic_store(&next_file, 0);
    memset((void *)known_paths, 0, sizeof known_paths);
    atomic_store(&region_count, 1);
    return true;
}

bool iotide_start(void) {
    volatile uint32_t *alive = iotide_alive;
    if (!alive) /* another thread has just given up */
        return false;
    /* alive[0]: traced; alive[1]: somebody is at it. Both read 0 in a forked child. */
    if (__atomic_exchange_n((uint32_t *)&alive[1], 1, __ATOMIC_ACQ_REL))
        return alive[0] != 0;
    int error = errno;
    if (begin())
        alive[0] = 1;
    else
        iotide_alive = NULL; /* for good: a child of ours has no better chance */
    errno = error;
    return alive[0] != 0;
}

__attribute__((constructor(101))) static void load(void) {
    int error = errno;
    for (int call = 1; call < CALL_COUNT; call++)
        iotide_resolve(call);
    if (iotide_read_environment()) {
        void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
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

/* ---- the threads ---- */

/* Returns the slot's number, or -1 when none is free. */
static int claim_in(struct iotide_header *region) {
    struct iotide_slot *slots = (struct iotide_slot *)((char *)region + region->slots_offset);
    for (uint32_t i = 0; i < IOTIDE_SLOTS; i++) {
        struct iotide_slot *slot = &slots[i];
        uint32_t state = atomic_load_explicit(&slot->state, memory_order_acquire);
        /* A released ring is used again only when it is drained, so that the tid stays right for what it holds. */
        if (state == SLOT_CLAIMED ||
            (state == SLOT_RELEASED && atomic_load(&slot->head) != atomic_load_explicit(&slot->tail, memory_order_acquire)))
            continue;
        if (!atomic_compare_exchange_strong(&slot->state, &state, SLOT_CLAIMED))
            continue;
        atomic_store(&slot->tid, (int32_t)syscall(SYS_gettid));
        self.records = (struct iotide_record *)((char *)region + region->rings_offset) + (size_t)i * iotide_ring_records;
        self.head = self.tail_seen = atomic_load(&slot->head);
        self.slot = slot;
        self.generation = atomic_load(&generation);
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
    if (count >= MAX_EXTENTS || atomic_load(&pending_fd) >= 0 || atomic_exchange(&extending, true))
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
                munmap(region, region->region_bytes);
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

void iotide_put(const struct iotide_record *record) {
    struct thread *thread = &self;
    if (unlikely(thread->storing)) { /* a signal handler inside the few instructions below */
        atomic_fetch_add_explicit(&atomic_load(&regions[0])->dropped_reentrant, 1, memory_order_relaxed);
        return;
    }
    thread->storing = true;
    atomic_signal_fence(memory_order_seq_cst);
    if (unlikely(atomic_load_explicit(&pending_fd, memory_order_relaxed) >= 0))
        retry_hand_over(record->start_ns);
    if (unlikely(!thread->slot || thread->generation != atomic_load_explicit(&generation, memory_order_relaxed)) &&
        !claim_slot(record->start_ns)) {
        atomic_fetch_add_explicit(&atomic_load(&regions[0])->dropped_no_slot, 1, memory_order_relaxed);
    } else {
        struct iotide_slot *slot = thread->slot;
        if (unlikely(thread->head - thread->tail_seen >= iotide_ring_records))
            thread->tail_seen = atomic_load_explicit(&slot->tail, memory_order_acquire);
        if (unlikely(thread->head - thread->tail_seen >= iotide_ring_records)) {
            uint64_t dropped = atomic_load_explicit(&slot->dropped_full, memory_order_relaxed);
            atomic_store_explicit(&slot->dropped_full, dropped + 1, memory_order_relaxed);
        } else {
            thread->records[thread->head & (iotide_ring_records - 1)] = *record;
            atomic_store_explicit(&slot->head, ++thread->head, memory_order_release);
        }
    }
    atomic_signal_fence(memory_order_seq_cst);
    thread->storing = false;
}

/* ---- definitions ---- */

/* Numbers of paths met lately, by hash: upper half of the hash, and the number. A path that is opened over and over
 * is defined once; with 44 bits compared, no two paths of a real program share a number. */

static uint64_t hash_of(const char *path, size_t length) {
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)path[i]) * UINT64_C(0x100000001b3);
    return hash ^ hash >> 29;
}

static uint32_t append_file(const char *path, size_t length);

uint32_t iotide_define_file(const char *path, size_t length) {
    if (!iotide_begun())
        return 0;
    uint64_t hash = hash_of(path, length);
    _Atomic uint64_t *known = &known_paths[hash % KNOWN_PATHS];
    uint64_t entry = atomic_load_explicit(known, memory_order_relaxed);
    if (entry && entry >> 32 == hash >> 32)
        return (uint32_t)entry;
    uint32_t number = append_file(path, length);
    if (number)
        atomic_store_explicit(known, (hash & ~UINT64_C(0xffffffff)) | number, memory_order_relaxed);
    return number;
}

static uint32_t append_file(const char *path, size_t length) {
    struct iotide_header *region = atomic_load(&regions[0]);
    char *log = (char *)region + region->log_offset;
    uint64_t need = (sizeof(struct iotide_entry) + length + 15) & ~UINT64_C(15);
    uint64_t head = atomic_load_explicit(&region->log_head, memory_order_relaxed);
    uint64_t skip;
    do {
        uint64_t to_end = IOTIDE_LOG_BYTES - head % IOTIDE_LOG_BYTES;
        skip = to_end < need ? to_end : 0;
        if (head + skip + need - atomic_load_explicit(&region->log_tail, memory_order_acquire) > IOTIDE_LOG_BYTES) {
            atomic_fetch_add_explicit(&region->definitions_dropped, 1, memory_order_relaxed);
            return 0;
        }
    } while (!atomic_compare_exchange_weak_explicit(&region->log_head, &head, head + skip + need, memory_order_relaxed,
                                                    memory_order_relaxed));
    if (skip) {
        struct iotide_entry *pad = (struct iotide_entry *)(log + head % IOTIDE_LOG_BYTES);
        pad->type = ENTRY_PAD;
        atomic_store_explicit(&pad->size, (uint32_t)skip, memory_order_release);
    }
    struct iotide_entry *entry = (struct iotide_entry *)(log + (head + skip) % IOTIDE_LOG_BYTES);
    uint32_t number = atomic_fetch_add(&next_file, 1) + 1;
    entry->type = ENTRY_FILE;
    entry->length = (uint16_t)length;
    entry->number = number;
    memcpy(entry + 1, path, length);
    atomic_store_explicit(&entry->size, (uint32_t)need, memory_order_release);
    return number;
}
