"""C expressions for the words after a record."""

from __future__ import annotations

from .model import Machine, SignatureFile
from .plan import Plan, Shown

_UNSIGNED = frozenset("uxmOn")


class ParameterCode:
    """Writes the words of one call. Variables ending in _ belong to the wrapper."""

    def __init__(self, file: SignatureFile, plan: Plan) -> None:
        self._file = file
        self._plan = plan

    def early(self) -> list[str]:
        """Return declarations before the real call: values that a DESTROY call makes inaccessible."""
        if self._plan.statement.kind != "DESTROY":
            return []
        return [
            f"const uint64_t early_{item.name}_ = {self._word(item)};"
            for item in self._plan.word_items
            if self._early(item)
        ]

    def lines(self) -> tuple[list[str], str, str]:
        """Return declarations after the call, and the words and their number as arguments."""
        words = self._plan.word_items
        if not words:
            return [], "NULL", "0"
        if not any(item.code == "a" for item in words):
            rows = [f"    {self.word(item)}, /* {item.name} */" for item in words]
            return ["const uint64_t words_[] = {", *rows, "};"], "words_", str(len(words))
        most = self._plan.most_elements
        room = sum(1 + most if item.code == "a" else 1 for item in words)
        rows = [f"uint64_t words_[{room}];", "unsigned int used_ = 0;"]
        for item in words:
            if item.code == "a":
                array = item.expression or item.name
                rows.append(f"IOTIDE_ARRAY(words_, used_, !failed, {array}, {item.role.argument}, {most});")
            else:
                rows.append(f"words_[used_++] = {self.word(item)}; /* {item.name} */")
        return rows, "words_", "used_"

    def _early(self, item: Shown) -> bool:
        if item.expression or not item.parameter:
            return False
        role = item.role.name
        text = role == "text" and item.parameter.type.read_only and not self._file.is_libc
        return text or (role == "handle" and item.code == "k")

    def word(self, item: Shown) -> str:
        """Return one word of a completed call."""
        if self._plan.statement.kind == "DESTROY" and self._early(item):
            return f"early_{item.name}_"
        return self._word(item)

    def _word(self, item: Shown) -> str:
        role, code = item.role.name, item.code
        if code == "p":
            return self._guarded(item, f"iotide_file_word(iotide_file_at({item.directory or 'AT_FDCWD'}, {_of(item)}))")
        if code == "s" and role == "datatype":
            return self._named_datatype(item)
        if code == "s":
            return self._guarded(item, f"iotide_define_string({_of(item)})")
        if code in ("h", "k"):
            return self._handle(item)
        if code == "g":
            return f"iotide_bits((double)({_of(item)}))"
        if role == "stream":
            return f"(uint64_t)iotide_descriptor({_of(item)})"
        value = _of(item)
        if item.parameter and not item.expression and _followed(item):
            value = f"failed || !{item.name} ? 0 : *{item.name}"
        return f"IOTIDE_UNSIGNED({value})" if code in _UNSIGNED else f"(uint64_t)({value})"

    def _guarded(self, item: Shown, text: str) -> str:
        """Skips strings that are not readable.

        The library has not written them, or the real call could not read them.
        """
        written = item.parameter and not item.expression and not item.parameter.type.read_only
        if written and item.role.name == "text":
            return f"failed ? 0 : {text}"
        return f"failed && !iotide_is_text({_of(item)}) ? 0 : {text}" if self._file.is_libc else text

    def _named_datatype(self, item: Shown) -> str:
        at = _of(item)
        return _over(at, f"iotide_define_string({self._file.datatype})")

    def _handle(self, item: Shown) -> str:
        if not item.parameter:
            if item.code == "k":
                return _over(item.expression, f"(uint64_t)({self._group})")
            return f"iotide_object(SPACE_{self._file.library}, (uint64_t)({item.expression})).handle"
        if item.expression:
            return f"(uint64_t)({item.expression})"
        name, new = item.name, item.role.name == "new_handle"
        if item.code == "k":
            kind = f"__typeof__(*{name})" if new or item.parameter.type.points_to_number else f"__typeof__({name})"
            text = _over(f"*{name}" if new else f"({kind})key_{name}_", f"(uint64_t)({self._group})")
            return f"failed || !{name} ? 0 : {text}" if new else text
        if new:
            return "target_.handle" if self._plan.creates is item.parameter else f"new_{name}_"
        if self._plan.source is item.parameter:
            return "source_.handle"
        return f"iotide_object(SPACE_{self._file.library}, key_{name}_).handle"

    @property
    def _group(self) -> str:
        return self._file.handle_group


def _over(value: str, expression: str) -> str:
    """Return an expression over `value`; in two steps, because a parameter may have that name."""
    return f"({{ __typeof__({value}) value_ = {value}; __typeof__(value_) value = value_; {expression}; }})"


def _of(item: Shown) -> str:
    return item.expression or item.name


def _followed(item: Shown) -> bool:
    """Whether the parameter points to the number to be recorded."""
    return bool(
        item.parameter
        and item.parameter.type.points_to_number
        and item.role.name in ("request", "int", "uint", "hex", "count", "mode", "flags", "enum", "size", "datatype")
        and item.parameter.type.machine is Machine.POINTER
    )
