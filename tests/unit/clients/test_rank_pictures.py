"""The drawn part of an interaction graph, and the description of an edge."""

from __future__ import annotations

from typing import Any

import pytest
from iotide.clients.rank.dot import MAX_ACTORS, dot_of, select_shown
from iotide.clients.rank.text import actor_name, interaction_text
from iotide.results.interaction import Actor, Component, Interaction, Ranking, SharedFile


def actor(number: int, component: int = 1, interactions: int = 1, rank: float = 0.1) -> Actor:
    return Actor(
        id=number, name=f"p{number}", pid=number + 1, events=1, cpu_s=0, bytes_read=0, bytes_written=0,
        component=component, rank_once=rank, rank_converged=rank, interactions=interactions,
    )  # fmt: skip


def file(number: int, component: int = 1) -> SharedFile:
    return SharedFile(
        id=number, path=f"/x/{number}", kind="file", writers=1, readers=1, bytes_read=1, bytes_written=1,
        component=component,
    )  # fmt: skip


def edge(source: int, target: int, kind: Any = "wakeup", count: int = 1, **more: Any) -> Interaction:
    return Interaction(source=source, target=target, kind=kind, count=count, **more)


def ranking(actors: list[Actor], edges: list[Interaction], files: list[SharedFile] | None = None) -> Ranking:
    numbers = sorted({one.component for one in actors})
    shares = {number: 0.9 if number == 1 else 0.05 if number < 10 else 0.001 for number in numbers}
    return Ranking(
        by="process", start="equal", actors=actors, files=files or [], edges=edges, pruned=[], alone=0, events=1,
        components=[
            Component(
                number=number, actors=max(2, len([one for one in actors if one.component == number])), files=0,
                interactions=1, share=shares[number],
                leaders=[one.id for one in actors if one.component == number][:5],
            )
            for number in numbers
        ],
    )  # fmt: skip


def drawn(known: Ranking) -> dict[int, list[int]]:
    return {one.number: [each.id for each in actors] for one, actors, _ in select_shown(known, 5).components}


def test_a_large_component_has_the_room_that_small_ones_leave() -> None:
    large = [actor(number) for number in range(100)]
    small = [actor(100 + number, component=2 + number // 2) for number in range(4)]
    found = drawn(ranking(large + small, []))
    assert {number: len(members) for number, members in found.items()} == {1: MAX_ACTORS - 4, 2: 2, 3: 2}
    assert select_shown(ranking(large + small, []), 5).left_out == 100 + 4 - MAX_ACTORS


def test_most_interactive_actors_are_drawn_beside_the_leaders() -> None:
    members = [actor(number, interactions=number) for number in range(100)]
    (found,) = drawn(ranking(members, [])).values()
    assert found[:6] == [0, 1, 2, 3, 4, 99]


def test_components_with_hardly_any_interactions_are_not_drawn() -> None:
    assert list(drawn(ranking([actor(number, component=1 + 9 * (number // 2)) for number in range(4)], []))) == [1]


def test_a_file_is_drawn_where_two_that_are_drawn_meet() -> None:
    edges = [
        edge(0, 7, "file", target_is_file=True),
        edge(7, 1, "file", source_is_file=True),
        edge(0, 8, "file", target_is_file=True),
    ]
    shown = select_shown(ranking([actor(0), actor(1)], edges, [file(7), file(8)]), 5)
    assert [one.id for _, _, files in shown.components for one in files] == [7]
    assert len(shown.edges) == 2


def test_a_fork_is_drawn_between_processes_without_other_edges() -> None:
    edges = [edge(0, 1), edge(1, 0, "fork"), edge(0, 2, "fork")]
    shown = select_shown(ranking([actor(0), actor(1), actor(2)], edges), 5)
    assert [(one.kind, one.target) for one in shown.edges] == [("wakeup", 1), ("fork", 2)]


def test_the_largest_component_is_drawn_on_top() -> None:
    text = dot_of(ranking([actor(number, component=1 + number // 2) for number in range(4)], []), 5)
    assert text.index("cluster_2") < text.index("cluster_1")  # Graphviz stacks from below


@pytest.mark.parametrize(
    ("numbers", "told"), [((0, 0), "p1"), ((5, 0), "p1 5"), ((0, 6), "p1 6"), ((5, 5), "p1 5"), ((5, 6), "p1 5/6")]
)
def test_threads_of_a_process_are_told_apart(numbers: tuple[int, int], told: str) -> None:
    pid, tid = numbers
    assert actor_name(actor(1).model_copy(update={"pid": pid, "tid": tid})) == told


@pytest.mark.parametrize(("connections", "told"), [(0, "socket"), (1, "socket"), (1200, "1,200 sockets")])
def test_connections_are_counted(connections: int, told: str) -> None:
    assert interaction_text(edge(1, 2, "socket", connections=connections)) == told
