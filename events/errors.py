"""The tree of errors that iotide raises on purpose."""

from __future__ import annotations


class IotideError(Exception):
    """Base of every error that iotide raises on purpose; its text is fit for a person."""


class ConfigError(IotideError):
    """A setting is missing, malformed or contradicts another."""


class InputError(IotideError):
    """Input from a file is unreadable or malformed.

    Attributes:
        where: file name (or stream name) of the input.
        line: 1-based line, or record number for binary formats; None when the whole input is meant.
        expected: what would have been right.
    """

    def __init__(self, where: str, line: int | None, problem: str, expected: str) -> None:
        place = where if line is None else f"{where}:{line}"
        super().__init__(f"{place}: {problem}; expected {expected}")
        self.where = where
        self.line = line
        self.problem = problem
        self.expected = expected


class ProtocolError(IotideError):
    """A frame from the network does not follow the wire protocol; the text says which rule it breaks."""


class UnavailableError(IotideError):
    """Something optional (a program, a library, a kernel feature) is missing; the text says how to get it."""
