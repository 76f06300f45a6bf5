"""Messages that carry descriptors."""

from __future__ import annotations

import os
import socket

from iotide.collectors.sources.preload.rings.received_descriptors import receive_with_descriptors


def test_descriptors_come_with_their_message_and_are_closed_in_new_programs() -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs:
        socket.send_fds(theirs, [b"two"], [theirs.fileno(), theirs.fileno()])
        theirs.send(b"none")
        message, descriptors = receive_with_descriptors(ours, 16, 2)
        assert message == b"two"
        assert len(descriptors) == 2
        for descriptor in descriptors:
            assert not os.get_inheritable(descriptor)
            os.close(descriptor)
        assert receive_with_descriptors(ours, 16, 2) == (b"none", [])
