"""Connections to NATS servers are encrypted if configured, and both sides present certificates."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from iotide.daemon.journal.jetstream import link
from iotide.daemon.journal.jetstream.link import NatsLink
from iotide.daemon.journal.settings import JournalSettings
from iotide.events import ConfigError
from pydantic import ValidationError
from support.servers.nats_servers import NatsServers, nats_servers
from support.tracing.programs import need

TLS = """
tls {{ cert_file: "{chain}", key_file: "{key}", ca_file: "{chain}", verify: true }}
authorization {{ token: secret }}
"""


def certificate(folder: Path, name: str) -> tuple[Path, Path]:
    chain, key = folder / f"{name}.pem", folder / f"{name}.key"
    subprocess.run(
        [need("openssl"), "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
         "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1",
         "-keyout", key, "-out", chain],
        check=True,
        capture_output=True,
    )  # fmt: skip
    return chain, key


def encrypted(servers: NatsServers) -> tuple[str, ...]:
    return tuple(url.replace("nats://", "tls://") for url in servers.urls)


def connects(settings: JournalSettings) -> bool:
    found = NatsLink(settings)
    try:
        return found.client.is_connected
    finally:
        found.close()


@pytest.mark.slow
def test_servers_and_aggregators_show_certificates_to_one_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chain, key = certificate(tmp_path, "own")
    other, other_key = certificate(tmp_path, "other")
    token = tmp_path / "token"
    token.write_text("secret\n")
    with nats_servers(tmp_path / "nats", more=TLS.format(chain=chain, key=key)) as servers:
        settings = JournalSettings(
            servers=encrypted(servers), token=token, authority=chain, certificate=chain, certificate_key=key
        )
        assert connects(settings)
        monkeypatch.setattr(link, "_CONNECT_S", 2.0)  # maximum time of the retries after each refusal
        for change in (
            {"certificate": None, "certificate_key": None},
            {"certificate": other, "certificate_key": other_key},
            {"authority": other},
            {"token": None},
        ):
            with pytest.raises(ConfigError, match="no NATS server of tls://"):
                connects(settings.model_copy(update=change))
        for name in ("authority", "certificate"):
            with pytest.raises(ConfigError, match=rf"journal\.{name} = "):
                connects(settings.model_copy(update={name: tmp_path / "absent"}))


@pytest.mark.slow
def test_a_server_that_does_not_encrypt_gets_nothing_by_tls(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("secret")
    with nats_servers(tmp_path / "nats", more="authorization { token: secret }\n") as servers:
        assert connects(JournalSettings(servers=servers.urls, token=token))
        with pytest.raises(ConfigError, match="does not use TLS"):
            connects(JournalSettings(servers=encrypted(servers), token=token))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"servers": ("nats://10.1.0.1:4222",)}, "is not encrypted; use tls://"),
        ({"servers": ("tls://10.1.0.1:4222", "nats://10.1.0.2:4222")}, "is not encrypted; use tls://"),
        ({"certificate": Path("a.pem")}, "need each other: set both"),
    ],
)
def test_settings_that_would_send_in_plain_text_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises((ConfigError, ValidationError), match=message):
        JournalSettings.model_validate(options)
