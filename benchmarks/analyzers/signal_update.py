"""Requests per second into the bandwidth signal, beside ftio-hpc's overlap and sampling of the same requests."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from iotide.analyzers.settings import DetectSettings
from iotide.analyzers.signal.bandwidth import BandwidthSignal, Resolutions
from iotide.benchmarks.common.figures import Figure, report, seconds_of
from iotide.benchmarks.common.ftio import analyse

REQUESTS = 1 << 19
SPAN_S = 600.0
BIN_NS = 100_000_000


def every_resolution() -> BandwidthSignal:
    return Resolutions.of(DetectSettings()).signal()


def ten_hertz() -> BandwidthSignal:
    return BandwidthSignal(BIN_NS, 36_000)


def measure() -> list[Figure]:
    rng = np.random.default_rng(1)
    start = np.sort(rng.integers(0, int(SPAN_S * 1e9), REQUESTS))
    end = start + rng.integers(1_000, 5_000_000, REQUESTS)
    volume = rng.integers(1, 1 << 20, REQUESTS)
    answers = analyse([(start / 1e9, end / 1e9, volume / (end - start) * 1e9)], 1e9 / BIN_NS, repeats=2)
    peer = None if answers is None else REQUESTS / (answers[0].overlap_s + answers[0].sample_s) / 1e6
    figures = []
    for name, make in (("10 ms to days", every_resolution), ("10 Hz only", ten_hertz)):
        for size in (4096, 65_536):

            def add_all(size: int = size, make: Callable[[], BandwidthSignal] = make) -> None:
                signal = make()
                for at in range(0, REQUESTS, size):
                    signal.add(start[at : at + size], end[at : at + size], volume[at : at + size])
                assert signal.volume == volume.sum()

            figures.append(
                Figure(
                    f"signal update, {name}, batches of {size}",
                    REQUESTS / seconds_of(add_all) / 1e6,
                    "M events/s",
                    budget=">= 20 M events/s",
                    peer="ftio-hpc overlap + sampling",
                    peer_value=peer,
                )
            )
    return figures


if __name__ == "__main__":
    report(measure())
