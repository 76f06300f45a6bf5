"""Limits by Lustre's token bucket filter. There is one rule per job at the servers' network request scheduler.

Rules have the form that lctl-nrs_tbf(8) and the Lustre manual, section 34.6.5, describe: ``start NAME jobid={JOB}
rate=N`` with a rate in RPCs/s. The servers must run ``nrs_policies="tbf jobid"``.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from ....events import ConfigError
from ..limits import Limit
from .contract import changed

PARAMETER: Final = "ost.OSS.ost_io.nrs_tbf_rule"
_JOB_ID: Final = re.compile(r"[A-Za-z0-9._@:+-]{1,31}")
"""Valid Lustre job ids: at most 31 characters, none with a special meaning in rules."""
_TIMEOUT_S: Final = 10.0


class LustreTbf:
    """Starts, changes and stops one rule per job.

    Args:
        run: runs one ``lctl`` command, given by its words; returns the error, or "".
        job_id: name of a job at the Lustre servers, with ``{job}`` for its name (``jobid_var``).
        rpc_bytes: bytes of one RPC (``max_pages_per_rpc``).
    """

    def __init__(self, run: Callable[[list[str]], str], job_id: str = "{job}", rpc_bytes: float = 4 << 20) -> None:
        self._run, self._job_id, self._rpc_bytes = run, job_id, rpc_bytes
        self._limits: dict[str, float] = {}
        self._rules: dict[str, str] = {}
        self._made = 0

    def apply(self, limits: Sequence[Limit]) -> list[str]:
        """Apply exactly these limits; a job that Lustre cannot name is reported and skipped."""
        fresh, gone = changed(self._limits, limits)
        problems = [problem for job in gone if (problem := self._stop(job))]
        for limit in fresh:
            rate = max(1, round(limit.bytes_per_s / self._rpc_bytes))
            job_id = self._job_id.replace("{job}", limit.job)
            if not _JOB_ID.fullmatch(job_id):
                problems.append(f"{limit.job}: {job_id!r} is no job id of Lustre")
                continue
            if limit.job in self._rules:
                problem = self._set(f"change {self._rules[limit.job]} rate={rate}")
            else:
                self._made += 1
                name = f"iotide{self._made}"
                problem = self._set(f"start {name} jobid={{{job_id}}} rate={rate}")
                if not problem:
                    self._rules[limit.job] = name
            if problem:
                problems.append(f"{limit.job}: {problem}")
            else:
                self._limits[limit.job] = limit.bytes_per_s
        return problems

    def clear(self) -> list[str]:
        """Stop all rules that were started here."""
        return [problem for job in list(self._limits) if (problem := self._stop(job))]

    def _stop(self, job: str) -> str:
        del self._limits[job]
        problem = self._set(f"stop {self._rules.pop(job)}")
        return f"{job}: {problem}" if problem else ""

    def _set(self, rule: str) -> str:
        return self._run(["set_param", f"{PARAMETER}={rule}"])


def lctl_runner(program: Path) -> Callable[[list[str]], str]:
    """Return a function that runs ``lctl``.

    It can also run a program that runs it on all servers with the same arguments.

    Raises:
        ConfigError: the program does not exist.
    """
    import shutil

    if shutil.which(program) is None:
        raise ConfigError(f"{program} is no program: name lctl, or a script that runs it on the servers")

    def run(words: list[str]) -> str:
        try:
            done = subprocess.run(
                [program, *words],
                capture_output=True,
                encoding="utf-8",
                errors="replace",
                timeout=_TIMEOUT_S,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return f"{program}: {error}"
        return "" if done.returncode == 0 else (done.stderr.strip() or f"{program} ended with {done.returncode}")

    return run
