"""Extract numbers from texts. Processes, calls and file names often differ only in numbers."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Final

import numpy as np
import numpy.typing as npt

_MARK: Final = b"\x00"
_WORD_MARK: Final = b"\x01"
_LENGTH: Final = ord("@")
"""Offset from the number of digits of a hexadecimal word to the character after its mark."""
_MAX_ZEROS: Final = 15
_MAX_PADDED: Final = 10**17
_LONGEST: Final = 40
"""Number of digits from which a digit string is not treated as a number."""
_DIGITS = re.compile(rb"([0-9]+)")
_LONGEST_WORD: Final = 16
_DIGIT, _LETTER, _OTHER = b"h", b"l", b"-"
_HEX: Final = b"".join(
    _DIGIT if chr(code) in "0123456789abcdef" else _LETTER if chr(code).isalnum() and code < 128 else _OTHER
    for code in range(256)
)
"""Class of each character: a hexadecimal digit, another letter, or neither."""
_APART: Final = frozenset((b"", _OTHER))
"""Classes beside a word."""
_BETWEEN: Final = b"],["
_SHORT: Final = 512
_SPARSE: Final = 4
"""Ratio of the highest number to their count from which a table of all numbers is not worth its memory."""
_ZERO: Final = ord("0")
_SEVEN: Final = 7 * b"h"
_NUMBER = re.compile(r"(?<![0-9A-Za-z_.#@])-?(?:0|[1-9][0-9]{0,17})(?![0-9A-Za-z_.])")
"""Decimal integers as separate words that are restored exactly."""
_TEXT_MARK: Final = "\x00"


def take_numbers(text: bytes, *, is_own: bool = False) -> tuple[bytes, npt.NDArray[np.int64]]:
    r"""Split a text without bytes 0 and 1 into the remaining text and its numbers.

    Words of 7 to 16 hexadecimal digits with a letter among them are numbers, too; they follow the decimal ones. Numbers
    beyond 63 bits remain in the text. Numbers with up to 15 leading zeros are encoded as -(16 * value + zeros); they
    remain in the text from 10^17 on.

    >>> take_numbers(b"out.0007 of 12")
    (b'out.\x00 of \x00', array([-115,   12]))
    >>> take_numbers(b"id 00c0ffee")
    (b'id \x01H', array([12648430]))

    Args:
        text: the text.
        is_own: no other text has the same parts, so that results are not looked up.
    """
    rests, numbers, words = [], [], []
    for each in text.split(_BETWEEN):
        rest, its_numbers, its_words = _take_known(each) if len(each) <= _SHORT and not is_own else _take(each)
        rests.append(rest)
        numbers += its_numbers
        words += its_words
    return _BETWEEN.join(rests), np.array(numbers + words, np.int64)


def count_numbers(rest: bytes, *, words: bool = True) -> int:
    """Return how many numbers were extracted from a text. Without words only the decimal ones, which come first."""
    return rest.count(_MARK) + (rest.count(_WORD_MARK) if words else 0)


def put_numbers(rest: bytes, numbers: list[int]) -> bytes:
    """Insert numbers into a text; the inverse of ``take_numbers``.

    Raises:
        ValueError: the number of numbers is wrong, or one is impossible.
    """
    pieces = rest.split(_MARK)
    decimals = len(pieces) - 1
    texts = [_text(number) for number in numbers[:decimals]]
    text = b"".join([pieces[0], *(text + piece for text, piece in zip(texts, pieces[1:], strict=True))])
    first, *words = text.split(_WORD_MARK)
    return first + b"".join([_word(number, word) for number, word in zip(numbers[decimals:], words, strict=True)])


def _take(text: bytes) -> tuple[bytes, list[int], list[int]]:
    """Return the remaining text, the decimal numbers, and the hexadecimal words."""
    classes = text.translate(_HEX)
    text, words = _take_words(text, classes) if _SEVEN in classes else (text, [])
    pieces, numbers = _DIGITS.split(text), list[int]()
    for at in range(1, len(pieces), 2):
        number = _number(pieces[at])
        if number is not None:
            numbers.append(number)
            pieces[at] = _MARK
    return b"".join(pieces), numbers, words


def _take_words(text: bytes, classes: bytes) -> tuple[bytes, list[int]]:
    """Return a text without its hexadecimal words, and these. A regular expression takes ten times as long.

    Args:
        text: the text.
        classes: the class of each of its characters.
    """
    pieces, words, at, end = list[bytes](), list[int](), 0, 0
    while (begin := classes.find(_SEVEN, end)) >= 0:
        window = classes[begin : begin + _LONGEST_WORD + 1]
        end = begin + len(window) - len(window.lstrip(_DIGIT))
        word = text[begin:end]
        is_apart = _APART.issuperset((classes[begin - 1 : begin], classes[end : end + 1]))
        if is_apart and len(word) <= _LONGEST_WORD and not word.isdigit():
            words.append(_signed(int(word, 16)))
            pieces += (text[at:begin], _WORD_MARK, bytes((_LENGTH + len(word),)))
            at = end
    return b"".join([*pieces, text[at:]]), words


_take_known = lru_cache(maxsize=1 << 14)(_take)
"""Cached, because processes repeat most of each other's texts about files."""


def _number(digits: bytes) -> int | None:
    """Return the number of a digit string; None: it remains in the text."""
    if len(digits) >= _LONGEST:
        return None
    value = int(digits)
    if digits[0] != _ZERO or len(digits) == 1:
        return value if value < 2**63 else None
    zeros = len(digits) - len(str(value))
    return -16 * value - zeros if zeros <= _MAX_ZEROS and value < _MAX_PADDED else None


def _signed(value: int) -> int:
    return value - 2**64 if value >= 2**63 else value


def _word(number: int, follows: bytes) -> bytes:
    """Return a hexadecimal word and the text after it, which begins with the word's length."""
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


def extract_integers(text: str, most: int) -> tuple[str, tuple[int, ...]]:
    r"""Split a text into its constant part and its integers. It takes at most ``most`` integers, left to right.

    >>> extract_integers("pwrite64(fd=3, count=64)", 6)
    ('pwrite64(fd=\x00, count=\x00)', (3, 64))
    """
    if _TEXT_MARK in text:
        return 2 * _TEXT_MARK + text, ()  # two consecutive marks never come from a text with numbers
    numbers: list[int] = []

    def note(found: re.Match[str]) -> str:
        if len(numbers) == most or found.group() == "-0":
            return found.group()
        numbers.append(int(found.group()))
        return _TEXT_MARK

    return _NUMBER.sub(note, text), tuple(numbers)


@lru_cache(maxsize=1 << 13)
def _extracted(text: str, most: int) -> tuple[str, tuple[int, ...]]:
    """Return the same, padded with zeros to ``most`` integers. Cached, because processes repeat each other's texts."""
    template, numbers = extract_integers(text, most)
    return template, numbers + (0,) * (most - len(numbers))


def integer_count(template: str) -> int:
    """Return the number of integers of a template."""
    return 0 if template.startswith(2 * _TEXT_MARK) else template.count(_TEXT_MARK)


def insert_integers(template: str, numbers: list[int]) -> str:
    """Insert integers into a template; the inverse of ``extract_integers``.

    Raises:
        ValueError: the number of integers differs from that of the template.
    """
    if template.startswith(2 * _TEXT_MARK):
        return template[2:]
    parts = template.split(_TEXT_MARK)
    return "".join([parts[0], *(f"{number}{part}" for number, part in zip(numbers, parts[1:], strict=True))])


class Templates:
    """The signatures of one stream, by the stream's numbers: template and integers of each.

    Attributes:
        texts: the templates, by number; 0 is the call without a signature.
        numbers: template of each signature, int32; -1: not processed yet.
        integers: integers of each signature, int64[len(numbers), most].
    """

    def __init__(self, most: int) -> None:
        self.texts = [""]
        self.numbers = np.full(8, -1, np.int32)
        self.integers = np.zeros((8, most), np.int64)
        self.numbers[0] = 0
        self._most = most
        self._known = {"": 0}

    @property
    def nbytes(self) -> int:
        """Size of the arrays, bytes."""
        return int(self.numbers.nbytes + self.integers.nbytes)

    def learn(self, signatures: npt.NDArray[np.int64], text_of: Callable[[int], str]) -> None:
        """Process the new ones among the signatures with these numbers, int64[n]."""
        distinct = distinct_in_order(signatures)
        self.numbers = grown(self.numbers, int(distinct.max(initial=0)) + 1)
        if len(self.integers) < len(self.numbers):
            integers = np.zeros((len(self.numbers), self._most), np.int64)
            integers[: len(self.integers)] = self.integers
            self.integers = integers
        fresh = distinct[self.numbers[distinct] < 0]
        if not len(fresh):
            return
        places, rows = [], []
        for number in fresh.tolist():
            text = text_of(number)
            template, values = (_extracted if len(text) <= _SHORT else _extracted.__wrapped__)(text, self._most)
            place = self._known.setdefault(template, len(self.texts))
            if place == len(self.texts):
                self.texts.append(template)
            places.append(place)
            rows.append(values)
        self.numbers[fresh] = places
        self.integers[fresh] = rows


def grown(numbers: npt.NDArray[np.int32], wanted: int) -> npt.NDArray[np.int32]:
    """Return an array of at least that length, filled with -1."""
    if wanted <= len(numbers):
        return numbers
    longer = np.full(max(wanted, 2 * len(numbers)), -1, np.int32)
    longer[: len(numbers)] = numbers
    return longer


def distinct_in_order(numbers: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return the distinct numbers in the order of their first appearance."""
    highest = int(numbers.max(initial=0))
    if highest > _SPARSE * len(numbers):
        distinct, first = np.unique(numbers, return_index=True)
        return distinct[np.argsort(first, kind="stable")]
    first = np.full(highest + 1, -1)
    first[numbers[::-1]] = np.arange(len(numbers) - 1, -1, -1)  # the last assignment wins, which is the first row
    return numbers[np.sort(first[first >= 0])]
