"""What takes in the streams that collectors send."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from ...events import Definitions, EventBatch, IotideError, StreamInfo


class StreamForgottenError(IotideError):
    """The sink has let go of an open stream; its collector introduces it again and goes on."""


class Sink(Protocol):
    """What takes the streams in."""

    def opened(self, stream: str, info: StreamInfo) -> None:
        """Takes in a new stream."""
        ...

    def changed(self, stream: str, info: StreamInfo) -> None:
        """Takes in what an open stream says of itself from now on; its job stays the same."""
        ...

    def batch(self, stream: str, batch: EventBatch, definitions: Definitions) -> None:
        """Takes in events, or (with an empty batch) definitions alone.

        Raises:
            ProtocolError: the batch contradicts what came before; it is rejected and skipped.
            StreamForgottenError: the stream is to be introduced again, and the batch sent again.
        """
        ...

    def made(self, stream: str, events: int, *, ended: bool) -> None:
        """Takes in how many events the collector has had of an open stream; ``ended``: all that there will be."""
        ...

    def lossy(self, stream: str, losses: Mapping[str, int]) -> None:
        """Takes in what of an open stream was lost on the way so far, by the collector's counters; cumulative."""
        ...

    def silent(self, stream: str, is_silent: bool) -> None:
        """Takes in that an open stream's collector has fallen silent, or is heard of again."""
        ...

    def lossy_job(self, collector: str, job: str, losses: Mapping[str, int]) -> None:
        """Takes in what a collector lost of a job so far and no stream tells of; cumulative."""
        ...

    def refused(self, info: StreamInfo, reason: str) -> None:
        """Takes in that a stream was refused by a bound of ours."""
        ...

    def closed(self, stream: str, losses: Mapping[str, int]) -> None:
        """Takes in that a stream has ended, and all that of it was lost on the way, by the collector's counters."""
        ...

    def heartbeat(self, collector: str, host: str, counters: Mapping[str, int], job: str = "") -> None:
        """Takes in a collector's cumulative counters, and the job whose programs on its node it sees."""
        ...

    def lost(self, collector: str) -> None:
        """Takes in that a collector has fallen silent."""
        ...
