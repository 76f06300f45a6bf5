"""Metrics of a member; metrics of the partitions have separate paths."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from ..access.access import REFUSED

if TYPE_CHECKING:
    from .member import ClusterMember

_MESSAGES: Final = ("answered", "forwarded", "lost", "malformed", "unreachable")
_REFUSED: Final = ("ingest", "publish", "http", "http_permission", "revoked", "internal")
_WORKERS: Final = {"worker_restarts": "restarted", "worker_hangs": "hung"}


class MemberMetrics(Collector):
    """The metrics of one member."""

    def __init__(self, member: ClusterMember) -> None:
        self._member = member
        self._registry = CollectorRegistry(auto_describe=False)
        self._registry.register(self)

    def text(self) -> bytes:
        """Return the metrics in Prometheus' format."""
        return generate_latest(self._registry)

    def describe(self) -> list[Metric]:
        """Return nothing: metrics are collected on request."""
        return []

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics."""
        member = self._member
        served = {number for each in member.members.values() for number in each.serves}
        yield GaugeMetricFamily("iotide_cluster_members", "Members that are there.", len(member.members))
        yield GaugeMetricFamily("iotide_cluster_ready", "1: the NATS servers answer.", float(not member.not_ready()))
        yield GaugeMetricFamily(
            "iotide_cluster_read_seconds", "How long the last read of the members took.", member.read_s
        )
        partitions = GaugeMetricFamily("iotide_cluster_partitions", "Partitions by who serves them.", labels=["state"])
        partitions.add_metric(["here"], len(member.workers.serving))
        partitions.add_metric(["standby"], len(member.workers.waiting))
        partitions.add_metric(["unserved"], member.settings.cluster.partitions - len(served))
        yield partitions
        routes = member.gateway.routes
        yield GaugeMetricFamily(
            "iotide_cluster_gateway_streams", "Streams that go through this gateway.", routes.streams
        )
        yield GaugeMetricFamily("iotide_cluster_gateway_collectors", "Collectors that it hears of.", routes.peers)
        messages = CounterMetricFamily("iotide_cluster_gateway_messages", "Messages at this gateway.", labels=["state"])
        for name in _MESSAGES:
            messages.add_metric([name], member.counters[name])
        yield messages
        yield CounterMetricFamily(
            "iotide_cluster_streams_moved", "Streams that went on at another owner.", member.counters["streams_moved"]
        )
        refused = CounterMetricFamily(
            "iotide_cluster_refused", "Peers and messages refused by this member, by place.", labels=["where"]
        )
        for where in _REFUSED:
            refused.add_metric([where], member.counters[REFUSED + where])
        refused.add_metric(["connections_per_peer"], member.counters["ingest_peers_refused"])
        refused.add_metric(["body_bytes"], member.counters["http_bodies_refused"])
        yield refused
        yield CounterMetricFamily(
            "iotide_cluster_subscribers_cut_off",
            "Subscribers that this member cut off at publish_behind.",
            member.counters["subscribers_cut_off"],
        )
        yield CounterMetricFamily(
            "iotide_cluster_published_missed",
            "Messages dropped because publish_behind of them waited for a slow subscriber of this member.",
            member.counters["published_missed"],
        )
        workers = CounterMetricFamily("iotide_cluster_worker_failures", "Processes that failed.", labels=["reason"])
        for name, reason in _WORKERS.items():
            workers.add_metric([reason], member.counters[name])
        yield workers
