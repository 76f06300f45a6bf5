"""What a collector may say: its streams are of its own user, and belong to that user's jobs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from msgspec.structs import replace

from ...events import ProtocolError
from ...events.network.wire import Frame, Heartbeat, Hello, Reject, decode_header, encode
from ..jobs.job_ids import clean_job
from .principals import Principal

_BATCH: Final = b"\xa4type\xa5batch"
"""What the map of a batch begins with, behind its first byte."""
_LONGEST: Final = 128
_REFUSAL: Final = encode(Reject(stream="", seq=0, code="foreign", reason="this key may not send any more"))


class Admission:
    """Judges messages before anything is made of them.

    Args:
        user_of: returns whose a job is; "" where that is not known, None where there is no such job.
        count: called with the reason for each message that is refused.
    """

    def __init__(self, user_of: Callable[[str], str | None], count: Callable[[str], None]) -> None:
        self._user_of = user_of
        self._count = count

    def admit(self, principal: Principal | None, frames: Sequence[Frame]) -> tuple[Sequence[Frame], list[Frame]]:
        """Returns what is to be taken in instead of a message, and what is to be answered; either may be empty."""
        if principal is None:
            self._count("revoked")
            return (), _REFUSAL
        if not principal.user or not frames or _is_batch(frames[0]):
            return frames, []
        try:
            message = decode_header(frames[0])
        except ProtocolError:
            return frames, []  # which is answered as for everybody
        if isinstance(message, Hello):
            info = replace(message.info, user=principal.user, job=self._job(principal.user, message.info.job))
            self._count_if(info.job != clean_job(message.info.job))
            return encode(replace(message, info=info)), []
        if isinstance(message, Heartbeat):
            own = {self._job(principal.user, job): losses for job, losses in message.losses.items()}
            job = self._job(principal.user, message.job) if message.job else ""
            return encode(replace(message, losses=own, job=job)), []
        return frames, []

    def _job(self, user: str, job: str) -> str:
        """Returns the job that a user means: one of another user is none of it, and has another name."""
        named = clean_job(job)
        own = f"{named[:_LONGEST]}@{user}"
        return own if self._user_of(own) == user or self._user_of(named) not in (None, "", user) else named

    def _count_if(self, is_renamed: bool) -> None:
        if is_renamed:
            self._count("job_of_another")


def _is_batch(frame: Frame) -> bool:
    return len(frame) > len(_BATCH) and bytes(frame[0:1])[0] & 0xF0 == 0x80 and bytes(frame[1:12]) == _BATCH
