"""``iotide collect``: the per-node agent."""

from __future__ import annotations

import logging
import os
import socket
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..common.arguments.grouped_help import SectionCommand
from ..common.arguments.key_options import key_options
from ..common.arguments.options import is_given
from ..common.arguments.tracer_options import settings_of, tracer_options
from ..common.console.logs import log_to_standard_error
from ..common.ending import SignalHandler
from ..common.job_end import end_of_job, ends_at_option
from ..common.job_names import JobName
from .collect_ending import stop_collector

if TYPE_CHECKING:  # imported when the command runs, so that --help is instant
    from ...collectors.node.file_metadata import NodeFileMetadata
    from ...collectors.pacing.pacer import Pacer
    from ...collectors.source import Source
    from ...collectors.sources.preload.source import PreloadSource

_HELP = """Run the per-node agent: follow inputs and ship their events to an aggregator.

FILEs are trace files (JSON lines, TMIO, strace) that are followed while they grow, also if they are rotated,
truncated or do not exist yet. --socket listens for programs traced by the preload library: start them with the
environment that `iotide collect --socket PATH --print-environment` prints. --ftio-listen receives messages that TMIO,
GekkoFS and other tracers send to FTIO's predictor; it only forwards them (`iotide serve --ftio-reply` replies).
With --all-users, root collects the programs of all users at one --socket, each user's in a process of that user.

\b
Examples:
  iotide collect trace.jsonl
  iotide collect --replay --job 4711 finished/*.st
  iotide collect --socket /run/user/1000/iotide/tracer.sock --connect tcp://127.0.0.1:9787
  iotide collect --socket /run/iotide/tracer.sock --connect tcp://a1:9787 --connect tcp://a2:9787
  env $(iotide collect --socket ~/.iotide/t.sock --print-environment --layers posix,mpiio) ./app
  iotide collect --ftio-listen tcp://127.0.0.1:5555
  iotide collect --all-users --socket /run/iotide/tracer.sock --connect tcp://a1:9787
  iotide collect --stop ~/.iotide/t.sock

Runs until SIGINT or SIGTERM, until `iotide collect --stop SOCKET`, with --until-unused until no traced program is
left, or with --replay to the end of the files; then sends the remaining events. Exit status: 0 done, 1 some events
were not acknowledged, a source failed, a FILE could not be read (with --replay: not completely), or no collector
could be stopped, 2 bad usage or unreadable input; with --replay also if no FILE has an event.
"""


_PACED_HEARTBEAT_S = 0.25
"""The answers to heartbeats contain the plan."""


@click.command("collect", cls=SectionCommand, help=_HELP)
@click.argument("files", metavar="[FILE]...", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--connect",
    metavar="ENDPOINT",
    multiple=True,
    default=["tcp://127.0.0.1:9787"],
    show_default=True,
    help="Endpoint of the aggregator. Repeat it for aggregators that may take over.",
)
@click.option(
    "--socket", "gate", type=click.Path(path_type=Path), metavar="PATH", help="Unix socket for traced programs."
)
@click.option(
    "--format", "format_name", metavar="NAME", help="Format of all FILEs. Default: detected from the content."
)
@click.option(
    "--job",
    type=JobName(),
    metavar="NAME",
    help="Job id for inputs that contain none. Default: the batch system's, or 'unknown'.",
)
@click.option("--host", metavar="NAME", default=socket.gethostname, help="Name of this node. Default: its host name.")
@click.option(
    "--ftio-listen", metavar="ENDPOINT", help="Endpoint that FTIO's tracers send to, such as tcp://127.0.0.1:5555."
)
@click.option(
    "--ftio-job",
    metavar="NAME",
    help="Job of FTIO's messages. Default: the one in the message, else --job's, else 'ftio'.",
)
@click.option(
    "--allow-remote", is_flag=True, help="Let --ftio-listen accept connections beyond loopback, in plain text."
)
@click.option(
    "--shared-fs",
    metavar="TYPE",
    multiple=True,
    help="A further type of file system that nodes share. Repeatable.",
)
@click.option("--local-fs", metavar="TYPE", multiple=True, help="A further type of node-local file system. Repeatable.")
@ends_at_option()
@click.option(
    "--spool-disk",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    metavar="MIB",
    help="Space in files in $TMPDIR for events that wait for the aggregator, once 64 MiB of memory are full.",
)
@click.option(
    "--state",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Folder for events that were read and are not acknowledged: the next collector with that DIR "
    "sends them, also after this one was killed. --spool-disk is its maximum size (1024 by "
    "default). [default: off]",
)
@click.option(
    "--pace",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    metavar="FOLDER",
    help="Delay I/O of traced programs on the file system of FOLDER, as planned by `iotide schedule "
    "--backend preload`; also with --print-environment.",
)
@click.option("--replay", is_flag=True, help="Read FILEs to their end and stop instead of following them.")
@click.option(
    "--until-unused",
    is_flag=True,
    help="End once a program has used the --socket and none has been running for --grace.",
)
@click.option(
    "--grace",
    type=click.FloatRange(min=0, min_open=True),
    default=10.0,
    show_default=True,
    metavar="SECONDS",
    help="Time that --until-unused waits for a further program, and with --all-users a user's process.",
)
@click.option(
    "--all-users",
    is_flag=True,
    help="Collect the programs of all users at the --socket, each user's in a process of that user; needs root.",
)
@click.option(
    "--max-users",
    type=click.IntRange(min=1),
    default=256,
    show_default=True,
    metavar="COUNT",
    help="Maximum number of users whose programs --all-users collects at once; further ones are not traced.",
)
@click.option(
    "--stop",
    type=click.Path(path_type=Path),
    metavar="SOCKET",
    help="Make the collector of that socket send its events and end; wait for its end.",
)
@click.option("--print-environment", is_flag=True, help="Print the environment for a traced program, and exit.")
@key_options
@tracer_options
def command(
    files: tuple[Path, ...],
    connect: tuple[str, ...],
    gate: Path | None,
    format_name: str | None,
    job: str | None,
    host: str,
    ftio_listen: str | None,
    ftio_job: str | None,
    allow_remote: bool,
    shared_fs: tuple[str, ...],
    local_fs: tuple[str, ...],
    ends_at: float | None,
    spool_disk: int,
    state: Path | None,
    pace: Path | None,
    replay: bool,
    until_unused: bool,
    grace: float,
    all_users: bool,
    max_users: int,
    stop: Path | None,
    print_environment: bool,
    keys: tuple[Path | None, Path | None],
    tracer: dict[str, Any],
) -> None:
    """Run the command."""
    if stop is not None:
        if files or gate is not None or ftio_listen is not None:
            raise click.UsageError("--stop stops another collector, and collects nothing itself")
        if problem := stop_collector(stop):
            click.echo(f"iotide: {problem}", err=True)
            sys.exit(1)
        return
    from ...collectors.node.file_metadata import NodeFileMetadata
    from ...collectors.node.file_systems import FileSystems
    from ...collectors.settings import CollectorSettings, FtioSettings
    from ...collectors.source import Origin
    from ...collectors.sources.preload.source import PreloadSource
    from ...events.network.curve import read_client_keys
    from ...events.network.descriptors import raise_limit
    from ...events.network.peers import own_user
    from ...events.network.vouchers import VARIABLE
    from ..common.batch_facts import batch_facts
    from ..common.job_names import batch_job

    known_job = job or batch_job(os.environ)
    if print_environment:
        _print_environment(gate, job, tracer, paced=pace is not None)
        return
    if given_options := [name for name in tracer if is_given(name)]:
        raise click.UsageError(f"{', '.join(given_options)}: options of the tracer need --print-environment")
    if not files and gate is None and ftio_listen is None:
        raise click.UsageError("nothing to collect: name FILEs, a --socket or --ftio-listen")
    _check_replay(replay, is_live=gate is not None or ftio_listen is not None, has_end=ends_at is not None)
    _check_socket_options(gate, pace, until_unused, all_users)
    has_other_sources = bool(files) or ftio_listen is not None
    if all_users and (has_other_sources or pace or until_unused or job is not None or ends_at is not None):
        raise click.UsageError(
            "--all-users collects traced programs of all jobs: leave out FILEs, --ftio-listen, --pace, --until-unused, "
            "--job and --ends-at"
        )
    settings = CollectorSettings(
        ends_at_s=0.0 if replay or all_users else end_of_job(ends_at, os.environ, _print_message),
        ends_job=known_job or "",
        batch=(batch := None if replay or all_users else batch_facts(os.environ)),
        voucher="" if replay or all_users else os.environ.get(VARIABLE, ""),
        serves_job=known_job if known_job and gate is not None and batch is not None else "",
        host=host,
        endpoint=connect[0],
        others=connect[1:],
        spool_bytes=spool_disk << 20,
        state=state,
        shared_filesystems=shared_fs,
        local_filesystems=local_fs,
        key=keys[0],
        server_key=keys[1],
        heartbeat_s=_PACED_HEARTBEAT_S if pace is not None else CollectorSettings.model_fields["heartbeat_s"].default,
    )
    origin = Origin(job=known_job or "unknown", host=host, user=own_user())
    log_to_standard_error(logging.WARNING)
    read_client_keys(*keys)  # before programs connect: without keys nothing could be sent
    raise_limit()
    if all_users and gate is not None:
        from .all_users import collect_all_users

        sys.exit(collect_all_users(gate, settings, grace_s=grace, max_users=max_users))
    ending = SignalHandler()
    sources: list[Source] = []
    if files:
        from ...collectors.sources.registry import open_file

        sources += [open_file(path, origin, format=format_name, follow=not replay) for path in files]
    traced: PreloadSource | None = None
    if gate is not None:
        files_known = NodeFileMetadata(FileSystems(settings.shared_filesystems, settings.local_filesystems))
        traced = PreloadSource(gate, origin, files=files_known, patience_s=settings.linger_s, keeps=True)
        sources.append(traced)
    if ftio_listen is not None:
        from ...collectors.sources.tmio.ftio import FtioSource

        listen = FtioSettings(
            endpoint=ftio_listen, job=ftio_job or "", default_job=known_job or "ftio", allow_remote=allow_remote
        )
        ftio = FtioSource(listen, origin)
        click.echo(f"iotide: ftio {ftio.endpoint}", err=True)
        sources.append(ftio)
    from . import collecting

    ends = partial(collecting.until_unused, traced, grace) if until_unused and traced is not None else None
    paces = None if pace is None or traced is None else _pacer(pace, traced, files_known, origin.job)
    ended = collecting.run_collector(
        sources, settings, ending, replayed=files if replay else (), ends=ends, pacer=paces
    )
    sys.exit(ended)


def _check_replay(replay: bool, *, is_live: bool, has_end: bool) -> None:
    if replay and is_live:
        raise click.UsageError("--replay reads finished FILEs only: leave out --socket and --ftio-listen")
    if replay and has_end:
        raise click.UsageError("--replay reads finished FILEs, and --ends-at is for running jobs")


def _check_socket_options(gate: Path | None, pace: Path | None, until_unused: bool, all_users: bool) -> None:
    if (all_users or is_given("max_users")) and (gate is None or not all_users):
        raise click.UsageError("--all-users needs the --socket, and --max-users needs --all-users")
    if pace is not None and gate is None:
        raise click.UsageError("--pace needs the --socket: only traced programs wait")
    if (until_unused or is_given("grace")) and (gate is None or not (until_unused or all_users)):
        raise click.UsageError("--until-unused needs the --socket, and --grace needs --until-unused or --all-users")


def _pacer(folder: Path, traced: PreloadSource, files: NodeFileMetadata, job: str) -> Pacer:
    from ...collectors.pacing.pacer import Pacer
    from ...events import FileType

    place = files.of_process(os.getpid())(str(folder.resolve()), FileType.DIRECTORY)
    return Pacer(place, traced.images, job)


def _print_message(text: str) -> None:
    click.echo(f"iotide: {text}", err=True)


def _print_environment(gate: Path | None, job: str | None, tracer: dict[str, Any], *, paced: bool) -> None:
    from ...collectors.tracer.preload_environment import rebuild_stale_libraries, traced_environment
    from ...events import ConfigError

    if gate is None:
        raise click.UsageError("--print-environment needs the --socket")
    settings = settings_of(tracer)
    rebuild_stale_libraries(settings, lambda text: click.echo(f"iotide: {text}", err=True), {})
    settings = settings.model_copy(update={"paced": paced})
    made = traced_environment({}, gate.absolute(), job or "", settings)
    for variable, value in made.items():
        if len(value.split()) > 1:
            raise ConfigError(f"{variable} has white space, which `env $(...)` cannot pass on: {value}")
        if value:
            click.echo(f"{variable}={value}")
