/* A region of shared memory: created, described, and handed over to the collector. */
#include "state/region.h"
#include "state/clock.h"
#include "base/environment.h"
#include "base/raw_syscall.h"
#include "state/state.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#define DEFAULT_LINES (1u << 16)
#define UNKNOWN_USER 65534u /* of a user namespace: the kernel's default for users without a number in it */
#define PSEUDO_STEP_DIGITS 10 /* 4294967291 and similar numbers */
#define CELL_TRIES 8
#define MAX_UNSEEN_NS INT64_C(2000000000) /* without a poll of the collector: then no child begins in a cell */

static struct sockaddr_un collector;
uint32_t iotide_ring_lines = DEFAULT_LINES;
bool iotide_pacing_wanted;

/* From the program's start; later changes of its environment or arguments do not affect the job. */
static char job[IOTIDE_JOB_BYTES];
static char command[IOTIDE_COMMAND_BYTES];
static char step[IOTIDE_STEP_BYTES];
static _Atomic int32_t rank = -1;
static _Atomic int32_t ranks;

static const char *first_set_variable(char **environment, const char *const *names) {
    for (; *names; names++) {
        const char *text = iotide_setting(environment, *names);
        if (text && *text)
            return text;
    }
    return NULL;
}

static int32_t integer_variable(char **environment, const char *const *names, int32_t fallback) {
    const char *text = first_set_variable(environment, names);
    return text && *text >= '0' && *text <= '9' ? (int32_t)strtol(text, NULL, 10) : fallback;
}

static void copy_command(int count, char **arguments) {
    size_t length = 0;
    for (int i = 0; i < count && arguments[i] && length < sizeof command - 1; i++) {
        if (i)
            command[length++] = ' ';
        size_t size = strnlen(arguments[i], sizeof command - 1 - length);
        memcpy(command + length, arguments[i], size);
        length += size;
    }
}

static void copy_job(char **environment) {
    static const char *const names[] = {"IOTIDE_JOB", "SLURM_JOB_ID", "PBS_JOBID", "FLUX_JOB_ID", "LSB_JOBID", NULL};
    const char *name = first_set_variable(environment, names);
    if (!name)
        return;
    strncpy(job, name, sizeof job - 1);
    /* All elements of a job array of LSF have the same number. */
    const char *element = iotide_setting(environment, "LSB_JOBINDEX");
    if (name != iotide_setting(environment, "LSB_JOBID") || !element || !*element || strcmp(element, "0") == 0)
        return;
    size_t length = strlen(job), more = strlen(element);
    if (more + 2 < sizeof job - length) {
        job[length] = '[';
        memcpy(job + length + 1, element, more);
        job[length + 1 + more] = ']';
    }
}

bool iotide_read_environment(int count, char **arguments, char **environment) {
    static const char *const rank_names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK", NULL};
    static const char *const size_names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE", NULL};
    static const char *const task_names[] = {"SLURM_PROCID", NULL};
    static const char *const tasks_names[] = {"SLURM_NTASKS", NULL};
    const char *path = iotide_setting(environment, "IOTIDE_SOCKET");
    if (getauxval(AT_SECURE) || !path || !*path || strlen(path) >= sizeof collector.sun_path)
        return false;
    collector.sun_family = AF_UNIX;
    strcpy(collector.sun_path, path);
    const char *wanted = iotide_setting(environment, "IOTIDE_RING_RECORDS");
    if (wanted) {
        unsigned long lines = strtoul(wanted, NULL, 10);
        for (iotide_ring_lines = 256; iotide_ring_lines < lines && iotide_ring_lines < 1u << 22;)
            iotide_ring_lines <<= 1;
    }
    copy_job(environment);
    static const char *const step_names[] = {"SLURM_STEP_ID", "SLURM_STEPID", NULL};
    const char *name = first_set_variable(environment, step_names);
    if (name)
        strncpy(step, name, sizeof step - 1);
    const char *pace = iotide_setting(environment, "IOTIDE_PACE");
    iotide_pacing_wanted = pace && strcmp(pace, "1") == 0;
    copy_command(count, arguments);
    /* A batch or interactive script also has the variables of a task, but is none; its steps have these large
     * numbers. */
    bool is_task = *step && strlen(step) < PSEUDO_STEP_DIGITS;
    atomic_store(&rank, integer_variable(environment, rank_names,
                                         is_task ? integer_variable(environment, task_names, -1) : -1));
    atomic_store(&ranks, integer_variable(environment, size_names,
                                          is_task ? integer_variable(environment, tasks_names, 0) : 0));
    return true;
}

bool iotide_is_own_collector(const char *path) {
    return strcmp(collector.sun_path, path) == 0;
}

void iotide_set_rank(int32_t new_rank, int32_t new_ranks) {
    atomic_store(&rank, new_rank);
    atomic_store(&ranks, new_ranks);
    struct iotide_header *region = atomic_load(&iotide_region);
    if (region && iotide_is_tracing()) {
        atomic_store(&region->ranks, new_ranks);
        atomic_store(&region->rank, new_rank);
    }
}

static uint64_t mount_namespace(void) {
    struct stat identity;
    return iotide_syscall(SYS_newfstatat, AT_FDCWD, "/proc/self/ns/mnt", &identity, 0) == 0 ? identity.st_ino : 0;
}

/* The id of the mount whose root is the root folder: never reused, and in one namespace alone; 0: unknown. */
static uint64_t root_mount(void) {
#ifdef STATX_MNT_ID
    struct statx root;
    const unsigned int unique = 0x4000; /* STATX_MNT_ID_UNIQUE, of Linux 6.8 */
    if (iotide_syscall(SYS_statx, AT_FDCWD, "/", AT_STATX_DONT_SYNC, unique, &root) == 0 && root.stx_mask & unique &&
        root.stx_attributes & STATX_ATTR_MOUNT_ROOT)
        return root.stx_mnt_id;
#endif
    return 0;
}

/* Asking for the root's mount takes a tenth of the first name in /proc. */
static uint64_t mounts_of_process(void) {
    uint64_t root = root_mount();
    return root ? root | IOTIDE_ROOT_MOUNT : mount_namespace();
}

static size_t align_page(size_t bytes) {
    return (bytes + 4095) & ~(size_t)4095;
}

static struct iotide_cells *cells_of(struct iotide_header *region) {
    return (struct iotide_cells *)((char *)region + IOTIDE_CELLS_AT);
}

/* Sizes and offsets of the parts of a region. */
struct layout {
    size_t bytes;
    uint32_t slots;
    uint32_t ring_lines;
    size_t log_bytes;
    size_t slots_offset;
    size_t log_offset;
    size_t rings_offset;
};

static struct layout layout_of_region(bool has_log) {
    size_t log_bytes = has_log ? IOTIDE_LOG_BYTES : 4096;
    size_t log_offset = IOTIDE_HEADER_BYTES + align_page(IOTIDE_SLOTS * sizeof(struct iotide_slot));
    size_t rings_offset = log_offset + log_bytes;
    size_t bytes = rings_offset + (size_t)IOTIDE_SLOTS * iotide_ring_lines * sizeof(struct iotide_record);
    return (struct layout){bytes, IOTIDE_SLOTS, iotide_ring_lines, log_bytes, IOTIDE_HEADER_BYTES, log_offset,
                           rings_offset};
}

FREQUENT static void initialize_header(struct iotide_header *region, uint32_t extent, uint64_t token, struct layout layout) {
    int64_t mono_ns = iotide_kernel_clock(CLOCK_MONOTONIC), wall_ns = iotide_kernel_clock(CLOCK_REALTIME);
    region->layout = IOTIDE_LAYOUT;
    region->extent = extent;
    region->region_bytes = layout.bytes;
    region->token = token;
    region->slot_count = layout.slots;
    region->ring_lines = layout.ring_lines;
    region->log_bytes = (uint32_t)layout.log_bytes;
    region->slots_offset = layout.slots_offset;
    region->log_offset = layout.log_offset;
    region->rings_offset = layout.rings_offset;
    region->pid = iotide_own_pid;
    region->ppid = (pid_t)iotide_syscall(SYS_getppid);
    region->mounts = mounts_of_process();
    atomic_store(&region->rank, atomic_load(&rank));
    atomic_store(&region->ranks, atomic_load(&ranks));
    region->clock_offset_ns = wall_ns - mono_ns;
    atomic_store(&region->collector_seen_ns, mono_ns);
    atomic_store(&region->wakes, COLLECTOR_AWAKE);
    region->paces = iotide_pacing_wanted;
    memcpy(region->job, job, sizeof job);
    memcpy(region->command, command, sizeof command);
    memcpy(region->step, step, sizeof step);
    region->magic = IOTIDE_MAGIC;
}

struct iotide_header *iotide_create_region(uint32_t extent, bool has_log, uint64_t token, int *fd) {
    struct layout layout = layout_of_region(has_log);
    size_t cells_offset = align_page(layout.bytes);
    if (extent == 0)
        layout.bytes = cells_offset + (size_t)IOTIDE_CELLS * IOTIDE_CELL_BYTES;
    size_t bytes = layout.bytes;
    struct rlimit limit;
    /* Growing a file past this limit would raise SIGXFSZ in the program. */
    if (iotide_syscall(SYS_prlimit64, 0, RLIMIT_FSIZE, NULL, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < bytes)
        return NULL;
    *fd = (int)iotide_syscall(SYS_memfd_create, "iotide", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (*fd < 0)
        return NULL;
    void *memory = MAP_FAILED;
    if (iotide_syscall(SYS_ftruncate, *fd, (off_t)bytes) == 0 &&
        iotide_syscall(SYS_fcntl, *fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
        memory = (void *)iotide_syscall(SYS_mmap, NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, *fd, 0);
    if (memory == MAP_FAILED) {
        iotide_syscall(SYS_close, *fd);
        return NULL;
    }
    struct iotide_header *region = memory;
    initialize_header(region, extent, token, layout);
    if (extent == 0) {
        struct iotide_cells *cells = cells_of(region);
        cells->offset = cells_offset;
        cells->count = IOTIDE_CELLS;
        cells->cell_bytes = IOTIDE_CELL_BYTES;
    }
    return region;
}

/* ---- cells ---- */

bool iotide_unmap_rings(struct iotide_header *host, uint64_t *bytes) {
    struct layout layout = layout_of_region(true);
    if (iotide_syscall(SYS_munmap, (char *)host + layout.rings_offset, align_page(layout.bytes) - layout.rings_offset) != 0)
        return false;
    *bytes = layout.rings_offset;
    return true;
}

/* Returns the number of a cell that now belongs to the process; -1: none. */
static int claim_cell(struct iotide_cells *cells, pid_t own, uint32_t number) {
    for (uint32_t i = 0; i < CELL_TRIES; i++) {
        uint32_t place = (number + i) % IOTIDE_CELLS;
        int32_t none = 0;
        if (!atomic_compare_exchange_strong(&cells->cell[place].pid, &none, own))
            continue;
        if (atomic_load(&cells->open)) /* the collector closes them before it looks for the last ones */
            return (int)place;
        atomic_store(&cells->cell[place].pid, 0);
        return -1;
    }
    return -1;
}

FREQUENT struct iotide_header *iotide_begin_in_cell(struct iotide_header *host, pid_t parent, uint64_t token) {
    struct iotide_cells *cells = cells_of(host);
    /* The collector watches the pid, so it must be one of the parent's namespace: there the parent has the number that
     * it knows. The first process of a namespace cannot tell. */
    if (!atomic_load(&cells->open) || iotide_pacing_wanted || parent <= 1 ||
        (pid_t)iotide_syscall(SYS_getppid) != parent ||
        iotide_kernel_clock(CLOCK_MONOTONIC) - atomic_load(&host->collector_seen_ns) > MAX_UNSEEN_NS)
        return NULL;
    uint32_t number = atomic_fetch_add(&cells->begun, 1);
    int place = claim_cell(cells, iotide_own_pid, number);
    if (place < 0)
        return NULL;
    size_t cells_offset = align_page(layout_of_region(true).bytes);
    char *memory = (char *)host + cells_offset + (size_t)place * IOTIDE_CELL_BYTES;
    struct iotide_header *cell = (struct iotide_header *)memory;
    struct layout layout = {IOTIDE_CELL_BYTES, 1, IOTIDE_CELL_LINES, IOTIDE_CELL_LOG_BYTES, IOTIDE_CELL_SLOT_AT,
                            IOTIDE_CELL_LOG_AT, IOTIDE_CELL_RING_AT};
    (void)*(volatile uint64_t *)&cell->token; /* a fault that reads maps the cell's other pages, too */
    initialize_header(cell, 0, token, layout);
    atomic_store(&cells->cell[place].stage, ((number & 0x3fffffff) + 1) << 1); /* not 0 */
    return cell;
}

void iotide_mark_cell_left(struct iotide_header *host, const struct iotide_header *cell, bool left) {
    size_t cells_offset = align_page(layout_of_region(true).bytes);
    size_t place = ((size_t)((const char *)cell - (const char *)host) - cells_offset) / IOTIDE_CELL_BYTES;
    _Atomic uint32_t *stage = &cells_of(host)->cell[place].stage;
    atomic_store(stage, left ? atomic_load(stage) | 1 : atomic_load(stage) & ~1u);
}

/* Whether this user or root listens: another user may have created the path first. A process of root, which containers
 * have, reaches the collector of any user that its namespace knows. */
static bool is_trusted_listener(int connected) {
    struct ucred listener;
    socklen_t size = sizeof listener;
    if (iotide_syscall(SYS_getsockopt, connected, SOL_SOCKET, SO_PEERCRED, &listener, &size) != 0)
        return false;
    uid_t own = (uid_t)iotide_syscall(SYS_geteuid);
    return listener.uid == own || listener.uid == 0 || (own == 0 && listener.uid != UNKNOWN_USER);
}

/* A socket connected to the collector's, or -1 and the errno in *failure. */
static int connect_collector(int *failure) {
    *failure = 0;
    int collector_socket = (int)iotide_syscall(SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (collector_socket >= 0 && iotide_syscall(SYS_connect, collector_socket, &collector, sizeof collector) == 0) {
        if (is_trusted_listener(collector_socket))
            return collector_socket;
        errno = EACCES;
    }
    *failure = errno;
    if (collector_socket >= 0)
        iotide_syscall(SYS_close, collector_socket);
    return -1;
}

int iotide_probe_collector(void) {
    int failure, collector_socket = connect_collector(&failure);
    if (collector_socket >= 0)
        iotide_syscall(SYS_close, collector_socket);
    return failure;
}

void iotide_wake_collector(struct iotide_header *region) {
    uint32_t asleep = COLLECTOR_ASLEEP;
    if (atomic_load_explicit(&region->wakes, memory_order_relaxed) != COLLECTOR_ASLEEP || iotide_restricted() ||
        !atomic_compare_exchange_strong(&region->wakes, &asleep, COLLECTOR_AWAKE))
        return;
    int error = errno, failure = iotide_probe_collector();
    /* A process that cannot reach the collector from another root folder reports this: the collector then sleeps
     * less. */
    if (failure != 0 && failure != EAGAIN)
        atomic_store(&region->wakes, WAKES_NEVER);
    errno = error;
}

int iotide_hand_over(const struct iotide_header *region, int fd) {
    int failure, collector_socket = connect_collector(&failure);
    if (collector_socket < 0)
        return failure;
    struct iotide_hello hello = {IOTIDE_MAGIC, IOTIDE_LAYOUT, region->extent, region->region_bytes, region->token};
    struct iovec part = {&hello, sizeof hello};
    union {
        struct cmsghdr head;
        char space[CMSG_SPACE(sizeof(int))];
    } control;
    memset(&control, 0, sizeof control);
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.space, .msg_controllen = sizeof control.space};
    struct cmsghdr *rights = CMSG_FIRSTHDR(&message);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(rights), &fd, sizeof fd);
    if (iotide_syscall(SYS_sendmsg, collector_socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) != (long)sizeof hello)
        failure = errno;
    iotide_syscall(SYS_close, collector_socket);
    return failure;
}

bool iotide_report_untraced(int failure) {
    struct iotide_untraced_report word = {.magic = IOTIDE_MAGIC, .layout = IOTIDE_LAYOUT, .failure = failure};
    memcpy(word.job, job, sizeof word.job);
    memcpy(word.command, command, sizeof word.command - 1);
    /* Neither mount namespaces nor permissions apply to abstract addresses, which begin with a zero. */
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t length = strnlen(collector.sun_path, sizeof address.sun_path - 1);
    memcpy(address.sun_path + 1, collector.sun_path, length);
    int datagram_socket = (int)iotide_syscall(SYS_socket, AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (datagram_socket < 0)
        return false;
    size_t size = offsetof(struct sockaddr_un, sun_path) + 1 + length;
    long sent = iotide_syscall(SYS_sendto, datagram_socket, &word, sizeof word, MSG_NOSIGNAL | MSG_DONTWAIT, &address,
                               size);
    iotide_syscall(SYS_close, datagram_socket);
    return sent == (long)sizeof word;
}
