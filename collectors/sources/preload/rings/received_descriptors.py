"""Messages of Unix sockets that carry descriptors."""

from __future__ import annotations

import array
import socket


def receive_with_descriptors(channel: socket.socket, most_bytes: int, most_descriptors: int) -> tuple[bytes, list[int]]:
    """Return the next message of a socket, and the descriptors in it (SCM_RIGHTS). They are closed in new programs.

    Unlike by ``socket.recv_fds``, programs that another thread starts meanwhile do not inherit them.

    Raises:
        OSError: as by ``recvmsg``.
    """
    numbers = array.array("i")
    space = socket.CMSG_SPACE(most_descriptors * numbers.itemsize)
    message, ancillary, _, _ = channel.recvmsg(most_bytes, space, socket.MSG_CMSG_CLOEXEC)
    for level, kind, data in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            numbers.frombytes(data[: len(data) - len(data) % numbers.itemsize])
    return message, numbers.tolist()
