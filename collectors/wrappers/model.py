"""Typed model of a signature file. The parser creates it, and the C writer reads it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from pathlib import PurePath
from typing import Final

KINDS: Final = ("OTHER", "CREATE", "DUPLICATE", "DESTROY", "SEEK", "CHANGE_FLAGS", "DELETE", "READ", "WRITE", "SYNC")
LAYERS: Final = ("OTHER", "POSIX", "STDIO", "MPIIO", "HDF5", "NETCDF", "PNETCDF")
CLASSES: Final = ("data", "handle", "seek", "sync", "meta", "char", "memory")
FLAG_WORDS: Final = ("collective", "nonblocking", "append")
RESULT_ROLES: Final = ("none", "status", "bytes", "id", "fd", "stream", "handle")
PLAIN_ROLES: Final = (
    "fd", "stream", "handle", "new_handle", "dirfd", "path", "offset", "size", "count", "int", "uint", "hex", "double",
    "request", "flags", "mode", "datatype", "text", "status", "buffer", "opaque",
)  # fmt: skip
ROLES: Final = (*PLAIN_ROLES, "enum", "array")
EXPRESSIONS: Final = ("failed", "error", "requested", "bytes", "offset", "file", "handle")
"""The attributes whose value is one C expression."""
LIBC: Final = "libc"
IN_SCOPE: Final = ("result", "failed", "requested", "caller")
"""Names that expressions may use, and that no parameter may have."""

_CLASS_OF_KIND: Final = {
    "READ": "data", "WRITE": "data", "CREATE": "handle", "DUPLICATE": "handle", "DESTROY": "handle", "SEEK": "seek",
    "SYNC": "sync",
}  # fmt: skip


class SignatureError(ValueError):
    """A signature file is invalid. The message has the file, the line (from 1) and what was expected there."""

    def __init__(self, path: PurePath | str, line: int, message: str) -> None:
        super().__init__(f"{path}:{line}: {message}")
        self.path = str(path)
        self.line = line
        self.message = message


class Machine(Enum):
    """Representation of values of a C type."""

    VOID = "void"
    SIGNED = "signed integer"
    UNSIGNED = "unsigned integer"
    FLOATING = "floating point"
    POINTER = "pointer"
    AGGREGATE = "struct"
    INCOMPLETE = "incomplete type"
    UNKNOWN = "unknown type"

    @property
    def scalar(self) -> bool:
        """Whether a value fits a word unchanged, and so can be a handle."""
        return self in (Machine.SIGNED, Machine.UNSIGNED, Machine.POINTER)


@dataclass(frozen=True)
class CType:
    """A C type as written, and its resolution.

    Attributes:
        text: The type without the parameter's name, with single spaces: ``const char *``.
        machine: Representation of its values.
        pointee: For a pointer, representation of the target; None for other types.
        read_only: For a pointer, whether the target is const.
        int_sized: Whether the value is an ``int`` or ``unsigned int``.
        pointee_text: For a pointer, the target type, without qualifiers.
        points_to_int: For a pointer, whether the target is an ``int``.
    """

    text: str
    machine: Machine
    pointee: Machine | None = None
    read_only: bool = False
    int_sized: bool = False
    pointee_text: str = ""
    points_to_int: bool = False

    @property
    def points_to_number(self) -> bool:
        """Whether this is a pointer to a value that fits a word."""
        return (
            self.machine is Machine.POINTER
            and self.pointee is not None
            and self.pointee.scalar
            and not (self.is_string)
        )

    @property
    def is_string(self) -> bool:
        """Whether this is a pointer to char."""
        return self.machine is Machine.POINTER and self.pointee_text == "char"


@dataclass(frozen=True)
class Role:
    """Meaning of a value. argument: the names of an ``enum``, the number of elements of an ``array``."""

    name: str
    argument: str = ""

    def __str__(self) -> str:
        if self.name == "enum":
            return f"enum{{{self.argument}}}"
        return f"array({self.argument})" if self.name == "array" else self.name


@dataclass(frozen=True)
class Parameter:
    """One parameter of a prototype. declaration: its C text with the name, as in the prototype."""

    name: str
    declaration: str
    type: CType
    role: Role
    stated: bool = True
    """Whether the file states the role; otherwise it follows from the type."""


@dataclass(frozen=True)
class ExtraItem:
    """An ``extra`` item of a call's signature."""

    name: str
    role: Role
    expression: str


@dataclass(frozen=True)
class Statement:
    """One call of a library, in all its variants.

    Attributes:
        kind: One of `KINDS`.
        symbols: Its functions; the first one gives the name.
        result: The type of the result.
        expressions: Attribute of `EXPRESSIONS` -> C expression, if the file gives one.
        values: Parameter -> C expression that is recorded in its place.
        instead: C expression evaluated in place of the real call where the library lacks the function; empty: none.
        flags: Words of `FLAG_WORDS`, or one other C expression; empty: blocking.
        line: First line, from 1.
    """

    kind: str
    result: CType
    symbols: tuple[str, ...]
    parameters: tuple[Parameter, ...]
    result_role: str = "none"
    variadic: bool = False
    expressions: dict[str, str] = field(default_factory=dict)
    values: dict[str, str] = field(default_factory=dict)
    extras: tuple[ExtraItem, ...] = ()
    name: str = ""
    call_class: str = ""
    instead: str = ""
    flags: tuple[str, ...] = ()
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    custom: bool = False
    line: int = 0

    @property
    def shown(self) -> str:
        """The name that traces show."""
        return self.name or self.symbols[0]

    @property
    def group(self) -> str:
        """Class of calls in IOTIDE_CALLS, one of `CLASSES`."""
        return self.call_class or _CLASS_OF_KIND.get(self.kind, "meta")

    def with_roles(self, *roles: str) -> list[Parameter]:
        """Return the parameters with one of these roles, in their order."""
        return [parameter for parameter in self.parameters if parameter.role.name in roles]

    def all_expressions(self) -> list[str]:
        """Return each piece of C that the file gives for this call."""
        roles = [row.role for row in self.parameters] + [item.role for item in self.extras]
        arrays = [role.argument for role in roles if role.name == "array"]
        extras = [item.expression for item in self.extras]
        return [
            *self.expressions.values(), *self.values.values(), *extras, *arrays, *self.before, *self.after, *self.flags,
            self.instead,
        ]  # fmt: skip


@dataclass(frozen=True)
class SignatureFile:
    """A parsed signature file. types: name -> C type as written, ``opaque`` for one known by pointer only."""

    path: str
    library: str
    layer: str
    anchor: str
    statements: tuple[Statement, ...]
    fails: str = ""
    error: str = ""
    types: dict[str, str] = field(default_factory=dict)
    includes: tuple[str, ...] = ()
    datatype: str = ""
    handle_group: str = ""
    skip: str = ""
    opaque: tuple[str, ...] = ()
    """Types that are only used behind pointers and that no line names."""

    @property
    def is_libc(self) -> bool:
        """Whether this is part of the core library: the calls of libc itself."""
        return self.anchor == LIBC

    def symbols(self) -> list[str]:
        """Return the functions of all calls, in the order of the file."""
        return [symbol for statement in self.statements for symbol in statement.symbols]
