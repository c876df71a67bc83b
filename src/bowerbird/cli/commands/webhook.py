"""`webhook`: lists, adds, removes and tests the webhooks of an account."""

from collections.abc import Sequence
from typing import Final

import click

from bowerbird.cli.commands.credentials import print_new
from bowerbird.cli.context import LibraryContext, with_library
from bowerbird.cli.output import Column, json_option, print_listing
from bowerbird.errors import Code, Refusal
from bowerbird.library.webhooks.webhooks import DeliveryResponse, WebhookResponse, Webhooks
from bowerbird.model.events import DeliveryState
from bowerbird.requests import limits
from bowerbird.requests.webhooks import NewWebhook

_COLUMNS: Final[Sequence[Column[WebhookResponse]]] = (
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

    print_listing(with_library(work), _COLUMNS, as_json=as_json)


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
