"""The settings as a TOML file that explains each of them."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel

_WIDTH = 118


def settings_text(settings: BaseModel) -> str:
    """Returns all settings as TOML with their descriptions, a table for each model within.

    What has its default stands in a comment, which uncommented says the same. Descriptions are the models' own, so that
    the file cannot say other than the daemon does.
    """
    return "\n".join(_table(settings, type(settings)(), "")).strip() + "\n"


def _table(settings: BaseModel, defaults: BaseModel, path: str) -> Iterator[str]:
    inner: list[str] = []
    for name, field in type(settings).model_fields.items():
        value, default = getattr(settings, name), getattr(defaults, name)
        if isinstance(value, BaseModel):
            inner += ["", "", *_told(field.description), f"[{path}{name}]", *_table(value, default, f"{path}{name}.")]
            continue
        yield ""
        yield from _told(field.description)
        if value is None:
            yield f"# {name} is not set." if default is None else f'{name} = "none"'
        else:
            yield f"{'# ' if value == default else ''}{name} = {_toml(value)}"
    yield from inner


def _told(description: str | None) -> list[str]:
    return [f"# {line}" for line in textwrap.wrap(description or "", _WIDTH, break_long_words=False)]


def _toml(value: Any) -> str:
    """Returns a value as TOML writes it: as JSON does, but for tables."""
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_toml(name)} = {_toml(each)}' for name, each in value.items())}}}"
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(_toml, value))}]"
    text = json.dumps(str(value) if isinstance(value, Path) else value, ensure_ascii=False)
    return text.replace("\x7f", "\\u007f")  # the one character that JSON lets stand and TOML does not
