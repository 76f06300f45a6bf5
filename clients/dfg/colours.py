"""Colours of directly-follows graphs that keep text readable."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

INK: Final = "#37474f"
_DARK_TEXT: Final = "#000000"  # a softer black would leave medium blues without readable text
_LIGHT_TEXT: Final = "#ffffff"
_BLUES: Final = ("#ffffff", "#d6e6f4", "#9ecae1", "#4a93c7", "#08519c", "#08306b")
"""Colour scale from 0 to the maximum."""


@dataclass(frozen=True)
class Paint:
    """Fill, text and line colours of a node."""

    fill: str
    text: str
    line: str


def shade(part: float) -> Paint:
    """Return a darker blue the closer ``part`` is to 1. The text colour has the higher contrast."""
    place = min(max(part, 0.0), 1.0) * (len(_BLUES) - 1)
    at = min(int(place), len(_BLUES) - 2)
    low, high = _rgb(_BLUES[at]), _rgb(_BLUES[at + 1])
    fill = _hex(tuple(round(a + (b - a) * (place - at)) for a, b in zip(low, high, strict=True)))
    return Paint(fill, text_on(fill), INK)


def text_on(fill: str) -> str:
    """Return the text colour with the higher contrast on a fill."""
    return max((_DARK_TEXT, _LIGHT_TEXT), key=lambda text: contrast(text, fill))


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours as defined by WCAG 2, 1 to 21; small text needs 4.5.

    >>> round(contrast("#000000", "#ffffff"))
    21
    """
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    parts = [value / 255 for value in _rgb(colour)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _rgb(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def _hex(rgb: tuple[int, ...]) -> str:
    return "#" + "".join(f"{value:02x}" for value in rgb)


PLAIN: Final = Paint("#ffffff", _DARK_TEXT, INK)
GREEN: Final = Paint("#b7e1b0", _DARK_TEXT, "#1b7837")
RED: Final = Paint("#f6b8b0", _DARK_TEXT, "#b2182b")
GREEN_LINE: Final = "#1b7837"
RED_LINE: Final = "#b2182b"
