"""``iotide detect`` on the samples of the reference's tracer, and on broken input."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from iotide.results.traces.analysis import DetectionReport
from support.jobs.own_log import assert_period, even_run
from support.places import DATA
from support.system.commands import iotide
from support.tracing.programs import need

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
    # The MessagePack form rounds its bandwidths, which changes the third digit of the confidence.
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
def test_unreadable_input_ends_with_status_2_and_the_expected_formats(tmp_path: Path, content: bytes) -> None:
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


def ranks_and_files(path: Path) -> Path:
    """Two ranks on two nodes: rank 0 writes every 2 s, rank 1 reads every 3 s; a third file is touched once."""
    rows = [
        {
            "call": "write",
            "path": "/scratch/out",
            "rank": 0,
            "host": "n0",
            "start": 100 + 2.0 * at,
            "dur": 0.2,
            "size": 10**6,
        }
        for at in range(30)
    ]
    rows += [
        {
            "call": "read",
            "path": "/scratch/in",
            "rank": 1,
            "host": "n1",
            "start": 100 + 3.0 * at,
            "dur": 0.3,
            "size": 10**5,
        }
        for at in range(20)
    ]
    rows.append(
        {"call": "read", "path": "/scratch/conf", "rank": 1, "host": "n1", "start": 100.5, "dur": 0.1, "size": 40}
    )
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def periods_of(report: DetectionReport) -> dict[str, float | None]:
    assert report.analysis.grouping is not None
    return {
        row.name: row.prediction.period_s.value if row.prediction and row.prediction.period_s else None
        for row in report.analysis.grouping.groups
    }


@pytest.mark.parametrize(
    ("by", "names"),
    [
        ("rank", ["rank 0", "rank 1"]),
        ("host", ["n0", "n1"]),
        ("file", ["/scratch/out", "/scratch/in", "/scratch/conf"]),
    ],
)
def test_each_rank_node_and_file_has_its_own_answer(tmp_path: Path, by: str, names: list[str]) -> None:
    trace = ranks_and_files(tmp_path / "calls.jsonl")
    report = detection("--by", by, "--mode", "all", trace, cwd=tmp_path)
    found = periods_of(report)
    assert list(found) == names
    assert found[names[0]] == pytest.approx(2.0, rel=0.01)
    assert found[names[1]] == pytest.approx(3.0, rel=0.01)
    assert report.analysis.modes is not None
    modes = [row.period_s.value for row in report.analysis.modes[:2] if row.period_s is not None]
    assert modes == pytest.approx([3.0, 2.0], rel=0.01)
    if by == "file":
        assert report.analysis.grouping is not None
        assert "too small: 1 of" in report.analysis.grouping.groups[2].note


def test_time_window_cuts_requests_and_reports_the_validity_of_the_period(tmp_path: Path) -> None:
    trace = ranks_and_files(tmp_path / "calls.jsonl")
    report = detection("--from", "10.1", "--to", "38.0", "--mode", "write", trace, cwd=tmp_path)
    assert report.start_s == pytest.approx(100.0)
    # thirteen whole writes, and half of the one at 110.0 to 110.2 s
    assert report.bytes_written == 13_500_000
    assert report.prediction.window.start_s == pytest.approx(110.1, abs=0.11)
    assert report.prediction.window.end_s == pytest.approx(138.0, abs=0.11)
    assert report.analysis.validity is not None
    assert report.analysis.validity.share > 0.8
    dated = detection("--from", "1970-01-01T00:01:50.1Z", "--to", "1970-01-01T00:02:18Z", trace, cwd=tmp_path)
    assert dated.bytes_written == 13_500_000


def test_all_analyses_are_told_in_json_and_in_text(tmp_path: Path) -> None:
    trace = ranks_and_files(tmp_path / "calls.jsonl")
    wanted = ("--autocorrelation", "--strongest", "3", "--wavelet", "--mode", "write")
    analysis = detection(*wanted, trace, cwd=tmp_path).analysis
    assert analysis.autocorrelation is not None
    assert analysis.autocorrelation.period_s == pytest.approx(2.0, rel=0.02)
    assert analysis.reconstruction is not None
    assert len(analysis.reconstruction.waves) == 3
    assert analysis.wavelet is not None
    assert len(analysis.wavelet.power) == len(analysis.wavelet.periods_s)
    text = iotide("detect", *wanted, trace, cwd=tmp_path).stdout
    for told in ("valid ", "bursts ", "autocorrelation ", "standard deviation is left", "<- period"):
        assert told in text


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--top", "3"), "--top needs --by"),
        (("--from", "soon"), "expected seconds from the trace's start"),
        (("--from", "30", "--to", "20"), "--to 20 is not after --from 30"),
        (("--from", "4000"), "no event lies in the window"),
        (("--by", "job", "--top", "0"), "--top"),
        (("--frequency", "0"), "expected 1e-06 to 1e+06 Hz, or auto"),
        (("--outlier", "lof", "--tolerance", "0.5"), "--tolerance cannot be used with --outlier lof"),
    ],
)
def test_options_that_make_no_sense_end_with_status_2(tmp_path: Path, arguments: tuple[str, ...], told: str) -> None:
    trace = ranks_and_files(tmp_path / "calls.jsonl")
    done = iotide("detect", *arguments, trace, cwd=tmp_path)
    assert done.returncode == 2
    assert told in " ".join(done.stderr.split())
    assert not done.stdout


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--by", "rank"), "does not say which rank"),
        (("--from", "2024-11-07"), "does not say on which day"),
    ],
)
def test_option_that_a_trace_cannot_satisfy_is_rejected(tmp_path: Path, arguments: tuple[str, ...], told: str) -> None:
    done = iotide("detect", *arguments, DATA / "tmio-8ranks.jsonl", cwd=tmp_path)
    assert done.returncode == 2
    assert told in " ".join(done.stderr.split())


def test_reference_chooses_its_own_sampling_frequency_when_asked_to(tmp_path: Path) -> None:
    arguments = ("--method", "reference", "--mode", "write", DATA / "tmio-custom-ranks.json")
    usual = detection(*arguments, cwd=tmp_path).prediction
    own = detection("-f", "auto", *arguments, cwd=tmp_path).prediction
    assert usual.sampling_frequency_hz == pytest.approx(10.0)
    assert own.sampling_frequency_hz > 1e5
    assert own.period_s is not None
    # result of the reference with -freq -1, by point samples
    assert own.period_s.value == pytest.approx(2.6916, abs=0.001)


STEPS = """
import sys, time
out, log = open('out.dat', 'wb', 0), open('log.txt', 'wb', 0)
begin = time.monotonic()
for step in range(24):
    time.sleep(max(0, begin + 0.1 * step - time.monotonic()))
    log.write(b'step\\n')
    if step % 3 == 0:
        print(time.time())
        for _ in range(8): out.write(bytes(65536))
"""


def straced(folder: Path) -> list[float]:
    """Run a program that writes every 0.3 s under strace; return the times of its writes."""
    command = [need("strace"), "-f", "-tt", "-T", "-y", "-o", "program.st", sys.executable, "-c", STEPS]
    said = subprocess.run(command, cwd=folder, check=True, stdout=subprocess.PIPE, text=True).stdout
    return [float(line) for line in said.split()]


def test_real_program_under_strace_is_analysed_by_file(tmp_path: Path) -> None:
    starts, _ = even_run(straced, list, tmp_path, near=0.05)
    (trace,) = sorted(tmp_path.glob("run*/program.st"))[-1:]
    report = detection("--by", "file", "--mode", "write", trace, cwd=tmp_path)
    found = periods_of(report)
    assert next(iter(found)).endswith("out.dat")
    assert_period(next(iter(found.values())), starts, near=0.05)
    assert report.prediction.scores is not None
    assert 0 < report.prediction.scores.duty_cycle < 0.5
