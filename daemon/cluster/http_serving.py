"""HTTP of a member. It is the front of all partitions, with the same authentication as an aggregator."""

from __future__ import annotations

import contextlib
import ssl
from collections.abc import AsyncIterator
from pathlib import Path

from ..publish.http.authentication import Authentication
from ..publish.http.http_server import HttpServer
from ..settings import AggregatorSettings
from .front import Front
from .member import ClusterMember
from .metrics import MemberMetrics


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
