"""Writes docs/example-runs.md: what ``iotide run`` says at the end of six programs as people have them."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

from support.jobs.example_runs import EXAMPLES

PAGE = Path(__file__).parents[2] / "docs/example-runs.md"
HEAD = """# What runs end with

`iotide run` ends with lines that answer, in this order: what the command did, who of it spends how much of the run in
I/O, what moved where and how fast, its period, what to change first and what that saves, all that in one sentence, and
what was not seen or lost.
`python benchmarks/tracer/example_runs.py` ran six programs and wrote this page; they are in
`tests/programs/examples`.
"""


def main() -> None:
    """Runs all, and writes the page."""
    parts = [HEAD]
    for example in EXAMPLES:
        if missing := [name for name in example.needs if shutil.which(name) is None]:
            raise SystemExit(f"not installed: {', '.join(missing)}")
        with tempfile.TemporaryDirectory() as folder:
            lines = example.end_of_run(Path(folder))
        text = "\n".join(lines)
        parts.append(f"## {example.title}\n\n```\n$ {example.shown}\n{text}\n```\n\n{example.tells}\n")
        print(text, flush=True)
    PAGE.write_text("\n".join(parts))


if __name__ == "__main__":
    main()
