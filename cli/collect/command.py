"""``iotide collect``: the per-node agent."""

from __future__ import annotations

import logging
import os
import select
import signal
import socket
import sys
from pathlib import Path
from typing import Any, Final

import click

from ...events.network.credentials import credentials_of
from ..common.arguments.grouped_help import SectionCommand
from ..common.arguments.options import key_options
from ..common.arguments.parameter_types import FiniteRange, ReadableText
from ..common.arguments.tracer_options import settings_of, tracer_options
from ..common.console.logs import log_to_standard_error
from ..common.job_end import ends_at_option
from .collect_options import CollectOptions, check_options

_DESCRIPTORS: Final = 18
"""Files that a collector opens at least."""
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
    type=ReadableText(),
    metavar="NAME",
    help="Job id for inputs that contain none. Default: the batch system's, or 'unknown'.",
)
@click.option(
    "--host",
    type=ReadableText(),
    metavar="NAME",
    default=socket.gethostname,
    help="Name of this node. Default: its host name.",
)
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
    type=FiniteRange(min=0, min_open=True),
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
def command(tracer: dict[str, Any], **given: Any) -> None:
    """Run the command."""
    options = CollectOptions(**given)
    if options.stop is not None:
        _stop(options, options.stop)
        return
    if options.print_environment:
        _print_environment(options, tracer)
        return
    check_options(options, tracer)
    sys.exit(_collect(options))


def _stop(options: CollectOptions, gate: Path) -> None:
    if options.collects:
        raise click.UsageError("--stop stops another collector, and collects nothing itself")
    if problem := stop_collector(gate):
        click.echo(f"iotide: {problem}", err=True)
        sys.exit(1)


def _print_environment(options: CollectOptions, tracer: dict[str, Any]) -> None:
    """Print the variables of programs that the collector traces, one per line.

    Raises:
        UsageError: the socket is missing.
        ConfigError: a value has white space.
    """
    from ...collectors.tracer.preload_environment import rebuild_stale_libraries, traced_environment
    from ...events import ConfigError

    if options.gate is None:
        raise click.UsageError("--print-environment needs the --socket")
    settings = settings_of(tracer)
    rebuild_stale_libraries(settings, lambda text: click.echo(f"iotide: {text}", err=True), {})
    settings = settings.model_copy(update={"paced": options.pace is not None})
    made = traced_environment({}, options.gate.absolute(), options.job or "", settings)
    for variable, value in made.items():  # before the first is printed: env would use a part
        if len(value.split()) > 1:
            raise ConfigError(f"{variable} has white space, which `env $(...)` cannot pass on: {value}")
    for variable, value in made.items():
        if value:
            click.echo(os.fsencode(f"{variable}={value}"))  # the bytes of a path, also in a locale that lacks them


def _collect(options: CollectOptions) -> int:
    from ...events.network.curve import read_client_keys
    from ...events.network.descriptors import check_limit, raise_limit
    from .collect_inputs import collector_settings

    settings = collector_settings(options)
    log_to_standard_error(logging.WARNING)
    read_client_keys(*options.keys)  # before programs connect: without keys nothing could be sent
    raise_limit()
    check_limit(_DESCRIPTORS)
    if options.all_users and options.gate is not None:
        from .all_users import collect_all_users

        return collect_all_users(options.gate, settings, grace_s=options.grace, max_users=options.max_users)
    from .collect_inputs import collect_inputs

    return collect_inputs(options, settings)


def stop_collector(path: Path) -> str:
    """Make the collector that listens on a socket send its events and end. The function waits for its end.

    Returns:
        The reason of a failure, or "".
    """
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as asking:
        try:
            asking.connect(str(path))
        except OSError as error:
            return f"no collector listens on {path}: {error.strerror or error}"
        # The kernel reports the listener's pid; no other process can listen there until it closes its socket.
        pid, user, _ = credentials_of(asking)
        if os.getuid() not in (user, 0):  # its process may have ended, and another one may have its number
            return (
                f"the process that listens on {path} belongs to user {user}; stop it as that user, or remove the file"
            )
        if pid <= 0:
            return f"the collector of {path} runs in another container; stop it there"
        try:
            watch = os.pidfd_open(pid)
        except ProcessLookupError:
            return ""
    try:
        signal.pidfd_send_signal(watch, signal.SIGTERM)
        ending = select.poll()  # select() does not support descriptors from 1,024 on
        ending.register(watch, select.POLLIN)
        ending.poll()
    except ProcessLookupError:
        pass
    except OSError as error:
        return f"the collector of {path}, process {pid}, cannot be stopped: {error.strerror}"
    finally:
        os.close(watch)
    return ""
