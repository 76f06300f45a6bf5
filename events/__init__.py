"""The vocabulary that every part speaks: events, batches, definitions, the wire, and the public results."""

from .batch import EventBatch, concatenate, empty_batch, is_constant, make_batch
from .batch_job import BatchJob
from .definitions import Definitions, DefinitionTable, FileInfo, HandleInfo, Interner
from .errors import ConfigError, InputError, IotideError, ProtocolError, UnavailableError
from .schema import COLUMNS, FileType, Flag, Kind, Layer, file_type_of
from .stream import StreamInfo

__all__ = [
    "COLUMNS",
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
