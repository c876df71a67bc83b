"""`rule` and `webhook`: what happens by itself in an account."""

import json
from collections.abc import Awaitable, Sequence
from pathlib import Path
from typing import Any, Final

import click
import msgspec

from bowerbird.cli.commands.credentials import of_account, print_new
from bowerbird.cli.context import LibraryContext, with_library
from bowerbird.cli.output import Column, json_option, moment_column, print_listing
from bowerbird.errors import Code, Refusal
from bowerbird.library.rules.rules import Rules
from bowerbird.library.webhooks.webhooks import DeliveryResponse, WebhookResponse, Webhooks
from bowerbird.model.events import DeliveryState
from bowerbird.model.rules import Rule
from bowerbird.requests import decoding, limits
from bowerbird.requests.rules import NewRule, NewWebhook, RuleChange

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


_WEBHOOK_COLUMNS: Final[Sequence[Column[WebhookResponse]]] = (
    Column("id", "Id", lambda hook: hook.id),
    Column("state", "State", lambda hook: hook.state),
    Column("last_delivered_at", "Last delivered", lambda hook: hook.last_delivered_at),
    Column("events", "Events", lambda hook: " ".join(hook.events) or "all"),
    Column("url", "URL", lambda hook: hook.url),
    Column("problem", "Problem", lambda hook: hook.problem or ""),
)


def _webhooks(opened: LibraryContext) -> Webhooks:
    return Webhooks(opened.database, opened.clock, opened.settings)


@click.group()
def webhook() -> None:
    """List, add, remove and test addresses that are told what happens in a library."""


@webhook.command("list")
@click.argument("email")
@json_option
def list_webhooks(email: str, *, as_json: bool) -> None:
    r"""List the webhooks of an account: id, state, last delivery, events, URL, problem.

    The columns are tab-separated when the output is not a terminal.

    \b
    Example:
      bowerbird webhook list you@example.com
    """

    async def work(opened: LibraryContext) -> Sequence[WebhookResponse]:
        return await _webhooks(opened).all(await opened.account(email))

    print_listing(with_library(work), _WEBHOOK_COLUMNS, as_json=as_json)


@webhook.command()
@click.argument("email")
@click.argument("url")
@click.option("--event", "events", multiple=True, help="A type of event; repeat it for several.")
@click.option("--label", help="Only events of posts with this label.")
@click.option("--query", help="Only events of posts that match this query.")
def add(email: str, url: str, events: Sequence[str], label: str | None, query: str | None) -> None:
    r"""Add a webhook and print its secret. It cannot be shown again.

    \b
    Example:
      bowerbird webhook add you@example.com https://hooks.example.com/b --event post.created
    """
    try:
        request = NewWebhook(url=url, events=list(events), tag=label, q=query)
    except ValueError as wrong:
        raise Refusal(Code.INVALID_REQUEST, f"{wrong}.") from None
    for name, text, most in (
        ("URL", url, limits.WEBHOOK_URL_MAX),
        ("--label", label, limits.LABEL_NAME_MAX),
        ("--query", query, limits.TEXT_MAX),
    ):
        if text and len(text) > most:
            raise Refusal(Code.INVALID_REQUEST, f"{name} has more than {most:,} characters.")
    added = with_library(lambda opened: opened.write(email, _webhooks(opened).create, request))
    click.echo(f"Added webhook {added.id}.", err=True)
    print_new("secret", str(added.secret))


@webhook.command()
@click.argument("email")
@click.argument("webhook_id", metavar="ID")
def remove(email: str, webhook_id: str) -> None:
    r"""Remove a webhook and what is known about its messages.

    \b
    Example:
      bowerbird webhook remove you@example.com 5b0e6a4f9c21d7831f02ab47
    """
    with_library(lambda opened: opened.write(email, _webhooks(opened).delete, webhook_id))
    click.echo(f"Removed webhook {webhook_id}.")


@webhook.command()
@click.argument("email")
@click.argument("webhook_id", metavar="ID")
def test(email: str, webhook_id: str) -> None:
    r"""Let the worker send a test message, and print what came of it.

    \b
    Example:
      bowerbird webhook test you@example.com 5b0e6a4f9c21d7831f02ab47
    """

    async def work(opened: LibraryContext) -> DeliveryResponse:
        sent = await opened.write(email, _webhooks(opened).test, webhook_id)
        account = await opened.account(email)
        return await _webhooks(opened).settled_soon(account, webhook_id, sent.id) or sent

    sent = with_library(work)
    if sent.state is DeliveryState.WAITING:
        click.echo("The test message is sent as soon as a worker runs.")
    elif sent.state is DeliveryState.DELIVERED:
        click.echo(f"Delivered: {sent.status} after {sent.took_ms} ms.")
    else:
        raise Refusal(Code.INVALID_REQUEST, f"Not delivered. {sent.problem}")
