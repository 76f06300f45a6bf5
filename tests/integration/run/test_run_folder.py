"""The report folder of ``iotide run``: earlier reports are kept, and a folder without write access loses nothing."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

from iotide.cli.run.report_folder import report_folder
from support.system.commands import IOTIDE, iotide, plain_environment
from support.system.small_file_systems import small_room
from support.system.waiting import DEADLINE_S, wait_for


def run_into(folder: str, cwd: Path, script: str = "exit 5", **environment: str) -> subprocess.CompletedProcess[str]:
    return iotide("run", "-o", folder, "--", "sh", "-c", script, cwd=cwd, env=plain_environment(**environment))


def files_without_content(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and not path.stat().st_size]


def test_earlier_report_is_kept_with_a_message(tmp_path: Path) -> None:
    assert "report-2" not in run_into("report", tmp_path, "exit 1").stderr
    first = (tmp_path / "report/summary.json").read_bytes()
    second, third = (run_into("report", tmp_path, f"exit {number}") for number in (2, 3))
    assert [second.returncode, third.returncode] == [2, 3]
    assert "report has an earlier report" in second.stderr
    assert f"report goes to {tmp_path}/report-2" in second.stderr
    assert (tmp_path / "report/summary.json").read_bytes() == first
    assert {path.name for path in tmp_path.iterdir()} == {"report", "report-2", "report-3"}


def test_runs_at_the_same_time_do_not_share_a_folder(tmp_path: Path) -> None:
    command = [*IOTIDE, "run", "--quiet", "-o", "report", "--", "sh", "-c", "while test -e wait; do sleep 0.05; done"]
    (tmp_path / "wait").touch()
    runs = [subprocess.Popen(command, cwd=tmp_path, env=plain_environment()) for _ in range(2)]
    try:
        wait_for(lambda: len(list(tmp_path.glob("report*"))) == 2, what="a folder for each run")
    finally:
        (tmp_path / "wait").unlink()
        assert [run.wait(DEADLINE_S) for run in runs] == [0, 0]
    assert len(list(tmp_path.glob("report*/summary.json"))) == 2


def test_folder_that_cannot_be_made_is_told_before_the_command_and_another_is_taken(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    done = run_into("taken/report", tmp_path, "echo now >&2; exit 5", TMPDIR=str(elsewhere))
    assert done.returncode == 5
    before, after = done.stderr.split("now\n")
    assert "cannot write the report to taken/report" in before
    (folder,) = elsewhere.iterdir()
    assert f"the report goes to {folder}" in before
    assert folder.stat().st_mode & 0o777 == 0o700
    assert str(folder / "report.html") in after


def test_folder_without_room_is_told_before_the_command_and_another_is_taken(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    with small_room(tmp_path / "full", 65_536) as room:
        (room / "all").write_bytes(bytes(65_536))
        done = run_into("full/report", tmp_path, "echo now >&2; exit 5", TMPDIR=str(elsewhere))
        assert {path.name for path in room.iterdir()} == {"all"}
    assert done.returncode == 5
    assert "No space left" in done.stderr.split("now\n")[0]
    assert len(list(elsewhere.glob("*/report.html"))) == 1


def test_no_folder_at_all_is_none(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file")
    said: list[str] = []
    with report_folder(tmp_path / "taken/x", "x" * 5000, said.append) as folder:
        assert folder is None
    assert "taken/x" in said[0]
    assert "has no report" in said[1]


def test_command_that_does_not_start_leaves_no_folder(tmp_path: Path) -> None:
    done = iotide("run", "-o", "deep/in/report", "--", "./absent", cwd=tmp_path)
    assert done.returncode == 127
    assert not list(tmp_path.iterdir())


def test_report_of_a_run_that_filled_the_disk_has_no_empty_files(tmp_path: Path) -> None:
    with small_room(tmp_path / "small", 200_000) as room:
        done = run_into("small/report", tmp_path, "head -c 300000 /dev/zero > small/all; exit 5")
        assert done.returncode == 5
        assert "Traceback" not in done.stderr
        assert not [path for path in files_without_content(room) if path.name != "all"]
        assert not list(room.rglob("*.part"))


def test_next_run_takes_away_what_a_killed_one_left(tmp_path: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="it-", dir="/tmp") as temporary:
        environment = plain_environment(TMPDIR=temporary)
        command = [*IOTIDE, "run", "--quiet", "--no-report", "--", "sh", "-c", "echo now; read line"]
        run = subprocess.Popen(
            command, cwd=tmp_path, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert run.stdout is not None
        assert run.stdout.readline() == "now\n"
        run.kill()
        run.communicate(timeout=DEADLINE_S)  # until its child processes have ended, too
        assert list(Path(temporary).glob("iotide-*"))

        def taken_away() -> bool:  # after the process that emptied its rings has ended, too
            assert iotide("run", "--no-report", "--", "true", cwd=tmp_path, env=environment).returncode == 0
            return not list(Path(temporary).glob("iotide-*"))

        wait_for(taken_away, what="a run that removes the killed run's files")
