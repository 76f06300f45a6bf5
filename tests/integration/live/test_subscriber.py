"""Subscribers over real sockets: selection of predictions, and survived failures."""

from __future__ import annotations

import asyncio
import itertools
import select
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest
import zmq
from iotide.clients.subscriber import (
    AsyncJobSubscriber,
    AsyncSubscriber,
    JobSubscriber,
    Subscriber,
    SubscriptionTimeoutError,
    prediction_of,
)
from iotide.daemon.publish.pubsub import Publisher
from iotide.events import ProtocolError
from iotide.results.base import Estimate
from iotide.results.jobs.job import JobSummary
from iotide.results.prediction import NextPhase, Prediction, Window
from support.places import ROOT
from support.servers.running_aggregator import Fed, feeding, serving
from support.system.commands import Program
from support.system.waiting import DEADLINE_S

EXAMPLE = ROOT / "docs/examples/subscriber.py"


def prediction(job: str) -> Prediction:
    one = Estimate(value=2e6, low=1e6, high=3e6)
    return Prediction(
        job=job,
        made_at_s=1.0,
        mode="both",
        method="test",
        window=Window(start_s=0, end_s=1, samples=10),
        sampling_frequency_hz=10,
        period_s=one,
        confidence=0.9,
        dominant=[],
        next_phase=NextPhase(start_s=one, duration_s=one, volume_bytes=one),
    )


def summary(job: str) -> JobSummary:
    return JobSummary(
        job=job,
        state="running",
        hosts=[],
        streams=0,
        ranks=0,
        first_event_at_s=None,
        last_event_at_s=None,
        events=0,
        bytes_read=0,
        bytes_written=0,
        bandwidth=0,
        events_dropped=0,
        predictions=0,
    )


@contextmanager
def publishing(endpoint: str, say: Callable[[Publisher], None]) -> Iterator[str]:
    """Publish repeatedly, because a subscription takes a moment to arrive."""
    context, done = zmq.Context(), threading.Event()
    publisher = Publisher(context, endpoint, allow_remote=False)

    def repeat() -> None:
        while not done.wait(0.01):
            say(publisher)
        publisher.close()

    thread = threading.Thread(target=repeat)
    thread.start()
    try:
        yield publisher.endpoint
    finally:
        done.set()
        thread.join()
        context.term()


def speak(*jobs: str) -> Callable[[Publisher], None]:
    def say(publisher: Publisher) -> None:
        for job in jobs:
            publisher.job(summary(job))
            publisher.prediction(prediction(job))

    return say


@pytest.mark.parametrize("wanted", [["47"], ["a.b"], ["é/ü"]])
def test_only_the_jobs_asked_for_come(tmp_path: Path, wanted: list[str]) -> None:
    everyone = ["4711", "47", "a.b.c", "a.b", "é/ü"]
    with (
        publishing(f"ipc://{tmp_path}/out", speak(*everyone)) as endpoint,
        Subscriber(endpoint, jobs=wanted, timeout_s=DEADLINE_S) as predictions,
    ):
        assert {predictions.receive().job for _ in range(20)} == set(wanted)
        assert predictions.malformed == 0


def test_without_a_choice_all_jobs_come_and_no_job_states(tmp_path: Path) -> None:
    with (
        publishing(f"ipc://{tmp_path}/out", speak("a", "b")) as endpoint,
        Subscriber(endpoint, timeout_s=DEADLINE_S) as predictions,
    ):
        received = [next(iter(predictions)) for _ in range(10)]
        assert {each.job for each in received} == {"a", "b"}
        assert received[0] == prediction(received[0].job)
        assert predictions.malformed == 0


def test_publisher_that_is_replaced_is_found_again(tmp_path: Path) -> None:
    endpoint = f"ipc://{tmp_path}/out"
    with Subscriber(endpoint, timeout_s=DEADLINE_S) as predictions:
        for job in ("before", "after"):
            with publishing(endpoint, speak(job)):
                while predictions.receive().job != job:
                    pass


async def test_asyncio_subscriber_iterates(tmp_path: Path) -> None:
    with publishing(f"ipc://{tmp_path}/out", speak("a", "b")) as endpoint:
        async with AsyncSubscriber(endpoint, jobs=["b"], timeout_s=DEADLINE_S) as predictions:
            async for each in predictions:
                assert each == prediction("b")
                break


async def test_asyncio_subscriber_reports_a_timeout(tmp_path: Path) -> None:
    async with AsyncSubscriber(f"ipc://{tmp_path}/nobody", timeout_s=0.05) as predictions:
        with pytest.raises(SubscriptionTimeoutError, match=r"0\.05 s"):
            await predictions.receive()


@pytest.mark.parametrize(
    "frames", [[], [b"prediction.x"], [b"job.x", b"\x80"], [b"prediction.x", b"\xc1"], [b"prediction.x", b"\x80"]]
)
def test_message_that_is_no_prediction_is_refused(frames: list[bytes]) -> None:
    with pytest.raises(ProtocolError, match="prediction"):
        prediction_of(frames)


def test_fields_of_a_later_version_are_ignored() -> None:
    one = prediction("x").model_dump()
    later = one | {"added": 1, "next_phase": one["next_phase"] | {"added": [2]}}
    assert prediction_of([b"prediction.x", msgspec.msgpack.encode(later)]) == prediction("x")


def test_example_of_the_documentation_runs(tmp_path: Path) -> None:
    with publishing(f"ipc://{tmp_path}/out", speak("4711")) as endpoint:
        example = tmp_path / "example.py"
        text = EXAMPLE.read_text()
        assert "tcp://127.0.0.1:9789" in text
        example.write_text(text.replace("tcp://127.0.0.1:9789", endpoint))
        with Program([sys.executable, "-u", example], stdout=subprocess.PIPE, text=True) as running:
            assert running.stdout is not None
            try:
                said, _, _ = select.select([running.stdout], [], [], DEADLINE_S)
                line = running.stdout.readline() if said else "nothing"
            finally:
                running.terminate()
    assert line == "4711 writes 2 MB in 1999999.0 s\n"


async def test_end_of_a_job_comes_with_its_last_word() -> None:
    source = Fed()

    async def ended(jobs: AsyncJobSubscriber) -> JobSummary:
        async for job in jobs:
            if job.state == "ended":
                return job
        raise AssertionError

    async with (
        serving(linger_s=0.1) as server,
        AsyncJobSubscriber(server.publish_endpoint or "", timeout_s=DEADLINE_S) as jobs,
        feeding(server, source),
    ):
        receiving = asyncio.create_task(ended(jobs))
        for number in itertools.count():  # a subscription takes a moment to reach the publisher
            source.open(f"s{number}", f"job{number}")
            source.periodic(f"s{number}")
            source.end(f"s{number}")
            if (await asyncio.wait([receiving], timeout=0.3))[0]:
                break
        job = receiving.result()
    assert job.events == 120
    assert job.last_word is not None
    assert job.last_word.period_s is not None
    assert job.last_word.next_phase is None
    assert jobs.malformed == 0


def test_blocking_subscriber_of_jobs_reports_a_timeout() -> None:
    with (
        JobSubscriber("tcp://127.0.0.1:1", timeout_s=0.05) as jobs,
        pytest.raises(SubscriptionTimeoutError, match="no job within"),
    ):
        jobs.receive()
