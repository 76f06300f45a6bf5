"""What a detection can be told, with defaults, units and limits."""

from __future__ import annotations

from typing import Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ModelWrapValidatorHandler, ValidationError, model_validator

from ..events.errors import ConfigError
from ..results.prediction import CountName, ModeName
from .file_groups import CountRule

OutlierName = Literal["zscore", "dbscan", "isolation-forest", "lof", "peaks"]


USUAL_HZ: Final = 10.0
"""Sampling frequency of the reference."""
FINEST_NS: Final = 10_000_000
"""Bins of the finest resolution online."""


class DetectSettings(BaseModel):
    """How the period of one job's I/O is looked for. Immutable.

    Raises:
        ConfigError: a value lies outside its limits, or an option is not known; the text names all of them.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    method: Literal["tide", "reference"] = Field("tide", description="Estimator: ours, or FTIO's as published.")
    sampling_frequency_hz: float | None = Field(
        None,
        gt=0,
        le=1e6,
        allow_inf_nan=False,
        description="Samples of the bandwidth signal per second, in hertz; none looks at several resolutions.",
    )
    sampling: Literal["volume", "point"] = Field(
        "volume", description="Bins that hold the bytes really moved in them, or FTIO's bandwidth at points in time."
    )
    mode: ModeName = Field("both", description="Which direction of data movement is looked at.")
    count: CountName = Field(
        "data",
        description="What counts: the program's data; files, also those that come with the machine and its software; "
        "or everything, also pipes, sockets and devices.",
    )
    data_paths: tuple[str, ...] = Field(
        (), description="Beginnings of paths of the program's data, also below folders of the machine."
    )
    system_paths: tuple[str, ...] = Field(
        (), description="Further beginnings of paths of what comes with the machine and does not count."
    )
    tolerance: float = Field(
        0.8, ge=0, le=1, description="A candidate's z-score as a share of the largest one, at least (no unit)."
    )
    z_threshold: float = Field(
        3.0, ge=0, allow_inf_nan=False, description="Least z-score of a candidate, in standard deviations."
    )
    spectrum: Literal["power", "amplitude"] = Field("power", description="What the z-scores are computed on.")
    outlier: OutlierName = Field(
        "zscore", description="Method that detects outliers of the spectrum; the middle three need scikit-learn."
    )
    window: Literal["hits", "whole", "fixed", "flushes", "change"] = Field(
        "hits",
        description="Stretch that an online job's period is taken from: three periods after three hits, all, "
        "window_s seconds, window_flushes flushes, or since the last change of period.",
    )
    window_hits: int = Field(
        3, ge=1, le=1000, description="Periods found in a row before the window is cut (predictions)."
    )
    window_periods: float = Field(
        3.0, ge=2, le=1000, description="Length of the cut window, in periods found last (no unit)."
    )
    window_s: float = Field(600.0, gt=0, allow_inf_nan=False, description="Length of the fixed window, in seconds.")
    window_flushes: int = Field(8, ge=1, le=1000, description="Flushes that the window reaches back.")
    change_detector: Literal["adwin", "cusum", "page-hinkley"] = Field(
        "adwin", description="What tells a change of period from the intervals between phases."
    )
    ring_bins: int = Field(
        36_000,
        ge=16,
        le=2**24,
        description="Bins of signal an online job keeps at a given sampling frequency: an hour at 10 Hz. 8 bytes each, "
        "reads and writes apart.",
    )
    group_members: int = Field(
        32,
        ge=0,
        le=256,
        description="Members of a job (ranks, processes, kinds of files) whose signals are told apart, to find groups "
        "with periods of their own; more are told apart less finely. Up to 18 KiB each; below 8 none are.",
    )
    trace_bins: int = Field(
        2**22,
        ge=16,
        le=2**26,
        description="Bins that the analysis of a finished trace keeps, the newest: 4.8 days at 10 Hz, 8 bytes each.",
    )

    def check_running(self) -> None:
        """Raises ConfigError where a running job cannot be analysed so."""
        if self.sampling == "point":
            raise ConfigError("sampling at points needs a finished trace; a running job is sampled by volume")

    @property
    def fixed_hz(self) -> float | None:
        """The one sampling frequency, None for several resolutions. The reference and point samples have 10 Hz."""
        if self.sampling_frequency_hz is None and (self.method == "reference" or self.sampling == "point"):
            return USUAL_HZ
        return self.sampling_frequency_hz

    @property
    def rule(self) -> CountRule:
        """Tells which bytes count."""
        return CountRule(self.count, self.data_paths, self.system_paths)

    @property
    def bin_ns(self) -> int:
        """Length of one bin in ns, the finest online: the sampling interval, rounded to a whole nanosecond."""
        return FINEST_NS if self.fixed_hz is None else max(1, round(1e9 / self.fixed_hz))

    @model_validator(mode="wrap")
    @classmethod
    def _explain(cls, data: object, handler: ModelWrapValidatorHandler[Self]) -> Self:
        try:
            return handler(data)
        except ValidationError as error:
            wrong = (f"{'.'.join(map(str, row['loc'])) or 'settings'}: {row['msg']}" for row in error.errors())
            raise ConfigError("; ".join(wrong)) from None
