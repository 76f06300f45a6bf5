"""Write a wrapper's code for handles and files: used, created and destroyed ones.

Variables: ``source_`` is the handle that a call uses or creates a new one from, ``key_NAME_`` a library's own value of
    a handle, ``target_`` the handle in the record, ``new_`` the reserved number of a new handle.
"""

from __future__ import annotations

from .model import Parameter, SignatureFile
from .plan import Plan

_NONE = "(struct iotide_target){0, 0}"


class TargetCode:
    """The handles and files of one call. Methods return lines of C, in their order in a wrapper."""

    def __init__(self, file: SignatureFile, plan: Plan) -> None:
        self._file = file
        self._plan = plan
        self._statement = plan.statement
        self._space = f"SPACE_{file.library}"

    def changes_descriptors(self) -> bool:
        """Whether a vfork child must not be recorded. It shares the tracer's tables but not the descriptors."""
        return self._statement.kind in ("CREATE", "DUPLICATE", "DESTROY") or self._plan.creates in ("fd", "stream")

    def creates_handle(self) -> bool:
        """Whether it creates a handle of the library."""
        return self._plan.creates == "handle" or isinstance(self._plan.creates, Parameter)

    def source_is(self, *roles: str) -> bool:
        """Whether the call uses a parameter with one of these roles."""
        return self._plan.source is not None and self._plan.source.role.name in roles

    def keys(self) -> list[str]:
        """Return the values of the handles, some of which the call changes."""
        rows = []
        for parameter in self._statement.with_roles("handle"):
            name = parameter.name
            if parameter is not self._plan.source and name in self._statement.values:
                continue
            value = f"{name} ? (uint64_t)*{name} : 0" if parameter.type.points_to_number else f"(uint64_t){name}"
            rows.append(f"const uint64_t key_{name}_ = {value};")
        return rows

    def source_before(self) -> list[str]:
        """Look up the handle before the real call. This is to push it, or because it is destroyed."""
        source, destroys = self._plan.source, self._statement.kind == "DESTROY"
        if not source or (self._file.is_libc and not destroys):
            return []
        asked = {
            "fd": f"iotide_unregister_descriptor({source.name})"
            if destroys
            else f"iotide_descriptor_target({source.name})",
            "stream": "iotide_unregister_stream(descriptor_)" if destroys else "iotide_stream_target(descriptor_)",
            "handle": f"iotide_{'unbind' if destroys else 'object'}({self._space}, key_{source.name}_)",
        }[source.role.name]
        return [f"const struct iotide_target source_ = {asked};"]

    def source_after(self) -> list[str]:
        """Look up the handle after the real call. libc's wrappers do this, which do not need it earlier."""
        source = self._plan.source
        if not source or self._statement.kind == "DESTROY" or self._duplicates():
            return []
        asked = {
            "fd": f"iotide_descriptor_target({source.name})",
            "stream": "iotide_stream_target(descriptor_)",
            "handle": f"iotide_object({self._space}, key_{source.name}_)",
        }[source.role.name]
        return [f"const struct iotide_target source_ = {asked};"]

    def _duplicates(self) -> bool:
        return self._plan.creates == "fd" and self.source_is("fd")

    def target(self) -> list[str]:
        """Set the target of the call, and bind the handle that it created."""
        plan, given = self._plan, self._statement.expressions
        rows = self._created_descriptor() or self._created_handle() or self._plain_target()
        if plan.source and self._statement.kind == "DESTROY" and plan.source.role.name == "handle":
            rows += [
                "if (failed && source_.handle)",
                f"    iotide_bind({self._space}, key_{plan.source.name}_, source_);",
            ]
        changed = [f"target_.{key} = (uint32_t)({given[key]});" for key in ("handle", "file") if key in given]
        if changed and self.creates_handle() and "file" in given:
            return rows
        return rows + changed

    def _mutable(self) -> str:
        return "" if {"handle", "file"} & set(self._statement.expressions) else "const "

    def _created_descriptor(self) -> list[str]:
        plan, path = self._plan, self._path()
        source = plan.source.name if plan.source else ""
        if plan.creates == "fd" and self.source_is("fd"):
            return [self._declared(f"failed ? {_NONE} : iotide_register_duplicate({source}, result)")]
        if plan.creates == "fd":
            return [self._declared(f"iotide_register_open(result, {plan.directory or 'AT_FDCWD'}, {path})")]
        if plan.creates != "stream":
            return []
        rows = [] if self.source_is("stream") else ["const int descriptor_ = result ? iotide_descriptor(result) : -1;"]
        rows += ["if (result && descriptor_ < 0)", "    return result;", "errno = errno_;"]
        if self.source_is("fd"):
            return [*rows, self._declared(f"failed ? {_NONE} : iotide_register_stream({source})")]
        return [*rows, self._declared(f"iotide_register_stream_open(descriptor_, {path})")]

    def _created_handle(self) -> list[str]:
        if not self.creates_handle():
            return []
        creates, given = self._plan.creates, self._statement.expressions
        file = given.get("file") or self.file_of_path() or ("source_.file" if self._plan.source else "0")
        new = "failed ? 0 : iotide_new_handle()" if self._file.is_libc else "new_"
        if "handle" in given:
            new = f"(uint32_t)({given['handle']})"
        rows = [f"{self._mutable()}struct iotide_target target_ = {{{new}, (uint32_t)({file})}};"]
        made, ready = "result", "!failed"
        if isinstance(creates, Parameter):
            made, ready = f"*{creates.name}", f"!failed && {creates.name}"
        rows += [f"if ({ready})", f"    iotide_bind({self._space}, (uint64_t){made}, target_);"]
        for more in self._statement.with_roles("new_handle"):
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
        file = self.file_of_path() if "file" not in self._statement.expressions else ""
        return [f"{self._mutable()}struct iotide_target target_ = {{0, {file or '0'}}};"]

    def _declared(self, value: str) -> str:
        return f"{self._mutable()}struct iotide_target target_ = {value};"

    def _path(self) -> str:
        path = self._plan.path
        return (self._statement.values.get(path.name) or path.name) if path else "NULL"

    def file_of_path(self) -> str:
        """Return the number of the file that a path names; empty: there is no path."""
        if not self._plan.path:
            return ""
        path = self._path()
        text = f"iotide_file_at({self._plan.directory or 'AT_FDCWD'}, {path})"
        return f"failed && !iotide_is_path({path}, error_) ? 0 : {text}" if self._file.is_libc else text

    def parent(self) -> str:
        """Return the parent of a new handle: its source, unless an enclosing call created it."""
        source = self._plan.source
        if not source or not self._plan.creates or self._duplicates():
            return "0"
        return "iotide_parent_at(span_.depth) ? 0 : source_.handle"

    def descriptor(self) -> str:
        """Return the program's own number for the record."""
        plan, name = self._plan, self._plan.descriptor
        if not name:
            return "-1"
        if plan.creates == "stream" or self.source_is("stream"):
            return "descriptor_"
        if name == "result":
            return "failed ? -1 : (int32_t)result"
        if isinstance(plan.creates, Parameter) and plan.creates.name == name:
            return f"failed || !{name} ? -1 : (int32_t)*{name}"
        return f"(int32_t)key_{name}_" if self.source_is("handle") else name
