"""A ZeroMQ socket in asyncio's loop. Calls that complete immediately create no future."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

import zmq

if TYPE_CHECKING:
    import zmq.asyncio

    from ...events.network.wire import Frame


class LoopSocket:
    """Receives and sends at once, or waits for messages.

    pyzmq's asyncio socket makes a future for each call, which costs as much CPU time as the message itself. Nothing
    else may receive from the socket, and all messages must be sent here: ZeroMQ signals a message once, and a call of
    the socket may take the signal away from the task that waits.

    Args:
        socket: the socket. Its options, monitor, ``bind`` and ``connect`` may be used directly.
    """

    def __init__(self, socket: zmq.asyncio.Socket) -> None:
        self._owner = socket
        self._socket: zmq.Socket[bytes] = zmq.Socket.shadow(socket.underlying)
        self._waiting: asyncio.Future[bool] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._file = -1

    def receive(self) -> Sequence[zmq.Frame] | None:
        """Return the frames of the next message; None if none waits."""
        try:
            return self._socket.recv_multipart(zmq.NOBLOCK, copy=False)
        except zmq.Again:
            return None

    def send(self, frames: Sequence[Frame | zmq.Frame]) -> None:
        """Send a message at once. Raises zmq.ZMQError; ``zmq.Again`` if there is no room for it."""
        try:
            self._socket.send_multipart(frames, zmq.NOBLOCK, copy=False)
        finally:
            if self._waiting is not None:
                self._notify_waiting()

    async def wait(self, timeout_s: float) -> bool:
        """Wait for a message; return whether there is one. Only one task may wait."""
        if self.has_message():
            return True
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            self._loop, self._file = loop, int(self._socket.getsockopt(zmq.FD))
            loop.add_reader(self._file, self._notify_waiting)
        self._waiting = waiting = loop.create_future()
        timer = loop.call_later(timeout_s, _set, waiting, False)
        try:
            self._notify_waiting()  # a message may have come before the file was watched
            return bool(await waiting)
        finally:
            timer.cancel()
            self._waiting = None

    def has_message(self) -> bool:
        """Return whether a message waits."""
        return bool(int(self._socket.getsockopt(zmq.EVENTS)) & zmq.POLLIN)

    def close(self) -> None:
        """Close the socket."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.remove_reader(self._file)
        self._owner.close()

    def _notify_waiting(self) -> None:
        if self.has_message() and self._waiting is not None:
            _set(self._waiting, True)


def _set(future: asyncio.Future[bool], value: bool) -> None:
    if not future.done():
        future.set_result(value)
