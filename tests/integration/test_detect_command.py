"""``iotide detect`` on the samples of the reference's tracer, and on broken input."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from iotide.events.analysis import DetectionReport
from support.commands import iotide

DATA = Path(__file__).parent.parent / "data"
REFERENCE = ("--method", "reference", "--sampling", "point", "--mode", "write", "-f", "10")


def detection(*arguments: str | Path, cwd: Path) -> DetectionReport:
    done = iotide("detect", "--json", *arguments, cwd=cwd)
    assert done.returncode == 0, done.stderr
    return DetectionReport.model_validate_json(done.stdout)


@pytest.mark.parametrize(
    ("name", "period_s", "confidence"),
    [
        ("tmio-8ranks.jsonl", 1.9267, 0.6774),
        ("tmio-8ranks.msgpack", 1.9267, 0.6774),
        ("tmio-custom-ranks.json", 2.6875, 1.0),
    ],
)
def test_reference_method_gives_the_reference_answer(
    tmp_path: Path, name: str, period_s: float, confidence: float
) -> None:
    prediction = detection(*REFERENCE, DATA / name, cwd=tmp_path).prediction
    assert prediction.period_s is not None
    assert prediction.period_s.value == pytest.approx(period_s, abs=5e-4)
    # The MessagePack form rounds its bandwidths, which moves the confidence in the third digit.
    assert prediction.confidence == pytest.approx(confidence, abs=1e-3)


def test_broken_line_is_named_and_the_rest_is_kept(tmp_path: Path) -> None:
    trace = tmp_path / "calls.jsonl"
    good = [
        {"call": "write", "path": "/scratch/out", "pid": 1, "start": 1.0 * at, "dur": 0.2, "size": 1_000_000}
        for at in range(20)
    ]
    lines = [json.dumps(row) for row in good]
    lines[7] = '{"call": "write", "start": '
    trace.write_text("\n".join(lines) + "\n")
    done = iotide("detect", "--json", trace, cwd=tmp_path)
    report = DetectionReport.model_validate_json(done.stdout)
    assert done.returncode == 0
    assert report.events == 19
    assert report.problems_total == 1
    assert report.problems[0].line == 8
    assert f"{trace}:8: " in done.stderr
    assert "expected" in done.stderr
    assert report.prediction.period_s is not None
    assert report.prediction.period_s.value == pytest.approx(1.0, rel=0.02)


@pytest.mark.parametrize("content", [b"", b"\x00\x01\x02 nothing we know", b"{}\n"])
def test_unreadable_input_ends_with_status_2_and_says_what_was_expected(tmp_path: Path, content: bytes) -> None:
    trace = tmp_path / "strange"
    trace.write_bytes(content)
    done = iotide("detect", trace, cwd=tmp_path)
    assert done.returncode == 2
    assert str(trace) in done.stderr
    assert "expected" in done.stderr
    assert not done.stdout


def test_missing_file_ends_with_status_2(tmp_path: Path) -> None:
    done = iotide("detect", tmp_path / "absent.jsonl", cwd=tmp_path)
    assert done.returncode == 2
    assert "absent.jsonl" in done.stderr


def test_text_for_people_names_the_period(tmp_path: Path) -> None:
    done = iotide("detect", *REFERENCE, DATA / "tmio-custom-ranks.json", cwd=tmp_path)
    assert done.returncode == 0
    assert "2.6875 s" in done.stdout


def test_real_strace_sample_is_read(tmp_path: Path) -> None:
    report = detection(DATA / "strace_pipe.txt", cwd=tmp_path)
    assert report.source == "strace"
    assert report.events > 100
