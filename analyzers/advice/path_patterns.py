"""Common patterns of paths that differ only in numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from ..layers.state.registries import class_name

_NUMBER: Final = re.compile(r"(\d+)")


def common_pattern(paths: Sequence[str]) -> str:
    """Return paths that differ only in numbers as one. It has ``#`` for the numbers that differ.

    >>> common_pattern(["/run7/t1.h5", "/run7/t22.h5"]), common_pattern(["/run7/x"])
    ('/run7/t#.h5', '/run7/x')
    """
    parts = [_NUMBER.split(path) for path in paths]
    if len({len(each) for each in parts}) != 1:
        return class_name(paths[0])
    return "".join(same.pop() if len(same := set(each)) == 1 else "#" for each in zip(*parts, strict=True))
