from __future__ import annotations

import numpy as np
from iotide.analyzers.periodicity.phases.memoized import Floats, clear_memo, memoized


def test_equal_arguments_are_computed_once_until_forgotten() -> None:
    computed: list[tuple[list[float], float]] = []

    @memoized
    def scaled(values: Floats, factor: float) -> Floats:
        computed.append((values.tolist(), factor))
        return values * factor

    values = np.array([1.0, 2.0, 3.0])
    assert scaled(values, 2.0).tolist() == scaled(values[:].copy(), 2.0).tolist() == [2.0, 4.0, 6.0]
    assert len(computed) == 1
    values[0] = 7.0
    assert scaled(values, 2.0).tolist() == [14.0, 4.0, 6.0]
    assert scaled(values, 3.0).tolist() == [21.0, 6.0, 9.0]
    assert len(computed) == 3
    clear_memo()
    assert scaled(values, 3.0).tolist() == [21.0, 6.0, 9.0]
    assert len(computed) == 4
