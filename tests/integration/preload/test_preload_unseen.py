"""Programs that cannot be traced are reported as unseen, for any parent: real programs of each kind."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from iotide.events import Kind
from iotide.results.jobs.run import RunSummary, UnseenProgram
from support.system.commands import Program, iotide
from support.system.waiting import DEADLINE_S, wait_for
from support.tracing.compiled_programs import built
from support.tracing.programs import need
from support.tracing.tracing import Tracing

STATIC = "is statically linked"


@pytest.fixture(scope="session")
def static(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory, "nothing.c", "-static", name="static")


def rings(folder: Path) -> Path:
    """Build a program whose library creates rings as liburing does: with its own system call instructions."""
    programs = Path(__file__).parents[2] / "programs"
    library, program = folder / "libring.so", folder / "rings"
    subprocess.run([need("gcc"), "-shared", "-fPIC", programs / "ring_library.c", "-o", library], check=True)
    user = programs / "ring_user.c"
    subprocess.run([need("gcc"), user, library, f"-Wl,-rpath,{folder}", "-o", program], check=True)
    return program


def unseen(tracing: Tracing, *command: str | Path, **environment: str) -> list[tuple[str, str, int]]:
    """Run a command; return program, reason and number of its unseen processes."""
    done = tracing.run(command, env=tracing.environment(**environment))
    assert done.returncode == 0, done.stderr
    assert tracing.source.counters["programs_unseen"] == sum(row.times for row in tracing.source.untraced)
    return [(row.program, row.reason, row.times) for row in tracing.source.untraced]


@pytest.mark.parametrize("starter", ["execve", "vfork", "posix_spawn", "search", "list", "script"])
def test_static_program_is_named_however_it_is_started(
    static: Path, tracing: Tracing, tmp_path: Path, starter: str
) -> None:
    script = tmp_path / "script"
    script.write_text(f"#! {static} -x\n")
    script.chmod(0o755)
    python, name = shutil.which("python3") or "", static.name
    command: dict[str, list[str | Path]] = {
        "execve": ["bash", "-c", f"{static} && true"],
        "vfork": [python, "-ISc", f"import subprocess; subprocess.run(['{static}'], check=True)"],
        "posix_spawn": [python, "-ISc", f"import os; os.posix_spawn('{static}', ['x'], os.environ); os.wait()"],
        "search": ["env", name],
        "list": ["perl", "-e", f"exec '{static}', 'x'"],
        "script": ["sh", "-c", f"{script}; true"],
    }
    path = f"{static.parent}:{os.environ['PATH']}"
    assert unseen(tracing, *command[starter], PATH=path) == [
        (str(script if starter == "script" else static), STATIC, 1)
    ]


@pytest.mark.parametrize("way", ["fexecve", "memory", "execveat", "syscall-execve", "syscall-execveat"])
def test_static_program_is_named_without_a_path_or_by_a_system_call(
    static: Path, tracing: Tracing, tmp_path_factory: pytest.TempPathFactory, way: str
) -> None:
    starter = built(tmp_path_factory, "starter.c")
    name = "/memfd:program (deleted)" if way == "memory" else str(static)
    assert unseen(tracing, starter, way, static.parent, static.name) == [(name, STATIC, 1)]


def test_static_program_that_execveat_has_not_started_is_not_named(
    static: Path, tracing: Tracing, tmp_path_factory: pytest.TempPathFactory
) -> None:
    done = tracing.run([built(tmp_path_factory, "starter.c"), "failed", static.parent, static.name])
    assert done.returncode == 0
    assert tracing.source.counters["programs_unseen"] == 1
    assert list(tracing.source.untraced) == []


def test_go_programs_are_named(tracing: Tracing, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("[1]")
    commands = f"{need('shfmt')} -version; {need('gron')} {tmp_path}/a.json; {need('gron')} {tmp_path}/a.json"
    found = unseen(tracing, "sh", "-c", commands)
    assert [(Path(program).name, count) for program, _, count in found] == [("gron", 2), ("shfmt", 1)]
    assert all("Go program" in reason for _, reason, _ in found)


def test_program_of_another_machine_is_named(tracing: Tracing, tmp_path: Path) -> None:
    (tmp_path / "end.s").write_text(".globl _start\n_start: mov $1, %eax\nxor %ebx, %ebx\nint $0x80\n")
    program = tmp_path / "end"
    subprocess.run([need("gcc"), "-m32", "-nostdlib", "-static", "-o", program, tmp_path / "end.s"], check=True)
    if subprocess.run([program], check=False).returncode:
        pytest.skip("the kernel runs no 32-bit programs")
    ((named, reason, _),) = unseen(tracing, "sh", "-c", f"{program}; true")
    assert (named, reason) == (str(program), "is not a 64-bit program of this architecture, as the tracer is")


def test_program_that_gains_privileges_is_named(tracing: Tracing, tmp_path: Path) -> None:
    program = Path(shutil.copy(need("true"), tmp_path / "true"))
    try:
        os.chown(program, os.getuid() + 1, os.getgid())
    except PermissionError:
        pytest.skip("only root can change the owner of files")
    program.chmod(0o4755)
    ((named, reason, _),) = unseen(tracing, "sh", "-c", f"{program}; true")
    assert (named, "privileges" in reason) == (str(program), True)


def test_program_without_our_environment_is_named(tracing: Tracing) -> None:
    ((named, reason, _),) = unseen(tracing, "env", "-i", need("true"))
    assert (named, "LD_PRELOAD" in reason) == (need("true"), True)


def test_program_with_another_preload_is_named_without_a_claim_about_the_socket(tracing: Tracing) -> None:
    ((named, reason, _),) = unseen(tracing, "env", "LD_PRELOAD=", need("true"))
    assert (named, "LD_PRELOAD, or without IOTIDE_SOCKET" in reason) == (need("true"), True)


@pytest.mark.parametrize("how", [os.symlink, shutil.copy])
def test_programs_are_seen_if_the_library_has_another_name(
    tracing: Tracing, tmp_path: Path, how: Callable[[str, Path], object]
) -> None:
    core, *others = tracing.environment()["LD_PRELOAD"].split(":")
    how(core, tmp_path / "trace.so")
    environment = tracing.environment() | {"LD_PRELOAD": ":".join([str(tmp_path / "trace.so"), *others])}
    done = tracing.run(["sh", "-c", f"echo 1 > {tmp_path}/file; exec {need('true')}"], env=environment)
    assert done.returncode == 0, done.stderr
    assert tracing.bytes_by_path(Kind.WRITE)[f"{tmp_path}/file"] == 2
    assert list(tracing.source.untraced) == []


def test_program_of_another_collector_is_named(tracing: Tracing) -> None:
    ((named, reason, _),) = unseen(tracing, "env", "IOTIDE_SOCKET=/nonexistent/socket", need("true"))
    assert (named, "another IOTIDE_SOCKET" in reason) == (need("true"), True)
    assert unseen(tracing, "env", "OTHER=1", need("true"))[1:] == [], "the own socket is no obstacle"


def test_program_with_an_empty_socket_is_named(tracing: Tracing) -> None:
    ((named, reason, _),) = unseen(tracing, "env", "IOTIDE_SOCKET=", need("true"))
    assert (named, "without IOTIDE_SOCKET" in reason) == (need("true"), True)


def test_program_that_uses_io_uring_is_named(tracing: Tracing, tmp_path: Path) -> None:
    job = [
        "--name=job",
        f"--filename={tmp_path}/data",
        "--size=64k",
        "--rw=write",
        "--thread",
        f"--output={tmp_path}/log",
    ]
    done = tracing.run([need("fio"), *job, "--ioengine=io_uring"])
    if done.returncode:
        pytest.skip("the kernel allows no io_uring")
    (found,) = tracing.source.untraced
    assert (found.program.split()[0], found.times) == (need("fio"), 1)
    assert "io_uring" in found.reason


def test_program_that_uses_a_ring_of_liburing_is_named(tracing: Tracing, tmp_path: Path) -> None:
    """Its functions enter the kernel by their own instructions, and the ring is not even closed by the C library."""
    program = rings(tmp_path)
    for way, entries in (("io_uring_queue_init", "8"), ("io_uring_queue_init_params", "16"), ("io_uring_setup", "32")):
        done = tracing.run([program, way, entries], env=tracing.environment())
        if done.returncode == errno.ENOSYS or done.returncode == errno.EPERM:
            pytest.skip("the kernel allows no io_uring")
        assert (done.returncode, done.stdout) == (0, "a ring\n"), done.stderr
    found = {row.program.split()[1]: row for row in tracing.source.untraced}
    assert set(found) == {"io_uring_queue_init", "io_uring_queue_init_params", "io_uring_setup"}
    assert all("io_uring" in row.reason and row.times == 1 for row in found.values())


def test_program_without_liburing_has_none_of_its_functions(tracing: Tracing, tmp_path: Path) -> None:
    source = tmp_path / "weak.c"
    source.write_text(
        "__attribute__((weak)) int io_uring_setup(unsigned, void *);\n"
        "int main(void) { return io_uring_setup && io_uring_setup(8, 0) != -38; }\n"
    )
    subprocess.run([need("gcc"), source, "-o", tmp_path / "weak"], check=True)
    assert unseen(tracing, tmp_path / "weak") == []


def test_seen_or_absent_program_is_not_named(tracing: Tracing) -> None:
    script = "true; ls /; ./nothing-like-it; env -i ./nothing-like-it; python3 -ISc ''; env true; true"
    assert unseen(tracing, "sh", "-c", script) == []


def test_run_reports_unseen_programs(static: Path, tmp_path: Path) -> None:
    done = iotide("run", "--quiet", "-o", "report", "--", "sh", "-c", f"{static}; {static}; true", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, f"iotide: not seen: {static} (2 times), which {STATIC}\n")
    summary = RunSummary.model_validate_json((tmp_path / "report/summary.json").read_text())
    assert summary.unseen == [UnseenProgram(program=str(static), reason=STATIC, times=2)]
    assert f"<code>{static}</code> (2 times)" in (tmp_path / "report/report.html").read_text()


def test_program_that_was_not_started_is_not_unseen(static: Path, tracing: Tracing, tmp_path: Path) -> None:
    barred = Path(shutil.copy(static, tmp_path / "barred"))
    barred.chmod(0o644)
    broken = tmp_path / "broken"
    broken.write_bytes(static.read_bytes()[:100])  # the header of a static program, and nothing loadable
    broken.chmod(0o755)
    ways = "execv(p, [p]), spawnl(P_WAIT, p, p), posix_spawn(p, [p], environ), execvp(p, [p])"
    tries = "".join(f"\ntry: {way}\nexcept OSError: pass" for way in ways.replace("), ", ");").split(";"))
    for program in (barred, broken):
        tracing.run([need("python3"), "-ISc", f"from os import *\np = '{program}'{tries}"])
    assert list(tracing.source.untraced) == []


def commands_in(tracing: Tracing) -> set[str]:
    """Return the reported programs."""
    return {info.command.partition(" ")[0] for info in tracing.info.values()}


def test_program_that_runs_inside_of_another_is_seen(tracing: Tracing, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "in")
    command = [need("valgrind"), "-q", "--tool=none", "dd", f"if={tmp_path}/in", f"of={tmp_path}/out", "bs=1000"]
    with Program(["sh", "-c", f"{' '.join(command)} 2> {tmp_path}/said; true"], env=tracing.environment()) as running:
        # While it waits for its input: the image of an ended process is unknown.
        wait_for(lambda: tracing.poll() or commands_in(tracing) >= {"dd"}, what="dd")
        (tmp_path / "in").write_bytes(bytes(5000))
        assert running.wait(DEADLINE_S) == 0
    tracing.settle()
    assert list(tracing.source.untraced) == []
    assert tracing.bytes_by_path(Kind.WRITE)[str(tmp_path / "out")] == 5000


def test_short_program_that_runs_inside_of_another_is_seen(tracing: Tracing, tmp_path: Path) -> None:
    """It has ended before the collector learns of it."""
    emulated = f"{need('valgrind')} -q --tool=none dd if=/dev/zero of={tmp_path}/out bs=1000 count=5"
    script = f"({emulated}; {emulated}) 2> {tmp_path}/said; true"
    subprocess.run(["sh", "-c", script], env=tracing.environment(), check=True)
    tracing.settle()
    assert list(tracing.source.untraced) == []
    assert tracing.bytes_by_path(Kind.WRITE)[str(tmp_path / "out")] == 10000


def test_program_that_the_kernel_runs_does_not_ask_for_its_own_name(tracing: Tracing, tmp_path: Path) -> None:
    log = tmp_path / "log"
    strace = [need("strace"), "-f", "-qq", "-e", "trace=readlink,readlinkat,memfd_create", "-o", str(log)]
    assert tracing.run([*strace, need("true")]).returncode == 0
    assert "memfd_create" in log.read_text()
    assert "/exe" not in log.read_text()


OTHER_USER = 65534


def test_output_of_a_program_of_another_user_has_nothing_of_ours(tracing: Tracing, tmp_path: Path) -> None:
    if os.getuid():
        pytest.skip("only root can start programs as another user")
    private = tmp_path / "private"
    private.mkdir(mode=0o700)
    libraries = [shutil.copy(path, private) for path in tracing.environment()["LD_PRELOAD"].split(":")]
    python = "import os, subprocess, sys; os.setuid({}); {}".format(OTHER_USER, "{}")
    shell = "/bin/sh -c 'cat < /dev/null; echo done'"
    ways = {
        "su": ["su", "-s", "/bin/sh", "nobody", "-c", shell],
        "setpriv": ["setpriv", f"--reuid={OTHER_USER}", "--clear-groups", "sh", "-c", shell],
        "execv": [
            need("python3"), "-ISc",
            python.format("os.execv('/bin/sh', ['sh', '-c', 'cat < /dev/null; echo done'])"),
        ],
        "spawn": [
            need("python3"), "-ISc",
            python.format("p = os.posix_spawn('/bin/sh', ['sh', '-c', 'echo done'], os.environ); os.waitpid(p, 0)"),
        ],
        "subprocess": [need("python3"), "-ISc", python.format("subprocess.run(['sh', '-c', 'echo done'], check=True)")],
    }  # fmt: skip
    for way, command in ways.items():
        done = tracing.run(command, env=tracing.environment() | {"LD_PRELOAD": ":".join(map(str, libraries))})
        assert (done.stdout, done.stderr) == ("done\n", ""), way
    reasons = {row.reason for row in tracing.source.untraced}
    assert "is started by a user, or in a root folder, that cannot read the tracer's libraries" in reasons


def test_the_users_own_preloads_stay_where_ours_cannot_be_read(tracing: Tracing, tmp_path: Path) -> None:
    if os.getuid():
        pytest.skip("only root can start programs as another user")
    private = tmp_path / "private"
    private.mkdir(mode=0o700)
    ours = Path(shutil.copy(tracing.environment()["LD_PRELOAD"].split(":")[0], private))
    theirs = "libc.so.6"
    code = f"import os; os.setuid({OTHER_USER}); os.execv('/usr/bin/env', ['env'])"
    environment = tracing.environment(FIRST="1", LAST="2") | {"LD_PRELOAD": f"{ours}:{theirs}"}
    done = tracing.run([need("python3"), "-ISc", code], env=environment)
    told = dict(line.split("=", 1) for line in done.stdout.splitlines() if "=" in line)
    assert told["LD_PRELOAD"] == theirs
    assert {"FIRST": "1", "LAST": "2"}.items() <= told.items()
    assert set(environment) - {"LD_PRELOAD", "_"} <= set(told)


def test_program_in_another_root_folder_prints_no_message(tracing: Tracing, tmp_path: Path) -> None:
    if os.getuid():
        pytest.skip("only root can change its root folder")
    root = tmp_path / "root"
    shown = subprocess.run(["ldd", need("true")], capture_output=True, text=True, check=True).stdout
    for name in [need("true"), *(word for word in shown.split() if word.startswith("/"))]:
        (root / name[1:]).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(name, root / name[1:])
    done = tracing.run([need("chroot"), str(root), need("true")])
    assert not done.stderr
    assert [row.reason for row in tracing.source.untraced] == [
        "is started by a user, or in a root folder, that cannot read the tracer's libraries"
    ]
