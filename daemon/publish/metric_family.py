"""Description of a metric: kind, meaning, labels."""

from __future__ import annotations

from typing import NamedTuple

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily


class Family(NamedTuple):
    """One metric: kind, meaning, labels."""

    kind: type[GaugeMetricFamily] | type[CounterMetricFamily]
    help: str
    labels: tuple[str, ...] = ()
