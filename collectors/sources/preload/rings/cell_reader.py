"""Read the children that began in cells of their parents' regions, for a drain."""

from __future__ import annotations

import os
from collections.abc import Container
from functools import partial
from pathlib import Path
from time import monotonic_ns
from typing import Final, Protocol

from .....events import ProtocolError
from ..records.ring_layout import CELL_LINES
from .cells import Cell, Cells
from .ended_process import MAX_LINES, read_cell
from .handover_socket import HandoverSocket
from .process_image import DrainReceiver, ProcessImage
from .region import Region
from .watching import GONE, watch_begun

OVERLAP_S: Final = 1.0
"""Time for which threads may still write into a replaced region, and an extent may follow a cell."""
_YOUNG_S: Final = 0.02
"""Time after which the cell of a running process is read like a region, s. Before, most processes end."""


class ImageReader(Protocol):
    """What reads the process images that are found in cells."""

    def start(self, token: int, process: ProcessImage, receiver: DrainReceiver) -> None:
        """Begin to read a process image, which ends earlier ones of its process."""
        ...

    def is_known(self, token: int) -> bool:
        """Return whether a process image is being read."""
        ...

    @property
    def has_room(self) -> bool:
        """Whether a further process image can be read."""
        ...

    def pass_ended(self, data: bytes, receiver: DrainReceiver) -> None:
        """Pass on processes that have ended, each after earlier images of it."""
        ...

    def refuse(self, error: Exception, receiver: DrainReceiver) -> None:
        """Report a refused process."""
        ...


class CellReader:
    """Reads cells of processes that have ended, and makes images of those of others.

    Args:
        images: reader of the images.
        handover_socket: socket at which other processes arrive.
    """

    def __init__(self, images: ImageReader, handover_socket: HandoverSocket) -> None:
        self._images = images
        self._socket = handover_socket
        self._all: list[Cells] = []
        self._unread = False
        self.reads_ended = True
        """Pass on whole processes that have ended; otherwise all of them are made images."""

    def open(self, process: ProcessImage) -> None:
        """Let children of a process begin in the cells of its region, if their pids have the same meaning here."""
        if process.watch == GONE or process.first.pid != process.pid or not _shares_pids(process.pid):
            return
        if (cells := process.first.cells()) is not None:
            cells.open()
            process.cells = cells
            self._all.append(cells)

    @property
    def has_unread(self) -> bool:
        """Whether a process is in a cell and not read yet."""
        return any(cells.begun() for cells in self._all)

    @property
    def had_unread(self) -> bool:
        """Whether ``read`` has left a running process in its cell."""
        return self._unread

    def read(self, receiver: DrainReceiver, now_s: float) -> bool:
        """Read the cells of processes that have ended, and those of others after a while.

        Returns:
            Whether there were any.
        """
        news = self._unread = False
        for cells in self._all[:]:
            if begun := cells.begun():
                news = self._read(cells, begun, receiver, now_s) or news
            elif cells.closed_s is not None and now_s - cells.closed_s > OVERLAP_S and not cells.are_used:
                self._all.remove(cells)
        return news

    def read_before(self, pids: Container[int], receiver: DrainReceiver, now_s: float, *, replaced: bool) -> None:
        """Read the cells of earlier images of processes.

        Args:
            pids: the processes.
            receiver: receiver of the data.
            now_s: time, s.
            replaced: threads may still write into these cells.
        """
        for cells in self._all:
            for cell in cells.begun():
                if cell.pid in pids and replaced:
                    self._adopt(cells, cell, receiver, now_s)
                elif cell.pid in pids:
                    self._read_ended(cells, [cell], receiver, now_s)

    def adopt_token(self, token: int, receiver: DrainReceiver, now_s: float) -> ProcessImage | None:
        """Make an image of a process that has left its cell; None: there is none."""
        for cells in self._all:
            for cell in cells.begun():
                if cell.has_left and cells.token(cell.place) == token:
                    return self._adopt(cells, cell, receiver, now_s)
        return None

    def close(self, receiver: DrainReceiver, now_s: float) -> list[ProcessImage]:
        """Let no further process begin in a cell, and make images of those that are there."""
        for cells in self._all:
            cells.close(now_s)
        found = [
            self._adopt(cells, cell, receiver, now_s) for cells in self._all for cell in cells.begun() if cell.order
        ]
        return [process for process in found if process is not None]

    def _read(self, cells: Cells, begun: list[Cell], receiver: DrainReceiver, now_s: float) -> bool:
        young: dict[int, Cell] = {}
        ended: list[Cell] = []
        lines, news = 0, False
        for cell in begun:
            if receiver.free_lines <= lines + MAX_LINES:
                break
            if self._has_ended(cells, cell):
                news = True
                if cells.parent(cell.place) in young:
                    self._read_ended(cells, ended, receiver, now_s)
                    self._adopt_parents(cells, cell, young, receiver, now_s)
                    ended = []
                ended.append(cell)
                lines += CELL_LINES
            elif cell.order and self._images.has_room and self._is_old(cells, cell, now_s):
                self._read_ended(cells, ended, receiver, now_s)
                news = self._adopt(cells, cell, receiver, now_s) is not None or news
                ended = []
            else:
                young[cell.pid] = cell
        self._read_ended(cells, ended, receiver, now_s)
        self._unread = self._unread or bool(young)
        seen = {(cell.place, cell.pid) for cell in young.values()}
        cells.first_seen_s = {key: at_s for key, at_s in cells.first_seen_s.items() if key in seen}
        cells.first_claimed_ns = {key: at_ns for key, at_ns in cells.first_claimed_ns.items() if key in seen}
        return news

    def _has_ended(self, cells: Cells, cell: Cell) -> bool:
        # a process that ended before it began here has no time of its own: its pid may be reused from now on
        claimed_ns = cells.first_claimed_ns.setdefault((cell.place, cell.pid), monotonic_ns())
        with self._socket.spare_descriptor():
            watch = watch_begun(cell.pid, cells.begun_ns(cell.place) if cell.order else claimed_ns)
        if watch >= 0:
            os.close(watch)
        return watch == GONE

    def _is_old(self, cells: Cells, cell: Cell, now_s: float) -> bool:
        first_s = cells.first_seen_s.setdefault((cell.place, cell.pid), now_s)
        return not self._socket.awaits_ends or now_s - first_s >= _YOUNG_S

    def _adopt_parents(
        self, cells: Cells, cell: Cell, young: dict[int, Cell], receiver: DrainReceiver, now_s: float
    ) -> None:
        """Make images of the running ancestors of a process, the oldest first."""
        parent = young.pop(cells.parent(cell.place), None)
        if parent is not None and parent.order:
            self._adopt_parents(cells, parent, young, receiver, now_s)
            self._adopt(cells, parent, receiver, now_s)

    def _read_ended(self, cells: Cells, ended: list[Cell], receiver: DrainReceiver, now_s: float) -> None:
        """Read cells of processes that have ended, those in between that need an image on their own."""
        found: list[tuple[Cell, bytes]] = []
        for cell in ended:
            if not cells.is_unread(cell):  # read with another process
                continue
            if not cells.has_begun(cell.place):  # asked again: it may have begun and ended since the cells were listed
                cells.free(cell.place)
                continue
            is_whole = self.reads_ended and not cells.has_left(cell.place)
            if (data := read_cell(cells.memory(cell.place), cell.pid) if is_whole else None) is not None:
                cells.take(cell.place)
                found.append((cell, data))
                continue
            self._pass_ended(cells, found, receiver)
            found = []
            self._adopt(cells, cell, receiver, now_s, ended=True)
        self._pass_ended(cells, found, receiver)

    def _pass_ended(self, cells: Cells, found: list[tuple[Cell, bytes]], receiver: DrainReceiver) -> None:
        if not found:
            return
        # Whatever waits at the socket is later: a process has no cell before its parents' regions are accepted.
        entries = b"".join(data for _, data in found)
        self._images.pass_ended(entries, receiver)
        for cell, _ in found:
            cells.free(cell.place)

    def _adopt(
        self, cells: Cells, cell: Cell, receiver: DrainReceiver, now_s: float, *, ended: bool = False
    ) -> ProcessImage | None:
        """Read a cell as the first region of its process; None: it is read already, or malformed."""
        if not cells.is_unread(cell):
            return None
        begun_ns = cells.begun_ns(cell.place)
        try:
            region = Region.in_cell(cells.take(cell.place))
            if self._images.is_known(region.token):
                raise ProtocolError(f"process {cell.pid} has the token of another process in its cell")
        except ProtocolError as error:
            self._images.refuse(error, receiver)
            cells.free(cell.place)
            return None
        with self._socket.spare_descriptor():
            process = ProcessImage(cell.pid, region, GONE if ended else watch_begun(cell.pid, begun_ns))
        process.free_cell = partial(cells.free, cell.place)
        self._images.start(region.token, process, receiver)
        if process.watch == GONE and cells.has_left(cell.place):  # its extent may be among the connections
            process.until_s = now_s + OVERLAP_S
        return process


def _shares_pids(pid: int) -> bool:
    """Return whether a process is in our pid namespace."""
    try:
        return Path(f"/proc/{pid}/ns/pid").samefile("/proc/self/ns/pid")
    except OSError:
        return False
