"""Paths that are no files, and texts that are not UTF-8: a clear error or whole results, without traceback or delay."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from iotide.cli.main import group
from iotide.collectors.settings import TracerSettings
from iotide.collectors.source import Origin
from iotide.collectors.sources.preload.source import PreloadSource
from iotide.collectors.tracer.preload_environment import traced_environment
from iotide.events import ConfigError, InputError, IotideError
from iotide.events.files import read_text, write_text
from iotide.results.jobs.run import RunSummary
from support.system.commands import IOTIDE, plain_environment
from support.system.waiting import DEADLINE_S
from support.tracing.programs import need

LINES = "".join(f'{{"call": "write", "path": "/s/f", "start": {at}, "dur": 0.5, "size": 1000}}\n' for at in range(20))
LONG = "a" * 5000
UNREADABLE = ("pipe", "/dev/zero", "folder", LONG)
UNWRITABLE = ("pipe.html", "device.html", f"{LONG}.html", "good.jsonl/x.html")
ODD = os.fsdecode(b"a\xff\xfeb")
PLACES = (
    "argument",
    "program",
    "static program",
    "current folder",
    "output",
    "file",
    "job",
    "user",
    "batch",
    "node",
    "temporary folder",
    "locale",
    "job in locale",
)
VARIABLES = {
    "user": {"USER": ODD, "LOGNAME": ODD},
    "batch": {"SLURM_JOB_ID": "5"}
    | dict.fromkeys(("SLURM_JOB_NAME", "SLURM_JOB_ACCOUNT", "SLURM_JOB_PARTITION", "SLURM_CLUSTER_NAME"), ODD),
    "node": {"SLURMD_NODENAME": ODD},
    "job in locale": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    "locale": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
}
ODD_NAMES = (b"no \xff.jsonl", b"new\nline.jsonl", b"[a]*.jsonl")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "good.jsonl").write_text(LINES)
    for name in ("pipe", "pipe.html"):
        os.mkfifo(tmp_path / name)
    (tmp_path / "device.html").symlink_to("/dev/full")
    (tmp_path / "folder").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*words: str | bytes) -> Result:
    """Run a command as ``iotide`` does."""
    done = CliRunner().invoke(group, [os.fsdecode(word) for word in words])
    assert isinstance(done.exception, SystemExit | IotideError | None), done.exception
    return done


@pytest.mark.parametrize("path", UNREADABLE)
@pytest.mark.parametrize(
    "words", [("preload", "check"), ("simulate", "--mix"), ("dfg", "good.jsonl", "--baseline")], ids=" ".join
)
def test_unreadable_input_is_reported(words: tuple[str, ...], path: str) -> None:
    done = run(*words, path)
    assert isinstance(done.exception, IotideError) or (done.exit_code == 2 and done.stderr.strip()), done.output


@pytest.mark.parametrize("path", UNREADABLE)
def test_library_that_cannot_be_read_is_told(here: Path, path: str) -> None:
    with pytest.raises(ConfigError, match="cannot read"):
        traced_environment({}, here / "socket", "job", TracerSettings(libraries=(Path(path),)))


@pytest.mark.parametrize(
    "words",
    [
        ("keys", "allow", "list", "--name", ODD, "--key", "x" * 40, "--user", ODD, "--may", "collect"),
        ("keys", "token", "list", "--name", ODD, "--user", ODD, "--may", "read"),
        ("keys", "revoke", "list", ODD),
        ("keys", "vouch", "none.key_secret", "--job", ODD, "--user", ODD, "--account", ODD),
        ("slurm", "scripts", ODD),
        ("slurm", "scripts", "folder", "--config", ODD),
        ("schedule", "http://127.0.0.1:1", "--file-system", ODD, "--once"),
        (
            "schedule",
            "http://127.0.0.1:1",
            "--file-system",
            "a",
            "--backend",
            "cgroup",
            "--groups",
            ODD,
            "--device",
            "1:1",
        ),
        ("schedule", "http://127.0.0.1:1", "--file-system", "a", "--policy", ODD),
        ("simulate", "--class", "1x10", "--policy", ODD),
        ("simulate", "--class", ODD),
        ("simulate", "--class", "1x10", "--plot", ODD),
        ("dfg", "--filter", f"path={ODD}", "good.jsonl"),
        ("dfg", "--map", ODD, "good.jsonl"),
        ("dfg", "--site", f"X=/{ODD}", "--map", "call+site", "good.jsonl"),
        ("dfg", "--compare", ODD, ODD, "good.jsonl"),
        ("dfg", "--timeline", ODD, "good.jsonl"),
        ("layers", "--filter", f"path={ODD}", "good.jsonl"),
        ("detect", "--data", f"/{ODD}", "--from", ODD, "good.jsonl"),
        ("analyze", ODD, "good.jsonl"),
        ("analyze", "heatmap", "--set", f"{ODD}=1", "good.jsonl"),
        ("rank", "--background", ODD, "good.jsonl"),
        ("watch", "--connect", f"ipc:///tmp/{ODD}"),
        ("serve", "--ingest", f"ipc://{ODD}", "--state", "none"),
        ("contention", f"http://{ODD}"),
        ("advise", f"http://127.0.0.1:1/jobs/{ODD}"),
    ],
    ids=" ".join,
)
def test_texts_that_are_not_utf_8_are_used_or_refused(words: tuple[str, ...]) -> None:
    run("keys", "new", "none")
    run(*words)


@pytest.mark.parametrize("path", UNWRITABLE)
@pytest.mark.parametrize(
    "words", [("layers", "-o"), ("rank", "-o"), ("detect", "--plot"), ("archive", "create", "-o")], ids=" ".join
)
def test_unwritable_output_is_reported_and_left_unchanged(here: Path, words: tuple[str, ...], path: str) -> None:
    done = run(*words, path, "good.jsonl")
    assert done.exit_code == 2
    assert stat.S_ISCHR((here / "device.html").stat().st_mode)
    assert stat.S_ISFIFO((here / "pipe.html").stat().st_mode)


@pytest.mark.parametrize("path", [LONG, "good.jsonl/x"])
def test_socket_that_cannot_be_made_is_told(here: Path, path: str) -> None:
    with pytest.raises(InputError):
        PreloadSource(here / path, Origin("job"))


@pytest.mark.parametrize("path", ["pipe", LONG, "folder"])
def test_text_that_cannot_be_written_is_told_without_a_wait(here: Path, path: str) -> None:
    with pytest.raises(OSError, match=r"pipe|too long|directory"):
        write_text(here / path, "text")


def test_pipe_with_a_writer_is_read() -> None:
    reading, writing = os.pipe()
    os.write(writing, b"text")
    os.close(writing)
    try:
        assert read_text(Path(f"/proc/self/fd/{reading}")) == "text"
    finally:
        os.close(reading)


def test_longest_names_are_written() -> None:
    assert run("rank", "-o", "x" * 250 + ".html", "good.jsonl").exit_code == 0
    assert run("archive", "create", "-o", "y" * 255, "good.jsonl").exit_code == 0


@pytest.mark.parametrize("name", ODD_NAMES)
@pytest.mark.parametrize(
    "words",
    [
        ("detect", "--json"),
        ("dfg", "--json"),
        ("layers", "--json"),
        ("rank", "--json"),
        ("archive", "create", "-o", "made.iotide"),
        ("archive", "convert", "-o", "made.jsonl"),
    ],
    ids=lambda words: words[0] + words[1],
)
def test_files_of_all_names_are_read(words: tuple[str, ...], name: bytes) -> None:
    Path(os.fsdecode(name)).write_text(LINES)
    assert run(*words, "--", name).exit_code == 0


@pytest.mark.parametrize("name", ODD_NAMES)
@pytest.mark.parametrize(
    "words",
    [
        ("detect",),
        ("dfg",),
        ("layers",),
        ("rank",),
        ("advise",),
        ("analyze", "heatmap"),
        ("simulate",),
        ("archive", "convert", "-o", "made.json"),
        ("archive", "info"),
        ("archive", "verify"),
    ],
    ids=" ".join,
)
def test_results_on_files_of_all_names_are_json_in_utf8(words: tuple[str, ...], name: bytes) -> None:
    """The name is in results and in problems: the file has a line that is no call."""
    Path(os.fsdecode(name)).write_text(LINES + "no call\n")
    if words[-1] in ("info", "verify"):
        name = name.replace(b".jsonl", b".iotide")
        run("archive", "create", "-o", name, "good.jsonl")
    done = run(*words, "--json", "--", name)
    assert done.exit_code in (0, 1), done.output
    json.dumps(json.loads(done.stdout), ensure_ascii=False).encode()  # no surrogate


@pytest.mark.parametrize(
    "variables",
    [{"PYTHONIOENCODING": "utf-8:strict"}, {"PYTHONIOENCODING": "latin-1:strict"}, VARIABLES["locale"]],
    ids=("utf-8", "latin-1", "ascii"),
)
@pytest.mark.parametrize("words", [("detect",), ("layers",), ("advise",), ("archive", "create", "-o", "made.iotide")])
def test_names_that_the_encoding_of_the_output_lacks_are_printed(
    words: tuple[str, ...], variables: dict[str, str]
) -> None:
    name = os.fsdecode("a\u00fc\u2603".encode() + b"\xff.jsonl")
    Path(name).write_text(LINES.replace("/s/f", "/s/\u2603"), encoding="utf-8")
    done = subprocess.run(
        [*IOTIDE, *words, name],
        env=plain_environment() | variables,
        capture_output=True,
        check=False,
        timeout=DEADLINE_S,
    )
    assert done.returncode == 0, done.stderr
    assert b"Traceback" not in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "variables"), [(b"a\xff", {}), (b"\xc3\xbc", VARIABLES["locale"])], ids=("utf-8", "ascii")
)
@pytest.mark.parametrize(
    "words",
    [
        *(("archive", "convert", "-o", ending) for ending in (".otf2", ".json", ".parquet", ".jsonl", ".h5")),
        *(("dfg", "--log", ending) for ending in (".csv", ".h5", ".xes", ".parquet")),
    ],
    ids=" ".join,
)
def test_files_of_all_names_are_written_and_read_again(
    words: tuple[str, ...], name: bytes, variables: dict[str, str]
) -> None:
    """Other libraries write and read some of them, and encode their names."""
    Path("trace.jsonl").write_text(
        LINES.replace("/s/f", "/s/\u00fc").replace('"call"', '"host": "\u00fc", "call"'), encoding="utf-8"
    )
    file = name + words[-1].encode()
    for command in ([*words[:-1], file, "trace.jsonl"], ["detect", file]):
        done = subprocess.run(
            [*IOTIDE, *command],
            env=plain_environment() | variables,
            capture_output=True,
            check=False,
            timeout=DEADLINE_S,
        )
        assert done.returncode == 0, done.stderr
    assert b"\n" in done.stdout


@pytest.mark.parametrize("name", ODD_NAMES)
def test_jobs_of_all_names_are_archived(name: bytes) -> None:
    assert run("archive", "create", "--job", name, "-o", "made.iotide", "good.jsonl").exit_code == 0
    assert run("archive", "verify", "made.iotide").exit_code == 0


@pytest.mark.parametrize("variables", [{}, VARIABLES["locale"]], ids=("utf-8", "ascii"))
@pytest.mark.parametrize("name", [b"a\xff", b"\xc3\xbc"])
def test_environment_has_the_socket_in_every_locale(here: Path, name: bytes, variables: dict[str, str]) -> None:
    done = subprocess.run(
        [*IOTIDE, "collect", "--socket", name, "--print-environment"],
        env=plain_environment() | variables,
        capture_output=True,
        check=False,
        timeout=DEADLINE_S,
    )
    assert done.returncode == 0, done.stderr
    assert b"IOTIDE_SOCKET=" + bytes(here) + b"/" + name in done.stdout.splitlines()


def test_environment_that_env_cannot_pass_on_is_not_printed_in_part() -> None:
    refused = run("collect", "--socket", "gate", "--job", "a b", "--print-environment")
    assert refused.stdout == ""
    assert isinstance(refused.exception, ConfigError | SystemExit)


def program_in(place: str, folder: Path) -> str:
    """Return the path of a shell, which has an odd name if that is the place."""
    if place == "program":
        return shutil.copy(need("sh"), folder / ODD)
    if place == "static program":
        (folder / "program.c").write_text('#include <stdio.h>\nint main(void) { fputs("text", fopen("data", "w")); }\n')
        subprocess.run([need("cc"), "-static", "program.c", "-o", "program"], cwd=folder, check=True)
        return str((folder / "program").rename(folder / ODD / "program"))
    return need("sh")


@pytest.mark.parametrize("place", PLACES)
def test_text_that_is_not_utf_8_costs_no_results(place: str, tmp_path: Path) -> None:
    for name in ("plain", ODD):
        (tmp_path / name).mkdir()
    (tmp_path / "\u00fc").mkdir()
    where = {other: ODD if other == place else "plain" for other in ("current folder", "output", "file")}
    if place == "locale":
        where["output"] = "\u00fc"
    output, document = tmp_path / where["output"] / "out", tmp_path / "run.json"
    name = {"job": ODD, "job in locale": "\u00fc"}.get(place, "job")
    job = ["--job", name] if place != "batch" else []
    last = {"argument": ODD, "locale": "\u00fc"}.get(place, "last")
    command = [
        program_in(place, tmp_path),
        "-c",
        'echo text > "$1"',
        "sh",
        str(tmp_path / where["file"] / "data"),
        last,
    ]
    variables = VARIABLES.get(place, {"TMPDIR": str(tmp_path / ODD)} if place == "temporary folder" else {})
    done = subprocess.run(
        [*IOTIDE, "run", "-o", str(output), "--json", str(document), *job, "--", *command],
        cwd=tmp_path / where["current folder"],
        env=plain_environment() | variables,
        capture_output=True,
        check=False,
        timeout=DEADLINE_S,
    )
    assert done.returncode == 0, done.stderr
    assert all(line.startswith(b"iotide: ") for line in done.stderr.splitlines()), done.stderr
    assert b"could not be summarized" not in done.stderr
    text = document.read_bytes().decode()
    json.dumps(json.loads(text), ensure_ascii=False).encode()  # no surrogate, also not an escaped one
    summary = RunSummary.model_validate_json(text)
    assert (output / "report.html").read_bytes().decode()
    if place != "static program":
        assert summary.job.bytes_written == 5
        assert not summary.job.losses
        assert len(list(output.glob("*.iotide"))) == 1
