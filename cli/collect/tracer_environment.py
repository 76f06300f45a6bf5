"""``iotide collect --print-environment``: the environment of programs that the collector traces."""

from __future__ import annotations

from typing import Any

import click

from ...collectors.tracer.preload_environment import rebuild_stale_libraries, traced_environment
from ...events import ConfigError
from ..common.arguments.tracer_options import settings_of
from .collect_options import CollectOptions


def print_environment(options: CollectOptions, tracer: dict[str, Any]) -> None:
    """Print the variables, one per line.

    Args:
        options: socket and job of the programs.
        tracer: the tracer's options.

    Raises:
        UsageError: the socket is missing.
        ConfigError: a value has white space.
    """
    if options.gate is None:
        raise click.UsageError("--print-environment needs the --socket")
    settings = settings_of(tracer)
    rebuild_stale_libraries(settings, lambda text: click.echo(f"iotide: {text}", err=True), {})
    settings = settings.model_copy(update={"paced": options.pace is not None})
    made = traced_environment({}, options.gate.absolute(), options.job or "", settings)
    for variable, value in made.items():
        if len(value.split()) > 1:
            raise ConfigError(f"{variable} has white space, which `env $(...)` cannot pass on: {value}")
        if value:
            click.echo(f"{variable}={value}")
