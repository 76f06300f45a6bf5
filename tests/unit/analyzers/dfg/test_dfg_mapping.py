"""The mapping names events as declared, each distinct (call, file) pair once, and rejects unknown names."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iotide.analyzers.dfg.naming import BEYOND, Mapper
from iotide.analyzers.dfg.spec.graph_definition import GraphDefinition
from iotide.analyzers.dfg.spec.mapping import Mapping, parse_rules
from iotide.analyzers.dfg.spec.paths import Sites, extension, normalise, pattern, top_levels
from iotide.events import ConfigError, EventBatch, FileInfo, make_batch

SITES = {"SCRATCH": "/p/scratch/ann", "HOME": "/home/*", "ANN": "/home/ann", "SOFTWARE": "/p/software"}


@dataclass
class Names:
    calls: list[str] = field(default_factory=lambda: [""])
    files: list[FileInfo] = field(default_factory=lambda: [FileInfo("")])


def events(names: Names, *pairs: tuple[str, str], **columns: object) -> EventBatch:
    """Make a batch of (call, path) pairs and number new pairs."""
    for call, path in pairs:
        if call not in names.calls:
            names.calls.append(call)
        if path not in [info.path for info in names.files]:
            names.files.append(FileInfo(path))
    paths = [info.path for info in names.files]
    return make_batch(
        len(pairs),
        {
            "call": np.array([names.calls.index(call) for call, _ in pairs], np.uint32),
            "file": np.array([paths.index(path) for _, path in pairs], np.uint32),
            **columns,  # type: ignore[dict-item]
        },
    )


def named(text: str, *pairs: tuple[str, str], **columns: object) -> list[str | None]:
    """Return the name of each event, None for filtered ones."""
    names = Names()
    mapper = Mapper(Mapping.parse(text, sites=SITES))
    activity, new = mapper.apply(events(names, *pairs, **columns), names)
    assert new == mapper.names
    return [None if number < 0 else mapper.names[number] for number in activity.tolist()]


@pytest.mark.parametrize(
    ("text", "path", "expected"),
    [
        ("call+dirs:2", "/usr/lib/x86_64-linux-gnu/libselinux.so.1", "read:/usr/lib"),
        ("call+dirs:2", "/proc/filesystems", "read:/proc/filesystems"),
        ("call+dirs:2", "/etc/locale.alias", "read:/etc/locale.alias"),
        ("call+dirs:2", "/dev/pts/7", "read:/dev/pts"),
        ("call+dirs:1", "/usr/lib/x", "read:/usr"),
        ("call+dirs:9", "/usr/lib/x", "read:/usr/lib/x"),
        ("call+dirs:2", "out/data.h5", "read:out/data.h5"),
        ("call+site", "/p/scratch/ann/ssf/out.h5", "read:$SCRATCH"),
        ("call+site:1", "/p/scratch/ann/ssf/out.h5", "read:$SCRATCH/ssf"),
        ("call+site:1", "/p/scratch/bob/ssf/out.h5", "read:/p/scratch"),
        ("call+site:0", "/home/ann/x", "read:$ANN"),
        ("call+site:0", "/home/bob/x", "read:$HOME"),
        ("call+site:0", "/homes/bob/x", "read:/homes/bob"),
        ("call+ext", "/scratch/a.tar.gz", "read:*.gz"),
        ("call+name", "/scratch/a.h5", "read:a.h5"),
        ("call+path", "//scratch///a.h5", "read:/scratch/a.h5"),
        ("call+pattern", "/scratch/out.0001", "read:/scratch/out.#"),
        ("dirs:1+call", "/scratch/a", "/scratch:read"),
        (" call + dirs:2 ", "/usr/lib/x", "read:/usr/lib"),
        ("call", "/usr/lib/x", "read"),
        ("dirs:1", "/usr/lib/x", "/usr"),
    ],
)
def test_parts_of_a_name(text: str, path: str, expected: str) -> None:
    assert named(text, ("read", path)) == [expected]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("pipe:[32661033]", "pipe"),
        ("socket:[7]", "socket"),
        ("TCP:[127.0.0.1:53014->127.0.0.1:80]", "TCP"),
        ("UNIX-STREAM:[12->13]", "UNIX-STREAM"),
        ("anon_inode:[eventfd]", "anon_inode:eventfd"),
        ("/proc/4711/status", "/proc/PID/status"),
        ("/proc/4711", "/proc/PID"),
        ("/proc/12/task/13/stat", "/proc/PID/task/TID/stat"),
        ("/proc/self/fd/9", "/proc/self/fd/N"),
        ("/proc/4711/fd/9", "/proc/PID/fd/N"),
        ("/proc/47x/status", "/proc/47x/status"),
        ("/scratch/a (deleted)", "/scratch/a"),
        ("/scratch/task/13", "/scratch/task/13"),
        ("/dev/pts/4", "/dev/pts/N"),
        ("", ""),
    ],
)
def test_numbers_of_the_kernel_are_taken_out_of_names(path: str, expected: str) -> None:
    assert normalise(path) == expected


@given(st.text(max_size=60))
@settings(deadline=None)
def test_normalising_twice_changes_nothing_more(path: str) -> None:
    assert normalise(normalise(path)) == normalise(path) or path.count(" (deleted)") > 1


def test_endings_and_patterns() -> None:
    assert [extension(path) for path in ("/a/b.h5", "/a/b.001", "/a/b", "/a/.bashrc", "/a.d/b", "b.")] == [
        "*.h5",
        "*.#",
        "*",
        "*",
        "*",
        "*",
    ]
    assert [pattern(path) for path in ("/a1/b22.c", "/s7.h5", "/s.h52")] == ["/a#/b#.c", "/s#.h5", "/s.h#"]
    assert top_levels("/", 2) == "/"


def test_event_without_the_parts_of_a_name_has_none() -> None:
    assert named("call+dirs:2", ("read", "")) == ["read"]
    assert named("dirs:2", ("read", ""), ("read", "/a/b")) == [None, "/a/b"]
    assert named("ext+dirs:1", ("read", "")) == [None]


def test_layer_and_kind_are_told_from_the_event() -> None:
    pairs = (("write", "/a/b"), ("write", "/a/b"))
    assert named("layer+call", *pairs, layer=np.array([1, 3])) == ["POSIX:write", "MPIIO:write"]
    assert named("kind+layer", *pairs, kind=np.array([8, 9]), layer=4) == ["write:HDF5", "sync:HDF5"]


def test_role_is_shared_if_several_cases_use_a_file() -> None:
    names = Names()
    mapper = Mapper(Mapping.parse("call+role"))
    batch = events(names, ("write", "/ssf"), ("write", "/fpp.0"), ("write", "/ssf"), ("write", "/fpp.1"), ("read", ""))
    activity, _ = mapper.apply(batch, names, np.array([0, 0, 1, 1, 1]))
    assert [mapper.names[number] for number in activity] == [
        "write:shared",
        "write:own",
        "write:shared",
        "write:own",
        "read",
    ]


def test_role_follows_what_is_seen_and_may_be_learnt_beforehand() -> None:
    names = Names()
    batch = events(names, ("write", "/ssf"))
    live, told = (Mapper(Mapping.parse("role")) for _ in range(2))
    told.observe(batch, np.array([0]))
    told.observe(batch, np.array([1]))
    assert [live.names[live.apply(batch, names, np.array([case]))[0][0]] for case in (0, 0, 1, 0)] == [
        "own",
        "own",
        "shared",
        "shared",
    ]
    assert told.names[told.apply(batch, names, np.array([0]))[0][0]] == "shared"


@given(
    st.lists(st.tuples(st.sampled_from(["read", "write", ""]), st.sampled_from(["", "/a/b/c", "/a/b/d", "/x.h5"]))),
    st.sampled_from(["call", "call+dirs:2", "dirs:1", "call+ext", "call+name+dirs:1"]),
    st.integers(1, 5),
)
@settings(deadline=None)
def test_mapping_in_pieces_is_mapping_at_once_and_as_naming_each_event(
    pairs: list[tuple[str, str]], text: str, piece: int
) -> None:
    mapping = Mapping.parse(text)
    names = Names()
    batch = events(names, *pairs)
    whole, parts = Mapper(mapping), Mapper(mapping)
    at_once = [whole.names[n] if n >= 0 else None for n in whole.apply(batch, names)[0].tolist()]
    told: list[str] = []
    in_pieces: list[str | None] = []
    for begin in range(0, len(pairs), piece):
        activity, new = parts.apply(batch.select(slice(begin, begin + piece)), names)
        told += new
        in_pieces += [told[n] if n >= 0 else None for n in activity.tolist()]
    naive = []
    for call, path in pairs:
        known = {"call": call, "dirs": top_levels(path, 2 if ":2" in text else 1), "ext": path and extension(path)}
        known["name"] = path.rpartition("/")[2]
        naive.append(":".join(filter(None, (known[part.split(":")[0]] for part in text.split("+")))) or None)
    assert at_once == in_pieces == naive


def test_a_name_is_made_once_for_each_pair_however_many_events_there_are() -> None:
    names = Names()
    mapping = Mapping.parse("call+dirs:2")
    mapper = Mapper(mapping)
    small = events(names, ("read", "/a/b"), ("write", "/a/c"))
    calls = 0
    original = mapper._name

    def counting(call: int, file: int) -> None:
        nonlocal calls
        calls += 1
        original(call, file)

    mapper._name = counting  # type: ignore[method-assign]
    mapper.apply(small.select(np.arange(100_000) % 2), names)
    mapper.apply(small.select(np.arange(100_000) % 2), names)
    assert calls == 2


def test_no_activity_is_called_like_a_marker() -> None:
    assert named("call", ("(start)", "/a"), ("(end)", "/a"), ("(other)", "/a")) == ["(start)'", "(end)'", "(other)'"]


def test_activities_beyond_the_bound_share_one_name_and_are_counted() -> None:
    names = Names()
    mapper = Mapper(Mapping.parse("path"), most_activities=4)
    activity, _ = mapper.apply(events(names, *(("read", f"/{n}") for n in range(10))), names)
    assert mapper.names == ["/0", "/1", "/2", BEYOND]
    assert activity.tolist() == [0, 1, 2] + [3] * 7
    assert mapper.overflowed == 7


def test_tables_of_calls_and_files_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("iotide.analyzers.dfg.naming.MAX_CELLS", 1024)
    names = Names()
    mapper = Mapper(Mapping.parse("call+path"))
    pairs = [(f"c{n % 100}", f"/{n}") for n in range(500)]
    for begin in range(0, 500, 50):
        mapper.apply(events(names, *pairs[begin : begin + 50]), names)
    assert mapper._cells.size <= 4096
    assert BEYOND in mapper.names


RULES = """
# the first rule that fits counts
checkpoint       p?write.*     /ckpt/
input:\\1         read          ^/data/(\\w+)/
{call}:rest      .*            ^/data/with space
-                read          ^/secret
metadata         stat|open     .
"""


def test_rules_name_by_call_and_path_and_drop_the_rest() -> None:
    mapping = Mapping.parse("rules:my.rules", read=lambda name: RULES)
    assert mapping.text == "rules:my.rules"
    names = Names()
    mapper = Mapper(mapping)
    pairs = [
        ("pwrite64", "/scratch/ckpt/1"),
        ("read", "/data/winter/a"),
        ("read", "/data/summer/a"),
        ("lseek", "/data/with space/a"),
        ("read", "/secret"),
        ("stat", "/x"),
        ("fstat", "/x"),
        ("stat", ""),
    ]
    activity, _ = mapper.apply(events(names, *pairs), names)
    assert [mapper.names[n] if n >= 0 else None for n in activity.tolist()] == [
        "checkpoint",
        "input:winter",
        "input:summer",
        "lseek:rest",
        None,
        "metadata",
        None,
        None,
    ]


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ("a b", r"r:1: 2 of three columns; expected ACTIVITY CALL PATH"),
        ("\n\na ( x", r"r:3: '\(' is no regular expression"),
        ("a\\2 .* (x)", r"r:1: a\\2 refers to group 2 and the path's pattern has 1"),
        ("# nothing", r"r: 0 rules; expected 1 to"),
    ],
)
def test_wrong_rules_are_refused_with_their_line(rules: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        parse_rules(rules, "r")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("call+dir:2", r"mapping 'call\+dir:2', character 6: 'dir' is no part of a name; expected call, kind"),
        ("call+", r"character 6: a part is missing"),
        ("", r"character 1: a part is missing"),
        ("call+dirs:0", r"character 11: '0' is no number of levels; expected dirs:1 to dirs:64"),
        ("dirs", r"character 5: '' is no number of levels"),
        ("call:2", r"character 5: call takes no number"),
        ("call+call", r"stands twice"),
        ("rules:", r"there is no file; expected rules:FILE"),
        ("rules:x", r"rules are not read here"),
        ("call+rules:x", r"'rules' is no part"),
        ("call+" * 9 + "call", r"too many parts"),
        ("x" * 20_000, r"too many; expected at most 2000"),
    ],
)
def test_wrong_mappings_are_refused_with_the_place(text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Mapping.parse(text)


def test_deepest_site_goes_first_and_a_literal_one_before_a_wildcard() -> None:
    sites = Sites({"P": "/p", "ANY": "/p/*", "SCRATCH": "/p/scratch", "ANN": "/p/scratch/ann"})
    places = ("/p/x", "/p/scratch/x", "/p/scratch/ann/x", "/q")
    assert [sites.split(place) for place in places] == [
        ("$ANY", []),
        ("$SCRATCH", ["x"]),
        ("$ANN", ["x"]),
        ("", []),
    ]


@pytest.mark.parametrize(("name", "folder"), [("1X", "/a"), ("X", "a"), ("X", "/"), ("", "/a")])
def test_wrong_sites_are_refused(name: str, folder: str) -> None:
    with pytest.raises(ConfigError, match="site variable"):
        Sites({name: folder})


PIECES = st.sampled_from(
    [
        "call",
        "dirs:2",
        "site",
        "+",
        ":",
        " ",
        "by",
        "rank",
        "where",
        "path=",
        "~",
        "!=",
        '"',
        ",",
        "time=1..2",
        "x",
        "[",
    ]
)


@pytest.mark.slow
@given(st.one_of(st.text(max_size=80), st.lists(PIECES, max_size=12).map("".join), st.lists(PIECES).map(" ".join)))
@settings(deadline=None, max_examples=400)
def test_any_text_is_a_view_or_a_config_error_and_a_view_prints_itself(text: str) -> None:
    try:
        view = GraphDefinition.parse(text, sites=SITES)
    except ConfigError:
        return
    again = GraphDefinition.parse(view.text, sites=SITES)
    assert (again.text, again.mapping.parts, again.case, again.filter) == (
        view.text,
        view.mapping.parts,
        view.case,
        view.filter,
    )


@given(st.text(max_size=200))
@settings(deadline=None)
def test_any_file_of_rules_is_rules_or_a_config_error(text: str) -> None:
    with contextlib.suppress(ConfigError):
        assert parse_rules(text, "r").rules


def test_view_has_defaults() -> None:
    assert GraphDefinition.parse().text == "call+dirs:2 by stream"
    assert GraphDefinition.parse("by rank").text == "call+dirs:2 by rank"
    assert GraphDefinition.parse("where rank=0").text == "call+dirs:2 by stream where rank=0"
    assert GraphDefinition.parse("layer+call by pid where path~where").text == "layer+call by pid where path~where"


@given(
    st.lists(st.tuples(st.sampled_from(["read", "open"]), st.sampled_from([f"/d{i % 3}/f{i}" for i in range(8)]))),
    st.sets(st.integers(0, 12)),
    st.sampled_from(["call", "call+dirs:1", "call+path", "call+role"]),
)
def test_activities_of_some_files_are_those_that_one_of_them_may_have(
    pairs: list[tuple[str, str]], chosen: set[int], text: str
) -> None:
    names, mapper = Names(), Mapper(Mapping.parse(text))
    batch = events(names, *pairs)
    numbers, _ = mapper.apply(batch, names, np.arange(len(batch), dtype=np.int64) % 2)
    mask = np.array([number in chosen for number in range(len(names.files))])
    found = mapper.activities_with(mask)
    assert len(found) == len(mapper.names)
    for number, file in zip(numbers.tolist(), batch.file.tolist(), strict=True):
        assert found[number] or not mask[file]
    if text == "call+path":
        for number, file in zip(numbers.tolist(), batch.file.tolist(), strict=True):
            assert found[number] == mask[file]
