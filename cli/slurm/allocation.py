"""What Slurm says of a job to the prolog of one of its nodes, and what it is asked."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from ...events import InputError

_PATH: Final = "/usr/local/bin:/usr/bin:/bin:/opt/slurm/bin"
"""Where a prolog looks for programs, whose environment has no PATH."""
_SQUEUE_FORMAT: Final = "%S|%e|%a|%j"
"""Start, end, account and name: a name may contain anything."""
_UNSAID: Final = ("", "(null)", "N/A", "NONE", "Unknown")
_GIVEN: Final = (
    "SLURM_CONF",
    "SLURM_JOB_ID",
    "SLURM_JOB_PARTITION",
    "SLURM_JOB_ACCOUNT",
    "SLURM_JOB_NAME",
    "SLURM_CLUSTER_NAME",
    "SLURM_JOB_NODELIST",
    "SLURM_NODELIST",
    "SLURM_JOB_NUM_NODES",
    "SLURM_JOB_START_TIME",
    "SLURM_JOB_END_TIME",
)
_FACTS: Final = ("SLURM_JOB_START_TIME", "SLURM_JOB_END_TIME", "SLURM_JOB_ACCOUNT", "SLURM_JOB_NAME")


@dataclass(frozen=True, slots=True)
class Allocation:
    """A job on a node.

    Attributes:
        job: its number.
        uid: of its user.
        node: as Slurm calls it; "" where it does not say.
        told: what the prolog's environment says of the job.
    """

    job: str
    uid: int
    node: str
    told: Mapping[str, str]

    @property
    def is_on_first_node(self) -> bool:
        """Whether this node is the one of the job that asks what others need not."""
        nodes = self.told.get("SLURM_JOB_NODELIST") or self.told.get("SLURM_NODELIST") or self.node
        return first_node(nodes) == self.node


def allocation_of(environment: Mapping[str, str]) -> Allocation:
    """Returns what the environment of a prolog or epilog says.

    Raises:
        InputError: it is no such environment.
    """
    job = environment.get("SLURM_JOB_ID", "")
    uid = environment.get("SLURM_JOB_UID", "")
    for name, number in (("SLURM_JOB_ID", job), ("SLURM_JOB_UID", uid)):
        if not (number.isascii() and number.isdecimal()):
            raise InputError("the environment", None, f"{name} is {number[:40]!r}", "a number, as slurmd gives it")
    told = {name: value for name in _GIVEN if (value := environment.get(name))}
    return Allocation(job, int(uid), environment.get("SLURMD_NODENAME", ""), told)


def first_node(nodes: str) -> str:
    """Returns the first host of a list as Slurm writes it.

    >>> first_node("rack[1-2]node[03,07-09],other"), first_node("login1")
    ('rack1node03', 'login1')
    """
    first = re.match(r"(?:[^,\[\]]|\[[^\]]*\])*", nodes)
    return re.sub(r"\[([0-9]*)[^\]]*\]", r"\1", first[0]) if first else ""


def facts_of(allocation: Allocation, squeue: str, timeout_s: float, say: Callable[[str], None]) -> dict[str, str]:
    """Returns what the environment says of the job, and what of start, end, account and name the controller adds.

    Args:
        allocation: the job; its controller is asked on the first node alone.
        squeue: the program.
        timeout_s: longest time; 0: it is not asked.
        say: is told why there is no answer.
    """
    facts = dict(allocation.told)
    if not timeout_s or not allocation.is_on_first_node or all(name in facts for name in _FACTS):
        return facts
    command = [shutil.which(squeue, path=_PATH) or squeue, "-h", "-j", allocation.job, "-o", _SQUEUE_FORMAT]
    environment = {"PATH": _PATH} | {name: facts[name] for name in ("SLURM_CONF",) if name in facts}
    try:
        done = subprocess.run(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=timeout_s,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        say(f"its name and time limit are not known: {error}")
        return facts
    answers = done.stdout.decode(errors="replace").split("\n", 1)[0].split("|", len(_FACTS) - 1)
    if len(answers) < len(_FACTS):
        reason = done.stderr.decode(errors="replace").strip()[:200] or f"squeue answered {done.stdout[:80]!r}"
        say(f"its name and time limit are not known: {reason}")
        return facts
    found = {name: value for name, value in zip(_FACTS, answers, strict=True) if value not in _UNSAID}
    return found | facts
