"""Validation of endpoints, compared with ZeroMQ."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import zmq
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from iotide.cli.main import group
from iotide.clients.subscriber import Subscriber
from iotide.collectors.settings import CollectorSettings, FtioSettings
from iotide.daemon.settings import AggregatorSettings, load_settings
from iotide.events import ConfigError
from iotide.events.network.endpoints import check_address, check_endpoint, is_ipv6

WRONG = [
    "tcp://127.0.0.1:99999",
    "tcp://127.0.0.1:65536",
    "tcp://127.0.0.1:-1",
    "tcp://127.0.0.1:1x",
    "tcp://127.0.0.1:",
    "tcp://127.0.0.1:٣",
    "tcp://127.0.0.1",
    "tcp://:9787",
    "tcp://a b:9787",
    "tcp://a@b:9787",
    "tcp://[127.0.0.1:9787",
    "tcp://[::g]:9787",
    "tcp://127.0.0.1:9787/x",
    "ipc://",
    "ipc:///tmp/\0",
    "ipc:///" + "x" * 107,
    "udp://127.0.0.1:9787",
    "127.0.0.1:9787",
    "",
]
SETTINGS: list[tuple[type[Any], str, dict[str, str]]] = [
    (AggregatorSettings, "ingest", {}),
    (AggregatorSettings, "publish", {}),
    (AggregatorSettings, "ftio_listen", {}),
    (AggregatorSettings, "ftio_reply", {"ftio_listen": "tcp://127.0.0.1:5555"}),
    (CollectorSettings, "endpoint", {}),
    (FtioSettings, "endpoint", {}),
]


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize(("settings", "name", "others"), SETTINGS, ids=lambda each: getattr(each, "__name__", each))
def test_setting_that_is_no_endpoint_is_refused_by_its_name(
    settings: type[Any], name: str, others: dict[str, str], wrong: str
) -> None:
    with pytest.raises(ConfigError, match=f"^{name}: "):
        settings(**{name: wrong} | others)


@pytest.mark.parametrize("wrong", WRONG)
def test_subscriber_refuses_it_too(wrong: str) -> None:
    with pytest.raises(ConfigError):
        Subscriber(wrong)


@pytest.mark.parametrize("wrong", ["127.0.0.1:99999", "127.0.0.1:²", "127.0.0.1", ":9788", "*:9788", "", "a b:1"])
def test_address_of_http_that_is_none_is_refused(wrong: str) -> None:
    with pytest.raises(ConfigError, match=r"^http: "):
        AggregatorSettings(http=wrong)


@pytest.mark.parametrize("wrong", ["tcp://127.0.0.1:0", "tcp://127.0.0.1:*", "tcp://*:9787"])
def test_only_listening_endpoints_may_omit_address_or_port(wrong: str) -> None:
    check_endpoint(wrong)
    with pytest.raises(ConfigError, match="to connect to"):
        CollectorSettings(endpoint=wrong)


@pytest.mark.parametrize(
    ("right", "six"),
    [
        ("tcp://127.0.0.1:9787", False),
        ("tcp://[::1]:9787", True),
        ("tcp://[fe80::1%eth0]:9787", True),
        ("tcp://login_1.cluster-x.example:1", False),
        ("tcp://10.0.0.2:0;10.0.0.1:65535", False),
        ("ipc://@abstract", False),
        ("ipc:///tmp/with a space", False),
        ("inproc://x", False),
    ],
)
def test_endpoints_that_are_some(right: str, six: bool) -> None:
    check_endpoint(right, connects=True)
    assert is_ipv6(right) is six


@given(st.integers(-(10**6), 10**6))
def test_port_is_one_exactly_where_it_fits_sixteen_bits(port: int) -> None:
    if 0 <= port <= 65535:
        assert check_address(f"localhost:{port}") == ("localhost", port)
        check_endpoint(f"tcp://127.0.0.1:{port}")
    else:
        for check, text in ((check_address, f"localhost:{port}"), (check_endpoint, f"tcp://127.0.0.1:{port}")):
            with pytest.raises(ConfigError):
                check(text)


@given(st.text(max_size=40) | st.text("tcpi:/[]*;.0123456789af-", max_size=30).map("tcp://".__add__))
def test_text_that_passes_is_taken_by_zeromq_and_other_text_is_an_error_of_configuration(text: str) -> None:
    try:
        check_endpoint(text, connects=True)
    except ConfigError:
        return
    if text.startswith("inproc") or "%" in text:
        return
    with zmq.Context() as context, context.socket(zmq.PULL) as socket:
        socket.linger = 0
        socket.setsockopt(zmq.IPV6, is_ipv6(text))
        socket.connect(text)


@pytest.mark.parametrize(
    "command",
    [
        ["serve", "--ingest", "tcp://127.0.0.1:99999"],
        ["serve", "--publish", "tcp://127.0.0.1:99999"],
        ["serve", "--http", "127.0.0.1:99999"],
        ["serve", "--ftio-listen", "tcp://127.0.0.1:99999"],
        ["collect", "--connect", "tcp://127.0.0.1:99999", "trace"],
        ["collect", "--ftio-listen", "tcp://127.0.0.1:99999"],
        ["watch", "--connect", "tcp://127.0.0.1:99999"],
        ["run", "--publish", "tcp://127.0.0.1:99999", "--no-report", "--", "true"],
        ["run", "--listen", "127.0.0.1:99999", "--no-report", "--", "true"],
    ],
    ids=lambda command: " ".join(command[:2]),
)
def test_command_refuses_a_port_that_is_none(command: list[str], tmp_path: Path) -> None:
    (tmp_path / "trace").write_text("")
    done = CliRunner().invoke(group, [each.replace("trace", str(tmp_path / "trace")) for each in command])
    assert isinstance(done.exception, ConfigError), done.output
    assert "'99999' is no port" in str(done.exception)


def test_wrong_endpoint_in_the_environment_is_named() -> None:
    with pytest.raises(ConfigError, match=r"^publish: "):
        load_settings(None, {"IOTIDE_SERVE_PUBLISH": "tcp://127.0.0.1:99999"})
