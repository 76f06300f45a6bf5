"""The deployment files for a cluster work: settings, the servers' configuration, the compose file and the unit."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

import iotide
import yaml
from iotide.daemon.settings import load_settings
from support.servers.nats_servers import PROGRAM
from support.tracing.programs import need

DEPLOY = Path(iotide.__file__).parent / "deploy"
CLUSTER = DEPLOY / "cluster"


def test_members_of_the_compose_file_have_settings_that_are_taken_and_addresses_of_their_own() -> None:
    told = yaml.safe_load((CLUSTER / "compose.yml").read_text())
    members = {name: each for name, each in told["services"].items() if name.startswith("member")}
    ingests = set()
    for member in members.values():
        settings = load_settings(CLUSTER / "serve.toml", member["environment"])
        assert settings.cluster.on
        address = member["networks"]["iotide"]["ipv4_address"]
        assert settings.ingest.startswith(f"tcp://{address}:")
        assert settings.http is not None
        assert settings.http.startswith(f"{address}:")
        ingests.add(settings.ingest)
        assert set(member["depends_on"]) <= set(told["services"])
    assert len(ingests) == len(members) == 3


def test_services_of_the_compose_file_have_fixed_addresses_that_differ() -> None:
    """A container runtime gives a service without one the next free address, which may be that of a member."""
    services = yaml.safe_load((CLUSTER / "compose.yml").read_text())["services"]
    addresses = {each["networks"]["iotide"]["ipv4_address"] for each in services.values()}
    assert len(addresses) == len(services)


def test_files_and_volumes_of_the_compose_file_are_there() -> None:
    told = yaml.safe_load((CLUSTER / "compose.yml").read_text())
    named = [volume.split(":")[0] for each in told["services"].values() for volume in each["volumes"]]
    files = [name for name in named if name.startswith("./")]
    assert all((CLUSTER / name).is_file() for name in files)
    assert set(named) - set(files) == set(told["volumes"])


def test_servers_of_the_settings_are_those_of_the_compose_file() -> None:
    services = yaml.safe_load((CLUSTER / "compose.yml").read_text())["services"]
    servers = tomllib.loads((CLUSTER / "serve.toml").read_text())["journal"]["servers"]
    assert {re.findall(r"//(\w+):", server)[0] for server in servers} == {
        name for name in services if name.startswith("nats")
    }


def test_configuration_of_the_servers_is_one(tmp_path: Path) -> None:
    conf = tmp_path / "nats.conf"
    conf.write_text((CLUSTER / "nats.conf").read_text())
    told = subprocess.run(
        [PROGRAM, "-t", "-c", conf], capture_output=True, text=True, check=False, env={"HOSTNAME": "nats1"}
    )
    assert told.returncode == 0, told.stderr


def test_unit_with_the_settings_of_a_cluster_is_one(tmp_path: Path) -> None:
    unit = re.sub("^ExecStart=.*", "ExecStart=/bin/true", (DEPLOY / "systemd/iotide.service").read_text(), flags=re.M)
    (tmp_path / "iotide.service").write_text(unit)
    drop_in = tmp_path / "iotide.service.d"
    drop_in.mkdir()
    (drop_in / "cluster.conf").write_text((DEPLOY / "systemd/iotide-cluster.conf").read_text())
    told = subprocess.run(
        [need("systemd-analyze"), "verify", tmp_path / "iotide.service"], capture_output=True, text=True, check=False
    )
    assert "Unknown" not in told.stderr
    assert "cluster.conf" not in told.stderr


def test_image_of_the_members_has_the_packages_of_a_cluster() -> None:
    """The image is built from the Debian package, which has no pip."""
    project = tomllib.loads((DEPLOY.parent / "pyproject.toml").read_text())["project"]
    needed = [*project["dependencies"], *project["optional-dependencies"]["jetstream"]]
    packaged = re.findall(r"^([\w-]+)==", (DEPLOY / "debian/requirements.txt").read_text(), re.M)
    assert {re.split("[<>=]", each)[0] for each in needed} <= set(packaged)
