"""Job data from Slurm: the environment of a node's prolog, and queries to the controller."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from ...events import InputError
from ...events.batch_job import nodes_in
from ..common.job_names import with_restart_count

_PATH: Final = "/usr/local/bin:/usr/bin:/bin:/opt/slurm/bin"
"""Search path of programs in a prolog, whose environment has no PATH."""
_SQUEUE_FORMAT: Final = "%A|%i|%N|%S|%e|%a|%j"
"""Number, displayed id, nodes, start, end, account and name. The name is last, as it may contain any characters."""
_UNKNOWN: Final = ("", "(null)", "N/A", "NONE", "Unknown")
_PASSED_VARIABLES: Final = (
    "SLURM_CONF",
    "SLURM_JOB_ID",
    "SLURM_HET_JOB_ID",
    "SLURM_JOB_PARTITION",
    "SLURM_JOB_ACCOUNT",
    "SLURM_JOB_NAME",
    "SLURM_CLUSTER_NAME",
    "SLURM_JOB_NODELIST",
    "SLURM_NODELIST",
    "SLURM_JOB_NUM_NODES",
    "SLURM_JOB_START_TIME",
    "SLURM_JOB_END_TIME",
    "SLURM_ARRAY_JOB_ID",
    "SLURM_ARRAY_TASK_ID",
)
_NODE_VARIABLES: Final = ("SLURM_JOB_NODELIST", "SLURM_NODELIST", "SLURM_JOB_NUM_NODES")
"""Facts that a prolog knows of one component of a heterogeneous job only."""
_FACTS: Final = ("SLURM_JOB_START_TIME", "SLURM_JOB_END_TIME", "SLURM_JOB_ACCOUNT", "SLURM_JOB_NAME")


@dataclass(frozen=True, slots=True)
class Allocation:
    """A job on a node.

    Attributes:
        job: its number; of a heterogeneous job, that of the component on this node.
        leader: number of the first component; `job` for other jobs.
        name: id under which the job is reported.
        uid: uid of its user.
        node: node name in Slurm; "" if unknown.
        batch_facts: job data from the prolog's environment.
    """

    job: str
    leader: str
    name: str
    uid: int
    node: str
    batch_facts: Mapping[str, str]

    @property
    def is_on_first_node(self) -> bool:
        """Whether this node is the job's first one, which alone queries the controller."""
        nodes = self.batch_facts.get("SLURM_JOB_NODELIST") or self.batch_facts.get("SLURM_NODELIST") or self.node
        return first_node(nodes) == self.node


def allocation_of(environment: Mapping[str, str]) -> Allocation:
    """Return the data of a prolog's or epilog's environment.

    Raises:
        InputError: it is not such an environment.
    """
    job = environment.get("SLURM_JOB_ID", "")
    uid = environment.get("SLURM_JOB_UID", "")
    for name, number in (("SLURM_JOB_ID", job), ("SLURM_JOB_UID", uid)):
        if not (number.isascii() and number.isdecimal()):
            raise InputError("the environment", None, f"{name} is {number[:40]!r}", "a number, as slurmd gives it")
    passed = {name: value for name in _PASSED_VARIABLES if (value := environment.get(name))}
    leader = environment.get("SLURM_HET_JOB_ID", "")
    leader = leader if leader.isascii() and leader.isdecimal() else job
    return Allocation(
        job, leader, with_restart_count(leader, environment), int(uid), environment.get("SLURMD_NODENAME", ""), passed
    )


def first_node(nodes: str) -> str:
    """Return the first host of a Slurm node list.

    >>> first_node("rack[1-2]node[03,07-09],other"), first_node("login1")
    ('rack1node03', 'login1')
    """
    first = re.match(r"(?:[^,\[\]]|\[[^\]]*\])*", nodes)
    return re.sub(r"\[([0-9]*)[^\]]*\]", r"\1", first[0]) if first else ""


def facts_of(allocation: Allocation, squeue: str, timeout_s: float, say: Callable[[str], None]) -> dict[str, str]:
    """Return the job data of the environment. The controller completes it with start, end, account and name.

    Args:
        allocation: the job; only its first node queries the controller.
        squeue: the program.
        timeout_s: maximum time, s; 0: no query.
        say: callback with the reason if there is no answer.
    """
    facts = dict(allocation.batch_facts)
    if "SLURM_HET_JOB_ID" in facts:
        facts = {name: value for name, value in facts.items() if name not in _NODE_VARIABLES}
    elif all(name in facts for name in _FACTS):
        return facts
    if not timeout_s or not allocation.is_on_first_node:
        return facts
    command = [shutil.which(squeue, path=_PATH) or squeue, "-h", "-j", allocation.leader, "-o", _SQUEUE_FORMAT]
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
    found = _facts_of_rows(done.stdout.decode(errors="replace"), allocation)
    if not found:
        reason = done.stderr.decode(errors="replace").strip()[:200] or f"squeue answered {done.stdout[:80]!r}"
        say(f"its name and time limit are not known: {reason}")
    return found | facts


def _facts_of_rows(text: str, allocation: Allocation) -> dict[str, str]:
    """Return the facts of a job in squeue's rows. There is one row per task of its array, or per component."""
    rows = [fields for line in text.splitlines() if len(fields := line.split("|", 6)) == 7]
    own = [fields for fields in rows if fields[0] == allocation.leader]
    if not own:
        return {}
    _, shown, _, *answers = own[0]
    found = {name: value for name, value in zip(_FACTS, answers, strict=True) if value not in _UNKNOWN}
    array, _, task = shown.partition("_")
    if array.isdecimal() and task.isdecimal():
        found |= {"SLURM_ARRAY_JOB_ID": array, "SLURM_ARRAY_TASK_ID": task}
    if "SLURM_HET_JOB_ID" in allocation.batch_facts:
        nodes = ",".join(dict.fromkeys(fields[2] for fields in rows if fields[2] not in _UNKNOWN))
        found |= {"SLURM_JOB_NODELIST": nodes, "SLURM_JOB_NUM_NODES": str(len(set(nodes_in(nodes))))}
    return found
