"""The interaction graph: edges, bounds, and equality of incremental and batch results."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iotide.analyzers.interaction.intake import channels
from iotide.analyzers.interaction.intake.channels import connection
from iotide.analyzers.interaction.settings import InteractionSettings
from iotide.analyzers.interaction.update import InteractionAnalyzer, Introduction
from iotide.analyzers.pipeline.numbering import JobNames
from iotide.events import EventBatch, FileInfo, Flag, Kind, Layer, file_type_of, make_batch
from iotide.events.kernel import LOCK, KernelEvent
from support.jobs.interactions import Trace, actor_of, batch_of, groups, leaders
from support.jobs.planted_groups import server_machine


@pytest.mark.slow
@settings(max_examples=5, deadline=None)
@given(st.lists(st.integers(0, 150), max_size=6))
def test_any_split_into_batches_gives_the_same_ranking(edges: list[int]) -> None:
    trace = server_machine(6)
    assert trace.ranking(*edges) == trace.ranking()


@pytest.mark.slow
def test_a_snapshot_goes_on_as_if_nothing_had_happened() -> None:
    trace = server_machine(12)
    settings = InteractionSettings()
    analyzer = InteractionAnalyzer(settings)
    for batch in trace.batches(37, 120):
        analyzer.update(batch, trace.names)
        analyzer = InteractionAnalyzer.restore(settings, analyzer.snapshot())
    assert analyzer.ranking(trace.names, [("job", "node")]) == trace.ranking()


@given(
    st.lists(
        st.lists(
            st.builds(
                Introduction,
                space=st.integers(0, 1),
                stream=st.integers(1, 3),
                pid=st.integers(0, 6),
                rank=st.integers(-1, 2),
                parent=st.integers(0, 6),
                name=st.integers(0, 3),
            ),
            max_size=12,
        ),
        max_size=4,
    ),
    st.sampled_from([4, 100]),
    st.sampled_from([2, 100]),
)
def test_many_introductions_at_once_are_those_one_after_another(
    rounds: list[list[Introduction]], actors: int, links: int
) -> None:
    bounds = InteractionSettings.model_construct(
        **{**InteractionSettings().model_dump(), "max_actors": actors, "max_links": links}
    )
    together, single = InteractionAnalyzer(bounds), InteractionAnalyzer(bounds)
    for introductions in rounds:
        together.introduce_all(introductions)
        for each in introductions:
            single.introduce(**each._asdict())
        ours, theirs = together.tables(), single.tables()
        assert together.losses() == single.losses()
        for name in ("keys", "users", "sources", "targets", "kinds", "counts", "waited_ns"):
            np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name))
        for name, column in theirs.actors.items():
            np.testing.assert_array_equal(ours.actors[name], column)


def test_graphs_of_different_streams_add_up() -> None:
    trace = server_machine(12)
    one, other = (InteractionAnalyzer(InteractionSettings()) for _ in range(2))
    half = len(trace.rows) // 2
    for analyzer, rows in ((one, trace.rows[:half]), (other, trace.rows[half:])):
        analyzer.update(batch_of([row for row in rows if row["layer"] != Layer.KERNEL]), trace.names)
    both = InteractionAnalyzer(InteractionSettings())
    both.update(batch_of([row for row in trace.rows if row["layer"] != Layer.KERNEL]), trace.names)
    one.merge(other)
    assert one.ranking(trace.names, [("", "")]) == both.ranking(trace.names, [("", "")])


def test_only_a_thread_that_waits_can_be_woken_and_only_once() -> None:
    trace = Trace().wakes(1, 2).kernel(KernelEvent.SCHED_WAKEUP, 1, 2).kernel(KernelEvent.SCHED_WAKING, 3, 2)
    trace.kernel(KernelEvent.SCHED_SWITCH, 0, 2).kernel(KernelEvent.SCHED_SWITCH, 2, 0)
    ranking = trace.kernel(KernelEvent.SCHED_WAKING, 3, 2).ranking()
    assert [(edge.kind, edge.count) for edge in ranking.edges] == [("wakeup", 1)]
    assert groups(ranking) == [[1, 2]]
    assert ranking.void_wakeups == 2


def test_cpu_time_is_the_time_between_switches() -> None:
    trace = Trace().kernel(KernelEvent.SCHED_SWITCH, 0, 2)
    trace.now += 1_000_000
    ranking = trace.kernel(KernelEvent.SCHED_SWITCH, 2, 0, flags=int(Flag.BLOCKING)).wakes(1, 2).ranking(start="cpu")
    assert actor_of(ranking, 2).cpu_s == pytest.approx(1.001e-3)


def test_a_file_joins_writer_and_later_reader_but_not_readers_and_not_an_earlier_reader() -> None:
    both_read = Trace().reads(1, "/etc/passwd").reads(2, "/etc/passwd")
    assert groups(both_read.ranking()) == []
    assert groups(Trace().reads(2, "/x").writes(1, "/x").ranking()) == []
    ranking = Trace().writes(1, "/x", size=7).reads(2, "/x", size=5).ranking()
    assert groups(ranking) == [[1, 2]]
    assert [(file.path, file.writers, file.readers, file.bytes_written) for file in ranking.files] == [("/x", 1, 1, 7)]
    assert leaders(ranking) == [2]
    alone = Trace().writes(1, "/x").reads(1, "/x").ranking()
    assert groups(alone) == []


def test_writers_of_one_file_are_joined_when_they_write_meanwhile() -> None:
    apart = Trace().writes(1, "/x").writes(1, "/x").writes(2, "/x").writes(2, "/x")
    assert groups(apart.ranking()) == []
    meanwhile = Trace().writes(1, "/x").writes(2, "/x").writes(1, "/x").writes(2, "/x")
    assert groups(meanwhile.ranking()) == [[1, 2]]


def test_devices_connect_nothing_and_both_ends_of_a_connection_are_one_vertex() -> None:
    trace = Trace().writes(1, "/dev/null").reads(2, "/dev/null").writes(1, "/proc/1/x").reads(2, "/proc/1/x")
    assert groups(trace.ranking()) == []
    ranking = Trace().writes(1, "TCP:[[::1]:80->[::1]:99]").reads(2, "TCP:[[::1]:99->[::1]:80]").ranking()
    assert groups(ranking) == [[1, 2]]
    assert ranking.files == []
    assert [(edge.kind, edge.count, edge.bytes, edge.connections) for edge in ranking.edges] == [("socket", 1, 10, 1)]
    assert connection("UNIX-STREAM:[1->2]") == connection('UNIX-STREAM:[2->1,"/run/x"]')
    assert connection("socket:[5]") == "socket:[5]"
    mapped = "TCPv6:[[::ffff:10.0.0.1]:80->[::ffff:10.0.0.2]:5]"
    assert connection(mapped) == connection("TCP:[10.0.0.2:5->10.0.0.1:80]")
    assert connection("UNIX:[17->/run/x]") == connection("UNIX:[17->/run/x]") != connection("UNIX:[18->/run/x]")


@pytest.mark.parametrize(
    "path", ["TCP:[127.0.0.1:5->127.0.0.53:53]", "TCPv6:[[::1]:5->[::1]:6]", "UNIX:[17->/run/x]", "pipe:[3]"]
)
def test_connections_within_a_machine_are_others_on_each(path: str) -> None:
    trace = Trace().writes(1, path).reads(2, path)
    analyzer = InteractionAnalyzer(InteractionSettings())
    for space, batch in enumerate(trace.batches(1)):
        analyzer.update(batch, trace.names, space=space)
    assert analyzer.ranking(trace.names, [("job", "n1"), ("job", "n2")]).components == []


def test_connections_that_two_have_to_themselves_are_edges_between_them_and_what_more_use_is_a_vertex() -> None:
    trace = Trace()
    for port in (50, 51, 52):
        asks, hears = f"TCP:[1.1.1.1:{port}->1.1.1.2:80]", f"TCP:[1.1.1.2:80->1.1.1.1:{port}]"
        trace.writes(1, asks, size=100).reads(2, hears, size=100).writes(2, hears, size=700).reads(1, asks, size=700)
    ranking = trace.writes(1, "pipe:[1]").reads(2, "pipe:[1]").reads(3, "pipe:[1]").ranking()
    found = {
        (edge.source, edge.target): edge for edge in ranking.edges if not edge.source_is_file | edge.target_is_file
    }
    ids = {actor.tid: actor.id for actor in ranking.actors}
    there, back = found[ids[1], ids[2]], found[ids[2], ids[1]]
    assert (there.count, there.bytes, there.connections) == (3, 300, 3)
    assert (back.count, back.bytes, back.connections) == (3, 2100, 3)
    assert [file.path for file in ranking.files] == ["pipe:[1]"]
    assert [component.files for component in ranking.components] == [1]


def test_collective_calls_on_one_file_join_ranks() -> None:
    trace = Trace()
    for rank in (0, 1, 2):
        flags = {"flags": int(Flag.COLLECTIVE), "layer": Layer.MPIIO, "rank": rank}
        trace.does(Kind.WRITE if rank == 0 else Kind.OTHER, 10 + rank, "/scratch/out", size=0, **flags)
    ranking = trace.ranking(by="rank")
    assert sorted(actor.rank for actor in ranking.actors) == [0, 1, 2]
    assert ranking.files[0].kind == "collective"
    assert len(ranking.components) == 1


def test_locks_are_handed_over_by_lock_and_waiting_is_told() -> None:
    trace = Trace()
    for event, tid, lock in (
        (KernelEvent.LOCK_REQ, 1, "a"),
        (KernelEvent.LOCK_ACQ, 1, "a"),
        (KernelEvent.LOCK_REQ, 3, "b"),
        (KernelEvent.LOCK_ACQ, 3, "b"),
        (KernelEvent.LOCK_REQ, 2, "a"),
        (KernelEvent.UNLOCK, 1, "a"),
        (KernelEvent.LOCK_ACQ, 2, "a"),
        (KernelEvent.UNLOCK, 3, "b"),
    ):
        trace.kernel(event, tid, text=lock, prefix=LOCK)
    ranking = trace.ranking()
    assert groups(ranking) == [[1, 2]]
    tids = {actor.id: actor.tid for actor in ranking.actors}
    edges = {(tids[edge.source], tids[edge.target]): edge.waited_s for edge in ranking.edges}
    assert edges == {(2, 1): 0.0, (1, 2): pytest.approx(2e-6)}


def test_processes_of_guests_are_linked_by_the_interrupts_between_their_processors() -> None:
    trace = Trace().kernel(KernelEvent.KVM_CR3, 50, offset=0x1000).kernel(KernelEvent.KVM_CR3, 51, offset=0x2000)
    trace.wakes(50, 51).kernel(KernelEvent.KVM_INJ_VIRQ, 51, requested=0xFD)
    trace.kernel(KernelEvent.KVM_INJ_VIRQ, 51, requested=0xEC)  # the timer's interrupt
    ranking = trace.ranking()
    assert [(edge.kind, edge.count) for edge in ranking.edges if edge.kind == "guest"] == [("guest", 1)]
    assert "guest process" in {actor.name for actor in ranking.actors}


def test_forks_are_shown_and_join_only_when_asked_to() -> None:
    trace = Trace().kernel(KernelEvent.SCHED_PROCESS_FORK, 1, 2, "child").kernel(KernelEvent.SCHED_PROCESS_FORK, 1, 3)
    assert groups(trace.ranking()) == []
    assert groups(trace.ranking(forks=True)) == [[1, 2, 3]]


def test_a_process_is_called_as_its_maker_and_a_thread_as_its_process() -> None:
    trace = Trace().named(httpd=1)
    trace.kernel(KernelEvent.SCHED_PROCESS_FORK, 1, 2).kernel(KernelEvent.SCHED_PROCESS_FORK, 2, 3)
    trace.writes(3, "/x").writes(30, "/y", pid=3).reads(2, "/x").reads(2, "/y").reads(4, "/x")
    by_thread = {actor.tid: actor.name for actor in trace.ranking(by="thread").actors}
    assert by_thread == {3: "httpd", 30: "httpd", 2: "httpd", 4: "process"}
    trace.kernel(KernelEvent.SCHED_PROCESS_EXEC, 2, text="rotate")
    assert {actor.tid: actor.name for actor in trace.ranking().actors} == {3: "rotate", 2: "rotate", 4: "process"}


def test_thread_without_events_is_not_counted_as_alone() -> None:
    trace = Trace().writes(1, "/x").reads(2, "/x").writes(3, "/y").kernel(KernelEvent.SCHED_PROCESS_FORK, 3, 9)
    assert trace.ranking().alone == 1


def test_threads_are_put_together_by_what_a_vertex_is() -> None:
    trace = Trace().kernel(KernelEvent.PROCESS_STATE, 1, text="main", pid=1)
    trace.kernel(KernelEvent.PROCESS_STATE, 2, text="worker", pid=1).wakes(1, 2).wakes(2, 9).wakes(1, 9)
    assert groups(trace.ranking(by="thread")) == [[1, 2, 9]]
    ranking = trace.ranking()
    assert groups(ranking) == [[1, 9]]
    assert (actor_of(ranking, 1).name, actor_of(ranking, 1).threads, actor_of(ranking, 1).tids) == ("main", 2, [1, 2])
    assert [edge.count for edge in ranking.edges] == [2]


def test_jobs_interact_through_the_files_that_they_share() -> None:
    trace = Trace().writes(1, "/scratch/field").reads(1, "/scratch/field").writes(1, "/scratch/own")
    analyzer = InteractionAnalyzer(InteractionSettings(by="job"))
    for space, batch in enumerate(trace.batches(1, 2)):
        analyzer.update(batch, trace.names, space=space)
    ranking = analyzer.ranking(trace.names, [("flow", "a"), ("plot", "b"), ("flow", "c")])
    assert sorted(actor.name for actor in ranking.actors) == ["flow", "plot"]
    assert [file.path for file in ranking.files] == ["/scratch/field"]


def many(rng: np.random.Generator, length: int, threads: int, files: int, names: JobNames) -> Iterable[EventBatch]:
    call = names.call("write")
    numbers = np.array([names.file(FileInfo(f"/f{n}", file_type_of("/f"))) for n in range(files)])
    for at in range(4):
        yield make_batch(
            length,
            {
                "start": np.arange(length) + at * length,
                "duration": 5,
                "call": call,
                "layer": int(Layer.POSIX),
                "kind": rng.choice([int(Kind.READ), int(Kind.WRITE)], length),
                "tid": rng.integers(1, threads, length),
                "file": numbers[rng.integers(0, files, length)],
                "bytes": 8,
            },
        )


def test_tables_keep_to_their_bounds_and_count_what_that_costs() -> None:
    names = JobNames(10, 10_000)
    analyzer = InteractionAnalyzer(InteractionSettings(max_actors=64, max_uses=256, max_links=16))
    for batch in many(np.random.default_rng(1), 2000, 500, 300, names):
        analyzer.update(batch, names)
    tables = analyzer.tables()
    assert len(tables.keys) <= 64
    assert len(tables.users) <= 256
    assert tables.users.max() < len(tables.keys)
    assert analyzer.losses()["actors"] > 0
    assert analyzer.losses()["uses"] > 0
    assert analyzer.ranking(names, [("", "")]).dropped_events == sum(analyzer.losses().values())


def test_evictions_keep_the_sums_of_the_remaining_entries() -> None:
    trace = Trace()
    for passing in range(1, 60):
        trace.writes(passing, f"/own/{passing}")
    for _ in range(5):
        trace.writes(101, "/kept").reads(102, "/kept").wakes(103, 104)
    for passing in range(200, 400):
        trace.writes(passing, "/other").wakes(passing, passing + 1000)
    ranking = trace.ranking(*range(0, 700, 23), max_actors=64, max_links=32, min_share=0)
    (file,) = [file for file in ranking.files if file.path == "/kept"]
    ends = {actor.id: actor.tid for actor in ranking.actors}
    through = {(edge.source_is_file, ends[edge.target if edge.source_is_file else edge.source], edge.count)
               for edge in ranking.edges if (edge.source_is_file and edge.source == file.id)
               or (edge.target_is_file and edge.target == file.id)}  # fmt: skip
    assert through == {(False, 101, 5), (True, 102, 5)}
    assert [edge.count for edge in ranking.edges if ends.get(edge.source) == 103 and not edge.source_is_file] == [5]


def test_files_beyond_the_bound_are_counted_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(channels, "MAX_CHANNELS", 2)
    trace = Trace()
    for number in range(5):
        trace.writes(1, f"/x/{number}").reads(2, f"/x/{number}")
    assert trace.analyzer().losses()["files"] == 3
    ranking = trace.ranking()
    assert [file.path for file in ranking.files] == ["/x/0", "/x/1"]
    assert ranking.notes[:1] == ["3 files, pipes and sockets beyond the bound join nobody"]


def test_an_empty_graph_has_no_components() -> None:
    assert InteractionAnalyzer(InteractionSettings()).ranking(JobNames(1, 1), []).components == []
    assert Trace().does(Kind.OTHER, 1, "/x").ranking().alone == 1
