"""Exceptions that iotide raises deliberately."""

from __future__ import annotations


class IotideError(Exception):
    """Base of all exceptions that iotide raises deliberately; the text is meant for users."""


class ConfigError(IotideError):
    """A setting is missing, malformed or contradicts another."""


class InputError(IotideError):
    """Input from a file is unreadable or malformed.

    Attributes:
        where: file name (or stream name) of the input.
        line: 1-based line, or record number for binary formats; None for the whole input.
        expected: description of valid input.
    """

    def __init__(self, where: str, line: int | None, problem: str, expected: str) -> None:
        place = where if line is None else f"{where}:{line}"
        super().__init__(f"{place}: {problem}; expected {expected}")
        self.where = where
        self.line = line
        self.problem = problem
        self.expected = expected


class ProtocolError(IotideError):
    """A frame from the network violates the wire protocol; the text names the rule."""


class UnavailableError(IotideError):
    """Something optional (a program, a library, a kernel feature) is missing. The text tells how to install it."""


class OutputError(IotideError):
    """Standard output cannot be written: the disk is full, or a quota is used up."""
