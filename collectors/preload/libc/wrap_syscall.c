/* System calls that programs make by syscall(2), bypassing libc's functions. Those about files are recorded like the
 * functions, so descriptors that are opened and closed this way are tracked, too. */
#include "libc/wrap_close.h"
#include "libc/wrap_exec.h"
#include "recording/characters.h"
#include "tables/definitions.h"
#include "hooks/posix.h"
#include "libc/libc.h"
#include "libc/wrap_linux_aio.h"
#include "base/raw_syscall.h"
#include "recording/seccomp.h"
#include "state/state.h"
#include "libc/wrap_sendfile.h"
#include "sites_posix.h"

#include <linux/seccomp.h>
#include <stdarg.h>
#include <sys/prctl.h>

#define ARGUMENTS 6
#define RESULT 7

/* Meaning of a call's arguments: their numbers from 1, 0: none. */
struct form {
    struct iotide_site *site;
    uint8_t fd, directory, path, size, offset;
    uint8_t parts; /* a vector; its length is the next argument */
    uint8_t to, to_directory; /* a second path */
    uint8_t words[4]; /* in the order of the site's specification */
    bool positions;   /* its result is a position */
};

#define FORMS(FORM)                                                                                                    \
    FORM(read, READ, DATA, "read(fd:d,count:n)", .fd = 1, .size = 3)                                                   \
    FORM(write, WRITE, DATA, "write(fd:d,count:n)", .fd = 1, .size = 3)                                                \
    FORM(pread64, READ, DATA, "pread64(fd:d,count:n,offset:o)", .fd = 1, .size = 3, .offset = 4)                       \
    FORM(pwrite64, WRITE, DATA, "pwrite64(fd:d,count:n,offset:o)", .fd = 1, .size = 3, .offset = 4)                    \
    FORM(readv, READ, DATA, "readv(fd:d,parts_count:i)", .fd = 1, .parts = 2, .words = {3})                            \
    FORM(writev, WRITE, DATA, "writev(fd:d,parts_count:i)", .fd = 1, .parts = 2, .words = {3})                         \
    FORM(preadv, READ, DATA, "preadv(fd:d,parts_count:i,offset:o)", .fd = 1, .parts = 2, .offset = 4, .words = {3})    \
    FORM(pwritev, WRITE, DATA, "pwritev(fd:d,parts_count:i,offset:o)", .fd = 1, .parts = 2, .offset = 4, .words = {3}) \
    FORM(preadv2, READ, DATA, "preadv2(fd:d,parts_count:i,offset:o,flags:x)", .fd = 1, .parts = 2, .offset = 4,        \
         .words = {3, 6})                                                                                              \
    FORM(pwritev2, WRITE, DATA, "pwritev2(fd:d,parts_count:i,offset:o,flags:x)", .fd = 1, .parts = 2, .offset = 4,     \
         .words = {3, 6})                                                                                              \
    FORM(lseek, SEEK, SEEK, "lseek(fd:d,by:i,whence:e=SEEK_SET/SEEK_CUR/SEEK_END/SEEK_DATA/SEEK_HOLE)", .fd = 1,       \
         .words = {2, 3}, .positions = true)                                                                           \
    FORM(openat, CREATE, HANDLE, "openat(directory:i,path:f,flags:O,mode:m)=d", .directory = 1, .path = 2,             \
         .words = {1, 3, 4})                                                                                           \
    FORM(openat2, CREATE, HANDLE, "openat2(directory:i,path:f)=d", .directory = 1, .path = 2, .words = {1})            \
    FORM(memfd_create, CREATE, HANDLE, "memfd_create(flags:x)=d", .words = {2})                                        \
    FORM(io_uring_setup, CREATE, HANDLE, "io_uring_setup(entries:u)=d", .words = {1})                                  \
    FORM(io_uring_enter, OTHER, META, "io_uring_enter(fd:d,to_submit:u,min_complete:u,flags:x)=i", .fd = 1,            \
         .words = {2, 3, 4, RESULT})                                                                                   \
    FORM(close, DESTROY, HANDLE, "close(fd:d)", .fd = 1)                                                               \
    FORM(dup, DUPLICATE, HANDLE, "dup(fd:d)=i", .fd = 1, .words = {RESULT})                                            \
    FORM(dup3, DUPLICATE, HANDLE, "dup3(fd:d,to:i,flags:O)=i", .fd = 1, .words = {2, 3, RESULT})                       \
    FORM(fsync, SYNC, SYNC, "fsync(fd:d)", .fd = 1)                                                                    \
    FORM(fdatasync, SYNC, SYNC, "fdatasync(fd:d)", .fd = 1)                                                            \
    FORM(sync_file_range, SYNC, SYNC, "sync_file_range(fd:d,offset:o,length:i,flags:x)", .fd = 1, .offset = 2,         \
         .words = {3, 4})                                                                                              \
    FORM(ftruncate, OTHER, META, "ftruncate(fd:d,length:i)", .fd = 1, .words = {2})                                    \
    FORM(fallocate, OTHER, META, "fallocate(fd:d,mode:x,offset:o,length:i)", .fd = 1, .offset = 3, .words = {2, 4})    \
    FORM(getdents64, OTHER, META, "getdents64(fd:d,count:u)", .fd = 1, .words = {3})                                   \
    FORM(fstat, OTHER, META, "fstat(fd:d)", .fd = 1)                                                                   \
    FORM(statx, OTHER, META, "statx(directory:i,path:f,flags:x,mask:x)", .directory = 1, .path = 2,                    \
         .words = {1, 3, 4})                                                                                           \
    FORM(mkdirat, OTHER, META, "mkdirat(directory:i,path:f,mode:m)", .directory = 1, .path = 2, .words = {1, 3})       \
    FORM(unlinkat, DELETE, META, "unlinkat(directory:i,path:f,flags:x)", .directory = 1, .path = 2, .words = {1, 3})   \
    FORM(renameat2, OTHER, META, "renameat2(directory:i,path:f,to_directory:i,to:p,flags:x)", .directory = 1,          \
         .path = 2, .to_directory = 3, .to = 4, .words = {1, 3, 4, 5})                                                 \
    FORM(copy_file_range, WRITE, DATA, "copy_file_range(from:i,to:i,count:n,flags:x)", .size = 5, .words = {1, 3, 6})  \
    FORM(splice, WRITE, DATA, "splice(from:i,to:i,count:n,flags:x)", .size = 5, .words = {1, 3, 6})                    \
    FORM(sendfile, WRITE, DATA, "sendfile(to:i,from:i,count:n)", .size = 4, .words = {1, 2})                           \
    OLD_FORMS(FORM)

#ifdef SYS_open /* only on older architectures */
#define OLD_FORMS(FORM)                                                                                              \
    FORM(open, CREATE, HANDLE, "open(path:f,flags:O,mode:m)=d", .path = 1, .words = {2, 3})                          \
    FORM(creat, CREATE, HANDLE, "creat(path:f,mode:m)=d", .path = 1, .words = {2})                                   \
    FORM(dup2, DUPLICATE, HANDLE, "dup2(fd:d,to:i)=i", .fd = 1, .words = {2, RESULT})                                \
    FORM(stat, OTHER, META, "stat(path:f)", .path = 1)                                                               \
    FORM(lstat, OTHER, META, "lstat(path:f)", .path = 1)                                                             \
    FORM(newfstatat, OTHER, META, "fstatat(directory:i,path:f,flags:x)", .directory = 1, .path = 2, .words = {1, 4}) \
    FORM(mkdir, OTHER, META, "mkdir(path:f,mode:m)", .path = 1, .words = {2})                                        \
    FORM(rmdir, DELETE, META, "rmdir(path:f)", .path = 1)                                                            \
    FORM(unlink, DELETE, META, "unlink(path:f)", .path = 1)                                                          \
    FORM(rename, OTHER, META, "rename(path:f,to:p)", .path = 1, .to = 2, .words = {2})
#else
#define OLD_FORMS(FORM)
#endif

#define FORM(name, kind_, class_, spec_, ...)                                                                   \
    static struct iotide_site site_##name = {                                                                   \
        .layer = LAYER_POSIX, .kind = KIND_##kind_, .class = CLASS_##class_, SITE_TEXT("syscall", spec_)};      \
    static struct form form_##name = {.site = &site_##name, __VA_ARGS__};
FORMS(FORM)
#undef FORM

static struct form *form_of(long number) {
    switch (number) {
#define FORM(name, ...) \
    case SYS_##name: return &form_##name;
        FORMS(FORM)
#undef FORM
    default: return NULL;
    }
}

static long argument(const long *arguments, uint8_t number) {
    return arguments[number - 1];
}

static struct iotide_target target_of(const struct form *form, const long *arguments, long result) {
    int directory = form->directory ? (int)argument(arguments, form->directory) : AT_FDCWD;
    const char *path = form->path ? (const char *)argument(arguments, form->path) : NULL;
    if (form->site->kind == KIND_CREATE)
        return iotide_register_open((int)result, directory, path);
    if (form->fd)
        return iotide_descriptor_target((int)argument(arguments, form->fd));
    bool named = path && (result != -1 || iotide_is_path(path, errno));
    return (struct iotide_target){0, named ? iotide_file_at(directory, path) : 0};
}

static uint64_t word_of(const struct form *form, const long *arguments, uint8_t number, long result) {
    if (number == RESULT)
        return (uint64_t)result;
    long given = argument(arguments, number);
    if (number == form->directory || number == form->to_directory)
        return (uint64_t)(int)given; /* programs often pass only 32 bits */
    if (number != form->to)
        return (uint64_t)given;
    const char *path = (const char *)given;
    int directory = form->to_directory ? (int)argument(arguments, form->to_directory) : AT_FDCWD;
    return result != -1 || iotide_is_text(path) ? iotide_file_word(iotide_file_at(directory, path)) : 0;
}

static void record_syscall(struct iotide_span span, struct form *form, const long *arguments, long result,
                           const struct iotide_target *closed) {
    struct iotide_target target = closed ? *closed : target_of(form, arguments, result);
    bool creates = form->site->kind == KIND_CREATE;
    int fd = creates ? (int)result : form->fd ? (int)argument(arguments, form->fd) : -1;
    struct iotide_facts facts = iotide_facts(form->site, target, fd, result == -1);
    if (form->size)
        facts.requested = argument(arguments, form->size);
    if (form->parts && result != -1)
        facts.requested = iotide_iovec_bytes((const struct iovec *)argument(arguments, form->parts),
                                             (uint64_t)argument(arguments, form->parts + 1));
    if (form->site->class == CLASS_DATA)
        facts.bytes = result;
    if (form->offset)
        facts.offset = argument(arguments, form->offset);
    if (form->positions)
        facts.offset = result;
    uint64_t words[sizeof form->words];
    unsigned int count = 0;
    for (; count < sizeof form->words && form->words[count]; count++)
        words[count] = word_of(form, arguments, form->words[count], result);
    iotide_leave(span, form->site, facts, words, count);
}

/* Between two descriptors. */
static void record_transfer(struct iotide_span span, struct form *form, long number, const long *arguments,
                            long result) {
    struct iotide_transfer_end from, to;
    if (number == SYS_sendfile) {
        to = (struct iotide_transfer_end){(int)arguments[0], NULL};
        from = (struct iotide_transfer_end){(int)arguments[1], (const off64_t *)arguments[2]};
    } else {
        from = (struct iotide_transfer_end){(int)arguments[0], (const off64_t *)arguments[1]};
        to = (struct iotide_transfer_end){(int)arguments[2], (const off64_t *)arguments[3]};
    }
    uint64_t words[sizeof form->words];
    unsigned int count = 0;
    for (; count < sizeof form->words && form->words[count]; count++)
        words[count] = (uint64_t)argument(arguments, form->words[count]);
    iotide_record_transfer(span, form->site, from, to, (size_t)argument(arguments, form->size), result, words, count);
}

static long call_and_record(struct form *form, long number, const long *a) {
    uint8_t kind = form->site->kind;
    struct iotide_span span = iotide_enter(form->site);
    struct iotide_target closed = {0, 0};
    if (kind == KIND_DESTROY && iotide_tracks_descriptors())
        closed = iotide_unregister_descriptor((int)argument(a, form->fd));
    long result = REAL(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    if (kind == KIND_DUPLICATE) {
        uint64_t words[] = {(uint64_t)a[1], (uint64_t)a[2], 0};
        unsigned int count = number == SYS_dup ? 1 : number == SYS_dup3 ? 3 : 2;
        return iotide_record_duplicate(span, form->site, (int)a[0], (int)result, words, count);
    }
    bool changes = kind == KIND_CREATE || kind == KIND_DESTROY;
    if (!span.start_ns || (changes && !iotide_same_process()) || (kind == KIND_DESTROY && !closed.handle))
        return result;
    iotide_end_span(&span);
    if (!form->fd && form->site->class == CLASS_DATA)
        record_transfer(span, form, number, a, result);
    else
        record_syscall(span, form, a, result, kind == KIND_DESTROY ? &closed : NULL);
    return result;
}

/* ---- asynchronous ---- */

static long aio_submit(long number, const long *a) {
    struct iotide_aio_ring_end look = iotide_aio_ring_end((aio_context_t)a[0]);
    struct iotide_span span = iotide_enter(iotide_aio_site(AIO_SUBMIT));
    long result = REAL(syscall)(number, a[0], a[1], a[2]);
    iotide_aio_record_submit(span, (aio_context_t)a[0], look, (struct iocb *const *)a[2],
                             result == -1 ? -errno : result);
    return result;
}

static long aio_reap(long number, const long *a) {
    struct iotide_span span = iotide_enter(iotide_aio_site(AIO_REAP));
    long result = REAL(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    iotide_aio_record_reap(span, a[1], (const struct io_event *)a[3], result == -1 ? -errno : result);
    return result;
}

static long aio_destroy(long number, const long *a) {
    iotide_aio_record_destroy(iotide_enter(iotide_aio_site(AIO_DESTROY)), (aio_context_t)a[0]);
    return REAL(syscall)(number, a[0]);
}

/* ---- a program restricts itself ---- */

enum { UNRESTRICTED, FILTERED, BLIND }; /* blind: only read, write and exit are allowed; not even the processor's
                                         * ticks */

/* Before the call, because the filter may forbid the tracer's system calls; programs also try filters
 * unsuccessfully. */
static long restrict_process(int to, long number, const long *a) {
    bool was = iotide_restricted();
    if (to == FILTERED && !was)
        iotide_restrict(true);
    long result = REAL(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    if (result != -1 && to == BLIND) {
        iotide_define_unseen(UNSEEN_SANDBOXED, NULL);
        iotide_disable_tracing();
    } else if (result == -1 && to == FILTERED && !was) {
        iotide_restrict(false);
    }
    return result;
}

static int requested_restriction(long number, const long *a) {
    if (number == SYS_prctl && a[0] == PR_SET_SECCOMP)
        return a[1] == SECCOMP_MODE_STRICT ? BLIND : FILTERED;
    if (number == SYS_prctl && a[0] == PR_SET_TSC)
        return a[1] == PR_TSC_SIGSEGV ? BLIND : UNRESTRICTED;
    if (number == SYS_seccomp && a[0] == SECCOMP_SET_MODE_STRICT)
        return BLIND;
    return number == SYS_seccomp && a[0] == SECCOMP_SET_MODE_FILTER ? FILTERED : UNRESTRICTED;
}

EXPORT long syscall(long number, ...) {
    long a[ARGUMENTS];
    va_list given;
    va_start(given, number);
    for (int i = 0; i < ARGUMENTS; i++)
        a[i] = va_arg(given, long);
    va_end(given);
    if (number == SYS_execve || number == SYS_execveat)
        return iotide_exec_by_syscall(number, a);
    if (number == SYS_exit_group)
        iotide_record_all_characters(false);
    struct form *form = form_of(number);
    if (form)
        return call_and_record(form, number, a);
    if (!iotide_aio_in_libaio()) {
        switch (number) {
        case SYS_io_submit: return aio_submit(number, a);
        case SYS_io_getevents:
        case SYS_io_pgetevents: return aio_reap(number, a);
        case SYS_io_destroy: return aio_destroy(number, a);
        default: break;
        }
    }
    int to = iotide_is_tracing() ? requested_restriction(number, a) : UNRESTRICTED;
    return to ? restrict_process(to, number, a) : REAL(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

static struct iotide_site SITE(prctl) = {SITE_TEXT("prctl", "")};

EXPORT int prctl(int option, ...) {
    long a[ARGUMENTS] = {option};
    va_list given;
    va_start(given, option);
    for (int i = 1; i < 5; i++)
        a[i] = va_arg(given, long);
    va_end(given);
    int to = iotide_is_tracing() ? requested_restriction(SYS_prctl, a) : UNRESTRICTED;
    return to ? (int)restrict_process(to, SYS_prctl, a) : REAL(prctl)(option, a[1], a[2], a[3], a[4]);
}
