"""Reuse of the latest results of pure functions of arrays. A search measures the same phases repeatedly."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Final, TypeVar, TypeVarTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Arguments = TypeVarTuple("Arguments")
Result = TypeVar("Result")

_LATEST: Final = 64
"""Results kept per function: those of the hypotheses and clipped signals of one search."""
_clear_functions: Final[list[Callable[[], None]]] = []


def memoized(function: Callable[[*Arguments], Result]) -> Callable[[*Arguments], Result]:
    """Return the function with a table of its latest results.

    Args:
        function: pure function of float64 arrays and numbers, which are positional; callers must not change its result.
    """

    @lru_cache(_LATEST)
    def of_key(*key: object) -> Result:
        values = [np.frombuffer(each) if isinstance(each, bytes) else each for each in key]
        return function(*values)  # type: ignore[arg-type]

    _clear_functions.append(of_key.cache_clear)

    @wraps(function)
    def of_values(*arguments: *Arguments) -> Result:
        return of_key(*[each.tobytes() if isinstance(each, np.ndarray) else each for each in arguments])

    return of_values


def clear_memo() -> None:
    """Clear all tables, after a change of ``TUNING``."""
    for each in _clear_functions:
        each()
