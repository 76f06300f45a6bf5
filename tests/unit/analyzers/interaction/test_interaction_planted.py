"""Detection of planted groups: all of them in a trace without noise, their leaders in a noisy one."""

from __future__ import annotations

import numpy as np
import pytest
from iotide.events import Flag, Kind
from iotide.events.kernel import KernelEvent
from support.jobs.interactions import Trace, actor_of, groups, leaders
from support.jobs.planted_groups import (  # fmt: skip
    BACKUP,
    BACKUP_GROUP,
    CLIENTS,
    DAEMONS,
    DATABASE,
    LOGGER,
    STORE,
    WEB,
    agreement,
    leaders_of_groups,
    random_machine,
    server_machine,
)


def test_planted_groups_are_the_components_and_their_servers_lead() -> None:
    ranking = server_machine().ranking()
    assert groups(ranking) == [[WEB, DATABASE, LOGGER, *CLIENTS], [BACKUP, STORE]]
    assert leaders(ranking) == [WEB, STORE]
    assert [actor.name for actor in ranking.pruned] == ["kworker/0:1"]
    assert ranking.alone == len(DAEMONS)
    assert ranking.device_wakeups == 40
    assert actor_of(ranking, WEB).name == "httpd"
    assert ranking.components[0].leaders[1] == actor_of(ranking, DATABASE).id


def test_without_pruning_the_kernels_workers_join_what_has_nothing_to_do_with_each_other() -> None:
    assert len(groups(server_machine().ranking(background=()))) == 1


def test_a_server_keeps_its_many_clients_and_the_rarest_few_go() -> None:
    trace = Trace()
    for client in range(100, 700):
        trace.wakes(client, WEB).wakes(client, WEB)
    trace.wakes(50, WEB).wakes(51, WEB)
    ranking = trace.ranking(min_share=0.002)
    assert len(ranking.actors) == 601
    assert sorted(actor.tid for actor in ranking.pruned) == [50, 51]
    assert len(trace.ranking(min_share=0.0005).actors) == 603  # both are equally rare, so they stay together


@pytest.mark.parametrize("by", ["process", "rank"])
def test_the_launcher_of_ranks_does_not_lead_them(by: str) -> None:
    trace = Trace().kernel(KernelEvent.PROCESS_STATE, 1, text="mpirun")
    for rank in range(4):
        who = {"tid": 10 + rank, "rank": rank}
        trace.does(Kind.WRITE, path=f"UNIX:[1->/run/{rank}]", **who).reads(1, f"UNIX:[1->/run/{rank}]")
        trace.does(Kind.READ, path="/x", flags=int(Flag.COLLECTIVE), **who)
    assert sorted(actor.rank for actor in trace.ranking(by=by).actors) == [0, 1, 2, 3]
    assert [actor.name for actor in trace.ranking(by=by).pruned] == ["mpirun"]
    assert "mpirun" in {actor.name for actor in trace.ranking(by=by, background=()).actors}


def test_rare_ties_are_pruned_by_share() -> None:
    trace = server_machine().wakes(99, WEB).wakes(BACKUP, 99)
    assert len(groups(trace.ranking(min_share=0))) == 1
    assert groups(trace.ranking(min_share=0.02))[1] == [BACKUP, STORE]


@pytest.mark.parametrize(("noise", "min_share"), [(0.0, 0.001), (0.01, 0.001), (0.05, 0.05)])
@pytest.mark.parametrize("seed", [1, 2])
def test_noise_takes_no_group_its_leader(seed: int, noise: float, min_share: float) -> None:
    pytest.importorskip("networkx")
    found = leaders_of_groups(random_machine(seed, noise).ranking(min_share=min_share))
    assert WEB in found
    assert found & set(BACKUP_GROUP)


@pytest.mark.slow
def test_pruning_by_share_removes_noise_from_groups() -> None:
    pytest.importorskip("networkx")
    tidy, noisy, pruned = (
        np.mean([agreement(random_machine(seed, noise).ranking(min_share=share)) for seed in range(4)], axis=0)
        for noise, share in ((0.0, 0.001), (0.05, 0.001), (0.05, 0.05))
    )
    assert tidy[0] == 1
    assert noisy[0] < 0.5  # noise that wakes a daemon once adds it to a group
    assert pruned[0] > 0.9
    assert min(tidy[1], noisy[1], pruned[1]) > 0.7
