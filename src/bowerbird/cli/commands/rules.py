"""`rule`: lists rules, switches them on and off, and brings those of another account in."""

import json
from collections.abc import Awaitable, Sequence
from pathlib import Path
from typing import Any, Final

import click
import msgspec

from bowerbird.cli.commands.credentials import of_account
from bowerbird.cli.context import LibraryContext, with_library
from bowerbird.cli.output import Column, json_option, moment_column, print_listing
from bowerbird.errors import Code, Refusal
from bowerbird.library.rules.rules import Rules
from bowerbird.model.rules import Rule
from bowerbird.requests import decoding
from bowerbird.requests.rules import NewRule, RuleChange

_COLUMNS: Final[Sequence[Column[Rule]]] = (
    Column("id", "Id", lambda rule: rule.rule_id),
    Column("name", "Name", lambda rule: rule.name),
    Column("when", "When", lambda rule: rule.body.when.value),
    Column("is_on", "On", lambda rule: rule.is_on),
    Column("fired", "Posts", lambda rule: rule.fired),
    moment_column("last_fired_at", "Last (UTC)", lambda rule: rule.last_fired_at),
    Column("notice", "Notice", lambda rule: rule.notice),
)
_FIELDS: Final = NewRule.__struct_fields__


@click.group()
def rule() -> None:
    """List the rules of an account, switch them, and bring in those of a downloaded account."""


@rule.command("list")
@click.argument("email")
@json_option
def list_rules(email: str, *, as_json: bool) -> None:
    r"""List the rules of an account in the order in which they run.

    \b
    Example:
      bowerbird rule list you@example.com
    """
    found = of_account(email, Rules, lambda rules, owner: rules.of(owner))
    print_listing(found, _COLUMNS, as_json=as_json)


@rule.command()
@click.argument("email")
@click.argument("rule_id", metavar="ID")
def on(email: str, rule_id: str) -> None:
    r"""Switch a rule on. It runs for what happens from now on.

    \b
    Example:
      bowerbird rule on you@example.com 5f0c9a7be01d4c3389aa01bc
    """
    _switch(email, rule_id, is_on=True)


@rule.command()
@click.argument("email")
@click.argument("rule_id", metavar="ID")
def off(email: str, rule_id: str) -> None:
    r"""Switch a rule off.

    \b
    Example:
      bowerbird rule off you@example.com 5f0c9a7be01d4c3389aa01bc
    """
    _switch(email, rule_id, is_on=False)


@rule.command("import")
@click.argument("email")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
def bring_in(email: str, file: Path) -> None:
    r"""Add the rules of a downloaded account, which is a JSON file. They come after the others.

    \b
    Example:
      bowerbird rule import you@example.com account.json
    """

    async def work(opened: LibraryContext) -> int:
        await opened.account(email)
        rules, found = Rules(opened.database, opened.clock), _rules_in(file)
        await opened.write(email, rules.create_all, found)
        return len(found)

    added = with_library(work)
    click.echo("Added 1 rule." if added == 1 else f"Added {added} rules.", err=True)


def _rules_in(file: Path) -> list[NewRule]:
    try:
        return [_new(one) for one in json.loads(file.read_bytes())["rules"]]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise Refusal(Code.INVALID_REQUEST, f"{file} has no rules of an account.") from None


def _new(one: dict[str, Any]) -> NewRule:
    kept = {name: one[name] for name in _FIELDS if name != "position" and name in one}
    return decoding.decode(msgspec.json.encode(kept), NewRule)


def _switch(email: str, rule_id: str, *, is_on: bool) -> None:
    def work(opened: LibraryContext) -> Awaitable[Rule]:
        rules = Rules(opened.database, opened.clock)
        return opened.write(email, rules.update, rule_id, RuleChange(is_on=is_on))

    changed = with_library(work)
    click.echo(f"The rule “{changed.name}” is {'on' if is_on else 'off'}.", err=True)
