"""Turns command-line options into the parts' settings."""

from __future__ import annotations

from pydantic import ValidationError

from ..analyzers.settings import DetectSettings
from ..events.errors import ConfigError


def detect_settings(*, frequency: float, mode: str, method: str, sampling: str, tolerance: float) -> DetectSettings:
    """Builds the detection's settings.

    Raises:
        ConfigError: the options contradict one another.
    """
    try:
        return DetectSettings.model_validate(
            {
                "sampling_frequency_hz": frequency,
                "mode": mode,
                "method": method,
                "sampling": sampling,
                "tolerance": tolerance,
            }
        )
    except ValidationError as error:
        raise ConfigError("; ".join(problem["msg"] for problem in error.errors())) from None
