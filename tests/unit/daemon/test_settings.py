"""The aggregator's settings: their sources, and rejected values."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from iotide.cli.slurm.settings import slurm_settings
from iotide.daemon.access.principals import read_principals
from iotide.daemon.access.projects import read_projects
from iotide.daemon.settings import AggregatorSettings, load_settings
from iotide.events import ConfigError


def test_later_sources_win(tmp_path: Path) -> None:
    file = tmp_path / "serve.toml"
    file.write_text(
        'prediction_interval_s = 5\nidle_after_s = 7\nlinger_s = 9\nhttp = "none"\n[detect]\nmode = "read"\n'
    )
    environment = {
        "IOTIDE_SERVE_IDLE_AFTER_S": "8",
        "IOTIDE_SERVE_LINGER_S": "10",
        "IOTIDE_SERVE_DETECT__MODE": "write",
    }
    settings = load_settings(file, environment, linger_s=11)
    assert (settings.prediction_interval_s, settings.idle_after_s, settings.linger_s) == (5, 8, 11)
    assert settings.detect.mode == "write"
    assert settings.http is None


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("speed = 3", "speed: there is no such setting$"),
        ("inget = 3", r"inget: .*did you mean ingest\?"),
        ("[bounds]\nmax_stream = 3", r"bounds\.max_stream: .*did you mean bounds\.max_streams\?"),
        ("prediction_interval_s = 0", "prediction_interval_s"),
        ("[detect]\nmode = 'sideways'", "mode"),
        ("[detect]\nsampling = 'point'\nmethod = 'reference'", "sampling"),
        ("not toml at all", "serve.toml"),
        ("max_jobs = true", r"serve\.toml: max_jobs: expected a number, not true"),
        ("prediction_interval_s = false", "prediction_interval_s: expected a number, not false"),
        ("[bounds]\nmax_streams = true", r"bounds\.max_streams: expected a number"),
        ("[contention]\ncapacity = {scratch = true}", r"contention\.capacity\.scratch: expected a number"),
        ("allow_remote = 1", "allow_remote: expected true or false, not 1"),
        ("http = '127.0.0.1'", r"serve\.toml: http: "),
        ("http = 9788", "http: expected text in quotation marks"),
        ("[detect]\ndata_paths = '/a'", r"serve\.toml: .*data_paths: "),
        ("[access]\noperators = 'root'", r"access\.operators: expected a list"),
        ("bounds = 3", "bounds: expected a table"),
    ],
)
def test_wrong_value_is_named(tmp_path: Path, text: str, named: str) -> None:
    file = tmp_path / "serve.toml"
    file.write_text(text)
    with pytest.raises(ConfigError, match=named):
        load_settings(file, {})


def test_file_of_an_editor_that_writes_a_byte_order_mark_is_read(tmp_path: Path) -> None:
    file = tmp_path / "serve.toml"
    file.write_bytes(b"\xef\xbb\xbfmax_jobs = 3\r\n")
    assert load_settings(file, {}).max_jobs == 3


@pytest.mark.parametrize(
    "read",
    [
        lambda path: load_settings(path, {}),
        read_principals,
        read_projects,
        lambda path: slurm_settings(path, required=True),
        lambda path: load_settings(None, {"IOTIDE_SERVE_DETECT": path.read_text().partition("=")[2]}),
    ],
    ids=["settings", "principals", "projects", "slurm", "environment"],
)
def test_values_that_are_nested_too_deeply_are_an_error(read: Callable[[Path], object], tmp_path: Path) -> None:
    path = tmp_path / "deep.toml"
    path.write_text("a = " + "[" * 5000 + "]" * 5000)
    with pytest.raises(ConfigError):
        read(path)


def test_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"absent\.toml"):
        load_settings(tmp_path / "absent.toml", {})


def test_wrong_environment_is_named() -> None:
    with pytest.raises(ConfigError, match="max_jobs"):
        load_settings(None, {"IOTIDE_SERVE_MAX_JOBS": "many"})


def test_lists_and_tables_in_the_environment_are_written_as_in_toml() -> None:
    environment = {
        "IOTIDE_SERVE_ACCESS__OPERATORS": '["ann", "bob"]',
        "IOTIDE_SERVE_CONTENTION__CAPACITY": '{"lustre:a" = 5e9}',
    }
    settings = load_settings(None, environment)
    assert settings.access.operators == ("ann", "bob")
    assert settings.contention.capacity == {"lustre:a": 5e9}
    with pytest.raises(ConfigError, match="IOTIDE_SERVE_ACCESS__OPERATORS"):
        load_settings(None, {"IOTIDE_SERVE_ACCESS__OPERATORS": "[ann"})


def test_defaults_that_are_not_checked_each_time_pass_the_checks() -> None:
    """Creating the validators takes longer than the start of most commands."""
    unchecked = AggregatorSettings.model_construct()
    assert AggregatorSettings.model_validate(unchecked.model_dump()) == unchecked
    assert load_settings(None, {}) == unchecked
