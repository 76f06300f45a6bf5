"""Facts about a job from its batch system, and its nodes in the notation of Slurm."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice, product
from typing import Final

import msgspec

_LONGEST: Final = 1024
"""Maximum length of a stored text, characters; a list of nodes may have any length."""
_MAX_NODES: Final = 100_000
"""Maximum number of names in one list, ten times the largest machines."""
_ITEM: Final = re.compile(r"(?:[^,\[\]]|\[[^\[\]]*\])+")
_PART: Final = re.compile(r"\[([^\[\]]*)\]|([^\[\]]+)")
_RANGE: Final = re.compile(r"([0-9]{1,9})(?:-([0-9]{1,9}))?")


class BatchJob(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A job as its batch system describes it; "" and 0 if unknown. Texts may contain any characters."""

    name: str = ""
    account: str = ""
    partition: str = ""
    """Partition or queue."""
    cluster: str = ""
    nodes: str = ""
    """List of nodes in the batch system's notation: ``node[1-4]``."""
    node_count: int = 0
    started_at_s: float = 0.0
    """Unix time."""
    limit_s: float = 0.0
    """Time limit of the job, s."""

    array_task: str = ""
    """Id of a task of a job array, as the batch system writes it: ``4711_3``. "" for other jobs."""

    @property
    def title(self) -> str:
        """Name beside the job id: that of the job, and its id within the array."""
        return " ".join(text for text in (self.array_task, self.name) if text)

    def completed(self, later: BatchJob | None) -> BatchJob:
        """Return the job with missing values filled in from ``later``; long texts are cut."""
        made = {}
        for name in self.__struct_fields__:
            value = getattr(self, name) or getattr(later, name, None)
            if isinstance(value, str) and len(value) > _LONGEST:
                value = value[: _LONGEST - 3] + "..."
            if value:
                made[name] = value
        return BatchJob(**made)


@lru_cache(maxsize=256)
def nodes_in(text: str) -> tuple[str, ...]:
    """Return the names in a list; at most 100,000, and none if it is malformed.

    >>> nodes_in("rack[1-2]node[08-10],login1")[:4]
    ('rack1node08', 'rack1node09', 'rack1node10', 'rack2node08')
    """
    return tuple(islice((name for item in _ITEM.findall(text) for name in _names(item)), _MAX_NODES))


def _names(item: str) -> Iterator[str]:
    parts = [[text] if text else list(_numbers(ranges)) for ranges, text in _PART.findall(item)]
    return ("".join(words) for words in product(*parts))


def _numbers(ranges: str) -> Iterator[str]:
    for each in ranges.split(","):
        if (found := _RANGE.fullmatch(each.strip())) is None:
            continue
        first, last = found[1], found[2] or found[1]
        for number in islice(range(int(first), int(last) + 1), _MAX_NODES):
            yield f"{number:0{len(first)}d}"
