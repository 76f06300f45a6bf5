"""Log lines on standard error, bounded in number for causes outside of the process."""

from __future__ import annotations

import json
import logging
import sys
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import IO, Final

from msgspec import Struct

_WINDOW_S: Final = 60.0
_MAX_PER_LOCATION: Final = 20
"""Maximum lines per code location and window; ``_MAX_INFO`` for level INFO and below."""
_MAX_INFO: Final = 1000
_MAX_LOCATIONS: Final = 200
_MAX_LINE: Final = 4000
"""Maximum characters of a line with its traceback."""


class _Location(Struct):
    since_s: float
    printed: int = 0
    omitted: int = 0


class LimitedHandler(logging.StreamHandler[IO[str]]):
    """Writes a bounded number of lines per minute and code location. It reports the number of omitted lines.

    The content of a line may come from outside, its code location does not. The table of locations is therefore small;
    locations beyond its bound share one entry.

    Args:
        stream: output stream; standard error by default.
        clock: monotonic clock, seconds.
    """

    def __init__(self, stream: IO[str] | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(stream or sys.stderr)
        self._clock = clock
        self.form = "text"
        self._locations: OrderedDict[tuple[str, int], _Location] = OrderedDict()

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record, or count it."""
        now_s = self._clock()
        self._report_omitted(now_s)
        key = (record.pathname, record.lineno)
        if key not in self._locations and len(self._locations) >= _MAX_LOCATIONS:
            key = ("", 0)
        place = self._locations.setdefault(key, _Location(now_s))
        if place.printed >= (_MAX_PER_LOCATION if record.levelno >= logging.WARNING else _MAX_INFO):
            place.omitted += 1
            return
        place.printed += 1
        super().emit(record)

    def format(self, record: logging.LogRecord) -> str:
        """Format a record, truncated if it is too long."""
        text = super().format(record)
        if self.form == "json":  # truncated in the formatter
            return text
        return (
            text if len(text) <= _MAX_LINE else f"{text[:_MAX_LINE]} ... ({len(text) - _MAX_LINE} characters left out)"
        )

    def close(self) -> None:
        """Report the lines that were omitted last, and close."""
        self._report_omitted(float("inf"))
        super().close()

    def _report_omitted(self, now_s: float) -> None:
        """Report omitted lines of expired windows, and remove these."""
        while self._locations:
            key, place = next(iter(self._locations.items()))
            if now_s - place.since_s < _WINDOW_S:
                break
            del self._locations[key]
            if place.omitted:
                text = f"{place.omitted} further lines like an earlier one were left out"
                super().emit(logging.LogRecord(__name__, logging.WARNING, key[0], key[1], text, None, None))


class JsonFormatter(logging.Formatter):
    """Formats a record as a JSON object: ``time`` (Unix time, s), ``level``, ``part``, ``message``, ``traceback``."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the object as one line."""
        fields: dict[str, object] = {
            "time": round(record.created, 3),
            "level": record.levelname.lower(),
            "part": record.name,
            "message": record.getMessage()[:_MAX_LINE],
        }
        if record.exc_info:
            fields["traceback"] = self.formatException(record.exc_info)[-_MAX_LINE:]
        return json.dumps(fields)


def log_to_standard_error(level: int, form: str = "text") -> LimitedHandler:
    """Send all log records of this process to standard error in bounded amounts. This includes those of libraries.

    Args:
        level: least level that is written.
        form: ``text``, or ``json``.

    Returns:
        The handler.
    """
    handler = LimitedHandler()
    root = logging.getLogger()
    root.addHandler(handler)
    change_logs(handler, level, form)
    return handler


def change_logs(handler: LimitedHandler, level: int, form: str) -> None:
    """Change level and format of the log."""
    handler.form = form
    handler.setFormatter(JsonFormatter() if form == "json" else logging.Formatter("iotide: %(message)s"))
    logging.getLogger().setLevel(level)


def write_line(text: str, form: str = "text") -> None:
    """Write a line outside of the log, independent of its level, in the same format."""
    handler = LimitedHandler()
    handler.setFormatter(JsonFormatter() if form == "json" else logging.Formatter("iotide: %(message)s"))
    handler.emit(logging.LogRecord("iotide", logging.INFO, __file__, 0, text, None, None))
