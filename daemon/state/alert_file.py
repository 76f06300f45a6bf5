"""Alerts over a restart: raised ones, recently resolved ones, and those pending for receivers."""

from __future__ import annotations

import contextlib
import logging
import os
import threading
from collections import Counter
from pathlib import Path
from typing import Final

from pydantic import Field, ValidationError

from ...events.files import read_text
from ...results.alerts import Alert
from ...results.base import Model

NAME: Final = "alerts.json"
_log = logging.getLogger(__name__)


class StoredAlerts(Model):
    """Content of the file."""

    version: int = 1
    raised: list[Alert] = Field(default_factory=list)
    resolved: list[Alert] = Field(default_factory=list)
    waiting: dict[str, list[Alert]] = Field(default_factory=dict)
    """Pending alerts of a receiver, by the digest of its address."""


class AlertFile:
    """A file in the folder of an aggregator's state, private to its user.

    Args:
        folder: folder of this aggregator only.
        counters: counter ``alerts_unwritten``, 1 while the file cannot be written.
    """

    def __init__(self, folder: Path, counters: Counter[str] | None = None) -> None:
        self._counters = Counter() if counters is None else counters
        self._path = folder / NAME
        self._partial = folder / f"{NAME}.partial"
        self._written = b""
        self._failed = False
        self._lock = threading.Lock()

    def read(self, now_s: float) -> tuple[StoredAlerts, float]:
        """Return the content and its age, s. Return an empty one if the file is missing or unreadable.

        An unreadable file is set aside, and this is logged.
        """
        try:
            kept = StoredAlerts.model_validate_json(read_text(self._path))
            return kept, max(now_s - self._path.stat().st_mtime, 0.0)
        except FileNotFoundError:
            pass
        except (OSError, UnicodeDecodeError, ValidationError) as error:
            aside = self._path.with_suffix(".unreadable")
            reason = f"{error.error_count()} errors" if isinstance(error, ValidationError) else str(error)
            _log.error(
                "%s cannot be read (%s): it is renamed to %s, and alerts start anew", self._path, reason, aside.name
            )
            with contextlib.suppress(OSError):
                self._path.replace(aside)
        return StoredAlerts(), 0.0

    def write(self, kept: StoredAlerts) -> bool:
        """Write the file, or renew its time if unchanged. Log the first failure in a row, return False for each."""
        with self._lock:
            self._write(kept.model_dump_json().encode())
            return not self._failed

    def _write(self, content: bytes) -> None:
        try:
            if content == self._written:
                os.utime(self._path)
            else:
                descriptor = os.open(self._partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
                with os.fdopen(descriptor, "wb") as file:
                    file.write(content)
                    file.flush()
                    os.fsync(descriptor)
                self._partial.replace(self._path)
                self._written = content
            if self._failed:
                _log.warning("alerts can be written to %s again", self._path)
            self._failed = False
        except OSError as error:
            self._written = b""
            with contextlib.suppress(OSError):  # half a file would keep a full disk full
                self._partial.unlink(missing_ok=True)
            if not self._failed:
                _log.error(
                    "alerts could not be written to %s: %s; they stay in memory, and the write is retried "
                    "(logged once)",
                    self._path, error.strerror,
                )  # fmt: skip
            self._failed = True
        self._counters["alerts_unwritten"] = int(self._failed)
