"""Decide the target of a call and the encoding of its parameters. The call's specification is written, too."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from .model import ExtraItem, Machine, Parameter, Role, Statement

MAX_WORDS: Final = 64
"""IOTIDE_MAX_WORDS of tracer.h."""
MAX_ELEMENTS: Final = 16
MAX_ARRAYS: Final = 6

_CODES: Final = {
    "int": "i", "uint": "u", "hex": "x", "double": "g", "request": "x", "flags": "O", "mode": "m", "dirfd": "i",
    "text": "s", "array": "a", "status": "-", "buffer": "-", "opaque": "-",
}  # fmt: skip
_OF_EXTRAS: Final = frozenset(
    {
        "int", "uint", "hex", "double", "request", "flags", "mode", "text", "array", "enum", "path",
        "handle", "datatype",
    }
)  # fmt: skip
FROM_FIELDS: Final = frozenset("dfon-")
"""Codes that take no word."""


class PlanError(ValueError):
    """A call's parameters cannot be recorded as the file says."""


@dataclass(frozen=True)
class Shown:
    """One item of a call's signature.

    Attributes:
        code: As in the specification: ``d``, ``i``, ``e=A/B`` ...
        parameter: None for an extra item and for the result.
        expression: The C expression recorded in place of the parameter; empty: the parameter itself.
        directory: For a path, the name of the preceding ``dirfd`` parameter; empty: none.
    """

    name: str
    code: str
    role: Role
    parameter: Parameter | None = None
    expression: str = ""
    directory: str = ""


@dataclass(frozen=True)
class Plan:
    """Recording plan of one call.

    Attributes:
        source: The descriptor, stream or handle that the call uses, or creates a new one from.
        creates: ``fd``, ``stream`` or ``handle`` for a result, the parameter for a ``new_handle``; None: nothing.
        path: The parameter that names the event's file.
        directory: The ``dirfd`` to which it is relative; empty: none.
        descriptor: The item for the record's descriptor: a parameter's name, ``result``, or empty.
        shown: All items of the signature, the result (if recorded as a word) last.
        result_code: Code of the result in the specification, or empty.
    """

    statement: Statement
    source: Parameter | None
    creates: Parameter | str | None
    path: Parameter | None
    directory: str
    descriptor: str
    shown: tuple[Shown, ...]
    result_code: str

    @property
    def word_items(self) -> list[Shown]:
        """The items that are encoded as words, in their order."""
        return [item for item in self.shown if item.code not in FROM_FIELDS]

    @property
    def most_elements(self) -> int:
        """Maximum number of recorded elements of each array."""
        arrays = sum(item.code == "a" for item in self.word_items)
        return min(MAX_ELEMENTS, (MAX_WORDS - (len(self.word_items) - arrays)) // max(arrays, 1) - 1)


def plan(statement: Statement, *, grouped: bool = False, named_datatypes: bool = False) -> Plan:
    """Return the plan of a call. grouped, named_datatypes: whether the file has the lines ``group`` and ``datatype``.

    Raises:
        PlanError: More words than a record takes, or a role that its parameter's type cannot have.
    """
    sources = statement.with_roles("fd", "stream", "handle")
    source = sources[0] if sources else None
    news = statement.with_roles("new_handle")
    creates: Parameter | str | None = None
    if statement.result_role in ("fd", "stream", "handle"):
        creates = statement.result_role
    elif news:
        creates = news[0]
    paths = [] if source and not creates else statement.with_roles("path")
    path = paths[0] if paths else None
    descriptor = _descriptor(statement, source, creates, grouped)
    shown = [
        _shown(statement, parameter, _code(parameter, descriptor, path, grouped, named_datatypes, statement))
        for parameter in statement.parameters
    ]
    shown += [_extra(item, grouped, named_datatypes) for item in statement.extras]
    result_code = _result_code(statement, descriptor)
    if result_code and result_code != "d":
        shown.append(Shown("result", result_code, Role("int"), expression="result"))
    directory = _directory_before(statement, path) if path else ""
    found = Plan(statement, source, creates, path, directory, descriptor, tuple(shown), result_code)
    if found.most_elements < 1 or len(found.word_items) > MAX_WORDS:
        raise PlanError(f"expected at most {MAX_WORDS} recorded values: make some parameters `opaque`")
    return found


def specification(statement: Statement, *, grouped: bool = False, datatypes: bool = False) -> str:
    """Return the text of ENTRY_CALL: ``NAME(PARAMETER:CODE,...)=CODE``."""
    planned = plan(statement, grouped=grouped, named_datatypes=datatypes)
    items = [item for item in planned.shown if item.name != "result" or item.parameter]
    tail = f"={planned.result_code}" if planned.result_code else ""
    return f"{statement.shown}({','.join(f'{item.name}:{item.code}' for item in items)}){tail}"


def _descriptor(statement: Statement, source: Parameter | None, creates: Parameter | str | None, grouped: bool) -> str:
    if creates in ("fd", "stream"):
        return "result"
    if creates == "handle":
        return "result" if statement.result.int_sized and not grouped else ""
    if isinstance(creates, Parameter):
        return creates.name if creates.type.points_to_int and not grouped else ""
    if source and source.role.name == "handle":
        return source.name if _is_int(source) and not grouped else ""
    return source.name if source else ""


def _is_int(parameter: Parameter) -> bool:
    return parameter.type.int_sized or parameter.type.points_to_int


def _code(
    parameter: Parameter, descriptor: str, path: Parameter | None, grouped: bool, datatypes: bool, of: Statement
) -> str:
    role, name = parameter.role.name, parameter.name
    _check_type(parameter)
    if role == "enum":
        return f"e={parameter.role.argument}"
    if role == "count":
        return "u" if parameter.type.machine is Machine.UNSIGNED else "i"
    if role in ("fd", "stream"):
        return "d" if name == descriptor else "i"
    if role in ("handle", "new_handle"):
        return "d" if name == descriptor else "k" if grouped else "h"
    if role == "path":
        return "f" if path and name == path.name and name not in of.values else "p"
    if role == "size":
        first = of.with_roles("size")[0].name == name
        return "n" if first and "requested" not in of.expressions and name not in of.values else "u"
    if role == "offset":
        if parameter.type.machine is Machine.POINTER and name not in of.values:
            return "-"
        first = of.with_roles("offset")[0].name == name
        return "o" if first and "offset" not in of.expressions and name not in of.values else "i"
    if role == "datatype":
        return "s" if datatypes else "x"
    return _CODES[role]


_NEEDS_NUMBER: Final = "an integer or a pointer"


def _check_type(parameter: Parameter) -> None:
    wanted = _wanted(parameter)
    if wanted:
        role, found = parameter.role.name, parameter.type.text
        raise PlanError(f"the role {role!r} of {parameter.name!r} expects {wanted}, found {found!r}")


def _wanted(parameter: Parameter) -> str:
    """Return the type that the parameter needs for its role; empty if it has it."""
    role, of = parameter.role.name, parameter.type
    pointer = of.machine is Machine.POINTER
    known = of.machine is not Machine.UNKNOWN
    if role in ("opaque", "buffer", "status") or not known:
        return ""
    if role == "array":
        return "" if of.points_to_number or of.pointee is Machine.INCOMPLETE else "a pointer to integers"
    if role == "new_handle":
        return "" if of.points_to_number else "a pointer to the new handle's value"
    if role in ("text", "path"):
        return "" if pointer else "a pointer to char"
    if role == "double":
        return "" if of.machine is Machine.FLOATING else "floating point"
    return "" if of.machine.scalar else _NEEDS_NUMBER


def _shown(statement: Statement, parameter: Parameter, code: str) -> Shown:
    directory = _directory_before(statement, parameter) if parameter.role.name == "path" else ""
    replaced = statement.values.get(parameter.name, "")
    return Shown(parameter.name, code, parameter.role, parameter, replaced, directory)


def _extra(item: ExtraItem, grouped: bool, datatypes: bool) -> Shown:
    role = item.role.name
    if role not in _OF_EXTRAS:
        raise PlanError(f"expected a role of a value ({', '.join(sorted(_OF_EXTRAS))}) for {item.name!r}")
    special = {
        "enum": f"e={item.role.argument}", "path": "p", "handle": "k" if grouped else "h",
        "datatype": "s" if datatypes else "x",
    }  # fmt: skip
    return Shown(item.name, special.get(role) or _CODES[role], item.role, None, item.expression)


def _directory_before(statement: Statement, path: Parameter) -> str:
    at = statement.parameters.index(path)
    before = statement.parameters[at - 1] if at else None
    return before.name if before and before.role.name == "dirfd" else ""


def _result_code(statement: Statement, descriptor: str) -> str:
    if descriptor == "result":
        return "" if statement.result_role == "stream" else "d"
    if statement.result_role != "id":
        return ""
    result = statement.result
    if result.is_string:
        return "s"
    codes = {Machine.UNSIGNED: "u", Machine.FLOATING: "g", Machine.POINTER: "x"}
    return codes.get(result.machine, "i")
