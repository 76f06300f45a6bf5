"""A section as bytes, in two parts: its shape, which processes that do the same share, and what is its own."""

from __future__ import annotations

from typing import Annotated, Any, Final

import msgspec
import numpy as np
import numpy.typing as npt

from ..errors import InputError
from ..schema import Kind, Layer
from . import integers
from .coder import Terminals
from .columns import FIELDS, INTEGERS, STATIC
from .grammar import Rules
from .stream import MOST_CALLS, MOST_CHUNK, MOST_GROUPS, MOST_LITERALS, MOST_TERMINALS, Section
from .templates import places_in

_MOST_SYMBOLS: Final = 1 << 20
_Int64 = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]


class _Array(msgspec.Struct, array_like=True, frozen=True):
    """Integers, row after row, as ``integers.pack`` makes them."""

    count: int
    packed: bytes


class _Shape(msgspec.Struct, array_like=True, frozen=True):
    names: list[str]
    templates: list[str]
    groups: _Array
    terminal_groups: _Array
    terminal_literals: _Array
    terminal_growths: _Array
    rule_lengths: _Array
    rule_values: _Array
    rule_counts: _Array


class _Own(msgspec.Struct, array_like=True, frozen=True):
    calls: int
    first_ns: _Int64
    last_ns: _Int64
    threads: list[tuple[_Int64, _Int64, _Int64]]
    literals: list[_Array]
    stamps: list[tuple[int, bytes, bytes]]


_shape_decoder = msgspec.msgpack.Decoder(_Shape)
_own_decoder = msgspec.msgpack.Decoder(_Own)
_encoder = msgspec.msgpack.Encoder()


def encode_shape(section: Section) -> bytes:
    """Encodes what does not depend on the process: names, signatures, grammar. Equal shapes have equal bytes."""
    terminals, rules = section.terminals, section.rules
    return _encoder.encode(
        _Shape(
            section.names,
            section.templates,
            _pack(section.groups.T),  # column after column: equal values stand together
            _pack(terminals.groups),
            _pack(terminals.literals),
            _pack(terminals.growths.T),
            _pack(rules.lengths),
            _pack(rules.values),
            _pack(rules.counts),
        )
    )


def encode_own(section: Section) -> bytes:
    """Encodes what differs from process to process: threads, literals, times."""
    return _encoder.encode(
        _Own(
            section.calls,
            section.first_ns,
            section.last_ns,
            section.threads,
            [_pack(each) for each in section.literals],
            section.stamps,
        )
    )


def decode_section(shape: bytes, own: bytes, where: str) -> Section:
    """Decodes a section from its two parts.

    Raises:
        InputError: they are no section, or would take more memory than a section may.
    """
    try:
        what, mine = _shape_decoder.decode(shape), _own_decoder.decode(own)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(where, None, f"a section cannot be decoded: {error}", "what this version writes") from None
    if not 0 <= mine.calls <= MOST_CALLS or any(not 0 < count <= MOST_CHUNK for count, _, _ in mine.stamps):
        raise InputError(where, None, f"a section of {mine.calls} calls", f"at most {MOST_CALLS}")
    if len(mine.literals) != len(FIELDS):
        raise InputError(where, None, f"literals of {len(mine.literals)} fields", f"of {len(FIELDS)}")
    if any(places_in(template) > INTEGERS for template in what.templates):
        raise InputError(where, None, "a template with too many integers", f"at most {INTEGERS}")
    if sum(each.count for each in mine.literals) > MOST_LITERALS + len(FIELDS) * MOST_CHUNK:
        raise InputError(where, None, "too many literals", f"at most {MOST_LITERALS + len(FIELDS) * MOST_CHUNK}")
    groups = _table(what.groups, len(STATIC), MOST_GROUPS + MOST_CHUNK, where)
    limits = np.array(
        [len(what.names), max(Layer) + 1, max(Kind) + 1, 256, 1 << 16, 1 << 16, len(what.templates), len(mine.threads)]
    )
    if len(groups) and ((groups < 0) | (groups >= limits)).any():
        raise InputError(where, None, "a group has a value out of range", "numbers of what the section defines")
    most = MOST_TERMINALS + MOST_CHUNK
    terminals = Terminals(
        _column(what.terminal_groups, np.uint32, most, where),
        _column(what.terminal_literals, np.uint32, most, where),
        _table(what.terminal_growths, len(FIELDS), most, where),
    )
    if not len(terminals.groups) == len(terminals.literals) == len(terminals.growths):
        raise InputError(where, None, "terminals of unequal columns", "one row each")
    if len(terminals) and int(terminals.groups.max()) >= len(groups):
        raise InputError(where, None, "a terminal of a group that is not there", f"groups below {len(groups)}")
    rules = Rules(
        _column(what.rule_lengths, np.uint32, _MOST_SYMBOLS, where),
        _column(what.rule_values, np.int32, _MOST_SYMBOLS, where),
        _column(what.rule_counts, np.uint64, _MOST_SYMBOLS, where),
    )
    literals = [_column(each, np.int64, MOST_CALLS, where) for each in mine.literals]
    return Section(
        mine.calls,
        mine.first_ns,
        mine.last_ns,
        groups,
        what.names,
        what.templates,
        mine.threads,
        terminals,
        rules,
        literals,
        mine.stamps,
    )


def _pack(array: npt.NDArray[Any]) -> _Array:
    flat = np.ascontiguousarray(array, np.int64).reshape(-1)
    return _Array(len(flat), integers.pack(flat))


def _column(array: _Array, dtype: type[Any], most: int, where: str) -> npt.NDArray[Any]:
    if not 0 <= array.count <= most:
        raise InputError(where, None, f"an array of {array.count} integers", f"at most {most}")
    values = integers.unpack(array.packed, array.count, where)
    limits = np.iinfo(dtype)
    if len(values) and dtype is not np.uint64 and (int(values.min()) < limits.min or int(values.max()) > limits.max):
        raise InputError(where, None, "an integer out of range", f"values of {np.dtype(dtype).name}")
    return values.astype(dtype)


def _table(array: _Array, width: int, most: int, where: str) -> npt.NDArray[np.int64]:
    values = _column(array, np.int64, most * width, where)
    if len(values) % width:
        raise InputError(where, None, f"a table of {len(values)} integers", f"rows of {width}")
    return np.ascontiguousarray(values.reshape(width, -1).T)
