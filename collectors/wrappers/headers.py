"""Extract the prototypes of a library's headers, as a first version of a signature file.

A tool for developers: it needs ``libclang`` (the extra ``extract``) and the library's headers; the wrapper generator
needs neither. From the command line::

    iotide preload extract --library hdf5 --layer HDF5 --anchor H5open --prefix H5 \\
        -I /usr/include/hdf5/serial /usr/include/hdf5/serial/hdf5.h > hdf5.sig

Each function becomes a statement of kind OTHER with its machine types; enumerations show their values by name. Headers
do not state the meaning of parameters (path, handle, number of bytes), which must be added by hand. For a newer version
of the library, ``--known hdf5.sig`` prints only functions that are missing in that file.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from .model import IN_SCOPE

PLAIN: Final = frozenset(
    {
        "int8_t",
        "int16_t",
        "int32_t",
        "int64_t",
        "uint8_t",
        "uint16_t",
        "uint32_t",
        "uint64_t",
        "intptr_t",
        "uintptr_t",
        "ptrdiff_t",
        "size_t",
        "ssize_t",
        "off_t",
        "off64_t",
        "mode_t",
        "time_t",
        "pid_t",
        "wchar_t",
        "bool",
        "va_list",
        "FILE",
    }
)
_MAX_NAMED_VALUES: Final = 40
_KNOWN = re.compile(r"^[A-Z_]+\s+[^#(]*?\b(\w+)\s*\(", re.MULTILINE)


class HeaderError(Exception):
    """Headers cannot be read: clang's errors, or clang is missing."""


@dataclass(frozen=True)
class Parameter:
    """A parameter as a signature file writes it: ``type`` without a name, e.g. ``const hsize_t *``."""

    type: str
    name: str
    role: str = ""

    def __str__(self) -> str:
        space = "" if self.type.endswith(("*", " ")) else " "
        return f"{self.type}{space}{self.name}" + (f": {self.role}" if self.role else "")


@dataclass(frozen=True)
class Prototype:
    """A function of the library. ``obstacle`` states why it cannot have a wrapper; empty if it can."""

    name: str
    returns: str
    parameters: tuple[Parameter, ...]
    header: str
    obstacle: str = ""

    def __str__(self) -> str:
        space = "" if self.returns.endswith("*") else " "
        return f"{self.returns}{space}{self.name}({', '.join(map(str, self.parameters)) or 'void'})"


@dataclass
class Extract:
    """Content of headers. It has prototypes in their order, and the machine type of each type name that they use."""

    prototypes: list[Prototype] = field(default_factory=list)
    types: dict[str, str] = field(default_factory=dict)


def extract(
    headers: Sequence[Path], *, include: Sequence[Path] = (), define: Sequence[str] = (), prefixes: Sequence[str] = ()
) -> Extract:
    """Read the functions that headers, and files included from the same folders, declare.

    Functions count if their name starts with one of ``prefixes`` (any name if there are none) and their header is in
    the folder of one of ``headers`` or in ``include``. ``define`` has macros, ``NAME`` or ``NAME=VALUE``.

    Raises:
        HeaderError: libclang is not installed, or clang finds an error in the headers.
    """
    cindex = _clang()
    folders = [path.resolve() for path in (*(header.parent for header in headers), *include)]
    arguments = [f"-I{path}" for path in include] + [f"-D{text}" for text in define] + _builtin_headers()
    with tempfile.NamedTemporaryFile("w", suffix=".c", encoding="utf-8", errors="surrogateescape") as source:
        source.write("".join(f'#include "{header.resolve()}"\n' for header in headers))
        source.flush()
        unit = cindex.Index.create().parse(source.name, args=arguments)
    errors = [str(found) for found in unit.diagnostics if found.severity >= cindex.Diagnostic.Error]
    if errors:
        raise HeaderError("clang cannot read the headers: " + "; ".join(errors[:3]))
    result = Extract()
    seen: set[str] = set()
    for cursor in unit.cursor.get_children():
        if cursor.kind != cindex.CursorKind.FUNCTION_DECL or cursor.spelling in seen:
            continue
        name, file = cursor.spelling, cursor.location.file
        if prefixes and not name.startswith(tuple(prefixes)):
            continue
        if file is None or not any(Path(file.name).resolve().is_relative_to(folder) for folder in folders):
            continue
        seen.add(name)
        result.prototypes.append(_prototype(cindex, cursor, Path(file.name).name, result.types))
    return result


def known(text: str) -> frozenset[str]:
    """Return the names of the functions with statements in the text of a signature file."""
    return frozenset(_KNOWN.findall(text))


def render(found: Extract, *, library: str, layer: str, anchor: str, without: Iterable[str] = ()) -> Iterator[str]:
    """Yield the lines of a signature file, grouped by header. Functions named in ``without`` are left out."""
    left_out = set(without)
    wanted = [one for one in found.prototypes if one.name not in left_out]
    yield from (f"library {library}", f"layer {layer}", f"anchor {anchor}", "fails result < 0", "error errno", "")
    used = set(re.findall(r"\w+", "\n".join(map(str, wanted))))
    for name in sorted(used & found.types.keys()):
        yield f"type {name} = {found.types[name]}"
    header = ""
    for one in wanted:
        if one.header != header:
            header = one.header
            yield from ("", f"# {header}")
        yield f"# left out, {one.obstacle}: {one}" if one.obstacle else f"OTHER {one}"


def _clang() -> Any:
    try:
        from clang import cindex
    except ImportError:
        raise HeaderError("reading headers needs libclang: pip install 'iotide[extract]'") from None
    return cindex


def _builtin_headers() -> list[str]:
    """Return the include option of the compiler's own headers. The libclang wheel has no stddef.h."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        raise HeaderError("reading headers needs a C compiler (cc), for stddef.h and its like")
    asked = [compiler, "-print-file-name=include"]
    answer = subprocess.run(asked, capture_output=True, encoding="utf-8", errors="surrogateescape", check=True)
    return ["-isystem", answer.stdout.strip()]


def _prototype(cindex: Any, cursor: Any, header: str, types: dict[str, str]) -> Prototype:
    obstacles = []
    if cursor.type.kind == cindex.TypeKind.FUNCTIONPROTO and cursor.type.is_function_variadic():
        obstacles.append("variadic")
    parameters = []
    for position, argument in enumerate(cursor.get_arguments()):
        try:
            spelled = _spell(cindex, argument.type, types)
        except HeaderError as obstacle:
            obstacles.append(str(obstacle))
            spelled = argument.type.spelling
        parameters.append(
            Parameter(spelled, _free(argument.spelling or f"argument{position}"), _role(cindex, argument.type))
        )
    try:
        returns = _spell(cindex, cursor.result_type, types)
    except HeaderError as obstacle:
        obstacles.append(str(obstacle))
        returns = cursor.result_type.spelling
    return Prototype(cursor.spelling, returns, tuple(parameters), header, ", ".join(obstacles))


def _free(name: str) -> str:
    """Return the name, or another one if signature files use it for something else."""
    return f"the_{name.rstrip('_')}" if name in IN_SCOPE or name.endswith("_") else name


def _spell(cindex: Any, kind: Any, types: dict[str, str]) -> str:
    """Return a type as plain C and names of ``types``, which it adds to. Structures are known by pointer only."""
    constant = "const " if kind.is_const_qualified() else ""
    canonical = kind.get_canonical()
    kinds = cindex.TypeKind
    if kind.spelling in ("va_list", "__builtin_va_list", "__gnuc_va_list"):
        return "va_list"
    if canonical.kind in (kinds.CONSTANTARRAY, kinds.INCOMPLETEARRAY, kinds.VARIABLEARRAY):
        return _pointer(cindex, kind.element_type if kind.element_type.spelling else canonical.element_type, types)
    if canonical.kind == kinds.POINTER:
        pointee = kind.get_pointee()
        spelled = _pointer(cindex, pointee if pointee.spelling else canonical.get_pointee(), types)
        return f"{spelled}const " if constant else spelled
    if canonical.kind == kinds.RECORD:
        raise HeaderError(f"{kind.spelling} by value")
    if canonical.kind == kinds.ENUM:
        machine: str = canonical.get_declaration().enum_type.spelling
    else:
        machine = canonical.spelling.removeprefix("const ")
    name: str = kind.spelling.removeprefix("const ")
    if name in PLAIN or name == machine:
        return constant + name
    if " " in name:  # "enum colour"
        return constant + machine
    types[name] = _plain(cindex, kind) or machine
    return constant + name


def _pointer(cindex: Any, pointee: Any, types: dict[str, str]) -> str:
    canonical = pointee.get_canonical()
    constant = "const " if pointee.is_const_qualified() else ""
    if canonical.kind in (cindex.TypeKind.FUNCTIONPROTO, cindex.TypeKind.FUNCTIONNOPROTO):
        return "void *"
    if canonical.kind == cindex.TypeKind.RECORD:
        name = pointee.spelling.removeprefix("const ")
        return f"{constant}{name if name in PLAIN else 'void'} *"
    inner = _spell(cindex, pointee, types)
    return inner + ("*" if inner.endswith(("*", " ")) else " *")


def _plain(cindex: Any, kind: Any) -> str:
    """Return the name from <stdint.h> or similar headers that a typedef resolves to, or ""."""
    declaration = kind.get_declaration()
    while declaration.kind == cindex.CursorKind.TYPEDEF_DECL:
        below = declaration.underlying_typedef_type
        if below.spelling in PLAIN:
            return str(below.spelling)
        declaration = below.get_declaration()
    return ""


def _role(cindex: Any, kind: Any) -> str:
    """Return ``enum{A/B/C}`` for an enumeration whose values are 0, 1, 2 etc.. Further values show as numbers."""
    canonical = kind.get_canonical()
    if canonical.kind != cindex.TypeKind.ENUM:
        return ""
    names: dict[int, str] = {}
    for value in canonical.get_declaration().get_children():
        if value.kind == cindex.CursorKind.ENUM_CONSTANT_DECL:
            names.setdefault(value.enum_value, value.spelling)
    run = next(number for number in range(len(names) + 1) if number not in names)
    if run < 2 or run > _MAX_NAMED_VALUES:
        return ""
    return "enum{" + "/".join(names[number] for number in range(run)) + "}"
