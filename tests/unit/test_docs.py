"""The documentation is true: options, links, commands, rules."""

from __future__ import annotations

import ast
import contextlib
import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import click
import iotide
import pytest
from iotide.analyzers.registry import ANALYZERS
from iotide.cli.main import COMMANDS, group
from iotide.cli.slurm.settings import SlurmSettings, slurm_settings
from iotide.clients.schedulers.mix_file import read_mix
from iotide.collectors.settings import CollectorSettings, FtioSettings, SpoolSettings, TracerSettings
from iotide.daemon.access.projects import read_projects
from iotide.daemon.settings import ENVIRONMENT_PREFIX, AggregatorSettings, load_settings
from pydantic import BaseModel
from support.tracing.programs import need

ROOT = Path(iotide.__file__).parent
SETTINGS: list[type[BaseModel]] = [
    AggregatorSettings,
    CollectorSettings,
    FtioSettings,
    SpoolSettings,
    TracerSettings,
    SlurmSettings,
]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def options_of(model: type[BaseModel], prefix: str = "") -> list[tuple[str, str]]:
    """Return (dotted name, description) of all options."""
    found: list[tuple[str, str]] = []
    for name, field in model.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            found += options_of(field.annotation, f"{prefix}{name}.")
        else:
            found.append((prefix + name, field.description or ""))
    return found


@pytest.mark.parametrize("model", SETTINGS)
def test_every_option_has_a_sentence_and_stands_in_the_reference(model: type[BaseModel]) -> None:
    reference = (ROOT / "docs/configuration.md").read_text()
    for name, description in options_of(model):
        assert description, name
        assert f"| `{name}` |" in reference, name
        assert description in reference, name


def test_the_reference_names_no_option_that_is_gone() -> None:
    known = {name for model in SETTINGS for name, _ in options_of(model)}
    named = set(re.findall(r"^\| `([a-z][a-z_.]*)` \|", (ROOT / "docs/configuration.md").read_text(), re.MULTILINE))
    assert named == known


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
        assert (page.parent / target).exists(), target


@pytest.mark.parametrize("name", ["security.md", "reliability.md"])
def test_tests_that_a_page_names_exist(name: str) -> None:
    files = sorted((ROOT / "tests").rglob("test_*.py"))
    known = {path.name for path in files} | {
        each for path in files for each in re.findall(r"^(?:async )?def (test_\w+)", path.read_text(), re.MULTILINE)
    }
    named = re.findall(r"`(?:[\w/]*/)?(test_\w+(?:\.py)?)`", (ROOT / "docs" / name).read_text())
    assert len(named) > 5
    assert set(named) <= known


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_in_examples_exist(page: Path) -> None:
    for block in re.findall(r"^```\w*\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL):
        for name in re.findall(r"^(?:\$ )?iotide ([a-z]+)", block, re.MULTILINE):
            assert name in COMMANDS, name


def test_examples_are_valid_python() -> None:
    for example in sorted((ROOT / "docs/examples").glob("*.py")):
        ast.parse(example.read_text())


def test_alert_rules_are_valid_and_use_metrics_that_exist() -> None:
    from iotide.daemon.publish.all_families import FAMILIES

    rules = ROOT / "deploy/prometheus/rules.yml"
    subprocess.run([need("promtool"), "check", "rules", rules], check=True, capture_output=True)
    recorded = set(re.findall(r"record: \w+:(iotide_\w+):", rules.read_text()))
    metrics = (ROOT / "docs/metrics.md").read_text()  # test_http_serving.py tests those of members
    members = set(re.findall(r"^\| `(iotide_cluster_\w+)`", metrics, re.MULTILINE))
    assert set(re.findall(r"iotide_\w+", rules.read_text())) <= set(FAMILIES) | recorded | members


@pytest.mark.slow
def test_alert_rules_alert_when_they_are_to() -> None:
    tests = ROOT / "deploy/prometheus/rules_test.yml"
    done = subprocess.run([need("promtool"), "test", "rules", tests], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    rules, tried = (tests.with_name("rules.yml").read_text(), tests.read_text())
    assert set(re.findall(r"- alert: (\w+)", rules)) == set(re.findall(r"alertname: (\w+)\n\s+exp_alerts", tried))
    assert set(re.findall(r"- record: (\S+)", rules)) == set(re.findall(r"- expr: (\S+)", tried))


def test_each_alert_has_its_runbook() -> None:
    rules, runbooks = (ROOT / "deploy/prometheus/rules.yml").read_text(), (ROOT / "docs/runbooks.md").read_text()
    alerts = re.findall(r"- alert: (\w+)", rules)
    assert re.findall(r"runbook_url: runbooks\.md#(\w+)", rules) == [alert.lower() for alert in alerts]
    assert set(re.findall(r"^## (\w+)$", runbooks, re.MULTILINE)) == set(alerts)


_BLOCK = re.compile(r"^( *)```(\w*)\n(.*?)^\1```", re.MULTILINE | re.DOTALL)
_SHELL = ("", "sh", "bash", "console")
_SETTINGS_FILE = re.compile(r"^# (/\S+\.toml)\b.*\n", re.MULTILINE)
_LOADERS = {
    "serve.toml": lambda path: load_settings(path, {}),
    "projects.toml": read_projects,
    "slurm.toml": lambda path: slurm_settings(path, required=True),
    "mix.toml": read_mix,
}
_VARIABLE = re.compile(rf"\b({ENVIRONMENT_PREFIX}[A-Z0-9_]+=(?:'[^']*'|\"[^\"]*\"|[^\s`,;)]+))")
_PUNCTUATION = "|&;()<>"


def blocks(page: Path, languages: tuple[str, ...]) -> list[str]:
    """Return the code blocks in some languages."""
    return [text for _, language, text in _BLOCK.findall(page.read_text()) if language in languages]


def settings_files(page: Path) -> Iterator[tuple[str, str]]:
    """Yield name and content of each settings file that a page shows; a comment with a path begins a file."""
    for block in blocks(page, ("toml",)):
        unnamed, *named = _SETTINGS_FILE.split(block)
        if unnamed.strip():
            yield "mix.toml" if "[[class]]" in unnamed else "serve.toml", unnamed
        for path, text in zip(named[::2], named[1::2], strict=True):
            yield Path(path).name, text


@pytest.mark.parametrize(
    ("name", "text"),
    [
        pytest.param(*example, id=f"{page.stem}-{number}-{example[0]}")
        for page in PAGES
        for number, example in enumerate(settings_files(page))
    ],
)
def test_examples_of_settings_load(name: str, text: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(text)
    _LOADERS[name](path)


def variables() -> set[str]:
    """Return the settings of variables of the environment in code of all pages."""
    codes = [
        code
        for page in PAGES
        for code in [*blocks(page, (*_SHELL, "toml")), *re.findall(r"`([^`\n]+)`", page.read_text())]
    ]
    return {found for code in codes for found in _VARIABLE.findall(code)}


@pytest.mark.parametrize("example", sorted(variables()))
def test_examples_of_variables_load(example: str) -> None:
    name, _, value = shlex.split(example)[0].partition("=")
    analyzer = re.match(f"{ENVIRONMENT_PREFIX}ANALYZERS__([A-Z]+)", name)
    if analyzer and analyzer[1].lower() not in ANALYZERS:
        pytest.skip("the page writes this analyzer, and has tests of its own")
    load_settings(None, {name: value})


def command_lines(text: str) -> Iterator[list[str]]:
    """Yield the words of each command ``iotide ...`` in lines of a shell, also after variables and in pipes."""
    for line in re.sub(r"\\\n\s*", "", text).splitlines():
        command = re.split(r"\s{2,}", line.strip().removeprefix("$ "))[0]  # a column of explanations may follow
        lexer = shlex.shlex(command, posix=True, punctuation_chars=_PUNCTUATION)
        lexer.whitespace_split = True
        with contextlib.suppress(ValueError):  # an apostrophe in a line of text
            words = list(lexer)
            for at in (at for at, word in enumerate(words[:-1]) if word == "iotide" and words[at + 1] in COMMANDS):
                end = next((n for n, each in enumerate(words) if n > at and set(each) <= set(_PUNCTUATION)), None)
                yield words[at + 1 : end]


def parse(command: click.Command, words: list[str]) -> None:
    """Parse a command line as the command does, without running it."""
    with command.make_context("iotide", words) as context:
        rest = [*context._protected_args, *context.args]
        if isinstance(command, click.Group) and rest:
            below = command.get_command(context, rest[0])
            assert below is not None, rest[0]
            parse(below, rest[1:])


def check_command_lines(text: str, monkeypatch: pytest.MonkeyPatch) -> int:
    for kind in (click.Path, click.File):  # the files of examples do not exist
        monkeypatch.setattr(kind, "convert", lambda self, value, param, context: value)
    lines = list(command_lines(text))
    for words in lines:
        try:
            parse(group, words)
        except click.ClickException as error:
            pytest.fail(f"iotide {' '.join(words)}: {error.format_message()}")
    return len(lines)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_examples_of_commands_parse(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check_command_lines("\n".join(blocks(page, _SHELL)), monkeypatch)


FOREIGN = {
    "strace": {"--absolute-timestamps"},
    "fio": {"--thinktime"},
    "mpirun": {"--hostfile", "--mca"},
    "babeltrace2": {"--clock-date", "--clock-seconds", "--no-delta"},
    "ftio": {"--zmq"},
}
"""Options of other programs in the documentation."""


def commands_of(command: click.Command, name: str = "") -> dict[str, click.Command]:
    """Return a command and its sub-commands, by the words after ``iotide``."""
    found = {name: command}
    if isinstance(command, click.Group):
        for below in command.list_commands(click.Context(command)):
            child = command.get_command(click.Context(command), below)
            assert child is not None
            found |= commands_of(child, f"{name} {below}".strip())
    return found


@pytest.mark.parametrize("name", commands_of(group))
def test_examples_of_help_parse(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = commands_of(group)[name].help or ""
    assert check_command_lines(text, monkeypatch) >= text.count("\n  iotide ")


@pytest.fixture(scope="module")
def command_options() -> dict[str, set[str]]:
    return {
        name: {"--help"}.union(*(each.opts + each.secondary_opts for each in command.params))
        for name, command in commands_of(group).items()
    }


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_options_in_documents_exist(page: Path, command_options: dict[str, set[str]]) -> None:
    known = set().union(*command_options.values(), *FOREIGN.values())
    assert set(re.findall(r"`(--[a-z][a-z-]*)", page.read_text())) <= known


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_command_lines_in_documents_have_options_of_their_command(
    page: Path, command_options: dict[str, set[str]]
) -> None:
    for line in re.findall(r"(?:^|`|\$ )iotide ([a-z][^`\n]*)", page.read_text(), re.MULTILINE):
        words = re.split(r" -- | [|>#&]", line)[0].split()
        name = next((name for n in (2, 1) if (name := " ".join(words[:n])) in command_options), None)
        if name is not None:  # otherwise a sentence that begins so
            used = {word.split("=")[0].rstrip(",.;)") for word in words if re.match("--[a-z]", word)}
            assert {each for word in used for each in word.split("/")} <= command_options[name], line


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_files_that_documents_name_exist(page: Path) -> None:
    folders = "analyzers|archive|benchmarks|cli|clients|collectors|daemon|deploy|docs|events|results|tests"
    for name in re.findall(rf"`((?:{folders})/[\w./*-]+)`", page.read_text()):
        if not name.startswith("benchmarks/results/"):  # written by make bench
            assert list(ROOT.glob(name)), name


def test_the_glossary_has_each_term_once_and_in_order() -> None:
    rows = re.findall(r"^\| ([a-z][^|]*?) \| (.+) \|$", (ROOT / "docs/glossary.md").read_text(), re.MULTILINE)
    terms = [term for term, _ in rows if term != "term"]
    assert terms == sorted(set(terms))
    referred = {word for _, text in rows for word in re.findall(r"\*([^*`]+)\*", text)}
    assert referred <= {term + ending for term in terms for ending in ("", "s", "es")}
