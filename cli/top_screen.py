"""The screen of ``iotide top``, drawn with curses. Curses is part of Python and works on any terminal."""

from __future__ import annotations

import contextlib
import curses
import locale
import os
import select
import sys
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ..clients.job_fetch import fetch, fetch_for_all_jobs
from ..clients.terminal.top_text import (
    ASCENDING,
    ORDERS,
    detail_lines,
    header_line,
    job_line,
    strip_control,
    total_line,
)
from ..clients.text.printable import padded
from ..events.errors import InputError
from ..events.network.job_addresses import job_path
from ..results.jobs.fleet import Fleet, FleetOrder
from ..results.jobs.job import JobDetail
from ..results.prediction import Prediction

if TYPE_CHECKING:
    _Window = curses.window

_PERIOD_S: Final = 1.0
_MAX_JOBS: Final = 200
_ESCAPE: Final = 27
_ENTER: Final = (curses.KEY_ENTER, 10, 13)
_ERASE: Final = (curses.KEY_BACKSPACE, 8, 127)
_HELP: Final = "q end  s sort  r reverse  / search  enter job"


@dataclass(slots=True)
class ViewOptions:
    """The displayed view.

    Attributes:
        job: job shown in detail; "" for the list.
        typing: whether letters go into the search.
    """

    sort: FleetOrder = "bandwidth"
    descending: bool = True
    search: str = ""
    chosen: int = 0
    job: str = ""
    typing: bool = False


@dataclass(slots=True)
class _Answer:
    fleet: Fleet
    detail: JobDetail | None = None
    prediction: Prediction | None = None
    problem: str = ""


def fetch_fleet(address: str, wanted: ViewOptions, count: int) -> Fleet:
    """Fetch the list.

    Raises:
        InputError: the aggregator does not answer.
    """
    query = {"sort": wanted.sort, "descending": str(wanted.descending).lower(), "search": wanted.search[:200]}
    return fetch_for_all_jobs(address, "fleet", Fleet, count=str(count), **query)


def run_screen(address: str, wanted: ViewOptions, first: Fleet) -> None:
    """Show the list until q is pressed. A thread fetches data, so that keys are handled immediately."""
    with contextlib.suppress(locale.Error):  # a locale that the machine lacks
        locale.setlocale(locale.LC_ALL, "")  # curses encodes letters by it
    with contextlib.suppress(KeyboardInterrupt):
        try:
            for name in ("LINES", "COLUMNS"):  # curses would take them for the size of a window that never changes
                os.environ.pop(name, None)
            curses.wrapper(_Screen(address, wanted, first).run)
        except curses.error:
            if not _is_hung_up():  # else there is no terminal to restore
                raise


def _is_hung_up() -> bool:
    """Return whether the terminal has hung up. Then no key arrives, and waiting for one returns immediately."""
    terminal = select.poll()
    terminal.register(sys.stdin.fileno(), 0)
    return bool(terminal.poll(0))


class _Screen:
    def __init__(self, address: str, wanted: ViewOptions, first: Fleet) -> None:
        self._address = address
        self._wanted = wanted
        self._answer = _Answer(first)
        self._wake = threading.Event()
        self._ended = False

    def run(self, window: _Window) -> None:
        with contextlib.suppress(curses.error):  # a terminal without colours
            curses.use_default_colors()  # curses.wrapper starts colours, which paints white on black
        with contextlib.suppress(curses.error):  # a terminal without cursor control
            curses.curs_set(0)
        curses.set_escdelay(25)
        window.timeout(200)
        asking = threading.Thread(target=self._query, daemon=True)
        asking.start()
        try:
            while not (self._ended or _is_hung_up()):
                self._draw(window)
                with contextlib.suppress(curses.error):
                    key = window.get_wch()
                    if key == curses.KEY_RESIZE:
                        window.clear()  # the terminal may have cut what curses believes to be there
                    else:
                        self._handle_key(key)
        finally:
            self._ended = True
            self._wake.set()

    def _query(self) -> None:
        while not self._ended:
            began_s, wanted = time.monotonic(), self._wanted
            answer = _Answer(self._answer.fleet, self._answer.detail, self._answer.prediction)
            try:
                if wanted.job:
                    where = f"{self._address.rstrip('/')}/jobs/{job_path(wanted.job)}"
                    answer.detail = fetch(where, "", JobDetail)
                    with contextlib.suppress(InputError):  # it has no prediction yet
                        answer.prediction = fetch(where, "prediction", Prediction)
                else:
                    answer.fleet = fetch_fleet(self._address, wanted, _MAX_JOBS)
                    answer.detail = answer.prediction = None
            except InputError as error:
                answer.problem = error.problem
            self._answer = answer
            self._wake.wait(max(_PERIOD_S - (time.monotonic() - began_s), 0.05))
            self._wake.clear()

    def _handle_key(self, key: str | int) -> None:
        wanted = self._wanted
        code = ord(key) if isinstance(key, str) else key
        if wanted.typing:
            self._edit_search(key, code)
        elif code in _ENTER:
            jobs = self._answer.fleet.jobs
            wanted.job = "" if wanted.job or not jobs else jobs[min(wanted.chosen, len(jobs) - 1)].job
        elif code == _ESCAPE:
            wanted.job = ""
        elif code == curses.KEY_DOWN:
            wanted.chosen = min(wanted.chosen + 1, max(len(self._answer.fleet.jobs) - 1, 0))
        elif code == curses.KEY_UP:
            wanted.chosen = max(wanted.chosen - 1, 0)
        elif key in ("s", "S"):
            step = 1 if key == "s" else -1
            wanted.sort = ORDERS[(ORDERS.index(wanted.sort) + step) % len(ORDERS)]
            wanted.descending = wanted.sort not in ASCENDING
        elif key == "r":
            wanted.descending = not wanted.descending
        elif key == "/":
            wanted.typing = True
        elif key == "q":
            self._ended = True
        self._wake.set()

    def _edit_search(self, key: str | int, code: int) -> None:
        wanted = self._wanted
        if code in (*_ENTER, _ESCAPE):
            wanted.typing = False
        elif code in _ERASE:
            wanted.search = wanted.search[:-1]
        elif isinstance(key, str) and key.isprintable():
            wanted.search += key
        wanted.chosen = 0

    def _draw(self, window: _Window) -> None:
        height, width = window.getmaxyx()
        width -= 1  # letters in the last column scroll some terminals
        answer, wanted = self._answer, self._wanted
        window.erase()
        if wanted.job:
            detail = answer.detail
            known = detail is not None and detail.job == wanted.job
            lines = (
                list(detail_lines(detail, answer.prediction, width))
                if known and detail
                else [strip_control(wanted.job)]
            )
            for row, line in enumerate(lines[: height - 1]):
                _put(window, row, line, width, curses.A_BOLD if not row else curses.A_NORMAL)
            foot = "enter, escape: back  q end"
        else:
            _put(window, 0, total_line(answer.fleet), width, curses.A_BOLD)
            _put(window, 1, header_line(width, wanted.sort), width, curses.A_UNDERLINE)
            jobs, room = answer.fleet.jobs, max(height - 3, 1)
            first = max(wanted.chosen - room + 1, 0)
            now_s = answer.fleet.made_at_s
            for row, job in enumerate(jobs[first : first + room]):
                look = curses.A_REVERSE if first + row == wanted.chosen else curses.A_NORMAL
                _put(window, row + 2, job_line(job, now_s, width), width, look)
            foot = _HELP
        if wanted.typing or wanted.search:
            foot = strip_control(f"search: {wanted.search}{'_' if wanted.typing else ''}")
        if answer.problem:
            foot = strip_control(f"{answer.problem}; asking again")
        _put(window, height - 1, foot, width, curses.A_DIM)
        window.refresh()


def _put(window: _Window, row: int, text: str, width: int, look: int) -> None:
    with contextlib.suppress(curses.error):  # the last cell of a screen, or a window that has shrunk
        window.addstr(row, 0, padded(text, max(width, 1)), look)
