"""The state of an aggregator for its operator."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from iotide.cli.doctor.aggregator_checks import _findings_of
from iotide.daemon.access.viewer import Viewer, viewer
from iotide.daemon.aggregator import Aggregator
from iotide.daemon.ingest.ingest_settings import IngestStats
from iotide.daemon.loop_timing import LoopWatch
from iotide.daemon.publish.http.routes.fleet_routes import status_routes
from iotide.daemon.publish.status import StatusReport
from iotide.daemon.settings import AggregatorSettings
from iotide.events import StreamInfo
from starlette.exceptions import HTTPException

HEALTHY = SimpleNamespace(problem="", snapshot_problem="", journal=SimpleNamespace(delay=""))


def report(aggregator: Aggregator, settings: AggregatorSettings, durability: Any = None) -> StatusReport:
    stats = IngestStats(events=7, streams=2, collectors=1)
    return StatusReport(aggregator, stats, lambda: settings, lambda: "", lambda: durability, LoopWatch())


def test_healthy_aggregator_has_no_troubles(tmp_path: Path) -> None:
    settings = AggregatorSettings.model_validate({"state": tmp_path, "archive": {"folder": tmp_path}})
    aggregator = Aggregator(settings, lambda: 5.0)
    aggregator.opened("s", StreamInfo(job="job", source="test"))
    made = report(aggregator, settings, HEALTHY).build()
    assert (made.healthy, made.ready, made.troubles, made.bounds, made.losses) == (True, True, [], [], {})
    assert (made.jobs, made.streams, made.collectors, made.events) == ({"running": 1}, 2, 1, 7)
    assert made.state is not None
    assert made.archives is not None
    assert made.journal is not None
    assert made.state.folder == made.archives.disk.folder == str(tmp_path)
    assert (made.state.free_bytes or 0) > 0
    assert (made.journal.on, made.journal.failing) == (True, False)
    (finding,) = _findings_of(made, "")
    assert finding.works


def test_parts_that_are_off_are_absent() -> None:
    settings = AggregatorSettings()
    made = report(Aggregator(settings, lambda: 5.0), settings).build()
    assert (made.state, made.journal, made.archives) == (None, None, None)


def test_each_trouble_has_its_remedy_and_each_reached_bound_its_option(tmp_path: Path) -> None:
    settings = AggregatorSettings.model_validate({"state": tmp_path, "max_jobs": 3})
    aggregator = Aggregator(settings, lambda: 5.0)
    durability = SimpleNamespace(
        problem="disk full", problem_since_s=1.0, snapshot_problem="disk full", snapshot_problem_since_s=2.0,
        journal=SimpleNamespace(delay=""),
    )  # fmt: skip
    aggregator.counters.update(
        {"streams_refused:max_jobs": 4, "archives_waiting": 2, "alerts_unwritten": 1, "events_dropped:made_up": 9}
    )
    made = report(aggregator, settings, durability).build()
    assert [trouble.part for trouble in made.troubles] == ["journal", "snapshots", "archives", "alerts"]
    assert [trouble.since_s for trouble in made.troubles] == [1.0, 2.0, None, None]
    assert "journal.quota_bytes" in made.troubles[0].remedy
    assert not made.healthy
    assert [(bound.option, bound.value, bound.count) for bound in made.bounds] == [("max_jobs", 3.0, 4)]
    assert made.losses == {"streams_refused:max_jobs": 4}  # collectors name the reasons: unknown ones are left out
    findings = _findings_of(made, "partition 3 ")
    assert [finding.name for finding in findings] == [
        *(f"partition 3 {part}" for part in ("journal", "snapshots", "archives", "alerts")), "partition 3 bounds"
    ]  # fmt: skip
    assert "max_jobs (4)" in findings[-1].detail


def test_servers_that_store_nothing_are_a_trouble_of_the_journal(tmp_path: Path) -> None:
    settings = AggregatorSettings.model_validate({"state": tmp_path})
    delayed = SimpleNamespace(problem="", snapshot_problem="", journal=SimpleNamespace(delay="insufficient resources"))
    made = report(Aggregator(settings, lambda: 5.0), settings, delayed).build()
    assert made.journal is not None
    assert made.journal.failing
    (trouble,) = made.troubles
    assert trouble.part == "journal"
    assert "insufficient resources" in trouble.problem
    assert "max_file_store" in trouble.remedy


def test_losses_that_an_option_of_collectors_avoids_are_named_with_it() -> None:
    settings = AggregatorSettings()
    aggregator = Aggregator(settings, lambda: 5.0)
    aggregator.heartbeat("c", "node", {"processes_refused:max_users": 3, "processes_refused": 1, "events": 5})
    (finding,) = _findings_of(report(aggregator, settings).build(), "")
    assert (finding.name, finding.works, finding.necessary) == ("losses since the start", False, False)
    assert finding.detail == (
        "3 programs not traced as the node's collector had reached its bound of users: "
        "raise --max-users of iotide collect --all-users"
    )


async def test_user_limited_to_own_jobs_gets_no_status() -> None:
    settings = AggregatorSettings()
    (route,) = status_routes(report(Aggregator(settings, lambda: 5.0), settings)).routes
    before = viewer.set(Viewer("alice", "alice"))
    try:
        with pytest.raises(HTTPException):
            await route.endpoint()  # type: ignore[attr-defined]
    finally:
        viewer.reset(before)
