"""``native/splitter.c`` in Python, for tests and installations without the helper."""

from __future__ import annotations

from collections.abc import Sequence

Key = tuple[int, ...]
"""Call, layer, kind, depth, errno, flags, template, pid, tid, rank."""


class SplitterFallback:
    """See ``splitter.Splitter``."""

    def __init__(self) -> None:
        self._numbers: dict[Key, int] = {}

    @property
    def groups(self) -> list[Key]:
        """The constant values of calls, by group."""
        return list(self._numbers)

    def __len__(self) -> int:
        return len(self._numbers)

    def feed(
        self,
        columns: Sequence[Sequence[int]],
        call_of: Sequence[int],
        template_of: Sequence[int],
        integers: Sequence[Sequence[int]],
    ) -> tuple[list[int], list[list[int]]]:
        """Split rows up to the first whose call or signature has no number yet.

        Args:
            columns: as in ``splitter.COLUMNS``.
            call_of: number in the section of each defined call; -1: none yet.
            template_of: the same for each signature.
            integers: integers of each signature.
        """
        groups: list[int] = []
        fields: list[list[int]] = []
        for row in zip(*columns, strict=True):
            call = row[0] if row[0] < len(call_of) else 0
            signature = row[6] if row[6] < len(template_of) else 0
            if call_of[call] < 0 or template_of[signature] < 0:
                break
            key = (call_of[call], *row[1:6], template_of[signature], *row[7:10])
            groups.append(self._numbers.setdefault(key, len(self._numbers)))
            handle, parent, file, offset, requested, moved = row[10:]
            fields.append([handle, parent, file, *integers[signature], offset, requested, _wrap(requested - moved)])
        return groups, fields


def _wrap(value: int) -> int:
    """Wrap a difference of two int64 to int64, like the helper's arithmetic."""
    return (value + (1 << 63)) % (1 << 64) - (1 << 63)
