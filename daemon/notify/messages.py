"""Alerts as JSON: for Alertmanager (``/api/v2/alerts``), and in the format of its webhooks (version 4)."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final

import msgspec

from ...results.alerts import Alert
from .notify_settings import NotifySettings

_NAMES: Final = {"slowdown": "IotideJobSlowedDown", "collision": "IotideCollisionAhead"}
_SEVERITIES: Final = {"slowdown": "warning", "collision": "info"}
_MEASURES: Final = {"slowdown": "{:.2f} times as long", "collision": "{:.1f} s more"}
_MISSED_REPETITIONS: Final = 4  # missing repetitions until Alertmanager resolves an alert
_ZERO_TIME: Final = "0001-01-01T00:00:00Z"
Message = dict[str, Any]


def for_alertmanager(alerts: Sequence[Alert], settings: NotifySettings, origin: str, now_s: float) -> bytes:
    """Return the body of a POST to Alertmanager.

    Args:
        alerts: raised or resolved alerts.
        settings: labels, addresses and repetition interval.
        origin: address of the aggregator, or "".
        now_s: Unix time.
    """
    lapses = _time(now_s + _MISSED_REPETITIONS * settings.repeat_s)
    documents = []
    for alert in alerts:
        over = alert.state == "resolved"
        documents.append(
            _common_fields(alert, settings, origin) | {"endsAt": _time(alert.changed_at_s) if over else lapses}
        )
    return msgspec.json.encode(documents)


def for_webhook(alerts: Sequence[Alert], settings: NotifySettings, origin: str) -> bytes:
    """Return the body of a POST in the format of Alertmanager's webhooks."""
    documents: list[Message] = []
    for alert in alerts:
        over = alert.state == "resolved"
        message = _common_fields(alert, settings, origin)
        message["endsAt"] = _time(alert.changed_at_s) if over else _ZERO_TIME
        message["fingerprint"] = _fingerprint(message["labels"])
        documents.append({"status": "resolved" if over else "firing", "generatorURL": ""} | message)
    firing = any(each["status"] == "firing" for each in documents)
    return msgspec.json.encode(
        {
            "version": "4",
            "groupKey": "{}:{}",
            "truncatedAlerts": 0,
            "status": "firing" if firing else "resolved",
            "receiver": "iotide",
            "groupLabels": {},
            "commonLabels": _shared([each["labels"] for each in documents]),
            "commonAnnotations": _shared([each["annotations"] for each in documents]),
            "externalURL": origin,
            "alerts": documents,
        }
    )


def _common_fields(alert: Alert, settings: NotifySettings, origin: str) -> Message:
    name = _NAMES[alert.kind]
    # The culprit is not a label: labels identify an alert, and the culprit may change while it is raised.
    labels = {
        **settings.labels,
        "alertname": name,
        "severity": _SEVERITIES[alert.kind],
        "kind": alert.kind,
        "file_system": alert.file_system,
        "job_id": alert.job,
        "measure": alert.measure,
    }
    # the predicted start of a collision is over when its alert is resolved
    began_at_s = alert.at_s if alert.has_begun else None
    expected_at_s = alert.at_s if alert.state == "raised" and not alert.has_begun else None
    annotations = {
        "summary": alert.summary,
        "advice": alert.advice,
        "victims": ", ".join(alert.victims),
        "culprits": ", ".join(alert.culprits),
        "since": _time(alert.since_s),
        "sure": f"{alert.sure:.6g}",
        "completeness": f"{alert.completeness:.6g}",
        "size": "" if alert.size is None else _MEASURES[alert.kind].format(alert.size.value),
        "expected_at": "" if expected_at_s is None else _time(expected_at_s),
        "began_at": "" if began_at_s is None else _time(began_at_s),
        "runbook_url": f"{settings.runbooks_url or _own_runbooks(origin)}#{name.lower()}",
    }
    message: Message = {
        "labels": {key: value for key, value in labels.items() if value},
        "annotations": {key: value for key, value in annotations.items() if value},
        "startsAt": _time(alert.since_s),
    }
    return message | ({"generatorURL": f"{origin}/api/v1/contention"} if origin else {})


def _own_runbooks(origin: str) -> str:
    return f"{origin}/runbooks" if origin else "runbooks.md"


def _time(at_s: float) -> str:
    return datetime.fromtimestamp(at_s, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _shared(rows: Sequence[dict[str, str]]) -> dict[str, str]:
    """Return the entries that all rows have in common."""
    return dict(set.intersection(*(set(row.items()) for row in rows))) if rows else {}


def _fingerprint(labels: dict[str, str]) -> str:
    return hashlib.blake2b(msgspec.json.encode(sorted(labels.items())), digest_size=8).hexdigest()
