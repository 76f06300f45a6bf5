"""Transfer of jobs' files between partitions does not change the ranking computed from them."""

from __future__ import annotations

import zlib

import msgspec
import numpy as np
import pytest
from iotide.analyzers.interaction.settings import InteractionSettings
from iotide.analyzers.pipeline.job_interactions import rank_jobs
from iotide.daemon.aggregator import Aggregator
from iotide.daemon.jobs.encoding.shared_files import SharedFiles, decode_shared, encode_shared
from iotide.daemon.jobs.interference import shared_files
from iotide.daemon.settings import AggregatorSettings
from iotide.events import Interner, Kind, ProtocolError, StreamInfo, make_batch


def shared(job: str, host: str, kind: Kind, files: list[str]) -> SharedFiles:
    """Return an aggregator's data on a job that uses some files."""
    aggregator, interner, count = Aggregator(AggregatorSettings(), lambda: 0.0), Interner(), 40
    numbers = np.array([interner.file(path) for path in files])
    columns = {
        "start": np.arange(count) * 10**6 + (0 if kind is Kind.WRITE else 5 * 10**5),
        "duration": 1000,
        "kind": int(kind),
        "layer": 1,
        "pid": 7,
        "tid": 7 + np.arange(count) % 2,
        "call": interner.string("call"),
        "file": numbers[np.arange(count) % len(numbers)],
        "bytes": 10,
    }
    aggregator.opened(job, StreamInfo(job=job, source="test", host=host, pid=7))
    aggregator.batch(job, make_batch(count, columns), interner.take_fresh())
    (found,) = shared_files([aggregator.jobs[job]])
    return found


JOBS = [
    shared("writer", "n1", Kind.WRITE, ["/scratch/a", "/scratch/b", "/tmp/local", "/dev/null"]),
    shared("reader", "n1", Kind.READ, ["/scratch/a", "/tmp/local"]),
    shared("other", "n2", Kind.READ, ["/scratch/b", "/tmp/local"]),
    shared("alone", "n3", Kind.READ, ["/scratch/c"]),
]


def test_ranking_of_files_that_have_travelled_is_that_of_the_jobs_themselves() -> None:
    travelled = [decode_shared(encode_shared(each)) for each in JOBS]
    settings = InteractionSettings()
    ranking = rank_jobs(JOBS, settings)
    assert {file.path for file in ranking.files} >= {"/scratch/a", "/scratch/b"}
    assert rank_jobs(travelled, settings) == ranking


@pytest.mark.parametrize(
    "change",
    [
        {"channels": b"\x09" * 8},
        {"channels": b"123"},
        {"kinds": ["device"]},
        {"uses": {}},
        {"sums": {"events": 1}},
        {"names": []},
        {"spaces": [-9] * 9},
        {"events": -1},
    ],
)
def test_damaged_files_are_refused(change: dict[str, object]) -> None:
    document = msgspec.msgpack.decode(zlib.decompress(encode_shared(JOBS[0])))
    with pytest.raises(ProtocolError, match="files of a job cannot be read"):
        decode_shared(zlib.compress(msgspec.msgpack.encode(document | change)))
