from __future__ import annotations

import numpy as np
import pytest
from iotide.analyzers.file_groups import CountRule
from iotide.analyzers.settings import DetectSettings
from iotide.analyzers.signal.selection import counted
from iotide.events import ConfigError, EventBatch, FileType, Kind, make_batch
from iotide.results.prediction import ModeName

RULE = CountRule()
FILES = [("", FileType.UNKNOWN), ("/a", FileType.REGULAR), ("pipe:[1]", FileType.PIPE), ("/dev/x", FileType.DEVICE)]
LEFT_OUT = np.array([RULE.left_out(path, kind) for path, kind in FILES], np.uint8)


def one(**columns: int) -> EventBatch:
    return make_batch(1, {"kind": Kind.WRITE, "bytes": 10, "file": 1, **columns})


@pytest.mark.parametrize(
    ("columns", "mode", "counts"),
    [
        ({}, "both", True),
        ({}, "write", True),
        ({}, "read", False),
        ({"kind": Kind.READ}, "read", True),
        ({"kind": Kind.READ}, "both", True),
        ({"kind": Kind.SYNC}, "both", False),
        ({"bytes": 0}, "both", False),
        ({"depth": 1}, "both", False),
        ({"file": 0}, "both", True),
        ({"file": 2}, "both", False),
        ({"file": 3}, "both", False),
        ({"file": 4}, "both", True),
        ({"file": 2**32 - 1}, "both", True),
    ],
)
def test_counts_data_of_the_outermost_layer_on_regular_and_unknown_files(
    columns: dict[str, int], mode: ModeName, counts: bool
) -> None:
    assert counted(one(**columns), LEFT_OUT, mode).tolist() == [counts]


def test_columns_that_vary_are_judged_row_by_row() -> None:
    batch = make_batch(
        4,
        {
            "kind": np.array([Kind.READ, Kind.WRITE, Kind.WRITE, Kind.SEEK]),
            "bytes": 1,
            "depth": np.array([0, 0, 1, 0]),
            "file": np.array([1, 2, 1, 1]),
        },
    )
    assert counted(batch, LEFT_OUT, "both").tolist() == [True, False, False, False]
    assert counted(batch, np.array([], np.uint8), "both").tolist() == [True, True, False, False]


@pytest.mark.parametrize(
    "nonsense",
    [
        {"sampling_frequency_hz": 0},
        {"sampling_frequency_hz": float("nan")},
        {"tolerance": 1.5},
        {"method": "guess"},
        {"mode": "append"},
        {"window_hits": 0},
        {"ring_bins": 1},
        {"colour": "red"},
    ],
)
def test_settings_outside_their_limits_are_refused_by_name(nonsense: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match=next(iter(nonsense))):
        DetectSettings.model_validate(nonsense)


def test_settings_carry_a_sentence_for_each_option() -> None:
    assert all(field.description for field in DetectSettings.model_fields.values())
    assert DetectSettings(sampling_frequency_hz=10).bin_ns == 100_000_000
