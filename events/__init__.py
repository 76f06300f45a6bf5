"""Shared vocabulary of all parts: events, batches, definitions, the wire, and the public results.

Names are imported on first use, so that a node's script that only reports an error needs no NumPy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .batch import EventBatch, concatenate, empty_batch, is_constant, make_batch
    from .batch_job import BatchJob
    from .definitions import Definitions, DefinitionTable, FileInfo, HandleInfo, Interner
    from .errors import ConfigError, InputError, IotideError, ProtocolError, UnavailableError
    from .schema import COLUMNS, FileType, Flag, Kind, Layer, file_type_of
    from .stream import NODE_COLLECTOR, StreamInfo

__all__ = [
    "COLUMNS",
    "NODE_COLLECTOR",
    "BatchJob",
    "ConfigError",
    "DefinitionTable",
    "Definitions",
    "EventBatch",
    "FileInfo",
    "FileType",
    "Flag",
    "HandleInfo",
    "InputError",
    "Interner",
    "IotideError",
    "Kind",
    "Layer",
    "ProtocolError",
    "StreamInfo",
    "UnavailableError",
    "concatenate",
    "empty_batch",
    "file_type_of",
    "is_constant",
    "make_batch",
]

_MODULES = {
    "batch": ("EventBatch", "concatenate", "empty_batch", "is_constant", "make_batch"),
    "batch_job": ("BatchJob",),
    "definitions": ("Definitions", "DefinitionTable", "FileInfo", "HandleInfo", "Interner"),
    "errors": ("ConfigError", "InputError", "IotideError", "ProtocolError", "UnavailableError"),
    "schema": ("COLUMNS", "FileType", "Flag", "Kind", "Layer", "file_type_of"),
    "stream": ("NODE_COLLECTOR", "StreamInfo"),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> object:
    if (module := _MODULE_OF.get(name)) is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{module}", __name__), name)
    globals()[name] = value
    return value
