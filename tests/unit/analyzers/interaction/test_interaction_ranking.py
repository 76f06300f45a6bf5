"""The single iteration of [Ranking] against a loop over edges, and the fixed point against NetworkX."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iotide.analyzers.interaction.graph.communities import communities_of, connections_of
from iotide.analyzers.interaction.graph.network import Network
from iotide.analyzers.interaction.graph.ranking import Flow, converged, once, start_weights
from scipy import sparse

NODES = 7
EDGES = st.dictionaries(
    st.tuples(st.integers(0, NODES - 1), st.integers(0, NODES - 1)).filter(lambda ends: ends[0] != ends[1]),
    st.integers(1, 9),
    min_size=1,
    max_size=20,
)


def network_of(links: dict[tuple[int, int], int], writes: list[list[int]], reads: list[list[int]]) -> Network:
    matrix = np.zeros((NODES, NODES))
    for (source, target), count in links.items():
        matrix[source, target] = count
    files = len(reads)
    return Network(
        node_of=np.arange(NODES),
        nodes=NODES,
        channel=np.arange(files) + 1,
        links=sparse.csr_array(matrix),
        writes=sparse.csr_array(np.array(writes, float).reshape(NODES, files)),
        reads=sparse.csr_array(np.array(reads, float).reshape(files, NODES)),
    )


def without_files(links: dict[tuple[int, int], int]) -> Network:
    return network_of(links, [[] for _ in range(NODES)], [])


@settings(max_examples=40, deadline=None)
@given(EDGES)
def test_one_iteration_is_the_seeds_formula(links: dict[tuple[int, int], int]) -> None:
    network = without_files(links)
    part, _ = network.components(np.ones(NODES, np.bool_))
    start = start_weights(np.zeros(NODES), part)
    got = once(network, start, part)
    naive = np.zeros(NODES)
    for (source, target), count in links.items():
        gives = sum(number for (giver, _), number in links.items() if giver == source)
        naive[target] += start[source] * count / gives
    for number in set(part[part >= 0].tolist()):
        naive[part == number] /= naive[part == number].sum()
    assert got == pytest.approx(naive)


@settings(max_examples=10, deadline=None)
@given(EDGES)
def test_the_fixed_point_is_networkx_pagerank(links: dict[tuple[int, int], int]) -> None:
    networkx = pytest.importorskip("networkx")
    network = without_files(links)
    part, _ = network.components(np.ones(NODES, np.bool_))
    got = converged(network, start_weights(np.zeros(NODES), part), part, 0.85)
    for number in set(part[part >= 0].tolist()):
        graph = networkx.DiGraph()
        graph.add_nodes_from(np.flatnonzero(part == number).tolist())
        graph.add_weighted_edges_from((a, b, count) for (a, b), count in links.items() if part[a] == number)
        for node, rank in networkx.pagerank(graph, alpha=0.85, tol=1e-12, max_iter=500).items():
            assert got[node] == pytest.approx(rank, abs=1e-7)


@settings(max_examples=15, deadline=None)
@given(
    st.lists(st.lists(st.integers(0, 5), min_size=3, max_size=3), min_size=NODES, max_size=NODES),
    st.lists(st.lists(st.integers(0, 5), min_size=NODES, max_size=NODES), min_size=3, max_size=3),
)
def test_with_files_it_is_networkx_pagerank_of_the_edges_that_lead_through_them(
    writes: list[list[int]], reads: list[list[int]]
) -> None:
    networkx = pytest.importorskip("networkx")
    network = network_of({(0, 1): 2}, writes, reads)
    graph = networkx.DiGraph()
    graph.add_edge(0, 1, weight=2.0)
    for file, calls in enumerate(reads):
        for one, other in itertools.permutations(range(NODES), 2):
            if writes[one][file] and calls[other]:
                weight = writes[one][file] * calls[other] / sum(calls)
                before = graph.get_edge_data(one, other, {"weight": 0.0})["weight"]
                graph.add_edge(one, other, weight=before + weight)
    part = np.full(NODES, -1)
    part[list(graph)] = 0  # as one component, even if it is disconnected
    start = start_weights(np.zeros(NODES), part)
    got = converged(network, start, part, 0.85)
    for node, rank in networkx.pagerank(graph, alpha=0.85, tol=1e-12, max_iter=500).items():
        assert got[node] == pytest.approx(rank, abs=1e-7)


def test_a_file_passes_weight_to_its_readers_but_not_back_to_the_writer() -> None:
    # 0 writes twice, 1 once; 1 and 2 read it, 1 three times, 2 once
    writes = [[2], [1]] + [[0]] * (NODES - 2)
    flow = Flow(network_of({}, writes, [[0, 3, 1, 0, 0, 0, 0]]))
    assert flow.given.tolist() == pytest.approx([2, 1 - 3 / 4, 0, 0, 0, 0, 0])
    passed = flow.passed(np.array([1.0, 1.0, 0, 0, 0, 0, 0]))
    assert passed.tolist() == pytest.approx([0, 3 / 4, 1 / 4 + 1, 0, 0, 0, 0])


def test_start_ranks_follow_use_within_each_component() -> None:
    part = np.array([0, 0, 1, 1, -1, -1, -1])
    use = np.array([3.0, 1, 0, 0, 9, 9, 9])
    assert start_weights(use, part).tolist() == pytest.approx([0.75, 0.25, 0.5, 0.5, 0, 0, 0])


def test_use_by_vertices_without_out_edges_falls_back_to_equal_starts() -> None:
    network = without_files({(0, 1): 1, (2, 1): 1, (1, 2): 3})
    part, _ = network.components(np.ones(NODES, np.bool_))
    assert once(without_files({(0, 1): 1}), np.array([0.0, 1, 0, 0, 0, 0, 0]), np.array([0, 0, *[-1] * 5]))[1] == 1.0
    assert once(network, start_weights(np.array([5.0, 0, 0, 0, 0, 0, 0]), part), part)[1] == 1.0


def test_communities_are_the_cliques_that_one_edge_joins() -> None:
    pytest.importorskip("networkx")
    links = {(a, b): 5 for group in ((0, 1, 2), (3, 4, 5, 6)) for a in group for b in group if a != b}
    network = without_files({**links, (2, 3): 1})
    part, _ = network.components(np.ones(NODES, np.bool_))
    found = communities_of(network, connections_of(network, np.zeros(0, np.bool_)), part)
    assert found is not None
    assert found.counts == {0: 2}
    assert found.of_node.tolist() == [2, 2, 2, 1, 1, 1, 1]
    assert found.modularity[0] > 0.3


def test_use_by_outsiders_causes_no_warning() -> None:
    """The first component has used nothing; a vertex outside of all components has."""
    with np.errstate(all="raise"):
        weights = start_weights(np.array([0.0, 0.0, 6e9, 3.0, 1.0]), np.array([0, 0, -1, 1, 1]))
    assert weights.tolist() == [0.5, 0.5, 0.0, 0.75, 0.25]
