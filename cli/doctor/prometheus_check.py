"""Check of ``iotide doctor --cluster`` for Prometheus.

It reports whether Prometheus has the series of a job, and why it lacks them.
"""

from __future__ import annotations

import http.client
import json
import time
import urllib.parse
import urllib.request
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from .checks import BrokenError

_ANSWER_S: Final = 60.0
_SCRAPED_S: Final = 90.0
"""Maximum time until a job is scraped, s; Prometheus scrapes once a minute by default."""
_LOOK_S: Final = 0.5
_MOST_NAMED: Final = 5
_PORTS: Final = {"http": 80, "https": 443}
_SCRAPE: Final = "add the aggregator to `scrape_configs` (deploy/prometheus/scrape.yml), and reload Prometheus"


def scraped(prometheus: str, http: str, job: str) -> str:
    """Wait for the series of a job.

    Args:
        prometheus: address of Prometheus.
        http: address of the aggregator's HTTP.
        job: job id.

    Returns:
        How long it took.

    Raises:
        BrokenError: it has no such series; has the cause.
    """
    begun_s = time.monotonic()
    query = urllib.parse.urlencode({"query": f'iotide_job_events_total{{job_id="{job}"}}'})
    before: dict[str, str] = {}
    while not _api_data(prometheus, f"query?{query}").get("result"):
        if (problem := problem_of(_targets(prometheus), http, before)) is not None:
            raise problem
        if time.monotonic() - begun_s > _SCRAPED_S:
            raise BrokenError(
                f"it has the aggregator as a target, but no series of the job after {_SCRAPED_S:g} s",
                "scrape at least once a minute; look for relabelling that drops the metrics iotide_job_...",
            )
        time.sleep(_LOOK_S)
    return f"has the job's series, after {time.monotonic() - begun_s:.1f} s"


def problem_of(targets: list[Target] | None, http: str, before: dict[str, str]) -> BrokenError | None:
    """Return the cause if the aggregator is not scraped. Return None if it is, or if that is not known yet.

    Args:
        targets: targets of Prometheus; None if it has no list of them.
        http: address of the aggregator's HTTP.
        before: time of each target's last scrape at the first call. A target that was down then may have recovered.
    """
    if targets is None:
        return None
    own = [each for each in targets if _port(each.url) == _port(http) or "iotide" in each.pool]
    if not own:
        named = ", ".join(each.url for each in targets[:_MOST_NAMED]) or "none"
        return BrokenError(f"no target of it has the aggregator's port {_port(http)}; its targets: {named}", _SCRAPE)
    if any(not each.error or before.setdefault(each.url, each.scraped_at) == each.scraped_at for each in own):
        return None
    if any(status in own[0].error for status in ("401", "403")):
        remedy = "set `authorization.credentials_file` of its scrape configuration: a token of `--may metrics`"
    else:
        remedy = "correct the address or scheme of the target, or the packet filter between both machines"
    return BrokenError(f"it cannot scrape {own[0].url}: {own[0].error}", remedy)


class Target(NamedTuple):
    """A target of Prometheus."""

    url: str
    pool: str
    """Name of its scrape configuration."""
    error: str
    """Error of its last scrape; "" if that succeeded."""
    scraped_at: str


def _targets(prometheus: str) -> list[Target] | None:
    """Return the targets. Return None if there is no list, such as in services that only answer queries."""
    try:
        active = _api_data(prometheus, "targets?state=active").get("activeTargets")
    except BrokenError:
        return None
    if not isinstance(active, list):
        return None
    names = ("scrapeUrl", "scrapePool", "lastError", "lastScrape")
    return [Target(*(str(each.get(name, "")) for name in names)) for each in active if isinstance(each, dict)]


def _port(address: str) -> int:
    parts = urllib.parse.urlsplit(address)
    return parts.port or _PORTS.get(parts.scheme, 0)


def _api_data(prometheus: str, what: str) -> Mapping[str, Any]:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(f"{prometheus}/api/v1/{what}", timeout=_ANSWER_S) as answer:
            data = json.loads(answer.read())["data"]
        if not isinstance(data, dict):
            raise TypeError("its data is no object")
    except (OSError, http.client.HTTPException, LookupError, TypeError, ValueError) as error:
        raise BrokenError(
            f"{prometheus} does not answer as Prometheus does: {error}", "start Prometheus, or correct --prometheus"
        ) from None
    return data
