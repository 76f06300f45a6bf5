"""``iotide dfg`` as its users run it, on strace output of ``ls`` and ``ls -l`` (the first example of [DFG])."""

from __future__ import annotations

import itertools
import json
import re
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from iotide.cli.main import EXIT_USAGE
from iotide.collectors.source import Origin
from iotide.collectors.sources.registry import open_file, read_all
from support.formats.parsing import collect, only_stream
from support.system.commands import iotide, plain_environment
from support.tracing.programs import need

RANKS = (9042, 9043, 9045)
Edges = Counter[tuple[str, str]]


@pytest.fixture(scope="module")
def traces(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Record three runs of each command, named as in the paper."""
    folder = tmp_path_factory.mktemp("ls")
    (folder / "listed").mkdir()
    (folder / "listed" / "file").write_text("content")
    for rank in RANKS:
        for cid, command in (("a", ["ls"]), ("b", ["ls", "-l"])):
            strace = [need("strace"), "-f", "-tt", "-T", "-y", "-e", "trace=read,write,openat,close"]
            subprocess.run(
                [*strace, "-o", folder / f"{cid}_host1_{rank}.st", *command, folder / "listed"],
                check=True,
                capture_output=True,
                env=plain_environment(),
            )
    return folder


def files(folder: Path, pattern: str = "*.st") -> list[Path]:
    found = sorted(folder.glob(pattern))
    assert found
    return found


def report_of(folder: Path, *arguments: str | Path, **environment: str) -> dict[str, Any]:
    done = iotide("dfg", "--json", *arguments, cwd=folder, env=plain_environment(**environment))
    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def counted(paths: list[Path], keep: str = "") -> tuple[Edges, Counter[str], Counter[str], Counter[str]]:
    """Count edges, starts, ends and events of f^ (Eq. 4) call by call."""
    edges, starts, ends, events = Edges(), Counter[str](), Counter[str](), Counter[str]()
    for path in paths:
        rows = only_stream(collect(read_all(open_file(path, Origin(job="job"))))).rows()
        names = []
        for row in sorted(rows, key=lambda row: row["start"]):
            place = re.sub(r"^(pipe|socket):\[\d+\]$", r"\1", row["file"])
            place = re.sub(r"^/proc/\d+", "/proc/PID", place)
            top = ("/" if place.startswith("/") else "") + "/".join([part for part in place.split("/") if part][:2])
            if keep in row["file"]:
                names.append(f"{row['call']}:{top}" if top else row["call"])
        edges.update(itertools.pairwise(names))
        events.update(names)
        starts.update(names[:1])
        ends.update(names[-1:])
    return edges, starts, ends, events


def edges_of(graph: dict[str, Any]) -> Edges:
    return Edges({(edge["source"], edge["target"]): edge["count"] for edge in graph["edges"]})


@pytest.mark.parametrize("pattern", ["a_*.st", "b_*.st", "*.st"])
def test_graphs_of_both_commands_and_their_union_are_those_counted_by_hand(traces: Path, pattern: str) -> None:
    graph = report_of(traces, *files(traces, pattern))["graph"]
    edges, starts, ends, events = counted(files(traces, pattern))
    assert edges_of(graph) == edges
    rows = {row["name"]: row for row in graph["activities"]}
    assert {name: row["events"] for name, row in rows.items()} == events
    assert {name: row["starts"] for name, row in rows.items() if row["starts"]} == starts
    assert {name: row["ends"] for name, row in rows.items() if row["ends"]} == ends
    assert sum(row["load"] for row in rows.values()) == pytest.approx(1)
    assert (graph["cases"], graph["open_cases"]) == (len(files(traces, pattern)), 0)
    assert rows["read:/usr/lib" if "read:/usr/lib" in rows else "read:/lib"]["rate"] > 0


def test_filter_drops_events_before_edges_are_drawn(traces: Path) -> None:
    report = report_of(traces, "--filter", "path~/etc", *files(traces))
    edges, *_, events = counted(files(traces), keep="/etc")
    assert edges_of(report["graph"]) == edges
    assert report["filtered_out"] + sum(events.values()) == sum(counted(files(traces))[3].values())


def test_one_line_may_say_mapping_case_and_filter_and_options_go_on_from_there(traces: Path) -> None:
    line = "layer+call by host where call=read,openat"
    graph = report_of(traces, "--map", line, "--filter", "call!=openat", *files(traces))["graph"]
    assert (graph["mapping"], graph["case"], graph["cases"]) == ("layer+call", "host", 1)
    assert [row["name"] for row in graph["activities"]] == ["POSIX:read"]
    assert report_of(traces, "--map", line, "--case", "rank", *files(traces))["graph"]["cases"] == 3


def test_comparison_colours_what_only_one_command_does(traces: Path) -> None:
    report = report_of(traces, "--compare", "command=a", "trace=b_*", *files(traces))
    green, red = (counted(files(traces, pattern)) for pattern in ("a_*.st", "b_*.st"))
    comparison = report["comparison"]
    for row in comparison["nodes"]:
        inside = row["name"] in green[3], row["name"] in red[3]
        assert row["side"] == {(True, True): "both", (True, False): "green", (False, True): "red"}[inside]
    sides = {row["side"] for row in comparison["nodes"]}
    assert "red" in sides  # ls -l looks up users and groups
    assert 0 < comparison["distance"] < 1
    assert comparison["distance"] == pytest.approx(sum(abs(row["share_difference"]) for row in comparison["edges"]) / 2)
    assert edges_of(report["graph"]) == green[0] + red[0]
    assert report["graph"]["cases"] == 6
    same = report_of(traces, "--compare", *[f"a_host1_{rank}.st" for rank in RANKS[:2]])
    assert same["comparison"]["distance"] == 0


def test_cases_of_both_sides_stay_apart_in_their_union(traces: Path) -> None:
    report = report_of(traces, "--case", "host", "--compare", "command=a", "command=b", *files(traces))
    assert report["graph"]["cases"] == 2


def test_text_tables_fit_and_name_the_compared_graphs(traces: Path) -> None:
    done = iotide("dfg", "--top", "3", *files(traces), cwd=traces)
    assert done.returncode == 0
    assert "6 cases by stream" in done.stdout
    assert re.search(r"what follows what\s+count +mean gap +from +to", done.stdout)
    assert re.search(r"\d+ more \(--top", done.stdout)
    assert "…" not in done.stdout
    done = iotide("dfg", "--compare", "command=a", "command=b", *files(traces), cwd=traces)
    assert re.search(r"green +command=a\nred +command=b\ndistance 0\.\d{4}", done.stdout)


def test_event_logs_give_the_same_graph_again(traces: Path, tmp_path: Path) -> None:
    expected = report_of(traces, *files(traces))["graph"]
    for name in ("log.h5", "log.csv", "log.parquet", "log.xes"):
        done = iotide("dfg", "--log", tmp_path / name, *files(traces), cwd=traces)
        assert (done.returncode, done.stdout) == (0, ""), done.stderr
        graph = report_of(tmp_path, name)["graph"]
        assert {**graph, "job": ""} == {**expected, "job": ""}, name
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_event_log_is_read_by_the_other_commands(traces: Path, tmp_path: Path) -> None:
    iotide("dfg", "--log", tmp_path / "log.h5", *files(traces), cwd=traces)
    done = iotide("detect", "--json", "log.h5", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    direct = iotide("detect", "--json", *files(traces), cwd=traces)
    found, expected = (json.loads(text.stdout) for text in (done, direct))
    keys = ("events", "bytes_read", "bytes_written", "start_s", "end_s")
    assert {key: found[key] for key in keys} == {key: expected[key] for key in keys}
    assert found["source"] == "hdf5"


def test_archives_of_runs_are_set_against_one_another(tmp_path: Path) -> None:
    for name, command in (("one", "cat /etc/passwd > out"), ("two", "cat /etc/passwd > out; rm out")):
        done = iotide("run", "--job", name, "--", "sh", "-c", command, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    first, second = (next(tmp_path.glob(f"iotide-{name}/*.iotide")) for name in ("one", "two"))
    report = report_of(tmp_path, "--map", "kind", "--compare", first, second)
    sides = {row["name"]: row["side"] for row in report["comparison"]["nodes"]}
    assert sides["delete"] == "red"
    assert sides["read"] == "both"


def test_run_is_set_against_earlier_ones(traces: Path, tmp_path: Path) -> None:
    for rank in RANKS:
        name = f"b_host1_{rank}"
        done = iotide("dfg", "-o", tmp_path / f"{name}.json", f"{name}.st", cwd=traces)
        assert done.returncode == 0, done.stderr
    usual = report_of(traces, "--baseline", str(tmp_path / "b*.json"), "b_host1_9042.st")["outlier"]
    other = report_of(traces, "--baseline", str(tmp_path / "b*.json"), "a_host1_9042.st")["outlier"]
    assert (usual["outlier"], other["outlier"]) == (False, True)
    assert len(other["distances"]) == 3
    done = iotide("dfg", "--baseline", "b_host1_9042.st", "a_host1_9042.st", cwd=traces)
    assert re.search(r"distance 0\.\d{4} to b_host1_9042.st\ntoo few others", done.stdout)
    done = iotide("dfg", "--map", "call", "--baseline", tmp_path / "b_host1_9042.json", "a_host1_9042.st", cwd=traces)
    assert done.returncode == EXIT_USAGE
    assert "is a graph of call+dirs:2 by stream, not of call by stream" in done.stderr


def test_timeline_shows_each_case(traces: Path, tmp_path: Path) -> None:
    activity = max(report_of(traces, *files(traces))["graph"]["activities"], key=lambda row: row["events"])
    done = iotide("dfg", "--timeline", activity["name"], *files(traces), cwd=traces)
    bars = re.findall(r"_(\d+)\.st +\|(.+)\| (\d+)$", done.stdout, re.MULTILINE)
    assert sorted(int(rank) for rank, *_ in bars) == sorted(RANKS * 2)
    assert sum(int(number) for *_, number in bars) == activity["events"]
    assert all(bar.strip() for _, bar, _ in bars)
    done = iotide("dfg", "--timeline", activity["name"], "-o", tmp_path / "x.json", *files(traces), cwd=traces)
    timeline = json.loads((tmp_path / "x.json").read_text())["timeline"]
    assert len(timeline["occurrences"]) == activity["events"]
    assert sum(row["end_s"] - row["start_s"] for row in timeline["occurrences"]) == pytest.approx(
        activity["seconds"], rel=0.05, abs=1e-5
    )


def test_mapping_by_site_and_by_rules(traces: Path, tmp_path: Path) -> None:
    by_site = report_of(traces, "--map", "call+site", *files(traces), SCRATCH="/usr")["graph"]
    assert any(row["name"].endswith(":$SCRATCH") for row in by_site["activities"])
    (tmp_path / "my.rules").write_text("library  open.*|read  \\.so\n")
    some = report_of(traces, "--filter", "command=a", "--filter", "call=read", *files(traces))["graph"]
    assert some["filter"] == "command=a call=read"
    by_rules = report_of(traces, "--map", f"rules:{tmp_path}/my.rules", *files(traces))["graph"]
    assert [row["name"] for row in by_rules["activities"]] == ["library"]
    assert by_rules["unmapped"] > 0
    assert edges_of(by_rules) == {("library", "library"): by_rules["events"] - 6}


@pytest.mark.parametrize("name", ["x.dot", "x.html", "x.graphml", "x.svg"])
def test_pictures_appear(traces: Path, tmp_path: Path, name: str) -> None:
    if name == "x.svg":
        need("dot")
    done = iotide("dfg", "--compare", "command=a", "command=b", "-o", tmp_path / name, *files(traces), cwd=traces)
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert b"openat:" in (tmp_path / name).read_bytes()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "Missing argument 'FILE...'"),
        (["--map", "call+dir:2", "a_host1_9042.st"], "character 6: 'dir' is no part of a name"),
        (["--case", "thread", "a_host1_9042.st"], "this is no case; expected stream, pid"),
        (["--filter", "rank=x", "a_host1_9042.st"], "character 6: 'x' is no rank"),
        (["--filter", "call=nothing", "a_host1_9042.st"], "matches none of the"),
        (["--map", "rules:absent", "a_host1_9042.st"], "absent: cannot be read"),
        (["--site", "SCRATCH", "a_host1_9042.st"], "expected NAME=FOLDER"),
        (["--compare", "command=a", "command=b", "a_host1_9042.st"], "--compare RED command=b: no event"),
        (["--compare", "rank=9042", "command=a", "a_host1_9042.st"], "are on both sides"),
        (["--compare", "rank=", "command=a", "a_host1_9042.st"], "a value of rank is missing"),
        (["--timeline", "nothing", "a_host1_9042.st"], "there is no such activity; the most frequent are"),
        (["--timeline", "x", "--compare", "command=a", "command=b", "a_host1_9042.st"], "give one of them"),
        (["--baseline", "none*", "a_host1_9042.st"], "none*: there is no such file"),
        (["-o", "x.gif", "a_host1_9042.st"], "x.gif: the name must end in one of"),
        (["-o", "a_host1_9042.st", "a_host1_9042.st"], "that is an input, which is not overwritten"),
        (["-o", "absent/x.svg", "a_host1_9042.st"], "there is no folder absent"),
        (["--log", "x.txt", "a_host1_9042.st"], "x.txt: the name must end in one of .h5"),
        (["absent.st"], "absent.st: cannot be read"),
    ],
)
def test_wrong_usage_is_reported_and_nothing_is_written(traces: Path, arguments: list[str], message: str) -> None:
    before = sorted(traces.iterdir())
    done = iotide("dfg", *arguments, cwd=traces)
    assert done.returncode == EXIT_USAGE
    assert message in " ".join(done.stderr.split())
    assert done.stdout == ""
    assert sorted(traces.iterdir()) == before


def test_malformed_lines_are_named_and_cost_themselves(traces: Path, tmp_path: Path) -> None:
    text = (traces / "a_host1_9042.st").read_text()
    (tmp_path / "a_host1_1.st").write_text(text + "garbage\n")
    done = iotide("dfg", "--json", "a_host1_1.st", cwd=tmp_path)
    report = json.loads(done.stdout)
    assert done.returncode == 0
    assert f"a_host1_1.st:{len(text.splitlines()) + 1}: " in done.stderr
    assert report["problems_total"] == 1
    assert edges_of(report["graph"]) == counted([traces / "a_host1_9042.st"])[0]
