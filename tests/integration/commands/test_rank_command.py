"""``iotide rank`` on real traces: components, leaders, the filtered trace, pictures, and rejected input."""

from __future__ import annotations

import gzip
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from iotide.archive.file.writer import ArchiveWriter
from iotide.cli.main import group
from iotide.events import Definitions, FileInfo, FileType, Kind, StreamInfo, make_batch
from support.places import DATA
from support.system.accessibility import LEAST_LETTERS
from support.system.browser import open_browser
from support.system.commands import iotide
from support.system.waiting import DEADLINE_S
from support.tracing.programs import need


def rank(*arguments: str | Path) -> Result:
    return CliRunner().invoke(group, ["rank", *map(str, arguments)])


def ranking(*arguments: str | Path) -> dict[str, Any]:
    done = rank("--json", *arguments)
    assert done.exit_code == 0, done.output
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def names(answer: dict[str, Any]) -> list[list[str]]:
    """Return the names in each component, highest rank first."""
    actors = answer["ranking"]["actors"]
    components = answer["ranking"]["components"]
    return [[actor["name"] for actor in actors if actor["component"] == one["number"]] for one in components]


@pytest.fixture(name="kernel_trace")
def _kernel_trace(tmp_path: Path) -> Path:
    path = tmp_path / "kernel.txt"
    path.write_bytes(gzip.decompress((DATA / "lttng.txt.gz").read_bytes()))
    return path


def test_the_busiest_processes_of_a_kernel_trace_lead(kernel_trace: Path) -> None:
    answer = ranking(kernel_trace)
    assert names(answer)[0] == ["sh", "lttng", "lttng-sessiond", "ls", "lttng"]
    assert names(answer)[1:] == [
        ["dlt-daemon", "dlt-system", "systemd-journal"],
        ["weston", "weston-desktop-"],
        ["systemd", "systemd-logind"],
    ]
    assert all(actor["name"].startswith(("kworker/", "migration/")) for actor in answer["ranking"]["pruned"])
    assert [file["path"] for file in answer["ranking"]["files"]] == ["/tmp/dlt"]
    assert answer["problems_total"] == 0


def test_the_filtered_trace_has_the_leaders_and_gives_the_same_ranking(kernel_trace: Path, tmp_path: Path) -> None:
    small = tmp_path / "small.txt"
    answer = ranking("--filter-out", small, kernel_trace)
    assert answer["all_events"] == kernel_trace.read_bytes().count(b"\n")
    assert 0 < answer["kept_events"] < answer["all_events"] / 2
    assert small.read_bytes().count(b"\n") == answer["kept_events"]
    assert set(small.read_bytes().splitlines()) <= set(kernel_trace.read_bytes().splitlines())
    again = ranking(small)
    assert names(again) == names(answer)
    one = ranking("--top", "1", "--filter-out", small, kernel_trace)
    assert one["kept_events"] < answer["kept_events"]


def test_perfs_trace_of_a_shell_pipeline_is_led_by_the_shell(tmp_path: Path) -> None:
    done = rank(DATA / "perf_sched.txt.gz")
    assert done.exit_code == 0
    assert "component 1  11 interact, 12 times" in done.stdout
    assert "0.750" in done.stdout.split("who")[1].splitlines()[1]
    assert "sh 27432" in done.stdout.split("who")[1].splitlines()[1]


def test_groups_that_little_joins_are_told_by_their_leaders(tmp_path: Path) -> None:
    pytest.importorskip("networkx")
    trace = tmp_path / "calls.jsonl"
    pairs = [(group * 10 + a, group * 10 + b) for group in (1, 2) for a in (1, 2, 3) for b in (1, 2, 3) if a != b]
    lines = []
    for at, (one, other) in enumerate([*pairs * 5, (11, 21)]):
        for call, pid, start in (("write", one, 3 * at), ("read", other, 3 * at + 1)):
            lines.append({"call": call, "path": f"/x/{one}-{other}", "start": start, "dur": 0.1, "size": 9, "pid": pid})
    trace.write_text("".join(json.dumps(line) + "\n" for line in lines))
    (component,) = ranking(trace)["ranking"]["components"]
    assert [group["actors"] for group in component["communities"]] == [3, 3]
    done = rank(trace)
    assert "2 communities" in done.stdout
    assert "  community 2: process " in done.stdout


def test_a_real_pipeline_under_strace_is_joined_by_its_pipes(tmp_path: Path) -> None:
    need("strace")
    trace = tmp_path / "pipe.st"
    pipeline = "cat /etc/passwd | sort | wc -l"
    tracer = ["strace", "-f", "-ttt", "-T", "-y", "-o", str(trace), "sh", "-c", pipeline]
    subprocess.run(tracer, check=True, capture_output=True, timeout=DEADLINE_S)
    answer = ranking(trace)
    assert sorted(names(answer)[0]) == ["cat", "sort", "wc"]
    assert {edge["kind"] for edge in answer["ranking"]["edges"]} == {"pipe"}
    small = tmp_path / "small.st"
    kept = ranking("--top", "1", "--filter-out", small, trace)
    leaders = {str(actor["tid"]) for actor in kept["ranking"]["actors"] if actor["tids"]}
    others = [line for line in small.read_text().splitlines() if line.split()[0] not in leaders]
    assert others
    assert all("clone" in line or "fork" in line for line in others)
    again = ranking(small)
    assert again["problems_total"] == 0
    assert again["ranking"]["events"] < answer["ranking"]["events"]


def test_an_archive_tells_processes_by_the_program_that_they_ran_last(tmp_path: Path) -> None:
    writer = ArchiveWriter()
    written = writer.begin({"job": "night"})
    # streams of an archive are unordered in time: process 8 was the shell before it became tar
    for pid, command, kind, start in (
        (9, "/usr/bin/gzip -1", Kind.READ, 20),
        (8, "/usr/bin/tar -c /home", Kind.WRITE, 10),
        (8, "/bin/sh backup.sh", Kind.OTHER, 5),
    ):
        info = StreamInfo(job="night", source="preload", host="n1", pid=pid, parent_pid=7, command=command)
        columns = {"start": start * 10**9, "duration": 10, "call": 1, "kind": int(kind), "file": 1, "bytes": 10}
        known = Definitions([(1, kind.name.lower())], [(1, FileInfo("pipe:[3]", FileType.PIPE))], [], [])
        stream = f"{pid}:{start}"
        written += writer.opened(stream, info) + writer.batch(stream, make_batch(1, columns), known)
    archive = tmp_path / "night.iotide"
    archive.write_bytes(written + writer.end())
    assert names(ranking(archive)) == [["gzip", "tar"]]


def test_a_trace_of_any_format_is_filtered_to_an_archive(tmp_path: Path) -> None:
    trace = tmp_path / "calls.jsonl"
    lines = []
    for at, pid in enumerate([4, 4, 4, 5, 5, 6, 7, 7]):
        what = (
            {"call": "write", "path": "/x/a"} if pid == 4 else {"call": "read", "path": f"/x/{'a' if pid < 7 else pid}"}
        )
        lines.append({**what, "start": at, "dur": 0.1, "size": 9, "pid": pid})
    trace.write_text("".join(json.dumps(line) + "\n" for line in lines))
    whole, small = tmp_path / "whole.iotide", tmp_path / "small.iotide"
    everything = ranking("--filter-out", whole, trace)
    assert (everything["kept_events"], everything["all_events"]) == (6, 8)
    first = ranking("--filter-out", small, "--top", "2", whole)
    assert (first["kept_events"], first["all_events"]) == (3, 6)
    assert [actor["pid"] for actor in first["ranking"]["actors"]] == [5, 6, 4]
    assert [actor["pid"] for actor in ranking(whole)["ranking"]["actors"]] == [5, 6, 4]
    assert ranking(small)["ranking"]["events"] == 3
    refused = rank("--filter-out", tmp_path / "small.txt", whole)
    assert refused.exit_code == 2
    assert "give a name that ends in .iotide" in refused.stderr


@pytest.mark.parametrize("form", ["dot", "svg", "png", "html", "json"])
def test_the_graph_is_drawn(form: str, tmp_path: Path) -> None:
    need("dot")
    trace = tmp_path / "calls.jsonl"
    hostile = '/x/<b>&\\"y'
    lines = [
        {"call": "write", "path": hostile, "start": 1, "dur": 0.1, "size": 9, "pid": 4},
        {"call": "read", "path": hostile, "start": 2, "dur": 0.1, "size": 9, "pid": 5},
    ]
    trace.write_text("".join(json.dumps(line) + "\n" for line in lines))
    target = tmp_path / f"graph.{form}"
    done = rank("-o", target, trace)
    assert done.exit_code == 0, done.output
    content = target.read_bytes()
    assert content.startswith(
        {"dot": b"digraph", "png": b"\x89PNG", "html": b"<!doctype", "json": b"{"}.get(form, b"<?xml")
    )
    if form == "html":
        assert b"<b>&" not in content
        assert b"process 5" in content
        assert b"default-src 'none'" in content  # for any file name, the page requests nothing from other hosts


def test_jobs_are_told_apart_by_their_files(tmp_path: Path) -> None:
    for name, call, start in (("flow", "write", 1), ("plot", "read", 2), ("other", "write", 3)):
        path = "/scratch/own" if name == "other" else "/scratch/field"
        line = {"call": call, "path": path, "start": start, "dur": 0.1, "size": 9, "pid": 4}
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(line) + "\n")
    answer = ranking("--by", "job", *sorted(tmp_path.glob("*.jsonl")))
    assert names(answer) == [["plot", "flow"]]
    assert answer["ranking"]["alone"] == 1


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["-o", "x.txt", "TRACE"], "expected a name that ends in"),
        (["--filter-out", "TRACE", "TRACE"], "not overwritten"),
        (["--filter-out", "small", "LOG"], "keeps lines of text"),
        (["--by", "planet", "TRACE"], "planet"),
    ],
)
def test_impossible_arguments_are_rejected_with_the_reason(arguments: list[str], told: str, tmp_path: Path) -> None:
    trace = tmp_path / "t.jsonl"
    trace.write_text('{"call": "write", "path": "/x", "start": 1, "dur": 0.1, "size": 9, "pid": 4}\n')
    log = tmp_path / "log.csv"
    log.write_text("case:concept:name,concept:name,time:timestamp\na,b,2020-01-01T00:00:00Z\n")
    known = {"TRACE": str(trace), "LOG": str(log)}
    done = rank(*(known.get(word, word) for word in arguments))
    assert done.exit_code == 2
    assert told in done.stderr


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    process = iotide("rank", "nowhere", cwd=tmp_path)
    assert process.returncode == 2
    assert "nowhere: cannot be read" in process.stderr


@pytest.mark.slow
def test_letters_of_the_page_are_readable_on_a_telephone(kernel_trace: Path, tmp_path: Path) -> None:
    """A desktop shrinks a large graph to the window. A telephone would, too, to letters of 5 px."""
    need("dot")
    need("chromium")
    made = tmp_path / "rank.html"
    assert rank("--output", made, kernel_trace).exit_code == 0
    with open_browser(tmp_path / "browser") as page:
        page.open(made.as_uri())
        page.resize(400, 900)
        assert page.value(LEAST_LETTERS) >= 9
        assert page.value("document.documentElement.scrollWidth") <= 400
