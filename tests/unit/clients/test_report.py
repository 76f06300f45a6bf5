"""The report: sections in order, escaped texts, no empty pictures, from a job's findings."""

from __future__ import annotations

import doctest
import html
import itertools
import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from iotide.analyzers.heat_map.update import _process_name, _rank_name
from iotide.clients.pages.live_pages import job_page
from iotide.clients.report.charts import heat_map_chart
from iotide.clients.report.charts.heat_map_chart import heat_picture, shown_rows
from iotide.clients.report.job_data import JobData
from iotide.clients.report.report import write_report
from iotide.clients.report.sections import inside_job as inside
from iotide.clients.report.sections import io_cost as cost
from iotide.clients.report.sections.overview import _sentences
from iotide.daemon.jobs.job_findings import findings_of
from iotide.daemon.jobs.job_summary import detail_of
from iotide.daemon.jobs.job_view import view_of
from iotide.daemon.jobs.session import JobSession
from iotide.daemon.settings import AggregatorSettings
from iotide.events import BatchJob, Definitions, FileInfo, Kind, StreamInfo, make_batch
from iotide.results.advice import Advice, AdviceFinding, Destination, Spent
from iotide.results.findings import NO_FINDINGS, Findings
from iotide.results.jobs.heat_map import HeatMap, HeatRow
from iotide.results.jobs.job import FileTotal
from iotide.results.jobs.run import RunSummary, UnseenProgram
from iotide.results.layers import Mount
from msgspec import structs
from support.jobs.graphs import activity, graph_of
from support.jobs.result_factories import make_prediction, make_signal, make_summary

ZERO_S = 1_700_000_000.0
HOSTILE = "</td><script>alert('x')</script><img src=x onerror=alert(1)>&\"'\x00\x1b[2J\n"


def session_of(name: str = "sim", count: int = 400, kinds: tuple[Kind, ...] = (Kind.WRITE,)) -> JobSession:
    """A job of two ranks whose texts are all ``name``."""
    session = JobSession(name, AggregatorSettings(), ZERO_S)
    defined = Definitions([(1, f"write{name}")], [(1, FileInfo(f"/scratch/{name}")), (2, FileInfo("/usr/lib/libc.so"))])
    for rank in (0, 1):
        info = StreamInfo(job=name, source="test", host=f"n{name}", command=f"{name} -x", rank=rank, ranks=2)
        session.open_stream(f"s{rank}", info, ZERO_S)
        start = np.rint((ZERO_S + 0.02 * np.arange(count)) * 1e9).astype(np.int64)
        kind = [int(kinds[at % len(kinds)]) for at in range(count)]
        columns = {"start": start, "duration": 10**6 * (rank + 1), "bytes": 4096, "requested": 4096, "kind": kind}
        batch = make_batch(count, columns | {"file": 1, "call": 1, "layer": 1, "rank": rank})
        session.update(f"s{rank}", batch, defined, ZERO_S + 60)
    return session


def page_of(session: JobSession, folder: Path, findings: Findings | None = None) -> str:
    now_s = ZERO_S + 10
    summary = RunSummary(
        command=[session.job],
        started_at_s=ZERO_S,
        ended_at_s=now_s,
        exit_status=0,
        job=detail_of(session, now_s),
        prediction=session.predict(now_s, whole=True),
        predictions=1,
        report=None,
        unseen=[UnseenProgram(program=session.job, reason=session.job, times=2)],
    )
    found = findings_of(session)() if findings is None else findings
    return write_report(folder, summary, list(session.history), session.signal(), found).read_text()


def text_of(page: str) -> str:
    bare = re.sub(r"<(style|svg).*?</\1>|<[^>]*>", " ", page, flags=re.DOTALL)
    return re.sub(r"\s+", " ", html.unescape(bare))


def test_title_has_the_name_that_the_batch_system_knows(tmp_path: Path) -> None:
    session = session_of("7")
    session.batch = BatchJob(name="<melt>", array_task="4_2")
    page = page_of(session, tmp_path)
    assert "<title>iotide: 7 (4_2 &lt;melt&gt;)</title>" in page
    assert "<h1>7 (4_2 &lt;melt&gt;)</h1>" in page
    view = view_of(session, ZERO_S + 10, archives=False)
    assert "<title>iotide: 7 (4_2 &lt;melt&gt;)</title>" in job_page(view(), "jobs/7")


@pytest.mark.parametrize(
    ("sizes", "told"),
    [
        ({"/s/out.0.csv": 5, "/s/out.1.csv": 4, "/s/log": 6}, "60 % of it in 2 files /s/out.#.csv."),
        ({"/s/out.0.csv": 5, "/s/out.1.csv": 5}, "all of it in 2 files /s/out.#.csv."),
        ({"/s/run1/out": 5, "/s/log": 5000}, "100 % of it in /s/log."),
        ({f"/s/{'x' * at}": 5 for at in range(1, 40)}, "on average."),
    ],
)
def test_files_whose_names_differ_only_in_numbers_are_named_together(sizes: dict[str, int], told: str) -> None:
    files = [
        FileTotal(path=path, calls=1, bytes_read=0, bytes_written=size, seconds=1.0) for path, size in sizes.items()
    ]
    job = detail_of(session_of(), ZERO_S + 10).model_copy(
        update={"files": files, "bytes_read": 0, "bytes_written": sum(sizes.values())}
    )
    (line,) = [
        each
        for each in _sentences(JobData(job, None, 0, ZERO_S, ZERO_S + 10), NO_FINDINGS)
        if each.startswith("It wrote")
    ]
    assert line.endswith(told)


@pytest.mark.parametrize("module", [cost, inside, heat_map_chart])
def test_examples_in_docstrings_hold(module: object) -> None:
    failed, attempted = doctest.testmod(module)  # type: ignore[arg-type]
    assert attempted
    assert not failed


def test_sections_come_in_the_order_of_the_questions(tmp_path: Path) -> None:
    page = page_of(session_of(), tmp_path / "r")
    heads = re.findall(r"<h2>(.*?)</h2>", page)
    wanted = [
        "What it did",
        "What to change",
        "Confidence and completeness",
        "Who does I/O when",
        "Layers",
        "What follows what",
        "Largest files",
        "Calls on its data",
        "Access sizes",
        "Access pattern",
    ]
    assert [head for head in heads if head in wanted] == wanted
    assert heads[2].startswith("Bandwidth")


def test_cost_is_the_share_of_the_slowest_member(tmp_path: Path) -> None:
    text = text_of(page_of(session_of(), tmp_path / "r"))
    assert "Calls on its data took 8.0 % of the run of rank 1 (800 ms), and 6.0 % on average" in text


def test_cost_is_that_of_the_advice_where_there_is_some(tmp_path: Path) -> None:
    """A compiler's successive processes are one process for the advice, and many for the heat map."""
    found = structs.replace(findings_of(session_of())(), advice=advice_of("").model_copy(update={"slowest": "cc1"}))
    text = text_of(page_of(session_of(), tmp_path / "r", found))
    assert "Calls on its data took 20 % of the run of cc1 (2 s)" in text
    assert "In I/O 20 % of the time of cc1" in text


def test_two_predictions_do_not_settle(tmp_path: Path) -> None:
    for count in (2, 3):
        page = write_report(
            tmp_path / f"r{count}", make_summary(["x"]), count * [make_prediction()], make_signal(), NO_FINDINGS
        ).read_text()
        assert page.count("<svg xmlns") == count - 1


def test_names_from_programs_are_escaped_in_every_section(tmp_path: Path) -> None:
    page = page_of(session_of(HOSTILE), tmp_path / "r")
    assert "<script" not in page
    assert "<img" not in page
    assert page.count("&lt;script&gt;") > 10


def test_page_asks_for_nothing_from_elsewhere(tmp_path: Path) -> None:
    page = page_of(session_of(), tmp_path / "r")
    assert not re.findall(r"(?:src|href)=\"(?!(?:summary|signal)\.json|predictions\.jsonl)[^\"]*\"", page)
    assert "url(" not in page


def test_job_without_findings_has_no_empty_section(tmp_path: Path) -> None:
    page = write_report(
        tmp_path / "r", make_summary(["x"]), [make_prediction()], make_signal(), NO_FINDINGS
    ).read_text()
    for head in ("Who does I/O when", "Layers", "Access sizes", "What follows what", "Who interacts"):
        assert head not in page
    assert "Nothing stands out" in page


def test_calls_that_were_lost_are_told_before_completeness_is_claimed(tmp_path: Path) -> None:
    session = session_of()
    session.losses.add({"events_dropped:ring_full": 7})  # type: ignore[arg-type]
    text = text_of(page_of(session, tmp_path / "r"))
    assert "Lost on the way" in text
    assert "Nothing is known to be missing" not in text


def advice_of(name: str) -> Advice:
    finding = AdviceFinding(
        cause="small_requests",
        title=f"1,600 writes of 4 KiB {name}", why=f"each costs {name}", change=f"buffer {name}",
        seconds=2.0, share=0.2, gain_s=1.5, gain_share=0.15, calls=1600, bytes=6_553_600, files=2,
        examples=[f"/scratch/{name}"], slowest=f"rank {name}", first_s=ZERO_S + 1, last_s=ZERO_S + 3,
    )  # fmt: skip
    return Advice(
        events=1600, first_s=ZERO_S, last_s=ZERO_S + 10, run_s=10.0, lanes=1, slowest="rank 0", spent=Spent(), io_s=2.0,
        io_share=0.2, system_s=0.0, waiting_s=0.0, bytes_read=0, bytes_written=6_553_600, destinations=[],
        findings=[finding], floor_share=0.01,
    )  # fmt: skip


def test_advice_has_the_cost_and_the_saving(tmp_path: Path) -> None:
    found = structs.replace(findings_of(session_of())(), advice=advice_of("!"))
    text = text_of(page_of(session_of(), tmp_path / "r", found))
    assert "1,600 writes of 4 KiB ! buffer !" in text
    assert "costs 2 s, 20 % of the run; the change saves about 1.5 s, 15 %; 1,600 calls, 6.6 MB, 2 files" in text
    assert "from 1 s to 3 s" in text


def test_advice_is_escaped(tmp_path: Path) -> None:
    found = structs.replace(findings_of(session_of())(), advice=advice_of(HOSTILE))
    page = page_of(session_of(), tmp_path / "r", found)
    assert "<script" not in page
    assert "<img" not in page


def test_advice_without_findings_reports_the_threshold(tmp_path: Path) -> None:
    found = Findings(advice=advice_of("").model_copy(update={"findings": []}))
    text = text_of(page_of(session_of(), tmp_path / "r", found))
    assert "Nothing was found in what was recorded whose change would save 1 % of the run or more" in text


def test_file_system_of_the_data_is_named_not_that_of_devices(tmp_path: Path) -> None:
    """A copy of /dev/zero reads as much from /dev as it writes, and only the writes are its data."""
    found = findings_of(session_of())()
    assert found.layers is not None
    mounts = [
        Mount(
            mount_point=place, filesystem=kind, scope="local", hosts=1, files=1, calls=9, bytes_read=read,
            bytes_written=written, seconds=1.0,
        )
        for place, kind, read, written in (("/dev", "devtmpfs", 10**7, 100), ("/data", "ext4", 0, 10**7))
    ]  # fmt: skip
    found = structs.replace(found, layers=found.layers.model_copy(update={"mounts": mounts}), advice=None)
    text = text_of(page_of(session_of(), tmp_path / "r", found))
    assert "Most of it is on /data (ext4, local to a node)." in text
    destination = Destination(place="/data", type="ext4", bytes_read=0, bytes_written=10**7, seconds=1.0, rate=None)
    advice = advice_of("").model_copy(update={"destinations": [destination]})
    text = text_of(page_of(session_of(), tmp_path / "r", structs.replace(found, advice=advice)))
    assert "Most of it is on /data" in text


def heat_of(rows: int, bins: int = 4) -> HeatMap:
    made = [
        HeatRow(name=f"rank {at}", members=1, read=[0.0] * bins, written=[0.5 / (at + 1)] * bins, other=[0.0] * bins)
        for at in range(rows)
    ]
    return HeatMap(job="j", start_s=0.0, bin_s=1.0, members=rows, rows=made)


def test_rows_with_little_time_are_left_out_and_the_others_keep_their_order() -> None:
    heat = heat_of(300)
    shown = shown_rows(heat)
    assert len(shown) == 48
    assert [row.name for row in shown] == [f"rank {at}" for at in range(48)]
    assert heat_picture(heat, shown).count("<text") < 80


@pytest.mark.parametrize("rows", [1, 12, 25, 48])
def test_labels_of_rows_do_not_overlap(rows: int) -> None:
    heat = heat_of(rows)
    picture = ElementTree.fromstring(heat_picture(heat, heat.rows))
    labels = [each for each in picture.iter("{http://www.w3.org/2000/svg}text") if each.get("text-anchor") == "end"]
    lines = [float(each.get("y", "")) for each in labels]
    assert len(lines) == rows
    assert all(below - above >= 12 for above, below in itertools.pairwise(lines))  # 12 is the size of the letters


@pytest.mark.parametrize("command", ["", "cat", "cat /etc/passwd /etc/group"])
@pytest.mark.parametrize("host", ["", "vm", "node17", "login1.cluster.example.org"])
@pytest.mark.parametrize("more", ["", " and 3 more"])
def test_labels_of_processes_are_short_and_differ(command: str, host: str, more: str) -> None:
    names = [_process_name(host, pid, command if host else "") + more for pid in (4687, 4688, 1234567)]
    rows = [HeatRow(name=name, members=1, read=[1.0], written=[0.0], other=[0.0]) for name in names]
    picture = heat_picture(HeatMap(job="j", start_s=0.0, bin_s=1.0, members=2, rows=rows), rows)
    labels = re.findall(r"</title>([^<]*)</text>", picture)
    assert len(set(labels)) == len(names)
    assert max(map(len, labels)) <= 26


def test_mean_cost_is_that_of_the_ranks() -> None:
    """The launcher has no rank, and a rank without I/O is one of the ranks."""
    job = detail_of(session_of(), ZERO_S + 10).model_copy(update={"ranks": 4})
    of_ranks = {_rank_name(0, 0): 2.0, _rank_name(1, 2): 4.0}
    of_others = {_process_name("n1", 17, "mpirun -n 4 ./a"): 1.0, _process_name("n1", 18, "rank.sh"): 1.0}
    rows = [
        HeatRow(name=name, members=1 + (name == _rank_name(1, 2)), read=[seconds], written=[0.0], other=[0.0])
        for name, seconds in (of_ranks | of_others).items()
    ]
    heat = HeatMap(job="j", start_s=0.0, bin_s=10.0, members=5, rows=rows)
    found = cost.io_cost(structs.replace(NO_FINDINGS, heat=heat), job, 10.0)
    assert found is not None
    assert found.mean_share == pytest.approx(0.15)


@given(st.text(max_size=60))
def test_names_in_the_heat_map_are_escaped(name: str) -> None:
    row = HeatRow(name=f"<b>{name}", members=1, read=[1.0], written=[0.0], other=[0.0])
    assert "<b>" not in heat_picture(HeatMap(job="j", start_s=0.0, bin_s=1.0, members=1, rows=[row]), [row])


def test_ranking_is_left_out_where_it_is_not_wanted() -> None:
    assert findings_of(session_of(), ranking=False)().ranking is None
    assert findings_of(session_of())().ranking is not None


def test_analysis_that_fails_is_missing_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    session = session_of()

    def broken(self: object) -> object:
        raise ValueError("broken")

    from iotide.analyzers.heat_map.update import HeatMapAnalyzer

    monkeypatch.setattr(HeatMapAnalyzer, "deferred_result", broken)
    found = findings_of(session)()
    assert found.heat is None
    assert found.layers is not None
    assert [row.analysis for row in session.failures.summaries()] == ["heatmap"]


def follows_of(session: JobSession, *files: int) -> JobSession:
    """Let a job use files, given by number, one after the other."""
    start = np.rint((ZERO_S + 20 + 0.01 * np.arange(len(files))) * 1e9).astype(np.int64)
    columns = {"start": start, "duration": 10**6, "kind": int(Kind.OTHER), "file": list(files), "call": 1, "layer": 1}
    session.update("s0", make_batch(len(files), columns), Definitions(), ZERO_S + 60)
    return session


def test_order_of_files_covers_program_data_only(tmp_path: Path) -> None:
    found = findings_of(follows_of(session_of(), *[1, 2, 2, 2] * 40))()
    assert found.graph is not None
    by_name = {row.name: row.on_data for row in found.graph.activities}
    assert by_name == {"writesim:/scratch/sim": True, "writesim:/usr/lib": False}
    assert any("/usr/lib" in row.target for row in found.graph.edges)
    assert {row.source for row in inside.on_data(found.graph).edges} == {"writesim:/scratch/sim"}
    page = page_of(session_of(), tmp_path / "r", found)
    assert "What follows what" in page
    assert "/usr/lib" not in page


@given(
    st.lists(st.tuples(*[st.sampled_from([HOSTILE, *(f"read:/d{at}" for at in range(30))])] * 2), max_size=60),
    st.sampled_from([None, True, False]),
)
def test_graph_is_drawn_whatever_its_activities_are_called(pairs: list[tuple[str, str]], on_data: bool | None) -> None:
    names = dict.fromkeys(name for pair in pairs for name in pair)
    activities = [activity(name, on_data=True if at else on_data) for at, name in enumerate(names)]
    graph = graph_of(activities, dict.fromkeys(pairs, 7))
    text = "".join(inside.graph(None, Findings(graph=graph)))  # type: ignore[arg-type]
    if not text:
        return
    picture = text[text.index("<svg") : text.index("</svg>") + 6]
    svg = ElementTree.fromstring(picture)
    assert 1 <= len(svg.findall(".//{http://www.w3.org/2000/svg}rect")) <= 10
    if on_data is False:
        assert next(iter(names)) not in {row.name for row in inside.on_data(graph).activities}
