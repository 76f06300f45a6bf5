"""``iotide report --pdf``: Chromium prints the page, and obstacles are reported before the work begins."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.system.commands import iotide
from support.tracing.programs import need

CALLS = """{"call": "write", "path": "/scratch/out", "pid": 7, "tid": 7, "start_ns": 1000, "dur_ns": 900, "size": 4096}
"""


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "calls.jsonl"
    path.write_text(CALLS * 100)
    return path


@pytest.mark.slow
def test_page_is_printed(trace: Path, tmp_path: Path) -> None:
    need("chromium")
    made = iotide("report", trace, "-o", "page.html", "--pdf", "page.pdf", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    assert (tmp_path / "page.pdf").read_bytes().startswith(b"%PDF-")
    assert (tmp_path / "page.html").exists()
    assert not list(tmp_path.glob(".*"))


def test_without_a_browser_nothing_is_begun(trace: Path, tmp_path: Path) -> None:
    made = iotide("report", trace, "--pdf", "page.pdf", cwd=tmp_path, env={"PATH": str(tmp_path)})
    assert made.returncode == 1
    assert "Chromium or Chrome makes PDFs, and neither is in PATH" in made.stderr
    assert not (tmp_path / "report.html").exists()


def test_browser_that_fails_is_told_and_leaves_the_page(trace: Path, tmp_path: Path) -> None:
    broken = tmp_path / "chromium"
    broken.write_text("#!/bin/sh\necho no display >&2\nexit 3\n")
    broken.chmod(0o755)
    made = iotide("report", trace, "--pdf", "page.pdf", cwd=tmp_path, env={"PATH": str(tmp_path)})
    assert made.returncode == 1
    assert "did not print the page (status 3): no display" in made.stderr
    assert (tmp_path / "report.html").exists()
    assert not (tmp_path / "page.pdf").exists()


def test_name_that_is_no_pdf_is_refused(trace: Path, tmp_path: Path) -> None:
    made = iotide("report", trace, "--pdf", "page.html", cwd=tmp_path)
    assert made.returncode == 2
    assert "expected a name that ends in .pdf" in made.stderr
