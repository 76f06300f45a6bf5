"""Run a reader in a subprocess, because its library may crash on a malformed file.

Run as a module with the reader and its arguments. It writes pieces to standard output. Each piece is a sequence of wire
messages, followed by the problems so far.
"""

from __future__ import annotations

import ctypes
import importlib
import os
import resource
import select
import signal
import struct
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Final

import msgspec

from ...events import Definitions, InputError, ProtocolError, empty_batch, files
from ...events.network.malformed import MALFORMED
from ...events.network.wire import MAX_BATCH_EVENTS, Batch, Bye, Frame, Hello, decode, encode, encode_batch
from ..sent_definitions import packed, readable, readable_info, spelled
from ..source import Changed, Chunk, Closed, Input, Opened, Origin, SourceItem

MAX_MEMORY: Final = 8 << 30
TIMEOUT_S: Final = 120.0
"""Seconds without output after which a reader counts as hung."""
_MAX_FRAME: Final = 1 << 28
_HEAD: Final = struct.Struct("<cI")
_MESSAGE, _FRAME, _STATE = b"m", b"f", b"s"
_READ: Final = 1 << 20
_DIE_WITH_PARENT: Final = 1


class _State(msgspec.Struct):
    """Counters and problems that a reader has reported so far."""

    counters: dict[str, int] = {}
    unsupported: dict[str, int] = {}
    problems: list[tuple[str, int | None, str, str]] = []
    problems_total: int = 0
    done: bool = False


_state_decoder = msgspec.json.Decoder(_State)


def read_in_subprocess(
    module: str, function: str, path: Path, about: Input, expected: str, document: IO[bytes] | None = None
) -> Iterator[list[SourceItem]]:
    """Yield the items that a reader yields.

    Args:
        module: full name of the reader's module.
        function: name of the reader, which has the signature of readers of finished input.
        path: file to read.
        about: the input; receives the reader's reports.
        expected: description of valid input, for the error message.
        document: standard input of the reader, from its present position; by default it is empty.

    Raises:
        InputError: the reader crashed or was silent for too long; items read before were yielded.
    """
    origin = about.origin
    names = map(files.system_text, (about.name, origin.job, origin.host, origin.user))
    arguments = [module, function, str(path), *names, str(about.generation)]
    command = [sys.executable, "-m", f"{__package__}._subprocess_reader", *arguments]
    with (
        tempfile.TemporaryFile() as errors,
        subprocess.Popen(command, stdin=document or subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors) as child,
    ):
        state, status = _State(), 0
        try:
            if child.stdout is not None:
                for items, state in _pieces(child.stdout):
                    _take(about, state)
                    yield items
            status = child.wait(TIMEOUT_S)
        except (TimeoutError, subprocess.TimeoutExpired):
            raise InputError(
                str(path), None, f"its reader process did not respond for {TIMEOUT_S:.0f} s", expected
            ) from None
        except (ProtocolError, *MALFORMED) as error:
            raise InputError(str(path), None, f"its reader process stopped unexpectedly ({error})", expected) from None
        finally:
            child.kill()
        if status or not state.done:
            raise InputError(str(path), None, _reason(status, errors), expected)


def _pieces(pipe: IO[bytes]) -> Iterator[tuple[list[SourceItem], _State]]:
    """Yield the items of each piece, and the state reported at its end.

    Raises:
        TimeoutError: no output for too long.
        ProtocolError: the output is malformed.
    """
    items: list[SourceItem] = []
    frames: list[Frame] = []
    for kind, data in _parts(pipe):
        if kind != _FRAME and frames:
            items.append(_item(frames))
            frames = []
        if kind == _STATE:
            yield items, _state_decoder.decode(data)
            items = []
        else:
            frames.append(data)


def _parts(pipe: IO[bytes]) -> Iterator[tuple[bytes, bytes]]:
    held = bytearray()
    news = select.poll()  # select() does not support descriptors from 1,024 on
    news.register(pipe, select.POLLIN)
    while True:
        while len(held) >= _HEAD.size:
            kind, size = _HEAD.unpack_from(held)
            if size > _MAX_FRAME:
                raise ProtocolError(f"a frame of {size} bytes")
            if len(held) < _HEAD.size + size:
                break
            yield kind, bytes(held[_HEAD.size : _HEAD.size + size])
            del held[: _HEAD.size + size]
        if not news.poll(TIMEOUT_S * 1000):
            raise TimeoutError
        data = os.read(pipe.fileno(), _READ)
        if not data:
            return
        held += data


def _item(frames: list[Frame]) -> SourceItem:
    message, batch = decode(frames)
    if isinstance(message, Hello):
        return Opened(message.stream, message.info)
    if isinstance(message, Batch) and batch is not None:
        if message.info is not None:
            return Changed(message.stream, message.info)
        return Chunk(message.stream, batch, message.definitions)
    if isinstance(message, Bye):
        return Closed(message.stream, Counter(message.losses))
    raise ProtocolError(f"no reader says {type(message).__name__}")


def _take(about: Input, state: _State) -> None:
    about.counters.update({name: count - about.counters[name] for name, count in state.counters.items()})
    about.unsupported.counts.update(
        {what: count - about.unsupported.counts[what] for what, count in state.unsupported.items()}
    )
    problems = about.problems
    problems.first.extend(InputError(*problem) for problem in state.problems[len(problems.first) :])
    problems.total = state.problems_total


def _reason(status: int, errors: IO[bytes]) -> str:
    errors.seek(0)
    lines = [line.strip() for line in errors.read(65_536).decode(errors="replace").splitlines() if line.strip()]
    last_line = f": {lines[-1][:200]}" if lines else ""
    how = signal.Signals(-status).name if status < 0 else f"exit status {status}"
    return f"its reader broke ({how}{last_line})"


def main() -> None:
    """Run the reader and write its items."""
    ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)  # the parent may end while this process hangs
    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # libraries print to standard output, too
    module, function, path, *names, generation = sys.argv[1:]
    name, job, host, user = map(files.readable, names)
    about = Input(name=name, origin=Origin(job, host, user), generation=int(generation))
    read = getattr(importlib.import_module(module), function)
    try:
        for items in read(Path(path), about):
            for item in items:
                _write(out, item)
            _report(out, about, done=False)
    except InputError as error:
        about.malformed(error.line, error.problem, error.expected)
    except OSError as error:
        about.malformed(None, f"cannot be read ({error.strerror or error})", "input that may be read")
    about.report_left_out()
    _report(out, about, done=True)
    out.flush()
    os._exit(0)  # after reading a corrupt file, a library may crash when it is unloaded


def _write(out: IO[bytes], item: SourceItem) -> None:
    stream = spelled(item.stream)
    if isinstance(item, Opened):
        _send(out, encode(Hello(collector="", stream=stream, info=readable_info(item.info))))
    elif isinstance(item, Changed):
        _send(out, encode_batch(stream, 1, empty_batch(), Definitions(), readable_info(item.info)))
    elif isinstance(item, Closed):
        _send(out, encode(Bye(stream=stream, last_seq=0, losses=dict(item.losses))))
    elif isinstance(item, Chunk):
        *ahead, last = packed(item.definitions)
        for definitions in ahead:
            _send(out, encode_batch(stream, 1, empty_batch(), readable(definitions)))
        for begin in range(0, max(len(item.batch), 1), MAX_BATCH_EVENTS):
            part = item.batch.select(slice(begin, begin + MAX_BATCH_EVENTS))
            _send(out, encode_batch(stream, 1, part, readable(last)))
            last = Definitions()


def _report(out: IO[bytes], about: Input, *, done: bool) -> None:
    problems = [(each.where, each.line, each.problem, each.expected) for each in about.problems.first]
    state = _State(dict(about.counters), dict(about.unsupported.counts), problems, about.problems.total, done)
    data = msgspec.json.encode(state)
    out.write(_HEAD.pack(_STATE, len(data)) + data)
    out.flush()


def _send(out: IO[bytes], frames: list[Frame]) -> None:
    for at, frame in enumerate(frames):
        out.write(_HEAD.pack(_FRAME if at else _MESSAGE, len(frame)))
        out.write(frame)


if __name__ == "__main__":
    main()
