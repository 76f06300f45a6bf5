"""All targets, by name."""

from __future__ import annotations

from typing import Final

from . import targets_files, targets_http, targets_text, targets_wire
from .target import Target

_MAKERS: Final = (targets_wire.targets, targets_http.targets, targets_text.targets, targets_files.targets)
TARGETS: Final[dict[str, Target]] = {each.name: each for make in _MAKERS for each in make()}
