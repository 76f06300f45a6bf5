"""Map the name of a call to its layer and kind. Sources that identify calls by name use it."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from ..events import Kind, Layer

_POSIX: Final = {
    Kind.CREATE: "open open64 openat openat64 openat2 creat creat64 socket accept accept4 memfd_create pipe pipe2 "
    "opendir fdopendir open_by_handle_at shm_open "
    "mkstemp mkostemp mkstemps mkostemps posix_openpt getpt socketpair eventfd eventfd2 epoll_create epoll_create1 "
    "timerfd_create signalfd signalfd4 fanotify_init inotify_init inotify_init1 pidfd_open pidfd_getfd",
    Kind.DUPLICATE: "dup dup2 dup3",
    Kind.DESTROY: "close close_range closedir closefrom",
    Kind.SEEK: "lseek lseek64 llseek _llseek rewinddir seekdir",
    Kind.CHANGE_FLAGS: "fcntl fcntl64 fadvise64 posix_fadvise posix_fadvise64 flock lockf",
    Kind.DELETE: "unlink unlinkat rmdir remove shm_unlink",
    Kind.READ: "read pread pread64 readv preadv preadv64 preadv2 preadv64v2 recv recvfrom recvmsg recvmmsg "
    "eventfd_read aio_read",
    Kind.WRITE: "write pwrite pwrite64 writev pwritev pwritev64 pwritev2 pwritev64v2 send sendto sendmsg sendfile "
    "sendfile64 copy_file_range splice tee vmsplice sendmmsg eventfd_write aio_write",
    Kind.SYNC: "sync syncfs fsync fdatasync sync_file_range msync aio_fsync",
    Kind.OTHER: "stat stat64 lstat lstat64 fstat fstat64 newfstatat fstatat64 statx statfs statfs64 fstatfs fstatfs64 "
    "access faccessat faccessat2 mkdir mkdirat mknod mknodat rename renameat renameat2 link linkat symlink symlinkat "
    "readlink readlinkat chmod fchmod fchmodat chown fchown lchown fchownat utime utimes utimensat futimesat truncate "
    "truncate64 ftruncate ftruncate64 fallocate posix_fallocate readahead getdents getdents64 readdir chdir fchdir "
    "getxattr lgetxattr fgetxattr setxattr lsetxattr fsetxattr listxattr llistxattr flistxattr removexattr "
    "inotify_add_watch ioctl execve execveat mount umount2 umask inotify_rm_watch name_to_handle_at bind listen "
    "connect shutdown getsockopt setsockopt getsockname getpeername mmap munmap mremap aio_error aio_return "
    "aio_suspend aio_cancel lio_listio realpath canonicalize_file_name mkdtemp mkfifo mkfifoat fstatat statvfs "
    "fstatvfs pathconf fpathconf eaccess isatty lchmod lutimes futimes futimens lremovexattr fremovexattr chroot "
    "getcwd getwd get_current_dir_name readdir_r telldir getdirentries scandir scandirat ftw nftw glob syscall",
}
_STDIO: Final = {
    Kind.CREATE: "fopen fopen64 fdopen freopen freopen64 tmpfile tmpfile64 popen",
    Kind.DESTROY: "fclose pclose fcloseall",
    Kind.SEEK: "fseek fseeko fseeko64 rewind fsetpos fsetpos64",
    Kind.READ: "fread fgets fgetc getc getchar getline getdelim fscanf vfscanf fread_unlocked gets scanf "
    "fwscanf wscanf fgetws getw fgetwc getwc getwchar",
    Kind.WRITE: "fwrite fputs fputc putc putchar puts fprintf vfprintf printf fwrite_unlocked dprintf "
    "fwprintf wprintf fputws putw fputwc putwc putwchar",
    Kind.SYNC: "fflush",
    Kind.OTHER: "ftell ftello ftello64 fgetpos setvbuf feof ferror fileno ungetc ungetwc setbuf setbuffer setlinebuf",
}
_MPIIO: Final = {
    Kind.CREATE: "open",
    Kind.DESTROY: "close",
    Kind.SEEK: "seek seek_shared",
    Kind.CHANGE_FLAGS: "set_view set_atomicity set_info",
    Kind.DELETE: "delete",
    Kind.SYNC: "sync",
}
_HDF5: Final = {
    Kind.CREATE: "H5Fcreate H5Fopen H5Dcreate1 H5Dcreate2 H5Dcreate H5Dopen1 H5Dopen2 H5Dopen H5Acreate1 H5Acreate2 "
    "H5Acreate H5Aopen H5Gcreate1 H5Gcreate2 H5Gcreate H5Gopen1 H5Gopen2 H5Gopen",
    Kind.DUPLICATE: "H5Freopen",
    Kind.DESTROY: "H5Fclose H5Dclose H5Aclose H5Gclose H5Oclose",
    Kind.DELETE: "H5Fdelete H5Ldelete H5Adelete",
    Kind.READ: "H5Dread H5Dread_multi H5Dread_chunk H5Aread",
    Kind.WRITE: "H5Dwrite H5Dwrite_multi H5Dwrite_chunk H5Awrite",
    Kind.SYNC: "H5Fflush H5Dflush H5Gflush H5Oflush",
}


def _table() -> dict[str, tuple[Layer, Kind]]:
    table: dict[str, tuple[Layer, Kind]] = {}
    for layer, prefix, kinds in (
        (Layer.POSIX, "", _POSIX),
        (Layer.STDIO, "", _STDIO),
        (Layer.MPIIO, "MPI_File_", _MPIIO),
        (Layer.HDF5, "", _HDF5),
    ):
        for kind, names in kinds.items():
            table.update({prefix + name: (layer, kind) for name in names.split()})
    return table


CALLS: Final[dict[str, tuple[Layer, Kind]]] = _table()
"""Calls whose layer and kind are listed individually."""

_LAYER_PREFIXES = (
    ("MPI_File_", Layer.MPIIO),
    ("PMPI_File_", Layer.MPIIO),
    ("H5", Layer.HDF5),
    ("ncmpi_", Layer.PNETCDF),
    ("nc_", Layer.NETCDF),
)
_READ_WORD = re.compile(r"read|_get_var|recv", re.IGNORECASE)
_WRITE_WORD = re.compile(r"write|_put_var|send", re.IGNORECASE)


@lru_cache(maxsize=65_536)
def classify(call: str) -> tuple[Layer, Kind]:
    """Return a call's layer and kind. They come from the table, otherwise from the prefix and the words of its name.

    >>> classify("pwrite64"), classify("MPI_File_write_at_all")
    ((<Layer.POSIX: 1>, <Kind.WRITE: 8>), (<Layer.MPIIO: 3>, <Kind.WRITE: 8>))
    """
    if known := CALLS.get(call) or CALLS.get(call.removeprefix("P")):
        return known
    layer = next((layer for prefix, layer in _LAYER_PREFIXES if call.startswith(prefix)), Layer.OTHER)
    if _READ_WORD.search(call):
        return layer, Kind.READ
    if _WRITE_WORD.search(call):
        return layer, Kind.WRITE
    return layer, Kind.OTHER
