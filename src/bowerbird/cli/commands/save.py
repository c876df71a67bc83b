"""`save` saves posts by their links; `fetch` reads the text of posts that are only links."""

import sys
from collections.abc import Sequence

import click

from bowerbird import errors
from bowerbird.cli.context import LibraryContext, with_library
from bowerbird.cli.importing import read_label_name
from bowerbird.cli.output import interruptible, progress_bars
from bowerbird.library.imports.saving import SavedItem, SaveResult, Saving, summary
from bowerbird.library.links import LinkReading
from bowerbird.model.posts.networks import SENTENCES, LinkCounts
from bowerbird.requests import decoding
from bowerbird.requests.limits import SAVED_LABELS_MAX, SAVED_MAX
from bowerbird.requests.saving import ItemToSave, SaveRequest


@click.command("save")
@click.argument("email")
@click.argument("links", metavar="LINK...", nargs=-1, required=True)
@click.option(
    "--label", "labels", metavar="NAME", multiple=True, help="Add this label; repeatable."
)
def save(email: str, links: Sequence[str], labels: Sequence[str]) -> None:
    r"""Save posts of X, Mastodon, YouTube and other networks by their links.

    A link stores the author and the address of the post. A running server or worker then reads
    its text, as far as its network publishes it. The command prints one line per link, and a
    summary if there are several. It exits with 1 if one of them is not a link to a post; the
    others are saved. The last link is the newest in the library. Saving a post again changes
    nothing.

    \b
    Example:
      bowerbird save you@example.com https://x.com/jack/status/20 --label "to read"
    """
    names = [read_label_name(label) for label in labels]
    if len(names) > SAVED_LABELS_MAX:
        raise click.ClickException(f"--label: at most {SAVED_LABELS_MAX} labels, got {len(names)}.")
    requests = [
        decoding.convert(
            {"links": list(links[start : start + SAVED_MAX]), "labels": names}, SaveRequest
        )
        for start in range(0, len(links), SAVED_MAX)
    ]

    async def work(opened: LibraryContext) -> int:
        account = await opened.account(email)
        saving = Saving(opened.database, opened.clock)
        problems, results = 0, list[SavedItem]()
        for request in requests:
            saved, _ = await saving.save_now(account, request.items, names)
            results += saved.results
            problems += _print(request, saved)
        if len(links) > 1:
            click.echo(summary(results), err=True)
        return problems

    sys.exit(1 if with_library(work) else 0)


def _print(request: SaveRequest, result: SaveResult) -> int:
    """The number of links that were not saved completely."""
    problems = 0
    for item, saved in zip(request.items, result.results, strict=True):
        if item.found is None or saved.error is not None:
            problems += 1
            click.echo(_problem(item), err=True)
            continue
        # The address as we store it: what was typed may contain control characters.
        click.echo(f"{saved.result} {saved.post_id} {item.found.record.tweet_details.link}")
        if saved.labels_left_out:
            problems += 1
            names = ", ".join(map(errors.shown, saved.labels_left_out))
            click.echo(f"Post {saved.post_id} did not get these labels: {names}.", err=True)
    return problems


def _problem(item: ItemToSave) -> str:
    """Why a link was not saved. The sentence of the API names its place in the request."""
    return str(item.refusal).removeprefix(f"{item.place}: ")


@click.command("fetch")
@click.argument("email")
def fetch(email: str) -> None:
    r"""Read the text of all posts that are only links, also of those that were given up.

    Each network is asked for one post per second, so thousands of links take hours. The command
    can be interrupted: a running server or worker goes on. At the end it says how many posts have
    no text, and why.

    \b
    Example:
      bowerbird fetch you@example.com
    """

    async def work(opened: LibraryContext) -> tuple[int, LinkCounts]:
        account = await opened.account(email)
        reading = LinkReading(opened.database, opened.clock, opened.settings)
        if not reading.is_on:
            raise click.ClickException("BOWERBIRD_FETCH_POSTS is off, so no network is asked.")
        total = await reading.ask_again(account)
        with progress_bars() as advance:

            async def report(_done: int, _total: int) -> None:
                left = (await reading.counts(account)).waiting
                advance("posts", max(total - left, 0), total)

            await reading.run(account.account_id, report)
        return total, await reading.counts(account)

    with interruptible(". A running server or worker goes on."):
        total, left = with_library(work)
    click.echo(f"links {total}")
    click.echo(f"read {total - left.waiting - left.left}")
    click.echo(f"without a text {left.left}")
    click.echo(f"waiting for their network {left.waiting}")
    for reason, count in left.reasons.items():
        click.echo(f"{count:,} without a text: {SENTENCES[reason]}", err=True)
    if left.waiting:
        click.echo("A running server or worker goes on asking for those that wait.", err=True)
