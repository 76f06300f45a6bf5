"""Any public result as text: single values as lines, rows as tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TextIO

from pydantic import BaseModel
from rich.console import Console

from .tables import number_table, plain_name, print_table

_DIGITS = 4


def print_model(result: BaseModel, out: TextIO) -> None:
    """Print a result. Its single values are one per line; a table for each list of rows follows.

    Lists within rows are shown as their length; the JSON document has their contents.
    """
    console = Console(file=out, highlight=False)
    fields = [(name, getattr(result, name)) for name in type(result).model_fields]
    for name, value in fields:
        if not _is_rows(value):
            console.print(f"{_words(name)}: {_text(value)}", soft_wrap=True)
    for name, value in fields:
        if _is_rows(value):
            _print_rows(console, name, value)


def _print_rows(console: Console, name: str, rows: Sequence[BaseModel]) -> None:
    columns = list(type(rows[0]).model_fields)
    table = number_table(_words(name), *map(_words, columns))
    for row in rows:
        table.add_row(*(_text(getattr(row, column)) for column in columns))
    print_table(console, table)


def _is_rows(value: object) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], BaseModel)


def _text(value: object) -> str:
    if value is None or value == "":
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.{_DIGITS}g}" if abs(value) < 10**_DIGITS else f"{value:,.0f}"
    if isinstance(value, BaseModel):
        return ", ".join(f"{_words(name)} {_text(getattr(value, name))}" for name in type(value).model_fields)
    if isinstance(value, Mapping):
        return ", ".join(f"{plain_name(str(key))} {_text(each)}" for key, each in value.items()) or "-"
    if isinstance(value, list | tuple):
        if value and isinstance(value[0], BaseModel):
            return f"{len(value):,}"
        return ", ".join(_text(each) for each in value) or "-"
    return plain_name(str(value))


def _words(name: str) -> str:
    return name.replace("_", " ")
