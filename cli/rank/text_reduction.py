"""Reduction of a text trace to the unchanged lines of leaders."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import click
import msgspec
import numpy as np
import numpy.typing as npt

from ...collectors.files.lines import Block, LineBuffer
from ...collectors.source import Input, Origin
from ...collectors.sources.kernel_traces.parser import KernelTextParser
from ...collectors.sources.registry import FORMATS, sniff
from ...events.network.malformed import MALFORMED
from ...results.interaction import Ranking
from ..common.atomic_files import complete_file

ARCHIVE: Final = ".iotide"
_CHUNK: Final = 1 << 20
_HEAD_BYTES: Final = 65_536
_KERNEL: Final = ("bpftrace", "lttng", "perf", "trace-cmd")
_JSON: Final = ("jsonl", "locks")
_FORMS: Final = (*_KERNEL, *_JSON, "strace")
_PID: Final = re.compile(rb"(?:\[pid +)?(\d{1,10})")
_FORK: Final = re.compile(rb"[\d.:]+ +(?:<\.\.\. )?(?:clone3?|v?fork)(?:\(| resumed>)")

Mask = npt.NDArray[np.bool_]
Threads = dict[str, npt.NDArray[np.int64]]


class _ProcessId(msgspec.Struct):
    pid: int = 0
    tid: int = 0


def check_filter(paths: list[Path], format_name: str | None, target: Path) -> None:
    """Check that a trace can be filtered line by line.

    Raises:
        click.UsageError: there are several, or its format is not line-based and the target is not an archive.
    """
    if len(paths) > 1:
        raise click.UsageError("--filter-out filters one FILE")
    if target.suffix == ARCHIVE:
        return
    found = format_name or _format(paths[0])
    if found not in _FORMS:
        raise click.UsageError(
            f"--filter-out keeps lines of text, of {', '.join(_FORMS)}; {paths[0]} is {found}: "
            f"give a name that ends in {ARCHIVE}, and its calls are written to an archive"
        )


def write_filtered(target: Path, source: Path, ranking: Ranking) -> tuple[int, int]:
    """Write the lines that involve a leader of a component. The file appears when it is complete.

    Returns:
        The number of kept lines, and of all lines.

    Raises:
        click.ClickException: the file cannot be written.
    """
    counts = [0, 0]

    def lines() -> Iterator[bytes]:
        for block, keep in _filtered_pieces(source, threads_of_leaders(ranking)):
            counts[0] += int(keep.sum())
            counts[1] += len(keep)
            rows = block.data.splitlines(keepends=True) if b"\r" not in block.data else _lines(block.data)
            yield b"".join([rows[at] for at in np.flatnonzero(keep).tolist()])

    with complete_file(target) as partial, partial.open("wb") as file:
        file.writelines(lines())
    return counts[0], counts[1]


def _lines(data: bytes) -> list[bytes]:
    return [line + b"\n" for line in data.split(b"\n")[:-1]]


def threads_of_leaders(ranking: Ranking) -> Threads:
    """Return the ids of the leaders' processes and threads by host."""
    leaders = {number for component in ranking.components for number in component.leaders}
    chosen: dict[str, set[int]] = {}
    for actor in ranking.actors:
        if actor.id in leaders:
            chosen.setdefault(actor.host, set()).update(actor.tids)
    return {host: np.array(sorted(numbers - {0}), np.int64) for host, numbers in chosen.items()}


def _format(path: Path) -> str:
    with path.open("rb") as file:
        return sniff(file.read(_HEAD_BYTES), str(path))


def _filtered_pieces(path: Path, threads: Threads) -> Iterator[tuple[Block, Mask]]:
    select = _selector(path, threads)
    buffer = LineBuffer(as_is=True)
    with path.open("rb") as file:
        while data := file.read(_CHUNK):
            block = buffer.feed(data)
            if block.data:
                yield block, select(block)
        block = buffer.finish()
        if block.data:
            yield block, select(block)


def _selector(path: Path, threads: Threads) -> Callable[[Block], Mask]:
    found = _format(path)
    everywhere = np.concatenate([*threads.values(), np.zeros(0, np.int64)])
    if found in _KERNEL:
        parser = FORMATS[found].parser
        made = None if parser is None else parser(Input(name=str(path), origin=Origin(job="")))
        if not isinstance(made, KernelTextParser):
            raise TypeError(f"{found} is no kernel trace")
        return lambda block: made.select(block, lambda host: threads.get(host, everywhere[:0]))
    if found in _JSON:
        decoder = msgspec.json.Decoder(_ProcessId)
        return lambda block: np.isin([_process_of(decoder, line) for line in block.data.split(b"\n")[:-1]], everywhere)
    chosen = set(everywhere.tolist())
    return lambda block: np.array([_is_chosen(chosen, line) for line in block.data.split(b"\n")[:-1]], np.bool_)


def _process_of(decoder: msgspec.json.Decoder[_ProcessId], line: bytes) -> int:
    try:
        who = decoder.decode(line)
    except MALFORMED:
        return -1
    return who.tid or who.pid


def _is_chosen(chosen: set[int], line: bytes) -> bool:
    """Return whether an strace line belongs to a chosen process or is a fork. A fork names its child."""
    found = _PID.match(line)
    return found is not None and (int(found[1]) in chosen or _FORK.search(line, found.end()) is not None)
