"""``iotide detect --plot`` and ``--replay`` on real files."""

from __future__ import annotations

import json
import os
import shutil
import struct
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
from iotide.results.traces.analysis import DetectionReport
from support.jobs.own_log import assert_period, even_run
from support.places import DATA
from support.system.commands import iotide
from support.tracing.programs import need

TRACE = DATA / "tmio-custom-ranks.json"


class Links(HTMLParser):
    """Collect the references of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [f"{tag} {value}" for name, value in attrs if name in {"src", "href", "srcset", "data"}]


def test_page_png_and_svg_of_a_real_trace(tmp_path: Path) -> None:
    for name in ("out.html", "out.png", "out.SVG"):
        done = iotide("detect", "--plot", name, DATA / "tmio-8ranks.jsonl", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert name in done.stderr
        assert "1.89" in done.stdout
    links = Links()
    links.feed((tmp_path / "out.html").read_text())
    assert links.found == []
    assert 1_000_000 < (tmp_path / "out.html").stat().st_size < 5_000_000
    png = (tmp_path / "out.png").read_bytes()
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">I", png[16:20])[0] == 1210
    assert len(png) < 1_000_000
    assert b"<svg" in (tmp_path / "out.SVG").read_bytes()[:1000]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.SVG", "out.html", "out.png"]


@pytest.mark.parametrize("name", ["out.pdf", "out", "nowhere/out.png"])
def test_missing_drawing_support_is_reported_before_the_trace_is_read(tmp_path: Path, name: str) -> None:
    done = iotide("detect", "--plot", name, tmp_path / "absent.jsonl", cwd=tmp_path)
    assert done.returncode == 2
    assert name in done.stderr
    assert ".html, .png or .svg" in done.stderr or "no folder" in done.stderr
    assert "absent" not in done.stderr


def test_input_is_never_overwritten(tmp_path: Path) -> None:
    trace = tmp_path / "trace.svg"
    shutil.copy(TRACE, trace)
    (tmp_path / "same.svg").symlink_to(trace)
    for name in ("trace.svg", "same.svg"):
        done = iotide("detect", "--plot", name, trace, cwd=tmp_path)
        assert done.returncode == 2
        assert "not overwritten" in done.stderr
    assert trace.read_bytes() == TRACE.read_bytes()


def test_older_picture_is_replaced_and_keeps_what_it_had_when_the_new_one_fails(tmp_path: Path) -> None:
    old = tmp_path / "out.svg"
    old.write_text("old")
    failed = iotide("detect", "--plot", old, tmp_path / "absent.jsonl", cwd=tmp_path)
    assert failed.returncode == 2
    assert old.read_text() == "old"
    assert iotide("detect", "--plot", old, TRACE, cwd=tmp_path).returncode == 0
    assert "<svg" in old.read_text()


@pytest.mark.parametrize(("library", "name"), [("matplotlib", "out.png"), ("bokeh", "out.html")])
def test_missing_library_is_named_with_what_installs_it(tmp_path: Path, library: str, name: str) -> None:
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    (hidden / f"{library}.py").write_text(f"raise ImportError('no {library} here')\n")
    done = iotide("detect", "--plot", name, TRACE, cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(hidden)})
    assert done.returncode == 1
    assert f"{library}: pip install 'iotide[plot]'" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / name).exists()


def test_replay_is_in_the_document_and_in_the_text(tmp_path: Path) -> None:
    done = iotide("detect", "--json", "--replay", TRACE, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    replay = DetectionReport.model_validate_json(done.stdout).analysis.replay
    assert replay is not None
    assert replay.phases == 8
    assert replay.compared == sum(step.error is not None for step in replay.steps) > 2
    made = [step.prediction.made_at_s for step in replay.steps]
    assert made == sorted(made)
    text = iotide("detect", "--replay", TRACE, cwd=tmp_path)
    assert text.returncode == 0
    assert "of the period in the median" in text.stdout
    assert "cut" in text.stdout


def test_replay_predicts_as_often_as_is_asked(tmp_path: Path) -> None:
    done = iotide("detect", "--json", "--replay", "--every", "2", TRACE, cwd=tmp_path)
    replay = json.loads(done.stdout)["analysis"]["replay"]
    made = [step["prediction"]["made_at_s"] for step in replay["steps"]]
    assert {round(later - made[at], 6) for at, later in enumerate(made[1:])} == {2.0}
    alone = iotide("detect", "--every", "2", TRACE, cwd=tmp_path)
    assert alone.returncode == 2
    assert "--replay" in alone.stderr


def test_replay_with_a_method_for_whole_traces_is_rejected(tmp_path: Path) -> None:
    done = iotide("detect", "--replay", "--sampling", "point", "--method", "reference", TRACE, cwd=tmp_path)
    assert done.returncode == 2
    assert "finished trace" in done.stderr
    drawn = iotide("detect", "--plot", "out.html", "--sampling", "point", "--method", "reference", TRACE, cwd=tmp_path)
    assert drawn.returncode == 0, drawn.stderr
    assert "No replay: " in (tmp_path / "out.html").read_text()


PHASES = """
import os, select, time
begun = time.time()
for step in range(8):
    print(time.time())
    with open('out', 'wb') as f: f.write(os.urandom(1 << 20))
    select.select([], [], [], max(0, begun + 0.3 * (step + 1) - time.time()))
"""


def straced(folder: Path) -> list[float]:
    """Run a program that writes every 0.3 s under strace; return the starts of its phases."""
    command = [need("strace"), "-f", "-tt", "-T", "-y", "-o", "trace.st", sys.executable, "-c", PHASES]
    said = subprocess.run(command, cwd=folder, check=True, stdout=subprocess.PIPE, text=True).stdout
    return [float(line) for line in said.split()]


def test_traced_program_is_drawn_with_its_phases(tmp_path: Path) -> None:
    starts, _ = even_run(straced, list, tmp_path, near=0.05)
    trace = sorted(tmp_path.glob("run*/trace.st"))[-1]
    done = iotide("detect", "--mode", "write", "--replay", "--json", "--plot", "out.html", trace, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    report = DetectionReport.model_validate_json(done.stdout)
    assert report.prediction.period_s is not None
    assert_period(report.prediction.period_s.value, starts, near=0.05)
    assert report.analysis.replay is not None
    assert 6 <= report.analysis.replay.phases <= 8
    assert "Prediction against truth" in (tmp_path / "out.html").read_text()
