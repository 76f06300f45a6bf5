"""Options of commands that connect to an aggregator with CURVE keys."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, Final

import click

_FILE: Final = click.Path(path_type=Path, dir_okay=False)


def key_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--key`` and ``--server-key``; the command gets both files, or neither, as ``keys``."""

    @click.option("--key", "key", type=_FILE, metavar="FILE", envvar="IOTIDE_KEY", show_envvar=True,
                  help="Own secret key (`iotide keys new`), if the aggregator requires one.")  # fmt: skip
    @click.option("--server-key", "server_key", type=_FILE, metavar="FILE", envvar="IOTIDE_SERVER_KEY",
                  show_envvar=True, help="The aggregator's public key; required with --key.")  # fmt: skip
    @wraps(command)
    def with_keys(*arguments: Any, key: Path | None, server_key: Path | None, **options: Any) -> Any:
        if (key is None) != (server_key is None):
            raise click.UsageError("--key and --server-key need each other: give both")
        return command(*arguments, keys=(key, server_key), **options)

    return with_keys
