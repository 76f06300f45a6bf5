"""Findings on a cluster list owners, and name what an operator must repair."""

from __future__ import annotations

from pathlib import Path

from iotide.cli.doctor.journal_checks import findings_of
from iotide.daemon.access.principals import Permission, Principal, as_toml
from iotide.daemon.cluster.members import Member, Worker
from iotide.daemon.inspection.cluster_inspection import ClusterState, MemberState, PartitionState
from iotide.daemon.journal.contract import Position

SERVED = PartitionState("n1:77", 12, 3456, Position(1, 40), ())


def member(serves: int | None, waits: int | None, key: str = "", off_s: float | None = 0.002) -> MemberState:
    owned = {} if serves is None else {serves: Worker(ingest="tcp://127.0.0.1:1", started="x")}
    waiting = frozenset() if waits is None else frozenset({waits})
    return MemberState(Member(http="http://n1:9788", serves=owned, waits=waiting, key=key), off_s)


def cluster(*members: MemberState, **partitions: PartitionState | None) -> ClusterState:
    found = {int(name[1:]): each for name, each in partitions.items()}
    return ClusterState("2.10.0", found, {f"m{number}": each for number, each in enumerate(members)}, "n1:77")


def test_whole_cluster_has_findings_that_work_alone() -> None:
    found = findings_of(cluster(member(0, 1), member(1, 0), p0=SERVED, p1=SERVED))
    assert all(each.works for each in found)
    (owner,) = (each.detail for each in found if each.name == "partition 0")
    assert owner == "m0, process 77; standby m1; 12 messages of 3,456 bytes after the snapshot of record 40"


def test_each_problem_is_named() -> None:
    late = SERVED._replace(late_replicas=("nats2",))
    seen = cluster(member(0, None, key="a", off_s=-3.0), member(None, None, key="b"), p0=late, p1=None)
    found = {each.name: each for each in findings_of(seen) if not each.works}
    assert found.keys() == {"keys", "clocks", "partition 0 standby", "partition 0 replicas", "partition 1"}
    assert "m0: -3.0 s" in found["clocks"].detail
    assert "nats2" in found["partition 0 replicas"].detail
    assert {name for name, each in found.items() if each.necessary} == {"keys", "partition 1"}


def test_keys_of_a_change_are_no_fault_once_both_are_listed(tmp_path: Path) -> None:
    keys = ["a" * 40, "b" * 40]
    seen = cluster(member(0, 1, keys[0]), member(1, 0, keys[1]), p0=SERVED, p1=SERVED)
    path = tmp_path / "principals.toml"
    for listed, works in ((keys[:1], False), (keys, True)):
        may = frozenset[Permission]({"member"})
        path.write_text(as_toml(Principal(name=key[0], key=key, may=may) for key in listed))
        assert {each.name: each.works for each in findings_of(seen, path)}["keys"] == works
    path.write_text("no list")
    assert [str(path) in each.detail for each in findings_of(seen, path) if each.name == "keys"] == [True]


def test_cluster_without_members_is_reported() -> None:
    found = {each.name: each.works for each in findings_of(cluster(p0=None))}
    assert not found["members"]
    assert not found["partition 0"]
