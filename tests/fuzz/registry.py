"""All targets, by name."""

from __future__ import annotations

from typing import Final

from . import targets_cluster, targets_files, targets_http, targets_text, targets_wire
from .target import Target

_MODULES: Final = (targets_wire, targets_http, targets_cluster, targets_text, targets_files)
TARGETS: Final[dict[str, Target]] = {each.name: each for module in _MODULES for each in module.targets()}
