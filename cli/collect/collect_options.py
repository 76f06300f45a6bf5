"""Options of ``iotide collect``, and the combinations that are accepted."""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

import click

from ..common.arguments.options import is_given
from ..common.job_names import batch_job


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectOptions:
    """Options of ``iotide collect``, under the names of the command's parameters."""

    files: tuple[Path, ...]
    connect: tuple[str, ...]
    gate: Path | None
    """The --socket."""
    format_name: str | None
    job: str | None
    host: str
    ftio_listen: str | None
    ftio_job: str | None
    allow_remote: bool
    shared_fs: tuple[str, ...]
    local_fs: tuple[str, ...]
    ends_at: float | None
    """Unix time."""
    spool_disk: int
    """In MiB."""
    state: Path | None
    pace: Path | None
    replay: bool
    until_unused: bool
    grace: float
    """In seconds."""
    all_users: bool
    max_users: int
    stop: Path | None
    print_environment: bool
    keys: tuple[Path | None, Path | None]
    """Own secret key, and the aggregator's public key."""

    @property
    def known_job(self) -> str:
        """Job id from the option, else from the batch system; "" if neither has one."""
        return self.job or batch_job(os.environ) or ""

    @property
    def collects(self) -> bool:
        """Whether any input is named."""
        return bool(self.files) or self.is_live

    @property
    def is_live(self) -> bool:
        """Whether running programs send events."""
        return self.gate is not None or self.ftio_listen is not None


def check_options(options: CollectOptions, tracer: Collection[str]) -> None:
    """Check the options of a collector that is to run.

    Args:
        options: the options.
        tracer: names of the tracer's options that have a value.

    Raises:
        UsageError: an option is missing, or two exclude each other.
    """
    if given_options := [name for name in tracer if is_given(name)]:
        raise click.UsageError(f"{', '.join(given_options)}: options of the tracer need --print-environment")
    if not options.collects:
        raise click.UsageError("nothing to collect: name FILEs, a --socket or --ftio-listen")
    if options.replay and options.is_live:
        raise click.UsageError("--replay reads finished FILEs only: leave out --socket and --ftio-listen")
    if options.replay and options.ends_at is not None:
        raise click.UsageError("--replay reads finished FILEs, and --ends-at is for running jobs")
    _check_socket_options(options)
    if options.all_users:
        _check_all_users(options)


def _check_socket_options(options: CollectOptions) -> None:
    has_socket = options.gate is not None
    if (options.all_users or is_given("max_users")) and not (has_socket and options.all_users):
        raise click.UsageError("--all-users needs the --socket, and --max-users needs --all-users")
    if options.pace is not None and not has_socket:
        raise click.UsageError("--pace needs the --socket: only traced programs wait")
    ends_by_itself = options.until_unused or options.all_users
    if (options.until_unused or is_given("grace")) and not (has_socket and ends_by_itself):
        raise click.UsageError("--until-unused needs the --socket, and --grace needs --until-unused or --all-users")


def _check_all_users(options: CollectOptions) -> None:
    has_other_inputs = bool(options.files) or options.ftio_listen is not None
    is_of_one_job = options.job is not None or options.ends_at is not None
    if has_other_inputs or is_of_one_job or options.pace or options.until_unused:
        raise click.UsageError(
            "--all-users collects traced programs of all jobs: leave out FILEs, --ftio-listen, --pace, --until-unused, "
            "--job and --ends-at"
        )
