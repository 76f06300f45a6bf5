"""What ``iotide run`` costs commands that are short, or start many short processes, as its user sees it.

Pairs of an untraced and a traced run in changing order, IOTIDE_PAIRS (5) of each: a small C project built by
``make -j2``, 2,000 children that write a little and end, 500 programs that do nothing, and ``true`` alone. The whole of
``iotide run`` counts: its start, report and archive.

CPU time tells the program's own (``times`` of the shell around it) from iotide's, which is the rest.
"""

from __future__ import annotations

import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from _figures import Figure, report
from _tracers import bare_environment

PAIRS: Final = int(os.environ.get("IOTIDE_PAIRS", "5"))
FILES: Final = 60
FUNCTIONS: Final = 8
FORKS: Final = 2000
PROGRAMS: Final = 500
_TIMED: Final = 'began=$(date +%s.%N); "$@"; status=$?; { echo $began $(date +%s.%N); times; } >"$TIMES"; exit $status'
"""Of sh: runs its arguments, and says from when to when they ran, and what CPU time they took."""


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a command; all in s.

    Attributes:
        wall: of the whole.
        own_wall: from the program's start to its end.
        own_cpu: of the program and its children.
        other_cpu: of all else, which is iotide.
    """

    wall: float
    own_wall: float
    own_cpu: float
    other_cpu: float


def make_project(folder: Path) -> None:
    """Writes a C project of ``FILES`` files and a Makefile."""
    functions = [(file, number) for file in range(FILES) for number in range(FUNCTIONS)]
    folder.mkdir()
    for file in range(FILES):
        text = '#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include "all.h"\n'
        for number in range(FUNCTIONS):
            text += (
                f"int f{file}_{number}(int x, const char *s) {{ char text[64];"
                f' snprintf(text, sizeof text, "%d %s", x * {number + 3}, s); return (int)strlen(text) + {file}; }}\n'
            )
        (folder / f"f{file}.c").write_text(text)
    (folder / "all.h").write_text("".join(f"int f{file}_{number}(int, const char *);\n" for file, number in functions))
    calls = "".join(f' sum += f{file}_{number}({file}, "a");\n' for file, number in functions)
    (folder / "main.c").write_text(
        f'#include <stdio.h>\n#include "all.h"\nint main(void) {{\n int sum = 0;\n{calls} printf("%d\\n", sum);\n}}\n'
    )
    objects = " ".join([*(f"f{file}.o" for file in range(FILES)), "main.o"])
    (folder / "Makefile").write_text(
        f"prog: {objects}\n\tcc -o $@ $^\n%.o: %.c all.h\n\tcc -O1 -c -o $@ $<\nclean:\n\trm -f *.o prog\n"
    )


def _seconds(text: str) -> float:
    minutes, _, seconds = text.strip().rstrip("s").partition("m")
    return 60 * float(minutes) + float(seconds)


def run_once(command: Sequence[str], folder: Path, *, traced: bool) -> Run:
    """Runs a command in a folder, under ``iotide run`` or not."""
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
    """Returns pairs of an untraced and a traced run."""
    pairs = []
    for number in range(PAIRS + 1):
        runs = {}
        for traced in (False, True) if number % 2 else (True, False):
            if clean:
                subprocess.run(clean, cwd=folder, check=True, stdout=subprocess.DEVNULL)
            runs[traced] = run_once(command, folder, traced=traced)
        if number:  # the first fills caches
            pairs.append((runs[False], runs[True]))
    return pairs


def figures_of(name: str, pairs: Sequence[tuple[Run, Run]], processes: int, budget: str) -> list[Figure]:
    """Returns medians of the pairs."""

    def median(values: Sequence[float]) -> float:
        return statistics.median(values)

    bare = median([run.wall for run, _ in pairs])
    longer = median([traced.wall / untraced.wall for untraced, traced in pairs])
    own = median([traced.own_wall / untraced.own_wall for untraced, traced in pairs])
    more = median([traced.own_cpu - untraced.own_cpu for untraced, traced in pairs]) / processes
    ours = median([traced.other_cpu for _, traced in pairs])
    return [
        Figure(f"{name}: untraced", bare, "s", better="lower"),
        Figure(f"{name}: whole run, times untraced", longer, "x", budget, better="lower"),
        Figure(f"{name}: the program itself, times untraced", own, "x", better="lower"),
        Figure(f"{name}: CPU time added to each process", more * 1e6, "us", better="lower"),
        Figure(f"{name}: iotide's own CPU time", ours, "s", better="lower"),
    ]


def measure() -> list[Figure]:
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory() as name:
        project, program = Path(name) / "project", Path(name) / "short_processes"
        make_project(project)
        subprocess.run(["cc", "-O2", "-o", program, Path(__file__).with_name("_short_processes.c")], check=True)
        build = pairs_of(["make", "-s", "-j2"], project, ["make", "-s", "clean"])
        figures += figures_of(f"make -j2 of {FILES} files", build, 3 * FILES, "<= 1.25 x")
        forks = pairs_of([str(program), "fork", str(FORKS)], project)
        figures += figures_of(f"{FORKS:,} forks", forks, FORKS, "<= 2 x")
        programs = pairs_of([str(program), "exec", str(PROGRAMS), "/bin/true"], project)
        figures += figures_of(f"{PROGRAMS} programs", programs, PROGRAMS, "")
        nothing = pairs_of(["true"], project)
        added = statistics.median([traced.wall - untraced.wall for untraced, traced in nothing])
        figures.append(Figure("true: whole run, longer than untraced", added, "s", "<= 0.4 s", better="lower"))
        own = statistics.median([traced.other_cpu for _, traced in nothing])
        figures.append(Figure("true: iotide's own CPU time", own, "s", better="lower"))
    return figures


if __name__ == "__main__":
    report(measure())
