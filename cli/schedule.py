"""``iotide schedule``: share a file system's bandwidth among running jobs."""

from __future__ import annotations

import json
import math
import signal
import sys
import threading
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from .common.arguments.grouped_help import SectionCommand, SectionOption
from .common.arguments.parameter_types import FiniteRange, Rate, ReadableText

if TYPE_CHECKING:
    from ..clients.schedulers.backends.contract import Backend, Planner
    from ..clients.schedulers.backends.preload import PreloadPacing
    from ..clients.schedulers.steering import Steering, Step

_HELP = """Share the bandwidth of a file system among the running jobs of an aggregator, by their predictions.

URL is http://HOST:PORT of `iotide serve`. Every --interval, a policy computes the share of each job that does I/O on
--file-system, and a back end limits jobs that would take more. `iotide contention URL` lists file systems.

\b
Policies (docs/scheduling.md; `iotide simulate` shows their effect on your jobs):
  fair-share, fcfs, set-10, lowest-yield, volume-first[:FAIRNESS]

\b
Back ends:
  dry-run   prints the limits [default]
  cgroup         io.max of control groups, or blkio.throttle of version 1 (direct I/O only): --groups, --device
  cgroup-weight  their io.weight, or the weight of the I/O scheduler BFQ (no job waits for an idle disk): the same
  lustre         rules of the token bucket filter, jobs by their id: --lctl
  preload        delays traced programs whose collector runs with --pace: --longest-wait

No job is limited while only one job does I/O, no job in I/O has a period, the capacity is unknown, or the aggregator
does not answer; the reason is printed. No job is ever stopped: each keeps --floor, and with preload no call waits
longer than 10 s and no phase longer than --longest-wait. A job with lost calls is not limited. At the end, also by
SIGTERM, all limits are removed.

\b
Examples:
  iotide schedule http://127.0.0.1:9788 --file-system lustre:mgs@tcp:/scratch --policy set-10
  iotide schedule http://127.0.0.1:9788 --file-system scratch --backend lustre --lctl /usr/sbin/lctl
  iotide schedule http://127.0.0.1:9788 --file-system n7:/dev/sdb1 --backend cgroup --device /data \\
      --groups '/sys/fs/cgroup/system.slice/slurmstepd.scope/job_{job}'
  iotide schedule --once --json http://127.0.0.1:9788 --file-system scratch | jq .limits

Runs until SIGINT or SIGTERM. Exit status: 0 ended by a signal, 1 a limit could not be removed at the end, 2 bad
usage, or with --once no answer.
"""
_jobs_option = partial(click.option, cls=SectionOption, section="What")
_backend_option = partial(click.option, cls=SectionOption, section="Back end")
_run_option = partial(click.option, cls=SectionOption, section="Running", show_default=True)
_BACKENDS: Final = ("dry-run", "cgroup", "cgroup-weight", "lustre", "preload")


_LEASE_S: Final = 2.0
"""Validity of a plan without an update, s; at least this number of intervals."""
_INTERVALS: Final = 4.0
_MAX_LEASE_S: Final = 60.0


@click.command("schedule", cls=SectionCommand, help=_HELP)
@click.argument("url", metavar="URL")
@_jobs_option(
    "--file-system",
    type=ReadableText(),
    metavar="NAME",
    help="Its identity, as listed by `iotide contention`.  [required]",
)
@_jobs_option(
    "--policy", "policy_name", default="volume-first", show_default=True, metavar="NAME", help="Scheduling policy."
)
@_jobs_option("--capacity", type=Rate(), metavar="BYTES/S", help="Its capacity.  [default: known to the aggregator]")
@_backend_option(
    "--backend",
    type=click.Choice(_BACKENDS),
    default="dry-run",
    show_default=True,
    help="Back end that sets the limits.",
)
@_backend_option(
    "--groups", metavar="PATTERN", help="cgroup, cgroup-weight: folder of a job's group, with {job} for its name."
)
@_backend_option(
    "--device", metavar="PATH|MAJ:MIN", help="cgroup, cgroup-weight: a path on the file system, or its disk."
)
@_backend_option(
    "--lctl",
    type=click.Path(path_type=Path),
    metavar="PROGRAM",
    help="lustre: lctl, or a program that runs it on the servers.",
)
@_backend_option(
    "--job-id", default="{job}", show_default=True, metavar="PATTERN", help="lustre: job id at the servers."
)
@_backend_option("--rpc", "rpc_bytes", type=Rate(), default="4194304", show_default=True, metavar="BYTES",
      help="lustre: size of an RPC.")  # fmt: skip
@_backend_option("--longest-wait", "longest_wait_s", type=FiniteRange(0, 3600, min_open=True), default=60.0,
      show_default=True, metavar="SECONDS", help="preload: maximum wait of a job in one phase.")  # fmt: skip
@_run_option("--interval", type=FiniteRange(0.05, 3600), default=0.5, metavar="SECONDS", help="Time between steps.")
@_run_option("--floor", type=FiniteRange(0, 1, min_open=True), default=0.02, metavar="SHARE",
      help="Share of the capacity that every job keeps.")  # fmt: skip
@_run_option("--stale", "newest_s", type=FiniteRange(0.5, 3600), default=5.0, metavar="SECONDS",
      help="Age from which data of the aggregator is outdated.")  # fmt: skip
@_run_option("--once", is_flag=True, help="Run one step, apply nothing, and end.")
@_run_option("--json", "as_json", is_flag=True, help="Print each decision as one line of JSON.")
def command(
    url: str,
    file_system: str | None,
    policy_name: str,
    capacity: float | None,
    backend: str,
    groups: str | None,
    device: str | None,
    lctl: Path | None,
    job_id: str,
    rpc_bytes: float,
    longest_wait_s: float,
    interval: float,
    floor: float,
    newest_s: float,
    once: bool,
    as_json: bool,
) -> None:
    """Run the command."""
    from ..clients.job_fetch import fetch_for_all_jobs, is_address
    from ..clients.schedulers.backends.contract import DryRun
    from ..clients.schedulers.steering import Steering
    from ..results.live import LiveIo
    from ..scheduling.named_policies import policy_named

    if not is_address(url):
        raise click.UsageError(f"{url!r} is no address such as http://127.0.0.1:9788")
    if file_system is None:
        raise click.UsageError(f"--file-system is missing; {_known_file_systems(url)}")
    try:
        _, policy = policy_named(policy_name)
    except ValueError as error:
        raise click.UsageError(f"--policy {error}") from None
    chosen: Backend | Planner
    if backend == "preload":
        chosen = _make_pacing(url, file_system, policy_name, longest_wait_s, interval)
    else:
        chosen = _make_backend(backend, groups, device, lctl, job_id, rpc_bytes)
    if once:  # the options of the back end have been checked
        chosen = DryRun()

    def ask() -> LiveIo:
        return fetch_for_all_jobs(url, "live-io", LiveIo, file_system=file_system)

    if once:
        ask()  # without an answer it ends here
    steering = Steering(ask, policy, chosen, capacity=capacity, floor=floor, newest_s=newest_s, clock=time.time)
    if once:
        _print(steering.step(), as_json, None)
        return
    sys.exit(_run_steering(steering, interval, as_json))


def _known_file_systems(url: str) -> str:
    """Return a sentence with the file systems that an aggregator knows."""
    from ..clients.job_fetch import fetch_for_all_jobs
    from ..clients.text.printable import printable
    from ..results.contention import Contention

    known = [printable(each.file_system) for each in fetch_for_all_jobs(url, "contention", Contention).file_systems]
    return f"the aggregator knows {', '.join(known)}" if known else "the aggregator knows none yet"


def _run_steering(steering: Steering, interval: float, as_json: bool) -> int:
    """Run steps until a signal, then remove all limits; return the exit status."""
    ended = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.set())
    before: Step | None = None
    try:
        while not ended.is_set():
            step = steering.step()
            _print(step, as_json, before)
            before = step
            ended.wait(interval)
    finally:
        problems = steering.close()
    for problem in problems:
        click.echo(f"iotide: not lifted: {problem}", err=True)
    return 1 if problems else 0


def _print(step: Step, as_json: bool, before: Step | None) -> None:
    """Print a decision that differs from the previous one, and new problems."""
    decision = step.decision
    if before is None or (decision.limits, decision.why) != (before.decision.limits, before.decision.why):
        click.echo(json.dumps(_document(step)) if as_json else _line(step))
    for problem in step.problems:
        if before is None or problem not in before.problems:
            click.echo(f"iotide: {problem}", err=True)


def _document(step: Step) -> dict[str, object]:
    decision = step.decision
    limits = [{"job": each.job, "bytes_per_s": each.bytes_per_s, "share": each.weight} for each in decision.limits]
    return {
        "at_s": None if math.isnan(step.at_s) else step.at_s,
        "jobs": step.jobs,
        "in_io": decision.waiting,
        "predicted": decision.predicted,
        "capacity": step.capacity or None,
        "limits": limits,
        "why_none": decision.why,
        "incomplete": list(step.incomplete),
    }


def _line(step: Step) -> str:
    from ..clients.text.units import clock_text, rate_text

    decision = step.decision
    at = "--:--:--" if math.isnan(step.at_s) else clock_text(step.at_s)
    if not decision.limits:
        return f"{at}  {decision.waiting} of {step.jobs} jobs in I/O, no limit: {decision.why}"
    rates = ", ".join(f"{each.job} {rate_text(each.bytes_per_s)}" for each in decision.limits)
    return f"{at}  {decision.waiting} of {step.jobs} jobs in I/O, at most: {rates}"


def _make_pacing(url: str, file_system: str, policy: str, longest_wait_s: float, interval_s: float) -> PreloadPacing:
    from ..clients.job_fetch import send_to_all
    from ..clients.schedulers.backends.preload import PreloadPacing
    from ..results.pacing import PacingPlan

    def send(plan: PacingPlan) -> None:
        send_to_all(url, "pacing", "PUT", plan.model_dump_json().encode())

    return PreloadPacing(
        send,
        lambda: send_to_all(url, "pacing", "DELETE", file_system=file_system),
        file_system=file_system,
        policy=policy,
        longest_wait_s=longest_wait_s,
        lasts_s=min(_MAX_LEASE_S, max(_LEASE_S, _INTERVALS * interval_s)),
    )


def _make_backend(
    name: str, groups: str | None, device: str | None, lctl: Path | None, job_id: str, rpc_bytes: float
) -> Backend:
    from ..clients.schedulers.backends.contract import DryRun

    if name.startswith("cgroup"):
        from ..clients.schedulers.backends.cgroup import ControlGroups, ControlGroupWeights, device_of

        if groups is None or device is None:
            raise click.UsageError(f"--backend {name} needs --groups and --device")
        numbers = device.split(":")
        is_number = len(numbers) == 2 and all(each.isdigit() for each in numbers)
        kind = ControlGroups if name == "cgroup" else ControlGroupWeights
        return kind(groups, device if is_number else device_of(Path(device)))
    if name == "lustre":
        from ..clients.schedulers.backends.lustre_tbf import LustreTbf, lctl_runner

        if lctl is None:
            raise click.UsageError("--backend lustre needs --lctl")
        return LustreTbf(lctl_runner(lctl), job_id, rpc_bytes)
    return DryRun()
