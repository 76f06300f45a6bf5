"""Admission of collectors' messages: streams belong to their principal's user and to that user's jobs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from msgspec.structs import replace

from ...events import ProtocolError
from ...events.network.wire import Frame, Heartbeat, Hello, Reject, decode_header, encode
from ..jobs.job_ids import LONGEST_JOB, clean_job

_MOST_NAMES: Final = 4
_BATCH: Final = b"\xa4type\xa5batch"
"""Prefix of a batch's map, after its first byte."""
REFUSAL: Final = encode(Reject(stream="", seq=0, code="foreign", reason="the sender may not send any more"))


class Admission:
    """Checks messages before they are processed.

    Args:
        user_of: returns the user of a job; "" if unknown, None if the job does not exist.
        count: called with the reason for each refused message.
    """

    def __init__(self, user_of: Callable[[str], str | None], count: Callable[[str], None]) -> None:
        self._user_of = user_of
        self._count = count

    def admit(self, user: str | None, frames: Sequence[Frame]) -> tuple[Sequence[Frame], list[Frame]]:
        """Check a message.

        Args:
            user: user of the sender; "" for a node, None for a sender that may not send.
            frames: all frames.

        Returns:
            The frames to process instead, and the frames of an answer; either may be empty.
        """
        if user is None:
            self._count("revoked")
            return (), REFUSAL
        if not frames or _is_batch(frames[0]):
            return frames, []
        try:
            message = decode_header(frames[0])
        except ProtocolError:
            return frames, []  # answered in the same way for all senders
        user = user or _stated_user(message)
        if not user:
            return frames, []
        if isinstance(message, Hello):
            info = replace(message.info, user=user, job=self._job(user, message.info.job))
            self._count_if(info.job != clean_job(message.info.job))
            return encode(replace(message, info=info)), []
        if isinstance(message, Heartbeat):
            own = {self._job(user, job): losses for job, losses in message.losses.items()}
            job = self._job(user, message.job) if message.job else ""
            return encode(replace(message, losses=own, job=job)), []
        return frames, []

    def _job(self, user: str, job: str) -> str:
        """Return the job for a user's stream. If the named job belongs to another user, it is a different name."""
        suffix = f"@{user}"
        names = [clean_job(job)]
        for _ in range(_MOST_NAMES):  # another user may have given these names to other jobs
            names.append(names[-1][: max(0, LONGEST_JOB - len(suffix))] + suffix)
        for name in names[:0:-1]:
            if self._user_of(name) == user:
                return name
        return next((name for name in names if self._user_of(name) in (None, "", user)), names[-1])

    def _count_if(self, is_renamed: bool) -> None:
        if is_renamed:
            self._count("job_of_another")


def _stated_user(message: object) -> str:
    return message.as_user if isinstance(message, Hello | Heartbeat) else ""


def _is_batch(frame: Frame) -> bool:
    return len(frame) > len(_BATCH) and bytes(frame[0:1])[0] & 0xF0 == 0x80 and bytes(frame[1:12]) == _BATCH
