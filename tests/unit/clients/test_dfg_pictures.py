"""Pictures of directly-follows graphs: labels, colours, escaping, deterministic layouts, complete files."""

from __future__ import annotations

import doctest
import json
import re
import shutil
import subprocess
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from iotide.analyzers.dfg.naming import RESERVED
from iotide.clients.dfg import colours as dfg_colours
from iotide.clients.dfg import edge_routes as dfg_routes
from iotide.clients.dfg import labels as dfg_labels
from iotide.clients.dfg import timeline as dfg_timeline
from iotide.clients.dfg.colours import GREEN, PLAIN, RED, contrast, shade
from iotide.clients.dfg.edge_routes import route_edges
from iotide.clients.dfg.graph_output import FORMS, draw, format_of
from iotide.clients.dfg.layout import Box, Layout, acyclic_order, place
from iotide.clients.dfg.scene import END, START, activity_label, scene_of
from iotide.clients.dfg.timeline import draw_timeline
from iotide.events import UnavailableError
from iotide.results.dfg import (
    Comparison,
    EdgeDifference,
    Graph,
    NodeDifference,
    Occurrence,
    Timeline,
)
from support.jobs.graphs import activity, graph_of
from support.tracing.programs import need


def checkpoint() -> Graph:
    return graph_of(
        [
            activity("openat:/scratch", 4, rate=None, bytes=0, load=0.02, starts=4),
            activity("write:/scratch", 192, load=0.42, bytes=3_100_000_000, max_concurrency=48),
            activity("read:/scratch", 100, load=0.3, exact=False),
            activity("close:/scratch", 4, rate=None, bytes=0, ends=4),
        ],
        {
            ("openat:/scratch", "write:/scratch"): 4,
            ("write:/scratch", "write:/scratch"): 180,
            ("write:/scratch", "read:/scratch"): 8,
            ("read:/scratch", "write:/scratch"): 4,
            ("read:/scratch", "close:/scratch"): 4,
        },
    )


def many(count: int = 200) -> Graph:
    names = [f"write:/scratch/folder{number}" for number in range(count)]
    edges = {(a, b): 1 + (7 * at) % 50 for at, (a, b) in enumerate(pairwise(names))}
    edges |= {(names[at], names[(at * 17 + 3) % count]): 2 + at for at in range(0, count, 2)}
    return graph_of([activity(name, 400 - at, starts=at == 0) for at, name in enumerate(names)], edges)


def compared() -> tuple[Graph, Comparison]:
    graph = checkpoint()
    sides = {"openat:/scratch": "both", "write:/scratch": "green", "read:/scratch": "red", "close:/scratch": "both"}
    nodes = [
        NodeDifference.model_validate(
            {
                "name": row.name, "side": sides[row.name], "green": row if sides[row.name] != "red" else None,
                "red": row if sides[row.name] != "green" else None, "load_difference": 0, "bytes_difference": 0,
                "events_difference": 0, "rate_ratio": None,
            }
        )
        for row in graph.activities
    ]  # fmt: skip
    edges = [
        EdgeDifference(
            source="openat:/scratch", target="write:/scratch", side="green", green=4, red=0, share_difference=1
        ),
        EdgeDifference(
            source="read:/scratch", target="close:/scratch", side="red", green=0, red=4, share_difference=-1
        ),
    ]
    comparison = Comparison.model_validate(
        {"green": "run <1>", "red": "run 2", "mapping": graph.mapping, "nodes": nodes, "edges": edges, "distance": 0.5}
        | ({"load_distance": 0.1, "bytes_distance": 0.1} if "load_distance" in Comparison.model_fields else {})
    )
    return graph, comparison


HOSTILE = 'read:/tmp/"a" \\N <b>&amp;</script><script>alert(1)</script>\n\x00\x1b\udcff名前{|}'


class Page(HTMLParser):
    """Collect a page's elements and their references."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def with_class(self, name: str) -> list[dict[str, str | None]]:
        return [given for _, given in self.tags if name in (given.get("class") or "").split()]


def page_data(text: str) -> dict[str, object]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    assert found
    return dict(json.loads(found[1]))


@pytest.mark.parametrize("module", [dfg_colours, dfg_labels, dfg_timeline])
def test_examples_in_docstrings_hold(module: object) -> None:
    failed, attempted = doctest.testmod(module)  # type: ignore[arg-type]
    assert attempted
    assert not failed


def test_labels_are_those_of_the_paper() -> None:
    write, read, opened = (activity("x", **more) for more in (
        {"load": 0.42, "bytes": 3_100_000_000, "max_concurrency": 48, "rate": 210e6},
        {"exact": False},
        {"rate": None, "bytes": 0},
    ))  # fmt: skip
    assert activity_label(write) == ("Load: 0.42 (3.1 GB)", "DR: 48 x 210.0 MB/s")
    assert activity_label(read)[1].startswith("DR: 3+ x ")
    assert activity_label(opened) == ("Load: 0.10",)


@given(st.floats(0, 1), st.floats(0, 1))
def test_more_is_darker_and_text_stays_readable(one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert contrast(shade(low).fill, "#000000") >= contrast(shade(high).fill, "#000000") - 0.05
    assert contrast(shade(one).fill, shade(one).text) >= 4.5


def test_sides_are_readable_too() -> None:
    for paint in (GREEN, RED, PLAIN):
        assert contrast(paint.fill, paint.text) >= 4.5
        assert contrast(paint.line, "#ffffff") >= 4.5


@pytest.mark.parametrize(
    ("colour", "darkest"), [("load", "write:/scratch"), ("bytes", "write:/scratch"), ("rate", "read:/scratch")]
)
def test_darkest_node_has_the_most(colour: str, darkest: str) -> None:
    graph = checkpoint()
    rows = [row.model_copy(update={"rate": 9e9}) if row.name == "read:/scratch" else row for row in graph.activities]
    scene = scene_of(graph.model_copy(update={"activities": rows}), colour=colour)  # type: ignore[arg-type]
    assert {node.name for node in scene.nodes if node.paint == shade(1)} == {darkest}
    assert next(paint for paint, _ in scene.scale) == shade(0)
    assert {node.paint for node in scene_of(graph, colour="none").nodes} == {PLAIN}


def test_green_is_only_in_the_first_and_red_only_in_the_second() -> None:
    graph, comparison = compared()
    scene = scene_of(graph, comparison=comparison)
    paints = {node.name: node.paint for node in scene.nodes}
    assert paints["write:/scratch"] == GREEN
    assert paints["read:/scratch"] == RED
    assert paints["openat:/scratch"] == paints["close:/scratch"] == PLAIN
    edges = {(edge.source, edge.target): edge.side for edge in scene.edges}
    assert edges["openat:/scratch", "write:/scratch"] == "green"
    assert edges["read:/scratch", "close:/scratch"] == "red"
    assert edges[START, "openat:/scratch"] == "both"
    assert "only in run <1>" in {text for _, text in scene.scale}
    with pytest.raises(ValueError, match="comparison"):
        scene_of(graph, colour="partition")


def test_markers_begin_and_end_the_graph() -> None:
    scene = scene_of(checkpoint())
    assert [node.name for node in scene.nodes if node.marker] == [START, END]
    assert {(edge.source, edge.target, edge.count) for edge in scene.edges if edge.marker} == {
        (START, "openat:/scratch", 4),
        ("close:/scratch", END, 4),
    }
    heavy = max(scene.edges, key=lambda edge: edge.count)
    assert heavy.width == max(edge.width for edge in scene.edges)


def test_large_graph_is_cut_to_its_strongest_edges_with_a_note() -> None:
    graph = many()
    scene = scene_of(graph, most_activities=50, most_edges=60)
    assert len(scene.nodes) == 52
    shown = {node.name for node in scene.nodes}
    assert all(edge.source in shown and edge.target in shown for edge in scene.edges)
    told = " ".join(scene.legend)
    assert "50 of 200 activities" in told
    assert f"{len(scene.edges)} of {len(graph.edges) + 1} edges" in told
    edges_only = scene_of(graph, most_activities=500, most_edges=210)
    left = {(row.source, row.target): row.count for row in graph.edges}
    for edge in edges_only.edges:
        left.pop((edge.source, edge.target), None)
    for name in (row.name for row in graph.activities):
        ways_out = [row.count for row in graph.edges if row.source == name]
        kept = [edge.count for edge in edges_only.edges if edge.source == name]
        assert not ways_out or max(ways_out) == max(kept)
    assert "Cut" not in " ".join(scene_of(graph, most_activities=500, most_edges=5000).legend)


def test_losses_stand_in_the_legend() -> None:
    graph = checkpoint().model_copy(update={"unmapped": 12, "late_events": 3, "open_cases": 1})
    told = " ".join(scene_of(graph).legend)
    assert "12 events have no activity" in told
    assert "3 events came too late" in told
    assert "(1 open)" in told


def test_dot_text_does_not_depend_on_the_order_of_the_input() -> None:
    graph = many(40)
    turned = graph.model_copy(update={"activities": graph.activities[::-1], "edges": graph.edges[::-1]})
    assert draw(graph, "dot") == draw(turned, "dot")
    assert draw(graph, "html") != b""
    names = {node.name: node.key for node in scene_of(many(20)).nodes}
    assert names.items() <= {node.name: node.key for node in scene_of(graph).nodes}.items()


@pytest.mark.slow
@given(st.lists(st.text(max_size=20).filter(lambda name: name not in RESERVED), min_size=1, max_size=5, unique=True))
@example(["]", "[", "", " ", ":", "]]>", "<!--"])
@settings(deadline=None, max_examples=15)
def test_any_name_makes_whole_files(names: list[str]) -> None:
    rows = [activity(name, starts=1, ends=1) for name in [*names, HOSTILE]]
    graph = graph_of(rows, {(names[0], HOSTILE): 3, (HOSTILE, HOSTILE): 2})
    root = ET.fromstring(draw(graph, "graphml"))
    assert len(root.findall(".//{*}node")) == len(rows) + 2
    text = draw(graph, "html").decode()
    assert "<script>alert" not in text
    assert len(page_data(text)["facts"]) == len(rows) + 2  # type: ignore[arg-type]
    assert len(Page(text).with_class("node")) == len(rows)
    if shutil.which("dot"):
        done = subprocess.run(["dot", "-Tplain"], input=draw(graph, "dot"), capture_output=True, check=True)
        assert done.stderr == b""
        assert sum(line.startswith(b"node ") for line in done.stdout.splitlines()) == len(rows) + 2


def test_graphviz_shows_hostile_names_as_they_are() -> None:
    need("dot")
    svg = ET.fromstring(draw(graph_of([activity(HOSTILE, starts=1)], {}), "svg"))
    assert svg.tag == "{http://www.w3.org/2000/svg}svg"
    titles = [element.get("{http://www.w3.org/1999/xlink}title") or "" for element in svg.iter()]
    shown = 'activity: read:/tmp/"a" ∖N <b>&amp;</script><script>alert(1)</script>∖n∖x00∖x1b∖udcff名前{|}'
    assert any(title.startswith(shown) for title in titles), titles


@pytest.mark.parametrize("form", ["svg", "png"])
def test_without_graphviz_the_message_names_the_package(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(UnavailableError, match=r"apt install graphviz.*html, json"):
        draw(checkpoint(), form)  # type: ignore[arg-type]
    for other in set(FORMS) - {"svg", "png"}:
        assert draw(checkpoint(), other)


@pytest.mark.slow
def test_pictures_are_svg_and_png() -> None:
    need("dot")
    graph, comparison = compared()
    svg = draw(graph, "svg", comparison=comparison)
    shapes = {element.get("fill") for element in ET.fromstring(svg).iter()}
    assert {GREEN.fill, RED.fill} <= shapes
    assert draw(many(), "png")[:8] == b"\x89PNG\r\n\x1a\n"


def test_empty_graph_can_be_drawn() -> None:
    empty = graph_of([], {})
    for form in FORMS:
        if form not in {"svg", "png"} or shutil.which("dot"):
            assert draw(empty, form)


def test_json_is_the_model() -> None:
    graph, comparison = compared()
    assert Graph.model_validate_json(draw(graph, "json")) == graph
    assert Comparison.model_validate_json(draw(graph, "json", comparison=comparison)) == comparison


def test_graphml_has_every_statistic() -> None:
    graph, comparison = compared()
    root = ET.fromstring(draw(graph, "graphml", comparison=comparison))
    keys = {key.get("id"): key.get("attr.name") for key in root.findall("{*}key")}
    node = next(node for node in root.iter() if any(data.text == "write:/scratch" for data in node.findall("{*}data")))
    values = {keys[data.get("key")]: data.text for data in node.findall("{*}data")}
    assert values["load"] == "0.42"
    assert values["bytes"] == "3100000000"
    assert values["exact"] == "true"
    assert values["side"] == "green"
    counts = [data.text for data in root.iter() if data.get("key") == "edge.count"]
    assert sorted(map(int, filter(None, counts))) == [4, 4, 4, 4, 4, 8, 180]


@pytest.mark.slow
def test_page_needs_no_network_and_shows_everything() -> None:
    graph, comparison = compared()
    text = draw(graph, "html", comparison=comparison).decode()
    page = Page(text)
    assert not [given for _, given in page.tags if {"src", "href"} & set(given)]
    policies = [
        given["content"] or "" for _, given in page.tags if given.get("http-equiv") == "Content-Security-Policy"
    ]
    assert policies[0].startswith("default-src 'none'")
    assert len(page.with_class("edge")) == len(graph.edges) + 2
    data = page_data(text)
    assert set(data["paints"]) == {"partition", "load", "bytes", "rate", "none"}  # type: ignore[call-overload]
    assert data["counts"] == [4, 8, 180]
    assert [given.get("id") for tag, given in page.tags if tag == "input"] == ["least", "search"]
    assert len(draw(many(), "html")) < 2_000_000


def test_form_is_told_by_the_name() -> None:
    assert [format_of(name) for name in ("a.svg", "b.PNG", "c.gv", "d.graphml")] == ["svg", "png", "dot", "graphml"]
    with pytest.raises(ValueError, match=r"x\.pdf.*\.graphml"):
        format_of("x.pdf")


_edges = st.dictionaries(st.tuples(st.integers(0, 9), st.integers(0, 9)), st.integers(1, 99), max_size=30)


@pytest.mark.slow
@given(_edges)
@settings(deadline=None, max_examples=40)
def test_layout_keeps_boxes_apart_and_start_on_top(edges: dict[tuple[int, int], int]) -> None:
    graph = numbered(edges)
    scene = scene_of(graph)
    layout = place(scene)
    assert place(scene) == layout
    boxes = [layout.boxes[node.name] for node in scene.nodes]
    assert not [1 for one, other in combinations(boxes, 2) if one.is_near(other, 0)]
    assert layout.boxes[START].y == min(box.y for box in boxes)
    routes = route_edges(scene, layout)
    assert len(routes) == len(scene.edges)
    assert all(re.fullmatch(r"M-?[\d.]+,-?[\d.]+(?:C(?:-?[\d.]+,-?[\d.]+ ?){3})+", route.path) for route in routes)


def numbered(edges: dict[tuple[int, int], int], names: int = 10) -> Graph:
    return graph_of(
        [activity(f"call{at}:/data", starts=at == 0, ends=at == names - 1) for at in range(names)],
        {(f"call{a}:/data", f"call{b}:/data"): count for (a, b), count in edges.items()},
    )


@given(_edges, st.integers(1, 9))
@settings(deadline=None, max_examples=40)
def test_nodes_stay_where_they_are_while_the_graph_grows(edges: dict[tuple[int, int], int], known: int) -> None:
    early = {pair: count for pair, count in edges.items() if max(pair) < known}
    before = place(scene_of(numbered(early, known)))
    later = scene_of(numbered({pair: 3 * count for pair, count in edges.items()}))
    after = place(later, before)
    for name, box in before.boxes.items():
        assert (after.boxes[name].x, after.boxes[name].y) == (box.x, box.y)
    new = [after.boxes[node.name] for node in later.nodes if node.name not in before.boxes]
    old = [after.boxes[name] for name in before.boxes]
    assert not [1 for box in new for other in old if box.is_near(other, 0)]
    assert not [1 for one, other in combinations(new, 2) if one.is_near(other, 0)]


def test_graphviz_draws_kept_places() -> None:
    need("dot")
    graph = checkpoint()
    before = place(scene_of(graph))
    moved = Layout({name: type(box)(box.x * 3, box.y, box.width, box.height) for name, box in before.boxes.items()})
    plain = subprocess.run(
        ["dot", "-Tplain"], input=draw(graph, "dot", before=moved), capture_output=True, check=True
    ).stdout.decode()
    found = {
        row.split()[1]: tuple(map(float, row.split()[2:4])) for row in plain.splitlines() if row.startswith("node")
    }
    keys = {node.name: node.key for node in scene_of(graph).nodes}
    for one, other in combinations(moved.boxes, 2):
        apart = found[keys[other]][0] - found[keys[one]][0]
        assert apart == pytest.approx((moved.boxes[other].x - moved.boxes[one].x) * 0.75 / 72, abs=0.02)


def test_order_follows_the_strongest_edges() -> None:
    edges = {("s", "a"): 1.0, ("a", "b"): 9.0, ("b", "a"): 8.0, ("b", "c"): 5.0, ("a", "c"): 1.0, ("c", "e"): 1.0}
    assert acyclic_order(["e", "c", "b", "a", "s"], edges, "s", "e") == ["s", "a", "b", "c", "e"]


def timeline(calls: int, cases: int = 12) -> Timeline:
    occurrences = [
        Occurrence(case=f"rank {at % cases}", start_s=1e9 + at * 0.01, end_s=1e9 + at * 0.01 + 0.025, bytes=4096)
        for at in range(calls)
    ]
    return Timeline(activity="write:$SCRATCH/x_$y", occurrences=occurrences, left_out=7)


@pytest.mark.slow
def test_timeline_has_a_row_a_case_in_the_order_of_their_numbers() -> None:
    root = ET.fromstring(draw_timeline(timeline(60), "svg"))
    comments = draw_timeline(timeline(60), "svg").decode()
    named = re.findall(r"<!-- (rank \d+) -->", comments)
    assert named == [f"rank {at}" for at in range(12)]
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    title = next(text for text in re.findall(r"<!-- (.*?) -->", comments) if text.startswith("write"))
    assert title.startswith("write:$SCRATCH/x_$y: 60 calls in 12 cases, 1.5 s in all, 245.8 kB; 7 later ones")


@pytest.mark.slow
@pytest.mark.parametrize("calls", [0, 1, 20_000])
def test_timeline_of_any_length_is_a_small_picture(calls: int) -> None:
    content = draw_timeline(timeline(calls), "png")
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    assert len(draw_timeline(timeline(calls, 300), "svg")) < 600_000


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(1, 10)), max_size=20))
@settings(deadline=None)
def test_number_of_calls_at_once_is_that_of_counting(calls: list[tuple[int, int]]) -> None:
    start = np.array([begin for begin, _ in calls], float)
    end = np.array([begin + length for begin, length in calls], float)
    times, number = dfg_timeline.concurrency(start, end)
    for at in range(45):
        place = int(np.searchsorted(times, at + 0.5)) - 1
        shown = number[place] if place >= 0 else 0
        assert shown == sum(begin <= at < begin + length for begin, length in calls)


@given(st.lists(st.tuples(st.integers(0, 300), st.integers(1, 20)), min_size=1, max_size=100), st.integers(1, 40))
@settings(deadline=None)
def test_column_is_as_high_as_the_most_calls_at_once_in_it(calls: list[tuple[int, int]], most: int) -> None:
    start = np.array([begin for begin, _ in calls], float)
    times, number = dfg_timeline.concurrency(start, start + np.array([length for _, length in calls]))
    edges, highest = dfg_timeline.max_in_columns(times, number, most)
    assert len(edges) == len(highest) + 1 <= most + 1
    for low, high, shown in zip(edges, edges[1:], highest, strict=False):
        assert shown == number[:-1][(times[:-1] < high) & (times[1:] > low)].max()


@given(st.lists(st.tuples(st.integers(-50, 50), st.integers(1, 20)), max_size=8), st.integers(-60, 60))
@settings(deadline=None)
def test_edges_pass_at_the_nearest_free_place(boxes: list[tuple[int, int]], wanted: int) -> None:
    row = [Box(float(x), 0.0, float(width), 10.0) for x, width in boxes]
    found = dfg_routes._gap(row, [float(wanted)], float(wanted))
    ends = [(box.left - 13, box.right + 13) for box in row] + [(wanted - 13.0, wanted + 13.0)]

    def free(x: float) -> bool:
        return not any(low < x < high for low, high in ends)

    assert free(found)
    assert abs(found - wanted) == min(abs(x - wanted) for pair in ends for x in pair if free(x))


@pytest.mark.slow
@given(_edges, st.integers(1, 9))
@settings(deadline=None, max_examples=60)
def test_edges_go_on_past_nodes_that_kept_their_places(edges: dict[tuple[int, int], int], known: int) -> None:
    early = {pair: count for pair, count in edges.items() if max(pair) < known}
    before = place(scene_of(numbered(early, known)))
    scene = scene_of(numbered({pair: 3 * count for pair, count in edges.items()}))
    layout = place(scene, before)
    for route in route_edges(scene, layout):
        source, target = layout.boxes[route.edge.source], layout.boxes[route.edge.target]
        if not (target.top >= source.bottom or target.bottom <= source.top):
            continue
        corners = [float(y) for y in re.findall(r"[-\d.]+,([-\d.]+)", route.path)][::3]
        steps = [(below - above) * (1 if target.y > source.y else -1) for above, below in pairwise(corners)]
        assert min(steps) >= -8.1, corners  # the arrowhead ends shortly before the end


def test_title_names_the_events() -> None:
    graph = checkpoint()
    assert scene_of(graph).title == "job 7"
    assert scene_of(graph.model_copy(update={"filter": "command=ls"})).title == "job 7: command=ls"
