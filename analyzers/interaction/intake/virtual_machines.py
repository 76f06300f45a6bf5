"""Processes of virtual machines as visible on the host ([Ranking], Algorithm 2)."""

from __future__ import annotations

from typing import Any, Final, Self

import numpy as np
from msgspec import Struct

from ....events.forward_fill import ForwardFill, Ints
from ....events.kernel import KernelEvent

IPI_VECTORS: Final = (0xFB, 0xFC, 0xFD)
"""Interrupt vectors that Linux on x86 uses to make another CPU call a function or reschedule."""
_WAKES: Final = (int(KernelEvent.SCHED_WAKING), int(KernelEvent.SCHED_WAKEUP))


class GuestWakes(Struct, frozen=True):
    """Wake-ups between processes of guests.

    Attributes:
        vcpu_from: key of the thread that runs the waker's virtual CPU.
        space_from: address space (CR3) of the waker.
        vcpu_to: key of the thread that runs the woken process's virtual CPU.
        space_to: address space of the woken process.
    """

    vcpu_from: Ints
    space_from: Ints
    vcpu_to: Ints
    space_to: Ints


class Guests:
    """Tracks the address space of each virtual CPU, and the last waker of its thread."""

    def __init__(self, limit: int) -> None:
        self._spaces = ForwardFill(1, limit)
        self._wakers = ForwardFill(2, limit)

    def update(self, code: Ints, acting: Ints, other: Ints, value: Ints) -> GuestWakes:
        """Add events in the order in which they happened.

        An inter-processor interrupt injected into a virtual CPU links two processes: the one on the virtual CPU whose
        thread woke it, and the one on the woken virtual CPU.

        Args:
            code: KernelEvent of each event.
            acting: key of the acting thread, 0 for devices.
            other: key of the woken thread.
            value: address space for KVM_CR3; vector for KVM_INJ_VIRQ.
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
        """Return the state as plain data."""
        return {"spaces": self._spaces.snapshot(), "wakers": self._wakers.snapshot()}

    @classmethod
    def restore(cls, data: dict[str, Any]) -> Self:
        """Create an object from a snapshot."""
        made = cls.__new__(cls)
        made._spaces, made._wakers = ForwardFill.restore(data["spaces"]), ForwardFill.restore(data["wakers"])
        return made
