"""Requests that servers refuse during a leader election are retried, and no others."""

from __future__ import annotations

import logging

import pytest
from iotide.daemon.journal.jetstream.readiness import ServersNotReadyError, error_for, is_transient, retry_until_ready
from nats.errors import NoRespondersError
from nats.js.errors import APIError, BadRequestError, NotFoundError, ServerError, ServiceUnavailableError

NO_PEERS = "no suitable peers for placement, peer offline"


@pytest.mark.parametrize(
    ("error", "passing"),
    [
        (BadRequestError(400, NO_PEERS, 10005), True),
        (ServiceUnavailableError(503, "JetStream system temporarily unavailable", 10008), True),
        (NoRespondersError(), True),
        (TimeoutError(), True),
        (ServiceUnavailableError(503, "JetStream not enabled for account", 10039), False),
        (ServerError(500, "replicas > 1 not supported in non-clustered mode", 10074), False),
        (NotFoundError(404, "stream not found", 10059), True),
        (BadRequestError(400, "stream name already in use", 10058), False),
    ],
)
def test_errors_that_pass_are_told_from_those_of_settings(error: APIError, passing: bool) -> None:
    assert is_transient(error) is passing
    assert isinstance(error_for("the stream s", error), ServersNotReadyError) is passing


@pytest.mark.slow
async def test_work_is_repeated_until_servers_are_ready_and_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    tries = []

    async def work() -> str:
        tries.append(1)
        if len(tries) < 3:
            raise error_for("JetStream at nats://a", BadRequestError(400, NO_PEERS, 10005))
        return "done"

    with caplog.at_level(logging.WARNING):
        assert await retry_until_ready(work) == "done"
    assert [record.getMessage() for record in caplog.records] == [
        f"the NATS servers are not ready: JetStream at nats://a cannot be used: {NO_PEERS}; retrying"
    ]
