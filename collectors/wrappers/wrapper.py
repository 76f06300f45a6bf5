"""Write the wrapper of one function.

libc's wrappers are leaves: they make no traced calls, so they only record their beginning. Wrappers of a library are
pushed on a stack, so that nested calls know their parent.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from .model import Machine, SignatureFile, Statement
from .parameter_code import ParameterCode
from .plan import Plan, plan
from .target_code import TargetCode

OFF_BY_DEFAULT: Final = ("char", "memory")
"""Classes whose disabled calls are passed on by a gate, the shortest path. They are the most frequent calls."""
PACED: Final = ("READ", "WRITE", "SYNC")
"""Kinds of libc's calls that wait for their turn if pacing is enabled (``preload/recording/pace.h``)."""

FREQUENT: Final = frozenset(
    {"open", "open64", "close", "read", "write", "dup2", "fcntl", "fcntl64", "lseek", "lseek64", "openat"}
)
"""Functions of libc that most short processes call."""


def signature_of(statement: Statement, symbol: str, further: Sequence[str] = ()) -> str:
    """Return the prototype of one of a call's functions; further: additional parameters."""
    listed = [parameter.declaration for parameter in statement.parameters] + (["..."] if statement.variadic else [])
    listed += further
    space = "" if statement.result.text.endswith("*") else " "
    return f"{statement.result.text}{space}{symbol}({', '.join(listed) or 'void'})"


def planned(file: SignatureFile, statement: Statement) -> Plan:
    """Return the plan of a call with its file's options."""
    return plan(statement, grouped=bool(file.handle_group), named_datatypes=bool(file.datatype))


def moves_stream(file: SignatureFile, statement: Statement) -> bool:
    """Whether a call of libc may change the position or the buffer of a stream, by which characters are counted."""
    return file.is_libc and bool(statement.with_roles("stream")) and statement.kind in (*PACED, "SEEK", "OTHER")


class Wrapper:
    """The wrapper of one call; `text` writes it for one of its functions."""

    def __init__(self, file: SignatureFile, statement: Statement) -> None:
        self._file = file
        self._statement = statement
        self._plan = planned(file, statement)
        self._words = ParameterCode(file, self._plan)
        self._subject = TargetCode(file, self._plan)
        self._void = statement.result.machine is Machine.VOID
        self._moves_stream = moves_stream(file, statement)

    def text(self, symbol: str, gate: int = 0) -> str:
        """Return the function's C text; gate: the index of its gate in its library."""
        if self._file.is_libc:
            hot = ("HOT " if self._statement.group == "data" else "") + ("FREQUENT " if symbol in FREQUENT else "")
            return _function(f"EXPORT {hot}{signature_of(self._statement, symbol)}", self._libc(symbol))
        caller = "const void *caller = __builtin_return_address(0);"
        if self._statement.group not in OFF_BY_DEFAULT:
            return _function(f"EXPORT {signature_of(self._statement, symbol)}", [caller, *self._layer(symbol)])
        inner = signature_of(self._statement, f"traced_{symbol}", ["const void *caller"])
        given = ", ".join([row.name for row in self._statement.parameters] + ["caller"])
        return _function(f"static OUT_OF_LINE {inner}", self._layer(symbol)) + _function(
            f"EXPORT GATE {signature_of(self._statement, symbol)}",
            [
                caller,
                *self._straight(f"iotide_is_bypassed(&gates_[{gate}], caller)", f"GATED({symbol}, {gate})"),
                f"{'' if self._void else 'return '}traced_{symbol}({given});",
            ],
        )

    # ---- the two forms ----

    def _libc(self, symbol: str) -> list[str]:
        statement, site, real = self._statement, f"&SITE({symbol})", f"REAL({symbol})"
        rows = [*self._caller(), *self._before_stream(), f"struct iotide_span span_ = iotide_enter({site});"]
        checks = "!span_.start_ns" + (" || !iotide_same_process()" if self._subject.changes_descriptors() else "")
        rows += self._unrecorded(f"unlikely({checks})", real)
        rows += self._descriptor_of_stream(real)
        rows += self._subject.keys() + self._words.early() + self._subject.source_before() + self._before()
        rows += [*self._wait(), self._called(real), "iotide_end_span(&span_);", *self._after_stream()]
        if statement.kind == "DESTROY" and self._plan.source:
            # Unused descriptors are often closed by the thousand before an exec, which is not I/O.
            rows += ["if (!source_.handle)", f"    {self._return()}"]
        rows += self._saved() + self._outcome() + self._subject.source_after()
        rows += self._rest(site)
        return rows

    def _layer(self, symbol: str) -> list[str]:
        site = f"&SITE({symbol})"
        skip = self._file.skip or f"iotide_is_inner(&iotide_library_{self._file.library}, caller)"
        lacking = [f"const bool lacking_ = LACKS({symbol});"] if self._statement.instead else []
        real = f"lacking_ ? NULL : REAL({symbol})" if lacking else f"REAL({symbol})"
        rows = [
            *lacking,
            f"__typeof__(&{symbol}) real_ = {real};",
            *self._straight(f"!iotide_provided || !iotide_traced({site}) || {skip}", "real_"),
            *self._descriptor_of_stream("real_"),
            *self._subject.keys(),
            *self._words.early(),
            *self._subject.source_before(),
            *self._before(),
        ]
        pushed = "source_.handle" if self._plan.source else "0"
        if self._subject.creates_handle():
            rows.append("const uint32_t new_ = iotide_new_handle();")
            pushed = "new_"
        rows += [f"struct iotide_span span_ = iotide_push({site}, {pushed});", self._called("real_")]
        rows += ["if (!span_.start_ns)", f"    {self._return()}", "iotide_end_span(&span_);", "iotide_pop(span_);"]
        rows += self._saved() + self._outcome()
        return rows + self._rest(site)

    def _rest(self, site: str) -> list[str]:
        words, array, count = self._words.lines()
        leaving = [f"iotide_leave(span_, {site},", *self._facts(), f"             {array}, {count});"]
        if not self._file.is_libc:
            leaving = [f"leave_(span_, {site}, errno_,", *self._facts(), f"       {array}, {count});"]
        elif self._saves_errno():
            leaving.append("errno = errno_;")
        return [
            *[f"{text};" for text in self._statement.after],
            f"const int64_t requested = (int64_t)({self._requested()});",
            *self._waited(),
            *self._subject.target(),
            *words,
            *leaving,
            *([] if self._void else ["return result;"]),
        ]

    # ---- pieces, in the order of the call ----

    def _caller(self) -> list[str]:
        used = any("caller" in text for text in (*self._statement.all_expressions(), self._file.datatype))
        return ["const void *caller = __builtin_return_address(0);"] if used else []

    def _arguments(self) -> str:
        return ", ".join(parameter.name for parameter in self._statement.parameters)

    def _call(self, real: str) -> str:
        """Return the real call; real_: in a wrapper of a layer, which may have to make another call instead."""
        may_lack = self._statement.instead and real == "real_"
        return f"{f'lacking_ ? ({self._statement.instead}) : ' if may_lack else ''}{real}({self._arguments()});"

    def _called(self, real: str) -> str:
        call = self._call(real)
        space = "" if self._statement.result.text.endswith("*") else " "
        return call if self._void else f"{_unqualified(self._statement.result.text)}{space}result = {call}"

    def _straight(self, condition: str, real: str) -> list[str]:
        call = self._call(real)
        if self._void:
            return [f"if ({condition}) {{", f"    {call}", "    return;", "}"]
        return [f"if ({condition})", f"    return {call}"]

    def _return(self) -> str:
        return "return;" if self._void else "return result;"

    def _before_stream(self) -> list[str]:
        if not self._moves_stream or not self._plan.source:
            return []
        ends_use = "true" if self._statement.kind in ("SEEK", "SYNC") else "false"
        of = f"iotide_before_stream_call({self._plan.source.name}, {ends_use})"
        output = []
        if self._statement.kind in ("WRITE", "SYNC"):
            bytes_ = self._requested() if self._statement.kind == "WRITE" else "INT64_MAX"
            output = [f"BEFORE_OUTPUT({self._plan.source.name}, {bytes_});"]
        return [*output, f"struct iotide_characters *characters_ = {of};"]

    def _after_stream(self) -> list[str]:
        if not self._moves_stream or not self._plan.source:
            return []
        return [f"iotide_after_stream_call(characters_, {self._plan.source.name});"]

    def _unrecorded(self, condition: str, real: str) -> list[str]:
        if not self._moves_stream:
            return self._straight(condition, real)
        rows = [self._called(real), *self._after_stream(), self._return()]
        return [f"if ({condition}) {{", *[f"    {row}" for row in rows], "}"]

    def _descriptor_of_stream(self, real: str) -> list[str]:
        """Streams without a descriptor (in memory) do no I/O of their own."""
        if not self._subject.source_is("stream") or not self._plan.source:
            return []
        asked = f"const int descriptor_ = iotide_descriptor({self._plan.source.name});"
        return [asked, *self._unrecorded("descriptor_ < 0", real)]

    def _before(self) -> list[str]:
        if not self._statement.before:
            return []
        return ["const int entered_ = errno;", *[f"{text};" for text in self._statement.before], "errno = entered_;"]

    @property
    def _is_paced(self) -> bool:
        """Whether the call moves data, or waits for that. It must identify the file system by its descriptor."""
        return self._file.is_libc and self._statement.kind in PACED and self._subject.descriptor() not in ("", "-1")

    def _wait(self) -> list[str]:
        taken = f"const bool paced_ = iotide_begin_turn(span_, {self._subject.descriptor()});"
        return [taken] if self._is_paced else []

    def _waited(self) -> list[str]:
        moved = f"failed ? 0 : (int64_t)({self._bytes()})" if self._bytes() else "0"
        return [f"iotide_end_turn(paced_, {moved});"] if self._is_paced else []

    def _saves_errno(self) -> bool:
        return not self._file.is_libc or bool(self._statement.all_expressions()) or self._plan.creates == "stream"

    def _saved(self) -> list[str]:
        return ["const int errno_ = errno;"] if self._saves_errno() else []

    def _outcome(self) -> list[str]:
        error = self._statement.expressions.get("error") or self._error()
        return [f"const bool failed = {self._failed()};", f"const int error_ = failed ? (int)({error}) : 0;"]

    def _failed(self) -> str:
        given = self._statement.expressions.get("failed")
        machine = self._statement.result.machine
        if given:
            return given
        if machine is Machine.POINTER:
            return "result == NULL"
        return (self._file.fails or "result < 0") if machine is Machine.SIGNED else "false"

    def _error(self) -> str:
        if self._file.is_libc and not self._file.error:
            return "errno"
        over_result = re.search(r"\bresult\b", self._file.error)
        comparable = self._statement.result.machine is Machine.SIGNED
        return self._file.error if self._file.error and (comparable or not over_result) else "0"

    def _requested(self) -> str:
        given = self._statement.expressions.get("requested")
        sizes = [row for row in self._statement.with_roles("size") if row.type.machine is not Machine.POINTER]
        if given or not sizes:
            return given or "0"
        return self._statement.values.get(sizes[0].name) or sizes[0].name

    def _bytes(self) -> str:
        return self._statement.expressions.get("bytes") or ("result" if self._statement.result_role == "bytes" else "")

    def _facts(self) -> list[str]:
        bytes_ = self._bytes()
        facts = {
            "target": "target_",
            "offset": self._offset(),
            "requested": "requested",
            "bytes": f"failed ? 0 : (int64_t)({bytes_})" if bytes_ else "0",
            "parent": self._subject.parent(),
            "descriptor": self._subject.descriptor(),
            "kind": f"KIND_{self._statement.kind}",
            "flags": self._flags(),
            "failed": "failed",
            "error": "error_",
        }
        rows = [f".{key} = {value}," for key, value in facts.items() if value != "0"]
        first, *others = rows
        begin = "             (struct iotide_facts){" if self._file.is_libc else "       &(struct iotide_facts){"
        pad = " " * len(begin)
        listed = [f"{begin}{first}", *[f"{pad}{row}" for row in others]]
        listed[-1] = listed[-1].rstrip(",") + "},"
        return listed

    def _offset(self) -> str:
        given = self._statement.expressions.get("offset")
        plain = [row for row in self._statement.with_roles("offset") if row.type.machine is not Machine.POINTER]
        name = given or (self._statement.values.get(plain[0].name) or plain[0].name if plain else "")
        return f"(int64_t)({name})" if name else "-1"

    def _flags(self) -> str:
        words = self._statement.flags
        known = {"collective": "FLAG_COLLECTIVE", "append": "FLAG_APPEND"}
        if words and not set(words) <= {*known, "nonblocking"}:
            return f"(uint16_t)({words[0]})"
        names = ([] if "nonblocking" in words else ["FLAG_BLOCKING"]) + [known[word] for word in words if word in known]
        return " | ".join(names) or "0"


def _function(head: str, rows: Sequence[str]) -> str:
    body = "\n".join(f"    {row}" for row in rows)
    return f"{head} {{\n{body}\n}}\n"


def _unqualified(text: str) -> str:
    """Return the type of a variable for the result. A const of the result itself has no meaning."""
    return text if "*" in text else text.replace("const ", "", 1)
