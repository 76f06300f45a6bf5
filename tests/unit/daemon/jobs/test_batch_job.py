"""Batch system facts of a job: read from the environment, sent over the wire, shown for the job."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from iotide.cli.common.batch_facts import batch_facts
from iotide.clients.text.prediction_text import prediction_line
from iotide.daemon.jobs.job_summary import summary_of
from iotide.daemon.jobs.session import JobSession
from iotide.daemon.settings import AggregatorSettings
from iotide.events import BatchJob, StreamInfo
from iotide.events.network.wire import Hello, decode, encode
from support.jobs.result_factories import make_prediction

ENVIRONMENT = {
    "SLURM_JOB_ID": "7",
    "SLURM_JOB_NAME": "melt",
    "SLURM_JOB_ACCOUNT": "physics",
    "SLURM_JOB_PARTITION": "all",
    "SLURM_CLUSTER_NAME": "bench",
    "SLURM_JOB_NODELIST": "node[1-2]",
    "SLURM_JOB_NUM_NODES": "2",
    "SLURM_JOB_START_TIME": "1700000000",
    "SLURM_JOB_END_TIME": "1700000300",
}
FACTS = BatchJob(
    name="melt", account="physics", partition="all", cluster="bench", nodes="node[1-2]", node_count=2,
    started_at_s=1.7e9, limit_s=300.0,
)  # fmt: skip


def info(**about: object) -> StreamInfo:
    return StreamInfo(job="7", source="test", **about)  # type: ignore[arg-type]


def session() -> JobSession:
    return JobSession("7", AggregatorSettings(), 0.0)


def test_environment_of_slurm_tells_all_of_a_job() -> None:
    assert batch_facts(ENVIRONMENT) == FACTS


@pytest.mark.parametrize(
    ("environment", "facts"),
    [
        ({}, None),
        ({"PBS_JOBNAME": "sim", "PBS_QUEUE": "long"}, BatchJob(name="sim", partition="long")),
        ({"LSB_JOBNAME": "sim", "LSB_PROJECT_NAME": "p"}, BatchJob(name="sim", account="p")),
        ({"FLUX_JOB_NNODES": "4"}, BatchJob(node_count=4)),
        ({"SLURM_JOB_NUM_NODES": "many", "SLURM_JOB_START_TIME": "noon"}, None),
        ({"SLURM_JOB_START_TIME": "1700000000", "SLURM_JOB_END_TIME": "0"}, BatchJob(started_at_s=1.7e9)),
    ],
)
def test_missing_or_non_numeric_values_are_left_out(environment: dict[str, str], facts: BatchJob | None) -> None:
    assert batch_facts(environment) == facts


@given(st.dictionaries(st.sampled_from(sorted(ENVIRONMENT)), st.text(max_size=3000)))
def test_any_environment_gives_facts_that_the_wire_carries(environment: dict[str, str]) -> None:
    facts = batch_facts(environment)
    told, _ = decode(encode(Hello(collector="c", stream="s", info=info(batch=facts))))
    assert isinstance(told, Hello)
    assert told.info.batch == facts
    assert facts is None or max(map(len, (facts.name, facts.nodes))) <= 1024


def test_stream_of_another_job_keeps_its_own() -> None:
    assert info().of_batch(FACTS, "7").batch == FACTS
    assert info().of_batch(FACTS).batch == FACTS
    assert info().of_batch(FACTS, "8").batch is None
    assert info(batch=FACTS).of_batch(BatchJob(name="other")).batch == FACTS


def test_job_puts_together_what_its_nodes_say() -> None:
    job = session()
    assert summary_of(job, 0.0).batch is None
    job.open_stream("a", info(batch=BatchJob(nodes="node[1-2]", partition="all")), 0.0)
    job.open_stream("b", info(batch=BatchJob(name="melt", limit_s=60.0, partition="other")), 0.0)
    told = summary_of(job, 0.0).batch
    assert told is not None
    assert (told.name, told.nodes, told.partition, told.limit_s, told.started_at_s) == (
        "melt", "node[1-2]", "all", 60.0, None,
    )  # fmt: skip


def test_command_of_a_job_is_no_copy_of_its_script_in_the_spool() -> None:
    job = session()
    job.open_stream("a", info(command="/bin/sh /var/spool/slurmd/job00007/slurm_script 1"), 0.0)
    assert "slurm_script" in summary_of(job, 0.0).command
    job.open_stream("b", info(command="/usr/bin/srun ./simulation"), 0.0)
    job.open_stream("c", info(command="cp a b"), 0.0)
    assert summary_of(job, 0.0).command == "/usr/bin/srun ./simulation"
    job.open_stream("d", info(command="/usr/bin/orted -mca ess slurm", step="0"), 0.0)
    assert summary_of(job, 0.0).command == "/usr/bin/srun ./simulation"
    job.open_stream("e", info(command="./simulation", step="0"), 0.0)
    job.open_stream("f", info(command="./other", step="1"), 0.0)
    assert summary_of(job, 0.0).command == "./simulation"


def test_lines_name_the_job_and_let_no_name_break_them() -> None:
    told = make_prediction(job="7").model_copy(update={"name": "me\x1b[31mlt\n"})
    assert "  7 (me?[31mlt?)  " in prediction_line(told)
