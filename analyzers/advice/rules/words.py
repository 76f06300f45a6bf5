"""Number formatting for the texts of advice."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from ...layers.state.registries import class_name

_NUMBER: Final = re.compile(r"(\d+)")


def count_text(number: int, what: str) -> str:
    """Format a count with its noun.

    >>> count_text(1, "file"), count_text(4096, "read")
    ('1 file', '4,096 reads')
    """
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def common_pattern(paths: Sequence[str]) -> str:
    """Return paths that differ only in numbers as one. It has ``#`` for the numbers that differ.

    >>> common_pattern(["/run7/t1.h5", "/run7/t22.h5"]), common_pattern(["/run7/x"])
    ('/run7/t#.h5', '/run7/x')
    """
    parts = [_NUMBER.split(path) for path in paths]
    if len({len(each) for each in parts}) != 1:
        return class_name(paths[0])
    return "".join(same.pop() if len(same := set(each)) == 1 else "#" for each in zip(*parts, strict=True))


def size_text(size: float) -> str:
    """Format bytes with a binary unit.

    >>> size_text(12), size_text(4096), size_text(1_572_864)
    ('12 B', '4 KiB', '1.5 MiB')
    """
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1023.5 or unit == "GiB":
            break
        size /= 1024
    digits = f"{size:.1f}".removesuffix(".0") if size < 99.95 and unit != "B" else f"{size:.0f}"
    return f"{digits} {unit}"


def time_text(seconds: float) -> str:
    """Format a duration with three digits.

    >>> time_text(0.00123), time_text(2.5)
    ('1.23 ms', '2.5 s')
    """
    if seconds < 1e-3:
        return f"{seconds * 1e6:.3g} us"
    return f"{seconds * 1e3:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"
