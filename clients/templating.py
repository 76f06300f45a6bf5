"""Pages from the templates in ``clients/templates/``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import jinja2

from .text.units import byte_text, duration_text, rate_text


def page_template(name: str, **filters: Callable[..., Any]) -> jinja2.Template:
    """Return a page template that escapes inserted values and fails on missing ones.

    Args:
        name: file name in ``clients/templates/``.
        filters: filters that add to or replace ``size``, ``rate`` and ``duration``, which all pages have.
    """
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update({"size": byte_text, "rate": rate_text, "duration": duration_text} | filters)
    return environment.get_template(name)
