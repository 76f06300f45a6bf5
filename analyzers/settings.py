"""Detection settings with defaults, units and limits."""

from __future__ import annotations

from typing import Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ModelWrapValidatorHandler, ValidationError, model_validator

from ..events.errors import ConfigError
from ..results.prediction import CountName, ModeName
from .file_groups import CountRule

OutlierName = Literal["zscore", "dbscan", "isolation-forest", "lof", "peaks"]


USUAL_HZ: Final = 10.0
"""Default sampling frequency of the reference method (FTIO), Hz."""
FINEST_NS: Final = 10_000_000
"""Bin length of the finest online resolution, ns."""


class DetectSettings(BaseModel):
    """Settings of the period detection for one job. Immutable.

    Raises:
        ConfigError: a value is out of range, or an option is unknown; the message names all of them.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    method: Literal["tide", "reference"] = Field(
        "tide", description="Estimator: tide (iotide's own) or reference (FTIO as published)."
    )
    sampling_frequency_hz: float | None = Field(
        None,
        gt=0,
        le=1e6,
        allow_inf_nan=False,
        description="Sampling frequency of the bandwidth signal, Hz; if unset, several resolutions are searched.",
    )
    sampling: Literal["volume", "point"] = Field(
        "volume", description="volume: bins contain the bytes moved in them; point: FTIO's bandwidth at points in time."
    )
    mode: ModeName = Field("both", description="Direction of data movement to analyze: read, write or both.")
    count: CountName = Field(
        "data",
        description="Which bytes count: data (the program's own files), files (also files of the machine and "
        "its software), or everything (also pipes, sockets and devices).",
    )
    data_paths: tuple[str, ...] = Field(
        (), description="Path prefixes that always count as the program's data, also below system folders."
    )
    system_paths: tuple[str, ...] = Field(
        (), description="Additional path prefixes of system files, which do not count."
    )
    tolerance: float = Field(
        0.8,
        ge=0,
        le=1,
        description="Minimum z-score of a candidate frequency as a share of the largest z-score (no unit).",
    )
    z_threshold: float = Field(
        3.0, ge=0, allow_inf_nan=False, description="Minimum z-score of a candidate frequency, in standard deviations."
    )
    spectrum: Literal["power", "amplitude"] = Field(
        "power", description="Spectrum from which z-scores are computed: power or amplitude."
    )
    outlier: OutlierName = Field(
        "zscore",
        description="Method to detect outliers in the spectrum; dbscan, isolation-forest and lof need scikit-learn.",
    )
    window: Literal["hits", "whole", "fixed", "flushes", "change"] = Field(
        "hits",
        description="Window of an online prediction: hits (the last window_periods periods once window_hits "
        "predictions in a row found one), whole, fixed (window_s), flushes (window_flushes), or "
        "change (since the last change of period).",
    )
    window_hits: int = Field(
        3, ge=1, le=1000, description="Consecutive predictions with a period before the window is shortened."
    )
    window_periods: float = Field(
        3.0, ge=2, le=1000, description="Length of the shortened window, in periods as last found (no unit)."
    )
    window_s: float = Field(600.0, gt=0, allow_inf_nan=False, description="Length of the fixed window, s.")
    window_flushes: int = Field(8, ge=1, le=1000, description="Length of the window in flushes (window: flushes).")
    change_detector: Literal["adwin", "cusum", "page-hinkley"] = Field(
        "adwin", description="Method to detect a change of period from the intervals between phases."
    )
    ring_bins: int = Field(
        36_000,
        ge=16,
        le=2**24,
        description="Bins of signal kept per running job at a fixed sampling frequency: one hour at 10 Hz. 8 "
        "bytes each, reads and writes separately.",
    )
    group_members: int = Field(
        32,
        ge=0,
        le=256,
        description="Members of a job (ranks, processes, kinds of files) with a separate signal, to find groups "
        "with own periods; further members share coarser signals. Up to 18 KiB each; below 8, "
        "groups are not searched.",
    )
    trace_bins: int = Field(
        2**22,
        ge=16,
        le=2**26,
        description="Newest bins kept for the analysis of a finished trace: 4.8 days at 10 Hz, 8 bytes each.",
    )

    def check_running(self) -> None:
        """Raise ConfigError if a running job cannot be analyzed with these settings."""
        if self.sampling == "point":
            raise ConfigError("sampling at points needs a finished trace; a running job is sampled by volume")

    @property
    def fixed_hz(self) -> float | None:
        """Single sampling frequency, Hz; None for several resolutions. Reference and point sampling use 10 Hz by
        default.
        """
        if self.sampling_frequency_hz is None and (self.method == "reference" or self.sampling == "point"):
            return USUAL_HZ
        return self.sampling_frequency_hz

    @property
    def rule(self) -> CountRule:
        """Rule that decides which bytes count."""
        return CountRule(self.count, self.data_paths, self.system_paths)

    @property
    def bin_ns(self) -> int:
        """Bin length, ns; online that of the finest resolution.

        It is the sampling interval rounded to a whole nanosecond.
        """
        return FINEST_NS if self.fixed_hz is None else max(1, round(1e9 / self.fixed_hz))

    @model_validator(mode="wrap")
    @classmethod
    def _explain(cls, data: object, handler: ModelWrapValidatorHandler[Self]) -> Self:
        try:
            return handler(data)
        except ValidationError as error:
            wrong = (f"{'.'.join(map(str, row['loc'])) or 'settings'}: {row['msg']}" for row in error.errors())
            raise ConfigError("; ".join(wrong)) from None
