"""Calls that start an asynchronous operation are marked when a job's analyzers receive them."""

from __future__ import annotations

from iotide.analyzers.pipeline.numbering import JobNames, StreamNames
from iotide.events import Definitions, Flag, make_batch


def test_calls_without_bytes_that_start_an_operation_are_marked() -> None:
    names = ["io_submit", "io_getevents", "MPI_File_iwrite_at", "MPI_Wait", "pwrite", "ncmpi_iput_vara_int"]
    translator = StreamNames(JobNames(100, 100))
    translator.define(Definitions(list(enumerate(names, 1)), []))
    batch = make_batch(8, {
        "call": [1, 2, 3, 4, 5, 6, 3, 1],
        "bytes": [0, 4096, 0, 4096, 0, 0, 4096, 0],
        "requested": [0, 4096, 0, 4096, 0, 0, 4096, 0],
        "flags": [0, 0, int(Flag.COLLECTIVE), 0, 0, 0, 0, int(Flag.FAILED)],
    })  # fmt: skip
    begun = (translator.translate(batch).flags & int(Flag.BEGUN)) != 0
    # Darshan and Recorder count the bytes at MPI_File_iwrite. An empty write is an operation.
    assert begun.tolist() == [True, False, True, False, False, True, False, False]


def test_batch_without_such_calls_stays_as_it_is() -> None:
    translator = StreamNames(JobNames(100, 100))
    translator.define(Definitions([(1, "pwrite")], []))
    assert not translator.translate(make_batch(3, {"call": 1})).flags.any()
