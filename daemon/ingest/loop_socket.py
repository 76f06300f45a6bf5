"""A ZeroMQ socket in asyncio's loop. Calls that complete immediately create no future."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

import zmq

if TYPE_CHECKING:
    import zmq.asyncio

    from ...events.network.wire import Frame


# Operations on pyzmq's flags make objects of an enumeration, which cost more CPU time than the calls of ZeroMQ.
_NOBLOCK: Final = int(zmq.NOBLOCK)
_MORE: Final = int(zmq.NOBLOCK | zmq.SNDMORE)
_EVENTS: Final = int(zmq.EVENTS)
_POLLIN: Final = int(zmq.POLLIN)


class LoopSocket:
    """Receives and sends at once, waits for messages, or calls a function when there are some.

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
        self._receive_some: Callable[[], object] | None = None
        self._is_scheduled = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._file = -1

    def receive(self) -> Sequence[zmq.Frame] | None:
        """Return the frames of the next message; None if none waits."""
        receive = self._socket.recv
        try:
            frame = receive(_NOBLOCK, False)
        except zmq.Again:
            return None
        frames = [frame]
        while frame.more:
            frame = receive(_NOBLOCK, False)
            frames.append(frame)
        return frames

    def send(self, frames: Sequence[Frame | zmq.Frame]) -> None:
        """Send a message at once. Raises zmq.ZMQError; ``zmq.Again`` if there is no room for it."""
        send = self._socket.send
        try:
            for frame in frames[:-1]:
                send(frame, _MORE, False)
            send(frames[-1], _NOBLOCK, False)
        finally:
            if self._waiting is not None:
                self._notify_waiting()
            else:
                self._schedule()

    def on_messages(self, receive_some: Callable[[], object]) -> None:
        """Call a function whenever messages wait, until ``close``. Each message costs fewer turns of the loop so.

        Args:
            receive_some: receives some of the messages; it is called again if some are left.
        """
        self._receive_some = receive_some
        self._watch(asyncio.get_running_loop(), self._on_signal)
        self._schedule()

    async def wait(self, timeout_s: float) -> bool:
        """Wait for a message; return whether there is one. Only one task may wait."""
        if self.has_message():
            return True
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            self._watch(loop, self._notify_waiting)
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
        return bool(int(self._socket.getsockopt(_EVENTS)) & _POLLIN)

    def close(self) -> None:
        """Close the socket."""
        self._receive_some = None
        if self._loop is not None and not self._loop.is_closed():
            self._loop.remove_reader(self._file)
        self._owner.close()

    def _watch(self, loop: asyncio.AbstractEventLoop, on_signal: Callable[[], None]) -> None:
        self._loop, self._file = loop, int(self._socket.getsockopt(zmq.FD))
        loop.add_reader(self._file, on_signal)

    def _on_signal(self) -> None:
        # Reading the events also resets the signal.
        if self.has_message() and not self._is_scheduled:
            self._call()

    def _call(self) -> None:
        self._is_scheduled = False
        if self._receive_some is not None:
            try:
                self._receive_some()
            finally:
                self._schedule()

    def _schedule(self) -> None:
        """Call the function in the next turn of the loop if messages wait."""
        if self._receive_some is None or self._loop is None or self._is_scheduled:
            return
        if self.has_message():
            self._is_scheduled = True
            self._loop.call_soon(self._call)

    def _notify_waiting(self) -> None:
        if self.has_message() and self._waiting is not None:
            _set(self._waiting, True)


def _set(future: asyncio.Future[bool], value: bool) -> None:
    if not future.done():
        future.set_result(value)
