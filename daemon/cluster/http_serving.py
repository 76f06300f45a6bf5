"""HTTP of a member: the front of all partitions, with the same authentication as an aggregator."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator

from ..publish.http.authentication import Authentication
from ..publish.http.http_server import HttpServer
from ..settings import AggregatorSettings
from .front import Front
from .member import ClusterMember
from .metrics import MemberMetrics


@contextlib.asynccontextmanager
async def answering(member: ClusterMember, settings: AggregatorSettings) -> AsyncIterator[None]:
    """Serve HTTP as configured, and set the member's ``http_url``.

    Raises:
        ConfigError: it cannot listen there.
    """
    if settings.http is None:
        yield
        return
    front = Front(
        settings.cluster.partitions,
        lambda: member.members,
        lambda: {number: each.http for number, each in member.workers.serving.items()},
        member.name,
        MemberMetrics(member).text,
        member.not_ready,
        settings.cluster.answer_within_s,
    )
    app = front.app if settings.access.is_open else Authentication(front.app, member.access)
    server = HttpServer(
        app,
        settings.http,
        settings.access,
        allow_remote=settings.allow_remote,
        limits=settings.http_limits,
        counters=member.counters,
    )
    try:
        await server.start()
        member.http_url, member.http = server.url, server
        yield
    finally:
        member.http = None
        await server.stop()
        await front.close()
