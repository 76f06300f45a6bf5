"""``iotide run`` on real programs: recorded calls, and no effect on the program."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from iotide.results.jobs.run import RunSummary
from support.jobs.own_log import assert_period, even_run
from support.system.commands import IOTIDE, Program, iotide, plain_environment
from support.system.waiting import DEADLINE_S, wait_for
from support.tracing.programs import need

WRITER = """
import os, sys
with open(sys.argv[1], 'wb', buffering=0) as out:
    for _ in range(100):
        out.write(bytes(10_000))
"""


def summary_of(folder: Path) -> RunSummary:
    return RunSummary.model_validate_json((folder / "summary.json").read_text())


def bytes_written_to(summary: RunSummary, path: Path) -> int:
    return sum(row.bytes_written for row in summary.job.files if row.path == str(path.resolve()))


@pytest.mark.parametrize(
    "script",
    [
        "echo out; echo err >&2",
        "exit 3",
        "kill -TERM $$",
        "kill -KILL $$",
        "kill -SEGV $$",
        "cat; cat nowhere",
        "echo $0 $1; ls /proc/self/fd | wc -l",
        "nonexistent-command",
    ],
)
def test_program_behaves_as_untraced(tmp_path: Path, script: str) -> None:
    command = ["sh", "-c", script, "name", "argument"]
    plain = subprocess.run(
        command, cwd=tmp_path, env=plain_environment(), input="in\n", capture_output=True, text=True, check=False
    )
    traced = iotide("run", "--quiet", "--no-report", "--", *command, cwd=tmp_path, stdin="in\n")
    assert traced.returncode == plain.returncode
    assert traced.stdout == plain.stdout
    assert traced.stderr == plain.stderr


@pytest.mark.parametrize(
    ("name", "status", "reason"),
    [
        ("./absent", 127, "command not found"),
        ("./script", 127, "the interpreter that it names was not found"),
        ("./data", 126, "Permission denied"),
    ],
)
def test_command_that_cannot_be_started_ends_as_in_a_shell(tmp_path: Path, name: str, status: int, reason: str) -> None:
    (tmp_path / "data").write_text("no program")
    (tmp_path / "script").write_text("#!/absent/interpreter\n")
    (tmp_path / "script").chmod(0o755)
    done = iotide("run", "--", name, cwd=tmp_path)
    assert done.returncode == status
    assert f"{name}: {reason}" in done.stderr
    assert not list(tmp_path.glob("iotide-*"))


def test_python_script_is_seen_to_the_byte(tmp_path: Path) -> None:
    target = tmp_path / "out.bin"
    done = iotide("run", "--job", "writer", "-o", "report", "--", sys.executable, "-c", WRITER, target, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    summary = summary_of(tmp_path / "report")
    assert bytes_written_to(summary, target) == 1_000_000
    assert summary.job.job == "writer"
    assert summary.job.events_dropped == 0
    # the signal, the heat map and the graph; no period, and so no history of it
    assert (tmp_path / "report/report.html").read_text().count("<svg xmlns") == 3
    assert "report.html" in done.stderr


def test_options_after_the_command_belong_to_the_command(tmp_path: Path) -> None:
    done = iotide("run", "--quiet", "--no-report", "echo", "--json", "-q", cwd=tmp_path)
    assert done.stdout == "--json -q\n"


def test_unknown_option_is_a_usage_error_and_not_the_command(tmp_path: Path) -> None:
    done = iotide("run", "--quite", "--", "touch", "started", cwd=tmp_path)
    assert done.returncode == 2
    assert "No such option" in done.stderr
    assert "--quite" in done.stderr
    assert not list(tmp_path.iterdir())


def test_end_of_a_run_imports_no_masked_arrays(tmp_path: Path) -> None:
    words = [sys.executable, "-X", "importtime", "-m", "iotide", "run", "--quiet", "--", "sh", "-c", "cat *.txt; ls /"]
    for number in range(3):
        (tmp_path / f"{number}.txt").write_text("text")
    done = subprocess.run(words, cwd=tmp_path, env=plain_environment(), capture_output=True, text=True, check=True)
    assert "iotide.clients.report.report\n" in done.stderr
    assert "numpy.ma\n" not in done.stderr


def test_descriptors_that_we_were_given_reach_the_program(tmp_path: Path) -> None:
    read_end, write_end = os.pipe()
    done = subprocess.run(
        [*IOTIDE, "run", "--quiet", "--no-report", "--", "sh", "-c", f"echo through > /dev/fd/{write_end}"],
        cwd=tmp_path,
        env=plain_environment(),
        pass_fds=[write_end],
        check=False,
    )
    os.close(write_end)
    with os.fdopen(read_end) as pipe:
        assert pipe.read() == "through\n"
    assert done.returncode == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_signal_sent_to_us_reaches_the_program(tmp_path: Path, number: signal.Signals) -> None:
    ready = tmp_path / "ready"
    os.mkfifo(ready)
    script = f"trap 'exit 40' {number.name[3:]}; echo up > {ready}; while :; do sleep 0.05; done"
    # the shell that started the tests may ignore the signal for us
    heeded = ["env", f"--default-signal={number.name[3:]}"]
    command = [*heeded, *IOTIDE, "run", "--quiet", "--no-report", "--", "sh", "-c", script]
    with Program(command, cwd=tmp_path, env=plain_environment()) as running:
        assert ready.read_text() == "up\n"
        running.send_signal(number)
        assert running.wait(timeout=DEADLINE_S) == 40


def test_interrupts_after_the_end_of_the_program_cost_neither_report_nor_status(tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    os.mkfifo(ready)
    script = f"trap '' INT; echo x > data; echo up > {ready}; exit 3"
    command = ["env", "--default-signal=INT", *IOTIDE, "run", "--no-archive", "-o", "report", "--", "sh", "-c", script]
    with Program(command, cwd=tmp_path, env=plain_environment(), stderr=subprocess.DEVNULL) as running:
        assert ready.read_text() == "up\n"

        def ended() -> bool:
            running.send_signal(signal.SIGINT)
            return running.poll() is not None

        wait_for(ended, what="the end of iotide")
        assert running.returncode == 3
    assert (tmp_path / "report" / "report.html").exists()


def test_fio_is_traced_with_all_its_bytes(tmp_path: Path) -> None:
    fio = need("fio")
    job = ["--name=w", "--rw=write", "--bs=64k", "--size=4m", "--ioengine=psync", f"--directory={tmp_path}"]
    done = iotide("run", "-o", "report", "--", fio, *job, "--output-format=json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    counted = json.loads(done.stdout[done.stdout.index("{") :])["jobs"][0]["write"]["io_bytes"]
    assert bytes_written_to(summary_of(tmp_path / "report"), tmp_path / "w.0.0") == counted == 4 * 1024 * 1024


def test_ranks_of_an_mpi_program_are_told_apart(tmp_path: Path) -> None:
    mpirun = need("mpirun")
    script = 'f=out.$OMPI_COMM_WORLD_RANK$PMI_RANK; dd if=/dev/zero of="$f" bs=1000 count=50 status=none'
    done = iotide("run", "-o", "report", "--", mpirun, "-n", "2", "sh", "-c", script, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    summary = summary_of(tmp_path / "report")
    assert summary.job.ranks == 2
    for rank in range(2):
        assert bytes_written_to(summary, tmp_path / f"out.{rank}") == 50_000


def test_hdf5_file_written_through_h5py_is_seen(tmp_path: Path) -> None:
    pytest.importorskip("h5py")
    target = tmp_path / "field.h5"
    script = "import sys, h5py, numpy; h5py.File(sys.argv[1], 'w').create_dataset('t', data=numpy.ones(100_000))"
    done = iotide("run", "-o", "report", "--", sys.executable, "-c", script, target, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert bytes_written_to(summary_of(tmp_path / "report"), target) >= 800_000


def test_missing_tracer_leaves_the_program_alone(tmp_path: Path) -> None:
    env = plain_environment(IOTIDE_TRACER=str(tmp_path / "absent.so"))
    done = iotide("run", "--no-report", "--", "echo", "works", cwd=tmp_path, env=env)
    assert done.returncode == 0
    assert done.stdout == "works\n"
    assert "untraced" in done.stderr


def test_static_program_is_reported_as_untraced_and_runs(tmp_path: Path) -> None:
    source = tmp_path / "static.c"
    source.write_text('#include <unistd.h>\nint main(void) { return write(1, "works\\n", 6) == 6 ? 3 : 4; }\n')
    subprocess.run([need("gcc"), "-static", "-o", tmp_path / "static", source], check=True)
    (tmp_path / "script").write_text(f"#!{tmp_path}/static\n")
    (tmp_path / "script").chmod(0o755)
    for command in ("./static", "./script"):
        done = iotide("run", "--quiet", "--no-report", "--json", "run.json", "--", command, cwd=tmp_path)
        assert (done.returncode, done.stdout) == (3, "works\n")
        (unseen,) = json.loads((tmp_path / "run.json").read_text())["unseen"]
        assert (Path(unseen["program"]).name, unseen["reason"]) == ("static", "is statically linked")
        (line,) = done.stderr.splitlines()
        assert "static is statically linked" in line
        assert f"strace -f -ttt -T -y -o app.st {command};" in line


def test_paths_and_layers_that_are_left_out_are_not_recorded(tmp_path: Path) -> None:
    script = "head -c 1000 /dev/zero > kept/a; head -c 1000 /dev/zero > left/b"
    (tmp_path / "kept").mkdir()
    (tmp_path / "left").mkdir()
    options = ["--only-paths", ".", "--skip-paths", "left", "--calls", "data"]
    done = iotide("run", "-o", "report", *options, "--", "sh", "-c", script, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    seen = {row.path for row in summary_of(tmp_path / "report").job.files}
    assert seen == {str(tmp_path / "kept/a")}


@pytest.mark.parametrize("option", [("--listen", "0.0.0.0:0"), ("--sampling", "point"), ("--publish", "nonsense")])
def test_option_that_cannot_work_is_refused_before_the_program_starts(tmp_path: Path, option: tuple[str, str]) -> None:
    done = iotide("run", *option, "--", "touch", "started", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("iotide: ")
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "started").exists()


def test_summary_is_written_as_json_where_asked(tmp_path: Path) -> None:
    done = iotide("run", "--quiet", "--no-report", "--json", "run.json", "--", "false", cwd=tmp_path)
    assert done.returncode == 1
    assert json.loads((tmp_path / "run.json").read_text())["exit_status"] == 1


PERIODIC = """
import os, sys, time
begun, step = time.monotonic(), 0
while step < 8 or not os.path.exists(sys.argv[2]):
    step += 1
    print(time.time(), flush=True)
    with open(sys.argv[1], 'wb', buffering=0) as out:
        for _ in range(8):
            out.write(bytes(1_000_000))
    time.sleep(max(0, begun + 0.5 * step - time.monotonic()))
"""


def watched_until_predicted(folder: Path) -> tuple[RunSummary, list[float]]:
    """Run a periodic program until a prediction of it was shown; return the summary, and the starts of its phases."""
    seen = folder / "seen"
    options = ["--interval", "0.25", "-o", "report"]
    with (folder / "log").open("w+") as log:
        with Program(
            [*IOTIDE, "run", *options, "--", sys.executable, "-c", PERIODIC, str(folder / "x"), str(seen)],
            cwd=folder,
            env=plain_environment(),
            stdout=log,
            stderr=subprocess.PIPE,
            text=True,
        ) as running:
            assert running.stderr is not None
            said = ""
            while "next phase in" not in said:  # however late that is on a busy machine
                line = running.stderr.readline()
                assert line, said
                said += line
            seen.touch()
            said += running.stderr.read()
        assert running.returncode == 0, said
        log.seek(0)
        return summary_of(folder / "report"), [float(line) for line in log]


def test_periodic_program_gets_a_line_for_each_prediction(tmp_path: Path) -> None:
    (summary, _), starts = even_run(watched_until_predicted, lambda done: done[1], tmp_path, near=0.05)
    assert summary.prediction is not None
    assert summary.prediction.period_s is not None
    assert_period(summary.prediction.period_s.value, starts, near=0.05)


def test_live_run_serves_its_prediction_over_http(tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    options = ["-q", "--no-report", "--job", "live", "--listen", "127.0.0.1:0", "--publish", "tcp://127.0.0.1:*"]
    with Program(
        [*IOTIDE, "run", *options, "--", "cat", str(gate)],
        cwd=tmp_path,
        env=plain_environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        assert running.stderr is not None
        told = running.stderr.readline()
        found = re.fullmatch(r"iotide: listening at (http://127\.0\.0\.1:\d+), tcp://127\.0\.0\.1:\d+\n", told)
        assert found is not None, told
        url = found[1]

        def jobs() -> list[dict[str, object]] | None:
            try:
                with urllib.request.urlopen(f"{url}/api/v1/jobs", timeout=DEADLINE_S) as answer:
                    return json.load(answer)["jobs"] or None
            except OSError:
                return None

        try:
            assert wait_for(jobs)[0]["job"] == "live"
        finally:
            gate.write_text("end")
        assert running.wait(timeout=DEADLINE_S) == 0
