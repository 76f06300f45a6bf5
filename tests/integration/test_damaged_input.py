"""Commands on damaged input: a table of commands and kinds of damage, with exit status and messages."""

from __future__ import annotations

import asyncio
import gzip
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from iotide.cli.collect.collector_loop import run_collector
from iotide.cli.common.end_signals import SignalHandler
from iotide.cli.main import group
from iotide.collectors.settings import CollectorSettings
from iotide.collectors.source import Origin
from iotide.collectors.sources.registry import open_file
from iotide.events import IotideError
from support.servers.running_aggregator import serving
from support.system.waiting import DEADLINE_S

LINES = [
    b'{"call": "write", "path": "/s/f", "start": %d, "dur": 0.5, "size": 1000, "pid": 7, "tid": 7}\n' % at
    for at in range(2000)
]
ANALYSES = ("detect", "dfg", "layers", "rank")
COPIES = ("create", "convert", "to-jsonl")
LOOKS = ("info", "dump", "verify")
NO_FILES: dict[str, Callable[[Path], object]] = {
    "missing": lambda path: None,
    "folder": Path.mkdir,
    "pipe": os.mkfifo,  # without a writer
    "loop": lambda path: path.symlink_to(path),
    "device": lambda path: path.symlink_to("/dev/zero"),
}
NOTHING, PART, WHOLE = 2, None, 0
"""Exit status if nothing, a part or all is readable; for a part it is 0 for analyses and 1 for all others."""


def run(*words: str | Path) -> subprocess.CompletedProcess[str]:
    done = CliRunner().invoke(group, [str(word) for word in words])
    if isinstance(done.exception, IotideError):  # as the program itself does
        return subprocess.CompletedProcess(
            list(map(str, words)), 2, done.stdout, done.stderr + f"iotide: {done.exception}"
        )
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert "Traceback" not in done.output
    return subprocess.CompletedProcess(list(map(str, words)), done.exit_code, done.stdout, done.stderr)


def command(name: str, folder: Path, *files: Path) -> subprocess.CompletedProcess[str]:
    if name in ANALYSES:
        return run(name, *files)
    if name == "create":
        return run("archive", "create", "-o", folder / "made.iotide", *files)
    if name in ("convert", "to-jsonl"):
        return run("archive", "convert", "-o", folder / ("made.json" if name == "convert" else "made.jsonl"), *files)
    return run("archive", name, *files)


def archive(folder: Path) -> bytes:
    """An archive of two streams in several sections."""
    for at, host in enumerate(("n1", "n2")):
        lines = b"".join(line.replace(b'"pid"', b'"host": "%s", "pid"' % host.encode()) for line in LINES)
        (folder / f"source{at}.jsonl").write_bytes(lines)
    done = run("archive", "create", "-o", folder / "source.iotide", folder / "source0.jsonl", folder / "source1.jsonl")
    assert done.returncode == 0, done.stderr
    return (folder / "source.iotide").read_bytes()


def flipped(data: bytes, place: float) -> bytes:
    changed = bytearray(data)
    changed[int(place * (len(changed) - 1))] ^= 0x41
    return bytes(changed)


def wrong_check(data: bytes) -> bytes:
    packed = bytearray(gzip.compress(data))
    packed[-6] ^= 1
    return bytes(packed)


TEXT = b"".join(LINES)
DAMAGED: dict[str, tuple[str, Callable[[Path], bytes], int | None]] = {
    "whole": ("a.jsonl", lambda folder: TEXT, WHOLE),
    "packed": ("a.jsonl.gz", lambda folder: gzip.compress(TEXT), WHOLE),
    "empty": ("a.jsonl", lambda folder: b"", NOTHING),
    "random bytes": ("a.bin", lambda folder: b"\x01" + bytes(range(256)) * 4, NOTHING),
    "without events": ("a.jsonl", lambda folder: b'{"note": 1}\n', NOTHING),
    "a line of rubbish": ("a.jsonl", lambda folder: TEXT + b"rubbish\n", PART),
    "cut within a line": ("a.jsonl", lambda folder: TEXT[:-30], PART),
    "wrong check sum": ("a.jsonl.gz", lambda folder: wrong_check(TEXT), PART),
    "packed and cut": ("a.jsonl.gz", lambda folder: gzip.compress(TEXT)[:-300], PART),
    "packed, rubbish behind": ("a.jsonl.gz", lambda folder: gzip.compress(TEXT) + b"rubbish", PART),
    "archive": ("a.iotide", archive, WHOLE),
    "archive's magic alone": ("a.iotide", lambda folder: archive(folder)[:8], NOTHING),
}


@pytest.mark.parametrize("name", [*ANALYSES, *COPIES])
@pytest.mark.parametrize("damage", DAMAGED)
def test_readable_part_is_used_and_the_rest_is_reported(damage: str, name: str, tmp_path: Path) -> None:
    file, make, readable = DAMAGED[damage]
    path = tmp_path / file
    path.write_bytes(make(tmp_path))
    done = command(name, tmp_path, path)
    expected = readable if readable is not None else 0 if name in ANALYSES else 1
    assert done.returncode == expected, (done.stdout, done.stderr)
    assert (str(path) in done.stderr.replace(f"{tmp_path}/made", "")) == (readable != WHOLE)
    written = [made for made in tmp_path.glob("made*") if made.stat().st_size]
    assert bool(done.stdout if name in ANALYSES else written) == (readable != NOTHING)


@pytest.mark.parametrize("name", [*ANALYSES, *COPIES, *LOOKS])
@pytest.mark.parametrize("what", NO_FILES)
def test_input_that_is_none_is_refused(what: str, name: str, tmp_path: Path) -> None:
    path = tmp_path / "input"
    NO_FILES[what](path)
    done = command(name, tmp_path, path)
    assert (done.returncode, done.stdout) == (2, "")
    assert str(path) in done.stderr
    assert not list(tmp_path.glob("made*"))


@pytest.mark.parametrize("what", NO_FILES)
@pytest.mark.parametrize("words", [("replay", "--format", "archive"), ("collect", "--replay")])
def test_input_that_is_none_is_sent_nowhere(words: tuple[str, ...], what: str, tmp_path: Path) -> None:
    path = tmp_path / "input"
    NO_FILES[what](path)
    to = "--to" if words[0] == "replay" else "--connect"
    done = run(*words, to, f"ipc://{tmp_path}/in", path)
    assert (done.returncode, done.stdout) == (2, "")
    assert str(path) in done.stderr


@pytest.fixture
def ending() -> Iterator[SignalHandler]:
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield SignalHandler()
    for number, handler in before.items():
        signal.signal(number, handler)


async def replayed(files: list[Path], ending: SignalHandler) -> int:
    origin = Origin(job="job", host="n1", user="")
    async with serving() as server, asyncio.timeout(DEADLINE_S):
        sources = [open_file(path, origin, follow=False) for path in files]
        settings = CollectorSettings(endpoint=server.ingest_endpoint)
        return await run_collector(sources, settings, ending, replayed=files)


# for which no format is detected
@pytest.mark.parametrize("damage", [each for each in DAMAGED if each != "random bytes"])
def test_collected_files_are_told_of_as_copied_ones_are(
    damage: str, tmp_path: Path, ending: SignalHandler, capsys: pytest.CaptureFixture[str]
) -> None:
    file, make, readable = DAMAGED[damage]
    path, good = tmp_path / file, tmp_path / "good.jsonl"
    path.write_bytes(make(tmp_path))
    good.write_bytes(TEXT)
    assert asyncio.run(replayed([path], ending)) == (1 if readable is PART else readable)
    assert (str(path) in capsys.readouterr().err) == (readable != WHOLE)
    assert asyncio.run(replayed([good, path], ending)) == (0 if readable == WHOLE else 1)


@pytest.mark.parametrize("what", [each for each in NO_FILES if each != "pipe"])
def test_settings_that_are_none_are_refused(what: str, tmp_path: Path) -> None:
    """A pipe is valid: shells pass the output of a command this way."""
    path = tmp_path / "input"
    NO_FILES[what](path)
    done = run("serve", "--config", path)
    assert (done.returncode, done.stdout) == (2, "")
    assert str(path) in done.stderr


@pytest.mark.parametrize("name", [*ANALYSES, *COPIES])
def test_a_good_file_is_used_beside_an_empty_one(name: str, tmp_path: Path) -> None:
    good, empty = tmp_path / "good.jsonl", tmp_path / "empty.jsonl"
    good.write_bytes(TEXT)
    empty.write_bytes(b"")
    done = command(name, tmp_path, good, empty)
    assert done.returncode == (0 if name in ANALYSES else 1)
    assert f"{empty}: no event was read" in done.stderr
    done = command(name, tmp_path, good, tmp_path / "missing")
    assert done.returncode == 2


@pytest.mark.parametrize("place", [0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99])
@pytest.mark.parametrize("how", ["cut", "flipped"])
def test_a_damaged_archive_gives_all_commands_what_is_left(how: str, place: float, tmp_path: Path) -> None:
    data = archive(tmp_path)
    path = tmp_path / "a.iotide"
    path.write_bytes(data[: int(place * len(data))] if how == "cut" else flipped(data, place))
    verified = command("verify", tmp_path, path)
    if verified.returncode == 2:  # not even its first bytes are those of an archive
        assert place < 0.1
        return
    dumped = command("dump", tmp_path, path)
    left, damaged = dumped.stdout.count("\n"), verified.returncode == 1
    assert dumped.returncode == command("info", tmp_path, path).returncode == verified.returncode
    assert (str(path) in dumped.stderr) == damaged
    assert command("info", tmp_path, path).stdout
    for name in COPIES:
        done = command(name, tmp_path, path)
        assert done.returncode == (2 if not left else 1 if damaged else 0), (name, done.stderr)
        made = list(tmp_path.glob("made.*"))
        assert bool(made) == bool(left), name
        for each in made:
            if each.suffix == ".jsonl":
                assert each.read_bytes().count(b"\n") == left
            each.unlink()
    for name in ANALYSES:
        done = command(name, tmp_path, path)
        assert done.returncode == (0 if left else 2), (name, done.stderr)
        assert (str(path) in done.stderr) == (damaged or not left)


def test_name_that_the_system_refuses_is_told(tmp_path: Path) -> None:
    """For example a file in a folder that may not be entered: Path.is_file() raises for both."""
    done = run("detect", tmp_path / ("x" * 300))
    assert (done.returncode, done.stdout) == (2, "")
    assert "cannot be read" in done.stderr
