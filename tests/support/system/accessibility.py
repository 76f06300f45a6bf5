"""Pages held to the rules of axe-core: what a screen reader, a keyboard or an eye that sees little contrast needs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from support.system.browser import Page

_SERIOUS = ("serious", "critical")
_STILL = "for (let timer = setTimeout(() => {}); timer > 0; timer--) clearTimeout(timer)"
"""Pages are renewed now and then; a look at one takes longer."""
_SEEN = """axe.run(document, {resultTypes: ['violations']}).then(told => told.violations.map(
  each => [each.impact, each.id, each.nodes.slice(0, 3).map(node => node.html.slice(0, 200)).join(' ')].join(': ')))"""


def rules() -> str:
    """Returns axe-core, which a Python package carries; IOTIDE_AXE names another version of it."""
    if path := os.environ.get("IOTIDE_AXE"):
        return Path(path).read_text()
    package = pytest.importorskip("axe_core_python")
    return Path(package.__path__[0], "axe.min.js").read_text()


def serious_findings(page: Page, *, scheme: str) -> list[str]:
    """Returns what is wrong with an open page, in the browser's light or dark setting."""
    page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
    page.value(_STILL)
    return [line for line in page.value(f"{rules()};\n{_SEEN}") if line.startswith(_SERIOUS)]
