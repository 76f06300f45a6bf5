"""The environment of a traced program, and the options that select recorded calls."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from iotide.cli.common.arguments.tracer_options import CALL_CLASSES, LAYERS, settings_of
from iotide.cli.main import group
from iotide.collectors.settings import TracerSettings
from iotide.collectors.tracer.preload_environment import LIBRARY_LAYERS, layer_library, traced_environment
from iotide.collectors.wrappers.sources import ALL_LAYERS, library_of
from iotide.events import ConfigError, Layer


@pytest.fixture
def base(tmp_path: Path) -> dict[str, str]:
    core = tmp_path / "core.so"
    core.write_bytes(b"\x7fELF")
    return {"IOTIDE_TRACER": str(core)}


def made(base: dict[str, str], **settings: object) -> dict[str, str]:
    return traced_environment(base, Path("/run/t.sock"), "job", TracerSettings.model_validate(settings))


def test_core_comes_first_and_the_users_own_preload_last(base: dict[str, str], tmp_path: Path) -> None:
    library = tmp_path / "gz.so"
    library.write_bytes(b"\x7fELF \0iotide_provided_3\0")
    preloaded = made(base | {"LD_PRELOAD": "own.so"}, libraries=(library,))["LD_PRELOAD"].split(":")
    assert preloaded == [base["IOTIDE_TRACER"], str(library_of(ALL_LAYERS)), str(library), "own.so"]


def test_all_layers_are_one_library_and_some_are_one_each(base: dict[str, str]) -> None:
    for settings in ({}, {"layers": LAYERS}):
        assert made(base, **settings)["LD_PRELOAD"].split(":")[1:] == [str(library_of(ALL_LAYERS))]
    some = made(base, layers=("posix", "netcdf", "hdf5"))["LD_PRELOAD"].split(":")[1:]
    assert some == [str(library_of(name)) for name in ("hdf5", "netcdf")]


def test_unset_options_are_left_to_the_environment(base: dict[str, str]) -> None:
    environment = made(base | {"IOTIDE_CALLS": "data", "IOTIDE_SAMPLE": "7"}, sample=3)
    assert (environment["IOTIDE_CALLS"], environment["IOTIDE_SAMPLE"]) == ("data", "3")
    assert not {"IOTIDE_LAYERS", "IOTIDE_ONLY", "IOTIDE_SKIP", "IOTIDE_RING_RECORDS"} & set(environment)


def test_libraries_of_layers_that_are_off_are_not_loaded(base: dict[str, str]) -> None:
    for environment in (made(base, layers=("posix",)), made(base | {"IOTIDE_LAYERS": "posix"})):
        assert environment["LD_PRELOAD"] == base["IOTIDE_TRACER"]
        assert environment["IOTIDE_LAYERS"] == "posix"


def test_path_is_known_by_its_own_name_and_by_what_it_leads_to(base: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    environment = made(base, only_paths=(tmp_path / "link" / "." / ".." / "link",), skip_paths=(tmp_path / "real",))
    assert environment["IOTIDE_ONLY"] == f"{tmp_path}/link:{tmp_path}/real"
    assert environment["IOTIDE_SKIP"] == f"{tmp_path}/real"


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"only_paths": ("/a:b",)}, "colon"),
        ({"skip_paths": tuple(f"/{number}" for number in range(33))}, "at most 32"),
        ({"skip_paths": ("/x" * 5000,)}, "bytes"),
        ({"libraries": ("/nowhere.so",)}, "cannot read"),
        ({"libraries": (__file__,)}, "no wrapper library"),
        ({"libraries": (sys.executable,)}, "no wrapper library"),
    ],
)
def test_settings_that_the_environment_cannot_express_are_rejected(
    base: dict[str, str], settings: dict[str, object], problem: str
) -> None:
    with pytest.raises(ConfigError, match=problem):
        made(base, **settings)


def test_library_of_another_version_is_refused(base: dict[str, str], tmp_path: Path) -> None:
    library = tmp_path / "old.so"
    library.write_bytes(b"\x7fELF \0iotide_provided_1\0")
    with pytest.raises(ConfigError, match="another version"):
        made(base, libraries=(library,))


def test_library_that_ld_preload_cannot_name_has_a_link(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    core = tmp_path / "with space.so"
    core.write_bytes(b"\x7fELF")
    first, *_ = made({"IOTIDE_TRACER": str(core)})["LD_PRELOAD"].split(":")
    assert " " not in first
    assert Path(first).resolve() == core


def test_option_words_are_those_of_the_schema_and_of_the_settings() -> None:
    assert {name.upper() for name in LAYERS} == {layer.name for layer in Layer} - {"KERNEL"}
    TracerSettings(layers=LAYERS, calls=CALL_CLASSES)


def test_all_layers_are_those_that_are_built() -> None:
    layers = settings_of({"layers": LAYERS}).layers
    assert layers is not None
    assert {"posix", "stdio", "other"} <= set(layers)
    assert all(layer_library(name) for name in set(layers) & set(LIBRARY_LAYERS))


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--layers", "posix,tape"),
        ("--layers", ""),
        ("--calls", "data;sync"),
        ("--sample", "0"),
        ("--sample", "many"),
        ("--ring-records", "255"),
        ("--only-paths", ""),
        ("--skip-paths", ""),
    ],
)
def test_wrong_value_is_refused_before_anything_starts(option: str, value: str) -> None:
    done = CliRunner().invoke(group, ["run", option, value, "--", "touch", "started"])
    assert done.exit_code == 2
    assert option in done.output
    assert not Path("started").exists()


def test_wrong_value_in_the_environment_is_refused_alike() -> None:
    done = CliRunner().invoke(group, ["run", "true"], env={"IOTIDE_CALLS": "everything"})
    assert done.exit_code == 2
    assert "everything" in done.output


@pytest.mark.parametrize(("value", "kept"), [(":", None), ("/a::/b:", "/a:/b")])
def test_empty_path_in_the_environment_is_none_as_in_the_library(
    base: dict[str, str], value: str, kept: str | None
) -> None:
    asked = ["collect", "--socket", "/run/t.sock", "--print-environment"]
    done = CliRunner().invoke(group, asked, env={**base, "IOTIDE_SKIP": value})
    assert dict(line.split("=", 1) for line in done.output.splitlines()).get("IOTIDE_SKIP") == kept


def test_printed_environment_has_the_recorded_calls(base: dict[str, str]) -> None:
    options = ["--layers", "posix,stdio", "--calls", "all", "--only-paths", "/scratch", "--sample", "5"]
    done = CliRunner().invoke(group, ["collect", "--socket", "/run/t.sock", "--print-environment", *options], env=base)
    assert dict(line.split("=", 1) for line in done.output.splitlines()) | {"LD_PRELOAD": ""} == {
        "LD_PRELOAD": "",
        "IOTIDE_SOCKET": "/run/t.sock",
        "IOTIDE_LAYERS": "posix,stdio",
        "IOTIDE_CALLS": "data,handle,seek,sync,meta,char,memory",
        "IOTIDE_ONLY": "/scratch",
        "IOTIDE_SAMPLE": "5",
    }


@pytest.mark.parametrize("options", [["--only-paths", "/with space"], ["--socket", "/with\tab"]])
def test_value_that_env_would_split_is_not_printed(options: list[str]) -> None:
    done = CliRunner().invoke(group, ["collect", "--socket", "/t.sock", "--print-environment", *options])
    assert isinstance(done.exception, ConfigError)


def test_recorded_calls_are_independent_of_the_collector() -> None:
    done = CliRunner().invoke(group, ["collect", "--socket", "/t.sock", "--sample", "5"])
    assert done.exit_code == 2
    assert "--print-environment" in done.output
