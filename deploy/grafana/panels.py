"""Panels and dashboards, and their JSON for Grafana."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

_COLUMNS: Final = 24  # columns of Grafana's grid
_SOURCE: Final = {"type": "prometheus", "uid": "${source}"}


@dataclass(frozen=True)
class Panel:
    """One panel.

    Attributes:
        kind: stat, timeseries or table.
        title: of the panel.
        about: description of the panel.
        unit: Grafana's name of the unit.
        asks: expressions with their legends; in a table the legend is the column's title.
        width, height: on the grid of 24 columns.
    """

    kind: str
    title: str
    about: str
    unit: str
    asks: tuple[tuple[str, str], ...]
    width: int = 12
    height: int = 8


@dataclass(frozen=True)
class Dashboard:
    """One dashboard; ``variables`` can be selected on the page: name, title, and the metric with a label of that
    name.
    """

    name: str
    title: str
    about: str
    panels: tuple[Panel, ...]
    variables: tuple[tuple[str, str, str], ...] = ()


def stat(title: str, about: str, unit: str, expression: str) -> Panel:
    """One number."""
    return Panel("stat", title, about, unit, ((expression, ""),), 4, 4)


def chart(title: str, about: str, unit: str, *asks: tuple[str, str], width: int = 12) -> Panel:
    """Lines over time."""
    return Panel("timeseries", title, about, unit, asks, width)


def table(title: str, about: str, unit: str, *asks: tuple[str, str]) -> Panel:
    """Return a table with a row for each combination of labels, a column for each expression."""
    return Panel("table", title, about, unit, asks, _COLUMNS, 10)


def document(dashboard: Dashboard) -> dict[str, Any]:
    """Return a dashboard in Grafana's import format; the user selects the data source on the page."""
    source = {"name": "source", "label": "Data source", "type": "datasource", "query": "prometheus", "current": {}}
    return {
        "uid": f"iotide-{dashboard.name}",
        "title": dashboard.title,
        "description": dashboard.about,
        "tags": ["iotide"],
        "schemaVersion": 39,
        "editable": True,
        "refresh": "10s",
        "time": {"from": "now-1h", "to": "now"},
        "timezone": "browser",
        "links": [{"type": "dashboards", "tags": ["iotide"], "title": "iotide", "asDropdown": True, "keepTime": True}],
        "templating": {"list": [source, *map(_variable, dashboard.variables)]},
        "panels": _placed(dashboard.panels),
    }


def _variable(variable: tuple[str, str, str]) -> dict[str, Any]:
    name, title, metric = variable
    label = {"job": "job_id"}.get(name, name)
    return {
        "name": name,
        "label": title,
        "type": "query",
        "datasource": _SOURCE,
        "query": {"query": f"label_values({metric}, {label})", "refId": "A"},
        "refresh": 2,  # when the time range changes
        "sort": 1,
        "includeAll": name != "job",
        "multi": name != "job",
        "current": {},
    }


def _placed(panels: tuple[Panel, ...]) -> list[dict[str, Any]]:
    """Arrange panels in rows, in their order."""
    placed: list[dict[str, Any]] = []
    x = y = row = 0
    for number, panel in enumerate(panels, 1):
        if x + panel.width > _COLUMNS:
            x, y, row = 0, y + row, 0
        placed.append(_panel(panel, number, {"x": x, "y": y, "w": panel.width, "h": panel.height}))
        x, row = x + panel.width, max(row, panel.height)
    return placed


def _panel(panel: Panel, number: int, place: dict[str, int]) -> dict[str, Any]:
    is_table = panel.kind == "table"
    targets = [
        {
            "refId": chr(ord("A") + at),
            "datasource": _SOURCE,
            "expr": expression,
            "legendFormat": legend or "__auto",
            **({"format": "table", "instant": True} if is_table else {}),
            **({"instant": True} if panel.kind == "stat" else {}),
        }
        for at, (expression, legend) in enumerate(panel.asks)
    ]
    shown: dict[str, Any] = {
        "id": number,
        "type": panel.kind,
        "title": panel.title,
        "description": panel.about,
        "datasource": _SOURCE,
        "gridPos": place,
        "targets": targets,
        "fieldConfig": {"defaults": {"unit": panel.unit}, "overrides": []},
    }
    if is_table:
        names = {f"Value #{target['refId']}": legend for target, (_, legend) in zip(targets, panel.asks, strict=True)}
        left_out = dict.fromkeys(("Time", "__name__", "instance", "job"), True)
        shown["transformations"] = [
            {"id": "merge", "options": {}},
            {"id": "organize", "options": {"renameByName": names, "excludeByName": left_out}},
        ]
    return shown
