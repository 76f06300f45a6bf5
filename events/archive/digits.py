"""Texts with every number taken out: those of processes that differ in numbers only leave the same text behind."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

_MARK: Final = b"\x00"
_MOST_DIGITS: Final = 18
_MOST_ZEROS: Final = 8
_TENS: Final = 10 ** np.arange(_MOST_DIGITS + 1, dtype=np.int64)
_ZERO: Final = 10**18
"""What each leading zero adds to a number's value, which is smaller."""


def take_numbers(text: bytes) -> tuple[bytes, npt.NDArray[np.int64]]:
    r"""Splits a text that has no byte 0 into what stays and its numbers.

    Numbers of more than 18 digits, or more than eight leading zeros, stay in the text.

    >>> take_numbers(b"out.0007 of 12")
    (b'out.\x00 of \x00', array([3000000000000000007,                  12]))
    """
    characters = np.frombuffer(text, np.uint8)
    is_digit = np.zeros(len(characters) + 2, bool)
    is_digit[1:-1] = (characters >= ord("0")) & (characters <= ord("9"))
    edges = np.flatnonzero(is_digit[1:] != is_digit[:-1])
    begins, lengths = edges[::2], edges[1::2] - edges[::2]
    short = lengths <= _MOST_DIGITS
    begins, lengths = begins[short], lengths[short]
    if not len(begins):
        return text, np.zeros(0, np.int64)
    along = np.arange(int(lengths.sum())) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    digits = characters[np.repeat(begins, lengths) + along].astype(np.int64) - ord("0")
    weights = _TENS[np.repeat(lengths, lengths) - 1 - along]
    values = np.add.reduceat(digits * weights, np.cumsum(lengths) - lengths)
    zeros = lengths - np.maximum(np.searchsorted(_TENS, values, "right"), 1)
    fits = zeros <= _MOST_ZEROS
    begins, lengths = begins[fits], lengths[fits]
    marked = characters.copy()
    marked[begins] = 0
    stays = np.ones(len(characters), bool)
    steps = np.arange(int(lengths.sum())) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    stays[np.repeat(begins, lengths) + steps] = False
    stays[begins] = True
    return marked[stays].tobytes(), values[fits] + zeros[fits] * _ZERO


def put_numbers(rest: bytes, numbers: list[int]) -> bytes:
    """Puts numbers back into a text; the inverse of ``take_numbers``.

    Raises:
        ValueError: there are not as many as the text has places, or one that no text has.
    """
    pieces = rest.split(_MARK)
    texts = [_text(number) for number in numbers]
    return b"".join([pieces[0], *(text + piece for text, piece in zip(texts, pieces[1:], strict=True))])


def _text(number: int) -> bytes:
    if 0 <= number < _ZERO:
        return b"%d" % number
    if number < 0:
        raise ValueError(f"a text has no number {number}")
    zeros, value = divmod(number, _ZERO)
    return b"0" * zeros + b"%d" % value
