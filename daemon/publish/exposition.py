"""Metrics in Prometheus' text formats.

The client library builds an object and a dictionary per sample, which is most of the time of a scrape of many jobs.
Samples are therefore rendered here. The library still selects the format and writes the head of each family.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.exposition import choose_encoder
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector
from prometheus_client.utils import floatToGoString

from .all_families import FAMILIES

Row: TypeAlias = tuple[float, tuple[str, ...]]
"""Value and labels of a sample."""

_END: Final = b"# EOF\n"
_number: Final[Callable[[float], str]] = floatToGoString
_RENAMING: Final = ("escaping=dots", "escaping=values")
"""Formats in which the library renames metrics."""


class Gathered(Collector):
    """Computed samples by family, in the order of their addition."""

    def __init__(self, samples: Mapping[str, Sequence[Row]]) -> None:
        self._samples = samples

    def collect(self) -> Iterator[Metric]:
        """Yield the families with their samples."""
        for name, rows in self._samples.items():
            metric = _family(name)
            for value, labels in rows:
                metric.add_metric(labels, value)
            yield metric

    def encode(self, accept: str) -> tuple[bytes, str]:
        """Return the text and its content type.

        Args:
            accept: header of the request with the formats that the client reads.
        """
        encode, content_type = choose_encoder(accept)
        if content_type.endswith(_RENAMING):
            return encode(self), content_type
        parts: list[bytes] = []
        for name, rows in self._samples.items():
            parts.append(encode(_Head(name)).removesuffix(_END))
            parts.append(_lines(name, rows).encode())
        if content_type.startswith("application/openmetrics-text"):
            parts.append(_END)
        return b"".join(parts), content_type


class _Head(Collector):
    """A family without samples."""

    def __init__(self, name: str) -> None:
        self._name = name

    def collect(self) -> Iterator[Metric]:
        yield _family(self._name)


def _family(name: str) -> GaugeMetricFamily | CounterMetricFamily:
    family = FAMILIES[name]
    return family.kind(name, family.help, labels=family.labels)


def _lines(name: str, rows: Sequence[Row]) -> str:
    keys = FAMILIES[name].labels
    if not keys:
        return "".join([f"{name} {_number(value)}\n" for value, _ in rows])
    order = sorted(range(len(keys)), key=lambda column: keys[column])
    template = ",".join(f'{keys[column]}="%s"' for column in order)
    head = f"{name}{{{template}}} %s\n"
    if order == [0]:
        return "".join([head % (_escaped(labels[0]), _number(value)) for value, labels in rows])
    return "".join([head % (*(_escaped(labels[column]) for column in order), _number(value)) for value, labels in rows])


def _escaped(text: str) -> str:
    if "\\" in text or "\n" in text or '"' in text:
        return text.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")
    return text
