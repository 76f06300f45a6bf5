"""Programs with difficult threads and signals for the tracer: they are not affected, and all calls are accounted
for.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from iotide.collectors.wrappers.sources import PRELOAD
from iotide.events import Kind
from support.system.waiting import DEADLINE_S
from support.tracing.compiled_programs import built, core_sources
from support.tracing.own_accounts import account, run_both
from support.tracing.programs import need, need_header
from support.tracing.tracing import Tracing


@pytest.fixture(scope="module")
def threaded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory, "threaded.c")


@pytest.mark.parametrize(
    ("name", "may_drop"),
    [
        ("waves", True),  # a thread that starts while another creates the next region is counted, and does not wait
        ("at-once", True),
        ("destructors", True),
        ("forking-threads", False),
        ("cancelled", False),
        ("jumps", False),
        ("own-stack", False),
        ("faults", False),
        ("storm", True),  # calls of a handler while a record is being stored are counted
        ("threads-in-a-storm", True),
    ],
)
def test_every_call_is_seen_or_counted(
    threaded: Path, tracing: Tracing, tmp_path: Path, name: str, may_drop: bool
) -> None:
    file = tmp_path / "out"
    done = run_both(tracing, [threaded, name, file], file)
    assert (done.returncode, done.stdout, done.stderr) == (7, "done\n", "")
    account(tracing, file).check(may_drop=may_drop)


def test_calls_need_little_stack(threaded: Path, tracing: Tracing, tmp_path: Path) -> None:
    done = run_both(tracing, [threaded, "little-stacks", tmp_path / "out"], tmp_path / "out")
    assert (done.returncode, done.stdout, done.stderr) == (7, "done\n", "")
    written = tracing.bytes_by_path(Kind.WRITE)
    assert sum(size for path, size in written.items() if path.startswith(f"{tmp_path}/little.")) == 8 * 20


def test_call_that_is_jumped_out_of_leaves_nothing_on_the_stack_of_calls(
    threaded: Path, tracing: Tracing, tmp_path: Path
) -> None:
    tracing.run([threaded, "jumps", tmp_path / "out"])
    (batch,) = tracing.events().values()
    assert set(batch.depth.tolist()) == {0}
    assert set(batch.parent[batch.kind == Kind.WRITE].tolist()) == {0}


def test_call_of_a_higher_layer_that_is_jumped_out_of_encloses_nothing_later(
    tracing: Tracing, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    need_header("hdf5/serial/hdf5.h")
    program = built(tmp_path_factory, "jumps_hdf5.c", "-I/usr/include/hdf5/serial", "-lhdf5_serial")
    done = run_both(tracing, [program, tmp_path / "in.h5", tmp_path / "out"], tmp_path / "out")
    assert (done.returncode, done.stdout, done.stderr) == (7, "done\n", "")
    assert {row.depth for row in tracing.rows("H5Fflush")} == {0}
    written = [row for row in tracing.rows("write") if row.path == str(tmp_path / "out")]
    assert {row.depth for row in written if row.bytes == len("outside")} == {0}
    assert sorted({row.depth for row in written if row.bytes == len("inside")}) == [1, 2, 3]


def test_thread_sanitizer_finds_nothing_in_the_core(
    tracing: Tracing, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    flags = ["-std=gnu11", "-fsanitize=thread", "-ftls-model=initial-exec", f"-I{PRELOAD}", "-lm", "-ldl"]
    program = built(tmp_path_factory, "core_threads.c", *map(str, core_sources()), *flags)
    environment = tracing.environment(TSAN_OPTIONS="exitcode=66")
    del environment["LD_PRELOAD"]
    done = tracing.run([program, tmp_path], env=environment)
    assert (done.returncode, done.stdout, done.stderr) == (7, "done\n", "")
    dropped = sum(count for name, count in tracing.source.counters.items() if name.startswith("events_dropped"))
    assert tracing.calls()["work"] + dropped == 4 * 8 * 400


def test_thread_that_loses_its_processor_with_a_lock_costs_others_no_details(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    flags = [
        "-std=gnu11",
        "-ftls-model=initial-exec",
        "-Wl,--wrap=iotide_count_overflow",
        f"-I{PRELOAD}",
        "-lm",
        "-ldl",
    ]
    program = built(tmp_path_factory, "preempted_holder.c", *map(str, core_sources()), *flags)
    done = subprocess.run([program], capture_output=True, text=True, timeout=DEADLINE_S, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "50 found, 0 without the table\n", "")


def test_libraries_take_little_of_each_threads_stack() -> None:
    thread_local = 0
    for library in PRELOAD.glob("libiotide_*.so"):
        shown = subprocess.run([need("readelf"), "-lW", library], capture_output=True, text=True, check=True).stdout
        thread_local += sum(int(line.split()[5], 16) for line in shown.splitlines() if line.split()[:1] == ["TLS"])
    assert 0 < thread_local < 768
