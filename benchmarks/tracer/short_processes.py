"""Cost of ``iotide run`` for short commands and for commands that start many short processes.

Pairs of an untraced and a traced run in changing order, IOTIDE_PAIRS (5) of each, of all parts or of the named ones:

- ``build``: a small C project, built by ``make -j2``
- ``long-build``: 200 files with as much code as those of real projects, built by ``make -j2``
- ``forks``: 2,000 children that write a little and end
- ``silent``: 2,000 children that end at once; ``silent-shell``: the same, started by a shell
- ``programs``: 500 programs that do nothing
- ``shell``: a shell that starts ``/bin/true`` 2,000 times
- ``subshells``: a shell with 2,000 subshells that each write a file
- ``python``: 2,000 times ``os.fork`` in Python, whose child writes a file
- ``true``: ``true`` alone, and ``cp`` of a small file

The whole of ``iotide run`` is measured, including its start, report and archive.

The files of ``build`` are small, and include libc headers only: a compiler takes 0.04 s for each. Start, end and the
cost per process have more weight here than in real projects. A file of ``long-build`` takes 0.2 s.

Ratios of CPU time depend less on other processes of the machine than those of time. A build keeps both cores busy, so
the two are close on an idle machine with two cores.

``library`` runs the programs of ``forks`` and ``build`` with the tracer's library and a listener that accepts their
processes and reads nothing: a lower bound for any collector. With the time that ``iotide run`` adds to ``true``, it is
the least time of a run whose collection and analysis would cost nothing (``least``).

The program's own CPU time comes from ``times`` of the shell around it; the rest is iotide's.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from iotide.benchmarks.common.figures import Figure, report
from iotide.benchmarks.common.processes import PROGRAMS
from iotide.benchmarks.common.tracers import bare_environment, ours

PAIRS: Final = int(os.environ.get("IOTIDE_PAIRS", "5"))
FILES: Final = 60
FUNCTIONS: Final = 8
LONG_FILES: Final = 200
LONG_FUNCTIONS: Final = 20
FORKS: Final = 2000
STARTED: Final = 500
_EACH: Final = 'i=0; while [ $i -lt "$1" ]; do {}; i=$((i + 1)); done'
_PYTHON: Final = """
import os, sys
for number in range(int(sys.argv[1])):
    if not (child := os.fork()):
        with open(f"out{number % 10}", "w") as file:
            file.write("hello\\n")
        os._exit(0)
    os.waitpid(child, 0)
"""
_LISTENER: Final = """
import os, socket, sys
listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
listener.bind(sys.argv[1])
listener.listen(4096)
print(flush=True)
while True:
    peer = listener.accept()[0]
    for descriptor in socket.recv_fds(peer, 256, 1)[1]:
        os.close(descriptor)
    peer.close()
"""
_SHORT: Final = """
 char text[64];
 snprintf(text, sizeof text, "%%d %%s", x * %(number)d, s);
 return (int)strlen(text) + %(number)d;"""
_LONG: Final = """
 char text[128];
 double sum = 0, table[64];
 for (int i = 0; i < 64; i++) table[i] = sqrt(i * %(number)d.0 + x);
 for (int i = 0; i < 1000; i++) sum += table[i %% 64] * (i ^ x) + (double)strlen(s);
 switch (x %% 7) {
 case 0: sum *= 2; break;
 case 1: sum += %(number)d; break;
 case 2: sum /= 3; break;
 default: sum = -sum;
 }
 snprintf(text, sizeof text, "%%d %%s %%f", x * %(number)d, s, sum);
 return (int)strlen(text) + %(number)d;"""
_TIMED: Final = 'began=$(date +%s.%N); "$@"; status=$?; { echo $began $(date +%s.%N); times; } >"$TIMES"; exit $status'
"""Script for sh: runs its arguments, and prints the start, the end and the CPU time of their run."""


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a command; all times in s.

    Attributes:
        wall: of the whole run.
        own_wall: from the program's start to its end.
        own_cpu: of the program and its children.
        other_cpu: of all other processes, which are iotide's.
    """

    wall: float
    own_wall: float
    own_cpu: float
    other_cpu: float

    @property
    def cpu(self) -> float:
        """CPU time of all."""
        return self.own_cpu + self.other_cpu


def make_project(folder: Path) -> None:
    """Write a C project of small files."""
    _write_project(folder, FILES, FUNCTIONS, "cc -O1", ("stdio", "stdlib", "string"), _SHORT)


def make_long_project(folder: Path) -> None:
    """Write a C project with files of the size of real projects."""
    headers = ("stdio", "stdlib", "string", "math", "unistd", "errno", "fcntl", "signal", "time", "pthread")
    _write_project(
        folder, LONG_FILES, LONG_FUNCTIONS, "cc -O2", (*headers, "sys/stat", "sys/socket", "netinet/in"), _LONG
    )


def _write_project(folder: Path, files: int, functions: int, compiler: str, headers: Sequence[str], body: str) -> None:
    """Write the files and a Makefile."""
    names = [[f"f{file}_{number}" for number in range(functions)] for file in range(files)]
    folder.mkdir()
    for file, each in enumerate(names):
        text = "".join(f"#include <{header}.h>\n" for header in headers) + '#include "all.h"\n'
        for number, name in enumerate(each):
            text += f"int {name}(int x, const char *s) {{{body % {'number': number + 3}} }}\n"
        (folder / f"f{file}.c").write_text(text)
    everything = [name for each in names for name in each]
    (folder / "all.h").write_text("".join(f"int {name}(int, const char *);\n" for name in everything))
    calls = "".join(f' sum += {name}({number}, "a");\n' for number, name in enumerate(everything))
    (folder / "main.c").write_text(
        f'#include <stdio.h>\n#include "all.h"\nint main(void) {{\n int sum = 0;\n{calls} printf("%d\\n", sum);\n}}\n'
    )
    objects = " ".join([*(f"f{file}.o" for file in range(files)), "main.o"])
    (folder / "Makefile").write_text(
        f"prog: {objects}\n\tcc -o $@ $^ -lm\n%.o: %.c all.h\n\t{compiler} -c -o $@ $<\nclean:\n\trm -f *.o prog\n"
    )


def _seconds(text: str) -> float:
    minutes, _, seconds = text.strip().rstrip("s").partition("m")
    return 60 * float(minutes) + float(seconds)


def run_once(command: Sequence[str], folder: Path, *, traced: bool) -> Run:
    """Run a command in a folder, under ``iotide run`` or not."""
    times, output = folder.parent / "times", folder.parent / "report"
    prefix = [sys.executable, "-m", "iotide", "run", "--quiet", "-o", str(output), "--"] if traced else []
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(
        [*prefix, "sh", "-c", _TIMED, "sh", *command],
        env={**bare_environment(), "TIMES": str(times)},
        cwd=folder,
        stdout=subprocess.DEVNULL,
        check=True,
    )
    wall = time.perf_counter() - begun
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if traced:
        if not (output / "report.html").is_file():
            raise RuntimeError("the run was not observed to its end")
        shutil.rmtree(output)
    span, *used = times.read_text().splitlines()
    start, end = map(float, span.split())
    own_cpu = sum(_seconds(word) for line in used for word in line.split())
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Run(wall, end - start, own_cpu, cpu - own_cpu)


def pairs_of(command: Sequence[str], folder: Path, clean: Sequence[str] = ()) -> list[tuple[Run, Run]]:
    """Return pairs of an untraced and a traced run."""
    pairs = []
    for number in range(PAIRS + 1):
        runs = {}
        for traced in (False, True) if number % 2 else (True, False):
            if clean:
                subprocess.run(clean, cwd=folder, check=True, stdout=subprocess.DEVNULL)
            runs[traced] = run_once(command, folder, traced=traced)
        if number:  # the first pair fills caches
            pairs.append((runs[False], runs[True]))
    return pairs


def figures_of(name: str, pairs: Sequence[tuple[Run, Run]], processes: int, budget: str) -> list[Figure]:
    """Return medians of the pairs."""

    def median(values: Sequence[float]) -> float:
        return statistics.median(values)

    bare = median([run.wall for run, _ in pairs])
    longer = median([traced.wall / untraced.wall for untraced, traced in pairs])
    own = median([traced.own_wall / untraced.own_wall for untraced, traced in pairs])
    more = median([traced.own_cpu - untraced.own_cpu for untraced, traced in pairs]) / processes
    ours = median([traced.other_cpu for _, traced in pairs])
    own_cpu = median([traced.own_cpu / untraced.own_cpu for untraced, traced in pairs])
    all_cpu = median([traced.cpu / untraced.cpu for untraced, traced in pairs])
    return [
        Figure(f"{name}: untraced", bare, "s", better="lower"),
        Figure(f"{name}: whole run, ratio to untraced", longer, "x", budget, better="lower"),
        Figure(f"{name}: the program itself, ratio to untraced", own, "x", better="lower"),
        Figure(f"{name}: CPU time of the whole run, ratio to untraced", all_cpu, "x", better="lower"),
        Figure(f"{name}: CPU time of the program, ratio to untraced", own_cpu, "x", better="lower"),
        Figure(f"{name}: CPU time added per process", more * 1e6, "us", better="lower"),
        Figure(f"{name}: iotide's own CPU time", ours, "s", better="lower"),
        Figure(
            f"{name}: iotide's own CPU time with start and end, per process",
            ours / processes * 1e3,
            "ms",
            better="lower",
        ),
    ]


def _of_build(folder: Path) -> list[Figure]:
    make_project(folder / "project")
    pairs = pairs_of(["make", "-s", "-j2"], folder / "project", ["make", "-s", "clean"])
    return figures_of(f"make -j2 of {FILES} files", pairs, 3 * FILES, "<= 1.25 x")


def _of_long_build(folder: Path) -> list[Figure]:
    make_long_project(folder / "project")
    pairs = pairs_of(["make", "-s", "-j2"], folder / "project", ["make", "-s", "clean"])
    name = f"make -j2 of {LONG_FILES} files of usual size"
    return figures_of(name, pairs, 3 * LONG_FILES, "<= 1.25 x")


def _of_programs(folder: Path, how: str, count: int, name: str, budget: str, *further: str) -> list[Figure]:
    program = folder / "short_processes"
    subprocess.run(["cc", "-O2", "-o", program, PROGRAMS / "short_processes.c"], check=True)
    return figures_of(f"{count:,} {name}", pairs_of([str(program), how, str(count), *further], folder), count, budget)


def _of_shell(folder: Path, body: str, name: str) -> list[Figure]:
    command = ["sh", "-c", _EACH.format(body), "sh", str(FORKS)]
    return figures_of(f"{FORKS:,} {name}", pairs_of(command, folder), FORKS, "")


def _of_python(folder: Path) -> list[Figure]:
    command = [sys.executable, "-c", _PYTHON, str(FORKS)]
    return figures_of(f"{FORKS:,} os.fork", pairs_of(command, folder), FORKS, "")


def _of_true(folder: Path) -> list[Figure]:
    source = folder / "source"
    source.write_bytes(bytes(4096))
    return [*_of_command("true", ["true"], folder), *_of_command("cp", ["cp", str(source), "copy"], folder)]


def _of_command(name: str, command: Sequence[str], folder: Path) -> list[Figure]:
    """Return the time that iotide adds to one process; no shell runs around it, which would be traced, too."""
    output, pairs = folder.parent / "report", []
    prefix = [sys.executable, "-m", "iotide", "run", "--quiet", "-o", str(output), "--"]
    for number in range(PAIRS + 1):
        untraced, traced = _times_of(command, folder), _times_of([*prefix, *command], folder)
        shutil.rmtree(output)
        if number:  # the first pair fills caches
            pairs.append((traced[0] - untraced[0], traced[1] - untraced[1]))
    wall, cpu = (statistics.median(values) for values in zip(*pairs, strict=True))
    return [
        Figure(f"{name}: whole run, added to untraced", wall, "s", "<= 0.4 s", better="lower"),
        Figure(f"{name}: CPU time added", cpu, "s", better="lower"),
    ]


def _times_of(
    command: Sequence[str], folder: Path, environment: Mapping[str, str] | None = None
) -> tuple[float, float]:
    """Return wall and CPU time of a command, s."""
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, env=environment or bare_environment(), cwd=folder, stdout=subprocess.DEVNULL, check=True)
    wall, after = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _of_library(folder: Path) -> list[Figure]:
    program, gate, project = folder / "short_processes", folder / "listener", folder / "project"
    subprocess.run(["cc", "-O2", "-o", program, PROGRAMS / "short_processes.c"], check=True)
    make_project(project)
    forks, build = [str(program), "fork", str(FORKS)], ["make", "-s", "-B", "-j2"]
    with subprocess.Popen([sys.executable, "-c", _LISTENER, str(gate)], stdout=subprocess.PIPE) as listener:
        try:
            if listener.stdout is None or not listener.stdout.readline():
                raise RuntimeError("the listener does not listen")
            traced = {**bare_environment(), **ours(gate).environment}
            pairs = [_library_pairs(*each, traced) for each in ((forks, folder), (build, project))]
        finally:
            listener.kill()
    fixed = _of_command("true", ["true"], folder)[0].value
    return [
        *_library_figures(f"{FORKS:,} forks", pairs[0], FORKS, fixed),
        *_library_figures(f"make -j2 of {FILES} files", pairs[1], 3 * FILES, fixed),
    ]


_Times = tuple[float, float]
"""Wall and CPU time, s."""


def _library_pairs(command: Sequence[str], folder: Path, traced: Mapping[str, str]) -> list[tuple[_Times, _Times]]:
    """Return the times of pairs of an untraced and a traced run; the first pair fills caches and is left out."""
    pairs = []
    for number in range(PAIRS + 1):
        order = (None, traced) if number % 2 else (traced, None)
        used = {environment is traced: _times_of(command, folder, environment) for environment in order}
        pairs.append((used[False], used[True]))
    return pairs[1:]


def _library_figures(name: str, pairs: Sequence[tuple[_Times, _Times]], processes: int, fixed: float) -> list[Figure]:
    name = f"{name}, the library alone"
    added = statistics.median([traced[1] - bare[1] for bare, traced in pairs])
    least = statistics.median([(traced[0] + fixed) / bare[0] for bare, traced in pairs])
    return [
        Figure(f"{name}: untraced", statistics.median([bare[0] for bare, _ in pairs]), "s", better="lower"),
        Figure(f"{name}: ratio to untraced", statistics.median([b[0] / a[0] for a, b in pairs]), "x", better="lower"),
        Figure(
            f"{name}: CPU time, ratio to untraced", statistics.median([b[1] / a[1] for a, b in pairs]), "x",
            better="lower",
        ),
        Figure(f"{name}: CPU time added per process", added / processes * 1e6, "us", better="lower"),
        Figure(f"{name}: least ratio of a whole run", least, "x", better="lower"),
    ]  # fmt: skip


PARTS: Final[Mapping[str, Callable[[Path], list[Figure]]]] = {
    "build": _of_build,
    "long-build": _of_long_build,
    "forks": lambda folder: _of_programs(folder, "fork", FORKS, "forks", "<= 2 x"),
    "library": _of_library,
    "silent": lambda folder: _of_programs(folder, "none", FORKS, "forks that end at once", "<= 2 x"),
    "silent-shell": lambda folder: _of_shell(folder, "(:)", "subshells that end at once"),
    "programs": lambda folder: _of_programs(folder, "exec", STARTED, "programs", "", "/bin/true"),
    "shell": lambda folder: _of_shell(folder, "/bin/true", "/bin/true of a shell"),
    "subshells": lambda folder: _of_shell(folder, "(echo hello >out$i)", "subshells"),
    "python": _of_python,
    "true": _of_true,
}


def measure(parts: Sequence[str] = tuple(PARTS)) -> list[Figure]:
    figures: list[Figure] = []
    for part in parts:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name) / "work"
            folder.mkdir()
            figures += PARTS[part](folder)
    return figures


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Measure the cost of iotide run for short processes.")
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"parts to measure: {', '.join(PARTS)}; default: all")
    chosen = parser.parse_args().parts
    if unknown := [part for part in chosen if part not in PARTS]:
        parser.error(f"no part is called {', '.join(unknown)}")
    report(measure(chosen or tuple(PARTS)))
