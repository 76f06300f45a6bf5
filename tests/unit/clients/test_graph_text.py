"""Text output of ``iotide dfg``."""

from __future__ import annotations

import io

import pytest
from iotide.clients.dfg.text import _levels, outlier_lines, print_graph
from iotide.results.dfg import ActivityStats, Follows, Graph, GraphReport, Occurrence, Outlier, Timeline


def report(name: str = "write:/scratch", *, timeline: Timeline | None = None, dropped: int = 0) -> GraphReport:
    activity = ActivityStats(
        name=name, events=1234, seconds=1.5, load=1.0, bytes=4_000_000, rate=2e6, max_concurrency=4, exact=False,
        duration_p50_s=0.001, duration_p95_s=0.0000305, duration_max_s=0.5, cases=2, starts=2, ends=2,
    )  # fmt: skip
    graph = Graph(
        mapping="call+dirs:2", case="rank", cases=1, open_cases=0, activities=[activity],
        edges=[Follows(source=name, target=name, count=1232, mean_gap_s=-0.25)], events=1234, unmapped=dropped,
        dropped_activities=0, dropped_events=0, late_events=0, first_s=100.0, last_s=110.0,
    )  # fmt: skip
    return GraphReport(files=["a.st"], source="strace", wall_clock=True, graph=graph, timeline=timeline)


def printed(given: GraphReport) -> str:
    out = io.StringIO()
    print_graph(given, out, top=20)
    return out.getvalue()


def test_numbers_stand_whole_in_one_line_each() -> None:
    lines = [" ".join(line.split()) for line in printed(report("write:/" + "long" * 60)).splitlines()]
    assert lines[0].startswith("a.st strace, 1,234 events of 1 case by rank, 1 activity by call+dirs:2, over 10 s")
    assert "1.000 1.5 s 4.0 MB 2.0 MB/s 1,234 2 >= 4 write:/" + "long" * 60 in lines
    assert "1,232 -250 ms write:/" + "long" * 60 + " write:/" + "long" * 60 in lines


def test_omissions_are_reported() -> None:
    assert "7 events have no activity" in printed(report(dropped=7))
    assert "no activity" not in printed(report())


def test_names_of_files_cannot_change_the_terminal() -> None:
    text = printed(report("read:/\x1b[31m[bold]red[/bold]\udc80"))
    assert "read:/?[31m[bold]red[/bold]?" in text


def test_timeline_has_a_bar_for_each_case() -> None:
    events = [
        Occurrence(case=case, start_s=at, end_s=at + 5, bytes=None) for case, at in (("r0", 100.0), ("r1", 105.0))
    ]
    text = printed(report(timeline=Timeline(activity="write:/scratch", occurrences=events, left_out=3)))
    bars = {line.split()[0]: line.split("|")[1] for line in text.splitlines() if "|" in line}
    half = len(bars["r0"]) // 2
    assert bars["r0"][: half - 1].strip("█") == "" == bars["r0"][half + 1 :].strip()
    assert bars["r1"][: half - 1].strip() == "" == bars["r1"][half + 1 :].strip("█")
    assert "3 later events are left out" in text


@pytest.mark.parametrize(
    ("intervals", "expected"),
    [
        ([(0.0, 4.0)], [8, 8, 8, 8]),
        ([(1.0, 1.5)], [0, 4, 0, 0]),
        ([(0.5, 2.5)], [4, 8, 4, 0]),
        ([(3.0, 3.0)], [0, 0, 0, 1]),
        ([(4.0, 4.0)], [0, 0, 0, 1]),
        ([(0.0, 1.0), (0.0, 1.0)], [8, 0, 0, 0]),
    ],
)
def test_levels_are_the_share_of_each_column_that_was_busy(
    intervals: list[tuple[float, float]], expected: list[int]
) -> None:
    assert _levels(intervals, 4.0, 4) == expected


def test_verdict_names_the_distances() -> None:
    found = Outlier(names=["[x]", "y"], distances=[0.5, 0.25], usual=0.01, threshold=0.07, outlier=True)
    *distances, verdict = outlier_lines(found)
    assert distances == ["distance 0.5000 to \\[x]", "distance 0.2500 to y"]
    assert "unlike all of them" in verdict
    assert "0.2500; usual is 0.0100, the limit 0.0700" in verdict
