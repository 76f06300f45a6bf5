"""What a batch system says of a job."""

from __future__ import annotations

import msgspec

_LONGEST = 1024
"""Characters of a text that is kept: a list of nodes may have any length."""


class BatchJob(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A job as its batch system knows it; "" and 0 where nobody has said so. Texts may hold anything."""

    name: str = ""
    account: str = ""
    partition: str = ""
    """Or queue."""
    cluster: str = ""
    nodes: str = ""
    """As the batch system writes them: ``node[1-4]``."""
    node_count: int = 0
    started_at_s: float = 0.0
    """Unix time."""
    limit_s: float = 0.0
    """For how long it may run."""

    def completed(self, later: BatchJob | None) -> BatchJob:
        """Returns it with what another one says of the same job and this one does not; long texts are cut."""
        made = {}
        for name in self.__struct_fields__:
            value = getattr(self, name) or getattr(later, name, None)
            if isinstance(value, str) and len(value) > _LONGEST:
                value = value[: _LONGEST - 3] + "..."
            if value:
                made[name] = value
        return BatchJob(**made)
