"""Programs with difficult processes for the tracer: they are not affected, and all calls are accounted for."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from iotide.events import Kind
from support.system.commands import plain_environment
from support.tracing.compiled_programs import built
from support.tracing.own_accounts import account, run_both
from support.tracing.programs import need
from support.tracing.tracing import Tracing

NOBODY = 65534


@pytest.fixture(scope="module")
def processes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory, "processes.c")


@pytest.mark.parametrize("name", ["family", "spawn", "chain", "vforks", "orphan", "close-all", "few-files"])
def test_every_call_of_every_process_is_seen(processes: Path, tracing: Tracing, tmp_path: Path, name: str) -> None:
    file = tmp_path / "out"
    done = run_both(tracing, [processes, name, file], file)
    assert (done.returncode, done.stdout.endswith("done\n"), done.stderr) == (7, True, "")
    account(tracing, file).check()


def test_hundreds_of_processes_that_do_next_to_nothing_are_all_seen(
    processes: Path, tracing: Tracing, tmp_path: Path
) -> None:
    file = tmp_path / "out"
    assert run_both(tracing, [processes, "swarm", file], file).returncode == 7
    account(tracing, file).check()
    assert len(tracing.info) >= 301


def test_file_that_is_opened_a_hundred_thousand_times_is_seen_or_counted(
    processes: Path, tracing: Tracing, tmp_path: Path
) -> None:
    file = tmp_path / "out"
    assert run_both(tracing, [processes, "open-often", file], file).returncode == 7
    seen = account(tracing, file)
    assert sum(seen.made.values()) == 200_000
    seen.check(may_drop=True)
    assert tracing.source.counters["definitions_dropped"] == 0


def test_process_that_is_killed_while_it_writes_loses_nothing(
    processes: Path, tracing: Tracing, tmp_path: Path
) -> None:
    file = tmp_path / "out"
    assert tracing.run([processes, "killed", file]).returncode == 7
    account(tracing, file).check(in_flight=1, may_drop=True)


@pytest.mark.parametrize("name", ["little-memory", "small-files"])
def test_process_that_has_no_room_for_the_tracer_runs_without_it(
    processes: Path, tracing: Tracing, tmp_path: Path, name: str
) -> None:
    file = tmp_path / "out"
    assert run_both(tracing, [processes, name, file], file).returncode == 7


def test_program_without_standard_streams_gets_the_lowest_numbers(
    processes: Path, tracing: Tracing, tmp_path: Path
) -> None:
    file = tmp_path / "out"
    assert run_both(tracing, [processes, "closed-standard", file], file).returncode == 7
    account(tracing, file).check()


def test_program_in_a_root_of_its_own_goes_on(processes: Path, tracing: Tracing, tmp_path: Path) -> None:
    if os.getuid() != 0:
        pytest.skip("only root can change its root")
    file = tmp_path / "out"
    done = tracing.run([processes, "chrooted", file])
    assert (done.returncode, done.stdout, done.stderr) == (7, "done\n", "")
    assert [(file / name).stat().st_size for name in ("inside", "child")] == [100, 10]
    paths = {
        tracing.tables[stream].file(number).path
        for stream, batch in tracing.events().items()
        for number in batch.file.tolist()
    }
    assert {f"{file}.before", "/inside"} <= paths


def test_set_user_id_program_stays_untraced_and_keeps_its_privileges(processes: Path, tracing: Tracing) -> None:
    if os.getuid() != 0:
        pytest.skip("only root can change the owner of files")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        program = folder / "who"
        shutil.copy(processes, program)
        program.chmod(0o4755)
        if os.statvfs(program).f_flag & os.ST_NOSUID:
            pytest.skip("the file system ignores set-user-ID")
        runs = [
            subprocess.run(
                [program, "who", "-"], env=env, user=NOBODY, cwd="/", capture_output=True, text=True, check=False
            )
            for env in (plain_environment(), tracing.environment())
        ]
    tracing.poll()
    assert not tracing.info
    assert [run.returncode for run in runs] == [7, 7]
    assert [run.stdout for run in runs] == [f"{NOBODY} 0 0\ndone\n", f"{NOBODY} 0 0\ndone\n"]
    # The dynamic linker itself reports each library that it leaves out, if it prints anything.
    assert all(line.startswith("ERROR: ld.so") for line in runs[1].stderr.splitlines())


def test_other_users_process_runs_untraced(processes: Path, tracing: Tracing) -> None:
    if os.getuid() != 0:
        pytest.skip("only root can become another user")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o777)
        shutil.copy(processes, folder / "program")
        (folder / "program").chmod(0o755)
        done = subprocess.run(
            [folder / "program", "swarm", folder / "out"],
            env=tracing.environment(),
            user=NOBODY,
            cwd="/",
            capture_output=True,
            text=True,
            check=False,
        )
    assert (done.returncode, done.stdout) == (7, "done\n")
    tracing.poll()
    assert not tracing.info


def test_program_in_namespaces_of_its_own_is_traced(processes: Path, tracing: Tracing, tmp_path: Path) -> None:
    unshare = [need("unshare"), "--user", "--map-root-user", "--mount", "--pid", "--fork"]
    if subprocess.run([*unshare, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this machine allows no private namespaces")
    file = tmp_path / "out"
    done = run_both(tracing, [*unshare, processes, "family", file], file)
    assert (done.returncode, done.stdout, done.stderr) == (7, "done\n", "")
    account(tracing, file).check()
    for stream, batch in tracing.events().items():  # main threads have the pid that we see, not their own
        assert not len(batch) or tracing.info[stream].pid in batch.tid.tolist()


def test_child_with_an_empty_environment_runs_untraced(processes: Path, tracing: Tracing, tmp_path: Path) -> None:
    file = tmp_path / "out"
    done = run_both(tracing, ["env", "-i", processes, "family", file], file)
    assert done.returncode == 7
    assert not account(tracing, file).seen.total()


@pytest.mark.parametrize("shell", ["dash", "bash"])
def test_shell_script_with_hundreds_of_commands_is_seen_to_the_byte(
    tracing: Tracing, tmp_path: Path, shell: str
) -> None:
    script = tmp_path / "script"
    script.write_text(
        'i=0\nwhile [ $i -lt 150 ]; do\n  echo line $i >> "$1"\n  head -c 10 /dev/zero | cat >> "$1"\n'
        '  x=$(printf "%s" $i)\n  i=$((x + 1))\ndone\ncat "$1" | wc -c\n'
    )
    file = tmp_path / "out"
    done = run_both(tracing, [need(shell), script, file], file)
    size = file.stat().st_size
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, str(size), "")
    assert tracing.bytes_by_path(Kind.WRITE)[str(file)] == size
    assert not any(count for name, count in tracing.source.counters.items() if "dropped" in name)


def test_parallel_make_is_seen_to_the_byte(tracing: Tracing, tmp_path: Path) -> None:
    make = need("make")
    tree = tmp_path / "tree"
    tree.mkdir()
    names = [f"out{number}" for number in range(120)]
    rules = "".join(f"{name}:\n\t@head -c 1000 /dev/zero > {name}.part; mv {name}.part {name}\n" for name in names)
    (tree / "Makefile").write_text(f"all: {' '.join(names)}\n\t@cat {' '.join(names)} > all; echo made\n{rules}")
    done = tracing.run([make, "-j8", "-C", tree, "--no-print-directory"])
    assert (done.returncode, done.stdout, done.stderr) == (0, "made\n", "")
    written = tracing.bytes_by_path(Kind.WRITE)
    assert {name: written[f"{tree}/{name}.part"] for name in names} == dict.fromkeys(names, 1000)
    assert written[f"{tree}/all"] == 120_000
