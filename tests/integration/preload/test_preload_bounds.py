"""Programs that exceed the bounds of the tracer's tables: they are not affected, and the job's losses name the
bound.
"""

from __future__ import annotations

import subprocess
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from iotide.collectors.settings import TracerSettings
from iotide.collectors.tracer.preload_environment import traced_environment
from iotide.events import Kind
from iotide.events.losses import REASONS, is_loss, loss_lines
from support.system.commands import iotide, plain_environment
from support.system.waiting import DEADLINE_S, wait_for
from support.tracing.compiled_programs import built
from support.tracing.programs import need
from support.tracing.tracing import Tracing

NOT_ALLOWED = 77


@pytest.fixture(scope="session")
def bounds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory, "bounds.c")


def run(bounds: Path, tracing: Tracing, name: str, folder: Path, under: Sequence[str | Path] = ()) -> Counter[str]:
    """Run one case to its end without reading, under another command if wanted, and return the losses."""
    folder.mkdir()
    done = subprocess.run(
        [*under, bounds, name, folder],
        env=tracing.environment(),
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        check=False,
    )
    if done.returncode == NOT_ALLOWED:
        pytest.skip(f"this machine does not allow {name}")
    assert (done.returncode, done.stdout, done.stderr) == (7, "done\n", "")
    wait_for(lambda: (tracing.poll(), tracing.info and len(tracing.closed) == len(tracing.info))[1], what="all ends")
    return Counter({name: count for name, count in tracing.losses.items() if is_loss(name)})


@pytest.mark.parametrize(
    ("name", "losses"),
    [
        ("descriptors", {"details_dropped:descriptors": 2}),
        ("mappings", {"details_dropped:mappings": 1100 - 1024}),
        ("paths", {"details_dropped:paths": 5}),
        ("texts", {"details_dropped:texts": 1}),
        ("forked-files", {"details_dropped:forked_files": 1}),
    ],
)
def test_records_without_space_are_counted(
    bounds: Path, tracing: Tracing, tmp_path: Path, name: str, losses: dict[str, int]
) -> None:
    assert run(bounds, tracing, name, tmp_path / "folder") == losses


def test_paths_below_a_folder_whose_path_is_too_long_are_counted(
    bounds: Path, tracing: Tracing, tmp_path: Path
) -> None:
    losses = run(bounds, tracing, "deep-folder", tmp_path / "folder")
    assert set(losses) == {"details_dropped:paths"}
    (write,) = tracing.rows("write", path="")
    assert write.bytes == 1


def test_operations_beyond_those_told_apart_are_counted(bounds: Path, tmp_path: Path) -> None:
    with Tracing(tmp_path, ring_records=1 << 18) as tracing:
        losses = run(bounds, tracing, "operations", tmp_path / "folder")
        assert set(losses) == {"details_dropped:operations", "details_dropped:handles"}
        evicted = losses["details_dropped:handles"]
        assert evicted >= 80_000 - 65_536
        assert 80_000 - 4096 - evicted <= losses["details_dropped:operations"] <= 80_000 - 4096
        assert len(tracing.rows("io_submit")) == 80_000


def test_names_without_room_in_the_log_are_counted(bounds: Path, tracing: Tracing, tmp_path: Path) -> None:
    losses = run(bounds, tracing, "names", tmp_path / "folder")
    assert set(losses) == {"definitions_dropped"}
    named = sum(row.path.startswith("/nowhere/") for row in tracing.rows("open"))
    assert named + losses["definitions_dropped"] == 20_000


def test_full_log_costs_no_system_calls(bounds: Path, tracing: Tracing, tmp_path: Path) -> None:
    """Beside other threads, a new name blocks the thread's signals, also one without room."""
    log = tmp_path / "strace"
    strace = [need("strace"), "-f", "--seccomp-bpf", "-qq", "-e", "trace=rt_sigprocmask", "-o", log]
    without_room = run(bounds, tracing, "names-beside-a-thread", tmp_path / "folder", strace)["definitions_dropped"]
    assert without_room > 1000
    named = 20_000 - without_room
    assert 2 * named <= log.read_text().count("rt_sigprocmask") < 2 * named + 1000


def test_threads_beyond_a_region_s_rings_are_all_seen(bounds: Path, tracing: Tracing, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    done = tracing.run([bounds, "threads", folder])
    assert (done.returncode, done.stderr) == (7, "")
    lost = tracing.losses["events_dropped:no_slot"]
    seen = sum(int((batch.kind == Kind.WRITE).sum()) for batch in tracing.events().values())
    assert seen + lost >= 300
    assert {name for name in tracing.losses if is_loss(name)} <= {"events_dropped:no_slot", "bytes_dropped:no_slot"}


def test_records_without_room_in_the_ring_are_counted(bounds: Path, tmp_path: Path) -> None:
    with Tracing(tmp_path, ring_records=256) as tracing:
        losses = run(bounds, tracing, "records", tmp_path / "folder")
        dropped = losses["events_dropped:ring_full"]
        assert set(losses) == {"events_dropped:ring_full", "bytes_dropped:ring_full"}
        assert dropped + sum(len(batch) for batch in tracing.events().values()) >= 1000
        assert "raise --ring-records" in next(iter(loss_lines(losses)))


def test_run_prints_what_was_lost(bounds: Path, tmp_path: Path) -> None:
    done = iotide("run", "--no-report", "--", bounds, "mappings", tmp_path, cwd=tmp_path)
    assert done.returncode == 7
    assert f"76 {REASONS['details_dropped:mappings'].text}" in done.stderr


NESTED = """
library nested
layer OTHER
anchor nested_call
OTHER int nested_call(int more, void *again: opaque)
"""
NESTED_LIBRARY = "int nested_call(int more, int (*again)(int)) { return again(more - 1); }\n"
NESTED_PROGRAM = """
#include <unistd.h>
int nested_call(int more, int (*again)(int));
static int again(int more) { return more ? nested_call(more, again) : write(1, "deep", 4) == 4 ? 7 : 1; }
int main(void) { return again(20); }
"""


def test_calls_nested_deeper_than_is_remembered_are_counted(tmp_path: Path, tracing: Tracing) -> None:
    for name, text in (("nested.sig", NESTED), ("nested.c", NESTED_LIBRARY), ("main.c", NESTED_PROGRAM)):
        (tmp_path / name).write_text(text)
    gcc = [need("gcc"), "-O1", "-fno-optimize-sibling-calls"]
    library, program = tmp_path / "libnested.so", tmp_path / "main"
    subprocess.run([*gcc, "-shared", "-fPIC", "-o", library, tmp_path / "nested.c"], check=True)
    subprocess.run([*gcc, "-o", program, tmp_path / "main.c", library], check=True)
    built_library = iotide("preload", "build", tmp_path / "nested.sig", "-o", tmp_path, cwd=tmp_path)
    assert built_library.returncode == 0, built_library.stderr
    settings = TracerSettings(libraries=(tmp_path / "libiotide_nested.so",))
    done = tracing.run([program], env=traced_environment(plain_environment(), tracing.socket, "job", settings))
    assert (done.returncode, done.stdout) == (7, "deep")
    assert len(tracing.rows("nested_call")) == 20
    assert max(row.depth for row in tracing.rows()) == 16
    # 20 calls and a write: the first sixteen are stored.
    assert tracing.losses["details_dropped:nested"] == 20 + 1 - 16


def test_program_with_more_libraries_than_are_searched_runs(tmp_path: Path, tracing: Tracing) -> None:
    gcc = need("gcc")
    (tmp_path / "empty.c").write_text("")
    first = tmp_path / "lib0.so"
    subprocess.run([gcc, "-shared", "-nostdlib", "-o", first, tmp_path / "empty.c"], check=True)
    libraries = [first, *(tmp_path / f"lib{number}.so" for number in range(1, 600))]
    for library in libraries[1:]:
        library.write_bytes(first.read_bytes())
    text = '#include <unistd.h>\nint main(void) { return write(1, "far", 3) == 3 ? 7 : 1; }\n'
    (tmp_path / "main.c").write_text(text)
    program = tmp_path / "main"
    subprocess.run([gcc, "-o", program, tmp_path / "main.c", "-Wl,--no-as-needed", *libraries], check=True)
    done = tracing.run([program])
    assert (done.returncode, done.stdout) == (7, "far")
    assert [row.bytes for row in tracing.rows("write")] == [3]
