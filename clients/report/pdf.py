"""A report as PDF: the page printed by headless Chromium."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Final

BROWSERS: Final = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
_PATIENCE_S: Final = 120.0
_MESSAGE: Final = 300


class PdfError(Exception):
    """A page could not be printed; the text has the reason."""


def find_browser() -> str:
    """Return the path of a browser that can print.

    Raises:
        PdfError: there is none.
    """
    for name in BROWSERS:
        if (found := shutil.which(name)) is not None:
            return found
    raise PdfError(
        "Chromium or Chrome makes PDFs, and neither is in PATH: install it (apt install chromium), or print the page "
        "from a browser"
    )


def print_page(page: Path, target: Path, browser: str) -> None:
    """Print a page to a PDF, completely or not at all.

    Args:
        page: an HTML file.
        target: the PDF.
        browser: result of ``find_browser``.

    Raises:
        PdfError: the browser did not print it.
        OSError: the PDF cannot be written.
    """
    with tempfile.TemporaryDirectory(prefix="iotide-pdf-") as folder:
        printed = Path(folder) / "page.pdf"
        command = [
            browser, "--headless", "--disable-gpu", "--no-first-run", f"--user-data-dir={folder}/profile",
            "--no-pdf-header-footer", f"--print-to-pdf={printed}", page.resolve().as_uri(),
        ]  # fmt: skip
        if os.geteuid() == 0:  # Chromium's sandbox does not work as root; the page has no script and loads nothing
            command.insert(1, "--no-sandbox")
        try:
            ran = subprocess.run(
                command, capture_output=True, encoding="utf-8", errors="replace", timeout=_PATIENCE_S, check=False
            )
        except subprocess.TimeoutExpired:
            raise PdfError(f"{browser} did not print the page within {_PATIENCE_S:.0f} s") from None
        if ran.returncode or not printed.exists():
            error_text = " ".join(ran.stderr.split())[-_MESSAGE:]
            raise PdfError(f"{browser} did not print the page (status {ran.returncode}): {error_text}")
        part = target.with_name(f".{target.name}.part")
        try:
            shutil.copyfile(printed, part)
            part.replace(target)
        except OSError:
            part.unlink(missing_ok=True)
            raise
