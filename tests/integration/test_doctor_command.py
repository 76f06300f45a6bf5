"""``iotide doctor`` tries the things themselves."""

from __future__ import annotations

import json
from pathlib import Path

from support.commands import iotide, plain_environment
from support.programs import need


def test_healthy_machine_is_found_healthy(tmp_path: Path) -> None:
    done = iotide("doctor", "--json", cwd=tmp_path)
    report = json.loads(done.stdout)
    assert done.returncode == 0
    assert report["healthy"]
    assert {check["name"] for check in report["checks"] if check["necessary"]} >= {"tracer library", "live tracing"}


def test_missing_tracer_is_found_with_its_remedy(tmp_path: Path) -> None:
    done = iotide(
        "doctor", cwd=tmp_path, env=plain_environment(IOTIDE_TRACER=str(tmp_path / "absent.so"), COLUMNS="300")
    )
    assert done.returncode == 1
    assert "FAIL" in done.stdout
    assert "install a C compiler" in done.stdout


def test_missing_extra_costs_a_feature_only(tmp_path: Path) -> None:
    done = iotide("doctor", cwd=tmp_path, env=plain_environment(PATH="/nonexistent", COLUMNS="300"))
    assert done.returncode == 0
    assert "strace is not on PATH" in done.stdout


def test_each_layer_that_can_be_tried_is_traced(tmp_path: Path) -> None:
    need("ncgen")
    need("ncmpidump")  # beside the library
    checks = {check["name"]: check for check in json.loads(iotide("doctor", "--json", cwd=tmp_path).stdout)["checks"]}
    assert checks["layer libraries"]["works"]
    for layer in ("MPI-IO", "NetCDF", "PnetCDF"):
        assert checks[f"{layer} layer"]["works"], checks[f"{layer} layer"]


def test_layer_that_cannot_be_tried_costs_nothing_else(tmp_path: Path) -> None:
    done = iotide("doctor", "--json", cwd=tmp_path, env=plain_environment(PATH="/nonexistent"))
    (netcdf,) = [check for check in json.loads(done.stdout)["checks"] if check["name"] == "NetCDF layer"]
    assert done.returncode == 0
    assert not netcdf["works"]
    assert "not tried" in netcdf["detail"]
