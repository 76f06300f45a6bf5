"""The final report of a job without processes: no next phase, and based on the whole run."""

from __future__ import annotations

import time

import pytest
from iotide.daemon.aggregator import Aggregator
from iotide.daemon.jobs.job_state import State
from iotide.daemon.jobs.job_summary import detail_of
from iotide.daemon.settings import AggregatorSettings
from iotide.events import FileInfo, FileType, Interner, Kind, StreamInfo, make_batch
from iotide.results.jobs.job import JobSummary
from iotide.results.prediction import Prediction
from support.servers.running_aggregator import PERIOD_S, periodic_batch

NOW = 1_700_000_000.0


class Following:
    """An aggregator with a simulated clock, and its published results."""

    def __init__(self, **options: object) -> None:
        self.now = NOW
        self.aggregator = Aggregator(AggregatorSettings.model_validate(options), lambda: self.now)
        self.predictions: list[Prediction] = []
        self.jobs: list[JobSummary] = []
        self.aggregator.on_prediction(self.predictions.append)
        self.aggregator.on_job(self.jobs.append)

    def feed(self, stream: str = "s", host: str = "n1", until_s: float | None = None) -> None:
        interner = Interner()
        self.aggregator.opened(stream, StreamInfo(job="job", source="test", host=host))
        batch = periodic_batch(interner, until_s=self.now if until_s is None else until_s)
        self.aggregator.batch(stream, batch, interner.take_fresh())

    def tick_after(self, seconds: float) -> None:
        self.now += seconds
        self.aggregator.tick()


@pytest.mark.parametrize("silence_s", [0.0, 6.0, 20.0, 60.0, 900.0])
def test_ended_job_keeps_the_last_word_on_its_whole_run_however_long_it_was_silent(silence_s: float) -> None:
    following = Following(linger_s=1, end_after_s=1e9)
    following.feed()
    following.aggregator.tick()
    following.aggregator.closed("s", {})
    following.tick_after(silence_s + 1.5)
    assert following.aggregator.jobs["job"].state is State.ENDED
    last = following.aggregator.jobs["job"].prediction
    assert last is not None
    assert last.period_s is not None
    assert last.period_s.value == pytest.approx(PERIOD_S, rel=0.02)
    assert last.confidence >= following.predictions[0].confidence - 1e-6
    assert last.made_at_s == following.now
    assert last.window.end_s <= NOW + 1
    assert last.next_phase is None


def test_silent_job_with_open_streams_that_ends_keeps_its_last_word_too() -> None:
    following = Following(end_after_s=300)
    following.feed()
    following.aggregator.tick()
    following.tick_after(301)
    (ended,) = [job for job in following.jobs if job.state == "ended"]
    assert ended.last_word is not None
    assert ended.last_word.period_s is not None


def test_job_without_streams_is_not_predicted_until_it_has_ended() -> None:
    following = Following(linger_s=30)
    following.feed()
    following.aggregator.tick()
    session = following.aggregator.jobs["job"]
    assert session.prediction is not None
    assert session.prediction.next_phase is not None
    following.aggregator.closed("s", {})
    for _ in range(25):
        following.tick_after(1)
    assert len(following.predictions) == 1
    assert session.prediction.next_phase is None
    following.feed("another")
    following.tick_after(1)
    assert len(following.predictions) == 2
    assert following.predictions[-1].next_phase is not None


def test_message_of_the_end_carries_the_last_word() -> None:
    following = Following(linger_s=1, retain_s=10)
    following.feed()
    following.aggregator.tick()
    following.aggregator.closed("s", {})
    following.tick_after(2)
    assert [(job.state, job.last_word) for job in following.jobs] == [
        ("running", None),
        ("ended", following.predictions[-1]),
    ]
    assert detail_of(following.aggregator.jobs["job"], following.now).last_word == following.predictions[-1]


def test_prediction_says_on_which_nodes_and_file_systems_the_io_is() -> None:
    following = Following()
    interner = Interner()
    files = {
        "/scratch/a": ("/scratch", "lustre", True),
        "/scratch/b": ("/scratch", "lustre", True),
        "/home/read": ("/home", "nfs4", True),
        "/tmp/opened": ("/tmp", "tmpfs", False),
        "/local/socket": ("/local", "ext4", False),
    }
    numbers = [
        interner.file(path, FileInfo(path, FileType.SOCKET if "socket" in path else FileType.REGULAR, *where))
        for path, where in files.items()
    ]
    for host in ("n2", "n1"):
        following.aggregator.opened(host, StreamInfo(job="job", source="test", host=host))
    kinds = [Kind.WRITE, Kind.WRITE, Kind.READ, Kind.OTHER, Kind.WRITE]
    columns = {
        "start": [int(NOW * 1e9) + number for number in range(5)],
        "duration": 10,
        "kind": [int(kind) for kind in kinds],
        "file": numbers,
        "bytes": 100,
    }
    following.aggregator.batch("n1", make_batch(5, columns), interner.take_fresh())
    following.tick_after(1.1)
    (prediction,) = following.predictions
    assert (prediction.nodes, prediction.hosts) == (2, ["n1", "n2"])
    assert [(place.mount_point, place.type, place.shared) for place in prediction.file_systems] == [
        ("/scratch", "lustre", True),
        ("/home", "nfs4", True),
    ]


def test_file_systems_and_hosts_told_are_bounded() -> None:
    following, interner = Following(), Interner()
    for host in range(100):
        following.aggregator.opened(f"s{host}", StreamInfo(job="job", source="test", host=f"n{host:03}"))
    numbers = [
        interner.file(f"/m{at}/x", FileInfo(f"/m{at}/x", FileType.REGULAR, f"/m{at}", "ext4")) for at in range(40)
    ]
    columns = {"start": int(time.time() * 1e9), "duration": 1, "kind": int(Kind.WRITE), "file": numbers, "bytes": 1}
    following.now = time.time()
    following.aggregator.batch("s0", make_batch(40, columns), interner.take_fresh())
    following.tick_after(1.1)
    (prediction,) = following.predictions
    assert (prediction.nodes, len(prediction.hosts), len(prediction.file_systems)) == (100, 64, 16)
