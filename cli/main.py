"""The entry point ``iotide``: imports only the module of the sub-command."""

from __future__ import annotations

import importlib
import sys
from typing import Final, NamedTuple

import click

from .. import __version__
from .common.console.standard_streams import NoReaderError, standard_streams

EXIT_FAILED: Final = 1
EXIT_USAGE: Final = 2
EXIT_NO_READER: Final = 141
"""The reader of the output has exited. Shells report this status for programs that end by SIGPIPE (128 + 13)."""


class Entry(NamedTuple):
    """Module of a sub-command, and its line in ``iotide --help``."""

    module: str
    summary: str


COMMANDS: Final[dict[str, Entry]] = {
    "run": Entry("run.command", "Trace a command and show its I/O periodicity live."),
    "serve": Entry("serve", "Run the aggregator: receive streams, predict, publish."),
    "collect": Entry("collect.command", "Run the per-node agent: follow inputs, ship events."),
    "slurm": Entry("slurm.command", "Start and end the collectors of Slurm's jobs, for its prolog and epilog."),
    "detect": Entry("detect.command", "Find the I/O period in finished traces."),
    "dfg": Entry("dfg.command", "Build and compare directly-follows graphs of I/O calls."),
    "advise": Entry("advise.command", "Say what I/O costs a run, and what to change first."),
    "layers": Entry("layers.command", "Break down I/O by software layer: HDF5, MPI-IO, POSIX."),
    "report": Entry("report.command", "Write one page on finished traces or a running job."),
    "rank": Entry("rank.command", "Rank processes by interaction; reduce traces to the leaders."),
    "analyze": Entry("analyze", "Run one analyzer on finished traces, also one of your own."),
    "contention": Entry("contention", "Show who slows whom down, and which collisions are to come."),
    "simulate": Entry("simulate.command", "Simulate I/O scheduling policies on jobs; compare them."),
    "schedule": Entry("schedule", "Share a file system's bandwidth among running jobs."),
    "replay": Entry("replay.command", "Send finished traces to an aggregator as if they ran now."),
    "archive": Entry("archive.command", "Store every call compressed; read, verify and convert it."),
    "top": Entry("top", "Show an aggregator's jobs in the terminal: sort, search, one job."),
    "watch": Entry("watch", "Print a line for each prediction of an aggregator."),
    "preload": Entry("preload.command", "List the tracing libraries; build one for a library of your own."),
    "keys": Entry("keys", "Make keys and tokens; say who may connect to an aggregator."),
    "doctor": Entry("doctor.command", "Check the installation; say how to fix what fails."),
}


class LazyGroup(click.Group):
    """A group that imports a sub-command when it is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return one sub-command."""
        entry = COMMANDS.get(cmd_name)
        if entry is None:
            return None
        module = importlib.import_module(f".{entry.module}", __package__)
        command = module.command
        if not isinstance(command, click.Command):
            raise TypeError(f"{entry.module}.command is not a click command")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the sub-commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.summary) for name, entry in COMMANDS.items()])


@click.command(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="iotide")
def group() -> None:
    """Online I/O monitoring for HPC: a job's I/O period and its next I/O phase, live.

    \b
    iotide run -- mpirun -n 4 ./simulation     trace a program, see its period, keep a report
    iotide detect trace.jsonl                  the period of a finished trace
    iotide serve                               the aggregator of a cluster

    Exit status: 0 done, 1 the work failed, 2 bad usage or unreadable input, 141 the reader of the output has exited, as
    `head` does. `iotide run` exits with the status of its command.
    """


NOT_ON_NODES: Final = ("fastapi", "jinja2", "prometheus_client", "rich", "scipy", "starlette", "uvicorn")
"""Packages that are not in the wheel for nodes (``deploy/packages/collect_wheel.py``)."""


def main() -> None:
    """Run the command line and map iotide's errors to exit statuses.

    Raises:
        KeyboardInterrupt: Ctrl-C. Python ends the process by the signal, so that the shell ends a loop around it.
    """
    try:
        with standard_streams():
            _run_group()
    except NoReaderError:
        sys.exit(EXIT_NO_READER)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in NOT_ON_NODES:
            raise
        lacking = f"{error.name} is not installed, as in the package for nodes, iotide-collect"
        click.echo(f"iotide: {lacking}: this command needs the whole iotide", err=True)
        sys.exit(EXIT_FAILED)
    except KeyboardInterrupt:
        sys.excepthook = _print_nothing
        raise
    except Exception as error:
        # Imported here, because events import NumPy, and --help must be instant.
        from ..events.errors import ConfigError, InputError, IotideError

        if not isinstance(error, IotideError):
            raise
        click.echo(f"iotide: {error}", err=True)
        sys.exit(EXIT_USAGE if isinstance(error, ConfigError | InputError) else EXIT_FAILED)


def _run_group() -> None:
    """Do as click's standalone mode, except that Ctrl-C stays a KeyboardInterrupt."""
    try:
        status = group.main(standalone_mode=False)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except click.Abort as error:
        if isinstance(error.__cause__, KeyboardInterrupt):
            raise KeyboardInterrupt from None
        click.echo("Aborted!", err=True)
        sys.exit(EXIT_FAILED)
    if isinstance(status, int):
        sys.exit(status)


def _print_nothing(*_: object) -> None:
    """Print no traceback of Ctrl-C."""


if __name__ == "__main__":
    main()
