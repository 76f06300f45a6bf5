# The POSIX calls of glibc: system calls on files, pipes and sockets.
# Variants (64-bit, fortified, old binary interface) share the name of the underlying call.
library posix
layer POSIX
anchor libc
fails result == -1
error errno
type iotide_filter = int (*)(const struct dirent *)
type iotide_filter64 = int (*)(const struct dirent64 *)
type iotide_order = int (*)(const struct dirent **, const struct dirent **)
type iotide_order64 = int (*)(const struct dirent64 **, const struct dirent64 **)
type iotide_glob_error = int (*)(const char *, int)
include <aio.h>
include <dirent.h>
include <fcntl.h>
include <ftw.h>
include <glob.h>
include <signal.h>
include <stdio.h>
include <stdlib.h>
include <sys/epoll.h>
include <sys/eventfd.h>
include <sys/fanotify.h>
include <sys/file.h>
include <sys/inotify.h>
include <sys/ioctl.h>
include <sys/mman.h>
include <sys/sendfile.h>
include <sys/signalfd.h>
include <sys/socket.h>
include <sys/stat.h>
include <sys/statfs.h>
include <sys/statvfs.h>
include <sys/time.h>
include <sys/timerfd.h>
include <sys/uio.h>
include <sys/xattr.h>
include <unistd.h>
include <utime.h>

# ---- open ----

CREATE int open|open64|__open|__open64(const char *path: path, int flags: flags, ...) -> fd
    extra mode: mode = 0
    custom
CREATE int openat|openat64(int directory: dirfd, const char *path: path, int flags: flags, ...) -> fd
    extra mode: mode = 0
    custom
CREATE int __open_2|__open64_2(const char *path: path, int flags: flags) -> fd
    name = open
CREATE int __openat_2|__openat64_2(int directory: dirfd, const char *path: path, int flags: flags) -> fd
    name = openat
CREATE int creat|creat64(const char *path: path, mode_t mode: mode) -> fd
CREATE int open_by_handle_at(int mount: int, struct file_handle *handle, int flags: flags) -> fd
OTHER int name_to_handle_at(int directory: dirfd, const char *path: path, struct file_handle *handle, int *mount_id,
                            int flags: hex)
CREATE int mkstemp|mkstemp64(char *pattern: path) -> fd
CREATE int mkostemp|mkostemp64(char *pattern: path, int flags: flags) -> fd
CREATE int mkstemps|mkstemps64(char *pattern: path, int suffix: int) -> fd
CREATE int mkostemps|mkostemps64(char *pattern: path, int suffix: int, int flags: flags) -> fd
CREATE int posix_openpt(int flags: flags) -> fd
CREATE int getpt(void) -> fd
CREATE int memfd_create(const char *name: text, unsigned int flags: hex) -> fd
CREATE int shm_open(const char *name: text, int flags: flags, mode_t mode: mode) -> fd

# ---- descriptors without a file ----

CREATE int pipe|__pipe(int *ends: opaque) -> fd
    custom
CREATE int pipe2(int *ends: opaque, int flags: flags) -> fd
    custom
CREATE int eventfd(unsigned int count: uint, int flags: hex) -> fd
CREATE int epoll_create(int size: int) -> fd
CREATE int epoll_create1(int flags: hex) -> fd
CREATE int timerfd_create(clockid_t clock: int, int flags: hex) -> fd
CREATE int signalfd(int fd: int, const sigset_t *mask, int flags: hex) -> fd
    custom
CREATE int fanotify_init(unsigned int flags: hex, unsigned int event_flags: hex) -> fd
CREATE int inotify_init(void) -> fd
CREATE int inotify_init1(int flags: hex) -> fd
OTHER int inotify_add_watch(int fd: fd, const char *path: path, uint32_t mask: hex) -> id
OTHER int inotify_rm_watch(int fd: fd, int watch: int)
CREATE int pidfd_open(pid_t pid: int, unsigned int flags: hex) -> fd
CREATE int pidfd_getfd(int pidfd: int, int fd: int, unsigned int flags: hex) -> fd
CREATE int socket|__socket(int domain: int, int type: hex, int protocol: int) -> fd
CREATE int socketpair(int domain: int, int type: hex, int protocol: int, int *ends: opaque) -> fd
    custom
CREATE int accept(int listener: int, __SOCKADDR_ARG address: opaque, socklen_t *length) -> fd
CREATE int accept4(int listener: int, __SOCKADDR_ARG address: opaque, socklen_t *length, int flags: hex) -> fd

# ---- close and duplicate: written by hand, because descriptors must be tracked even if these calls are switched off ----

DESTROY int close|__close(int fd: fd)
    custom
DESTROY int close_range(unsigned int first: uint, unsigned int last: uint, int flags: hex)
    custom
DESTROY void closefrom(int first: int)
    custom
DUPLICATE int dup(int fd: fd) -> id
    custom
DUPLICATE int dup2|__dup2(int fd: fd, int to: int) -> id
    custom
DUPLICATE int dup3(int fd: fd, int to: int, int flags: flags) -> id
    custom
CHANGE_FLAGS int fcntl|fcntl64|__fcntl(int fd: fd,
                            int command: enum{F_DUPFD/F_GETFD/F_SETFD/F_GETFL/F_SETFL/F_GETLK/F_SETLK/F_SETLKW/
                            F_SETOWN/F_GETOWN/F_SETSIG/F_GETSIG////F_SETOWN_EX/F_GETOWN_EX/F_OFD_GETLK/F_OFD_SETLK/
                            F_OFD_SETLKW/F_SETLEASE/F_GETLEASE/F_NOTIFY/F_DUPFD_CLOEXEC/F_SETPIPE_SZ/F_GETPIPE_SZ/
                            F_ADD_SEALS/F_GET_SEALS},
                            ...) -> id
    extra argument: hex = 0
    class = meta
    custom
OTHER int ioctl(int fd: fd, unsigned long request: hex, ...) -> id
    custom
OTHER long syscall(long number: int, ...) -> id
    custom

# ---- read and write ----

READ ssize_t read|__read(int fd: fd, void *to, size_t count: size) -> bytes
READ ssize_t __read_chk(int fd: fd, void *to, size_t count: size, size_t room: opaque) -> bytes
    name = read
WRITE ssize_t write|__write(int fd: fd, const void *from, size_t count: size) -> bytes
READ ssize_t pread64|pread|__pread64(int fd: fd, void *to, size_t count: size, off_t offset: offset) -> bytes
READ ssize_t __pread_chk|__pread64_chk(int fd: fd, void *to, size_t count: size, off_t offset: offset,
                                       size_t room: opaque) -> bytes
    name = pread64
WRITE ssize_t pwrite64|pwrite|__pwrite64(int fd: fd, const void *from, size_t count: size,
                                        off_t offset: offset) -> bytes
READ ssize_t readv(int fd: fd, const struct iovec *parts, int parts_count: int) -> bytes
    requested = failed ? 0 : iotide_iovec_bytes(parts, (uint64_t)parts_count)
WRITE ssize_t writev(int fd: fd, const struct iovec *parts, int parts_count: int) -> bytes
    requested = failed ? 0 : iotide_iovec_bytes(parts, (uint64_t)parts_count)
READ ssize_t preadv|preadv64(int fd: fd, const struct iovec *parts, int parts_count: int, off_t offset: offset) -> bytes
    requested = failed ? 0 : iotide_iovec_bytes(parts, (uint64_t)parts_count)
WRITE ssize_t pwritev|pwritev64(int fd: fd, const struct iovec *parts, int parts_count: int,
                                off_t offset: offset) -> bytes
    requested = failed ? 0 : iotide_iovec_bytes(parts, (uint64_t)parts_count)
READ ssize_t preadv2|preadv64v2(int fd: fd, const struct iovec *parts, int parts_count: int, off_t offset: offset,
                                int flags: hex) -> bytes
    requested = failed ? 0 : iotide_iovec_bytes(parts, (uint64_t)parts_count)
WRITE ssize_t pwritev2|pwritev64v2(int fd: fd, const struct iovec *parts, int parts_count: int, off_t offset: offset,
                                   int flags: hex) -> bytes
    requested = failed ? 0 : iotide_iovec_bytes(parts, (uint64_t)parts_count)
READ int eventfd_read(int fd: fd, eventfd_t *value)
    requested = 8
    bytes = requested
WRITE int eventfd_write(int fd: fd, eventfd_t value: uint)
    requested = 8
    bytes = requested

# ---- between descriptors: a read from one and a write to the other ----

WRITE ssize_t sendfile|sendfile64(int to: int, int from: int, off_t *offset, size_t count: size) -> bytes
    custom
WRITE ssize_t copy_file_range(int from: int, off64_t *from_offset, int to: int, off64_t *to_offset, size_t count: size,
                              unsigned int flags: hex) -> bytes
    custom
WRITE ssize_t splice(int from: int, off64_t *from_offset, int to: int, off64_t *to_offset, size_t count: size,
                     unsigned int flags: hex) -> bytes
    custom
WRITE ssize_t tee(int from: int, int to: int, size_t count: size, unsigned int flags: hex) -> bytes
    custom
WRITE ssize_t vmsplice(int fd: fd, const struct iovec *parts, size_t parts_count: uint,
                       unsigned int flags: hex) -> bytes
    requested = failed ? 0 : iotide_iovec_bytes(parts, parts_count)

# ---- sockets ----

OTHER int bind(int fd: fd, __CONST_SOCKADDR_ARG address: opaque, socklen_t length: uint)
OTHER int listen(int fd: fd, int backlog: int)
OTHER int connect|__connect(int fd: fd, __CONST_SOCKADDR_ARG address: opaque, socklen_t length: uint)
    after = if (!failed || error_ == EINPROGRESS) iotide_register_connect(fd)
OTHER int shutdown(int fd: fd, int how: enum{SHUT_RD/SHUT_WR/SHUT_RDWR})
OTHER int getsockopt(int fd: fd, int level: int, int option: int, void *value, socklen_t *length)
OTHER int setsockopt(int fd: fd, int level: int, int option: int, const void *value, socklen_t length: uint)
OTHER int getsockname(int fd: fd, __SOCKADDR_ARG address: opaque, socklen_t *length)
OTHER int getpeername(int fd: fd, __SOCKADDR_ARG address: opaque, socklen_t *length)
WRITE ssize_t send|__send(int fd: fd, const void *from, size_t count: size, int flags: hex) -> bytes
WRITE ssize_t sendto(int fd: fd, const void *from, size_t count: size, int flags: hex,
                     __CONST_SOCKADDR_ARG address: opaque, socklen_t length: uint) -> bytes
WRITE ssize_t sendmsg(int fd: fd, const struct msghdr *message, int flags: hex) -> bytes
    requested = failed ? 0 : iotide_message_bytes(message)
WRITE int sendmmsg|__sendmmsg(int fd: fd, struct mmsghdr *messages, unsigned int messages_count: uint,
                              int flags: hex) -> id
    requested = failed ? 0 : iotide_messages_bytes(messages, result)
    bytes = iotide_messages_moved_bytes(messages, result)
READ ssize_t recv|__recv(int fd: fd, void *to, size_t count: size, int flags: hex) -> bytes
READ ssize_t __recv_chk(int fd: fd, void *to, size_t count: size, size_t room: opaque, int flags: hex) -> bytes
    name = recv
READ ssize_t recvfrom(int fd: fd, void *to, size_t count: size, int flags: hex, __SOCKADDR_ARG address: opaque,
                      socklen_t *length) -> bytes
READ ssize_t __recvfrom_chk(int fd: fd, void *to, size_t count: size, size_t room: opaque, int flags: hex,
                            __SOCKADDR_ARG address: opaque, socklen_t *length) -> bytes
    name = recvfrom
READ ssize_t recvmsg(int fd: fd, struct msghdr *message, int flags: hex) -> bytes
    requested = failed ? 0 : iotide_message_bytes(message)
READ int recvmmsg(int fd: fd, struct mmsghdr *messages, unsigned int messages_count: uint, int flags: hex,
                  struct timespec *timeout) -> id
    requested = failed ? 0 : iotide_messages_bytes(messages, result)
    bytes = iotide_messages_moved_bytes(messages, result)

# ---- position, size and space ----

SEEK off_t lseek|lseek64|__lseek(int fd: fd, off_t by: int,
                                        int whence: enum{SEEK_SET/SEEK_CUR/SEEK_END/SEEK_DATA/SEEK_HOLE})
    offset = result
OTHER int truncate|truncate64(const char *path: path, off_t length: int)
OTHER int ftruncate|ftruncate64(int fd: fd, off_t length: int)
OTHER int fallocate|fallocate64(int fd: fd, int mode: hex, off_t offset: offset, off_t length: int)
OTHER int posix_fallocate|posix_fallocate64(int fd: fd, off_t offset: offset, off_t length: int)
    failed = result != 0
    error = result
CHANGE_FLAGS int posix_fadvise|posix_fadvise64(int fd: fd, off_t offset: offset, off_t length: int,
                                        int advice: enum{POSIX_FADV_NORMAL/POSIX_FADV_RANDOM/POSIX_FADV_SEQUENTIAL/
                            POSIX_FADV_WILLNEED/POSIX_FADV_DONTNEED/POSIX_FADV_NOREUSE})
    failed = result != 0
    error = result
OTHER ssize_t readahead(int fd: fd, off64_t offset: offset, size_t count: uint)
CHANGE_FLAGS int flock(int fd: fd, int operation: hex)
CHANGE_FLAGS int lockf|lockf64(int fd: fd, int command: enum{F_ULOCK/F_LOCK/F_TLOCK/F_TEST}, off_t length: int)

# ---- sync ----

SYNC int fsync(int fd: fd)
SYNC int fdatasync(int fd: fd)
SYNC int syncfs(int fd: fd)
SYNC int sync_file_range(int fd: fd, off64_t offset: offset, off64_t length: int, unsigned int flags: hex)
SYNC void sync(void)
    failed = false

# ---- memory-mapped files: written by hand, because most of these calls are for memory without a file ----

OTHER void *mmap|mmap64(void *address: opaque, size_t length: size, int protection: hex, int flags: hex, int fd: fd,
                        off_t offset: offset)
    custom
OTHER int munmap(void *address: opaque, size_t length: size)
    custom
OTHER void *mremap(void *address: opaque, size_t length: size, size_t new_length: uint, int flags: hex)
    custom
SYNC int msync(void *address: opaque, size_t length: size, int flags: hex)
    custom
DELETE int shm_unlink(const char *name: text)
    file = failed && !iotide_is_text(name) ? 0 : iotide_shared_file(name)

# ---- asynchronous: begun by one call and completed by another, on any thread ----

READ int aio_read(struct aiocb *block)
    extra fd: int = 0
    extra count: uint = 0
    extra id: uint = 0
    custom
READ int aio_read64(struct aiocb64 *block)
    name = aio_read
    extra fd: int = 0
    extra count: uint = 0
    extra id: uint = 0
    custom
WRITE int aio_write(struct aiocb *block)
    extra fd: int = 0
    extra count: uint = 0
    extra id: uint = 0
    custom
WRITE int aio_write64(struct aiocb64 *block)
    name = aio_write
    extra fd: int = 0
    extra count: uint = 0
    extra id: uint = 0
    custom
SYNC int aio_fsync(int operation: flags, struct aiocb *block)
    extra fd: int = 0
    extra id: uint = 0
    custom
SYNC int aio_fsync64(int operation: flags, struct aiocb64 *block)
    name = aio_fsync
    extra fd: int = 0
    extra id: uint = 0
    custom
OTHER int aio_error(const struct aiocb *block) -> id
    extra id: uint = 0
    custom
OTHER int aio_error64(const struct aiocb64 *block) -> id
    name = aio_error
    extra id: uint = 0
    custom
OTHER ssize_t aio_return(struct aiocb *block) -> id
    extra id: uint = 0
    custom
OTHER ssize_t aio_return64(struct aiocb64 *block) -> id
    name = aio_return
    extra id: uint = 0
    custom
OTHER int aio_suspend(const struct aiocb *const *blocks, int count: int, const struct timespec *timeout)
OTHER int aio_suspend64(const struct aiocb64 *const *blocks, int count: int, const struct timespec *timeout)
    name = aio_suspend
OTHER int aio_cancel(int fd: fd, struct aiocb *block) -> id
    extra id: uint = 0
    custom
OTHER int aio_cancel64(int fd: fd, struct aiocb64 *block) -> id
    name = aio_cancel
    extra id: uint = 0
    custom
OTHER int lio_listio(int mode: enum{LIO_WAIT/LIO_NOWAIT}, struct aiocb *const *blocks, int count: int,
                            struct sigevent *event)
    extra fd: int = 0
    extra size: uint = 0
    extra id: uint = 0
    custom
OTHER int lio_listio64(int mode: enum{LIO_WAIT/LIO_NOWAIT}, struct aiocb64 *const *blocks, int count: int,
                            struct sigevent *event)
    name = lio_listio
    extra fd: int = 0
    extra size: uint = 0
    extra id: uint = 0
    custom

# ---- names ----

DELETE int unlink(const char *path: path)
DELETE int unlinkat(int directory: dirfd, const char *path: path, int flags: hex)
DELETE int remove(const char *path: path)
DELETE int rmdir(const char *path: path)
OTHER int rename(const char *path: path, const char *to: path)
OTHER int renameat(int directory: dirfd, const char *path: path, int to_directory: dirfd, const char *to: path)
OTHER int renameat2(int directory: dirfd, const char *path: path, int to_directory: dirfd, const char *to: path,
                    unsigned int flags: hex)
OTHER int link(const char *path: path, const char *to: path)
OTHER int linkat(int directory: dirfd, const char *path: path, int to_directory: dirfd, const char *to: path,
                 int flags: hex)
OTHER int symlink(const char *target: text, const char *path: path)
OTHER int symlinkat(const char *target: text, int directory: dirfd, const char *path: path)
OTHER ssize_t readlink(const char *path: path, char *to, size_t size: uint)
    file = iotide_readlink_file(failed, AT_FDCWD, path, size)
OTHER ssize_t __readlink_chk(const char *path: path, char *to, size_t size: uint, size_t room: opaque)
    name = readlink
    file = iotide_readlink_file(failed, AT_FDCWD, path, size)
OTHER ssize_t readlinkat(int directory: dirfd, const char *path: path, char *to, size_t size: uint)
    file = iotide_readlink_file(failed, directory, path, size)
OTHER ssize_t __readlinkat_chk(int directory: dirfd, const char *path: path, char *to, size_t size: uint,
                               size_t room: opaque)
    name = readlinkat
    file = iotide_readlink_file(failed, directory, path, size)
OTHER char *realpath(const char *path: path, char *to: opaque)
    failed = result == NULL
OTHER char *__realpath_chk(const char *path: path, char *to: opaque, size_t room: opaque)
    name = realpath
    failed = result == NULL
OTHER char *canonicalize_file_name(const char *path: path)
    failed = result == NULL
OTHER int mkdir(const char *path: path, mode_t mode: mode)
OTHER int mkdirat(int directory: dirfd, const char *path: path, mode_t mode: mode)
OTHER char *mkdtemp(char *pattern: path)
    failed = result == NULL
OTHER int mknod(const char *path: path, mode_t mode: mode, dev_t device: hex)
OTHER int mknodat(int directory: dirfd, const char *path: path, mode_t mode: mode, dev_t device: hex)
OTHER int __xmknod(int version: opaque, const char *path: path, mode_t mode: mode, dev_t *device)
    name = mknod
OTHER int __xmknodat(int version: opaque, int directory: dirfd, const char *path: path, mode_t mode: mode,
                     dev_t *device)
    name = mknodat
OTHER int mkfifo(const char *path: path, mode_t mode: mode)
OTHER int mkfifoat(int directory: dirfd, const char *path: path, mode_t mode: mode)

# ---- metadata of files ----

OTHER int stat(const char *path: path, struct stat *to)
OTHER int stat64(const char *path: path, struct stat64 *to)
    name = stat
OTHER int lstat(const char *path: path, struct stat *to)
OTHER int lstat64(const char *path: path, struct stat64 *to)
    name = lstat
OTHER int fstat(int fd: fd, struct stat *to)
OTHER int fstat64(int fd: fd, struct stat64 *to)
    name = fstat
OTHER int fstatat(int directory: dirfd, const char *path: path, struct stat *to, int flags: hex)
OTHER int fstatat64(int directory: dirfd, const char *path: path, struct stat64 *to, int flags: hex)
    name = fstatat
OTHER int __xstat(int version: opaque, const char *path: path, struct stat *to)
    name = stat
OTHER int __xstat64(int version: opaque, const char *path: path, struct stat64 *to)
    name = stat
OTHER int __lxstat(int version: opaque, const char *path: path, struct stat *to)
    name = lstat
OTHER int __lxstat64(int version: opaque, const char *path: path, struct stat64 *to)
    name = lstat
OTHER int __fxstat(int version: opaque, int fd: fd, struct stat *to)
    name = fstat
OTHER int __fxstat64(int version: opaque, int fd: fd, struct stat64 *to)
    name = fstat
OTHER int __fxstatat(int version: opaque, int directory: dirfd, const char *path: path, struct stat *to, int flags: hex)
    name = fstatat
OTHER int __fxstatat64(int version: opaque, int directory: dirfd, const char *path: path, struct stat64 *to,
                       int flags: hex)
    name = fstatat
OTHER int statx(int directory: dirfd, const char *path: path, int flags: hex, unsigned int mask: hex, struct statx *to)
OTHER int statfs|__statfs(const char *path: path, struct statfs *to)
OTHER int statfs64(const char *path: path, struct statfs64 *to)
    name = statfs
OTHER int fstatfs(int fd: fd, struct statfs *to)
OTHER int fstatfs64(int fd: fd, struct statfs64 *to)
    name = fstatfs
OTHER int statvfs(const char *path: path, struct statvfs *to)
OTHER int statvfs64(const char *path: path, struct statvfs64 *to)
    name = statvfs
OTHER int fstatvfs(int fd: fd, struct statvfs *to)
OTHER int fstatvfs64(int fd: fd, struct statvfs64 *to)
    name = fstatvfs
OTHER long pathconf(const char *path: path, int name: int)
    failed = false
OTHER long fpathconf(int fd: fd, int name: int)
    failed = false
OTHER int access(const char *path: path, int mode: hex)
OTHER int eaccess|euidaccess(const char *path: path, int mode: hex)
OTHER int faccessat(int directory: dirfd, const char *path: path, int mode: hex, int flags: hex)
OTHER int isatty(int fd: fd)
    failed = result == 0
OTHER int chmod(const char *path: path, mode_t mode: mode)
OTHER int lchmod(const char *path: path, mode_t mode: mode)
OTHER int fchmod(int fd: fd, mode_t mode: mode)
OTHER int fchmodat(int directory: dirfd, const char *path: path, mode_t mode: mode, int flags: hex)
OTHER int chown(const char *path: path, uid_t owner: int, gid_t group: int)
OTHER int lchown(const char *path: path, uid_t owner: int, gid_t group: int)
OTHER int fchown(int fd: fd, uid_t owner: int, gid_t group: int)
OTHER int fchownat(int directory: dirfd, const char *path: path, uid_t owner: int, gid_t group: int, int flags: hex)
OTHER int utime(const char *path: path, const struct utimbuf *times)
OTHER int utimes(const char *path: path, const struct timeval times[2])
OTHER int lutimes(const char *path: path, const struct timeval times[2])
OTHER int futimes(int fd: fd, const struct timeval times[2])
OTHER int futimesat(int directory: dirfd, const char *path: path, const struct timeval times[2])
OTHER int utimensat(int directory: dirfd, const char *path: path, const struct timespec times[2], int flags: hex)
OTHER int futimens(int fd: fd, const struct timespec times[2])
OTHER int setxattr(const char *path: path, const char *name: text, const void *value, size_t size: uint, int flags: hex)
OTHER int lsetxattr(const char *path: path, const char *name: text, const void *value, size_t size: uint,
                    int flags: hex)
OTHER int fsetxattr(int fd: fd, const char *name: text, const void *value, size_t size: uint, int flags: hex)
OTHER ssize_t getxattr(const char *path: path, const char *name: text, void *value, size_t size: uint)
OTHER ssize_t lgetxattr(const char *path: path, const char *name: text, void *value, size_t size: uint)
OTHER ssize_t fgetxattr(int fd: fd, const char *name: text, void *value, size_t size: uint)
OTHER ssize_t listxattr(const char *path: path, char *list, size_t size: uint)
OTHER ssize_t llistxattr(const char *path: path, char *list, size_t size: uint)
OTHER ssize_t flistxattr(int fd: fd, char *list, size_t size: uint)
OTHER int removexattr(const char *path: path, const char *name: text)
OTHER int lremovexattr(const char *path: path, const char *name: text)
OTHER int fremovexattr(int fd: fd, const char *name: text)

# ---- directories ----

OTHER int chdir(const char *path: path)
    file = iotide_changed_directory(failed, path)
OTHER int fchdir(int fd: fd)
    after = iotide_clear_saved_directory()
OTHER int chroot(const char *path: path)
OTHER mode_t umask(mode_t mask: mode)
    failed = false
OTHER char *getcwd(char *to: opaque, size_t size: uint)
    failed = result == NULL
OTHER char *__getcwd_chk(char *to: opaque, size_t size: uint, size_t room: opaque)
    name = getcwd
    failed = result == NULL
OTHER char *getwd(char *to: opaque)
    failed = result == NULL
OTHER char *__getwd_chk(char *to: opaque, size_t room: opaque)
    name = getwd
    failed = result == NULL
OTHER char *get_current_dir_name(void)
    failed = result == NULL
CREATE DIR *opendir(const char *path: path)
    custom
CREATE DIR *fdopendir(int fd: fd)
    custom
DESTROY int closedir(DIR *directory)
    custom
OTHER struct dirent *readdir(DIR *directory)
    custom
OTHER struct dirent64 *readdir64(DIR *directory)
    name = readdir
    custom
OTHER int readdir_r(DIR *directory, struct dirent *entry, struct dirent **result_entry)
    custom
OTHER int readdir64_r(DIR *directory, struct dirent64 *entry, struct dirent64 **result_entry)
    name = readdir_r
    custom
SEEK void rewinddir(DIR *directory)
    custom
SEEK void seekdir(DIR *directory, long position: int)
    custom
OTHER long telldir(DIR *directory)
    custom
OTHER ssize_t getdents64(int fd: fd, void *to, size_t count: uint)
OTHER ssize_t getdirentries|getdirentries64(int fd: fd, char *to, size_t count: uint, off_t *base)
OTHER int scandir(const char *path: path, struct dirent ***entries, iotide_filter filter: opaque,
                  iotide_order order: opaque)
OTHER int scandir64(const char *path: path, struct dirent64 ***entries, iotide_filter64 filter: opaque,
                    iotide_order64 order: opaque)
    name = scandir
OTHER int scandirat(int directory: dirfd, const char *path: path, struct dirent ***entries,
                    iotide_filter filter: opaque, iotide_order order: opaque)
OTHER int scandirat64(int directory: dirfd, const char *path: path, struct dirent64 ***entries,
                      iotide_filter64 filter: opaque, iotide_order64 order: opaque)
    name = scandirat
OTHER int ftw(const char *path: path, __ftw_func_t visit: opaque, int descriptors: int)
OTHER int ftw64(const char *path: path, __ftw64_func_t visit: opaque, int descriptors: int)
    name = ftw
OTHER int nftw(const char *path: path, __nftw_func_t visit: opaque, int descriptors: int, int flags: hex)
OTHER int nftw64(const char *path: path, __nftw64_func_t visit: opaque, int descriptors: int, int flags: hex)
    name = nftw
OTHER int glob(const char *pattern: text, int flags: hex, iotide_glob_error on_error: opaque, glob_t *found)
    failed = result != 0 && result != GLOB_NOMATCH
OTHER int glob64(const char *pattern: text, int flags: hex, iotide_glob_error on_error: opaque, glob64_t *found)
    name = glob
    failed = result != 0 && result != GLOB_NOMATCH
