"""Assignment of events to members of a job, in a bounded table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
from msgspec import Struct, field

from ...events import EventBatch, FileInfo, StreamInfo, is_constant
from ...events.schema import UNKNOWN_RANK
from ..common.grouping import Grouping
from . import member_keys
from .member_keys import Key, Process

Ints = npt.NDArray[np.int64]

_MAX_LISTED: Final = 8  # maximum names of one kind kept per member
_COMMANDS, _FILES = 2, 4  # maximum distinct commands and kinds of files, as divisors of the maximum members
_MAX_KNOWN: Final = 4096  # maximum number of cached commands
_UNKNOWN: Final = -1  # file without a kind so far


class OriginColumns(NamedTuple):
    """Columns of events that identify their maker."""

    rank: npt.NDArray[Any]
    pid: npt.NDArray[Any]
    file: npt.NDArray[Any]

    @classmethod
    def of(cls, batch: EventBatch, rows: npt.NDArray[np.intp] | None) -> OriginColumns:
        """Return the columns of some rows; None for all."""
        columns = (batch.rank, batch.pid, batch.file)
        if rows is None:
            return cls(*columns)
        return cls(*(each[: len(rows)] if is_constant(each) else each.take(rows) for each in columns))


class Member(Struct):
    """Information on one member.

    Attributes:
        key: identity of the member.
        ranks: smallest and largest rank; -1 if unknown.
        hosts, pids: first few in order.
    """

    key: Key
    ranks: tuple[int, int] = (UNKNOWN_RANK, UNKNOWN_RANK)
    hosts: list[str] = field(default_factory=list)
    pids: list[int] = field(default_factory=list)

    def note(self, ranks: tuple[int, int], hosts: list[str], pids: list[int]) -> None:
        """Add ranks, hosts and pids."""
        known = [bound for bound in (self.ranks, ranks) if bound[0] >= 0]
        if known:
            self.ranks = min(low for low, _ in known), max(high for _, high in known)
        if not set(hosts) <= set(self.hosts):
            self.hosts = sorted({*self.hosts, *hosts})[:_MAX_LISTED]
        if not set(pids) <= set(self.pids):
            self.pids = sorted({*self.pids, *pids})[:_MAX_LISTED]


class Members:
    """Numbers members from 0. If there are more than ``most``, the granularity becomes coarser.

    Args:
        most: maximum number of members, at least 2.

    Attributes:
        all: members by number.
        joined: how often members were merged because of the bound.
    """

    def __init__(self, most: int) -> None:
        self.all: list[Member] = []
        self.joined = 0
        self._most = most
        self._numbers: dict[Key, int] = {}
        self._process_step = self._command_step = self._files_step = 0
        self._kinds: list[str] = []
        self._kind_numbers: dict[str, int] = {}
        self._kind_of_file = np.full(64, _UNKNOWN, np.int64)
        self._commands: dict[str, str] = {}

    def __len__(self) -> int:
        return len(self.all)

    def numbers(self, columns: OriginColumns, info: StreamInfo, files: Sequence[FileInfo]) -> tuple[Ints, list[Ints]]:
        """Return the member of each event of a stream, int64; new members are numbered.

        Args:
            columns: columns of events that count, at least one.
            info: introduction of the stream.
            files: files by number.

        Returns:
            The numbers; and for each merge of members on the way, the new number of each old one.
        """
        merged: list[Ints] = []
        while True:
            found = self._numbered(columns, info, files)
            step = self._limiting_property()
            if step is None:
                return found, merged
            merged.append(self._coarser(step))

    def _numbered(self, origin: OriginColumns, info: StreamInfo, files: Sequence[FileInfo]) -> Ints:
        ranks, pids = _filled(origin.rank, UNKNOWN_RANK, info.rank), _filled(origin.pid, 0, info.pid)
        kinds = self._kinds_of(origin.file, files)
        shift = member_keys.shift_at(self._process_step)
        listed_ids = ranks[:1] if is_constant(ranks) else ranks
        with_rank = bool((listed_ids >= 0).any())
        columns: list[npt.NDArray[Any]] = [ranks >> shift if with_rank and not is_constant(ranks) else ranks, kinds]
        if self._process_step == 0 and not (listed_ids >= 0).all():
            columns.append(pids)
        groups = Grouping(columns)
        command = self._command(info.command)
        numbers = np.empty(len(groups), np.int64)
        least = most = None
        if not is_constant(ranks):
            wide = ranks.astype(np.int64)
            least, most = groups.least(wide).tolist(), groups.most(wide).tolist()
        for place, first in enumerate(groups.first.tolist()):
            rank = int(ranks[first])
            process = Process(rank=rank >> shift) if rank >= 0 else self._process(info.host, int(pids[first]))
            key = Key(process, command, self._kinds[int(kinds[first])])
            number = self._numbers.get(key)
            if number is None:
                self._numbers[key] = number = len(self.all)
                self.all.append(Member(key))
            bounds = (rank, rank) if least is None or most is None else (least[place], most[place])
            pid = int(pids[first])
            self.all[number].note(bounds, [info.host] if info.host else [], [pid] if pid and rank < 0 else [])
            numbers[place] = number
        if len(groups) == 1:
            return np.broadcast_to(numbers, (len(ranks),))
        return numbers.take(groups.number)

    def _process(self, host: str, pid: int) -> Process:
        process = Process(host=host, pid=pid)
        return member_keys.process_at(process, self._process_step) if self._process_step else process

    def _command(self, command: str) -> str:
        made = self._commands.get(command)
        if made is None:
            made = command
            for step in range(self._command_step + 1):
                made = member_keys.command_at(made, step)
            if len(self._commands) >= _MAX_KNOWN:
                self._commands.clear()
            self._commands[command] = made
        return made

    def _kinds_of(self, file: npt.NDArray[Any], files: Sequence[FileInfo]) -> Ints:
        """Return the number of each file's kind."""
        numbers = file[:1] if is_constant(file) else file
        highest = int(numbers.max())
        if highest >= len(self._kind_of_file):
            grown = np.full(max(2 * len(self._kind_of_file), highest + 1), _UNKNOWN, np.int64)
            grown[: len(self._kind_of_file)] = self._kind_of_file
            self._kind_of_file = grown
        kinds = self._kind_of_file.take(numbers)
        if (kinds == _UNKNOWN).any():
            for number in set(numbers[kinds == _UNKNOWN].tolist()):
                self._kind_of_file[number] = self._kind(files[number].path)
            kinds = self._kind_of_file.take(numbers)
        if is_constant(file) or bool((kinds == kinds[0]).all()):
            return np.broadcast_to(kinds[:1], file.shape)
        return kinds

    def _kind(self, path: str) -> int:
        for step in range(self._files_step + 1):
            path = member_keys.files_at(path, step)
        return self._kind_number(path)

    def _kind_number(self, kind: str) -> int:
        number = self._kind_numbers.setdefault(kind, len(self._kinds))
        if number == len(self._kinds):
            self._kinds.append(kind)
        return number

    def _limiting_property(self) -> str | None:
        """Return the property whose granularity must become coarser."""
        if len({member.key.command for member in self.all}) > max(self._most // _COMMANDS, 2):
            return "command"
        if len({member.key.files for member in self.all}) > max(self._most // _FILES, 2):
            return "files"
        return "process" if len(self.all) > self._most else None

    def _coarser(self, step: str) -> Ints:
        """Merge members; return the new number of each."""
        self.joined += 1
        if step == "command":
            self._command_step += 1
            self._commands.clear()
        elif step == "files":
            self._files_step += 1
            self._merge_kinds()
        elif self._process_step < member_keys.PROCESS_STEPS:
            self._process_step += 1
        elif (
            self._files_step <= member_keys.FILE_STEPS
        ):  # few commands and kinds of files still multiply to many members
            self._files_step += 1
            step = "files"
            self._merge_kinds()
        else:
            self._command_step += 1
            step = "command"
            self._commands.clear()
        old, self.all, self._numbers = self.all, [], {}
        new = np.empty(len(old), np.int64)
        for place, member in enumerate(old):
            key = self._coarser_key(member.key, step)
            number = self._numbers.setdefault(key, len(self.all))
            if number == len(self.all):
                self.all.append(Member(key))
            self.all[number].note(member.ranks, member.hosts, member.pids)
            new[place] = number
        return new

    def _coarser_key(self, key: Key, step: str) -> Key:
        if step == "command":
            return Key(key.process, member_keys.command_at(key.command, self._command_step), key.files)
        if step == "files":
            return Key(key.process, key.command, member_keys.files_at(key.files, self._files_step))
        return Key(member_keys.process_at(key.process, self._process_step), key.command, key.files)

    def _merge_kinds(self) -> None:
        old, self._kinds, self._kind_numbers = self._kinds, [], {}
        new = np.array([self._kind_number(member_keys.files_at(kind, self._files_step)) for kind in old], np.int64)
        known = self._kind_of_file != _UNKNOWN
        self._kind_of_file[known] = new.take(self._kind_of_file[known])


def _filled(column: npt.NDArray[Any], unknown: int, known: int) -> npt.NDArray[Any]:
    """Return a column with unknown values replaced by that of the stream's introduction."""
    if known == unknown:
        return column
    if is_constant(column):
        return column if column[0] != unknown else np.broadcast_to(np.array(known, column.dtype), column.shape)
    return np.where(column == unknown, known, column)
