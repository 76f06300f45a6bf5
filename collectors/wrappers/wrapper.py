"""Writes the wrapper of one function.

libc's wrappers are leaves: they make no traced calls, so they only note when they begin. Those of a library are
pushed, so that what they call below knows its parent.
"""

from __future__ import annotations

import re

from .model import Machine, Parameter, SignatureFile, Statement
from .plan import Plan, plan
from .wordings import Wordings


def signature_of(statement: Statement, symbol: str) -> str:
    """Returns the prototype of one of a call's functions."""
    listed = [parameter.declaration for parameter in statement.parameters] + (["..."] if statement.variadic else [])
    space = "" if statement.result.text.endswith("*") else " "
    return f"{statement.result.text}{space}{symbol}({', '.join(listed) or 'void'})"


def planned(file: SignatureFile, statement: Statement) -> Plan:
    """Plans a call as its file says."""
    return plan(statement, grouped=bool(file.handle_group), named_datatypes=bool(file.datatype))


class Wrapper:
    """The wrapper of one call; `text` writes it for one of its functions."""

    def __init__(self, file: SignatureFile, statement: Statement) -> None:
        self._file = file
        self._statement = statement
        self._plan = planned(file, statement)
        self._words = Wordings(file, self._plan)
        self._space = f"SPACE_{file.library}"
        self._void = statement.result.machine is Machine.VOID

    def text(self, symbol: str) -> str:
        """Returns the function's C text."""
        rows = self._libc(symbol) if self._file.is_libc else self._layer(symbol)
        body = "\n".join(f"    {row}" for row in rows)
        hot = "HOT " if self._file.is_libc and self._statement.group == "data" else ""
        return f"EXPORT {hot}{signature_of(self._statement, symbol)} {{\n{body}\n}}\n"

    # ---- the two shapes ----

    def _libc(self, symbol: str) -> list[str]:
        statement, site, real = self._statement, f"&SITE({symbol})", f"REAL({symbol})"
        rows = [*self._caller(), f"struct iotide_span span_ = iotide_enter({site});"]
        checks = "!span_.start_ns" + (" || !iotide_same_process()" if self._changes_descriptors() else "")
        rows += self._straight(f"unlikely({checks})", real)
        rows += self._descriptor_of_stream(real)
        rows += self._keys() + self._source_before() + self._before()
        rows += [self._called(real)]
        if statement.kind == "DESTROY" and self._plan.source:
            # Descriptors that nothing was done with are often closed by the thousand before an exec: not I/O.
            rows += ["if (!source_.handle)", f"    {self._return()}"]
        rows += self._saved() + self._outcome() + self._source_after()
        rows += self._rest(site)
        return rows

    def _layer(self, symbol: str) -> list[str]:
        site = f"&SITE({symbol})"
        skip = self._file.skip or f"iotide_is_inner(&iotide_library_{self._file.library}, caller)"
        rows = [
            "const void *caller = __builtin_return_address(0);",
            f"__typeof__(&{symbol}) real_ = REAL({symbol});",
            *self._straight(f"!iotide_traced({site}) || {skip}", "real_"),
            *self._descriptor_of_stream("real_"),
            *self._keys(),
            *self._source_before(),
            *self._before(),
        ]
        pushed = "source_.handle" if self._plan.source else "0"
        if self._creates_handle():
            rows.append("const uint32_t new_ = iotide_new_handle();")
            pushed = "new_"
        rows += [f"struct iotide_span span_ = iotide_push({site}, {pushed});", self._called("real_")]
        rows += ["if (!span_.start_ns)", f"    {self._return()}", "iotide_pop(span_);"]
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
            *self._target(),
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

    def _called(self, real: str) -> str:
        call = f"{real}({self._arguments()});"
        space = "" if self._statement.result.text.endswith("*") else " "
        return call if self._void else f"{_unqualified(self._statement.result.text)}{space}result = {call}"

    def _straight(self, condition: str, real: str) -> list[str]:
        call = f"{real}({self._arguments()});"
        if self._void:
            return [f"if ({condition}) {{", f"    {call}", "    return;", "}"]
        return [f"if ({condition})", f"    return {call}"]

    def _return(self) -> str:
        return "return;" if self._void else "return result;"

    def _changes_descriptors(self) -> bool:
        return self._statement.kind in ("CREATE", "DUPLICATE", "DESTROY") or self._plan.creates in ("fd", "stream")

    def _creates_handle(self) -> bool:
        return self._plan.creates == "handle" or isinstance(self._plan.creates, Parameter)

    def _source_is(self, *roles: str) -> bool:
        return self._plan.source is not None and self._plan.source.role.name in roles

    def _descriptor_of_stream(self, real: str) -> list[str]:
        """Streams without a descriptor (in memory) do no I/O of their own."""
        if not self._source_is("stream") or not self._plan.source:
            return []
        asked = f"const int descriptor_ = iotide_descriptor({self._plan.source.name});"
        return [asked, *self._straight("descriptor_ < 0", real)]

    def _keys(self) -> list[str]:
        """The values of the handles, some of which the call changes."""
        rows = []
        for parameter in self._statement.having("handle"):
            name = parameter.name
            if parameter is not self._plan.source and name in self._statement.values:
                continue
            value = f"{name} ? (uint64_t)*{name} : 0" if parameter.type.points_to_number else f"(uint64_t){name}"
            rows.append(f"const uint64_t key_{name}_ = {value};")
        return rows

    def _source_before(self) -> list[str]:
        source, destroys = self._plan.source, self._statement.kind == "DESTROY"
        if not source or (self._file.is_libc and not destroys):
            return self._words.early()
        asked = {
            "fd": f"iotide_forget({source.name})" if destroys else f"iotide_target_of({source.name})",
            "stream": "iotide_stream_forget(descriptor_)" if destroys else "iotide_stream_of(descriptor_)",
            "handle": f"iotide_{'unbind' if destroys else 'object'}({self._space}, key_{source.name}_)",
        }[source.role.name]
        # The numbers of handles that go are asked for while they are there.
        return [*self._words.early(), f"const struct iotide_target source_ = {asked};"]

    def _source_after(self) -> list[str]:
        """In libc's wrappers, where nobody needs it while the real call runs."""
        source = self._plan.source
        if not source or self._statement.kind == "DESTROY" or self._duplicates():
            return []
        asked = {
            "fd": f"iotide_target_of({source.name})",
            "stream": "iotide_stream_of(descriptor_)",
            "handle": f"iotide_object({self._space}, key_{source.name}_)",
        }[source.role.name]
        return [f"const struct iotide_target source_ = {asked};"]

    def _before(self) -> list[str]:
        if not self._statement.before:
            return []
        return ["const int entered_ = errno;", *[f"{text};" for text in self._statement.before], "errno = entered_;"]

    def _saves_errno(self) -> bool:
        return not self._file.is_libc or bool(self._statement.all_expressions()) or self._plan.creates == "stream"

    def _saved(self) -> list[str]:
        return ["const int errno_ = errno;"] if self._saves_errno() else []

    def _outcome(self) -> list[str]:
        error = self._statement.expressions.get("error") or self._error()
        rows = [f"const bool failed = {self._failed()};", f"const int error_ = failed ? (int)({error}) : 0;"]
        guarded = self._plan.path or any(item.code in "ps" for item in self._plan.worded)
        if self._file.is_libc and guarded:
            rows.append("const bool unreadable_ = failed && !iotide_has_read(error_);")
        unused = self._file.is_libc and guarded and not self._uses_unreadable()
        return rows[:-1] if unused else rows

    def _uses_unreadable(self) -> bool:
        named = self._plan.path is not None and self._plan.creates not in ("fd", "stream")
        named = named and "file" not in self._statement.expressions
        return named or any("unreadable_" in self._words.word(item) for item in self._plan.worded)

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
        sizes = [row for row in self._statement.having("size") if row.type.machine is not Machine.POINTER]
        if given or not sizes:
            return given or "0"
        return self._statement.values.get(sizes[0].name) or sizes[0].name

    def _duplicates(self) -> bool:
        return self._plan.creates == "fd" and self._source_is("fd")

    # ---- what the call was about ----

    def _target(self) -> list[str]:
        plan, given = self._plan, self._statement.expressions
        rows = self._created_descriptor() or self._created_handle() or self._plain_target()
        if plan.source and self._statement.kind == "DESTROY" and plan.source.role.name == "handle":
            rows += [
                "if (failed && source_.handle)",
                f"    iotide_bind({self._space}, key_{plan.source.name}_, source_);",
            ]
        changed = [f"target_.{key} = (uint32_t)({given[key]});" for key in ("handle", "file") if key in given]
        if changed and self._creates_handle() and "file" in given:
            return rows
        return rows + changed

    def _mutable(self) -> str:
        return "" if {"handle", "file"} & set(self._statement.expressions) else "const "

    def _created_descriptor(self) -> list[str]:
        plan, path = self._plan, self._path()
        none = "(struct iotide_target){0, 0}"
        source = plan.source.name if plan.source else ""
        if plan.creates == "fd" and self._source_is("fd"):
            return [self._declared(f"failed ? {none} : iotide_duplicated({source}, result)")]
        if plan.creates == "fd":
            return [self._declared(f"iotide_opened(result, {plan.directory or 'AT_FDCWD'}, {path})")]
        if plan.creates != "stream":
            return []
        rows = [] if self._source_is("stream") else ["const int descriptor_ = result ? iotide_descriptor(result) : -1;"]
        rows += ["if (result && descriptor_ < 0)", "    return result;", "errno = errno_;"]
        if self._source_is("fd"):
            return [*rows, self._declared(f"failed ? {none} : iotide_stream_on({source})")]
        return [*rows, self._declared(f"iotide_stream_opened(descriptor_, {path})")]

    def _created_handle(self) -> list[str]:
        if not self._creates_handle():
            return []
        creates, given = self._plan.creates, self._statement.expressions
        file = given.get("file") or self._file_of_path() or ("source_.file" if self._plan.source else "0")
        new = "failed ? 0 : iotide_new_handle()" if self._file.is_libc else "new_"
        if "handle" in given:
            new = f"(uint32_t)({given['handle']})"
        rows = [f"{self._mutable()}struct iotide_target target_ = {{{new}, (uint32_t)({file})}};"]
        made = ["(uint64_t)result"] if creates == "handle" else [f"(uint64_t)*{creates.name}"]  # type: ignore[union-attr]
        ready = "!failed" if creates == "handle" else f"!failed && {creates.name}"  # type: ignore[union-attr]
        rows += [f"if ({ready})", f"    iotide_bind({self._space}, {made[0]}, target_);"]
        for more in self._statement.having("new_handle"):
            if more is creates:
                continue
            name = more.name
            rows.append(f"const uint32_t new_{name}_ = failed || !{name} ? 0 : iotide_new_handle();")
            bound = (
                f"iotide_bind({self._space}, (uint64_t)*{name}, (struct iotide_target){{new_{name}_, target_.file}});"
            )
            rows += [f"if (new_{name}_)", f"    {bound}"]
        return rows

    def _plain_target(self) -> list[str]:
        if self._plan.source:
            return [self._declared("source_")]
        file = self._file_of_path() if "file" not in self._statement.expressions else ""
        return [f"{self._mutable()}struct iotide_target target_ = {{0, {file or '0'}}};"]

    def _declared(self, value: str) -> str:
        return f"{self._mutable()}struct iotide_target target_ = {value};"

    def _path(self) -> str:
        path = self._plan.path
        return (self._statement.values.get(path.name) or path.name) if path else "NULL"

    def _file_of_path(self) -> str:
        if not self._plan.path:
            return ""
        text = f"iotide_file_at({self._plan.directory or 'AT_FDCWD'}, {self._path()})"
        return f"unreadable_ ? 0 : {text}" if self._file.is_libc else text

    def _facts(self) -> list[str]:
        given = self._statement.expressions
        bytes_ = given.get("bytes") or ("result" if self._statement.result_role == "bytes" else "")
        facts = {
            "target": "target_",
            "offset": self._offset(),
            "requested": "requested",
            "bytes": f"failed ? 0 : (int64_t)({bytes_})" if bytes_ else "0",
            "parent": self._parent(),
            "descriptor": self._descriptor(),
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
        plain = [row for row in self._statement.having("offset") if row.type.machine is not Machine.POINTER]
        name = given or (self._statement.values.get(plain[0].name) or plain[0].name if plain else "")
        return f"(int64_t)({name})" if name else "-1"

    def _parent(self) -> str:
        """A new handle is the child of what it is made from, unless a call around it is what made it."""
        source = self._plan.source
        if not source or not self._plan.creates or self._duplicates():
            return "0"
        return "iotide_parent_at(span_.depth) ? 0 : source_.handle"

    def _descriptor(self) -> str:
        plan, name = self._plan, self._plan.descriptor
        if not name:
            return "-1"
        if plan.creates == "stream" or self._source_is("stream"):
            return "descriptor_"
        if name == "result":
            return "failed ? -1 : (int32_t)result"
        if isinstance(plan.creates, Parameter) and plan.creates.name == name:
            return f"failed || !{name} ? -1 : (int32_t)*{name}"
        return f"(int32_t)key_{name}_" if self._source_is("handle") else name

    def _flags(self) -> str:
        words = self._statement.flags
        known = {"collective": "FLAG_COLLECTIVE", "append": "FLAG_APPEND"}
        if words and not set(words) <= {*known, "nonblocking"}:
            return f"(uint16_t)({words[0]})"
        names = ([] if "nonblocking" in words else ["FLAG_BLOCKING"]) + [known[word] for word in words if word in known]
        return " | ".join(names) or "0"


def _unqualified(text: str) -> str:
    """The type of a variable for the result: a const of the result itself means nothing."""
    return text if "*" in text else text.replace("const ", "", 1)
