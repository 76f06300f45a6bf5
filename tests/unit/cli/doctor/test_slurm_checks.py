"""Findings of `iotide doctor --cluster` where Slurm would start no collector, with one fault at a time."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from iotide.cli.cluster_demo.small_slurm import install_scripts
from iotide.cli.doctor import slurm_checks
from iotide.cli.doctor.checks import BrokenError
from iotide.cli.doctor.slurm_checks import slurm_scripts
from iotide.events import IotideError

INGEST = "tcp://127.0.0.1:9787"


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    lines = install_scripts(tmp_path, tmp_path, INGEST)
    (tmp_path / "bin").mkdir()
    (tmp_path / "iotide").mkdir()
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:/usr/bin:/bin")
    configure(tmp_path, *lines)
    return tmp_path


def configure(cluster: Path, *lines: str) -> None:
    told = "\n".join(line.replace("=", "   = ") for line in lines)
    (cluster / "bin/scontrol").write_text(f"#!/bin/sh\ncat <<'END'\nPrologFlags = Alloc\n{told}\nEND\n")
    (cluster / "bin/scontrol").chmod(0o755)


def change(path: Path, before: str, after: str) -> None:
    text = path.read_text()
    assert before in text
    path.write_text(text.replace(before, after))


def prepend(path: Path, line: str) -> None:
    path.write_text(f"{line}\n{path.read_text()}")


def test_scripts_that_are_as_they_should_be_are_named(cluster: Path) -> None:
    assert slurm_scripts(INGEST) == ", ".join(
        f"{name} {cluster}/{file}.sh"
        for name, file in (("Prolog", "prolog"), ("TaskProlog", "task-prolog"), ("Epilog", "epilog"))
    )


@pytest.mark.parametrize(
    ("breaking", "named"),
    [
        (lambda it: configure(it, f"Prolog={it}/prolog.sh", "TaskProlog=(null)"), "has no TaskProlog, Epilog"),
        (lambda it: (it / "epilog.sh").unlink(), "epilog.sh cannot be run on this node"),
        (lambda it: (it / "prolog.sh").chmod(0o644), "prolog.sh cannot be run on this node"),
        (lambda it: change(it / "prolog.sh", "/bin/iotide\n", "/bin/gone\n"), "gone, which is not on this node"),
        (lambda it: (it / "slurm.toml").unlink(), "there is no"),
        (lambda it: (it / "slurm.toml").write_text("conect = 1\n"), "slurm.toml"),
        (lambda it: change(it / "slurm.toml", "# connect = ", 'connect = "tcp://10.0.0.9:9787"\n# '), "10.0.0.9:9787"),
        (lambda it: (it / "bin/scontrol").write_text("#!/bin/sh\necho a; echo no controller >&2; exit 1"), "^no contr"),
        (lambda it: (it / "iotide").chmod(0o777), "mode 777.*the prolog starts no collector"),
        (lambda it: change(it / "task-prolog.sh", f"{it}/iotide\n", "/run/gone\n"), "looks for jobs in /run/gone"),
        (lambda it: prepend(it / "slurm.toml", 'key = "/gone/key"'), "names /gone/key, which you cannot read"),
        (lambda it: (it / "log").write_text("old\nn1 job 7 prolog: failed: no key\n"), "last line.*job 7 prolog"),
    ],
    ids=[
        "unnamed",
        "gone",
        "not to be run",
        "no iotide",
        "no settings",
        "wrong settings",
        "elsewhere",
        "no Slurm",
        "writable folder",
        "folder of old scripts",
        "no key",
        "failed collector",
    ],
)
@pytest.mark.usefixtures("cluster")
def test_broken_parts_are_named(cluster: Path, breaking: Callable[[Path], object], named: str) -> None:
    if (settings := cluster / "slurm.toml").exists() and "# connect" not in settings.read_text():
        settings.write_text(f"# connect = \n{settings.read_text()}")
    breaking(cluster)
    with pytest.raises((RuntimeError, IotideError), match=named):
        slurm_scripts(INGEST)


def test_controller_that_does_not_answer_is_named(cluster: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (cluster / "bin/scontrol").write_text("#!/bin/sh\nexec sleep 600\n")
    monkeypatch.setattr(slurm_checks, "_TIMEOUT_S", 0.1)
    with pytest.raises(BrokenError, match="slurmctld does not answer within"):
        slurm_scripts(INGEST)


def test_scripts_of_others_that_call_ours_are_left_alone(cluster: Path) -> None:
    (cluster / "own.sh").write_text("#!/bin/sh\nexec /etc/slurm/iotide/prolog.sh\n")
    (cluster / "own.sh").chmod(0o755)
    configure(cluster, f"Prolog={cluster}/pro*.sh", f"TaskProlog={cluster}/own.sh", f"Epilog={cluster}/epilog.sh")
    assert f"Prolog {cluster}/pro*.sh" in slurm_scripts(INGEST)
    configure(cluster, f"Prolog={cluster}/x*.sh", f"TaskProlog={cluster}/own.sh", f"Epilog={cluster}/epilog.sh")
    with pytest.raises(RuntimeError, match="no executable file is called"):
        slurm_scripts(INGEST)
