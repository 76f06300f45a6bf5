"""Counts of things in messages, with the singular for one."""

from __future__ import annotations

import re
from typing import Final

_PLURAL: Final = re.compile(r"\b(\w*[^\Wsu])s\b(?!')")


def counted(count: int, what: str) -> str:
    """Format a count with a phrase whose first plural is the counted thing.

    >>> counted(1, "numbers of ranks"), counted(1200, "numbers of ranks"), counted(1, "processes refused")
    ('1 number of ranks', '1,200 numbers of ranks', '1 process refused')
    >>> counted(1, "lines or records that cannot be read"), counted(1, "copies beyond four"), counted(1, "mapped files")
    ('1 line or record that cannot be read', '1 copy beyond four', '1 mapped file')
    """
    if count != 1:
        return f"{count:,} {what}"
    found = _PLURAL.search(what)
    if found is None:
        return f"1 {what}"
    before, after = what[: found.start()], what[found.end() :]
    if after.startswith(" or "):
        after = f" or {counted(1, after[4:])[2:]}"
    return f"1 {before}{_singular(found[1])}{after.replace(' that are ', ' that is ', 1)}"


def _singular(stem: str) -> str:
    """Return the singular of a plural without its ``s``."""
    if stem.endswith(("sse", "xe", "che")):
        return stem[:-1]
    return f"{stem[:-2]}y" if stem.endswith("ie") else stem
