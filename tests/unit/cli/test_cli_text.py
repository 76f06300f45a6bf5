"""The command line itself: help, names, options."""

from __future__ import annotations

import doctest

import click
import pytest
from click.testing import CliRunner
from iotide.cli.common import job_names
from iotide.cli.common.job_names import default_job, safe_name
from iotide.cli.main import COMMANDS, group
from iotide.cli.run.launch import shell_status


def test_every_command_of_the_table_has_help_with_exit_statuses() -> None:
    for name in COMMANDS:
        shown = CliRunner().invoke(group, [name, "--help"])
        assert shown.exit_code == 0, shown.output
        assert "Exit status" in shown.output, name


def test_help_lists_all_commands() -> None:
    shown = CliRunner().invoke(group, ["--help"]).output
    assert all(f"  {name}" in shown for name in COMMANDS)


def test_empty_prefix_of_data_is_refused() -> None:
    done = CliRunner().invoke(group, ["detect", "--data", "", "trace"])
    assert done.exit_code == 2
    assert "an empty prefix" in done.output


def test_unknown_command_is_bad_usage() -> None:
    assert CliRunner().invoke(group, ["surf"]).exit_code == 2


def _numbers() -> dict[str, click.Parameter]:
    found = {}
    for name in COMMANDS:
        command = group.get_command(click.Context(group), name)
        assert command is not None
        found |= {f"{name} {param.opts[0]}": param for param in command.params}
    kinds = (click.FloatRange, click.types.FloatParamType)
    return {name: param for name, param in found.items() if isinstance(param.type, kinds)}


@pytest.mark.parametrize("text", ["nan", "inf", "-inf", "1e999"])
@pytest.mark.parametrize("param", _numbers().values(), ids=_numbers())
def test_number_that_is_not_finite_is_bad_usage(param: click.Parameter, text: str) -> None:
    with pytest.raises(click.BadParameter):
        param.type.convert(text, param, None)


def test_examples_in_docstrings_hold() -> None:
    assert doctest.testmod(job_names).failed == 0


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"SLURM_JOB_ID": "77"}, "77"),
        ({"PBS_JOBID": "9.pbs"}, "9.pbs"),
        ({"IOTIDE_JOB": "a", "SLURM_JOB_ID": "b"}, "a"),
    ],
)
def test_batch_system_names_the_job(environment: dict[str, str], expected: str) -> None:
    assert default_job(["x"], environment) == expected


def test_job_outside_a_batch_system_is_named_after_the_program() -> None:
    assert default_job(["/usr/bin/lmp", "-in", "x"], {}).startswith("lmp-")


def test_safe_name_never_leaves_the_folder() -> None:
    assert "/" not in safe_name("../../etc/passwd")
    assert safe_name("..") == "job"


def test_death_by_signal_is_reported_as_a_shell_does() -> None:
    assert [shell_status(code) for code in (0, 3, -9, -15)] == [0, 3, 137, 143]
