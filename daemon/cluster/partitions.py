"""Assignment of jobs to partitions, and of partitions to members. No clock, no I/O.

Every member computes the plan from the same facts and executes its own part. Temporarily different facts are harmless:
a partition's lease decides about its owner, and its journal about the writer.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Set
from typing import Final, NamedTuple

_DIGEST_BYTES: Final = 8
TOKEN_VARIABLE: Final = "IOTIDE_MEMBER_TOKEN"  # noqa: S105 - a name
"""Environment variable that gives a partition's process the token of its member."""


class Partition(NamedTuple):
    """The partition that a process serves."""

    cluster: str
    number: int
    token: str = ""
    """Token that its member sends with requests for internal paths; "" refuses all of them."""


class MemberPlan(NamedTuple):
    """One member's part of the plan: partitions to serve, and partitions to stand by for."""

    serves: frozenset[int]
    standby: frozenset[int]


def partition_of(job: str, count: int) -> int:
    """Return a job's partition, 0 to ``count`` - 1. It is the same in every process and version."""
    return _digest(job) % count


def partition_for(job: str, user: str, count: int) -> int:
    """Return the partition of a stream's job.

    The owner may put a stream of a user's key into the job ``JOB@USER``. So it gets the jobs of users with all names
    that begin with ``JOB``.

    Args:
        job: cleaned id of the job.
        user: user of the sender's key; "" for a node or without keys.
        count: number of partitions.
    """
    return partition_of(job.partition("@")[0] if user else job, count)


def partitions_with(job: str, count: int) -> list[int]:
    """Return the partitions that may have a job, the most probable first."""
    return list(dict.fromkeys((partition_of(job, count), partition_for(job, "any", count))))


def plan(held: Mapping[str, Set[int]], count: int) -> dict[str, MemberPlan]:
    """Distribute the partitions evenly, with as few moves as possible.

    Args:
        held: the partitions that each live member serves now.
        count: number of partitions, numbered from 0.

    Returns:
        A part for each member. Each partition is served by one member, and another one stands by if there is one. The
        numbers of served partitions differ by at most one.
    """
    if not held:
        return {}
    quota, extra = divmod(count, len(held))
    serves: dict[str, set[int]] = {}
    free = set(range(count))
    by_load = sorted(held, key=lambda name: (-len(held[name]), name))
    for place, name in enumerate(by_load):
        most = quota + (place < extra)  # members with many partitions keep many
        kept = sorted(held[name] & free)[:most]
        serves[name] = set(kept)
        free.difference_update(kept)
    for place, name in enumerate(by_load):
        wanted = quota + (place < extra) - len(serves[name])
        taken = sorted(free, key=lambda number: (-_weight(name, number), number))[:wanted]
        serves[name].update(taken)
        free.difference_update(taken)
    stands_by: dict[str, set[int]] = {name: set() for name in held}
    for name, numbers in serves.items():
        others = [other for other in held if other != name]
        for number in numbers if others else ():
            stands_by[max(others, key=lambda other: (_weight(other, number), other))].add(number)
    return {name: MemberPlan(frozenset(serves[name]), frozenset(stands_by[name])) for name in held}


def ended_partitions(
    running: Set[int], serving: Set[int], listed: Set[int], part: MemberPlan, elsewhere: Set[int]
) -> set[int]:
    """Return the partitions whose processes must end at a member.

    Args:
        running: partitions with a process of this member.
        serving: partitions that these processes serve now.
        listed: partitions that they served when the entries of the other members were read.
        part: this member's part of the plan.
        elsewhere: partitions planned for another member that serves them, or can take them over at once.
    """
    ends = set()
    for number in running - part.serves:
        if number not in serving:
            if number not in part.standby:
                ends.add(number)
        # A process that has taken over since then has a later epoch than a claim in these entries.
        elif number in listed and number in elsewhere:
            ends.add(number)
    return ends


def _weight(name: str, number: int) -> int:
    """Return the affinity of a member and a partition (rendezvous hashing). Few change when members change."""
    return _digest(f"{name}/{number}")


def _digest(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=_DIGEST_BYTES).digest(), "big")
