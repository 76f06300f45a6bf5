"""Readers in a separate process: a failure of the process affects only its input."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from iotide.collectors.source import Input, Origin, SourceItem
from iotide.collectors.sources import _subprocess_reader
from iotide.collectors.sources._subprocess_reader import read_in_subprocess
from iotide.collectors.sources.finished import FinishedSource
from iotide.collectors.sources.registry import read_all
from support.formats.parsing import collect
from support.places import TESTS


@pytest.mark.slow
@pytest.mark.parametrize(
    ("function", "said"),
    [
        ("crashing", "its reader broke (SIGSEGV: it hurts)"),
        ("raising", "its reader broke (exit status 1: RuntimeError: out of order)"),
        ("hanging", "its reader process did not respond for 2 s"),
        ("printing_garbage", "its reader process stopped unexpectedly ("),
        ("absent", "its reader broke (exit status 1: AttributeError"),
    ],
)
def test_reader_that_breaks_is_named_and_what_it_gave_is_kept(
    function: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(TESTS), prepend=":")
    if function == "hanging":
        monkeypatch.setattr(_subprocess_reader, "TIMEOUT_S", 2.0)

    def read(path: Path, about: Input) -> Iterator[list[SourceItem]]:
        return read_in_subprocess("support.tracing.breaking_readers", function, path, about, "one that is whole")

    source = FinishedSource(tmp_path, read, Origin(job="j"))
    streams = collect(read_all(source))
    assert said in str(source.problems.first[0])
    assert source.problems.total == 1
    assert all(stream.closed for stream in streams.values())
    if function != "hanging":  # on a busy machine it may not reach its first piece
        assert len(streams) == (function != "absent")
        assert source.counters["events"] == (function != "absent")
