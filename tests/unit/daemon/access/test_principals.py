"""The list of principals, and the mapping of a collector's messages."""

from __future__ import annotations

import os
import re
from collections import Counter
from pathlib import Path

import pytest
import zmq
from hypothesis import given
from hypothesis import strategies as st
from iotide.daemon.access.admission import Admission
from iotide.daemon.access.principals import (
    PERMISSIONS,
    Principal,
    Principals,
    PrincipalsFile,
    as_toml,
    digest,
    read_principals,
)
from iotide.daemon.access.viewer import viewer_of, viewer_of_user
from iotide.events import ConfigError, StreamInfo, empty_batch
from iotide.events.definitions import Definitions
from iotide.events.network.curve import is_public_key, make_keys, read_client_keys, read_pair, read_public
from iotide.events.network.wire import Bye, Heartbeat, Hello, decode_header, encode, encode_batch
from msgspec import msgpack

KEYS = [zmq.curve_keypair()[0].decode() for _ in range(6)]
names = st.text(st.characters(blacklist_categories=["Cs"]), min_size=1, max_size=20)
permissions = st.frozensets(st.sampled_from(sorted(PERMISSIONS)))


@given(
    st.lists(
        st.tuples(names, names | st.just(""), permissions, st.booleans()),
        max_size=len(KEYS),
        unique_by=lambda each: each[0],
    )
)
def test_list_is_read_as_it_was_written(tmp_path_factory: pytest.TempPathFactory, rows: list[tuple]) -> None:  # type: ignore[type-arg]
    listed = [
        Principal(
            name=name,
            user=user,
            may=may,
            key=KEYS[place] if has_key else None,
            token_sha256=None if has_key else digest(name),
        )
        for place, (name, user, may, has_key) in enumerate(rows)
    ]
    path = tmp_path_factory.mktemp("list") / "principals.toml"
    path.write_bytes(as_toml(listed).encode())
    assert read_principals(path).listed == tuple(listed)


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("[[principal]]\nname = 'a'\nmay = ['fly']", "principal.0.may"),
        ("[[principal]]\nname = 'a'\nmay = []\nkey = 'short'", "40 characters"),
        ("[[principal]]\nname = 'a'\nmay = []\ntoken_sha256 = 'short'", "token_sha256"),
        ("[[principal]]\nmay = []", "name"),
        ("[[principal]]\nname = 'a'\nmay = []\n[[principal]]\nname = 'a'\nmay = []", "two principals are called 'a'"),
        (
            f"[[principal]]\nname='a'\nmay=[]\nkey='{KEYS[0]}'\n[[principal]]\nname='b'\nmay=[]\nkey='{KEYS[0]}'",
            "the same key",
        ),
        ("[[user]]\nname = 'a'", "user"),
        ("principal = 5", "principal"),
        ("not toml", "principals.toml"),
        ("x = '\xff'", "principals.toml"),
    ],
)
def test_wrong_list_is_refused_with_where_and_why(tmp_path: Path, text: str, wrong: str) -> None:
    path = tmp_path / "principals.toml"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(ConfigError, match=wrong) as told:
        read_principals(path)
    assert str(path) in str(told.value)


def test_list_is_read_again_when_it_has_changed(tmp_path: Path) -> None:
    path = tmp_path / "principals.toml"
    path.touch()
    file = PrincipalsFile(path)
    assert not file.reload()
    path.write_text(as_toml([Principal(name="a", key=KEYS[0], may=frozenset({"collect"}))]))
    assert file.reload()
    assert file.with_key(KEYS[0]) is not None
    path.write_text("broken")
    assert not file.reload()
    path.unlink()
    assert not file.reload()
    assert file.with_key(KEYS[0]) is not None


def test_keys_are_written_once_and_read_back(tmp_path: Path) -> None:
    public, secret = make_keys(tmp_path, "peer")
    assert read_pair(secret).public == read_public(public)
    assert is_public_key(read_public(public).decode())
    with pytest.raises(ConfigError, match="there already"):
        make_keys(tmp_path, "peer")
    with pytest.raises(ConfigError, match="no secret key"):
        read_pair(public)
    with pytest.raises(ConfigError, match="both keys"):
        read_client_keys(secret, None)
    secret.chmod(0o640)
    with pytest.raises(ConfigError, match="is accessible to other users"):
        read_pair(secret)


@pytest.mark.parametrize(
    "content", [b"", b"nonsense", b'curve\n    public-key = "short"\n', b"\xff" * 100, b"x" * 70_000]
)
def test_file_that_has_no_keys_is_rejected(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "k.key_secret"
    path.write_bytes(content)
    path.chmod(0o600)
    with pytest.raises(ConfigError, match=str(path)):
        read_pair(path)


@pytest.mark.parametrize("name", ["none.key", ".", "pipe"])
def test_path_that_is_no_file_is_rejected_without_waiting(tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ConfigError, match=re.escape(str(tmp_path))):
        read_public(tmp_path / name)


def admission(users: dict[str, str], counted: Counter[str]) -> Admission:
    def count(reason: str) -> None:
        counted[reason] += 1

    return Admission(users.get, count)


def hello(job: str, user: str = "root") -> list:  # type: ignore[type-arg]
    return encode(Hello(collector="c", stream="s", info=StreamInfo(job=job, source="test", user=user)))


def test_user_of_a_stream_is_the_key_s_and_a_node_is_believed() -> None:
    frames, answer = admission({}, Counter()).admit("alice", hello("4711"))
    said = decode_header(frames[0])
    assert isinstance(said, Hello)
    assert (said.info.user, said.info.job, answer) == ("alice", "4711", [])
    untouched = hello("4711")
    assert admission({}, Counter()).admit("", untouched) == (untouched, [])


def test_node_may_restrict_a_message_to_the_rights_of_a_user() -> None:
    judge = admission({"his": "bob", "hers": "alice"}, Counter())
    info = StreamInfo(job="his", source="test", user="alice")
    frames, _ = judge.admit("", encode(Hello(collector="c", stream="s", info=info, as_user="alice")))
    accepted = decode_header(frames[0])
    assert isinstance(accepted, Hello)
    assert (accepted.info.user, accepted.info.job) == ("alice", "his@alice")
    beat = Heartbeat(collector="c", losses={"his": {"x": 1}, "hers": {"y": 2}}, as_user="alice")
    frames, _ = judge.admit("", encode(beat))
    accepted = decode_header(frames[0])
    assert isinstance(accepted, Heartbeat)
    assert accepted.losses == {"his@alice": {"x": 1}, "hers": {"y": 2}}
    frames, _ = judge.admit("mallory", encode(Hello(collector="c", stream="s", info=info, as_user="bob")))
    accepted = decode_header(frames[0])
    assert isinstance(accepted, Hello)
    assert (accepted.info.user, accepted.info.job) == ("mallory", "his@mallory")  # a user's key has no other rights


@pytest.mark.parametrize(
    ("users", "job"),
    [
        ({}, "4711"),
        ({"4711": ""}, "4711"),
        ({"4711": "alice"}, "4711"),
        ({"4711": "bob"}, "4711@alice"),
        ({"4711": "alice", "4711@alice": "alice"}, "4711@alice"),  # the other user's job has ended by now
        ({"4711": "bob", "4711@alice": "bob"}, "4711@alice@alice"),  # bob has chosen this name
        ({"4711": "bob", "4711@alice": "bob", "4711@alice@alice": "alice"}, "4711@alice@alice"),
    ],
)
def test_job_of_another_user_is_none_of_it(users: dict[str, str], job: str) -> None:
    counted: Counter[str] = Counter()
    frames, _ = admission(users, counted).admit("alice", hello("4711"))
    said = decode_header(frames[0])
    assert isinstance(said, Hello)
    assert said.info.job == job
    assert counted["job_of_another"] == (job != "4711")


def test_losses_are_told_of_own_jobs_alone() -> None:
    beat = encode(Heartbeat(collector="c", losses={"his": {"x": 1}, "hers": {"y": 2}}))
    frames, _ = admission({"his": "bob", "hers": "alice"}, Counter()).admit("alice", beat)
    said = decode_header(frames[0])
    assert isinstance(said, Heartbeat)
    assert said.losses == {"his@alice": {"x": 1}, "hers": {"y": 2}}


def test_revoked_key_is_answered_and_counted() -> None:
    counted: Counter[str] = Counter()
    frames, answer = admission({}, counted).admit(None, hello("4711"))
    assert (list(frames), counted["revoked"]) == ([], 1)
    assert answer


def test_batches_pass_untouched_and_everything_else_is_read() -> None:
    """A header that resembles a batch's at first must not carry a HELLO past the check."""
    judge = admission({"4711": "bob"}, Counter())
    batch = encode_batch("s", 1, empty_batch(), Definitions())
    assert judge.admit("alice", batch) == (batch, [])
    bye = encode(Bye(stream="s", last_seq=1))
    assert judge.admit("alice", bye) == (bye, [])
    fields = msgpack.decode(hello("4711")[0])
    for disguised in (
        {"x": b"\xa4type\xa5batch"} | fields,
        dict(reversed(fields.items())),
        {"\x01type": "batch"} | fields,
    ):
        frames, _ = judge.admit("alice", [msgpack.encode(disguised)])
        said = decode_header(frames[0])
        assert isinstance(said, Hello)
        assert said.info.job == "4711@alice"


@given(st.binary(max_size=64))
def test_any_bytes_are_passed_on_or_refused_and_never_raise(frame: bytes) -> None:
    frames, answer = admission({}, Counter()).admit("alice", [frame])
    assert frames or answer


def test_doubled_type_is_read_as_the_wire_reads_it() -> None:
    """A map with two keys ``type`` is the same message for both readers."""
    body = msgpack.encode(msgpack.decode(hello("4711")[0]))
    assert body[1:6] == b"\xa4type"
    doubled = bytes([body[0] + 1]) + b"\xa4type\xa5batch" + body[1:]
    frames, _ = admission({"4711": "bob"}, Counter()).admit("alice", [doubled])
    if not isinstance(said := _decoded(frames[0]), Hello):
        return
    assert said.info.job == "4711@alice"


def _decoded(frame: bytes) -> object:
    from iotide.events import ProtocolError

    try:
        return decode_header(frame)
    except ProtocolError:
        return None


@pytest.mark.parametrize(
    ("may", "own", "sees", "scrapes", "operates"),
    [
        ({"read"}, True, (True, False), False, False),
        ({"read"}, False, (True, True), False, False),
        ({"operate"}, True, (True, True), True, True),
        ({"metrics"}, True, (False, False), True, False),
        ({"collect"}, False, (False, False), False, False),
    ],
)
def test_visible_jobs_of_a_principal(
    may: set[str], own: bool, sees: tuple[bool, bool], scrapes: bool, operates: bool
) -> None:
    found = viewer_of(Principal(name="a", user="alice", may=frozenset(may)), own=own)  # type: ignore[arg-type]
    assert (found.sees("alice"), found.sees("bob")) == sees
    assert (found.may_scrape, found.may_operate) == (scrapes, operates)


def test_job_without_an_owner_is_visible_to_operators_only() -> None:
    user = viewer_of_user("alice", is_operator=False, own=True)
    assert (user.sees("alice"), user.sees(""), user.may_scrape) == (True, False, False)
    assert viewer_of_user("alice", is_operator=True, own=True).sees("")
    nameless = viewer_of(Principal(name="a", may=frozenset({"read"})), own=True)
    assert not nameless.sees("")


def test_token_is_found_by_its_check_sum() -> None:
    principals = Principals([Principal(name="a", token_sha256=digest("secret"), may=frozenset({"read"}))])
    assert principals.with_token("secret") is not None
    assert principals.with_token(digest("secret")) is None
