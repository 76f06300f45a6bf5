"""Publishes and reads results and findings at the NATS servers. It runs in the event loop of the connection."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from nats.errors import Error as NatsError
from nats.js import api
from nats.js.errors import APIError, BucketNotFoundError, NotFoundError
from nats.js.kv import KeyValue

from ....events import ConfigError, ProtocolError
from ...journal.jetstream.lease_holder import LeaseHolder
from ...journal.jetstream.link import NatsLink
from ...journal.jetstream.readiness import error_for
from ...journal.settings import JournalSettings
from .results import ClusterFindings, Slot, decode_findings, encode_findings

if TYPE_CHECKING:
    from nats.aio.msg import Msg
    from nats.js import JetStreamContext

_log = logging.getLogger(__name__)
_WRONG_SEQUENCE: Final = 10071
"""Error code of the servers: the last message is not the expected one."""
_HEADER_BYTES: Final = 1 << 10
_MAX_MESSAGE_BYTES: Final = 1 << 19
"""Maximum bytes of a message with results. A larger one would delay the journal's messages on this connection."""
_MAX_SUBJECTS: Final = 4096
_MAX_CONCURRENT_READS: Final = 16
_RETRY_S: Final = 0.5


class ReplacedError(Exception):
    """Another process has published findings in the meantime."""


class Exchange:
    """The NATS stream of one cluster; it retains the last message of each subject.

    Args:
        link: connection of the partition's journal.
        settings: journal settings, with the number of replicas.
        cluster: name of the cluster.
        number: number of this process's partition.
        lease_s: time without a renewal after which another process may analyze, s.
    """

    def __init__(self, link: NatsLink, settings: JournalSettings, cluster: str, number: int, lease_s: float) -> None:
        self._link, self._settings, self._lease_s = link, settings, lease_s
        self._stream, self._bucket = f"iotide-results-{cluster}", f"iotide-contention-{cluster}"
        self._subject, self._number = f"iotide.results.{cluster}", number
        self._findings_subject = f"{self._subject}.found"
        self._leases: KeyValue | None = None

    @property
    def limit(self) -> int:
        """Maximum bytes of a message."""
        return min(_MAX_MESSAGE_BYTES, self._link.client.max_payload - _HEADER_BYTES)

    async def open(self, received: Callable[[ClusterFindings], None]) -> None:
        """Create missing objects at the servers, and subscribe to findings.

        Args:
            received: called with each finding, in the connection's thread.

        Raises:
            ServersNotReadyError: the servers are electing a leader, or do not answer.
            ConfigError: the servers refuse.
        """
        jetstream = self._link.jetstream
        replicas = self._settings.replicas
        try:
            try:
                await jetstream.stream_info(self._stream)
            except NotFoundError:
                await jetstream.add_stream(
                    api.StreamConfig(
                        name=self._stream,
                        subjects=[f"{self._subject}.>"],
                        description="iotide: last results of each partition's jobs, and contention between them",
                        max_msgs_per_subject=1,
                        storage=api.StorageType.FILE,
                        num_replicas=replicas,
                        discard=api.DiscardPolicy.OLD,
                        allow_direct=True,
                    )
                )
            try:
                await jetstream.key_value(self._bucket)
            except (BucketNotFoundError, NotFoundError):
                await jetstream.create_key_value(
                    api.KeyValueConfig(self._bucket, storage=api.StorageType.FILE, replicas=replicas)
                )
            self._leases = await self._link.client.jetstream(timeout=self._lease_s / 5).key_value(self._bucket)

            async def take(message: Msg) -> None:
                try:
                    received(decode_findings(message.data))
                except ProtocolError as error:  # of a later version
                    _log.warning("contention of the cluster: findings of another version are ignored: %s", error)

            await self._link.client.subscribe(self._findings_subject, cb=take)
        except (NatsError, TimeoutError) as error:
            raise error_for(f"the stream {self._stream}", error) from None

    async def acquire_lease(self, lost: Callable[[], None]) -> LeaseHolder:
        """Wait until this process has the lease, so that it is the one that analyzes.

        Args:
            lost: called when another process has the lease, in the connection's thread.
        """
        if self._leases is None:
            raise ConfigError("the exchange of contention is not open")
        holding = LeaseHolder(self._link, self._leases, self._lease_s)
        holding.on_lost = lost
        await holding.acquire()
        return holding

    async def put(self, messages: Sequence[bytes]) -> None:
        """Publish the results of this partition. Raises NatsError, TimeoutError."""
        for slot, payload in reversed(list(enumerate(messages))):
            await self._quick_jetstream.publish(
                f"{self._subject}.p.{self._number}.{slot}", payload, stream=self._stream
            )

    async def read(self) -> list[Slot]:
        """Return the retained results of all partitions. Raises NatsError, TimeoutError."""
        prefix = f"{self._subject}.p."
        about = await self._quick_jetstream.stream_info(self._stream, subjects_filter=f"{prefix}>")
        subjects = sorted(about.state.subjects or {})[:_MAX_SUBJECTS]
        turns = asyncio.Semaphore(_MAX_CONCURRENT_READS)

        async def last_message(subject: str) -> Slot | None:
            async with turns:
                try:
                    message = await self._quick_jetstream.get_last_msg(self._stream, subject, direct=True)
                except NotFoundError:  # it expired in the meantime
                    return None
            partition, _, slot = subject.removeprefix(prefix).partition(".")
            return Slot(int(partition), int(slot), message.data or b"")

        return [each for each in await asyncio.gather(*map(last_message, subjects)) if each is not None]

    async def latest_findings(self) -> tuple[ClusterFindings | None, int]:
        """Return the last findings and their sequence number, 0 for none. Raises NatsError, TimeoutError."""
        try:
            message = await self._quick_jetstream.get_last_msg(self._stream, self._findings_subject)
        except NotFoundError:
            return None, 0
        try:
            return decode_findings(message.data or b""), message.seq or 0
        except ProtocolError as error:
            _log.error("contention of the cluster starts anew, because the last findings cannot be read: %s", error)
            return None, message.seq or 0

    async def publish_findings(self, found: ClusterFindings) -> int:
        """Publish findings that replace those with the number ``found.after``; retry until the servers answer.

        Returns:
            Their sequence number.

        Raises:
            ReplacedError: the last findings are those of another process.
            ProtocolError: the message is too long for the servers.
        """
        payload, is_logged = encode_findings(found), False
        if len(payload) > (most := self._link.client.max_payload - _HEADER_BYTES):
            raise ProtocolError(
                f"contention needs {len(payload)} bytes, of at most {most}; raise max_payload of the NATS servers"
            )
        headers = {api.Header.EXPECTED_LAST_SUBJECT_SEQUENCE.value: str(found.after)}
        while True:
            try:
                answer = await self._quick_jetstream.publish(
                    self._findings_subject, payload, stream=self._stream, headers=headers
                )
                return answer.seq
            except (NatsError, TimeoutError) as error:
                if isinstance(error, APIError) and error.err_code == _WRONG_SEQUENCE:
                    return await self._sequence_of_own(payload)
                if not is_logged:
                    _log.warning(
                        "contention of the cluster: the NATS servers do not answer: %s; retrying",
                        str(error) or "no answer",
                    )
                is_logged = True
            await asyncio.sleep(_RETRY_S)

    async def _sequence_of_own(self, payload: bytes) -> int:
        """Return the sequence number of findings whose acknowledgement was lost. Raises ReplacedError for others."""
        while True:
            try:
                message = await self._quick_jetstream.get_last_msg(self._stream, self._findings_subject)
            except NotFoundError:
                raise ReplacedError from None
            except (NatsError, TimeoutError):
                await asyncio.sleep(_RETRY_S)
                continue
            if message.data != payload:
                raise ReplacedError
            return message.seq or 0

    @property
    def _quick_jetstream(self) -> JetStreamContext:
        return self._link.quick_jetstream
