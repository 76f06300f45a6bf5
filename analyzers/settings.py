"""What a detection can be told, with defaults, units and limits."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ModelWrapValidatorHandler, ValidationError, model_validator

from ..events.errors import ConfigError
from ..events.models import ModeName

OutlierName = Literal["zscore", "dbscan", "isolation-forest", "lof", "peaks"]


class DetectSettings(BaseModel):
    """How the rhythm of one job's I/O is looked for. Immutable.

    Raises:
        ConfigError: a value lies outside its limits, or an option is not known; the text names all of them.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    method: Literal["tide", "reference"] = Field("tide", description="Estimator: ours, or FTIO's as published.")
    sampling_frequency_hz: float = Field(
        10.0, gt=0, le=1e6, allow_inf_nan=False, description="Samples of the bandwidth signal per second, in hertz."
    )
    sampling: Literal["volume", "point"] = Field(
        "volume", description="Bins that hold the bytes really moved in them, or FTIO's bandwidth at points in time."
    )
    mode: ModeName = Field("both", description="Which direction of data movement is looked at.")
    tolerance: float = Field(
        0.8, ge=0, le=1, description="A candidate's z-score as a share of the largest one, at least (no unit)."
    )
    z_threshold: float = Field(
        3.0, ge=0, allow_inf_nan=False, description="Least z-score of a candidate, in standard deviations."
    )
    spectrum: Literal["power", "amplitude"] = Field("power", description="What the z-scores are computed on.")
    outlier: OutlierName = Field(
        "zscore", description="How spectral lines that stand out are told; the middle three need scikit-learn."
    )
    window_hits: int = Field(
        3, ge=1, le=1000, description="Periods found in a row before the window is cut (predictions)."
    )
    window_periods: float = Field(
        3.0, ge=2, le=1000, description="Length of the cut window, in periods found last (no unit)."
    )
    ring_bins: int = Field(
        36_000,
        ge=16,
        le=2**24,
        description="Bins of signal an online job keeps: an hour at 10 Hz. 8 bytes each, reads and writes apart.",
    )
    trace_bins: int = Field(
        2**22,
        ge=16,
        le=2**26,
        description="Bins that the analysis of a finished trace keeps, the newest: 4.8 days at 10 Hz.",
    )

    @property
    def bin_ns(self) -> int:
        """Length of one bin in ns: the sampling interval, rounded to a whole nanosecond."""
        return max(1, round(1e9 / self.sampling_frequency_hz))

    @model_validator(mode="wrap")
    @classmethod
    def _explain(cls, data: object, handler: ModelWrapValidatorHandler[Self]) -> Self:
        try:
            return handler(data)
        except ValidationError as error:
            wrong = (f"{'.'.join(map(str, row['loc'])) or 'settings'}: {row['msg']}" for row in error.errors())
            raise ConfigError("; ".join(wrong)) from None
