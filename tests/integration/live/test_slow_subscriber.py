"""A subscriber that does not read is cut off and named; the others receive each message."""

from __future__ import annotations

import logging
import os
from collections import Counter
from pathlib import Path

import pytest
import zmq
from iotide.daemon.publish.pubsub import Publisher
from iotide.results.jobs.job import JobSummary
from support.system.waiting import DEADLINE_S, wait_for

COUNTS = ("streams", "ranks", "events", "bytes_read", "bytes_written", "bandwidth", "events_dropped", "predictions")
LARGE = JobSummary.model_validate(
    {"job": "j", "state": "running", "hosts": ["n" * 1000] * 200, "first_event_at_s": None, "last_event_at_s": None}
    | dict.fromkeys(COUNTS, 0)
)


@pytest.mark.parametrize("scheme", ["ipc", "tcp"])
def test_subscriber_that_does_not_read_is_cut_off_while_others_get_all(
    tmp_path: Path, scheme: str, caplog: pytest.LogCaptureFixture
) -> None:
    counters: Counter[str] = Counter()
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    endpoint = f"ipc://{tmp_path}/out" if scheme == "ipc" else "tcp://127.0.0.1:*"
    publisher = Publisher(context, endpoint, allow_remote=False, behind=10, counters=counters)
    reading, still = context.socket(zmq.SUB), context.socket(zmq.SUB)
    try:
        for subscriber in (reading, still):
            subscriber.setsockopt(zmq.RCVTIMEO, int(DEADLINE_S * 1000))
            subscriber.setsockopt(zmq.RCVHWM, 1)
            subscriber.subscribe(b"job.")
            subscriber.connect(publisher.endpoint)

        def arrived() -> bool:
            publisher.job(LARGE)
            return all(subscriber.poll(10) for subscriber in (reading, still))

        wait_for(arrived, what="both subscriptions")
        while reading.poll(100):
            reading.recv_multipart()

        said = heard = 0

        def is_over() -> bool:
            nonlocal said, heard
            if publisher._queue.waiting:
                publisher.flush()
            else:
                publisher.job(LARGE)
                said += 1
            while heard < said - len(publisher._queue.waiting):  # each message arrives
                reading.recv_multipart()
                heard += 1
            return bool(counters["subscribers_cut_off"]) and not publisher._queue.waiting

        with caplog.at_level(logging.WARNING):
            wait_for(is_over, what="the end of the other subscriber")
        assert not counters["published_missed"]
        (line,) = [record.getMessage() for record in caplog.records]
        assert line.startswith("publish: the subscriber ")
        assert "publish_behind = 10" in line
        assert (f"process {os.getpid()}" in line) if scheme == "ipc" else ("127.0.0.1:" in line)
    finally:
        reading.close(0)
        still.close(0)
        publisher.close()
        context.term()
