"""Checks of settings files and variables by kind, and the text of their errors."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from typing import Any, Final, get_args, get_origin

from pydantic import BaseModel, ValidationError

from ..events import ConfigError

_LIST: Final = 'expected a list, such as ["a", "b"]'
_EXPECTED: Final = {
    "tuple_type": _LIST,
    "list_type": _LIST,
    "dict_type": "expected a table",
    "model_type": "expected a table",
    "path_type": "expected a path in quotation marks",
    "string_type": "expected text in quotation marks",
}
"""Texts in place of pydantic's, which name types of Python, by type of error."""


def validation_text(error: ValidationError, model: type[BaseModel] | None = None) -> str:
    """Return one line with the name and the fault of each invalid value.

    Args:
        error: the error of pydantic.
        model: the settings' class, to propose names for unknown settings; None proposes none.
    """
    wrong = []
    for row in error.errors():
        path = [str(part) for part in row["loc"]]
        text = _EXPECTED.get(row["type"], row["msg"])
        if row["type"] == "extra_forbidden":
            alike = difflib.get_close_matches(path[-1], _names_at(model, path[:-1]), n=1)
            proposal = f"; did you mean {'.'.join([*path[:-1], *alike])}?" if alike else ""
            text = f"there is no such setting{proposal}"
        wrong.append(f"{'.'.join(path)}: {text}")
    return "; ".join(wrong)


def _names_at(model: type[BaseModel] | None, path: Sequence[str]) -> list[str]:
    """Return the names of the settings of a table."""
    for part in path:
        field = model.model_fields.get(part) if model is not None else None
        kind = None if field is None else field.annotation
        model = kind if isinstance(kind, type) and issubclass(kind, BaseModel) else None
    return [] if model is None else list(model.model_fields)


def check_kinds(values: object, model: type[BaseModel]) -> None:
    """Refuse true and false where a number is expected, and the reverse: pydantic takes ``true`` for the number 1.

    Raises:
        ConfigError: there are such values; the text names all of them.
    """
    if wrong := list(_wrong(values, model, "")):
        raise ConfigError("; ".join(wrong))


def value_of_text(name: str, text: str) -> object:
    """Return the value of a variable of the environment: lists and tables are written as in TOML.

    Raises:
        ConfigError: it begins like a list or a table and is none.
    """
    if text.lower() == "none":
        return None
    if not text.lstrip().startswith(("[", "{")):
        return text
    import tomllib  # only needed for such values

    try:
        return tomllib.loads(f"value = {text}")["value"]
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ConfigError(f"{name}: {error}") from None


def _wrong(value: object, kind: Any, name: str) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _wrong(inner, _kind_of(kind, str(key)), f"{name}.{key}".lstrip("."))
    elif isinstance(value, list):
        for each in value:
            yield from _wrong(each, kind, name)
    else:
        scalars = set(_scalars(kind))
        if isinstance(value, bool) and bool not in scalars and scalars & {int, float}:
            yield f"{name}: expected a number, not {str(value).lower()}"
        elif isinstance(value, int | float) and not isinstance(value, bool) and scalars == {bool}:
            yield f"{name}: expected true or false, not {value}"


def _kind_of(kind: Any, key: str) -> Any:
    """Return the annotation of a value in a table."""
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        field = kind.model_fields.get(key)
        return None if field is None else field.annotation
    return get_args(kind)[1] if get_origin(kind) is dict else None


def _scalars(kind: Any) -> Iterator[Any]:
    """Return the plain types in an annotation."""
    if arguments := get_args(kind):
        for each in arguments:
            yield from _scalars(each)
    else:
        yield kind
