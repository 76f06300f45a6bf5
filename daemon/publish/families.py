"""What a metric is: its kind, its meaning, its labels."""

from __future__ import annotations

from typing import NamedTuple

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily


class Family(NamedTuple):
    """One metric: its kind, its meaning, its labels."""

    kind: type[GaugeMetricFamily] | type[CounterMetricFamily]
    help: str
    labels: tuple[str, ...] = ()
