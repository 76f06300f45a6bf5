"""Directly-follows graphs as GraphML, for Gephi, yEd, networkx, igraph and similar tools."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from typing import Final

from ...results.dfg import Comparison, Graph
from .labels import make_printable, stable_id
from .scene import END, START, Relation

_SPACE: Final = "http://graphml.graphdrawing.org/xmlns"
_NODE_FIELDS: Final = {
    "events": "long", "seconds": "double", "load": "double", "bytes": "long", "sized": "long",
    "rate": "double", "max_concurrency": "long", "exact": "boolean", "duration_p50_s": "double",
    "duration_p95_s": "double", "duration_max_s": "double", "cases": "long", "starts": "long", "ends": "long",
}  # fmt: skip
_GRAPH_FIELDS: Final = {"job": "string", "mapping": "string", "case": "string", "cases": "long", "events": "long"}


def graphml_of(graph: Graph, comparison: Comparison | None = None) -> bytes:
    """Return the whole graph: every statistic, markers as nodes, and sides of a comparison."""
    root = ET.Element("graphml", {"xmlns": _SPACE})
    for what, fields in (
        ("graph", _GRAPH_FIELDS),
        ("node", {"label": "string", **_NODE_FIELDS, "side": "string"}),
        ("edge", {"count": "long", "mean_gap_s": "double", "side": "string"}),
    ):
        for name, kind in fields.items():
            ET.SubElement(root, "key", {"id": f"{what}.{name}", "for": what, "attr.name": name, "attr.type": kind})
    element = ET.SubElement(root, "graph", {"id": "dfg", "edgedefault": "directed"})
    for name in _GRAPH_FIELDS:
        _add_data(element, f"graph.{name}", getattr(graph, name))
    nodes = {} if comparison is None else {row.name: row.side for row in comparison.nodes}
    edges = {} if comparison is None else {(row.source, row.target): row.side for row in comparison.edges}
    for marker in (START, END):
        _add_data(ET.SubElement(element, "node", {"id": stable_id(marker)}), "node.label", marker)
    for row in graph.activities:
        node = ET.SubElement(element, "node", {"id": stable_id(row.name)})
        _add_data(node, "node.label", row.name)
        for name in _NODE_FIELDS:
            _add_data(node, f"node.{name}", getattr(row, name))
        _add_data(node, "node.side", nodes.get(row.name))
    relations: list[Relation] = [(row.source, row.target, row.count, row.mean_gap_s) for row in graph.edges]
    relations += [(START, row.name, row.starts, None) for row in graph.activities if row.starts]
    relations += [(row.name, END, row.ends, None) for row in graph.activities if row.ends]
    for source, target, count, gap_s in relations:
        edge = ET.SubElement(element, "edge", {"source": stable_id(source), "target": stable_id(target)})
        _add_data(edge, "edge.count", count)
        _add_data(edge, "edge.mean_gap_s", gap_s)
        _add_data(edge, "edge.side", edges.get((source, target)))
    ET.indent(root)
    return b'<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(root, encoding="unicode").encode()


def _add_data(element: ET.Element, key: str, value: object) -> None:
    if value is None or value == "":
        return
    text = str(value).lower() if isinstance(value, bool) else make_printable(str(value))
    ET.SubElement(element, "data", {"key": key}).text = text
