"""`iotide slurm scripts` writes the lines for slurm.conf, for its own installation."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner
from iotide.cli.slurm.command import command
from iotide.cli.slurm.settings import SlurmSettings, slurm_settings


def wrote(*words: str) -> str:
    done = CliRunner().invoke(command, ["scripts", *words], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def test_scripts_name_this_installation_and_their_settings(tmp_path: Path) -> None:
    said = wrote("--connect", "tcp://10.1.0.1:9787", "--config", f"{tmp_path}/etc/slurm.toml", f"{tmp_path}/scripts")
    named = dict(line.split("=") for line in said.splitlines() if not line.startswith("#"))
    assert set(named) == {"Prolog", "TaskProlog", "Epilog", "PrologFlags"}
    for name in ("Prolog", "TaskProlog", "Epilog"):
        assert os.access(named[name], os.X_OK)
        subprocess.run(["sh", "-n", named[name]], check=True)
    prolog = Path(named["Prolog"]).read_text()
    assert f"iotide={Path(sys.executable).parent}/iotide\n" in prolog
    assert f"settings={tmp_path}/etc/slurm.toml\n" in prolog
    assert slurm_settings(tmp_path / "etc/slurm.toml", required=True).connect == "tcp://10.1.0.1:9787"


def test_settings_explain_every_option(tmp_path: Path) -> None:
    config = tmp_path / "slurm.toml"
    wrote("--config", str(config), f"{tmp_path}/scripts")
    text = config.read_text()
    assert tomllib.loads(text) == {}
    for name, field in SlurmSettings.model_fields.items():
        assert re.search(rf"^# .*\n# {name} (=|is not set)", text, re.MULTILINE), name
        assert field.description
    uncommented = re.sub(r"^# ([a-z_]+ = )", r"\1", text, flags=re.MULTILINE)
    config.write_text(uncommented)
    assert slurm_settings(config, required=True) == SlurmSettings()


def test_existing_settings_are_kept_and_define_the_socket_folder(tmp_path: Path) -> None:
    config = tmp_path / "slurm.toml"
    config.write_text('folder = "/run/other"\n')
    wrote("--config", str(config), f"{tmp_path}/scripts")
    assert config.read_text() == 'folder = "/run/other"\n'
    for name in ("task-prolog.sh", "epilog.sh"):
        assert "\nfolder=/run/other\n" in (tmp_path / "scripts" / name).read_text()
    done = CliRunner().invoke(command, ["scripts", "--connect", "tcp://a:1", "--config", str(config), str(tmp_path)])
    assert done.exit_code == 2
    assert "change `connect` in it" in done.output


@pytest.mark.parametrize("connect", ["nonsense", "tcp://a", "tcp://*:9787"])
def test_endpoint_that_cannot_be_is_refused(tmp_path: Path, connect: str) -> None:
    done = CliRunner().invoke(command, ["scripts", "--connect", connect, "--config", f"{tmp_path}/c", str(tmp_path)])
    assert done.exit_code != 0
    assert not (tmp_path / "c").exists()
