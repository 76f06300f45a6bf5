"""The summary of a run: all lines, in their order, for typical programs and as in the docs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.jobs.example_runs import EXAMPLES, PARTS, Example
from support.tracing.programs import need

PAGE = Path(__file__).parents[3] / "docs/example-runs.md"


def parts_of(lines: list[str]) -> list[str]:
    """Return the kinds of the lines, in their order."""
    found = [name for line in lines for name, form in PARTS.items() if re.fullmatch(form, line)]
    return list(dict.fromkeys(found))


@pytest.mark.parametrize("example", EXAMPLES, ids=[example.title for example in EXAMPLES])
def test_page_has_the_end_of_each_program(example: Example) -> None:
    section = PAGE.read_text().partition(f"## {example.title}\n")[2].partition("\n## ")[0]
    assert f"$ {example.shown}\n" in section
    assert parts_of(section.splitlines()) == list(PARTS)
    assert example.explanation in section


@pytest.mark.slow
@pytest.mark.parametrize("number", [0, 1, 2, 5], ids=["lines", "chunks", "commits", "tar"])
def test_run_ends_with_all_that_is_asked_first(number: int, tmp_path: Path) -> None:
    example = EXAMPLES[number]
    for program in example.needs:
        need(program)
    assert parts_of(example.end_of_run(tmp_path)) == list(PARTS)


@pytest.mark.slow
def test_log_of_a_database_is_no_cause_of_its_own(tmp_path: Path) -> None:
    """It is opened anew for each flush, so "keep the file open" would be no advice."""
    lines = EXAMPLES[2].end_of_run(tmp_path)
    assert not any("opened" in line and "times" in line for line in lines)
