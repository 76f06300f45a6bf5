"""Parse lists of nodes in Slurm's notation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice, product
from typing import Final

_MAX_NODES: Final = 100_000
"""Maximum number of names in one list, ten times the largest machines."""
_ITEM: Final = re.compile(r"(?:[^,\[\]]|\[[^\[\]]*\])+")
_PART: Final = re.compile(r"\[([^\[\]]*)\]|([^\[\]]+)")
_RANGE: Final = re.compile(r"([0-9]{1,9})(?:-([0-9]{1,9}))?")


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
