"""Creation of processes and threads in strace output."""

from __future__ import annotations

from typing import Any

import pytest
from iotide.collectors.sources.strace.parser import StraceParser
from iotide.events import Kind, Layer
from support.formats.parsing import only_stream, parse

THREAD = "child_stack=0x7f, flags=CLONE_VM|CLONE_FILES|CLONE_THREAD|CLONE_SETTLS, parent_tid=[9]"
PROCESS = "child_stack=NULL, flags=CLONE_CHILD_CLEARTID|SIGCHLD, child_tidptr=0x7f"


def rows_of(*lines: str) -> list[dict[str, Any]]:
    text = "".join(f"{line}\n" for line in lines).encode()
    return only_stream(parse(StraceParser, text)[0]).rows()


@pytest.mark.parametrize(
    "call", [f"clone({PROCESS})", "clone3({flags=CLONE_VFORK, exit_signal=SIGCHLD}, 88)", "fork()", "vfork()"]
)
def test_a_process_that_is_made_is_told_with_its_maker(call: str) -> None:
    (row,) = rows_of(f"17 1.5 {call} = 18 <0.25>")
    assert (row["call"], row["layer"], row["kind"]) == (call.partition("(")[0], Layer.KERNEL, Kind.OTHER)
    assert (row["pid"], row["tid"], row["handle"], row["duration"]) == (17, 17, 18, 0)


def test_halves_of_a_fork_are_joined() -> None:
    rows = rows_of(
        "17 1.0 fork( <unfinished ...>", "18 1.1 close(3</x>) = 0 <0.1>", "17 1.2 <... fork resumed>) = 18 <0.2>"
    )
    assert [(row["call"], row["tid"], row["handle"]) for row in rows] == [("close", 18, 0), ("fork", 17, 18)]


def test_threads_belong_to_the_process_of_their_maker_and_so_do_theirs() -> None:
    rows = rows_of(
        f"17 1.0 clone({THREAD}) = 18 <0.1>",
        f"18 1.1 clone({THREAD}) = 19 <0.1>",
        "19 1.2 close(3</x>) = 0 <0.1>",
        "18 1.3 fork() = 20 <0.1>",
        "20 1.4 close(3</x>) = 0 <0.1>",
    )
    assert [(row["call"], row["pid"], row["tid"]) for row in rows] == [
        ("close", 17, 19),
        ("fork", 17, 18),
        ("close", 20, 20),
    ]


def test_the_number_of_a_thread_that_is_gone_may_be_a_processs() -> None:
    rows = rows_of(f"17 1.0 clone({THREAD}) = 18 <0.1>", "21 1.1 fork() = 18 <0.1>", "18 1.2 close(3</x>) = 0 <0.1>")
    assert [(row["pid"], row["tid"]) for row in rows] == [(21, 21), (18, 18)]


@pytest.mark.parametrize("result", ["0", "-1 EAGAIN (Resource temporarily unavailable)", "999999999999", "?"])
def test_failed_clone_is_left_out(result: str) -> None:
    rows = rows_of(f"17 1.0 clone(3</x>) = {result} <0.1>", "17 1.1 close(3</x>) = 0 <0.1>")
    assert [row["call"] for row in rows] == ["close"]


def test_a_maker_without_a_number_is_left_out() -> None:
    assert [row["call"] for row in rows_of("1.0 fork() = 7 <0.1>", "1.1 close(3</x>) = 0 <0.1>")] == ["close"]
