"""The HDF5 library runs in a process of its own, so its failures affect only the document."""

from __future__ import annotations

import io
from pathlib import Path

import h5py
import numpy as np
import pytest
from iotide.collectors.source import Input, Origin
from iotide.collectors.sources import _subprocess_reader
from iotide.collectors.sources.eventlog.hdf5_log import parse_hdf5
from support.formats.parsing import collect, only_stream, parse

pytestmark = pytest.mark.slow


def log() -> bytes:
    file = io.BytesIO()
    with h5py.File(file, "w") as written:
        group = written.create_group("ls_n1_0")
        for column, value in (("start", 1.0), ("dur", 0.5)):
            group[column] = np.array([value])
        group["call"] = np.array([b"read"])
    return file.getvalue()


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("os.kill(os.getpid(), signal.SIGSEGV)", "its reader broke (SIGSEGV"),
        ("bytearray(1 << 60)", "the document cannot be read"),
        ("signal.pause()", "its reader process did not respond for 2 s"),
    ],
    ids=["crash", "memory", "hang"],
)
def test_library_that_breaks_costs_its_document(
    fault: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "h5py.py").write_text(f"import os, signal\ndef File(*_): {fault}\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=":")
    if "pause" in fault:
        monkeypatch.setattr(_subprocess_reader, "TIMEOUT_S", 2.0)
    streams, about = parse(parse_hdf5, log(), "a.h5")
    assert streams == {}
    (problem,) = about.problems.first
    assert (problem.where, about.problems.total, about.counters["lines_malformed"]) == ("a.h5", 1, 1)
    assert said in problem.problem


def test_later_document_of_a_file_is_another_stream_and_adds_to_the_counters() -> None:
    about = Input("a.h5", Origin(job="j"))
    about.counters["events"] = 5
    about.malformed(1, "of an earlier document", "none")
    parser = parse_hdf5(Input("a.h5", about.origin, None, 2, about.problems, about.counters))
    parser.feed(log())
    streams = collect(parser.finish())
    assert [row["call"] for row in only_stream(streams).rows()] == ["read"]
    assert next(iter(streams)).startswith("hdf5:a.h5#2")
    assert (about.counters["events"], about.problems.total) == (6, 1)
