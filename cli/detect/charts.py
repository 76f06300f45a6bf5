"""Replay and charts of ``iotide detect``."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from ..common.arguments.targets import check_target

if TYPE_CHECKING:
    from ...analyzers.offline.member_groups import SecondaryResult
    from ...analyzers.offline.requests import Batches
    from ...analyzers.settings import DetectSettings
    from ...results.traces.analysis import DetectionReport

SUFFIXES: Final = (".html", ".png", ".svg")


def check_picture(target: Path, inputs: Sequence[Path]) -> None:
    """Check that a chart can be written, before the work begins.

    Raises:
        click.UsageError: unknown format, missing folder, or the file is an input.
        UnavailableError: the drawing library is missing.
    """
    if target.suffix.lower() not in SUFFIXES:
        raise click.UsageError(f"--plot {target}: unknown kind of picture; expected a name that ends in {_choices()}")
    check_target("--plot", target, inputs)
    if target.suffix.lower() == ".html":
        from ...clients.detection import page as detect_page  # noqa: F401
    else:
        from ...clients.detection import charts_matplotlib  # noqa: F401


def add_replay(
    report: DetectionReport, batches: Batches, settings: DetectSettings, every_s: float | None
) -> DetectionReport:
    """Add a replay of the trace to a report.

    Raises:
        ConfigError: the settings only apply to finished traces.
    """
    from ...analyzers.offline.plot_data import replay_of
    from ..traces.ordered_columns import OrderedColumns

    replay = replay_of(batches, settings, report.prediction, every_s=every_s, ordering=OrderedColumns)
    return report.model_copy(update={"analysis": report.analysis.model_copy(update={"replay": replay})})


def write_picture(
    target: Path,
    report: DetectionReport,
    batches: Batches,
    settings: DetectSettings,
    every_s: float | None,
    own: Batches | None,
    beside: Sequence[SecondaryResult],
) -> None:
    """Draw a trace to a file, which appears when it is complete.

    ``own`` are the events of the members with the period, ``beside`` the periods of others.

    Raises:
        click.ClickException: the file cannot be written.
    """
    from ...analyzers.offline.plot_data import panels_of
    from ..traces.ordered_columns import OrderedColumns

    replayed = report.analysis.replay
    panels = panels_of(
        batches, settings, report.prediction,
        every_s=every_s, replayed=replayed, own=own, beside=beside, ordering=OrderedColumns,
    )  # fmt: skip
    if target.suffix.lower() == ".html":
        from ...clients.detection.page import render_detection

        content = render_detection(report, panels).encode(errors="replace")
    else:
        from ...clients.detection.charts_matplotlib import draw_picture, picture_title

        content = draw_picture(panels, picture_title(report), "svg" if target.suffix.lower() == ".svg" else "png")
    try:
        _write(target, content)
    except OSError as error:
        raise click.ClickException(f"{target} cannot be written: {error.strerror}") from error
    click.echo(f"iotide: picture: {target}", err=True)


def _write(target: Path, content: bytes) -> None:
    partial = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        with partial.open("xb") as out:
            out.write(content)
        partial.replace(target)
    except OSError:
        with contextlib.suppress(OSError):
            partial.unlink(missing_ok=True)
        raise


def _choices() -> str:
    return f"{', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}"
