"""The page of the runbooks: each alert links to its section, and there are no other links."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from iotide.clients.pages import live_pages as module
from iotide.clients.pages.live_pages import LivePages, runbooks_page
from support.places import ROOT


def test_each_alert_has_an_anchor_on_the_page() -> None:
    page = runbooks_page()
    assert page is not None
    rules = (ROOT / "deploy/prometheus/rules.yml").read_text()
    anchors = re.findall(r"runbook_url: runbooks\.md#(\w+)", rules)
    assert anchors
    assert set(anchors) <= set(re.findall(r'<h2 id="([^"]+)">', page))


def test_page_needs_nothing_but_the_style_sheets_of_the_aggregator() -> None:
    page = runbooks_page()
    assert page is not None
    addresses = re.findall(r'(?:href|src)="([^"]*)"', page)
    own = {"@BASE@", "data:,", "./", "filesystems", "assets/report.css", "assets/live.css"}
    assert {address for address in addresses if not address.startswith("#")} == own
    assert "(docs/api.md#losses)" in page
    assert "<script" not in page


def test_installation_without_documentation_has_no_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert LivePages().web_file("runbooks.html") == (runbooks_page(), "text/html")
    monkeypatch.setattr(module, "SOURCE", tmp_path / "runbooks.md")
    runbooks_page.cache_clear()
    assert LivePages().web_file("runbooks.html") is None
    runbooks_page.cache_clear()
