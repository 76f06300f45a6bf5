"""After any kills of the aggregator, the job ends as without them: totals, graph, layers, ranking, final report,
archive.

``IOTIDE_KILL_SEED=N pytest tests/faults`` repeats the schedule of one seed; ``IOTIDE_KILL_SCHEDULES=500`` tries more.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from support.servers.killed_aggregator import Schedule
from support.servers.nats_servers import NatsServers, nats_servers
from support.servers.restarted_job import published_results

_FEW = 24


def seeds(few: int = _FEW) -> list[int]:
    if chosen := os.environ.get("IOTIDE_KILL_SEED"):
        return [int(chosen)]
    return list(range(int(os.environ.get("IOTIDE_KILL_SCHEDULES", few))))


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[object]]:
    with closing(Schedule(tmp_path_factory.mktemp("undisturbed"), 0, kills=0)) as schedule:
        yield schedule.run()


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds())
def test_kills_are_seen_in_nothing(tmp_path: Path, seed: int, undisturbed: list[object]) -> None:
    faults = {"trouble": (0.0, 0.05)[seed % 2], "disorder": (0.0, 0.0, 0.3)[seed % 3], "steps": seed % 5 in (1, 2)}
    with closing(Schedule(tmp_path, seed, kills=1 + seed % 4, **faults)) as schedule:
        assert schedule.run() == undisturbed


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(_FEW // 3))
def test_kills_are_seen_in_nothing_where_the_journal_fails_meanwhile(
    tmp_path: Path, seed: int, undisturbed: list[object]
) -> None:
    """Events that arrive while the journal fails are not acknowledged, so their collector still has them."""
    faults = {"trouble": (0.0, 0.05)[seed % 2], "disorder": (0.0, 0.0, 0.3)[seed % 3], "steps": seed % 5 in (1, 2)}
    with closing(Schedule(tmp_path, seed, kills=1 + seed % 4, failures=1 + seed % 3, **faults)) as schedule:
        assert schedule.run() == undisturbed


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NatsServers]:
    with nats_servers(tmp_path_factory.mktemp("nats")) as found:
        yield found


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(_FEW // 3))
def test_kills_are_seen_in_nothing_where_another_machine_takes_over(
    tmp_path: Path, seed: int, undisturbed: list[object], servers: NatsServers
) -> None:
    """The journal is at a server, the archives are in a folder shared by both machines, and nothing else is shared."""
    faults = {"trouble": (0.0, 0.05)[seed % 2], "disorder": (0.0, 0.0, 0.3)[seed % 3], "steps": seed % 5 in (1, 2)}
    settings = servers.settings(name=f"seed-{seed}", lease_s=1.0)
    with closing(Schedule(tmp_path, seed, kills=1 + seed % 4, servers=settings, **faults)) as schedule:
        assert schedule.run() == undisturbed


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(_FEW // 6))
def test_kills_are_seen_in_nothing_where_the_server_of_the_journal_is_killed_meanwhile(
    tmp_path: Path, seed: int, undisturbed: list[object], servers: NatsServers
) -> None:
    """Events that arrive while the server is away are not acknowledged, so their collector still has them."""
    faults = {"trouble": (0.0, 0.05)[seed % 2], "disorder": (0.0, 0.0, 0.3)[seed % 3], "failures": 1 + seed % 2}
    settings = servers.settings(name=f"away-{seed}", lease_s=1.0)
    with closing(Schedule(tmp_path, seed, kills=1 + seed % 3, servers=settings, server=servers, **faults)) as schedule:
        assert schedule.run() == undisturbed


def check_damaged(schedule: Schedule) -> None:
    """Check that nothing is counted twice, and that the job reports what is missing; its archive is not checked."""
    session = schedule.play()
    taken = session.analyzers.events
    assert taken <= schedule.made
    assert taken == schedule.made or session.losses.all_losses(ended=True)
    assert published_results(session)[0]


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(_FEW // 3))
def test_losses_by_a_damaged_journal_are_reported(tmp_path: Path, seed: int) -> None:
    with closing(Schedule(tmp_path, seed, kills=1 + seed % 2, damage=1 + seed % 5)) as schedule:
        check_damaged(schedule)


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(_FEW // 6))
def test_losses_by_messages_missing_at_the_server_are_reported(tmp_path: Path, seed: int, servers: NatsServers) -> None:
    settings = servers.settings(name=f"damaged-{seed}", lease_s=1.0)
    with closing(Schedule(tmp_path, seed, kills=1 + seed % 2, damage=1 + seed % 5, servers=settings)) as schedule:
        check_damaged(schedule)
