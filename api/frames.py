"""Conversion of calls to pandas and Polars frames."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from ..analyzers.pipeline.numbering import JobNames
from ..cli.common.one_job_bounds import MAX_CALLS, MAX_FILES
from ..cli.traces.trace_reading import Trace, translator_of
from ..events import Kind, Layer, UnavailableError
from ..events.schema import UNKNOWN_RANK

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

_OF_CALL: Final = ("start", "duration", "bytes", "offset", "rank")
_OF_STREAM: Final = ("job", "host", "user", "command")


class Categorical(NamedTuple):
    """Repeated texts: a code for each row, and the text of each code."""

    codes: npt.NDArray[np.int32]
    texts: list[str]


def columns_of(trace: Trace) -> dict[str, npt.NDArray[Any] | Categorical]:
    """Return all calls of a trace as columns. They are in the order in which they were read.

    Returns:
        start, duration (int64, ns), bytes, offset (int64, bytes; -1 where unknown), rank (int32, -1 where unknown),
        stream (number of the process); and as texts call, file, kind, layer, job, host, user, command.
    """
    names = JobNames(MAX_CALLS, MAX_FILES)
    translators = {name: translator_of(names, stream) for name, stream in trace.streams.items()}
    numbers = {name: number for number, name in enumerate(trace.streams)}
    parts: dict[str, list[npt.NDArray[Any]]] = {}
    for name, batch in trace.selected_events:
        local = translators[name].translate(batch)
        info = trace.streams[name].info
        columns = {each: np.asarray(getattr(local, each)) for each in _OF_CALL}
        columns["rank"] = np.where(columns["rank"] == UNKNOWN_RANK, info.rank, columns["rank"])
        columns |= {each: np.asarray(getattr(local, each)) for each in ("call", "file", "kind", "layer")}
        columns["stream"] = np.full(len(local), numbers[name], np.int32)
        for each, values in columns.items():
            parts.setdefault(each, []).append(values)
    whole = {name: np.concatenate(values) for name, values in parts.items()}
    infos = [stream.info for stream in trace.streams.values()]
    result: dict[str, npt.NDArray[Any] | Categorical] = {name: whole[name] for name in _OF_CALL}
    result["call"] = _categorical(whole["call"], names.calls)
    result["file"] = _categorical(whole["file"], [file.path for file in names.files])
    result["kind"] = _categorical(whole["kind"], [kind.name.lower() for kind in Kind])
    result["layer"] = _categorical(whole["layer"], [layer.name.lower() for layer in Layer])
    result["stream"] = whole["stream"]
    for name in _OF_STREAM:
        result[name] = _categorical(whole["stream"], [getattr(info, name) for info in infos])
    return result


def _categorical(numbers: npt.NDArray[Any], texts: list[str]) -> Categorical:
    """Return each text once: streams have equal ones, and code that a program copies has a number of its own.

    Args:
        numbers: index of each row's text.
        texts: the texts, which may be equal.
    """
    codes = {text: code for code, text in enumerate(dict.fromkeys(texts))}
    code_of = np.array([codes[text] for text in texts], np.int32)
    return Categorical(code_of[numbers], list(codes))


def pandas_frame(columns: dict[str, npt.NDArray[Any] | Categorical]) -> pd.DataFrame:
    """Make a pandas frame; texts become categories.

    Raises:
        UnavailableError: pandas is missing.
    """
    try:
        import pandas as pd
    except ImportError:
        raise UnavailableError("frames need pandas: pip install 'iotide[pandas]'") from None
    return pd.DataFrame(
        {
            name: pd.Categorical.from_codes(column.codes, column.texts) if isinstance(column, Categorical) else column
            for name, column in columns.items()
        }
    )


def polars_frame(columns: dict[str, npt.NDArray[Any] | Categorical]) -> pl.DataFrame:
    """Make a Polars frame; texts become categories.

    Raises:
        UnavailableError: Polars is missing.
    """
    try:
        import polars as pl
    except ImportError:
        raise UnavailableError("frames need Polars: pip install 'iotide[polars]'") from None
    return pl.DataFrame(
        {
            name: pl.Series(column.texts).gather(column.codes).cast(pl.Categorical)
            if isinstance(column, Categorical)
            else column
            for name, column in columns.items()
        }
    )
