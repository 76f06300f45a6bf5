"""The Grafana dashboards, compared with their description and with the existing metrics."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.places import ROOT

FOLDER = ROOT / "deploy/grafana"
DASHBOARDS = sorted(FOLDER.glob("*.json"))


@pytest.fixture(params=DASHBOARDS, ids=lambda path: path.stem)
def dashboard(request: pytest.FixtureRequest) -> dict[str, Any]:
    return dict(json.loads(request.param.read_text(encoding="utf-8")))


def _expressions(dashboard: dict[str, Any]) -> Iterator[str]:
    for panel in dashboard["panels"]:
        yield from (target["expr"] for target in panel["targets"])
    yield from (each["query"]["query"] for each in dashboard["templating"]["list"] if each["type"] == "query")


def test_files_are_as_the_description_writes_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from runpy import run_path

    monkeypatch.syspath_prepend(FOLDER)
    run_path(str(FOLDER / "dashboards.py"))["main"](tmp_path)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {
        path.name: path.read_text() for path in DASHBOARDS
    }


def test_queries_ask_for_metrics_that_there_are(dashboard: dict[str, Any]) -> None:
    known = set(re.findall(r"^\| `(iotide_\w+)`", (ROOT / "docs/metrics.md").read_text(), re.MULTILINE))
    asked = {name for expression in _expressions(dashboard) for name in re.findall(r"\biotide_\w+", expression)}
    assert asked
    assert asked <= known


def test_panels_have_titles_units_and_words_and_lie_side_by_side(dashboard: dict[str, Any]) -> None:
    taken: set[tuple[int, int]] = set()
    for panel in dashboard["panels"]:
        assert panel["title"]
        assert panel["description"].endswith(".")
        assert panel["fieldConfig"]["defaults"]["unit"]
        assert panel["datasource"]["uid"] == "${source}"
        place = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert place["x"] + place["w"] <= 24
        assert not cells & taken, panel["title"]
        taken |= cells


def test_pages_are_told_apart() -> None:
    pages = [json.loads(path.read_text(encoding="utf-8")) for path in DASHBOARDS]
    assert len({page["uid"] for page in pages}) == len({page["title"] for page in pages}) == len(pages) == 4
