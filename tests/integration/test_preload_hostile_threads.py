"""Programs that are hard on the tracer by their threads and signals: they do not notice, and all is accounted for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from iotide.events import Kind
from support.accounting import account, run_both
from support.building import built
from support.tracing import Tracing


@pytest.fixture(scope="module")
def threaded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory, "threaded.c")


@pytest.fixture
def tracing(tmp_path: Path) -> Iterator[Tracing]:
    with Tracing(tmp_path) as made:
        yield made


@pytest.mark.parametrize(
    ("name", "most_dropped"),
    [
        ("waves", 4000),  # a thread that comes while another makes the next region is counted, not kept waiting
        ("at-once", 1000),
        ("destructors", 30),
        ("forking-threads", 0),
        ("cancelled", 0),
        ("jumps", 0),
        ("own-stack", 0),
        ("faults", 0),
        ("storm", 2000),  # what a handler does while a record is being stored is counted
        ("threads-in-a-storm", 100_000),
    ],
)
def test_every_call_is_seen_or_counted(
    threaded: Path, tracing: Tracing, tmp_path: Path, name: str, most_dropped: int
) -> None:
    file = tmp_path / "out"
    done = run_both(tracing, [threaded, name, file], file)
    assert (done.returncode, done.stdout, done.stderr) == (7, "done\n", "")
    account(tracing, file).check(most_dropped=most_dropped)


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
