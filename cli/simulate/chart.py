"""The chart of ``iotide simulate``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import click

from ...clients.schedulers.bandwidth_chart import Groups, Shares, draw
from ...clients.schedulers.fluid import Job, simulate
from ...results.schedule import Simulation
from ...scheduling.named_policies import policy_named
from ..common.arguments.targets import check_target
from ..common.atomic_files import private_file


def check_picture(target: Path, inputs: Sequence[str]) -> None:
    """Check that a chart can be written, before the work begins.

    Raises:
        click.UsageError: unknown format, missing folder, or the file is an input.
    """
    if target.suffix.lower() != ".svg":
        raise click.UsageError(f"--plot {target}: unknown kind of picture; expected a name that ends in .svg")
    check_target("--plot", target, inputs)


def write_picture(target: Path, simulation: Simulation, jobs: Sequence[Job], window_s: tuple[float, float]) -> None:
    """Simulate each policy again up to the end of the chart. Draw the bandwidth of each job.

    Raises:
        click.ClickException: the file cannot be written, or nothing happens in the window.
    """
    end = min(window_s[1], max(result.elapsed_s for result in simulation.policies))
    if end <= window_s[0]:
        raise click.ClickException(f"--plot-from {window_s[0]:g}: the simulation ends after {end:g} s")
    groups = Groups(jobs)
    recorded = {}
    for result in simulation.policies:
        shares = recorded[result.policy] = Shares(groups, window_s[0], end)
        horizon = min(end, simulation.duration_s or math.inf)
        simulate(jobs, policy_named(result.policy)[1], simulation.bandwidth, horizon, record=shares)
    content = draw(recorded, groups, simulation.bandwidth, (window_s[0], end))
    try:
        with private_file(target) as file:
            file.write(content.encode(errors="replace"))
    except OSError as error:
        raise click.ClickException(f"{target} cannot be written: {error.strerror}") from error
    click.echo(f"iotide: picture: {target}", err=True)
