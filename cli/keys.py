"""``iotide keys``: CURVE keys, HTTP tokens, and the list of permitted principals."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from .common.arguments.parameter_types import ReadableText

if TYPE_CHECKING:
    from ..daemon.access.principals import Permission, Principal

_HELP = """Make keys and tokens, and manage the list of principals that may connect to an aggregator.

ZeroMQ sockets are encrypted by CURVE: the aggregator has a key pair (access.key), each collector and subscriber has
one, and the aggregator's list (access.principals) has the public keys that may connect. HTTP requires tokens of the
same list. The aggregator reads list and keys again when they change.

\b
On the aggregator:
  iotide keys new /etc/iotide/aggregator
  iotide keys allow /etc/iotide/principals.toml --name nodes --key nodes.key --may collect
  iotide keys allow /etc/iotide/principals.toml --name alice --key alice.key --user alice --may collect --may read
  iotide keys token /etc/iotide/principals.toml --name prometheus --may metrics
On a node, or as a user:
  iotide keys new ~/.config/iotide/alice
  iotide collect --key ~/.config/iotide/alice.key_secret --server-key /etc/iotide/aggregator.key ...

A principal with --user acts only for that user: its streams, and their jobs, belong to that user, regardless of their
own user name. A principal without --user is a node's collector, whose user names are trusted.

Exit status: 0 done, 1 failed, 2 bad usage or a file that cannot be used.
"""
_LIST: Final = click.argument("principals", metavar="LIST", type=click.Path(path_type=Path, dir_okay=False))
_NAME: Final = click.option("--name", type=ReadableText(), required=True, metavar="NAME", help="Name in the log.")
_USER: Final = click.option(
    "--user",
    type=ReadableText(),
    default="",
    metavar="USER",
    help="User that it acts for. [default: none, it is a node's collector]",
)
_MAY: Final = click.option(
    "--may",
    "may",
    multiple=True,
    required=True,
    type=click.Choice(["collect", "read", "metrics", "operate", "member"]),
    help="collect: send streams; read: see jobs over HTTP; metrics: read /metrics; operate: see all "
    "jobs, subscribe; member: be a member of the cluster, while its key is changed. Repeatable.",
)


@click.group("keys", help=_HELP)
def command() -> None:
    """Group the sub-commands."""


@command.command("new")
@click.argument("name", metavar="NAME", type=click.Path(path_type=Path))
def new(name: Path) -> None:
    """Write a new key pair to NAME.key (public) and NAME.key_secret (readable only by its user)."""
    from ..events.network.curve import make_keys, read_public

    if name.suffix in (".key", ".key_secret"):
        raise click.UsageError(f"name it without {name.suffix}: {name.with_suffix('')}")
    public, secret = make_keys(name.parent, name.name)
    click.echo(f"{public}  to be listed by the other side: {read_public(public).decode()}")
    click.echo(f"{secret}  to be kept here")


@command.command("allow")
@_LIST
@_NAME
@click.option("--key", required=True, metavar="FILE|KEY", help="Public key: its file, or its 40 characters.")
@_USER
@_MAY
def allow(principals: Path, name: str, key: str, user: str, may: tuple[Permission, ...]) -> None:
    """Permit a key to connect: add it to LIST, which is created if necessary."""
    from ..daemon.access.principals import Principal
    from ..events.network.curve import is_public_key, read_public

    public = key if is_public_key(key) else read_public(Path(key)).decode()
    _add(principals, Principal(name=name, key=public, user=user, may=frozenset(may)))
    click.echo(f"{name} may {_permission_list(may)}")


@command.command("token")
@_LIST
@_NAME
@_USER
@_MAY
def token(principals: Path, name: str, user: str, may: tuple[Permission, ...]) -> None:
    """Make a token for HTTP and add it to LIST. It is printed once, LIST only has its hash."""
    import secrets

    from ..daemon.access.principals import Principal, digest

    if "collect" in may or "member" in may:
        raise click.UsageError("a token is for HTTP: collectors and members need a key")
    made = secrets.token_urlsafe(32)
    _add(principals, Principal(name=name, token_sha256=digest(made), user=user, may=frozenset(may)))
    click.echo(made)


@command.command("vouch")
@click.argument("key", metavar="KEY", type=click.Path(path_type=Path, dir_okay=False))
@click.option(
    "--job", type=ReadableText(), required=True, metavar="JOB", help="Id of the job, as given to its collector."
)
@click.option("--user", type=ReadableText(), required=True, metavar="USER", help="User of the job.")
@click.option("--account", type=ReadableText(), required=True, metavar="ACCOUNT", help="Account (project) of the job.")
def vouch(key: Path, job: str, user: str, account: str) -> None:
    """Print the voucher of a job for IOTIDE_VOUCHER of its collector, made with the secret key access.vouching.

    It is for prologs that a batch system runs as root: the aggregator trusts no account that a job states itself.
    """
    from ..events.network.curve import read_pair
    from ..events.network.vouchers import Voucher

    click.echo(Voucher(job, user, account).text(read_pair(key).secret))


@command.command("list")
@_LIST
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def show(principals: Path, as_json: bool) -> None:
    """List the principals and their permissions."""
    from rich.console import Console

    from ..clients.text.tables import number_table, plain_name, print_table
    from ..daemon.access.principals import read_principals

    listed = read_principals(principals).listed
    if as_json:
        click.echo(json.dumps([each.model_dump(mode="json") for each in listed]))
        return
    table = number_table("")
    for heading in ("name", "user", "may", "by"):
        table.add_column(heading)
    for each in listed:
        table.add_row(plain_name(each.name), plain_name(each.user) or "(any)", _permission_list(each.may), _means(each))
    print_table(Console(), table, gap=False)


@command.command("revoke")
@_LIST
@click.argument("name", type=ReadableText())
def revoke(principals: Path, name: str) -> None:
    """Remove NAME from LIST; a running aggregator closes its connections within a second or two."""
    from ..daemon.access.principals import read_principals

    listed = read_principals(principals).listed
    left = [each for each in listed if each.name != name]
    if len(left) == len(listed):
        names = ", ".join(each.name for each in listed) or "nobody"
        raise click.UsageError(f"{principals} does not list {name!r}; it has {names}")
    _write(principals, left)
    click.echo(f"{name} may no longer connect")


def _add(path: Path, principal: Principal) -> None:
    from ..daemon.access.principals import read_principals

    listed = read_principals(path).listed if path.exists() else ()
    _write(path, (*listed, principal))


def _write(path: Path, listed: Iterable[Principal]) -> None:
    from ..daemon.access.principals import Principals, as_toml
    from ..events.errors import ConfigError
    from .common.atomic_files import private_file

    text = as_toml(Principals(listed).listed)
    try:
        kept = path.stat() if path.exists() else None
        with private_file(path) as file:
            file.write(text.encode())
        if kept is not None:  # the aggregator's user may differ from the user who edits the list
            path.chmod(kept.st_mode & 0o777)
            _give_to_owner(path, kept.st_uid, kept.st_gid)
    except OSError as error:
        raise ConfigError(f"{path} cannot be written: {error.strerror}") from None


def _give_to_owner(path: Path, user: int, group: int) -> None:
    import os

    if (os.geteuid(), os.getegid()) != (user, group):
        os.chown(path, user, group)


def _permission_list(may: Iterable[str]) -> str:
    return ", ".join(sorted(may))


def _means(principal: Principal) -> str:
    return " and ".join(what for what, has in (("key", principal.key), ("token", principal.token_sha256)) if has)
