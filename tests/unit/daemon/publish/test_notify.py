"""Alerts over HTTP: queue, sent messages, and responses of receivers."""

from __future__ import annotations

import json
import socket
import threading
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from iotide.daemon.notify.http_post import post
from iotide.daemon.notify.messages import for_alertmanager, for_webhook
from iotide.daemon.notify.notify_settings import NotifySettings
from iotide.daemon.notify.outbox import Outbox
from iotide.daemon.settings import load_settings
from iotide.events import ConfigError
from iotide.results.alerts import Alert, AlertState
from iotide.results.base import Estimate
from pydantic import ValidationError
from support.servers.http_receivers import http_receiver

T0 = 1_700_000_000.0


def alert(job: str = "one", state: AlertState = "raised", **more: object) -> Alert:
    facts: dict[str, object] = {
        "kind": "slowdown", "state": state, "file_system": "scratch", "job": job, "measure": "data", "since_s": T0,
        "changed_at_s": T0 + 60, "victims": [job], "culprits": ["two", "three"], "sure": 0.9995, "completeness": 1.0,
        "size": Estimate(value=1.75, low=1.5, high=2.0), "summary": "it is slow", "advice": "move it",
    }  # fmt: skip
    return Alert.model_validate(facts | more)


def test_latest_word_on_each_alert_waits_until_it_was_sent() -> None:
    outbox = Outbox(10, None)
    first, later = alert(), alert(state="resolved")
    outbox.put(first)
    outbox.put(alert("two"))
    outbox.put(later)
    assert [(each.job, each.state) for each in outbox.due_alerts(0, list)] == [("two", "raised"), ("one", "resolved")]
    outbox.remove([first])  # was sent, but has changed since
    assert len(outbox) == 2
    outbox.remove(outbox.due_alerts(0, list))
    assert outbox.due_alerts(0, list) == []
    assert outbox.due_in(0) == float("inf")


def test_raised_alerts_are_repeated_and_resolved_ones_are_not() -> None:
    outbox, raised = Outbox(10, 60), [alert()]
    sent = []
    for now in range(0, 600, 10):
        if now == 300:
            raised.clear()
            outbox.put(alert(state="resolved"))
        taken = outbox.due_alerts(now, lambda: raised)
        outbox.remove(taken)
        sent += [(now, each.state) for each in taken]
        assert outbox.due_in(now) <= 60
    assert sent == [*((now, "raised") for now in range(0, 300, 60)), (300, "resolved")]


def test_repetition_does_not_bring_back_what_was_resolved_while_it_failed() -> None:
    outbox = Outbox(10, 60)
    outbox.due_alerts(0, lambda: [alert()])
    outbox.on_failed(0)
    outbox.put(alert(state="resolved"))
    (told,) = outbox.due_alerts(100, list)
    assert told.state == "resolved"


def test_pauses_grow_and_end_with_success() -> None:
    outbox = Outbox(10, None)
    outbox.put(alert())
    pauses = []
    now = 0.0
    for _ in range(9):
        assert outbox.due_alerts(now, list)
        pauses.append(outbox.on_failed(now))
        assert outbox.due_alerts(now + pauses[-1] - 0.1, list) == []
        assert outbox.due_in(now) == pytest.approx(pauses[-1])
        now += pauses[-1]
    assert pauses == [1, 2, 4, 8, 16, 32, 60, 60, 60]
    outbox.remove(outbox.due_alerts(now, list))
    outbox.put(alert())
    assert outbox.on_failed(now) == 1


operations = st.lists(st.tuples(st.sampled_from("prtsf"), st.integers(0, 5)), max_size=80)


@given(operations, st.sampled_from([None, 5.0]))
def test_receiver_ends_up_knowing_what_is_raised(steps: list[tuple[str, int]], repeat_s: float | None) -> None:
    """Independent of failures in between and of the size of the queue, if raised alerts are repeated."""
    outbox = Outbox(100 if repeat_s is None else 2, repeat_s)
    truth: dict[str, Alert] = {}
    known: set[str] = set()
    now = 0.0

    def send() -> None:
        taken = outbox.due_alerts(now, lambda: list(truth.values()))
        outbox.remove(taken)
        for each in taken:
            (known.add if each.state == "raised" else known.discard)(each.key)

    for step, number in steps:
        now += 1
        one = alert(f"job{number}")
        if step == "p" and one.key not in truth:
            truth[one.key] = one
            outbox.put(one)
        elif step == "r" and one.key in truth:
            del truth[one.key]
            outbox.put(alert(f"job{number}", "resolved"))
        elif step == "f" and outbox.due_alerts(now, lambda: list(truth.values())):
            outbox.on_failed(now)
        elif step == "s":
            send()
        assert len(outbox) <= 100
    for _ in range(10):
        now += 100
        send()
    assert set(truth) <= known
    assert outbox.dropped or known == set(truth)
    assert repeat_s is not None or not outbox.dropped


@pytest.mark.parametrize(("origin", "address"), [("http://a:9788", "http://a:9788/runbooks"), ("", "runbooks.md")])
def test_runbooks_are_those_of_the_aggregator_unless_others_are_named(origin: str, address: str) -> None:
    (raised,) = json.loads(for_alertmanager([alert()], NotifySettings(), origin, T0 + 90))
    assert raised["annotations"]["runbook_url"] == f"{address}#iotidejobsloweddown"


def test_message_to_alertmanager_has_culprit_victim_start_certainty_and_remedy() -> None:
    settings = NotifySettings(labels={"cluster": "ada"}, runbooks_url="https://docs/runbooks", repeat_s=30)
    raised, over = json.loads(for_alertmanager([alert(), alert(state="resolved")], settings, "http://a:9788", T0 + 90))
    assert raised["labels"] == {
        "cluster": "ada", "alertname": "IotideJobSlowedDown", "severity": "warning", "kind": "slowdown",
        "file_system": "scratch", "job_id": "one", "measure": "data",
    }  # fmt: skip
    assert raised["annotations"] == {
        "summary": "it is slow", "advice": "move it", "victims": "one", "culprits": "two, three",
        "since": "2023-11-14T22:13:20.000Z", "sure": "0.9995", "completeness": "1", "size": "1.75 times as long",
        "runbook_url": "https://docs/runbooks#iotidejobsloweddown",
    }  # fmt: skip
    assert raised["generatorURL"] == "http://a:9788/api/v1/contention"
    assert raised["startsAt"] == over["startsAt"] == "2023-11-14T22:13:20.000Z"
    assert datetime.fromisoformat(raised["endsAt"]).timestamp() == T0 + 90 + 4 * 30
    assert datetime.fromisoformat(over["endsAt"]).timestamp() == T0 + 60
    assert over["labels"] == raised["labels"]


def test_message_of_a_webhook_is_version_4() -> None:
    collision = alert("", kind="collision", measure="", victims=["one", "two"], culprits=[], at_s=T0 + 80)
    told = json.loads(for_webhook([collision, alert("two", "resolved")], NotifySettings(), ""))
    assert (told["version"], told["status"], told["receiver"], told["truncatedAlerts"]) == ("4", "firing", "iotide", 0)
    assert told["commonLabels"] == {"file_system": "scratch"}
    first, second = told["alerts"]
    assert (first["status"], first["endsAt"]) == ("firing", "0001-01-01T00:00:00Z")
    assert first["labels"]["alertname"] == "IotideCollisionAhead"
    assert first["annotations"]["expected_at"] == "2023-11-14T22:14:40.000Z"
    for at_s, began_at in ((T0 - 20, "2023-11-14T22:13:00.000Z"), (T0 + 40, "2023-11-14T22:14:00.000Z")):
        for state in ("raised", "resolved"):
            fields = {"kind": "collision", "measure": "", "victims": ["one", "two"], "culprits": [], "at_s": at_s}
            measured, ahead = (alert("", state, **fields, has_begun=has_begun) for has_begun in (True, False))
            first, expected = json.loads(for_webhook([measured, ahead], NotifySettings(), ""))["alerts"]
            assert first["annotations"]["began_at"] == began_at
            assert "expected_at" not in first["annotations"]
            assert ("expected_at" in expected["annotations"]) == (state == "raised")
    assert (second["status"], second["endsAt"]) == ("resolved", "2023-11-14T22:14:20.000Z")
    assert len({first["fingerprint"], second["fingerprint"]}) == 2
    over = json.loads(for_webhook([alert(state="resolved")], NotifySettings(), ""))
    assert over["status"] == "resolved"
    assert (
        over["alerts"][0]["fingerprint"]
        == json.loads(for_webhook([alert()], NotifySettings(), ""))["alerts"][0]["fingerprint"]
    )


def test_message_is_posted_with_a_token_of_a_file(tmp_path: Path) -> None:
    token = tmp_path / "token"
    with http_receiver() as heard:
        token.write_text("secret\n")
        assert post(heard.url + "/x", b"[]", 5, token, None).outcome == "sent"
        path, headers, body = heard.requests[0]
    assert (path, body, headers["Content-Type"]) == ("/x", b"[]", "application/json")
    assert headers["Authorization"] == "Bearer secret"
    for wrong in ("", "two words", "two\nlines", "\udcff"):
        token.write_bytes(wrong.encode(errors="surrogateescape"))
        answer = post(heard.url, b"[]", 5, token, None)
        assert (answer.outcome, answer.response_text) == ("failed", f"{token} contains no token")


def test_redirection_is_not_followed() -> None:
    with http_receiver() as elsewhere, http_receiver(status=302, headers={"Location": elsewhere.url}) as heard:
        answer = post(heard.url, b"[]", 5, None, None)
        assert answer.outcome == "refused"
        assert f"leads to {elsewhere.url}, which is not followed" in answer.response_text
        assert not elsewhere.requests


@pytest.mark.parametrize(
    ("status", "outcome"), [(204, "sent"), (400, "refused"), (401, "refused"), (429, "failed"), (503, "failed")]
)
def test_message_of_the_other_side_is_reported(status: int, outcome: str) -> None:
    with http_receiver(status=status, body=b"" if status == 204 else b"no\nlabels\x1b[31m") as heard:
        answer = post(heard.url, b"[]", 5, None, None)
    assert answer.outcome == outcome
    if outcome != "sent":
        assert answer.response_text.startswith(f"answered {status} ")
        assert answer.response_text.endswith("no labels [31m")


def test_receiver_that_is_away_or_silent_or_speaks_no_http_is_tried_again() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        silent = post(f"http://127.0.0.1:{port}", b"[]", 0.05, None, None)
        listening.accept()[0].close()
        insecure = threading.Thread(target=_answer, args=(listening, b"hello\r\n"))
        insecure.start()
        strange = post(f"http://127.0.0.1:{port}", b"[]", 5, None, None)
        insecure.join()
    away = post(f"http://127.0.0.1:{port}", b"[]", 5, None, None)
    assert {silent.outcome, strange.outcome, away.outcome} == {"failed"}
    assert "timed out" in silent.response_text
    assert "refused" in away.response_text


def test_untrusted_certificate_is_rejected(tmp_path: Path) -> None:
    with http_receiver() as heard:
        answer = post(heard.url.replace("http:", "https:"), b"[]", 5, None, None)
    assert answer.outcome == "failed"
    nothing = tmp_path / "ca.pem"
    nothing.write_text("none")
    assert post("https://127.0.0.1:1", b"[]", 5, None, nothing).outcome == "failed"


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"alertmanagers": ["ftp://host"]}, "is no URL"),
        ({"alertmanagers": ["127.0.0.1:9093"]}, "is no URL"),
        ({"alertmanagers": ["http://a b"]}, "is no URL"),
        ({"alertmanagers": ["http://host:99999"]}, "is no URL"),
        ({"alertmanagers": ["http://user:secret@host/"]}, "token is read from a file"),
        ({"webhooks": ["http://host/#x"]}, "fragment"),
        ({"labels": {"job_id": "x"}}, "own labels"),
        ({"labels": {"a-b": "x"}}, "letters, digits"),
        ({"ca_file": "/does/not/exist"}, "cannot be read"),
        ({"webhooks": ["http://example.org/"], "webhook_token_file": __file__}, "in plain text"),
    ],
)
def test_settings_that_cannot_work_are_refused_with_what_was_expected(values: dict[str, Any], said: str) -> None:
    with pytest.raises((ConfigError, ValidationError)) as refused:
        NotifySettings.model_validate(values)
    assert said in str(refused.value)


def test_receivers_may_stand_in_the_environment() -> None:
    given = {"IOTIDE_SERVE_NOTIFY__ALERTMANAGERS": "http://a:9093 https://b/am"}
    assert load_settings(None, given).notify.alertmanagers == ("http://a:9093", "https://b/am")
    with pytest.raises(ConfigError, match=r"contention\.enabled"):
        load_settings(None, given | {"IOTIDE_SERVE_CONTENTION__ENABLED": "false"})
    with pytest.raises(ConfigError) as refused:
        load_settings(None, {"IOTIDE_SERVE_NOTIFY__ALERTMANAGERS": "http://user:secret@host/"})
    assert "secret" not in str(refused.value)


def _answer(listening: socket.socket, text: bytes) -> None:
    connection = listening.accept()[0]
    with connection:
        connection.recv(65536)
        connection.sendall(text)
