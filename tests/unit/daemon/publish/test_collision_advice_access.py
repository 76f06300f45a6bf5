"""The cost of collisions is visible to users who see the job; the other jobs, to users who see these."""

from __future__ import annotations

import time

import pytest
from iotide.daemon.access.viewer import Viewer, viewer
from iotide.daemon.aggregator import Aggregator
from iotide.daemon.contention import ContentionWatch
from iotide.daemon.publish.http.job_access import JobAccess
from iotide.daemon.settings import AggregatorSettings
from iotide.daemon.state.alert_file import StoredAlerts
from iotide.results.base import Estimate
from iotide.results.contention import Contention, Culprit, Slowdown

TWICE = Estimate(value=2.0, low=1.5, high=2.5)
SETTINGS = AggregatorSettings()


def access_with(*slowdowns: Slowdown) -> JobAccess:
    aggregator = Aggregator(SETTINGS, time.time)
    watch = ContentionWatch(aggregator, SETTINGS.contention)
    watch.latest = contention(*slowdowns)
    return JobAccess(aggregator, time.time, watch)


def contention(*slowdowns: Slowdown) -> Contention:
    return Contention(
        made_at_s=0.0, horizon_s=1.0, completeness=1.0, jobs=2, file_systems=[], slowdowns=list(slowdowns),
        collisions=[], abstained=[],
    )  # fmt: skip


def slowdown(job: str) -> Slowdown:
    culprit = Culprit(
        job="secret", user="bob", done=1, share=1.0, overlap_s=3.0, slowdown=TWICE, p_value=0.0, files=["/bob/x"]
    )
    return Slowdown(
        job=job, file_system="scratch", measure="data", verdict="slowed", slowdown=TWICE, alone_phases=9,
        shared_phases=9, blocks=4, completeness=1.0, culprits=[culprit],
    )  # fmt: skip


@pytest.mark.parametrize(
    ("asking", "named"),
    [(Viewer("ann", "ann"), False), (Viewer("bob", "bob"), True), (Viewer("root", sees_all=True), True)],
)
def test_invisible_jobs_of_others_have_no_name(asking: Viewer, named: bool) -> None:
    access = access_with(slowdown("mine"), slowdown("another"))
    token = viewer.set(asking)
    try:
        (found,) = access.slowdowns("mine")
    finally:
        viewer.reset(token)
    assert (found.culprits[0].job == "secret") is named
    assert ("bob" in found.model_dump_json()) is named


@pytest.mark.parametrize(("project", "named"), [("sea", True), ("ice", False)])
def test_members_of_a_project_see_its_culprits_in_other_partitions(project: str, named: bool) -> None:
    """The process of a partition knows the projects of its own jobs only."""
    pytest.importorskip("nats")
    from iotide.daemon.cluster.contention.results import ClusterFindings, projects_of_culprits
    from iotide.daemon.cluster.contention.watch import ClusterContention
    from iotide.daemon.cluster.partitions import Partition

    found = contention(slowdown("mine"))
    projects = projects_of_culprits(found, {"secret": project, "idle": "sea"})
    assert projects == {"secret": project}
    aggregator = Aggregator(SETTINGS, time.time)
    watch = ClusterContention(aggregator, SETTINGS, Partition("cluster", 0), lambda: None)
    watch._apply_findings(ClusterFindings(after=3, contention=found, kept=StoredAlerts(), projects=projects))
    token = viewer.set(Viewer("ann", "ann", projects=frozenset({"sea"})))
    try:
        (seen,) = JobAccess(aggregator, time.time, watch).slowdowns("mine")
    finally:
        viewer.reset(token)
    assert (seen.culprits[0].job == "secret") is named


def test_nothing_is_told_where_contention_is_not_looked_for() -> None:
    aggregator = Aggregator(SETTINGS, time.time)
    assert JobAccess(aggregator, time.time).slowdowns("mine") == []
