"""Change inputs at random: bytes, words of texts, and values in decoded documents. A seed determines everything."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from typing import Any

MOST_BYTES = 1 << 16
"""Maximum size of a changed input."""
_EDGES = [0, 1, -1, 2, 7, 8, 127, 128, 255, 256, 65_535, 65_536, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**53, 2**62]
INTEGERS = [*_EDGES, -2, -(2**31), 2**63 - 1, -(2**63), 2**64 - 1]
NUMBERS = [b"%d" % each for each in INTEGERS] + [b"1e400", b"-0.0", b"nan", b"0x7fffffffffffffff", b"1" * 40, b""]
VALUES: list[Any] = [None, True, 0.5, -1.0, float("inf"), float("nan"), "", "x", "\x00", "a" * 300, "ü/\udcff", b"", {}]
_WORD = re.compile(rb"[A-Za-z0-9_.]+|[^A-Za-z0-9_.\s]+")

Choose = random.Random


def change_bytes(choose: Choose, data: bytes, others: Sequence[bytes], words: Sequence[bytes]) -> bytes:
    """Change one to six positions: bits, bytes, numbers, words, moved pieces, pieces of another input."""
    changed = bytearray(data)
    for _ in range(choose.choice((1, 1, 1, 2, 3, 6))):
        changed = _with_a_change(choose, changed, others, words)
    return bytes(changed[:MOST_BYTES])


def _with_a_change(choose: Choose, changed: bytearray, others: Sequence[bytes], words: Sequence[bytes]) -> bytearray:
    at = choose.randrange(len(changed) + 1)
    length = choose.choice((1, 1, 2, 4, 8, 30, 300))
    what = choose.randrange(9)
    if what == 0 and at < len(changed):
        changed[at] ^= 1 << choose.randrange(8)
    elif what == 1:
        changed[at : at + 1] = bytes([choose.randrange(256)])
    elif what == 2:
        del changed[at : at + length]
    elif what == 3:
        width = choose.choice((1, 2, 4, 8))
        value = choose.choice(INTEGERS) % (1 << 8 * width)
        changed[at : at + width] = value.to_bytes(width, choose.choice(("little", "big")))
    elif what == 4 and words:
        changed[at : at + choose.choice((0, length))] = choose.choice(words)
    elif what == 5:
        begin = choose.randrange(len(changed) + 1)
        changed[at:at] = changed[begin : begin + length] * choose.choice((1, 1, 2, 50))
    elif what == 6 and others:
        other = choose.choice(others)
        begin = choose.randrange(len(other) + 1)
        changed[at : at + length] = other[begin : begin + choose.choice((8, 64, 1000))]
    elif what == 7:
        del changed[at:]
    elif what == 8:
        return _with_another_number(choose, changed, at)
    return changed


def words_of(samples: Sequence[bytes], most: int = 400) -> list[bytes]:
    """Return the words of texts, and boundary numbers."""
    found: dict[bytes, None] = {}
    for sample in samples:
        for word in _WORD.findall(sample[:20_000]):
            if len(word) <= 40:
                found.setdefault(word)
            if len(found) >= most:
                break
    return [*found, *NUMBERS]


def change_tree(choose: Choose, value: Any) -> Any:
    """Return a document with one to three of its values replaced, removed, repeated or exchanged."""
    for _ in range(choose.choice((1, 1, 2, 3))):
        value = _changed_once(choose, value)
    return value


def _changed_once(choose: Choose, value: Any) -> Any:
    if isinstance(value, list) and value and choose.random() < 0.85:
        at = choose.randrange(len(value))
        what = choose.randrange(8)
        made = list(value)
        if what == 0:
            del made[at]
        elif what == 1:
            made.insert(at, made[choose.randrange(len(made))])
        elif what == 2:
            other = choose.randrange(len(made))
            made[at], made[other] = made[other], made[at]
        else:
            made[at] = _changed_once(choose, made[at])
        return made
    if isinstance(value, dict) and value and choose.random() < 0.9:
        key = choose.choice(list(value))
        what = choose.randrange(8)
        entries = dict(value)
        if what == 0:
            del entries[key]
        elif what == 1:
            entries[choose.choice(list(entries))] = entries[key]
        else:
            entries[key] = _changed_once(choose, entries[key])
        return entries
    return _another(choose, value)


def _another(choose: Choose, value: Any) -> Any:
    if isinstance(value, bool) or choose.random() < 0.2:
        return choose.choice((*VALUES, *INTEGERS, [], [value], [[[value]]]))
    if isinstance(value, int):
        return choose.choice((value + 1, value - 1, value * 2, -value, choose.choice(INTEGERS)))
    if isinstance(value, float):
        return choose.choice((value + 1, -value, value * 1e9, 1e300, float("nan"), choose.choice(INTEGERS)))
    if isinstance(value, bytes):
        return change_bytes(choose, value, (), ())
    if isinstance(value, str):
        text = value.encode(errors="surrogatepass")
        return change_bytes(choose, text, (), ()).decode(errors="replace")
    return choose.choice((*VALUES, *INTEGERS, []))


def _with_another_number(choose: Choose, data: bytearray, at: int) -> bytearray:
    """Return a text with the decimal number behind a position replaced."""
    if (found := re.compile(rb"[0-9]+").search(data, at)) is None:
        return data
    return data[: found.start()] + choose.choice(NUMBERS) + data[found.end() :]


Change = Callable[[Choose], bytes]
