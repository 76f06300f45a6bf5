"""The settings as a file with an explanation of each option."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from iotide.cli.common.settings_text import settings_text
from iotide.daemon.settings import AggregatorSettings, load_settings
from pydantic import BaseModel

_WORD = st.text(st.characters(codec="utf-8", exclude_categories=("Cs",)), min_size=1, max_size=8)


def _read_again(text: str, folder: Path) -> AggregatorSettings:
    path = folder / "serve.toml"
    path.write_text(text, encoding="utf-8")
    return load_settings(path, {})


def test_uncommented_defaults_have_the_same_values(tmp_path: Path) -> None:
    text = settings_text(AggregatorSettings())
    assert not re.search(r"^[a-z_]+ = ", text, re.MULTILINE)
    assert _read_again(text, tmp_path) == AggregatorSettings()
    uncommented = re.sub(r"^# ([a-z_]+ = )", r"\1", text, flags=re.MULTILINE)
    assert len(re.findall(r"^[a-z_]+ = ", uncommented, re.MULTILINE)) > 100
    assert _read_again(uncommented, tmp_path) == AggregatorSettings()


def test_each_setting_follows_its_description() -> None:
    text = settings_text(AggregatorSettings())

    def check(model: type[BaseModel]) -> None:
        for name, field in model.model_fields.items():
            inner = field.annotation
            assert field.description, f"{model.__name__}.{name}"
            if isinstance(inner, type) and issubclass(inner, BaseModel):
                check(inner)
            else:
                assert re.search(rf"^# .*\n# {name} (=|is not set)", text, re.MULTILINE), name

    check(AggregatorSettings)


@pytest.mark.parametrize(
    "changed",
    [
        {"http": None, "publish": None},
        {"state": Path("/var/lib/iot ide"), "archive": {"folder": Path('/scratch/"a"')}},
        {"contention": {"capacity": {"lustre:x@tcp:/scratch": 2e9, 'a"b': 1.5}, "enabled": True}},
        {"detect": {"mode": "write", "data_paths": ("/usr/data", "/opt/größe")}, "layers": {"thresholds": {}}},
        {"rank": {"background": ()}, "notify": {"labels": {"a": "b"}}},
    ],
)
def test_changed_settings_are_read_again(tmp_path: Path, changed: dict[str, Any]) -> None:
    settings = AggregatorSettings.model_validate(changed)
    assert _read_again(settings_text(settings), tmp_path) == settings


@given(
    labels=st.dictionaries(st.from_regex("[a-z]{1,8}", fullmatch=True), _WORD, max_size=3),
    paths=st.lists(_WORD, max_size=3),
    interval=st.floats(0.01, 3600),
    jobs=st.integers(1, 10**9),
)
def test_any_text_and_number_is_read_again(
    tmp_path_factory: pytest.TempPathFactory,
    labels: dict[str, str],
    paths: list[str],
    interval: float,
    jobs: int,
) -> None:
    settings = AggregatorSettings.model_validate(
        {
            "notify": {"labels": labels},
            "layers": {"data_paths": paths},
            "prediction_interval_s": interval,
            "max_jobs": jobs,
        }
    )
    assert _read_again(settings_text(settings), tmp_path_factory.mktemp("settings")) == settings
