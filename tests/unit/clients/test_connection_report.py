"""Lines about a subscriber's connection, at given times."""

from __future__ import annotations

from iotide.clients.connection_report import ConnectionReport
from iotide.events.network.connection_events import CONNECTED, DISCONNECTED, KEY_REFUSED

ENDPOINT = "tcp://a:1"


def made() -> ConnectionReport:
    return ConnectionReport(ENDPOINT, "nothing yet", 0.0)


def handled(report: ConnectionReport, event: int, now_s: float) -> list[str]:
    return [line.text for line in report.handle(event, now_s)]


def test_connection_that_is_made_and_used_says_nothing() -> None:
    report = made()
    assert handled(report, CONNECTED, 0.1) == []
    report.received()
    assert report.silence(100.0) == []
    assert not report.asks_why(100.0)
    assert report.trouble() == ""


def test_missing_connection_is_explained_once_per_cause() -> None:
    report = made()
    assert not report.asks_why(1.0)
    assert report.asks_why(2.0)
    assert [line.text for line in report.explain("nobody")] == ["not connected: nobody"]
    assert report.trouble() == "not connected: nobody"
    assert not report.asks_why(3.0)
    assert report.asks_why(7.0)
    assert report.explain("nobody") == []
    assert [line.text for line in report.explain("a key is missing")] == ["not connected: a key is missing"]
    assert handled(report, CONNECTED, 8.0) == [f"connected to the aggregator at {ENDPOINT}"]


def test_refused_key_is_explained_at_once() -> None:
    report = made()
    report.handle(KEY_REFUSED, 0.1)
    report.handle(DISCONNECTED, 0.1)
    assert report.asks_why(0.1)
    assert report.failure == KEY_REFUSED


def test_silent_connection_is_reported_once() -> None:
    report = made()
    report.handle(CONNECTED, 0.0)
    assert report.silence(1.0) == []
    assert [line.text for line in report.silence(3.0)] == [f"connected to the aggregator at {ENDPOINT}; nothing yet"]
    assert report.silence(10.0) == []


def test_loss_and_return_are_reported_each_time() -> None:
    report = made()
    report.handle(CONNECTED, 0.0)
    for at_s in (10.0, 20.0):
        assert handled(report, DISCONNECTED, at_s) == [
            f"lost the connection to the aggregator at {ENDPOINT}; trying to connect again"
        ]
        assert handled(report, DISCONNECTED, at_s) == []
        assert handled(report, CONNECTED, at_s + 1) == [f"connected to the aggregator at {ENDPOINT} again"]
