"""Facts about a job from its batch system."""

from __future__ import annotations

import msgspec

_LONGEST = 1024
"""Maximum length of a stored text, characters; a list of nodes may have any length."""


class BatchJob(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A job as its batch system describes it; "" and 0 if unknown. Texts may contain any characters."""

    name: str = ""
    account: str = ""
    partition: str = ""
    """Partition or queue."""
    cluster: str = ""
    nodes: str = ""
    """List of nodes in the batch system's notation: ``node[1-4]``."""
    node_count: int = 0
    started_at_s: float = 0.0
    """Unix time."""
    limit_s: float = 0.0
    """Time limit of the job, s."""

    array_task: str = ""
    """Id of a task of a job array, as the batch system writes it: ``4711_3``. "" for other jobs."""

    @property
    def title(self) -> str:
        """Name beside the job id: that of the job, and its id within the array."""
        return " ".join(text for text in (self.array_task, self.name) if text)

    def completed(self, later: BatchJob | None) -> BatchJob:
        """Return the job with missing values filled in from ``later``; long texts are cut."""
        made = {}
        for name in self.__struct_fields__:
            value = getattr(self, name) or getattr(later, name, None)
            if isinstance(value, str) and len(value) > _LONGEST:
                value = value[: _LONGEST - 3] + "..."
            if value:
                made[name] = value
        return BatchJob(**made)
