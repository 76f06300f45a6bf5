/* The life of the tracer in a process: find out whether to trace, make the region, hand it over, give threads rings. */
#define _GNU_SOURCE
#include "tracer.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#define SLOTS 64
#define DEFAULT_RECORDS (1u << 16)
#define LOG_BYTES (1u << 20)
#define MAX_EXTENTS 128
#define RETRY_NS 10000000

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
static struct sockaddr_un collector;
static uint32_t ring_records = DEFAULT_RECORDS;
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

void *iotide_resolve(enum iotide_call_id call) {
    void *real = dlsym(RTLD_NEXT, symbols[call]);
    atomic_store_explicit(&iotide_real[call], real, memory_order_relaxed);
    return real;
}

bool iotide_same_process(void) {
    return getpid() == own_pid;
}

/* ---- making a region ---- */

static int env_number(const char *const *names, int fallback) {
    for (; *names; names++) {
        const char *text = getenv(*names);
        if (text && *text >= '0' && *text <= '9')
            return atoi(text);
    }
    return fallback;
}

static void copy_job(char *to) {
    static const char *const names[] = {"IOTIDE_JOB", "SLURM_JOB_ID", "PBS_JOBID", "FLUX_JOB_ID", "LSB_JOBID", NULL};
    for (const char *const *name = names; *name; name++) {
        const char *job = getenv(*name);
        if (job && *job) {
            strncpy(to, job, IOTIDE_JOB_BYTES - 1);
            return;
        }
    }
}

static void copy_command(char *to) {
    int fd = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    long got = syscall(SYS_read, fd, to, IOTIDE_COMMAND_BYTES - 1);
    syscall(SYS_close, fd);
    for (long i = 0; i + 1 < got; i++)
        if (to[i] == '\0')
            to[i] = ' ';
}

static size_t align_page(size_t bytes) {
    return (bytes + 4095) & ~(size_t)4095;
}

static void describe(struct iotide_header *region, uint32_t extent, uint64_t token, size_t bytes, size_t log_bytes) {
    static const char *const rank_names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK",
                                             "SLURM_PROCID", NULL};
    static const char *const size_names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE", "SLURM_NTASKS",
                                             NULL};
    struct timespec wall, mono;
    clock_gettime(CLOCK_MONOTONIC, &mono);
    clock_gettime(CLOCK_REALTIME, &wall);
    region->layout = IOTIDE_LAYOUT;
    region->extent = extent;
    region->region_bytes = bytes;
    region->token = token;
    region->slot_count = SLOTS;
    region->ring_records = ring_records;
    region->call_count = CALL_COUNT;
    region->log_bytes = (uint32_t)log_bytes;
    region->calls_offset = IOTIDE_HEADER_BYTES;
    region->slots_offset = align_page(region->calls_offset + sizeof iotide_calls);
    region->log_offset = align_page(region->slots_offset + SLOTS * sizeof(struct iotide_slot));
    region->rings_offset = region->log_offset + log_bytes;
    region->pid = own_pid;
    region->ppid = getppid();
    region->rank = env_number(rank_names, -1);
    region->ranks = env_number(size_names, 0);
    region->clock_offset_ns =
        (wall.tv_sec - mono.tv_sec) * INT64_C(1000000000) + (wall.tv_nsec - mono.tv_nsec);
    copy_job(region->job);
    copy_command(region->command);
    memcpy((char *)region + region->calls_offset, iotide_calls, sizeof iotide_calls);
    region->magic = IOTIDE_MAGIC;
}

/* Returns the mapped region and its descriptor in *fd, or NULL: then the process (or thread) goes untraced. */
static struct iotide_header *make_region(uint32_t extent, uint64_t token, int *fd) {
    size_t log_bytes = extent == 0 ? LOG_BYTES : 4096;
    size_t bytes = align_page(IOTIDE_HEADER_BYTES + sizeof iotide_calls) +
                   align_page(SLOTS * sizeof(struct iotide_slot)) + log_bytes +
                   (size_t)SLOTS * ring_records * sizeof(struct iotide_record);
    struct rlimit limit;
    /* Growing a file past this limit would raise SIGXFSZ in the program. */
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < bytes)
        return NULL;
    *fd = memfd_create("iotide", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (*fd < 0)
        return NULL;
    void *memory = MAP_FAILED;
    if (syscall(SYS_ftruncate, *fd, (off_t)bytes) == 0 &&
        fcntl(*fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
        memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, *fd, 0);
    if (memory == MAP_FAILED) {
        syscall(SYS_close, *fd);
        return NULL;
    }
    describe(memory, extent, token, bytes, log_bytes);
    return memory;
}

/* ---- handing a region over ---- */

/* Returns 0 when the collector has it, else the errno. No descriptor stays open, and nothing waits. */
static int hand_over(const struct iotide_header *region, int fd) {
    int gate = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (gate < 0)
        return errno;
    int failure = 0;
    if (connect(gate, (const struct sockaddr *)&collector, sizeof collector) != 0) {
        failure = errno;
    } else {
        struct iotide_hello hello = {IOTIDE_MAGIC, IOTIDE_LAYOUT, region->extent, region->region_bytes, region->token};
        struct iovec part = {&hello, sizeof hello};
        union {
            struct cmsghdr head;
            char space[CMSG_SPACE(sizeof(int))];
        } control;
        memset(&control, 0, sizeof control);
        struct msghdr message = {.msg_iov = &part,
                                 .msg_iovlen = 1,
                                 .msg_control = control.space,
                                 .msg_controllen = sizeof control.space};
        struct cmsghdr *rights = CMSG_FIRSTHDR(&message);
        rights->cmsg_level = SOL_SOCKET;
        rights->cmsg_type = SCM_RIGHTS;
        rights->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(rights), &fd, sizeof fd);
        if (sendmsg(gate, &message, MSG_NOSIGNAL | MSG_DONTWAIT) != (ssize_t)sizeof hello)
            failure = errno;
    }
    syscall(SYS_close, gate);
    return failure;
}

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

static void retry_hand_over(int64_t now) {
    if (now - atomic_load(&pending_since) < RETRY_NS || atomic_exchange(&handing_over, true))
        return;
    int fd = atomic_load(&pending_fd);
    struct stat identity;
    if (fd >= 0) {
        int failure = ENOENT;
        /* The program may have closed it, or even have given the number to a file of its own. */
        if (fstat(fd, &identity) == 0 && identity.st_ino == pending_identity.st_ino &&
            identity.st_dev == pending_identity.st_dev) {
            failure = hand_over(atomic_load(&regions[0]), fd);
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

static bool read_environment(void) {
    const char *path = getenv("IOTIDE_SOCKET");
    if (getauxval(AT_SECURE) || !path || !*path || strlen(path) >= sizeof collector.sun_path)
        return false;
    collector.sun_family = AF_UNIX;
    strcpy(collector.sun_path, path);
    const char *records = getenv("IOTIDE_RING_RECORDS");
    if (records) {
        unsigned long wanted = strtoul(records, NULL, 10);
        for (ring_records = 256; ring_records < wanted && ring_records < 1u << 22;)
            ring_records <<= 1;
    }
    return true;
}

/* Makes and hands over the first region of this process. In a forked child the parent's regions are let go first. */
static bool begin(void) {
    uint32_t inherited = atomic_exchange(&region_count, 0);
    for (uint32_t i = 0; i < inherited && i < MAX_EXTENTS; i++) {
        struct iotide_header *old = atomic_exchange(&regions[i], NULL);
        if (old)
            munmap(old, old->region_bytes);
    }
    atomic_store(&pending_fd, -1);
    own_pid = getpid();
    uint64_t token = (uint64_t)iotide_now() ^ ((uint64_t)own_pid << 32) ^ (uint64_t)(uintptr_t)&token;
    int fd;
    struct iotide_header *region = make_region(0, token, &fd);
    if (!region)
        return false;
    atomic_store(&regions[0], region);
    int failure = hand_over(region, fd);
    bool kept = failure == 0 || (failure == EAGAIN && keep_pending(fd));
    syscall(SYS_close, fd);
    if (!kept) {
        atomic_store(&regions[0], NULL);
        munmap(region, region->region_bytes);
        return false;
    }
    iotide_reset_descriptors();
    atomic_store(&next_file, 0);
    atomic_fetch_add(&generation, 1);
    atomic_store(&region_count, 1);
    return true;
}

bool iotide_start(void) {
    volatile uint32_t *alive = iotide_alive;
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
    if (read_environment()) {
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
    for (uint32_t i = 0; i < SLOTS; i++) {
        struct iotide_slot *slot = &slots[i];
        uint32_t state = atomic_load_explicit(&slot->state, memory_order_acquire);
        /* A released ring is used again only when it is drained, so that the tid stays right for what it holds. */
        if (state == SLOT_CLAIMED ||
            (state == SLOT_RELEASED && atomic_load(&slot->head) != atomic_load_explicit(&slot->tail, memory_order_acquire)))
            continue;
        if (!atomic_compare_exchange_strong(&slot->state, &state, SLOT_CLAIMED))
            continue;
        atomic_store(&slot->tid, (int32_t)syscall(SYS_gettid));
        self.records = (struct iotide_record *)((char *)region + region->rings_offset) + (size_t)i * ring_records;
        self.head = self.tail_seen = atomic_load(&slot->head);
        self.slot = slot;
        self.generation = atomic_load(&generation);
        if (has_exit_key)
            pthread_setspecific(exit_key, slot);
        return (int)i;
    }
    return -1;
}

static bool extend(uint32_t count) {
    if (count >= MAX_EXTENTS || atomic_exchange(&extending, true))
        return false;
    bool made = false;
    if (atomic_load(&region_count) == count) {
        int fd;
        struct iotide_header *region = make_region(count, atomic_load(&regions[0])->token, &fd);
        if (region) {
            made = hand_over(region, fd) == 0;
            syscall(SYS_close, fd);
            if (made) {
                atomic_store(&regions[count], region);
                atomic_store(&region_count, count + 1);
            } else {
                munmap(region, region->region_bytes);
            }
        }
    }
    atomic_store(&extending, false);
    return made;
}

static bool claim_slot(void) {
    uint32_t count = atomic_load(&region_count);
    for (uint32_t i = 0; i < count; i++) {
        int slot = claim_in(atomic_load(&regions[i]));
        if (slot < 0)
            continue;
        /* The next region is made while there is still room: a thread that comes meanwhile must not wait for it. */
        if (i == count - 1 && slot >= SLOTS / 4)
            extend(count);
        return true;
    }
    return extend(count) && claim_in(atomic_load(&regions[count])) >= 0;
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
        !claim_slot()) {
        atomic_fetch_add_explicit(&atomic_load(&regions[0])->dropped_no_slot, 1, memory_order_relaxed);
    } else {
        struct iotide_slot *slot = thread->slot;
        if (unlikely(thread->head - thread->tail_seen >= ring_records))
            thread->tail_seen = atomic_load_explicit(&slot->tail, memory_order_acquire);
        if (unlikely(thread->head - thread->tail_seen >= ring_records)) {
            uint64_t dropped = atomic_load_explicit(&slot->dropped_full, memory_order_relaxed);
            atomic_store_explicit(&slot->dropped_full, dropped + 1, memory_order_relaxed);
        } else {
            thread->records[thread->head & (ring_records - 1)] = *record;
            atomic_store_explicit(&slot->head, ++thread->head, memory_order_release);
        }
    }
    atomic_signal_fence(memory_order_seq_cst);
    thread->storing = false;
}

/* ---- definitions ---- */

uint32_t iotide_define_file(const char *path, size_t length) {
    struct iotide_header *region = atomic_load(&regions[0]);
    char *log = (char *)region + region->log_offset;
    uint64_t need = (sizeof(struct iotide_entry) + length + 15) & ~UINT64_C(15);
    uint64_t head = atomic_load_explicit(&region->log_head, memory_order_relaxed);
    uint64_t skip;
    do {
        uint64_t to_end = LOG_BYTES - head % LOG_BYTES;
        skip = to_end < need ? to_end : 0;
        if (head + skip + need - atomic_load_explicit(&region->log_tail, memory_order_acquire) > LOG_BYTES) {
            atomic_fetch_add_explicit(&region->definitions_dropped, 1, memory_order_relaxed);
            return 0;
        }
    } while (!atomic_compare_exchange_weak_explicit(&region->log_head, &head, head + skip + need, memory_order_relaxed,
                                                    memory_order_relaxed));
    if (skip) {
        struct iotide_entry *pad = (struct iotide_entry *)(log + head % LOG_BYTES);
        pad->type = ENTRY_PAD;
        atomic_store_explicit(&pad->size, (uint32_t)skip, memory_order_release);
    }
    struct iotide_entry *entry = (struct iotide_entry *)(log + (head + skip) % LOG_BYTES);
    uint32_t number = atomic_fetch_add(&next_file, 1) + 1;
    entry->type = ENTRY_FILE;
    entry->length = (uint16_t)length;
    entry->number = number;
    memcpy(entry + 1, path, length);
    atomic_store_explicit(&entry->size, (uint32_t)need, memory_order_release);
    return number;
}
