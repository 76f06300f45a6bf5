"""State of analyzers as a document. It is written and read without executing any code that the document names.

A document is one MessagePack map: two versions, the classes with their attribute names, a table of values referenced by
number (so that shared values remain shared), and the root value. Unlike a pickle it only contains data. Its classes are
those of iotide's analyzers, sessions, events and results; an object is created without its constructor and given its
attributes.
"""

from __future__ import annotations

import importlib
from collections import Counter, OrderedDict, deque
from collections.abc import Iterable, Mapping
from enum import Enum
from functools import lru_cache
from typing import Any, Final, TypeAlias

import msgspec.msgpack
import numpy as np
from msgspec.msgpack import Ext
from pydantic import BaseModel

from ...events import IotideError
from ..common.state import Packed, State
from .stored_names import attributes_of, class_of, stored_attributes, stored_class

FORMAT: Final = 1
"""Version of the encoding of values."""
STATE_VERSION: Final = 15
"""Version of the classes' attributes and their meaning. A state of another version is not restored."""
_PACKAGE: Final = __name__.rsplit(".", 3)[0]
_FOLDERS: Final = ("analyzers", "daemon", "events", "results")
_REFERENCE: Final = 1  # extension code of a reference to a value
_LARGE: Final = 2  # extension code of an integer beyond 64 bits
_INTEGER_BOUND: Final = 2**63  # bound of plain integers
(
    _ARRAY,
    _CONSTANT,
    _LIST,
    _TUPLE,
    _SET,
    _FROZEN,
    _DEQUE,
    _DICT,
    _COUNTER,
    _ORDERED,
    _OBJECT,
    _MODEL,
    _ENUM,
    _BYTES,
    _SHARED,
) = range(15)
_MAPS: Final[dict[type, int]] = {dict: _DICT, Counter: _COUNTER, OrderedDict: _ORDERED}
_ROWS: Final[dict[type, int]] = {list: _LIST, tuple: _TUPLE, set: _SET, frozenset: _FROZEN}
_CONTAINERS: Final = frozenset((*_MAPS.values(), *_ROWS.values(), _DEQUE))

Shared: TypeAlias = Mapping[str, object]
"""Objects referenced by name, which a snapshot does not contain and the restoring side provides."""


class SnapshotError(IotideError):
    """A state cannot be written, or a document cannot be read."""


def snapshot(state: object, shared: Shared | None = None) -> bytes:
    """Encode a state.

    Args:
        state: an analyzer, or any value made of numbers, texts, arrays, containers and objects of iotide's classes.
        shared: objects referenced by name.

    Raises:
        SnapshotError: the state contains other values, such as a function; the text names where.
    """
    writer = _Writer(shared or {})
    root = writer.value(state, type(state).__name__)
    document = {
        "format": FORMAT,
        "version": STATE_VERSION,
        "classes": writer.classes,
        "values": writer.values,
        "root": root,
    }
    return msgspec.msgpack.encode(document)


def restore(document: bytes, shared: Shared | None = None) -> Any:
    """Decode a state.

    Args:
        document: result of ``snapshot``.
        shared: objects referenced by name, with the same names.

    Raises:
        SnapshotError: the document is damaged, or of another version.
    """
    try:
        read = msgspec.msgpack.decode(document, ext_hook=_read_extension)
        if not isinstance(read, dict) or read.get("format") != FORMAT:
            raise SnapshotError(f"the snapshot is not of format {FORMAT}")
        if read["version"] != STATE_VERSION:
            raise SnapshotError(f"the snapshot is of version {read['version']}; this iotide has {STATE_VERSION}")
        return _Reader(read, shared or {}).value(read["root"])
    except SnapshotError:
        raise
    except Exception as error:  # a damaged document may cause any error
        raise SnapshotError(f"the snapshot cannot be read: {error!r}") from error


def schema(document: bytes) -> dict[str, list[str]]:
    """Return the attributes of each class in a snapshot, to compare versions."""
    read = msgspec.msgpack.decode(document, ext_hook=_read_extension)
    return {name: sorted(attributes) for name, attributes in sorted(read["classes"])}


class _Reference(int):
    """Number of a value that is written once."""


class _Writer:
    def __init__(self, shared: Shared) -> None:
        self.classes: list[tuple[str, list[str]]] = []
        self.values: list[object] = []
        self._class_numbers: dict[tuple[type, tuple[str, ...]], int] = {}
        self._numbers: dict[int, int] = {}
        self._kept: list[object] = []  # keeps values alive, so that no address is reused
        self._names = {id(value): name for name, value in shared.items()}

    def value(self, value: object, where: str) -> object:
        """Return the encoded form of a value.

        A number or text is encoded as itself, others as the number of their row.
        """
        if value is None or type(value) in (bool, float, str, bytes):
            return value
        if type(value) is int:
            return value if -_INTEGER_BOUND <= value < _INTEGER_BOUND else Ext(_LARGE, str(value).encode())
        number = self._numbers.get(id(value))
        if number is None:
            self._numbers[id(value)] = number = len(self.values)
            self._kept.append(value)
            self.values.append(None)
            self.values[number] = self._row(value, where)
        return Ext(_REFERENCE, number.to_bytes(4, "little"))

    def _row(self, value: Any, where: str) -> list[object]:
        if (name := self._names.get(id(value))) is not None:
            return [_SHARED, name]
        kind = type(value)
        if isinstance(value, np.ndarray | np.generic):
            return _array_row(np.asarray(value), scalar=isinstance(value, np.generic))
        if isinstance(value, Enum):
            return [_ENUM, self._class(kind, ()), value.value]
        if isinstance(value, BaseModel):
            return [_MODEL, self._class(kind, ()), value.model_dump_json()]
        if kind in _MAPS:
            return [_MAPS[kind], self._all((each for pair in value.items() for each in pair), where)]
        if kind in _ROWS:
            return [_ROWS[kind], self._all(value, where)]
        if kind is bytearray:
            return [_BYTES, bytes(value)]
        if kind is deque:
            return [_DEQUE, self._all(value, where), value.maxlen]
        if isinstance(value, State):
            value.fit()
        names, values = _attributes(value, where)
        written = [self.value(each, f"{where}.{name}") for name, each in zip(names, values, strict=True)]
        made_of = value.__getnewargs__() if isinstance(value, str) else ()
        return [_OBJECT, self._class(kind, names), written, self._all(made_of, where)]

    def _all(self, values: Iterable[object], where: str) -> list[object]:
        return [self.value(each, where) for each in values]

    def _class(self, kind: type, names: tuple[str, ...]) -> int:
        number = self._class_numbers.get((kind, names))
        if number is None:
            self._class_numbers[kind, names] = number = len(self.classes)
            name = _name_of(kind)
            self.classes.append((stored_class(name), stored_attributes(name, names)))
        return number


class _Reader:
    def __init__(self, document: dict[str, Any], shared: Shared) -> None:
        self._rows: list[Any] = document["values"]
        self._classes = [_class_of(name, names) for name, names in document["classes"]]
        self._made: dict[int, object] = {}
        self._shared = shared

    def value(self, value: object) -> Any:
        """Return the value of an encoded form."""
        if not isinstance(value, _Reference):
            return value
        if value not in self._made:
            self._make(value)
        return self._made[value]

    def _make(self, number: int) -> None:
        kind, *rest = self._rows[number]
        made: Any
        if kind in (_ARRAY, _CONSTANT):
            made = _array_of(kind, *rest)
        elif kind in _CONTAINERS:
            made = self._container(number, kind, rest)
        elif kind == _OBJECT:
            made = self._object(number, self._classes[rest[0]], rest[1], self._all(rest[2]))
        elif kind == _MODEL:
            made = _model(self._class(rest[0]), rest[1])
        elif kind == _ENUM:
            made = self._class(rest[0])(rest[1])
        elif kind == _BYTES:
            made = bytearray(rest[0])
        elif kind == _SHARED:
            made = self._shared[rest[0]]
        else:
            raise SnapshotError(f"the snapshot has a value of kind {kind!r}, which is none")
        self._made[number] = made

    def _container(self, number: int, kind: int, rest: list[Any]) -> object:
        """Return a container. One that may contain itself is registered before its content is read."""
        made: Any
        if kind in (_TUPLE, _FROZEN):
            return (tuple if kind == _TUPLE else frozenset)(self._all(rest[0]))
        if kind in (_LIST, _SET, _DEQUE):
            made = self._made[number] = [] if kind == _LIST else set() if kind == _SET else deque(maxlen=rest[1])
            (made.update if kind == _SET else made.extend)(self._all(rest[0]))
            return made
        made = self._made[number] = next(kinds for kinds, each in _MAPS.items() if each == kind)()
        flat = self._all(rest[0])
        for key, each in zip(flat[::2], flat[1::2], strict=True):
            made[key] = each
        return made

    def _all(self, values: Iterable[object]) -> list[Any]:
        return [self.value(each) for each in values]

    def _class(self, number: int) -> Any:
        return self._classes[number][0]

    def _object(self, number: int, known: tuple[Any, list[str]], values: list[object], made_of: list[object]) -> object:
        cls, names = known
        if issubclass(cls, msgspec.Struct):
            return cls(**dict(zip(names, self._all(values), strict=True)))
        if issubclass(cls, tuple):
            return cls(*self._all(values))
        made = self._made[number] = cls.__new__(cls, *made_of)
        if issubclass(cls, Packed):
            made.__setstate__(dict(zip(names, self._all(values), strict=True)))
            return made
        for name, each in zip(names, values, strict=True):
            object.__setattr__(made, name, self.value(each))
        return made


def _model(cls: type[BaseModel], text: str) -> BaseModel:
    return _settings(cls, text) if cls.__module__.endswith("settings") else cls.model_validate_json(text)


@lru_cache(64)
def _settings(cls: type[BaseModel], text: str) -> BaseModel:
    """Return frozen settings, cached so that jobs share equal ones."""
    return cls.model_validate_json(text)


def _attributes(value: Any, where: str) -> tuple[tuple[str, ...], list[object]]:
    """Return the names and values of an object's attributes.

    Raises:
        SnapshotError: the class is not one of iotide's, or the value is a function.
    """
    kind = type(value)
    folder = kind.__module__.removeprefix(f"{_PACKAGE}.").split(".")[0]
    if not kind.__module__.startswith(f"{_PACKAGE}.") or folder not in _FOLDERS or isinstance(value, type):
        raise SnapshotError(f"{where} is a {kind.__module__}.{kind.__qualname__}, which is no part of a snapshot")
    if isinstance(value, msgspec.Struct):
        names = value.__struct_fields__
        return names, [getattr(value, name) for name in names]
    if isinstance(value, tuple):
        return tuple(value._fields), list(value)  # type: ignore[attr-defined]
    if isinstance(value, Packed):
        state = value.__getstate__()
        return tuple(state), list(state.values())
    slots = [name for each in reversed(kind.__mro__) for name in _slots(each) if hasattr(value, name)]
    names = (*slots, *getattr(value, "__dict__", {}))
    return names, [getattr(value, name) for name in names]


def _slots(kind: type) -> tuple[str, ...]:
    slots = kind.__dict__.get("__slots__", ())
    return tuple(name for name in ((slots,) if isinstance(slots, str) else slots) if not name.startswith("__"))


def _name_of(kind: type) -> str:
    return f"{kind.__module__.removeprefix(f'{_PACKAGE}.')}:{kind.__qualname__}"


def _class_of(stored: str, attributes: list[str]) -> tuple[type, list[str]]:
    """Return the class with a name in a document, and the attributes with names in it.

    Raises:
        SnapshotError: there is no such class in iotide's analyzers, sessions, events and results.
    """
    name = class_of(stored)
    module, _, path = name.partition(":")
    if module.split(".")[0] not in _FOLDERS or not all(part.isidentifier() for part in module.split(".")):
        raise SnapshotError(f"the snapshot has an object of class {stored!r}, which is no part of one")
    found: Any = importlib.import_module(f"{_PACKAGE}.{module}")
    for part in path.split("."):
        found = getattr(found, part)
    if not isinstance(found, type) or found.__module__ != f"{_PACKAGE}.{module}":
        raise SnapshotError(f"the snapshot has an object of {stored!r}, which is no class of ours")
    return found, attributes_of(name, attributes)


def _array_row(array: np.ndarray[Any, Any], *, scalar: bool) -> list[object]:
    if array.dtype.hasobject:
        raise SnapshotError("an array of objects is no part of a snapshot")
    if array.size > 1 and not any(array.strides):
        return [_CONSTANT, array.dtype.str, list(array.shape), array.reshape(-1)[:1].tobytes()]
    return [_ARRAY, array.dtype.str, None if scalar else list(array.shape), array.tobytes()]


def _array_of(kind: int, dtype: str, shape: list[int] | None, data: bytes) -> object:
    values = np.frombuffer(data, np.dtype(dtype))
    if shape is None:
        return values[0]
    return np.broadcast_to(values[0], shape) if kind == _CONSTANT else values.reshape(shape).copy()


def _read_extension(code: int, view: memoryview) -> object:
    data = bytes(view)
    if code == _REFERENCE:
        return _Reference(int.from_bytes(data, "little"))
    if code == _LARGE:
        return int(data)
    raise SnapshotError(f"the snapshot has an extension of kind {code}, which is none")
