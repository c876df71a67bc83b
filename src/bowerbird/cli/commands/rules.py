"""`rule`, `webhook` and `share`: what happens by itself in an account, and what it shares."""

import json
from collections.abc import Awaitable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import click
import msgspec

from bowerbird.cli.commands.credentials import of_account, print_new
from bowerbird.cli.context import LibraryContext, with_library
from bowerbird.cli.output import Column, json_option, moment_column, print_listing
from bowerbird.errors import Code, Refusal
from bowerbird.library.bookmarks.bookmarks import Bookmarks
from bowerbird.library.rules.rules import Rules
from bowerbird.library.sharing.shares import PATH, ShareOverview, Shares
from bowerbird.library.views.views import Views
from bowerbird.library.webhooks.webhooks import DeliveryResponse, WebhookResponse, Webhooks
from bowerbird.model.events import DeliveryState
from bowerbird.model.labels import Audience, Choices, Share, Shared
from bowerbird.model.rules import Rule
from bowerbird.requests import decoding, limits
from bowerbird.requests.rules import NewRule, NewWebhook, RuleChange
from bowerbird.requests.shares import NewShare

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


_SHARE_COLUMNS: Final[Sequence[Column[tuple[Share, str]]]] = (
    Column("id", "Id", lambda row: row[0].share_id),
    # As text: many programs read a JSON number of 19 digits inexactly.
    Column("account", "Account", lambda row: str(row[0].account_id)),
    Column("audience", "Audience", lambda row: row[0].audience.value),
    Column("state", "State", lambda row: row[1]),
    # A secret address would open the list.
    Column(
        "path",
        "Path",
        lambda row: PATH + row[0].address if row[0].audience is Audience.PUBLIC else "secret",
    ),
    Column("shows", "Shows", lambda row: row[0].kind.value),
    Column("title", "Title", lambda row: row[0].choices.title),
    moment_column("created_at", "Created (UTC)", lambda row: row[0].created_at),
)
# Of an exported share, besides what it shows.
_SHARE_FIELDS: Final = ("audience", "name", "ends_at", *Choices.__struct_fields__)
_SHOWN: Final = {Shared.LABEL: "label_name", Shared.VIEW: "view", Shared.LIST: "list"}


@click.group()
def share() -> None:
    """List what accounts share, stop it, and bring in what a downloaded account shares."""


@share.command("list")
@json_option
def list_shares(*, as_json: bool) -> None:
    r"""List the shared lists and private feeds of all accounts, newest first.

    \b
    Example:
      bowerbird share list
      bowerbird share list --json
    """

    async def work(opened: LibraryContext) -> list[tuple[Share, str]]:
        overview = ShareOverview(opened.database, opened.clock)
        return [(each, overview.state(each)) for each in await overview.all()]

    print_listing(with_library(work), _SHARE_COLUMNS, as_json=as_json)


@share.command()
@click.argument("share_id", metavar="ID")
def stop(share_id: str) -> None:
    r"""Stop a shared list or a private feed at once. Its account cannot switch it on again.

    \b
    Example:
      bowerbird share stop 9f86d081884c7d65
    """
    with_library(lambda opened: ShareOverview(opened.database, opened.clock).stop(share_id))
    click.echo(f"The share {share_id} is stopped.")


@share.command()
@click.argument("share_id", metavar="ID")
def allow(share_id: str) -> None:
    r"""Allow a share again that was stopped.

    \b
    Example:
      bowerbird share allow 9f86d081884c7d65
    """
    with_library(
        lambda opened: ShareOverview(opened.database, opened.clock).stop(share_id, is_stopped=False)
    )
    click.echo(f"The share {share_id} is allowed again.")


@share.command("import")
@click.argument("email")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
def bring_shares_in(email: str, file: Path) -> None:
    r"""Add what a downloaded account shares, which is a JSON file. All of it is switched off.

    Secret addresses are new. Import the posts and labels first: what shows a label or a Smart View
    that the account does not have is left out, and so is what is not valid.

    \b
    Example:
      bowerbird share import you@example.com account.json
    """

    async def work(opened: LibraryContext) -> tuple[int, int]:
        account, found = await opened.account(email), _shares_in(file)
        settings = opened.settings
        shares = Shares(
            opened.database,
            Views(opened.database, Bookmarks(opened.database), opened.clock),
            opened.clock,
            settings.site_origin,
            is_allowed=settings.sharing == "on",
        )
        valid = [one for one in found if one is not None]
        return await shares.bring_in(account, valid), len(found)

    added, count = with_library(work)
    click.echo(f"Added {added} of {count} shares, switched off.", err=True)


def _shares_in(file: Path) -> list[NewShare | None]:
    try:
        account = json.loads(file.read_bytes())
        labels = {one["id"]: one["label_name"] for one in account["labels"]}
        return [_new_share(one, labels) for one in account["shares"]]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise Refusal(Code.INVALID_REQUEST, f"{file} has no shares of an account.") from None


def _new_share(one: Mapping[str, Any], labels: Mapping[str, str]) -> NewShare | None:
    """None for what is not valid, or shows a label that is not in the file."""
    try:
        kind, target = Shared(one["kind"]), one["target"]
        fields = {name: one[name] for name in _SHARE_FIELDS if name in one}
        shown = labels[target] if kind is Shared.LABEL else target
        return decoding.decode(msgspec.json.encode({**fields, _SHOWN[kind]: shown}), NewShare)
    except (ValueError, KeyError, TypeError, Refusal):
        return None
