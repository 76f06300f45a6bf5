"""The documentation site: it contains all pages, its links work, and it loads nothing from other hosts."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from iotide.cli.main import COMMANDS
from support.places import ROOT


@pytest.mark.slow
def test_all_pages_are_in_the_site_and_nothing_comes_from_elsewhere(tmp_path: Path) -> None:
    pytest.importorskip("material")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr  # a page outside the navigation, or a dead link
    pages = {path.relative_to(tmp_path).with_suffix(".md") for path in tmp_path.rglob("*.html")}
    assert {path.relative_to(ROOT / "docs") for path in (ROOT / "docs").rglob("*.md")} <= pages
    commands = (tmp_path / "commands.html").read_text()
    assert all(f"iotide {name}" in commands for name in COMMANDS)
    for page in tmp_path.rglob("*.html"):
        fetched = re.findall(r'<(?:script|img|link|iframe)[^>]*(?:src|href)="(?:https?:)?//[^"]*"', page.read_text())
        assert fetched == [], page
