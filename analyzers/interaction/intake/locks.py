"""Hand-overs of locks ([Ranking], Algorithm 1), with a holder for each lock."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from msgspec import Struct

from ....events.forward_fill import ForwardFill, Ints
from ....events.kernel import KernelEvent


class Handovers(Struct, frozen=True):
    """Edges of the execution graph.

    Attributes:
        asker: threads that asked for a lock that another one held, by key.
        holder: who held it.
        giver: who released or held the lock last that another thread had to wait for.
        taker: who got it then.
        waited_ns: how long the taker had waited.
    """

    asker: Ints
    holder: Ints
    giver: Ints
    taker: Ints
    waited_ns: Ints


class Locks:
    """Follows who holds which lock and who waits for it."""

    def __init__(self, limit: int) -> None:
        self._holders = ForwardFill(2, limit)
        self._requests = ForwardFill(2, limit)

    def update(self, code: Ints, time: Ints, thread: Ints, lock: Ints) -> Handovers:
        """Takes in events of locks in the order in which they happened.

        Args:
            code: LOCK_REQ, LOCK_ACQ or UNLOCK of each.
            time: ns.
            thread: key of who acts, > 0.
            lock: number of the lock, >= 0.
        """
        request, acquire = code == int(KernelEvent.LOCK_REQ), code == int(KernelEvent.LOCK_ACQ)
        held = np.where(acquire, thread, 0)
        # the thread that released a lock is remembered beside the fact that nobody holds it
        holder, last = self._holders.before(lock, ~request, held, thread)
        contended = request & (holder > 0) & (holder != thread)
        # who waits for which lock: a thread waits for one at a time
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
        """Returns the state as plain data."""
        return {"holders": self._holders.snapshot(), "requests": self._requests.snapshot()}

    @classmethod
    def restore(cls, data: dict[str, Any]) -> Self:
        """Makes one that has the state of a snapshot."""
        made = cls.__new__(cls)
        made._holders, made._requests = ForwardFill.restore(data["holders"]), ForwardFill.restore(data["requests"])
        return made
