"""Processes of virtual machines as the host sees them ([Ranking], Algorithm 2)."""

from __future__ import annotations

from typing import Any, Final, Self

import numpy as np
from msgspec import Struct

from ....events.forward_fill import ForwardFill, Ints
from ....events.kernel import KernelEvent

IPI_VECTORS: Final = (0xFB, 0xFC, 0xFD)
"""Vectors by which Linux on x86 makes another processor call a function or schedule."""
_WAKES: Final = (int(KernelEvent.SCHED_WAKING), int(KernelEvent.SCHED_WAKEUP))


class GuestWakes(Struct, frozen=True):
    """Wake-ups between processes of guests.

    Attributes:
        vcpu_from: key of the thread that runs the waker's virtual processor.
        space_from: address space (CR3) of the waker.
        vcpu_to: the same of the woken one.
        space_to: its address space.
    """

    vcpu_from: Ints
    space_from: Ints
    vcpu_to: Ints
    space_to: Ints


class Guests:
    """Follows which address space each virtual processor has, and which thread woke its thread last."""

    def __init__(self, limit: int) -> None:
        self._spaces = ForwardFill(1, limit)
        self._wakers = ForwardFill(2, limit)

    def update(self, code: Ints, acting: Ints, other: Ints, value: Ints) -> GuestWakes:
        """Takes in events in the order in which they happened.

        An interrupt of another processor's making that is injected into one virtual processor links the process that
        ran on the one whose thread woke it with the process that runs on the woken one.

        Args:
            code: KernelEvent of each.
            acting: key of the thread that acts, 0 for devices.
            other: key of the thread that is woken.
            value: KVM_CR3: address space; KVM_INJ_VIRQ: vector.
        """
        switches = code == int(KernelEvent.KVM_CR3)
        wakes = np.isin(code, _WAKES) & (acting > 0)
        injected = (code == int(KernelEvent.KVM_INJ_VIRQ)) & np.isin(value, IPI_VECTORS)
        if not (switches.any() or injected.any() or len(self._spaces)):
            none = np.zeros(0, np.int64)
            return GuestWakes(none, none, none, none)
        (waker_space,) = self._spaces.before(acting, switches, value)
        waker, space = self._wakers.before(np.where(wakes, other, acting), wakes, acting, waker_space)
        linked = injected & (waker > 0) & (space > 0) & (waker_space > 0)
        return GuestWakes(waker[linked], space[linked], acting[linked], waker_space[linked])

    def snapshot(self) -> dict[str, Any]:
        """Returns the state as plain data."""
        return {"spaces": self._spaces.snapshot(), "wakers": self._wakers.snapshot()}

    @classmethod
    def restore(cls, data: dict[str, Any]) -> Self:
        """Makes one that has the state of a snapshot."""
        made = cls.__new__(cls)
        made._spaces, made._wakers = ForwardFill.restore(data["spaces"]), ForwardFill.restore(data["wakers"])
        return made
