"""Lines of the log on standard error: so many, however often somebody outside causes one."""

from __future__ import annotations

import json
import logging
import sys
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import IO, Final

_WINDOW_S: Final = 60.0
_MOST_OF_A_PLACE: Final = 20
"""Lines of one place in the code, in each window; of those that only inform ``_MOST_TOLD``."""
_MOST_TOLD: Final = 1000
_MOST_PLACES: Final = 200
_LONGEST: Final = 4000
"""Characters of a line with its traceback."""


@dataclass(slots=True)
class _Place:
    since_s: float
    said: int = 0
    left_out: int = 0


class LimitedHandler(logging.StreamHandler[IO[str]]):
    """Writes a bounded number of lines a minute for each place in the code that logs, and says how many it left out.

    What a line says may come from outside, where it is logged from does not: so the table of places is small, and what
    is beyond its bound shares one place.

    Args:
        stream: by default standard error.
        clock: a steady one, seconds.
    """

    def __init__(self, stream: IO[str] | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(stream or sys.stderr)
        self._clock = clock
        self.form = "text"
        self._places: OrderedDict[tuple[str, int], _Place] = OrderedDict()

    def emit(self, record: logging.LogRecord) -> None:
        """Writes a record, or counts it."""
        now_s = self._clock()
        self._tell_left_out(now_s)
        key = (record.pathname, record.lineno)
        if key not in self._places and len(self._places) >= _MOST_PLACES:
            key = ("", 0)
        place = self._places.setdefault(key, _Place(now_s))
        if place.said >= (_MOST_OF_A_PLACE if record.levelno >= logging.WARNING else _MOST_TOLD):
            place.left_out += 1
            return
        place.said += 1
        super().emit(record)

    def format(self, record: logging.LogRecord) -> str:
        """Formats a record, cut where it is too long."""
        text = super().format(record)
        if self.form == "json":  # which is cut within
            return text
        return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} ... ({len(text) - _LONGEST} characters left out)"

    def close(self) -> None:
        """Says what was left out at last."""
        self._tell_left_out(float("inf"))
        super().close()

    def _tell_left_out(self, now_s: float) -> None:
        """Says what was left out in windows that are over, and forgets them."""
        while self._places:
            key, place = next(iter(self._places.items()))
            if now_s - place.since_s < _WINDOW_S:
                break
            del self._places[key]
            if place.left_out:
                text = f"{place.left_out} further lines like an earlier one were left out"
                super().emit(logging.LogRecord(__name__, logging.WARNING, key[0], key[1], text, None, None))


class JsonFormatter(logging.Formatter):
    """Makes one JSON object of a record: ``time`` (Unix time, s), ``level``, ``part``, ``message``, ``traceback``."""

    def format(self, record: logging.LogRecord) -> str:
        """Returns the object as a line."""
        told: dict[str, object] = {
            "time": round(record.created, 3),
            "level": record.levelname.lower(),
            "part": record.name,
            "message": record.getMessage()[:_LONGEST],
        }
        if record.exc_info:
            told["traceback"] = self.formatException(record.exc_info)[-_LONGEST:]
        return json.dumps(told)


def log_to_standard_error(level: int, form: str = "text") -> LimitedHandler:
    """Has all that is logged in this process, by libraries too, go to standard error in bounded amounts.

    Args:
        level: the least one that is written.
        form: ``text``, or ``json``.

    Returns:
        What writes it.
    """
    handler = LimitedHandler()
    root = logging.getLogger()
    root.addHandler(handler)
    change_logs(handler, level, form)
    return handler


def change_logs(handler: LimitedHandler, level: int, form: str) -> None:
    """Has the log written otherwise from now on."""
    handler.form = form
    handler.setFormatter(JsonFormatter() if form == "json" else logging.Formatter("iotide: %(message)s"))
    logging.getLogger().setLevel(level)


def say(text: str, form: str = "text") -> None:
    """Writes a line that is no part of the log, whatever its level, in the same form."""
    handler = LimitedHandler()
    handler.setFormatter(JsonFormatter() if form == "json" else logging.Formatter("iotide: %(message)s"))
    handler.emit(logging.LogRecord("iotide", logging.INFO, __file__, 0, text, None, None))
