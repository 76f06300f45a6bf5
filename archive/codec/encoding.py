"""Encode a part of a stream as shared pieces and rank-dependent numbers."""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum
from functools import lru_cache
from typing import Annotated, Any, Final

import msgspec
import numpy as np
import numpy.typing as npt
from msgspec import Struct

from ...events.errors import InputError
from ...events.schema import Kind, Layer
from ..integers.integers import Packed, pack_array, unpack_array
from ..integers.number_templates import count_numbers, integer_count, put_numbers, take_numbers
from .coder import Terminals
from .columns import FIELDS, INTEGERS, STATIC
from .grammar import Rules
from .stream import MAX_CALLS, MAX_CHUNK, MAX_GROUPS, MAX_TERMINALS, Section
from .times import Stamps, Times, pack_stamps

_MAX_SYMBOLS: Final = 1 << 20
MAX_NUMBERS: Final = 1 << 23
"""Maximum number of numbers in a part."""
_SHORT: Final = 2048
"""Maximum size of a cached text, bytes."""
_MAX_TAKEN: Final = 1 << 20
"""Number of numbers in a text above which they are not extracted."""
_Int64 = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]


class PartKind(IntEnum):
    """Content of a part; the parts of a stream have this order."""

    STREAM = 1
    """The stream's id and StreamInfo: JSON. Repeated when the StreamInfo changes."""
    NAMES = 2
    """New files and handles: JSON, Definitions."""
    SECTION = 3
    """A range of the stream's calls, without times."""
    CLOSED = 4
    """The stream has ended: its known losses, JSON."""
    LOSSES = 5
    """Losses of a stream that has not ended, cumulative: JSON."""


class Part(Struct, frozen=True, eq=False):
    """StreamInfo, definitions, or a section without its times.

    Attributes:
        pieces: data shared with other streams.
        numbers: data of this stream alone, int64.
    """

    pieces: list[bytes]
    numbers: npt.NDArray[np.int64]


class _Texts(msgspec.Struct, array_like=True, frozen=True):
    calls: int
    names: list[str]
    templates: list[str]
    threads: list[tuple[_Int64, _Int64, _Int64]]


class _Signatures(msgspec.Struct, array_like=True, frozen=True):
    groups: Packed
    terminal_groups: Packed
    terminal_literals: Packed
    literals: list[int]


class _Grammar(msgspec.Struct, array_like=True, frozen=True):
    lengths: Packed
    values: Packed


_texts_decoder = msgspec.json.Decoder(_Texts)
_signatures_decoder = msgspec.msgpack.Decoder(_Signatures)
_grammar_decoder = msgspec.msgpack.Decoder(_Grammar)
_encoder = msgspec.msgpack.Encoder()
_json = msgspec.json.Encoder()


def text_part(value: Any) -> Part:
    """Encode plain data of one stream as a part."""
    rest, numbers = _split_numbers(_json.encode(value), is_own=True)
    return Part([rest], numbers)


def repeated_text_part(value: Any) -> Part:
    """Return ``text_part`` from a cache, for data that many streams share. The shared part must not be modified."""
    text = _json.encode(value)
    return _part_once(text) if len(text) <= _SHORT else _part_of(text)


def text_of(part: Part) -> bytes:
    """Return the JSON text of a part.

    Raises:
        ValueError: the part is not a text.
    """
    (rest,) = part.pieces
    return put_numbers(rest, part.numbers.tolist())


def section_part(section: Section) -> Part:
    """Encode a section without its times; equal pieces have equal bytes."""
    terminals, rules = section.terminals, section.rules
    texts = _Texts(section.calls, section.names, section.templates, section.threads)
    rest, numbers = _text(texts)
    signatures = _Signatures(
        pack_array(section.groups.T),  # column by column, so that equal values are adjacent
        pack_array(terminals.groups),
        pack_array(terminals.literals),
        [len(each) for each in section.literals],
    )
    grammar = _Grammar(pack_array(rules.lengths), pack_array(rules.values))
    own = [numbers, terminals.growths.T.reshape(-1), rules.counts.view(np.int64), *section.literals]
    return Part([rest, _encoder.encode(signatures), _encoder.encode(grammar)], np.concatenate(own))


def section_of(part: Part, times: Times | None, where: str) -> Section:
    """Decode a section.

    Args:
        part: result of ``section_part``.
        times: times of the section; None: not stored, all are 0.
        where: name for errors.

    Raises:
        InputError: the part is not a section, or needs more memory than a section may.
    """
    try:
        rest, packed_signatures, packed_grammar = part.pieces
        places = count_numbers(rest)
        texts = _texts_decoder.decode(put_numbers(rest, part.numbers[:places].tolist()))
        signatures = _signatures_decoder.decode(packed_signatures)
        grammar = _grammar_decoder.decode(packed_grammar)
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise InputError(where, None, f"a section cannot be decoded: {error}", "what this version writes") from None
    if not 0 <= texts.calls <= MAX_CALLS:
        raise InputError(where, None, f"a section of {texts.calls} calls", f"at most {MAX_CALLS}")
    if any(integer_count(template) > INTEGERS for template in texts.templates):
        raise InputError(where, None, "a template with too many integers", f"at most {INTEGERS}")
    groups = _groups(signatures, texts, where)
    numbers = _Numbers(part.numbers[places:], where)
    terminals = _terminals(signatures, numbers, len(groups), where)
    rules = Rules(
        _column(grammar.lengths, np.uint32, _MAX_SYMBOLS, where),
        _column(grammar.values, np.int32, _MAX_SYMBOLS, where),
        numbers.take(grammar.values.count).view(np.uint64),
    )
    if len(signatures.literals) != len(FIELDS):
        raise InputError(where, None, f"literals of {len(signatures.literals)} fields", f"of {len(FIELDS)}")
    literals = [numbers.take(count) for count in signatures.literals]
    numbers.end()
    if times is None:
        times = Times(0, 0, list(_no_stamps(texts.calls)))
    if any(not 0 < stamps.calls <= MAX_CHUNK for stamps in times.stamps):
        raise InputError(where, None, "times of too many calls in a chunk", f"1 to {MAX_CHUNK}")
    return Section(
        texts.calls,
        times.first_ns,
        times.last_ns,
        groups,
        texts.names,
        texts.templates,
        texts.threads,
        terminals,
        rules,
        literals,
        times.stamps,
    )


@lru_cache(maxsize=1024)
def _part_once(text: bytes) -> Part:
    return _part_of(text)


def _part_of(text: bytes) -> Part:
    rest, numbers = _split_numbers(text)
    return Part([rest], numbers)


def _text(value: Any) -> tuple[bytes, npt.NDArray[np.int64]]:
    return _split_numbers(_json.encode(value))


def _split_numbers(text: bytes, *, is_own: bool = False) -> tuple[bytes, npt.NDArray[np.int64]]:
    rest, numbers = take_numbers(text, is_own=is_own)
    return (rest, numbers) if len(numbers) <= _MAX_TAKEN else (text, numbers[:0])


class _Numbers:
    """Returns the numbers of a part, one range after the other."""

    def __init__(self, numbers: npt.NDArray[np.int64], where: str) -> None:
        self._numbers = numbers
        self._where = where
        self._at = 0

    def take(self, count: int) -> npt.NDArray[np.int64]:
        if not 0 <= count <= len(self._numbers) - self._at:
            raise InputError(self._where, None, f"{len(self._numbers)} numbers of a section", "as many as it says")
        self._at += count
        return self._numbers[self._at - count : self._at]

    def end(self) -> None:
        if self._at != len(self._numbers):
            raise InputError(self._where, None, f"{len(self._numbers)} numbers of a section", f"{self._at}")


def _groups(signatures: _Signatures, texts: _Texts, where: str) -> npt.NDArray[np.int64]:
    groups = _table(signatures.groups, len(STATIC), MAX_GROUPS + MAX_CHUNK, where)
    kinds = [len(texts.names), max(Layer) + 1, max(Kind) + 1]
    limits = np.array([*kinds, 256, 1 << 16, 1 << 16, len(texts.templates), len(texts.threads)])
    if len(groups) and ((groups < 0) | (groups >= limits)).any():
        raise InputError(where, None, "a group has a value out of range", "numbers of what the section defines")
    return groups


def _terminals(signatures: _Signatures, numbers: _Numbers, groups: int, where: str) -> Terminals:
    most = MAX_TERMINALS + MAX_CHUNK
    group = _column(signatures.terminal_groups, np.uint32, most, where)
    literals = _column(signatures.terminal_literals, np.uint32, most, where)
    if len(group) != len(literals):
        raise InputError(where, None, "terminals of unequal columns", "one row each")
    if len(group) and int(group.max()) >= groups:
        raise InputError(where, None, "a terminal of a group that is not there", f"groups below {groups}")
    growths = numbers.take(len(FIELDS) * len(group)).reshape(len(FIELDS), -1).T
    return Terminals(group, literals, np.ascontiguousarray(growths))


def _no_stamps(calls: int) -> Iterator[Stamps]:
    for at in range(0, calls, MAX_CHUNK):
        count = min(MAX_CHUNK, calls - at)
        zeros = np.zeros(count, np.int64)
        yield pack_stamps(zeros, zeros)


def _column(array: Packed, dtype: type[Any], most: int, where: str) -> npt.NDArray[Any]:
    values = unpack_array(array, most, where)
    limits = np.iinfo(dtype)
    if len(values) and (int(values.min()) < limits.min or int(values.max()) > limits.max):
        raise InputError(where, None, "an integer out of range", f"values of {np.dtype(dtype).name}")
    return values.astype(dtype)


def _table(array: Packed, width: int, most: int, where: str) -> npt.NDArray[np.int64]:
    values = unpack_array(array, most * width, where)
    if len(values) % width:
        raise InputError(where, None, f"a table of {len(values)} integers", f"rows of {width}")
    return np.ascontiguousarray(values.reshape(width, -1).T)
