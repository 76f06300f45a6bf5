"""What every analyzer of a job offers, and what a job offers to it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeVar, runtime_checkable

from pydantic import BaseModel, ValidationError

from ...events import ConfigError
from .analysis_queue import Taken
from .numbering import JobNames
from .settings import AnalyzerSettings

_Settings = TypeVar("_Settings", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class JobContext:
    """What a job's analyzers are made of.

    Attributes:
        job: its id.
        names: what the numbers in its events mean; grows as events come in.
        settings: those of all analyzers.
        read: returns the text of a file that a setting names.
    """

    job: str
    names: JobNames
    settings: AnalyzerSettings
    read: Callable[[str], str]

    def settings_of(self, name: str, model: type[_Settings]) -> _Settings:
        """Returns the settings in the table ``analyzers.NAME``.

        Raises:
            ConfigError: one of them is unknown or out of its limits; the text names it.
        """
        return parsed_settings(self.settings, name, model)


class Analyzer(Protocol):
    """Follows one job. A function of what came in, in its order: it has no clock, no file, no thread, no socket.

    Its memory is bounded whatever comes in, and what a bound costs is counted in ``losses``. However a stream's events
    are cut into batches, it tells the same. All it knows is in its attributes: numbers, texts, arrays, containers and
    objects of iotide's classes, so that ``snapshots`` can write it down; it holds no function.
    """

    def update(self, taken: Taken) -> None:
        """Takes in events, in the job's numbers; none of an earlier end than those before, but for other streams'."""
        ...

    def close_stream(self, stream: str) -> None:
        """Takes in that a stream has ended. A stream of the same name may begin later."""
        ...

    def settle(self) -> None:
        """Takes in what it holds back, and gives memory back that a silent job does not need."""
        ...

    def losses(self) -> dict[str, int]:
        """Returns what is missing in what it tells, by reason."""
        ...


@runtime_checkable
class Reporting(Protocol):
    """An analyzer that has a result of its own."""

    def frozen(self) -> Callable[[], BaseModel]:
        """Copies the state and returns what makes the result of it, in another thread and as late as one likes."""
        ...


@dataclass(frozen=True, slots=True)
class AnalyzerKind:
    """One analyzer, as the registry knows it.

    Attributes:
        name: of its failures and losses, of its table of settings, and of its path below a job's in the API.
        make: makes one for a job; None where the settings switch it off.
        settings: of the table ``analyzers.NAME``; None where ``AnalyzerSettings`` has a table of its own for it.
        result: what ``frozen`` makes, and the API answers below the job's path; None where it is told in another way.
    """

    name: str
    make: Callable[[JobContext], Analyzer | None]
    settings: type[BaseModel] | None = None
    result: type[BaseModel] | None = None


def parsed_settings(settings: AnalyzerSettings, name: str, model: type[_Settings]) -> _Settings:
    """Returns the settings in the table ``analyzers.NAME``. Raises ConfigError if they are wrong."""
    try:
        return model.model_validate(settings.analyzers.get(name, {}))
    except ValidationError as error:
        wrong = "; ".join(f"analyzers.{name}.{'.'.join(map(str, row['loc']))}: {row['msg']}" for row in error.errors())
        raise ConfigError(wrong) from None
