"""``iotide simulate``: effect of I/O scheduling policies on jobs."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from ..common.arguments.grouped_help import SectionCommand, SectionOption
from ..common.arguments.parameter_types import FiniteRange, Rate

if TYPE_CHECKING:
    from ...clients.schedulers.fluid import Job
    from ...results.schedule import PolicyResult, Simulation
    from ...scheduling.protocol import Policy
    from .real_jobs import Start
    from .simulation_input import Plan

_HELP = """Simulate I/O scheduling policies on jobs that share one bandwidth, and compare them.

JOBs are finished traces and archives (each one job; `iotide run` leaves archives), folders of archives, a running
job's address http://HOST:9788/jobs/JOB, or an aggregator's http://HOST:9788 for all of its running jobs. Mixes of
periodic jobs come from --class or --mix instead. The model is fluid: rates change only when an I/O phase begins or
ends, without time steps. docs/scheduling.md has the formulas and the format of --mix.

\b
Policies:
  fair-share         equal shares of the bandwidth
  fcfs               the phase that began first has the bandwidth
  set-10             sets by order of magnitude of the period, one job of each, weight 10^-set (IO-Sets)
  lowest-yield       the job with the lowest yield has the bandwidth (GreedyYield)
  volume-first[:F]   least predicted volume first, with priority for lost yield; fairness F from 0, default 0.5

\b
Columns: I/O slowdown is the time in I/O over the time that this I/O takes alone, mean and highest over the jobs. Yield
is the time that a job's work takes alone over the elapsed time. Computing is the share of time in which jobs compute.

\b
Examples:
  iotide simulate monday/                                 effect of Set-10 on these jobs
  iotide simulate --start random --bandwidth 2G a.iotide b.iotide c.iotide
  iotide simulate --class 20x10 --class 20x100 --class 20x1000 --spread 0.5 --load 0.8
  iotide simulate --mix mix.toml --policy set-10 --policy volume-first:4 --wrong 0.5
  iotide simulate --plot shares.svg --plot-to 600 --class 1x19.2 --class 15x384
  iotide simulate --json http://127.0.0.1:9788 | jq '.policies[] | {policy, io_slowdown}'

Exit status: 0 simulated, 1 the work failed, 2 bad usage or nothing could be read.
"""
_DURATION_S: Final = 20_000.0
_BANDWIDTH: Final = 1e9
_LOAD: Final = 0.8
_NO_CONTENTION: Final = 1.005
"""Highest I/O slowdown of a job up to which jobs do not wait for each other."""
_jobs_option = partial(click.option, cls=SectionOption, section="Jobs")
_model_option = partial(click.option, cls=SectionOption, section="Model", show_default=True)
_predictions_option = partial(click.option, cls=SectionOption, section="Predictions", show_default=True)
_output_option = partial(click.option, cls=SectionOption, section="Output")


@click.command("simulate", cls=SectionCommand, help=_HELP)
@click.argument("sources", metavar="[JOB]...", nargs=-1)
@_jobs_option(
    "--class",
    "classes",
    multiple=True,
    metavar="COUNTxPERIOD",
    help="Periodic jobs: their number and mean iteration length in seconds, such as 20x100. Repeatable.",
)
@_jobs_option(
    "--mix",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Description of classes and jobs in TOML, or in JSON if the name ends in .json.",
)
@_jobs_option(
    "--load",
    type=FiniteRange(0, 10, min_open=True),
    metavar="SHARE",
    help=f"I/O of the classes, over the bandwidth, if each job ran alone.  [default: {_LOAD}]",
)
@_jobs_option(
    "--spread",
    type=FiniteRange(0, 1),
    metavar="SHARE",
    help="Standard deviation of iteration lengths of the jobs of a --class, over their mean.  [default: 0]",
)
@_jobs_option(
    "--jitter",
    type=FiniteRange(0, 1),
    metavar="SHARE",
    help="Standard deviation of gaps and volumes of each job of a --class, over their means.  [default: 0]",
)
@_jobs_option("--uneven", is_flag=True, help="Multiply each job's part of the load by a random number from 0 to 1.")
@_jobs_option(
    "--start",
    type=click.Choice(("recorded", "together", "random")),
    help="Start of traced JOBs: as recorded, all at once, or at random within one iteration.  "
    "[default: recorded if all traces have wall-clock times, else together]",
)
@_model_option(
    "--policy",
    "policies",
    multiple=True,
    metavar="NAME",
    show_default="all five",
    help="Policy to simulate, as listed above. Repeatable.",
)
@_model_option(
    "--bandwidth",
    type=Rate(),
    metavar="BYTES/S",
    show_default="1G; the highest of the jobs' own for JOBs",
    help="Bandwidth that all jobs share, with suffix k, M, G or T.",
)
@_model_option(
    "--limit",
    type=Rate(),
    metavar="BYTES/S",
    show_default="--bandwidth; the mean within its phases for a JOB",
    help="Highest bandwidth of one job.",
)
@_model_option(
    "--duration",
    type=FiniteRange(min=0, min_open=True),
    metavar="SECONDS",
    show_default="20000; until all have ended for traces",
    help="Simulated time.",
)
@_model_option("--seed", type=click.IntRange(min=0), default=0, metavar="N", help="Seed of all random numbers.")
@_predictions_option(
    "--late", type=click.IntRange(0, 1_000_000), default=0, metavar="PHASES", help="Delay of all predictions."
)
@_predictions_option(
    "--wrong",
    type=FiniteRange(0, 10),
    default=0.0,
    metavar="SHARE",
    help="Standard deviation of predicted over true periods and volumes (of their logarithms).",
)
@_predictions_option(
    "--missing", type=FiniteRange(0, 1), default=0.0, metavar="SHARE", help="Share of jobs without prediction."
)
@_output_option(
    "--plot",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Draw the bandwidth of each job or class over time, one panel for each policy (.svg).",
)
@_output_option("--plot-from", type=FiniteRange(min=0), metavar="SECONDS", help="Start of the chart.  [default: 0]")
@_output_option("--plot-to", type=FiniteRange(min=0), metavar="SECONDS", help="End of the chart.  [default: the end]")
@_output_option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(
    sources: tuple[str, ...],
    classes: tuple[str, ...],
    mix: Path | None,
    load: float | None,
    spread: float | None,
    jitter: float | None,
    uneven: bool,
    start: Start | None,
    policies: tuple[str, ...],
    bandwidth: float | None,
    limit: float | None,
    duration: float | None,
    seed: int,
    late: int,
    wrong: float,
    missing: float,
    plot: Path | None,
    plot_from: float | None,
    plot_to: float | None,
    as_json: bool,
) -> None:
    """Run the command."""
    _check_job_options(sources, classes, mix, load, start, periodic=spread is not None or jitter is not None or uneven)
    window = _plotted_window(plot, plot_from, plot_to)
    if plot is not None:
        from .chart import check_picture

        check_picture(plot, [*sources, *([str(mix)] if mix else [])])
    from ...scheduling.named_policies import POLICY_NAMES, policy_named
    from .simulation_input import plan_of_classes, plan_of_mix, plan_of_sources

    try:
        chosen = [policy_named(name) for name in dict.fromkeys(policies or POLICY_NAMES)]
        if classes:
            plan = plan_of_classes(
                classes, spread or 0.0, jitter or 0.0, uneven, load or _LOAD, bandwidth or _BANDWIDTH, limit,
                duration or _DURATION_S, seed,
            )  # fmt: skip
        elif mix is not None:
            plan = plan_of_mix(mix, load, bandwidth, limit, duration, seed)
        else:
            plan = plan_of_sources(sources, start, bandwidth, limit, duration, seed)
        simulation, jobs = _simulate(plan, chosen, late, wrong, missing, seed)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    if plot is not None:
        from .chart import write_picture

        write_picture(plot, simulation, jobs, window)
    if as_json:
        click.echo(simulation.model_dump_json(indent=2))
    else:
        from ...clients.schedulers.text import print_simulation

        print_simulation(simulation, sys.stdout)


def _check_job_options(
    sources: tuple[str, ...],
    classes: tuple[str, ...],
    mix: Path | None,
    load: float | None,
    start: Start | None,
    *,
    periodic: bool,
) -> None:
    """Check that the options describe jobs in one way. ``periodic``: an option for ``--class`` is given.

    Raises:
        click.UsageError: they do not.
    """
    if sum(map(bool, (sources, classes, mix))) != 1:
        if not (sources or classes or mix):
            raise click.UsageError(
                "no jobs: name traces, folders of archives or an aggregator's address, or use --class or --mix"
            )
        raise click.UsageError("name jobs in one way: JOBs (traces or addresses), --class, or --mix")
    if sources and load is not None:
        raise click.UsageError("--load is for --class and --mix: JOBs have a load of their own")
    if not classes and periodic:
        raise click.UsageError("--spread, --jitter and --uneven are for --class; a --mix sets them for each class")
    if start is not None and not sources:
        raise click.UsageError("--start is for traced JOBs")


def _plotted_window(plot: Path | None, start_s: float | None, end_s: float | None) -> tuple[float, float]:
    """Return start and end of the chart, s.

    Raises:
        click.UsageError: there is no chart, or its end is not after its start.
    """
    if plot is None and (start_s is not None or end_s is not None):
        raise click.UsageError("--plot-from and --plot-to need --plot")
    window = (start_s or 0.0, math.inf if end_s is None else end_s)
    if window[0] >= window[1]:
        raise click.UsageError(f"--plot-to {end_s:g} is not after --plot-from {window[0]:g}")
    return window


def _without_contention(results: Sequence[PolicyResult]) -> list[str]:
    """Return a note if no job ever waits for another one, so that all policies have the same result."""
    slowdowns = [result.io_slowdown_highest for result in results]
    if any(slowdown is not None and slowdown > _NO_CONTENTION for slowdown in slowdowns):
        return []
    return ["the jobs' I/O hardly overlaps, so no policy changes anything; a lower --bandwidth makes them wait"]


def _simulate(
    plan: Plan, chosen: list[tuple[str, Policy]], late: int, wrong: float, missing: float, seed: int
) -> tuple[Simulation, list[Job]]:
    """Simulate the jobs under each policy."""
    from ...clients.schedulers.predictions import Errors, add_errors
    from ...clients.schedulers.study import end_alone_s, load_of, run
    from ...results.schedule import PredictionErrors, Simulation
    from ..common.console.progress import step_progress

    jobs = add_errors(plan.jobs, Errors(late, wrong, missing), seed)
    horizon = math.inf if plan.duration_s is None else plan.duration_s
    expected = min(horizon, end_alone_s(jobs, plan.bandwidth))
    results = []
    with step_progress("simulating") as progress:
        for place, (name, policy) in enumerate(chosen):

            def show(now: float, place: int = place) -> None:
                progress(100 * place + int(99 * min(1.0, now / expected)), 100 * len(chosen))

            results.append(run(name, policy, jobs, plan.bandwidth, horizon, progress=show))
    return Simulation(
        sources=plan.sources,
        seed=seed,
        bandwidth=plan.bandwidth,
        duration_s=plan.duration_s,
        load=load_of(jobs, plan.bandwidth),
        errors=PredictionErrors(late=late, wrong=wrong, missing=missing),
        notes=[*plan.notes, *_without_contention(results)],
        policies=results,
    ), jobs
