"""Text of the errors in a settings file."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from pydantic import BaseModel, ValidationError


def validation_text(error: ValidationError, model: type[BaseModel] | None = None) -> str:
    """Return one line with the name and the fault of each invalid value.

    Args:
        error: the error of pydantic.
        model: the settings' class, to propose names for unknown settings; None proposes none.
    """
    wrong = []
    for row in error.errors():
        path = [str(part) for part in row["loc"]]
        text = row["msg"]
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
