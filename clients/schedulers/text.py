"""Text output of ``iotide simulate``."""

from __future__ import annotations

from statistics import fmean
from typing import Final, TextIO

from rich.console import Console

from ...events.counted_text import counted
from ...results.schedule import PolicyResult, Simulation
from ..text.tables import file_list, number_table, plain_name, print_table
from ..text.units import duration_text, rate_text

_MAX_ROWS: Final = 24
_BASE: Final = "fair-share"
_FILE_WIDTH: Final = 110


def print_simulation(simulation: Simulation, stream: TextIO) -> None:
    """Print the simulated jobs, one row per policy, and slowdowns by class or job."""
    console = Console(file=stream, highlight=False)
    if not console.is_terminal:
        console.width = max(console.width, _FILE_WIDTH)
    jobs = simulation.policies[0].jobs
    lasting = "until all have ended" if simulation.duration_s is None else f"for {duration_text(simulation.duration_s)}"
    console.print(
        f"[bold]{file_list(simulation.sources)}[/bold]  {counted(len(jobs), 'jobs')} sharing "
        f"{rate_text(simulation.bandwidth)}, load {simulation.load:.2f}, {lasting}",
        soft_wrap=True,
    )
    console.print(_conditions(simulation), soft_wrap=True)
    for note in simulation.notes:
        console.print(f"note: {plain_name(note)}", soft_wrap=True)
    table = number_table("")
    table.title = None
    table.add_column("policy", no_wrap=True)
    for heading in ("I/O slowdown", "highest", "lowest yield", "mean yield", "computing", "end"):
        table.add_column(heading, justify="right", no_wrap=True)
    for result in simulation.policies:
        table.add_row(
            result.policy,
            _number(result.io_slowdown),
            _number(result.io_slowdown_highest),
            f"{result.yield_lowest:.3f}",
            f"{result.yield_mean:.3f}",
            f"{100 * result.utilisation:.1f} %",
            duration_text(result.elapsed_s),
        )
    print_table(console, table)
    _print_parts(console, simulation)
    for line in _policy_results(simulation):
        console.print(line, soft_wrap=True)


def _conditions(simulation: Simulation) -> str:
    errors = simulation.errors
    wrong = [
        f"{what}"
        for what, given in (
            (f"late by {counted(errors.late, 'phases')}", errors.late),
            (f"wrong by {100 * errors.wrong:g} %", errors.wrong),
            (f"missing for {100 * errors.missing:g} % of the jobs", errors.missing),
        )
        if given
    ]
    return f"predictions: {', '.join(wrong) or 'perfect'}"


def _print_parts(console: Console, simulation: Simulation) -> None:
    """Print the I/O slowdown of each class or job."""
    first = simulation.policies[0].jobs
    by_class = any(job.kind for job in first)
    keys = [job.kind or job.job for job in first] if by_class else [job.job for job in first]
    names = list(dict.fromkeys(keys))
    table = number_table(f"I/O slowdown by {'class' if by_class else 'job'}")
    table.add_column("class" if by_class else "job", no_wrap=True)
    for result in simulation.policies:
        table.add_column(result.policy, justify="right", no_wrap=True)
    for name in names[:_MAX_ROWS]:
        cells = []
        for result in simulation.policies:
            values = [
                job.io_slowdown
                for key, job in zip(keys, result.jobs, strict=True)
                if key == name and job.io_slowdown is not None
            ]
            cells.append(_number(fmean(values) if values else None))
        table.add_row(plain_name(name), *cells)
    print_table(console, table)
    if len(names) > _MAX_ROWS:
        console.print(f"{len(names) - _MAX_ROWS} more; --json lists all")


def _policy_results(simulation: Simulation) -> list[str]:
    """Return the effect of each policy, compared with fair share."""
    base = next((result for result in simulation.policies if result.policy == _BASE), None)
    if base is None:
        return []
    lines = [_policy_result(base, result) for result in simulation.policies if result is not base]
    return ["", *lines] if lines else []


def _policy_result(base: PolicyResult, result: PolicyResult) -> str:
    change = ""
    if base.io_slowdown is not None and result.io_slowdown is not None:
        change = f"I/O slowdown {100 * (result.io_slowdown / base.io_slowdown - 1):+.0f} %, "
    computing = 100 * (result.utilisation - base.utilisation)
    return f"{result.policy} instead of fair share: {change}time spent computing {computing:+.1f} points"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"
