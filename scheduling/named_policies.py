"""Registry of the policies by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from .policies import fair_share, fcfs, lowest_yield, set10
from .protocol import Policy
from .volume_first import FAIRNESS, volume_first

OURS: Final = "volume-first"
POLICIES: Final[Mapping[str, Policy]] = {
    "fair-share": fair_share,
    "fcfs": fcfs,
    "set-10": set10,
    "lowest-yield": lowest_yield,
}
POLICY_NAMES: Final = (*POLICIES, OURS)


def policy_named(text: str) -> tuple[str, Policy]:
    """Return a policy by its name. Ours may be followed by a colon and its fairness.

    >>> policy_named("volume-first:4")[0]
    'volume-first:4'

    Raises:
        ValueError: there is no such policy.
    """
    name, _, number = text.partition(":")
    if name == OURS:
        try:
            return text, volume_first(float(number) if number else FAIRNESS)
        except ValueError:
            raise ValueError(f"{text!r}: expected {OURS} or {OURS}:FAIRNESS with a number from 0 on") from None
    if text not in POLICIES:
        raise ValueError(f"{text!r}: expected one of {', '.join(POLICY_NAMES)}, or {OURS}:FAIRNESS")
    return text, POLICIES[text]
