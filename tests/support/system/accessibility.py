"""Check pages against the accessibility rules of axe-core: screen readers, keyboard use, contrast."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from support.system.browser import Page

_SERIOUS = ("serious", "critical")
_COUNTED = """{ const sent = window.fetch; window.asked = 0; window.setInterval = () => 0;
  window.fetch = async (...about) => {
    window.asked += 1;
    try { return await sent(...about); } finally { setTimeout(() => { window.asked -= 1; }, 0); }
  }; }"""
"""Count open requests, and keep pages from loading themselves again: the check would be left in the middle."""
_STILL = "for (let timer = setTimeout(() => {}); timer > 0; timer--) clearTimeout(timer)"
"""Pages are refreshed periodically; one check takes longer."""
_SEEN = """axe.run(document, {resultTypes: ['violations']}).then(told => told.violations.map(
  each => [each.impact, each.id, each.nodes.slice(0, 3).map(node => node.html.slice(0, 200)).join(' ')].join(': ')))"""


def rules() -> str:
    """Return axe-core, which a Python package contains; IOTIDE_AXE names another version of it."""
    if path := os.environ.get("IOTIDE_AXE"):
        return Path(path).read_text()
    package = pytest.importorskip("axe_core_python")
    return Path(package.__path__[0], "axe.min.js").read_text()


LEAST_LETTERS = """(() => {
    const shown = [...document.querySelectorAll('svg text')].filter(each => each.getBoundingClientRect().width);
    const sizes = shown.map(each => {
        const matrix = each.getScreenCTM();
        return parseFloat(getComputedStyle(each).fontSize) * Math.hypot(matrix.a, matrix.b);
    });
    return sizes.length ? Math.min(...sizes) : null;
})()"""
"""Size of the smallest letters of all charts of a page, px; null without charts."""


def keep_loaded(page: Page) -> None:
    """Keep pages that are opened later from loading themselves again."""
    page.call("Page.addScriptToEvaluateOnNewDocument", source=_COUNTED)


def serious_findings(page: Page, *, scheme: str) -> list[str]:
    """Return the violations on an open page, in the browser's light or dark setting."""
    page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
    page.until(f"(() => {{ if (window.asked) return false; {_STILL}; return true; }})()")
    return [line for line in page.value(f"{rules()};\n{_SEEN}") if line.startswith(_SERIOUS)]
