"""FTIO's reply: two doubles for each prediction, to a connected listener."""

from __future__ import annotations

import math
import struct
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
import zmq
from iotide.daemon.publish.ftio_reply import FtioReply, pack_reply
from iotide.events import ConfigError
from iotide.results.base import Estimate
from iotide.results.prediction import Prediction, Window
from support.system.waiting import wait_for


def prediction(period_s: float | None, job: str = "ftio") -> Prediction:
    return Prediction(
        job=job,
        made_at_s=100.0,
        mode="both",
        method="tide",
        window=Window(start_s=0, end_s=100, samples=1000),
        sampling_frequency_hz=10.0,
        period_s=None if period_s is None else Estimate(value=period_s, low=period_s, high=period_s),
        confidence=0.0 if period_s is None else 0.75,
        dominant=[],
    )


@pytest.fixture
def context() -> Iterator[zmq.Context[zmq.Socket[bytes]]]:
    made: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    yield made
    made.destroy(linger=0)


def replying(context: zmq.Context[zmq.Socket[bytes]], endpoint: str) -> tuple[FtioReply, Counter[str]]:
    counters: Counter[str] = Counter()
    return FtioReply(
        context, endpoint, allow_remote=False, wanted=lambda job: job.startswith("ftio"), counters=counters
    ), counters


def test_two_doubles_are_frequency_and_confidence() -> None:
    assert struct.unpack("=dd", pack_reply(prediction(8.0))) == (0.125, 0.75)


@pytest.mark.parametrize("period_s", [None, 0.0])
def test_no_period_is_not_a_number_as_ftio_says_it(period_s: float | None) -> None:
    assert all(map(math.isnan, struct.unpack("=dd", pack_reply(prediction(period_s)))))


def test_each_wanted_prediction_is_one_message(context: zmq.Context[zmq.Socket[bytes]], tmp_path: Path) -> None:
    endpoint = f"ipc://{tmp_path}/reply"
    user = context.socket(zmq.PULL)
    user.bind(endpoint)
    reply, counters = replying(context, endpoint)

    def sent() -> bool:
        reply.prediction(prediction(8.0))
        return bool(counters["replies"])

    wait_for(sent)
    reply.prediction(prediction(4.0, "other"))
    reply.prediction(prediction(2.0, "ftio.2"))
    assert user.poll(10_000)
    assert [user.recv(), user.recv()] == [struct.pack("=dd", 0.125, 0.75), struct.pack("=dd", 0.5, 0.75)]
    assert not user.poll(50)
    assert counters["replies"] == 2
    reply.close()
    user.close(0)


def test_missing_listener_is_counted_and_takes_no_time(
    context: zmq.Context[zmq.Socket[bytes]], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    reply, counters = replying(context, f"ipc://{tmp_path}/reply")
    for _ in range(1000):
        reply.prediction(prediction(8.0))
    assert counters == {"replies_dropped": 1000}
    assert len(caplog.records) == 1
    reply.close()


def test_a_listener_that_does_not_read_gets_a_bounded_number(
    context: zmq.Context[zmq.Socket[bytes]], tmp_path: Path
) -> None:
    endpoint = f"ipc://{tmp_path}/reply"
    user = context.socket(zmq.PULL)
    user.setsockopt(zmq.RCVHWM, 1)
    user.bind(endpoint)
    reply, counters = replying(context, endpoint)

    def full() -> bool:
        for _ in range(1000):
            reply.prediction(prediction(8.0))
        return bool(counters["replies"]) and counters["replies_dropped"] > 10_000

    wait_for(full)
    reply.close()
    user.close(0)


@pytest.mark.parametrize(
    ("endpoint", "words"),
    [("tcp://10.0.0.1:5556", "allow_remote"), ("here", "no endpoint"), ("tcp://localhost", "HOST:PORT")],
)
def test_an_endpoint_that_is_open_or_malformed_is_refused(
    context: zmq.Context[zmq.Socket[bytes]], endpoint: str, words: str
) -> None:
    with pytest.raises(ConfigError, match=words):
        replying(context, endpoint)
