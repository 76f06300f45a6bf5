"""Generated wrappers pass on every argument and result, and record the events of the signature file."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from iotide.collectors.settings import TracerSettings
from iotide.collectors.tracer.preload_environment import traced_environment, tracer_path
from iotide.events import Kind, Layer
from support.system.commands import plain_environment
from support.system.waiting import DEADLINE_S
from support.tracing.odd_signatures import Nasty, build_nasty
from support.tracing.programs import need
from support.tracing.tracing import Row, Tracing

BLOCKING, COLLECTIVE, FAILED, APPEND = 1, 2, 4, 8


@pytest.fixture(scope="module")
def nasty(tmp_path_factory: pytest.TempPathFactory) -> Nasty:
    return build_nasty(tmp_path_factory.mktemp("nasty"))


def untraced(nasty: Nasty, folder: Path, **environment: str) -> str:
    done = subprocess.run(
        [nasty.program, folder / "data"],
        env=plain_environment(**environment),
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        check=True,
    )
    assert done.stderr == ""
    return done.stdout


class Traced:
    def __init__(self, nasty: Nasty, folder: Path) -> None:
        with Tracing(folder) as tracing:
            settings = TracerSettings(libraries=(nasty.wrappers,))
            env = traced_environment(plain_environment(), tracing.socket, "job", settings)
            done = tracing.run([nasty.program, folder / "data"], env=env)
            assert (done.returncode, done.stderr) == (0, "")
            self.output = done.stdout
            self.rows = tracing.rows()
            self.data = str(folder / "data")

    def of(self, call: str) -> list[Row]:
        return [row for row in self.rows if row.call == call]

    def below(self, row: Row) -> list[Row]:
        return [
            each for each in self.rows if each.depth > row.depth and row.start <= each.start and each.end <= row.end
        ]


@pytest.fixture(scope="module")
def traced(nasty: Nasty, tmp_path_factory: pytest.TempPathFactory) -> Traced:
    return Traced(nasty, tmp_path_factory.mktemp("traced"))


def test_arguments_results_and_errno_are_the_same_traced_and_untraced(
    nasty: Nasty, traced: Traced, tmp_path: Path
) -> None:
    bare = untraced(nasty, tmp_path)

    assert "big 1099511627775 5.5 bcdefghijklmnopqrstuvwx errno 88" in bare
    assert traced.output == bare


def test_wrappers_without_a_collector_only_pass_calls_on(nasty: Nasty, tmp_path: Path) -> None:
    preload = os.pathsep.join([str(tracer_path()), str(nasty.wrappers)])

    assert untraced(nasty, tmp_path, LD_PRELOAD=preload) == untraced(nasty, tmp_path)


def test_wrappers_without_the_core_pass_calls_on_too(nasty: Nasty, tmp_path: Path) -> None:
    assert untraced(nasty, tmp_path, LD_PRELOAD=str(nasty.wrappers)) == untraced(nasty, tmp_path)


def test_wrappers_without_the_core_find_a_library_that_only_its_caller_sees(nasty: Nasty, tmp_path: Path) -> None:
    """Loaded with RTLD_LOCAL, the real functions are not in the global search order."""
    source, plugin, host = tmp_path / "plugin.c", tmp_path / "plugin.so", tmp_path / "host.c"
    source.write_text("short nasty_char(); int answer(void) { return nasty_char(1, 2, 4, 8) + 100; }\n")
    library = nasty.program.parent
    compiler = [need("gcc"), "-w"]
    linked = [f"-L{library}", "-lnasty", f"-Wl,-rpath,{library}"]
    subprocess.run([*compiler, "-fPIC", "-shared", "-o", plugin, source, *linked], check=True)
    host.write_text(
        """
        #include <dlfcn.h>
        #include <stdio.h>
        int main(int count, char **words) {
            void *plugin = count == 2 ? dlopen(words[1], RTLD_NOW | RTLD_LOCAL) : 0;
            return plugin ? printf("%d\\n", ((int (*)(void))dlsym(plugin, "answer"))()) < 0 : 1;
        }
        """
    )
    subprocess.run([*compiler, "-o", tmp_path / "host", host], check=True)

    env = plain_environment(LD_PRELOAD=str(nasty.wrappers))
    done = subprocess.run([tmp_path / "host", plugin], env=env, capture_output=True, text=True, check=True)

    assert (done.stdout, done.stderr) == ("115\n", "")


def test_valgrind_finds_nothing_wrong_in_wrappers(nasty: Nasty, tmp_path: Path) -> None:
    with Tracing(tmp_path) as tracing:
        settings = TracerSettings(libraries=(nasty.wrappers,))
        env = traced_environment(plain_environment(), tracing.socket, "job", settings)
        command = [need("valgrind"), "-q", "--error-exitcode=9", nasty.program, tmp_path / "data"]
        done = tracing.run(command, env=env)

    assert (done.returncode, done.stderr) == (0, "")
    assert len([row for row in tracing.rows() if row.layer == Layer.OTHER]) > 30


def test_every_machine_type_is_shown(traced: Traced) -> None:
    shown = [row.signature for row in traced.rows if row.layer == Layer.OTHER]

    for expected in [
        "nasty_char(a=-7, b=241, c=-12345, d=65244) = 19",
        "nasty_many(a=-1, b=4294967294, c=-3, d=18446744073709551360, e=-5, f=1152921504606846976, g=-7, h=-8, i=-9,"
        " j=10) = -3458764500935641097",
        "nasty_float(a=1.5, b=2.25, c=3.125) = 15.375",
        "nasty_long_double(a=1.0, b=0.25)",
        "nasty_bool(a=1, b=0) = 1",
        "nasty_point(x=1.5)",
        "nasty_big(c=-1, sum=103)",
        'nasty_string(text="text, with (all): \\"%s\\"", out="text, with (all", room=16) = "ext, with (all): \\"%s\\""',
        "nasty_string(text=?, out=?, room=16) = ?",
        "nasty_numbers(level=-10, mask=0xf0000000, factor=0.1, choice=SOME-OF.IT, request=0xbeef, there=7,"
        " seen=0xbeef)",
        f"nasty_number(fd=1, directory=-100, path={Path.cwd()}/relative)",
        'nasty_print(format="print %d %s %g\\x0a")',
        "nasty_stream(stream=1)",
    ]:
        assert expected in shown


def test_arrays_are_cut_after_sixteen_and_not_read_when_absent_or_failed(traced: Traced) -> None:
    three, twenty, absent, failed = (row.signature for row in traced.of("nasty_arrays"))

    assert (
        three
        == "nasty_arrays(n=3, a=[0, -1, -2], b=[250, 249, 248], c=[-1, -1, -1], d=[4000000000, 4000000000, 4000000000])"
    )
    elements = ", ".join(str(-i) for i in range(14))  # four arrays share the space of a record
    assert f"n=20, a=[{elements}, ...], b=[250," in twenty
    assert "n=2, a=[], b=[250, 249]" in absent
    assert failed == "nasty_arrays(n=31, a=[], b=[], c=[], d=[])"


def test_handles_make_a_tree_with_what_is_done_below_them(traced: Traced) -> None:
    missing, opened = traced.of("nasty_open")
    assert (missing.path, missing.errno, missing.flags & FAILED) == ("/nonexistent/file", 2, FAILED)
    assert (opened.path, opened.kind, opened.depth) == (traced.data, Kind.CREATE, 0)
    (below,) = traced.below(opened)
    assert (below.call, below.parent, below.depth) == ("open", opened.handle, 1)
    child, refused = traced.of("nasty_child")
    assert (child.parent, child.path) == (opened.handle, traced.data)
    assert child.signature.startswith(f"nasty_child(parent=#{opened.handle}, made=#{child.handle}, twin=#")
    assert (refused.errno, refused.flags & FAILED) == (22, FAILED)
    first, second = traced.of("nasty_write")
    assert (first.handle, first.offset, first.requested, first.bytes) == (child.handle, 0, 12, 12)
    assert first.flags == COLLECTIVE | APPEND
    assert [row.parent for row in traced.below(first)] == [child.handle]
    busy, *_ = traced.of("nasty_close")
    assert (busy.handle, busy.errno) == (opened.handle, 16)
    assert (second.handle, second.path) == (opened.handle, traced.data)  # still there after the failed close


def test_handle_that_is_gone_is_not_known_any_more(traced: Traced) -> None:
    *_, again = traced.of("nasty_close")
    (freed,) = traced.of("nasty_free")

    assert (again.handle, again.path, again.errno) == (0, "", 9)
    assert freed.signature.endswith('why="no longer needed")')
    assert freed.path == traced.data


def test_calls_that_a_library_makes_of_itself_are_left_out(traced: Traced) -> None:
    rows = traced.of("nasty_seek64")

    assert sorted(row.offset for row in rows) == [4, 5]
    assert {row.depth for row in rows} == {0}
    assert all([below.call for below in traced.below(row)] == ["lseek"] for row in rows)


def test_callbacks_and_nothing_are_recorded_too(traced: Traced) -> None:
    for call in ["nasty_callback", "nasty_context", "nasty_grid", "nasty_nothing", "nasty_complex", "nasty_doubles"]:
        assert len(traced.of(call)) == 1
    assert traced.of("nasty_remove")[0].path == traced.data
