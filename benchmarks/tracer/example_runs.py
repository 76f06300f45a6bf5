"""Write docs/example-runs.md: the summary of ``iotide run`` for six typical programs.

Arguments are words of the titles of programs to run again; the page keeps the other sections.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

from support.jobs.example_runs import EXAMPLES

PAGE = Path(__file__).parents[2] / "docs/example-runs.md"
HEAD = """# Results of six programs

The last lines of `iotide run` have, in this order: time and volume, the share of I/O in the run, volume and rate per
file system, the period, the first change with its saving, a summary in one sentence, and losses.

`python benchmarks/tracer/example_runs.py` ran six programs (`tests/programs/examples`) and wrote this page.
"""


def main() -> None:
    """Run all programs, and write the page."""
    parts, known = [HEAD], _sections()
    for example in EXAMPLES:
        if sys.argv[1:] and not any(word in example.title for word in sys.argv[1:]):
            parts.append(known[example.title])
            continue
        if missing := [name for name in example.needs if shutil.which(name) is None]:
            raise SystemExit(f"not installed: {', '.join(missing)}")
        with tempfile.TemporaryDirectory() as folder:
            lines = example.end_of_run(Path(folder))
        text = "\n".join(lines)
        parts.append(f"## {example.title}\n\n```\n$ {example.shown}\n{text}\n```\n\n{example.explanation}\n")
        print(text, flush=True)
    PAGE.write_text("\n".join(parts))


def _sections() -> dict[str, str]:
    """Return the sections of the present page by title."""
    _, *sections = PAGE.read_text().split("\n## ")
    return {each.partition("\n")[0]: f"## {each.rstrip()}\n" for each in sections}


if __name__ == "__main__":
    main()
