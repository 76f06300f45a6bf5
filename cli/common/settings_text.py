"""Settings as a commented TOML file."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel

_WIDTH = 118


def settings_text(settings: BaseModel) -> str:
    """Return all settings as TOML with their descriptions, one table per nested model.

    Default values are comments that have the same meaning when uncommented. The descriptions are those of the models,
    so that the file agrees with the daemon.
    """
    return "\n".join(_table(settings, type(settings)(), "")).strip() + "\n"


def _table(settings: BaseModel, defaults: BaseModel, path: str) -> Iterator[str]:
    inner: list[str] = []
    for name, field in type(settings).model_fields.items():
        value, default = getattr(settings, name), getattr(defaults, name)
        if isinstance(value, BaseModel):
            inner += [
                "",
                "",
                *_comment(field.description),
                f"[{path}{name}]",
                *_table(value, default, f"{path}{name}."),
            ]
            continue
        yield ""
        yield from _comment(field.description)
        if value is None:
            yield f"# {name} is not set." if default is None else f'{name} = "none"'
        else:
            yield f"{'# ' if value == default else ''}{name} = {_toml_value(value)}"
    yield from inner


def _comment(description: str | None) -> list[str]:
    return [f"# {line}" for line in textwrap.wrap(description or "", _WIDTH, break_long_words=False)]


def _toml_value(value: Any) -> str:
    """Return a value as TOML: like JSON, except for tables."""
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_toml_value(name)} = {_toml_value(each)}' for name, each in value.items())}}}"
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(_toml_value, value))}]"
    text = json.dumps(str(value) if isinstance(value, Path) else value, ensure_ascii=False)
    return text.replace("\x7f", "\\u007f")  # the only character that JSON allows unescaped and TOML does not
