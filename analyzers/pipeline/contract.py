"""Interface of every analyzer of a job, and what the job provides to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar, runtime_checkable

from msgspec import Struct
from pydantic import BaseModel, ValidationError

from ...events import ConfigError
from .analysis_queue import QueuedEvents
from .numbering import JobNames
from .settings import AnalyzerSettings

_Settings = TypeVar("_Settings", bound=BaseModel)


class JobContext(Struct, frozen=True):
    """Input for the creation of a job's analyzers.

    Attributes:
        job: job id.
        names: names of the numbers in its events; grows with the events.
        settings: settings of all analyzers.
        read: function that returns the text of a file named in a setting.
    """

    job: str
    names: JobNames
    settings: AnalyzerSettings
    read: Callable[[str], str]

    def settings_of(self, name: str, model: type[_Settings]) -> _Settings:
        """Return the settings in the table ``analyzers.NAME``.

        Raises:
            ConfigError: a setting is unknown or out of range; the text names it.
        """
        return parsed_settings(self.settings, name, model)


class Analyzer(Protocol):
    """Analyzes one job. Its state is a function of the input in its order, without clock, files, threads or sockets.

    Memory is bounded for any input, and ``losses`` counts the cost of each bound. The result is independent of the
    split of a stream's events into batches. The whole state is in attributes: numbers, texts, arrays, containers and
    objects of iotide's classes, so that ``snapshots`` can store it; functions are not allowed.
    """

    def update(self, queued: QueuedEvents) -> None:
        """Add events in the job's numbering. Events of one stream are in order of their ends."""
        ...

    def close_stream(self, stream: str) -> None:
        """End a stream. A stream of the same name may begin later."""
        ...

    def compact(self) -> None:
        """Process buffered events, and free memory that a job without activity does not need."""
        ...

    def losses(self) -> dict[str, int]:
        """Return what the result lacks, by reason."""
        ...


@runtime_checkable
class Reporting(Protocol):
    """Analyzer with a public result."""

    def deferred_result(self) -> Callable[[], BaseModel]:
        """Copy the state and return a function that computes the result.

        The function can run later and in any thread.
        """
        ...


class AnalyzerKind(Struct, frozen=True):
    """Registry entry of an analyzer.

    Attributes:
        name: name in failures and losses, in settings tables, and in the API path below the job.
        make: function that creates an analyzer for a job; None if the settings disable it.
        settings: model of the table ``analyzers.NAME``; None if ``AnalyzerSettings`` has a separate table.
        result: model returned by ``deferred_result`` and by the API below the job's path; None if published elsewhere.
    """

    name: str
    make: Callable[[JobContext], Analyzer | None]
    settings: type[BaseModel] | None = None
    result: type[BaseModel] | None = None


def parsed_settings(settings: AnalyzerSettings, name: str, model: type[_Settings]) -> _Settings:
    """Return the settings in the table ``analyzers.NAME``. Raises ConfigError if they are invalid."""
    try:
        return model.model_validate(settings.analyzers.get(name, {}))
    except ValidationError as error:
        wrong = "; ".join(f"analyzers.{name}.{'.'.join(map(str, row['loc']))}: {row['msg']}" for row in error.errors())
        raise ConfigError(wrong) from None
