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
    stream: npt.NDArray[Any]
    """Number of the stream, from 0 and ascending."""

    @classmethod
    def of(cls, batch: EventBatch, lengths: Sequence[int], rows: npt.NDArray[np.intp] | None) -> OriginColumns:
        """Return the columns of some rows.

        Args:
            batch: events of one or more streams, one stream after the other.
            lengths: number of events of each stream.
            rows: rows in ascending order; None for all.
        """
        if len(lengths) == 1:
            stream: npt.NDArray[Any] = np.broadcast_to(np.int64(0), (len(batch),))
        else:
            stream = np.repeat(np.arange(len(lengths)), lengths)
        columns = (batch.rank, batch.pid, batch.file, stream)
        if rows is None:
            return cls(*columns)
        return cls(*(each[: len(rows)] if is_constant(each) else each.take(rows) for each in columns))

    def since(self, first: int) -> OriginColumns:
        """Return the columns from a row on."""
        return OriginColumns(*(each[first:] for each in self)) if first else self


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

    def numbers(
        self, columns: OriginColumns, infos: Sequence[StreamInfo], files: Sequence[FileInfo]
    ) -> tuple[Ints, list[Ints]]:
        """Return the member of each event, int64; new members are numbered, as if one stream came after the other.

        Args:
            columns: columns of events that count, at least one.
            infos: introductions of the streams, by number.
            files: files by number.

        Returns:
            The numbers; and for each merge of members on the way, the new number of each old one.
        """
        merged: list[Ints] = []
        found, reached = self._numbered(columns, infos, files)
        numbers, at = [found], reached
        while (step := self._limiting_property()) is not None or at < len(columns.stream):
            if step is not None:
                merged.append(self._coarser(step))
                numbers = [merged[-1].take(each) for each in numbers]
            else:
                found, reached = self._numbered(columns.since(at), infos, files)
                numbers.append(found)
                at += reached
        return numbers[0] if len(numbers) == 1 else np.concatenate(numbers), merged

    def _numbered(
        self, origin: OriginColumns, infos: Sequence[StreamInfo], files: Sequence[FileInfo]
    ) -> tuple[Ints, int]:
        """Return the members of the rows up to the end of the first stream that exceeds the bound, and their number."""
        ranks = _filled(origin.rank, UNKNOWN_RANK, [info.rank for info in infos], origin.stream)
        pids = _filled(origin.pid, 0, [info.pid for info in infos], origin.stream)
        kinds = self._kinds_of(origin.file, files)
        shift = member_keys.shift_at(self._process_step)
        listed_ids = ranks[:1] if is_constant(ranks) else ranks
        with_rank = bool((listed_ids >= 0).any())
        columns: list[npt.NDArray[Any]] = [ranks >> shift if with_rank and not is_constant(ranks) else ranks, kinds]
        if not (listed_ids >= 0).all():  # also once processes are merged, as members list pids
            columns.append(pids)
        programs = _programs(infos, origin.stream)
        groups = Grouping([*columns, programs])
        bounds = [ranks.take(groups.first).tolist()] * 2
        if not is_constant(ranks):
            wide = ranks.astype(np.int64)
            bounds = [groups.least(wide).tolist(), groups.most(wide).tolist()]
        firsts = (each.take(groups.first).tolist() for each in (origin.stream, ranks, pids, kinds))
        numbers = np.empty(len(groups), np.int64)
        bound = _Bound(self._most, self.all)
        reached = len(ranks)
        for place, (stream, rank, pid, kind, least, most) in enumerate(zip(*firsts, *bounds, strict=True)):
            if bound.stream is not None and stream > bound.stream:
                reached = int(np.searchsorted(origin.stream, bound.stream, side="right"))
                break
            info = infos[stream]
            process = Process(rank=rank >> shift) if rank >= 0 else self._process(info.host, pid)
            key = Key(process, self._command(info.command), self._kinds[kind])
            number = self._numbers.get(key)
            if number is None:
                self._numbers[key] = number = len(self.all)
                self.all.append(Member(key))
                bound.add(key, stream)
            self.all[number].note((least, most), [info.host] if info.host else [], [pid] if pid and rank < 0 else [])
            numbers[place] = number
        if len(groups) == 1:
            return np.broadcast_to(numbers, (reached,)), reached
        return numbers.take(groups.number[:reached]), reached

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
        return _Bound(self._most, self.all).exceeded

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


class _Bound:
    """The bound of the members, and of their commands and kinds of files, while members are added.

    Attributes:
        stream: stream of the first added member beyond the bound; None if all are within it.
    """

    def __init__(self, most: int, members: Sequence[Member]) -> None:
        self.stream: int | None = None
        self._most = most
        self._count = len(members)
        self._commands = {member.key.command for member in members}
        self._files = {member.key.files for member in members}

    def add(self, key: Key, stream: int) -> None:
        """Add a member of a stream."""
        self._count += 1
        self._commands.add(key.command)
        self._files.add(key.files)
        if self.stream is None and self.exceeded:
            self.stream = stream

    @property
    def exceeded(self) -> str | None:
        """The property whose granularity must become coarser; None within the bound."""
        if len(self._commands) > max(self._most // _COMMANDS, 2):
            return "command"
        if len(self._files) > max(self._most // _FILES, 2):
            return "files"
        return "process" if self._count > self._most else None


def _filled(column: npt.NDArray[Any], unknown: int, known: Sequence[int], stream: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a column with unknown values replaced by those of the streams' introductions."""
    if len(set(known)) > 1:
        return np.where(column == unknown, np.array(known, np.int64).take(stream), column)
    if known[0] == unknown:
        return column
    if is_constant(column):
        return column if column[0] != unknown else np.broadcast_to(np.array(known[0], column.dtype), column.shape)
    return np.where(column == unknown, known[0], column)


def _programs(infos: Sequence[StreamInfo], stream: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a number for the host and command of each row's stream."""
    found: dict[tuple[str, str], int] = {}
    numbers = np.array([found.setdefault((info.host, info.command), len(found)) for info in infos], np.int64)
    return numbers.take(stream) if len(found) > 1 else np.broadcast_to(numbers[:1], stream.shape)
