"""Names of vertices. They come from the thread, otherwise from its process or the maker of its process."""

from __future__ import annotations

from typing import Final

import numpy as np

from ....events.kernel import COMM
from ...common.state import Ints
from ..intake.keys import SPACE
from ..tables import LINK_KINDS, Tables

_FORK: Final = LINK_KINDS.index("fork")
_MAX_GENERATIONS: Final = 64  # maximum number of forks over which names are inherited


def names_of(tables: Tables) -> Ints:
    """Return the number of the file that names each actor, 0 or less if unnamed.

    A thread is named after its process. A process that never executed another program is named after its maker.
    """
    name: Ints = tables.actors["name"].copy()
    if not len(name):
        return name
    order = np.argsort(tables.keys)
    process = tables.keys // SPACE * SPACE + tables.actors["pid"]
    at = order[np.minimum(np.searchsorted(tables.keys, process, sorter=order), len(order) - 1)]
    lead = np.where((tables.keys[at] == process) & (tables.actors["pid"] > 0), at, np.arange(len(name)))
    maker = np.full(len(name), -1, np.intp)
    forks = tables.kinds == _FORK
    maker[tables.targets[forks]] = tables.sources[forks]
    for _ in range(_MAX_GENERATIONS):
        name = np.where(name > 0, name, name[lead])
        lacking = np.flatnonzero((name <= 0) & (maker >= 0))
        heir = lacking[name[maker[lacking]] > 0]
        if not len(heir):
            break
        name[heir] = name[maker[heir]]
    return name


def short_name(path: str) -> str:
    """Return the display name for the path of a program. The text of a kernel event has one, too.

    >>> short_name("/usr/bin/cat"), short_name("comm:kworker/0:1")
    ('cat', 'kworker/0:1')
    """
    return path.removeprefix(COMM) if path.startswith(COMM) else path.rpartition("/")[2]
