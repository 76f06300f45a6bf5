"""``iotide collect`` of files, the own user's programs and FTIO's messages, and the settings of all collectors."""

from __future__ import annotations

import asyncio
import os
from functools import partial
from pathlib import Path
from typing import Final

import click

from ...collectors.node.file_metadata import NodeFileMetadata
from ...collectors.node.file_systems import FileSystems
from ...collectors.pacing.pacer import Pacer
from ...collectors.settings import CollectorSettings, FtioSettings
from ...collectors.source import Origin, Source
from ...collectors.sources.preload.source import PreloadSource
from ...events import FileType
from ...events.files import readable
from ...events.network.peers import own_user
from ...events.network.vouchers import VARIABLE
from ..common.batch_facts import batch_facts
from ..common.end_signals import SignalHandler
from ..common.job_end import end_of_job
from .collect_options import CollectOptions
from .collector_loop import run_collector, until_unused

_PACED_HEARTBEAT_S: Final = 0.25
"""The answers to heartbeats contain the plan."""


def collect_inputs(options: CollectOptions, settings: CollectorSettings) -> int:
    """Collect until a signal or the end that the options name.

    Returns:
        The exit status.

    Raises:
        InputError: a file, the socket or the endpoint cannot be used.
    """
    origin = Origin(job=options.known_job or "unknown", host=options.host, user=own_user())
    ending = SignalHandler()
    sources = _file_sources(options, origin, ending)
    ends = pacer = None
    if options.gate is not None:
        known_files = NodeFileMetadata(FileSystems(settings.shared_filesystems, settings.local_filesystems))
        patience_s = settings.linger_s
        traced = PreloadSource(
            options.gate, origin, files=known_files, patience_s=patience_s, keeps=True, counts_untraced=True
        )
        sources.append(traced)
        if options.until_unused:
            ends = partial(until_unused, traced, options.grace)
        if options.pace is not None:
            pacer = _pacer(options.pace, traced, known_files, origin.job)
    if options.ftio_listen is not None:
        sources.append(_ftio_source(options, options.ftio_listen, origin))
    replayed = options.files if options.replay else ()
    return asyncio.run(run_collector(sources, settings, ending, replayed=replayed, ends=ends, pacer=pacer))


def _file_sources(options: CollectOptions, origin: Origin, ending: SignalHandler) -> list[Source]:
    if not options.files:
        return []
    from ...collectors.sources.registry import open_file
    from ...collectors.sources.threaded_source import AwaitedSource, PollThreads, open_in_thread

    follow, name, threads = not options.replay, options.format_name, PollThreads()
    sources: list[Source] = []
    for path in options.files:
        opening = partial(open_file, path, origin, format=name, follow=follow)
        source = open_in_thread(opening, str(path), threads, lambda: ending.is_end_requested)
        sources.append(AwaitedSource(source, str(path), threads))
    return sources


def _ftio_source(options: CollectOptions, endpoint: str, origin: Origin) -> Source:
    from ...collectors.sources.tmio.ftio import FtioSource

    listen = FtioSettings(
        endpoint=endpoint,
        job=options.ftio_job or "",
        default_job=options.known_job or "ftio",
        allow_remote=options.allow_remote,
    )
    source = FtioSource(listen, origin)
    click.echo(f"iotide: ftio {source.endpoint}", err=True)
    return source


def _pacer(folder: Path, traced: PreloadSource, files: NodeFileMetadata, job: str) -> Pacer:
    place = files.of_process(os.getpid())(str(folder.resolve()), FileType.DIRECTORY)
    return Pacer(place, traced.images, job)


def collector_settings(options: CollectOptions) -> CollectorSettings:
    """Return the settings of a collector. The environment describes its job, unless it has finished or several jobs."""
    known_job = options.known_job
    is_of_one_job = not (options.replay or options.all_users)
    batch = batch_facts(os.environ) if is_of_one_job else None
    return CollectorSettings(
        ends_at_s=end_of_job(options.ends_at, os.environ, _print_message) if is_of_one_job else 0.0,
        ends_job=known_job,
        batch=batch,
        voucher=readable(os.environ.get(VARIABLE, "")) if is_of_one_job else "",
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
