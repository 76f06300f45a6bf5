"""Texts with every number taken out: those of processes that differ in numbers only leave the same text behind."""

from __future__ import annotations

import re
from typing import Final

import numpy as np
import numpy.typing as npt

_MARK: Final = b"\x00"
_HEX_MARK: Final = b"\x01"
_HEX = re.compile(rb"(?<![0-9A-Za-z])(?=[0-9]*[a-f])[0-9a-f]{7,16}(?![0-9A-Za-z])")
_LENGTH: Final = ord("@")
"""What is added to the digits of a hexadecimal word to make the character behind its mark."""
_MOST_DIGITS: Final = 19
_MOST_ZEROS: Final = 15
_MOST_PADDED: Final = 10**17
_TENS: Final = 10 ** np.arange(_MOST_DIGITS + 1, dtype=np.uint64)


def take_numbers(text: bytes) -> tuple[bytes, npt.NDArray[np.int64]]:
    r"""Splits a text that has no bytes 0 and 1 into what stays and its numbers.

    Words of 7 to 16 hexadecimal digits, with a letter among them, are numbers, too; they come after the decimal ones.
    Numbers beyond 63 bits stay in the text. Those with leading zeros, up to 15, are -(16 * value + zeros); they stay
    from 10^17 on.

    >>> take_numbers(b"out.0007 of 12")
    (b'out.\x00 of \x00', array([-115,   12]))
    >>> take_numbers(b"id 00c0ffee")
    (b'id \x01H', array([12648430]))
    """
    words = _HEX.findall(text)
    if not words:
        return _take_decimals(text)
    rest, decimals = _take_decimals(_HEX.sub(lambda found: _HEX_MARK + bytes((_LENGTH + len(found[0]),)), text))
    return rest, np.concatenate([decimals, np.array([int(word, 16) for word in words], np.uint64).view(np.int64)])


def count_numbers(rest: bytes) -> int:
    """Tells how many numbers were taken from a text."""
    return rest.count(_MARK) + rest.count(_HEX_MARK)


def _take_decimals(text: bytes) -> tuple[bytes, npt.NDArray[np.int64]]:
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
    digits = (characters[np.repeat(begins, lengths) + along] - ord("0")).astype(np.uint64)
    weights = _TENS[np.repeat(lengths, lengths) - 1 - along]
    values = np.add.reduceat(digits * weights, np.cumsum(lengths) - lengths)
    zeros = lengths - np.maximum(np.searchsorted(_TENS, values, "right"), 1)
    fits = np.where(zeros > 0, (zeros <= _MOST_ZEROS) & (values < _MOST_PADDED), values < 2**63)
    begins, lengths = begins[fits], lengths[fits]
    marked = characters.copy()
    marked[begins] = 0
    stays = np.ones(len(characters), bool)
    steps = np.arange(int(lengths.sum())) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    stays[np.repeat(begins, lengths) + steps] = False
    stays[begins] = True
    plain, zeros = values[fits].astype(np.int64), zeros[fits]
    return marked[stays].tobytes(), np.where(zeros > 0, -16 * plain - zeros, plain)


def put_numbers(rest: bytes, numbers: list[int]) -> bytes:
    """Puts numbers back into a text; the inverse of ``take_numbers``.

    Raises:
        ValueError: there are not as many as the text has places, or one that no text has.
    """
    pieces = rest.split(_MARK)
    decimals = len(pieces) - 1
    texts = [_text(number) for number in numbers[:decimals]]
    text = b"".join([pieces[0], *(text + piece for text, piece in zip(texts, pieces[1:], strict=True))])
    first, *words = text.split(_HEX_MARK)
    return first + b"".join([_word(number, word) for number, word in zip(numbers[decimals:], words, strict=True)])


def _word(number: int, follows: bytes) -> bytes:
    """Returns a hexadecimal word, and what follows it; its length stands ahead of that."""
    length = follows[0] - _LENGTH if follows else 0
    word = b"%0*x" % (length, number % 2**64)
    if len(word) != length:
        raise ValueError(f"a word of {length} digits is not {word!r}")
    return word + follows[1:]


def _text(number: int) -> bytes:
    if number >= 0:
        return b"%d" % number
    value, zeros = divmod(-number, 16)
    return b"0" * zeros + b"%d" % value
