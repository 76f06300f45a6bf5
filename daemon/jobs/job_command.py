"""Choice of the command that describes a job, among those of its streams."""

from __future__ import annotations

from typing import Final

from ...events import StreamInfo

_BATCH_SCRIPTS: Final = ("/slurm_script", "/task-prolog.sh")  # the first is a copy in Slurm's spool folder
_AGENTS: Final = ("orted", "prted", "hydra_pmi_proxy")  # agents of mpirun on other nodes


def command_weight(info: StreamInfo) -> int:
    """Return the weight of a stream's command for its job.

    It is 1 for batch scripts, 2 for their programs, 3 for steps of the job.
    """
    if any(script in info.command for script in _BATCH_SCRIPTS):
        return 1
    program = info.command.split(" ", 1)[0].rpartition("/")[2]
    return 3 if info.step.isdecimal() and program not in _AGENTS else 2
