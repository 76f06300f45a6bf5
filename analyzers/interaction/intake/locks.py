"""Hand-overs of locks ([Ranking], Algorithm 1), with one holder per lock."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from msgspec import Struct

from ....events.forward_fill import ForwardFill, Ints
from ....events.kernel import KernelEvent


class Handovers(Struct, frozen=True):
    """Edges of the execution graph.

    Attributes:
        asker: keys of threads that requested a lock held by another.
        holder: holder of the lock at that time.
        giver: last holder of a lock that another thread had to wait for.
        taker: thread that then acquired it.
        waited_ns: waiting time of the taker.
    """

    asker: Ints
    holder: Ints
    giver: Ints
    taker: Ints
    waited_ns: Ints


class Locks:
    """Tracks holders of locks and waiting threads."""

    def __init__(self, limit: int) -> None:
        self._holders = ForwardFill(2, limit)
        self._requests = ForwardFill(2, limit)

    def update(self, code: Ints, time: Ints, thread: Ints, lock: Ints) -> Handovers:
        """Add lock events in the order in which they happened.

        Args:
            code: LOCK_REQ, LOCK_ACQ or UNLOCK of each event.
            time: ns.
            thread: key of the acting thread, > 0.
            lock: lock number, >= 0.
        """
        request, acquire = code == int(KernelEvent.LOCK_REQ), code == int(KernelEvent.LOCK_ACQ)
        held = np.where(acquire, thread, 0)
        # the last releasing thread is stored besides the empty holder
        holder, last = self._holders.before(lock, ~request, held, thread)
        contended = request & (holder > 0) & (holder != thread)
        # requests by thread, since a thread waits for one lock at a time
        since, waits = self._requests.before(
            thread, np.ones(len(code), np.bool_), time, np.where(contended, lock + 1, 0)
        )
        handed = acquire & (waits == lock + 1) & (last > 0) & (last != thread)
        return Handovers(
            asker=thread[contended],
            holder=holder[contended],
            giver=last[handed],
            taker=thread[handed],
            waited_ns=np.maximum(time[handed] - since[handed], 0),
        )

    def snapshot(self) -> dict[str, Any]:
        """Return the state as plain data."""
        return {"holders": self._holders.snapshot(), "requests": self._requests.snapshot()}

    @classmethod
    def restore(cls, data: dict[str, Any]) -> Self:
        """Create an object from a snapshot."""
        made = cls.__new__(cls)
        made._holders, made._requests = ForwardFill.restore(data["holders"]), ForwardFill.restore(data["requests"])
        return made
