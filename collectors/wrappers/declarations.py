"""Parse C declarations, as far as prototypes need. This is a parameter's name and type, and the resolved type."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from .model import CType, Machine

_SIGNED: Final = frozenset(
    {
        "char", "short", "int", "long", "ssize_t", "off_t", "off64_t", "loff_t", "ptrdiff_t", "intptr_t",
        "int8_t", "int16_t", "int32_t", "int64_t", "pid_t", "time_t", "clockid_t", "suseconds_t",
        "blksize_t", "intmax_t", "wchar_t", "key_t",
    }
)  # fmt: skip
_UNSIGNED: Final = frozenset(
    {
        "unsigned", "bool", "_Bool", "size_t", "uintptr_t", "uint8_t", "uint16_t", "uint32_t", "uint64_t",
        "uintmax_t", "mode_t", "uid_t", "gid_t", "dev_t", "ino_t", "ino64_t", "nlink_t", "socklen_t",
        "useconds_t",
    }
)  # fmt: skip
_INT_SIZED: Final = frozenset(
    {
        "int", "int32_t", "uint32_t", "mode_t", "uid_t", "gid_t", "pid_t", "socklen_t", "clockid_t",
    }
)  # fmt: skip
_QUALIFIERS: Final = frozenset(
    {
        "const", "volatile", "restrict", "__restrict", "__restrict__", "register", "struct", "union", "enum",
        "_Atomic", "extern",
    }
)  # fmt: skip
_WORDS: Final = frozenset(
    {
        "signed", "unsigned", "char", "short", "int", "long", "float", "double", "void", "bool", "_Bool",
        "_Complex",
    }
)  # fmt: skip
_OTHERS: Final = frozenset(["va_list", "__builtin_va_list"])
_MACHINE_OF_KEYWORD: Final = {
    "struct": Machine.AGGREGATE,
    "union": Machine.AGGREGATE,
    "enum": Machine.UNSIGNED,
    "_Complex": Machine.AGGREGATE,
    "float": Machine.FLOATING,
    "double": Machine.FLOATING,
}
"""Machine type of a type with a keyword; the first match counts."""
IDENTIFIER: Final = re.compile(r"[A-Za-z_]\w*")
_PLAIN: Final = re.compile(r"[A-Za-z_]\w*(?: [A-Za-z_]\w*)*(?: ?\*+ ?(?:[a-z_]+ ?)*)*", re.ASCII)
_WITH_BRACKETS: Final = re.compile(r"[\w *,()\[\].]+", re.ASCII)
_NAMED_POINTER: Final = re.compile(r"\(\s*\*\s*(?:const\s+)?([A-Za-z_]\w*)\s*(\[[^\]]*\])?\s*\)")


class DeclarationError(ValueError):
    """A declaration cannot be parsed; states what was expected."""


@lru_cache(maxsize=16_384)  # the functions of a library have similar parameters
def squeeze(text: str) -> str:
    """Normalises white space, as in conventional C around parentheses, stars and commas."""
    text = re.sub(r"\s+", " ", text).strip()
    text = re.sub(r"\s*\*\s*", " *", text)
    text = re.sub(r"\* \*", "**", text)
    text = re.sub(r"\*(const|restrict|volatile|__restrict)\b", r"*\1", text)
    text = re.sub(r"\s*([()\[\],])\s*", r"\1", text)
    text = re.sub(r",", ", ", text)
    return re.sub(r"(\w)\(\*", r"\1 (*", text).strip()


@lru_cache(maxsize=16_384)
def split_declaration(text: str) -> tuple[str, str, str]:
    """Split a parameter's declaration.

    Returns:
        Its name, the normalised declaration, and the type without the name (an array is a pointer).

    Raises:
        DeclarationError: There is no name.
    """
    tidy = squeeze(text)
    pointer = _NAMED_POINTER.search(tidy)
    if pointer:
        return pointer.group(1), tidy, tidy[: pointer.start(1)] + tidy[pointer.end(1) :]
    body, *dimensions = re.split(r"(?=\[)", tidy)
    names = list(IDENTIFIER.finditer(body))
    last = names[-1] if names else None
    alone = sum(1 for name in names if name.group() not in _QUALIFIERS) < 2
    if not last or alone or last.end() != len(body) or last.group() in _WORDS | _QUALIFIERS:
        raise DeclarationError(f"expected a type and a name, found {tidy!r}")
    kind = body[: last.start()].strip()
    if dimensions:
        kind = f"{kind} *" if len(dimensions) == 1 else f"{kind} (*){''.join(dimensions[1:])}"
    return last.group(), tidy, squeeze(kind)


@dataclass
class Types:
    """Resolves the type names of one file.

    Attributes:
        named: Name -> C type as written (``opaque``: known by pointer only), from the ``type`` lines.
        lenient: Whether undeclared names are left to the C compiler, because headers are included.
        opaque: Names used only behind pointers, which must be declared as such.
    """

    named: dict[str, str] = field(default_factory=dict)
    lenient: bool = False
    opaque: dict[str, None] = field(default_factory=dict)
    _known: dict[str, CType] = field(default_factory=dict)

    def read(self, text: str) -> CType:
        """Resolve a type without a name. Raises DeclarationError for an undeclared one."""
        text = squeeze(text)
        if text in self._known:
            return self._known[text]
        if "{" not in text and not (_WITH_BRACKETS if "(" in text else _PLAIN).fullmatch(text):
            raise DeclarationError(f"expected a type, found {text!r}")
        machine, pointee, read_only, pointee_text = self._resolve(text, 0)
        if machine is Machine.UNKNOWN and not self.lenient:
            name = _base_name(text)
            raise DeclarationError(f"the type {name!r} is not known: add a line `type {name} = ...`")
        found = CType(
            text, machine, pointee, read_only, self._int_sized(text), pointee_text, self._int_sized(pointee_text)
        )
        self._known[text] = found
        return found

    def _resolve(self, text: str, depth: int) -> tuple[Machine, Machine | None, bool, str]:
        if depth > 20:
            raise DeclarationError(f"the type {text!r} is declared by itself")
        if "(*" in text:
            return Machine.POINTER, Machine.VOID, True, ""
        if "{" in text:
            return (Machine.SIGNED if text.startswith("enum") else Machine.AGGREGATE), None, False, ""
        star = text.rfind("*")
        if star >= 0:
            pointed = text[:star].strip()
            machine = self._resolve(pointed, depth + 1)[0]
            bare = " ".join(word for word in pointed.split() if word not in _QUALIFIERS or word == "struct")
            if machine is Machine.UNKNOWN and not self.lenient:
                self.opaque[_base_name(pointed)] = None
            if machine is Machine.UNKNOWN:
                machine = Machine.INCOMPLETE
            read_only = "const" in (pointed[pointed.rfind("*") + 1 :] if "*" in pointed else pointed).split()
            return Machine.POINTER, machine, read_only, bare
        return self._of_words(text, depth)

    def _of_words(self, text: str, depth: int) -> tuple[Machine, Machine | None, bool, str]:
        words = text.split()
        keyword = next((word for word in _MACHINE_OF_KEYWORD if word in words), None)
        if keyword is not None:
            return _MACHINE_OF_KEYWORD[keyword], None, False, ""
        words = [word for word in words if word not in _QUALIFIERS]
        if not words:
            raise DeclarationError(f"expected a type, found {text!r}")
        if words == ["void"]:
            return Machine.VOID, None, False, ""
        if len(words) == 1 and words[0] in self.named:
            if self.named[words[0]] == "opaque":
                return Machine.INCOMPLETE, None, False, ""
            return self._resolve(self.named[words[0]], depth + 1)
        if any(word in _UNSIGNED for word in words):
            return Machine.UNSIGNED, None, False, ""
        if any(word in _SIGNED or word == "signed" for word in words):
            return Machine.SIGNED, None, False, ""
        if words[0] in _OTHERS:
            return Machine.AGGREGATE, None, False, ""
        return Machine.UNKNOWN, None, False, ""

    def _int_sized(self, text: str) -> bool:
        if not text or "*" in text or "{" in text:
            return False
        words = [word for word in text.split() if word not in _QUALIFIERS]
        if len(words) == 1 and words[0] in self.named:
            return self._int_sized(self.named[words[0]])
        return set(words) <= {"signed", "unsigned", "int"} or (len(words) == 1 and words[0] in _INT_SIZED)


def _base_name(text: str) -> str:
    names = [name for name in IDENTIFIER.findall(text) if name not in _QUALIFIERS]
    return names[-1] if names else text
