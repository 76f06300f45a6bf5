"""Slurm jobs with other ids: arrays, heterogeneous and requeued jobs, with a fake squeue."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from iotide.cli.common.batch_facts import batch_facts
from iotide.cli.common.job_names import batch_job
from iotide.cli.slurm.allocation import allocation_of, facts_of
from iotide.cli.slurm.scripts import SHIPPED
from iotide.events import BatchJob

PROLOG = {"SLURM_JOB_UID": "0", "SLURMD_NODENAME": "n1", "SLURM_NODELIST": "n1", "SLURM_JOB_NUM_NODES": "1"}
TIMES = "2026-01-02T03:04:05|2026-01-02T04:04:05|physics"


def told(folder: Path, rows: list[str], **environment: str) -> tuple[str, BatchJob]:
    """Return the id and the facts of a job for these rows of squeue."""
    squeue = folder / "squeue"
    squeue.write_text("#!/bin/sh\ncat <<'.'\n" + "\n".join(rows) + "\n.\n")
    squeue.chmod(0o755)
    allocation = allocation_of(PROLOG | environment)
    problems: list[str] = []
    facts = batch_facts(facts_of(allocation, str(squeue), 60.0, problems.append))
    assert not problems
    assert facts is not None
    return allocation.name, facts


def test_task_of_an_array_has_its_own_row_and_its_id_within_the_array(tmp_path: Path) -> None:
    """For the id of the array, squeue lists all tasks."""
    rows = [f"5|4_1|n1|{TIMES}|other", f"4|4_2|n1|{TIMES}|melt | 2"]
    name, facts = told(tmp_path, rows, SLURM_JOB_ID="4")
    assert (name, facts.name, facts.array_task, facts.title) == ("4", "melt | 2", "4_2", "4_2 melt | 2")
    assert (facts.account, facts.limit_s, facts.nodes) == ("physics", 3600.0, "n1")


def test_components_of_a_heterogeneous_job_are_one_job_on_all_its_nodes(tmp_path: Path) -> None:
    rows = [f"4|4+0|n1|{TIMES}|melt", f"5|4+1|n[2-3]|{TIMES}|melt", f"6|4+2|n1|{TIMES}|melt"]
    of_component = {"SLURM_JOB_ID": "5", "SLURM_HET_JOB_ID": "4", "SLURM_NODELIST": "n[2-3]"}
    name, facts = told(tmp_path, rows, **of_component, SLURMD_NODENAME="n2")
    assert (name, facts.name, facts.nodes, facts.node_count) == ("4", "melt", "n1,n[2-3]", 3)
    name, facts = told(tmp_path, rows, **of_component, SLURMD_NODENAME="n3", SLURM_JOB_PARTITION="all")
    assert (name, facts) == ("4", BatchJob(partition="all"))  # n1 and n2 run it, and get all nodes


@pytest.mark.parametrize(
    ("variable", "count", "name"),
    [
        ("SLURM_JOB_RESTART_COUNT", "0", "7"),
        ("SLURM_JOB_RESTART_COUNT", "2", "7-restart2"),
        ("SLURM_RESTART_COUNT", "1", "7-restart1"),
        ("SLURM_RESTART_COUNT", "x", "7"),
    ],
)
def test_each_run_of_a_requeued_job_is_a_job(variable: str, count: str, name: str) -> None:
    environment = PROLOG | {"SLURM_JOB_ID": "7", variable: count}
    assert allocation_of(environment).name == name
    assert allocation_of(environment).job == "7"
    assert batch_job(environment) == name
    assert batch_job(environment | {"IOTIDE_JOB": "mine"}) == "mine"


def test_tasks_know_their_place_in_an_array() -> None:
    environment = {"SLURM_JOB_NAME": "melt", "SLURM_ARRAY_JOB_ID": "4", "SLURM_ARRAY_TASK_ID": "12"}
    assert batch_facts(environment) == BatchJob(name="melt", array_task="4_12")
    assert batch_facts({"SLURM_ARRAY_JOB_ID": "4", "SLURM_ARRAY_TASK_ID": "%"}) is None


@pytest.mark.parametrize(
    ("variables", "found"),
    [
        ({"SLURM_JOB_ID": "5"}, True),
        ({"SLURM_JOB_ID": "4"}, False),
        ({"SLURM_JOB_ID": "4", "SLURM_HET_SIZE": "3", "SLURM_JOB_ID_HET_GROUP_0": "4"}, True),
        ({"SLURM_JOB_ID": "9", "SLURM_HET_SIZE": "3", "SLURM_JOB_ID_HET_GROUP_0": "4"}, False),  # of an outer job
        ({"SLURM_JOB_ID": "4", "SLURM_HET_SIZE": "1", "SLURM_JOB_ID_HET_GROUP_0": "4"}, False),
    ],
)
def test_tasks_of_a_component_find_the_collector_on_their_node(
    tmp_path: Path, variables: dict[str, str], *, found: bool
) -> None:
    """Their id is that of the first component; the collector uses that of the component on its node."""
    (tmp_path / "5.env").write_text("IOTIDE_JOB=4\n")
    script = (SHIPPED / "task-prolog.sh").read_text().replace("/run/iotide/slurm", str(tmp_path))
    groups = {"SLURM_JOB_ID_HET_GROUP_1": "5", "SLURM_JOB_ID_HET_GROUP_2": "6"}
    done = subprocess.run(["/bin/sh", "-c", script], env=groups | variables, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == (
        "unset SLURM_SCRIPT_CONTEXT\n" + ("export IOTIDE_JOB=4\n" if found else ""),
        "",
    )
