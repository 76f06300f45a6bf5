"""Finished traces: read once, analysed as by the commands, with the calls as columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, ValidationError

from ..analyzers.advice.settings import AdviceSettings
from ..analyzers.dfg.spec.cases import parse_case
from ..analyzers.dfg.spec.filters import Filter
from ..analyzers.dfg.spec.graph_definition import GraphDefinition
from ..analyzers.interaction.settings import InteractionSettings
from ..analyzers.layers.report.report import Cut
from ..analyzers.offline.detection import AnalysisOptions
from ..analyzers.settings import DetectSettings
from ..cli.advise.from_traces import advice_of_trace
from ..cli.common.arguments.options import archives_of_run
from ..cli.detect.from_traces import report_of as detection_of
from ..cli.dfg.from_traces import graph_of, rules_text, select
from ..cli.layers.from_traces import report_of as layers_of
from ..cli.rank.from_traces import rank_traces
from ..cli.traces.trace_reading import Trace, name_of, read_traces
from ..events import ConfigError, EventBatch, InputError, StreamInfo
from ..events.counted_text import counted
from ..events.files import readable
from ..results.advice import Advice
from ..results.dfg import Graph
from ..results.interaction import RankReport
from ..results.layers import LayersReport
from ..results.traces.analysis import DetectionReport
from .frames import columns_of, pandas_frame, polars_frame

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

_Settings = TypeVar("_Settings", bound=BaseModel)


def open(*paths: str | PathLike[str], format: str | None = None) -> Traces:  # noqa: A001, A002
    """Open finished traces, which are analysed together as one job.

    Args:
        *paths: files of any format that iotide reads, folders of a format that is one, or the report folder of ``iotide
            run``, whose archive is read.
        format: their format, such as ``strace``; by default detected from the content.

    Raises:
        InputError: there is nothing that can be read.
    """
    return Traces([Path(path) for path in paths], format)


class Traces:
    """Finished traces. Results of reading are cached; nothing is printed.

    Attributes:
        paths: the files and folders.
    """

    def __init__(self, paths: Sequence[Path], format: str | None = None) -> None:  # noqa: A002
        if not paths:
            raise InputError("iotide.open", None, "nothing was named", "the path of a trace")
        self.paths = [found for path in paths for found in archives_of_run(path)]
        self._format = format

    @cached_property
    def _trace(self) -> Trace:
        trace = read_traces(self.paths, format_name=self._format, job=name_of(self.paths), progress=lambda *_: None)
        if not trace.events:
            if trace.problems.first:
                raise trace.problems.first[0]
            raise InputError(str(self.paths[0]), None, "no event was read", "at least one I/O call")
        return trace

    @property
    def job(self) -> str:
        """Name of the traces as one job."""
        return name_of(self.paths)

    @property
    def calls(self) -> int:
        """Number of calls."""
        return self._trace.events

    @property
    def start_s(self) -> float:
        """Start of the first call, Unix seconds, or by the trace's own clock."""
        return self._trace.span_ns[0] / 1e9

    @property
    def end_s(self) -> float:
        """End of the last call, Unix seconds, or by the trace's own clock."""
        return self._trace.span_ns[1] / 1e9

    @property
    def problems(self) -> list[str]:
        """Input that could not be read, with place and reason; about the first hundred."""
        return [str(problem) for problem in self._trace.problems.first]

    @property
    def not_imported(self) -> list[str]:
        """Data that calls cannot represent, and calls that were lost while they were recorded, with their counts."""
        return [counted(count, what) for what, count in self._trace.unsupported.counts.most_common()]

    def detect(
        self, *, strongest: int = 0, autocorrelation: bool = False, wavelet: bool = False, **settings: Any
    ) -> DetectionReport:
        """Find the period, as ``iotide detect`` does.

        Args:
            strongest: number of frequencies in the reconstruction.
            autocorrelation: also find a period by autocorrelation.
            wavelet: compute wavelet power over time and period.
            **settings: those of ``[detect]`` in docs/configuration.md, such as ``mode="write"``.
        """
        chosen = DetectSettings.model_validate(settings)
        trace = replace(self._trace, rule=chosen.rule)  # other results keep their own rule
        return detection_of(self.paths, trace, chosen, AnalysisOptions(autocorrelation, strongest, wavelet)).report

    def layers(self, *, filter: str = "", top: int = 200) -> LayersReport:  # noqa: A002
        """Break I/O down by software layer, as ``iotide layers`` does.

        Args:
            filter: filter of the calls, such as ``layer=POSIX``; docs/dfg.md lists the terms.
            top: maximum number of rows per table.
        """
        return layers_of(self._trace, self.paths, Filter.parse(filter), self.job, Cut(handles=top, files=top))

    def graph(self, mapping: str = "call+dirs:2", *, case: str | None = None, filter: str = "") -> Graph:  # noqa: A002
        """Compute the directly-follows graph, as ``iotide dfg`` does.

        Args:
            mapping: definition of an activity: parts joined by +, or ``rules:FILE``; docs/dfg.md lists them.
            case: definition of a case; by default that of the mapping.
            filter: filter of the calls.
        """
        view = GraphDefinition.parse(mapping, sites={}, read=rules_text)
        terms = Filter.parse(filter)
        chosen = Filter(f"{view.filter.text} {terms.text}".strip(), view.filter.terms + terms.terms)
        view = GraphDefinition(view.mapping, view.case if case is None else parse_case(case), chosen)
        return graph_of(select(self._trace, view), view, self.job)

    def rank(self, **settings: Any) -> RankReport:
        """Rank interacting members, as ``iotide rank`` does; ``settings`` are those of ``[rank]``."""
        return rank_traces(self.paths, self._format, _checked(InteractionSettings, settings))

    def advice(self, *, floor_share: float = 0.02, mtbf_s: float = 86_400.0) -> Advice:
        """Compute the cost of I/O and the changes that save most, as ``iotide advise`` does.

        Args:
            floor_share: least share of the run that a change must save to be listed.
            mtbf_s: mean time between failures of the nodes, s, for checkpoint intervals.
        """
        chosen = _checked(AdviceSettings, {"floor_share": floor_share, "mtbf_s": mtbf_s})
        return advice_of_trace(self._trace, self.job, chosen.floor_share, chosen.mtbf_s)

    def batches(self) -> Iterator[tuple[StreamInfo, EventBatch]]:
        """Yield the calls as columns, batch by batch, with the definitions of their stream."""
        for name, batch in self._trace.selected_events:
            yield self._trace.streams[name].info, batch

    def to_pandas(self) -> pd.DataFrame:
        """Return all calls as a pandas frame, one row per call; docs/python.md lists the columns.

        Raises:
            UnavailableError: pandas is missing.
        """
        return pandas_frame(columns_of(self._trace))

    def to_polars(self) -> pl.DataFrame:
        """Return all calls as a Polars frame, one row per call; docs/python.md lists the columns.

        Raises:
            UnavailableError: Polars is missing.
        """
        return polars_frame(columns_of(self._trace))

    def __repr__(self) -> str:
        return f"<iotide traces {', '.join(readable(path) for path in self.paths)}>"


def _checked(model: type[_Settings], values: dict[str, Any]) -> _Settings:
    """Return settings. Raises ConfigError if one is unknown or out of range."""
    try:
        return model.model_validate(values)
    except ValidationError as error:
        wrong = [f"{'.'.join(map(str, row['loc']))}: {row['msg']}" for row in error.errors()]
        raise ConfigError("; ".join(wrong)) from None
