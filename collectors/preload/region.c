/* A region of shared memory: made, described, and handed over to the collector. */
#define _GNU_SOURCE
#include "region.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "tracer.h"

#define DEFAULT_RECORDS (1u << 16)

static struct sockaddr_un collector;
uint32_t iotide_ring_records = DEFAULT_RECORDS;

bool iotide_read_environment(void) {
    const char *path = getenv("IOTIDE_SOCKET");
    if (getauxval(AT_SECURE) || !path || !*path || strlen(path) >= sizeof collector.sun_path)
        return false;
    collector.sun_family = AF_UNIX;
    strcpy(collector.sun_path, path);
    const char *records = getenv("IOTIDE_RING_RECORDS");
    if (records) {
        unsigned long wanted = strtoul(records, NULL, 10);
        for (iotide_ring_records = 256; iotide_ring_records < wanted && iotide_ring_records < 1u << 22;)
            iotide_ring_records <<= 1;
    }
    return true;
}

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
    region->slot_count = IOTIDE_SLOTS;
    region->ring_records = iotide_ring_records;
    region->call_count = CALL_COUNT;
    region->log_bytes = (uint32_t)log_bytes;
    region->calls_offset = IOTIDE_HEADER_BYTES;
    region->slots_offset = align_page(region->calls_offset + sizeof iotide_calls);
    region->log_offset = align_page(region->slots_offset + IOTIDE_SLOTS * sizeof(struct iotide_slot));
    region->rings_offset = region->log_offset + log_bytes;
    region->pid = getpid();
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

struct iotide_header *iotide_make_region(uint32_t extent, uint64_t token, int *fd) {
    size_t log_bytes = extent == 0 ? IOTIDE_LOG_BYTES : 4096;
    size_t bytes = align_page(IOTIDE_HEADER_BYTES + sizeof iotide_calls) +
                   align_page(IOTIDE_SLOTS * sizeof(struct iotide_slot)) + log_bytes +
                   (size_t)IOTIDE_SLOTS * iotide_ring_records * sizeof(struct iotide_record);
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

int iotide_hand_over(const struct iotide_header *region, int fd) {
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
