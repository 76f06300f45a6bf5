"""Parse signature files (docs/preload-signatures.md)."""

from __future__ import annotations

import errno
import os
import re
import stat
from dataclasses import replace
from pathlib import Path
from typing import Final

from . import model
from .declarations import IDENTIFIER, DeclarationError, Types, split_declaration, squeeze
from .model import CType, ExtraItem, Machine, Parameter, Role, SignatureError, SignatureFile, Statement
from .signature_lines import Block, blocks_of, split_top

_MAX_TEXT: Final = 16 << 20
_ROLE: Final = re.compile(r"([a-z_]+)\s*(?:\{(.*)\}|\((.*)\))?", re.DOTALL)
_ENUM_NAME: Final = re.compile(r"[\w.+-]*", re.ASCII)
_SHOWN: Final = re.compile(r"[A-Za-z_][\w.]*", re.ASCII)
_LIBRARY: Final = re.compile(r"[a-z][a-z0-9_]*")
_MAX_SPECIFICATION: Final = 3500
"""Maximum size of ENTRY_CALL's text, which the core keeps below a page, bytes."""
_HEAD: Final = ("library", "layer", "anchor", "fails", "error", "type", "include", "datatype", "group", "skip")


def read(path: Path) -> SignatureFile:
    """Read a file. Raises SignatureError, also for a file that cannot be opened or is not UTF-8."""
    try:
        return parse(_text_of(path), str(path))
    except OSError as error:
        raise SignatureError(path, 1, f"cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise SignatureError(path, 1, f"expected UTF-8: {error}") from None


def _text_of(path: Path) -> str:
    """Return the text of a regular file. Not imported, because setup.py builds without the package that has a similar
    function.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)  # does not wait for a pipe's writer
    with os.fdopen(descriptor, encoding="utf-8") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "not a regular file", str(path))
        return file.read(_MAX_TEXT)


def parse(text: str, path: str = "signatures") -> SignatureFile:
    """Parse a signature file; path is used in messages. Raises SignatureError."""
    head: dict[str, str] = {}
    types: dict[str, str] = {}
    includes: list[str] = []
    statements: list[Block] = []
    for block in blocks_of(text, path):
        word, _, rest = block.text.partition(" ")
        if word in model.KINDS:
            statements.append(block)
            continue
        _head_line(path, block, word, rest.strip(), (head, types, includes))
    for needed in ("library", "layer", "anchor"):
        if needed not in head:
            raise SignatureError(path, 1, f"expected a line `{needed} ...` in the head of the file")
    known = Types(types, lenient=bool(includes) or head["anchor"] == model.LIBC)
    parser = _Statements(path, known)
    found = tuple(parser.statement(block) for block in statements)
    if head["anchor"] == model.LIBC and (wrong := next((each for each in found if each.instead), None)):
        raise SignatureError(path, wrong.line, "expected no `instead`: libc has all of its functions")
    return SignatureFile(
        path=path,
        library=head["library"],
        layer=head["layer"],
        anchor=head["anchor"],
        statements=found,
        fails=head.get("fails", ""),
        error=head.get("error", ""),
        types=types,
        includes=tuple(includes),
        datatype=head.get("datatype", ""),
        handle_group=head.get("group", ""),
        skip=head.get("skip", ""),
        opaque=tuple(known.opaque),
    )


def _head_line(
    path: str, block: Block, word: str, rest: str, to: tuple[dict[str, str], dict[str, str], list[str]]
) -> None:
    head, types, includes = to
    if word not in _HEAD:
        kinds = ", ".join(model.KINDS)
        raise SignatureError(
            path, block.line, f"expected one of {', '.join(_HEAD)} or a kind of call ({kinds}), found {word!r}"
        )
    if block.attributes:
        raise SignatureError(path, block.attributes[0][0], f"expected no attributes below `{word}`")
    if not rest:
        raise SignatureError(path, block.line, f"expected something after `{word}`")
    if word == "type":
        _add_type(path, block, rest, types)
    elif word == "include":
        if not re.fullmatch(r"<[\w./+-]+>", rest):
            raise SignatureError(path, block.line, f"expected `include <HEADER>`, found {block.text!r}")
        includes.append(rest)
    elif word in head:
        raise SignatureError(path, block.line, f"`{word}` is given already")
    else:
        if problem := _head_problem(word, rest):
            raise SignatureError(path, block.line, problem)
        head[word] = rest


def _add_type(path: str, block: Block, rest: str, types: dict[str, str]) -> None:
    name, equals, text = rest.partition("=")
    if not equals or not IDENTIFIER.fullmatch(name.strip()) or not text.strip():
        raise SignatureError(path, block.line, f"expected `type NAME = C TYPE`, found {block.text!r}")
    if name.strip() in types:
        raise SignatureError(path, block.line, f"the type {name.strip()!r} is declared already")
    types[name.strip()] = squeeze(text) if "{" not in text else re.sub(r"\s+", " ", text.strip())


def _head_problem(word: str, rest: str) -> str:
    """Return why a value of the head is invalid, or ""."""
    allowed = {"library": _LIBRARY, "anchor": IDENTIFIER}.get(word)
    if allowed and not allowed.fullmatch(rest):
        what = "lower case letters, digits and _" if word == "library" else "the name of a function, or libc"
        return f"expected {what} after `{word}`, found {rest!r}"
    if word == "library" and rest == "preload":
        return "the name 'preload' is that of the core library: choose another"
    if word == "layer" and rest not in model.LAYERS:
        return f"expected a layer ({', '.join(model.LAYERS)}), found {rest!r}"
    if word in ("datatype", "group") and not re.search(r"\bvalue\b", rest):
        return f"expected an expression over `value` after `{word}`, found {rest!r}"
    return ""


class _Statements:
    """Parses the statements of one file."""

    def __init__(self, path: str, types: Types) -> None:
        self._path = path
        self._types = types
        self._seen: dict[str, int] = {}

    def statement(self, block: Block) -> Statement:
        kind, _, rest = block.text.partition(" ")
        at, line = block.line, block.line
        opened = rest.find("(")
        closed = _closing(rest, opened)
        if opened < 0 or closed < 0:
            raise self._error(at, "expected a prototype: RESULT name(PARAMETERS)")
        names = re.search(r"[A-Za-z_]\w*(?:\s*\|\s*[A-Za-z_]\w*)*\s*$", rest[:opened])
        if not names or not rest[: names.start()].strip():
            raise self._error(at, f"expected a type and a name before '(', found {rest[:opened].strip()!r}")
        symbols = tuple(symbol.strip() for symbol in names.group().split("|"))
        for symbol in symbols:
            if symbol in self._seen:
                raise self._error(at, f"{symbol} stands on line {self._seen[symbol]} already")
            self._seen[symbol] = line
        result = self._type(at, rest[: names.start()])
        if result.machine is Machine.INCOMPLETE:
            raise self._error(at, f"the result's type {result.text!r} is opaque: it can only stand behind a pointer")
        parameters, variadic = self._parameters(at, rest[opened + 1 : closed])
        role = self._result_role(at, rest[closed + 1 :].strip(), result)
        found = Statement(kind, result, symbols, parameters, role, variadic, line=line)
        for number, text in block.attributes:
            found = self._attribute(number, text, found)
        if variadic and not found.custom:
            raise self._error(at, f"{symbols[0]} is variadic: expected the attribute `custom`")
        self._check(found)
        return found

    def _error(self, line: int, message: str) -> SignatureError:
        return SignatureError(self._path, line, message)

    def _type(self, line: int, text: str) -> CType:
        try:
            return self._types.read(text)
        except DeclarationError as error:
            raise self._error(line, str(error)) from None

    def _parameters(self, line: int, text: str) -> tuple[tuple[Parameter, ...], bool]:
        parts = [part.strip() for part in split_top(text, ",")]
        if parts in ([""], ["void"]):
            return (), False
        variadic = parts[-1] == "..."
        found: list[Parameter] = []
        for part in parts[:-1] if variadic else parts:
            parameter = self._parameter(line, part)
            if parameter.name in model.IN_SCOPE or parameter.name.endswith("_"):
                raise self._error(line, f"the name {parameter.name!r} is taken: give the parameter another")
            if parameter.name in (row.name for row in found):
                raise self._error(line, f"two parameters are called {parameter.name!r}")
            found.append(parameter)
        return tuple(found), variadic

    def _parameter(self, line: int, part: str) -> Parameter:
        declaration, *roles = split_top(part, ":")
        if len(roles) > 1:
            raise self._error(line, f"expected `DECLARATION: role`, found {part!r}")
        try:
            name, tidy, text = split_declaration(declaration)
            found = self._types.read(text)
        except DeclarationError as error:
            if roles and roles[0].strip() and "is not known" in str(error):
                raise self._error(line, f"{error} (or `include` the header that has it)") from None
            raise self._error(line, str(error)) from None
        if found.machine in (Machine.VOID, Machine.INCOMPLETE):
            raise self._error(line, f"the parameter {name!r} has the {found.machine.value} type {found.text!r}")
        if roles:
            return Parameter(name, tidy, found, self._role(line, roles[0], name, found))
        return Parameter(name, tidy, found, self._role_of_type(line, name, found), stated=False)

    def _role(self, line: int, text: str, name: str, of: CType | None) -> Role:
        match = _ROLE.fullmatch(text.strip())
        word = match.group(1) if match else ""
        braces, argument = (match.group(2), match.group(3)) if match else (None, None)
        if word not in model.ROLES:
            raise self._error(line, f"expected a role for {name!r} ({', '.join(model.ROLES)}), found {text.strip()!r}")
        if word == "enum":
            if braces is None:
                raise self._error(line, f"expected `enum{{NAME/NAME}}` for {name!r}, found {text.strip()!r}")
            names = [part.strip() for part in braces.split("/")]
            if not all(_ENUM_NAME.fullmatch(part) for part in names):
                raise self._error(line, f"expected names of letters, digits and _.+- for {name!r}, found {braces!r}")
            return Role(word, "/".join(names))
        if word == "array":
            if not argument or not argument.strip():
                raise self._error(line, f"expected `array(NUMBER OF ELEMENTS)` for {name!r}, found {text.strip()!r}")
            return Role(word, argument.strip())
        if braces is not None or argument is not None:
            raise self._error(line, f"expected nothing after the role {word!r} of {name!r}, found {text.strip()!r}")
        return Role(word)

    def _role_of_type(self, line: int, name: str, of: CType) -> Role:
        if of.machine is Machine.UNKNOWN:
            raise self._error(line, f"the type {of.text!r} of {name!r} is not known here: give it a role")
        if of.is_string and of.read_only:
            return Role("text")
        roles = {Machine.SIGNED: "int", Machine.UNSIGNED: "uint", Machine.FLOATING: "double"}
        return Role(roles.get(of.machine, "opaque"))

    def _result_role(self, line: int, text: str, result: CType) -> str:
        if not text:
            return "none"
        match = re.fullmatch(r"->\s*([a-z_]+)", text)
        if not match or match.group(1) not in model.RESULT_ROLES:
            raise self._error(line, f"expected `-> role` with one of {', '.join(model.RESULT_ROLES)}, found {text!r}")
        role = match.group(1)
        if role != "none" and result.machine is Machine.VOID:
            raise self._error(line, f"a function without a result has none that could be {role!r}")
        return role

    def _attribute(self, line: int, text: str, to: Statement) -> Statement:
        if text == "custom":
            return replace(to, custom=True)
        key, equals, value = (part.strip() for part in text.partition("="))
        extra = re.fullmatch(r"extra\s+([A-Za-z_]\w*)\s*:\s*(.*)", key)
        if not equals or not value:
            raise self._error(line, f"expected `attribute = value` or `custom`, found {text!r}")
        if extra:
            role = self._role(line, extra.group(2), extra.group(1), None)
            return replace(to, extras=(*to.extras, ExtraItem(extra.group(1), role, value)))
        if key.startswith("value "):
            name = key.removeprefix("value ").strip()
            if name not in (parameter.name for parameter in to.parameters):
                raise self._error(line, f"expected `value PARAMETER`, but {to.symbols[0]} has no {name!r}")
            return replace(to, values={**to.values, name: value})
        if key in ("before", "after"):
            rows = (*getattr(to, key), value.rstrip("; "))
            return replace(to, before=rows) if key == "before" else replace(to, after=rows)
        changed = self._expression(line, key, value, to) or self._naming(line, key, value, to)
        if changed is not None:
            return changed
        attributes = (*model.EXPRESSIONS, "value PARAMETER", "extra NAME: role", "name", "class", "flags", "before",
                      "after", "instead", "custom")  # fmt: skip
        raise self._error(line, f"expected an attribute ({', '.join(attributes)}), found {key!r}")

    def _expression(self, line: int, key: str, value: str, to: Statement) -> Statement | None:
        """Return a statement with an expression added; None for other attributes."""
        if key in to.expressions or (key == "instead" and to.instead):
            raise self._error(line, f"`{key}` is given already")
        if key == "instead":
            return replace(to, instead=value)
        if key in model.EXPRESSIONS:
            return replace(to, expressions={**to.expressions, key: value})
        return None

    def _naming(self, line: int, key: str, value: str, to: Statement) -> Statement | None:
        """Return a statement with its name, class or flags set; None for other attributes."""
        if key == "name":
            if not _SHOWN.fullmatch(value):
                raise self._error(line, f"expected a name, found {value!r}")
            return replace(to, name=value)
        if key == "class":
            if value not in model.CLASSES:
                raise self._error(line, f"expected a class ({', '.join(model.CLASSES)}), found {value!r}")
            return replace(to, call_class=value)
        if key == "flags":
            words = tuple(value.replace(",", " ").split())
            return replace(to, flags=words if set(words) <= set(model.FLAG_WORDS) else (value,))
        return None

    def _check(self, found: Statement) -> None:
        from .plan import MAX_ARRAYS, PlanError, specification  # plan needs only the model

        roles = [row.role for row in found.parameters] + [item.role for item in found.extras]
        arrays = sum(role.name == "array" for role in roles)
        if arrays > MAX_ARRAYS:
            raise self._error(found.line, f"expected at most {MAX_ARRAYS} arrays, found {arrays}")
        try:
            text = specification(found)
        except PlanError as error:
            raise self._error(found.line, str(error)) from None
        if len(text) > _MAX_SPECIFICATION:
            raise self._error(found.line, f"the signature is {len(text)} bytes long, expected {_MAX_SPECIFICATION}")


def _closing(text: str, opened: int) -> int:
    depth = 0
    for at in range(max(opened, 0), len(text)):
        depth += (text[at] in "([{") - (text[at] in ")]}")
        if depth == 0 and text[at] in ")]}":
            return at
    return -1
