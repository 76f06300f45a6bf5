"""Scripts with little I/O in phases after a large start-up, that log the start of each phase."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from support.tracing.programs import need


@dataclass(frozen=True, slots=True)
class Phases:
    """Phases of a script: bytes per phase, number of requests, and pauses."""

    count: int = 8
    size: int = 50_000
    requests: int = 5
    pause_s: float = 0.4
    way: str = "write"
    """Or ``read``."""
    burst: int = 0
    """Bytes of input that the script reads once before its phases."""


_PYTHON: Final = """
import {imports}
import os, sys, time
count, requests, piece, pause, way, burst = {count}, {requests}, {piece}, {pause_s}, {way!r}, {burst}
log = []
if burst:
    with open("input", "rb", buffering=0) as file:
        while file.read(1 << 20):
            pass
with open("phases", "r+b" if way == "read" else "w+b", buffering=0) as file:
    for _ in range(count):
        log.append(time.time())
        for _ in range(requests):
            file.read(piece) if way == "read" else file.write(b"x" * piece)
        time.sleep(pause)
print("\\n".join(map(repr, log)))
"""
_PERL: Final = """
use strict; use warnings; use POSIX; use Data::Dumper; use File::Find; use Storable; use Time::HiRes qw(time sleep);
my ($count, $requests, $piece, $pause, $way, $burst) = ({count}, {requests}, {piece}, {pause_s}, "{way}", {burst});
my @log; my $data = "x" x $piece; my $got;
if ($burst) {{ open(my $in, "<", "input"); 1 while sysread($in, $got, 1 << 20); close $in; }}
open(my $file, $way eq "read" ? "<" : ">", "phases") or die;
for (1 .. $count) {{
    push @log, time;
    for (1 .. $requests) {{ $way eq "read" ? sysread($file, $got, $piece) : syswrite($file, $data); }}
    sleep $pause;
}}
print join("\\n", map {{ sprintf "%.6f", $_ }} @log), "\\n";
"""
_SHELL: Final = """
[ {burst} -eq 0 ] || cat input > /dev/null
for phase in $(seq {count}); do
    date +%s.%N
    if [ {way} = read ]; then
        dd if=phases of=/dev/null bs={piece} count={requests} skip=$(( (phase - 1) * {requests} )) 2> errors
    else
        dd if=/dev/zero of=phases bs={piece} count={requests} 2> errors
    fi
    sleep {pause_s}
done
"""
_JAVA: Final = """
import java.io.*;
public class Phased {{
    public static void main(String[] none) throws Exception {{
        byte[] data = new byte[{piece}], large = new byte[1 << 20];
        StringBuilder log = new StringBuilder();
        if ({burst} > 0) try (InputStream in = new FileInputStream("input")) {{ while (in.read(large) > 0); }}
        boolean reads = "{way}".equals("read");
        try (RandomAccessFile file = new RandomAccessFile("phases", reads ? "r" : "rw")) {{
            for (int phase = 0; phase < {count}; phase++) {{
                log.append(System.currentTimeMillis() / 1e3).append("\\n");
                for (int i = 0; i < {requests}; i++) {{ if (reads) file.read(data); else file.write(data); }}
                Thread.sleep((long) ({pause_s} * 1e3));
            }}
        }}
        System.out.print(log);
    }}
}}
"""
KINDS: Final = ("python", "python-imports", "perl", "sh", "java")


def command_of(kind: str, phases: Phases, folder: Path) -> list[str]:
    """Write a script and its inputs into a folder; return the command that runs it there.

    The script prints the Unix time of the start of each phase when it ends.
    """
    values = {
        "count": phases.count,
        "requests": phases.requests,
        "piece": phases.size // phases.requests,
        "pause_s": phases.pause_s,
        "way": phases.way,
        "burst": phases.burst,
    }
    (folder / "input").write_bytes(bytes(phases.burst))
    (folder / "phases").write_bytes(bytes(phases.size * phases.count))
    imports = "numpy, matplotlib.pyplot, h5py" if kind == "python-imports" else "argparse, asyncio, json, unittest"
    text = {"perl": _PERL, "sh": _SHELL, "java": _JAVA}.get(kind, _PYTHON).format(imports=imports, **values)
    script = folder / ("Phased.java" if kind == "java" else "script")
    script.write_text(text)
    program = sys.executable if kind.startswith("python") else need(kind)
    return [program, script.name]


def starts_of(output: str) -> list[float]:
    """Return the starts of the phases from a script's output, s."""
    return [float(line) for line in output.split()]
