"""Write signature files that `signature.parse` parses to the same result."""

from __future__ import annotations

from iotide.collectors.wrappers.model import SignatureFile, Statement


def format_file(file: SignatureFile) -> str:
    """Write a file that `parse` parses to the same result; comments and white space are not kept."""
    rows = [f"library {file.library}", f"layer {file.layer}", f"anchor {file.anchor}"]
    optional = {"fails": file.fails, "error": file.error, "datatype": file.datatype, "group": file.handle_group}
    optional["skip"] = file.skip
    rows += [f"{word} {text}" for word, text in optional.items() if text]
    rows += [f"include {name}" for name in file.includes]
    rows += [f"type {name} = {text}" for name, text in file.types.items()]
    for statement in file.statements:
        rows += ["", *format_statement(statement)]
    return "\n".join(rows) + "\n"


def format_statement(statement: Statement) -> list[str]:
    """Write one statement: its line, and one line per attribute."""
    parameters = [f"{row.declaration}: {row.role}" if row.stated else row.declaration for row in statement.parameters]
    listed = ", ".join([*parameters, *(["..."] if statement.variadic else [])]) or "void"
    arrow = f" -> {statement.result_role}" if statement.result_role != "none" else ""
    space = "" if statement.result.text.endswith("*") else " "
    rows = [f"{statement.kind} {statement.result.text}{space}{'|'.join(statement.symbols)}({listed}){arrow}"]
    rows += [f"    {key} = {text}" for key, text in statement.expressions.items()]
    rows += [f"    value {name} = {text}" for name, text in statement.values.items()]
    rows += [f"    extra {item.name}: {item.role} = {item.expression}" for item in statement.extras]
    rows += [f"    {key} = {text}" for key in ("before", "after") for text in getattr(statement, key)]
    rows += [f"    instead = {statement.instead}"] if statement.instead else []
    settings = {"name": statement.name, "class": statement.call_class, "flags": " ".join(statement.flags)}
    rows += [f"    {key} = {text}" for key, text in settings.items() if text]
    return [*rows, *(["    custom"] if statement.custom else [])]
