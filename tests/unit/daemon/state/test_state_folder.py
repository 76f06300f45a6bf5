"""The default folder of the state."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest
from iotide.daemon.settings import load_settings
from iotide.daemon.state.state_folder import default_folder

HOST = socket.gethostname()


@pytest.mark.parametrize(
    ("environment", "folder"),
    [
        ({"STATE_DIRECTORY": "/var/lib/iotide", "XDG_STATE_HOME": "/x", "HOME": "/h"}, "/var/lib/iotide"),
        ({"STATE_DIRECTORY": "/var/lib/iotide:/var/lib/more"}, "/var/lib/iotide"),
        ({"XDG_STATE_HOME": "/x", "HOME": "/h"}, f"/x/iotide/serve/{HOST}"),
        ({"XDG_STATE_HOME": "relative", "HOME": "/h"}, f"/h/.local/state/iotide/serve/{HOST}"),
        ({"HOME": "/h"}, f"/h/.local/state/iotide/serve/{HOST}"),
        ({}, f"/.local/state/iotide/serve/{HOST}"),
    ],
)
def test_folder_is_that_of_the_unit_else_of_the_user_and_host(environment: dict[str, str], folder: str) -> None:
    assert default_folder(environment) == Path(folder)


def test_given_value_takes_precedence_over_the_default(tmp_path: Path) -> None:
    default = tmp_path / "default"
    file = tmp_path / "serve.toml"
    file.write_text('state = "/of/the/file"\n')
    assert load_settings(None, {}, default).state == default
    assert load_settings(file, {}, default).state == Path("/of/the/file")
    assert load_settings(file, {"IOTIDE_SERVE_STATE": "/of/it"}, default).state == Path("/of/it")
    assert load_settings(file, {}, default, state=tmp_path).state == tmp_path


def test_none_switches_it_off_wherever_it_is_said(tmp_path: Path) -> None:
    file = tmp_path / "serve.toml"
    file.write_text('state = "none"\n')
    assert load_settings(file, {}, tmp_path).state is None
    assert load_settings(None, {"IOTIDE_SERVE_STATE": "none"}, tmp_path).state is None
    assert load_settings(None, {}, tmp_path, state=Path("none")).state is None
