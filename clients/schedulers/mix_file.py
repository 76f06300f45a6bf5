"""Job mix descriptions in TOML or JSON files."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ...events import InputError
from ...events.files import read_bytes
from .fluid import Job
from .mixes import MAX_PHASES, JobClass, draw
from .predictions import true_forecasts

MAX_FILE: Final = 1 << 24
_MAX_JOBS: Final = 10_000
_EXPECTED: Final = "a table of the options in docs/scheduling.md"
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
NotNegative = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class _Table(BaseModel):
    """A table of the file. Unknown keys are refused: the user may have mistyped them."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class ClassEntry(_Table):
    """``[[class]]``: similar jobs."""

    name: str = ""
    count: int = Field(ge=1, le=_MAX_JOBS)
    period_s: Positive
    spread: float = Field(0.0, ge=0, le=1)
    jitter: float = Field(0.0, ge=0, le=1)
    drift: float = Field(0.0, ge=-0.5, le=0.5)
    weight: Positive = 1.0
    uneven: bool = False
    limit: Positive | None = None


class JobEntry(_Table):
    """``[[job]]``: one job with equal phases."""

    name: str
    period_s: Positive
    volume: Positive
    phases: int = Field(ge=1, le=MAX_PHASES)
    limit: Positive | None = None
    start_s: NotNegative = 0.0


class MixFile(_Table):
    """The whole file."""

    bandwidth: Positive | None = None
    load: Positive | None = None
    duration_s: Positive | None = None
    classes: list[ClassEntry] = Field([], alias="class", max_length=1000)
    jobs: list[JobEntry] = Field([], alias="job", max_length=_MAX_JOBS)


def read_mix(path: Path) -> MixFile:
    """Read a description: JSON if the name ends in .json, otherwise TOML.

    Raises:
        InputError: it cannot be read, or is no such description.
    """
    where = str(path)
    try:
        content = read_bytes(path, MAX_FILE)
    except OSError as error:
        raise InputError(where, None, f"it cannot be read ({error.strerror})", "a TOML or JSON file") from None
    try:
        text = content.decode()
        values = json.loads(text) if path.suffix.lower() == ".json" else tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        kind = "JSON" if path.suffix.lower() == ".json" else "TOML"
        raise InputError(where, None, f"it is no {kind} ({error})", _EXPECTED) from None
    try:
        mix = MixFile.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"]) or "the whole"
        raise InputError(where, None, f"{place}: {first['msg'].lower()}", _EXPECTED) from None
    if not mix.classes and not mix.jobs:
        raise InputError(where, None, "it names no jobs", "[[class]] or [[job]] entries")
    return mix


def jobs_of(mix: MixFile, *, load: float, bandwidth: float, duration_s: float, seed: int) -> list[Job]:
    """Create the jobs of a description.

    Raises:
        ValueError: the classes cannot have the load, or there would be too many phases.
    """
    jobs = []
    for one in mix.jobs:
        limit = min(one.limit or bandwidth, bandwidth)
        gap = one.period_s - one.volume / limit
        if gap < 0:
            raise ValueError(f"{one.name}: {one.volume:g} bytes at {limit:g} bytes/s take longer than its period")
        gaps, volumes = (gap,) * one.phases, (one.volume,) * one.phases
        jobs.append(Job(one.name, gaps, volumes, limit, true_forecasts(gaps, volumes, limit), one.start_s))
    classes = [
        JobClass(
            one.name or f"{one.period_s:g} s",
            one.count,
            one.period_s,
            one.spread,
            one.jitter,
            one.drift,
            one.weight,
            one.uneven,
            one.limit,
        )
        for one in mix.classes
    ]
    return jobs + (draw(classes, load, bandwidth, duration_s, seed) if classes else [])
