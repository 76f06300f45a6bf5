"""Settings of the collector of ``iotide collect``."""

from __future__ import annotations

import os
from typing import Final

import click

from ...collectors.settings import CollectorSettings
from ...events.network.vouchers import VARIABLE
from ..common.batch_facts import batch_facts
from ..common.job_end import end_of_job
from .collect_options import CollectOptions

_PACED_HEARTBEAT_S: Final = 0.25
"""The answers to heartbeats contain the plan."""


def collector_settings(options: CollectOptions) -> CollectorSettings:
    """Return the settings of a collector. The environment describes its job, unless it has finished or several jobs."""
    known_job = options.known_job
    is_of_one_job = not (options.replay or options.all_users)
    batch = batch_facts(os.environ) if is_of_one_job else None
    return CollectorSettings(
        ends_at_s=end_of_job(options.ends_at, os.environ, _print_message) if is_of_one_job else 0.0,
        ends_job=known_job,
        batch=batch,
        voucher=os.environ.get(VARIABLE, "") if is_of_one_job else "",
        serves_job=known_job if options.gate is not None and batch is not None else "",
        host=options.host,
        endpoint=options.connect[0],
        others=options.connect[1:],
        spool_bytes=options.spool_disk << 20,
        state=options.state,
        shared_filesystems=options.shared_fs,
        local_filesystems=options.local_fs,
        key=options.keys[0],
        server_key=options.keys[1],
        heartbeat_s=CollectorSettings.model_fields["heartbeat_s"].default
        if options.pace is None
        else _PACED_HEARTBEAT_S,
    )


def _print_message(text: str) -> None:
    click.echo(f"iotide: {text}", err=True)
