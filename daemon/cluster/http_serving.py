"""HTTP of a member: the front of all partitions, with an aggregator's authentication, and the member's own metrics."""

from __future__ import annotations

import contextlib
import ssl
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Final

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from ..access.access import REFUSED
from ..publish.http.authentication import Authentication
from ..publish.http.http_server import HttpServer
from ..settings import AggregatorSettings
from .http_front import Front
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


@contextlib.asynccontextmanager
async def serve_http(member: ClusterMember, settings: AggregatorSettings) -> AsyncIterator[None]:
    """Serve HTTP as configured, and set the member's ``http_url``.

    Raises:
        ConfigError: it cannot listen there.
    """
    if settings.http is None:
        yield
        return
    trust = trusted(settings.access.certificate)
    front = Front(
        settings.cluster.partitions,
        lambda: member.members,
        lambda: {number: each.http for number, each in member.workers.serving.items()},
        member.name,
        MemberMetrics(member).text,
        member.not_ready,
        settings.cluster.answer_within_s,
        trust,
        member.token,
    )
    app = front.app if settings.access.is_open else Authentication(front.app, member.access)
    server = HttpServer(
        app,
        settings.http,
        settings.access,
        allow_remote=settings.allow_remote,
        limits=settings.http_limits,
        counters=member.counters,
        member_token=member.token,
    )

    def renew() -> None:
        if server.reload() and settings.access.certificate is not None:
            trust.load_verify_locations(settings.access.certificate)

    try:
        await server.start()
        member.http_url, member.renew_http, member.on_owners = server.url, renew, front.note_owners
        yield
    finally:
        await server.stop()
        await front.close()


def trusted(certificate: Path | None) -> ssl.SSLContext:
    """Return the certificates that other members may have.

    They are those of the system, of SSL_CERT_FILE, and our own chain.
    """
    context = ssl.create_default_context()
    if certificate is not None:
        context.load_verify_locations(certificate)
        context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN  # the chain may have a site's CA without the root
    return context
