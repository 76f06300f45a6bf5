"""The tuned constants: each is used, documented in a sentence with its source, and modified nowhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from iotide.analyzers.periodicity import tuning
from iotide.analyzers.periodicity.tuning import TUNING

_ANALYZERS = Path(tuning.__file__).parents[1]
_NUMBERS = [(group, name) for group in TUNING.__struct_fields__ for name in getattr(TUNING, group).__struct_fields__]


@pytest.fixture(scope="module")
def texts() -> dict[Path, str]:
    return {path: path.read_text() for path in _ANALYZERS.rglob("*.py") if path != Path(tuning.__file__)}


@pytest.mark.parametrize(("group", "name"), _NUMBERS, ids=".".join)
def test_each_number_is_read_when_it_is_needed(group: str, name: str, texts: dict[Path, str]) -> None:
    reading = re.compile(rf"(?:TUNING\.{group}|_{group.upper()})\.{name}\b")
    readers = [text for text in texts.values() if reading.search(text)]
    assert readers
    # a benchmark cannot vary a constant that is copied at import
    assert not any(re.search(rf"^\w+.*= .*{reading.pattern}", text, re.MULTILINE) for text in readers)


@pytest.mark.parametrize(("group", "name"), _NUMBERS, ids=".".join)
def test_each_number_tells_its_meaning_and_its_source(group: str, name: str) -> None:
    sources = re.findall(
        rf"^    (?:{name}: .*|\)) +# .* \[([acdfgos, ]+)\]$", Path(tuning.__file__).read_text(), re.MULTILINE
    )
    assert sources


def test_numbers_cannot_be_assigned() -> None:
    with pytest.raises(AttributeError):
        TUNING.tolerances.equal_period_log = 0.2  # type: ignore[misc]
