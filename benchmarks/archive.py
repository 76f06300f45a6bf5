"""Calls through call signatures and grammar, a core: calls that repeat, and calls that do not."""

from __future__ import annotations

import time

import numpy as np
import numpy.typing as npt
from _figures import Figure, report
from iotide.events.archive.coder import Coder
from iotide.events.archive.columns import FIELDS, FIRST_OF_HANDLE
from iotide.events.archive.grammar import Grammar

CALLS = 2_000_000
BATCH = 4096

Calls = tuple[npt.NDArray[np.uint32], npt.NDArray[np.int64]]


def strided() -> Calls:
    """One file written in equal steps, a call of 12 kinds at a time."""
    fields = np.zeros((CALLS, len(FIELDS)), np.int64)
    fields[:, 0] = fields[:, 2] = 3
    fields[:, FIRST_OF_HANDLE] = 4096 * np.arange(CALLS)
    fields[:, -1] = fields[:, -2] = 4096
    return (np.arange(CALLS) % 12).astype(np.uint32), fields


def files() -> Calls:
    """A new file each time: open, a hundred writes, close."""
    step, turn = np.arange(CALLS) % 102, np.arange(CALLS) // 102
    is_write = (step > 0) & (step < 101)
    fields = np.zeros((CALLS, len(FIELDS)), np.int64)
    fields[:, 0] = fields[:, 2] = turn + 1
    fields[:, FIRST_OF_HANDLE] = np.where(is_write, 4096 * (step - 1), -1)
    fields[:, -1] = fields[:, -2] = np.where(is_write, 4096, 0)
    return np.where(is_write, 1, 2 * (step > 0)).astype(np.uint32), fields


def unpredictable() -> Calls:
    """Fifty signatures in random order."""
    fields = np.zeros((CALLS, len(FIELDS)), np.int64)
    fields[:, FIRST_OF_HANDLE] = -1
    return np.random.default_rng(1).integers(0, 50, CALLS).astype(np.uint32), fields


def rate(groups: npt.NDArray[np.uint32], fields: npt.NDArray[np.int64]) -> float:
    """Returns calls a second of CPU time, the best of three."""
    best = float("inf")
    for _ in range(3):
        coder, grammar = Coder(len(FIELDS), FIRST_OF_HANDLE), Grammar()
        begun = time.process_time()
        for at in range(0, CALLS, BATCH):
            grammar.feed(coder.feed(groups[at : at + BATCH], fields[at : at + BATCH]))
        best = min(best, time.process_time() - begun)
    return CALLS / best


def measure() -> list[Figure]:
    """Returns the rates beside their budgets."""
    return [
        Figure("archive: strided writes, 12 signatures", rate(*strided()) / 1e6, "M calls/s", ">= 5"),
        Figure("archive: files of a hundred writes", rate(*files()) / 1e6, "M calls/s", ">= 5"),
        Figure("archive: 50 signatures in random order", rate(*unpredictable()) / 1e6, "M calls/s", ">= 2"),
    ]


if __name__ == "__main__":
    report(measure())
