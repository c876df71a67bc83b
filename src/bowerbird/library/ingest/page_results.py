"""What a page gives: the answer to the client, whether to go on, and its place in the list."""

from collections.abc import Sequence
from typing import NamedTuple

import msgspec
from msgspec import Struct

from bowerbird.library.imports.intake import IntakeOutcome, ItemResult
from bowerbird.library.ingest.page_reading import ReadPage
from bowerbird.model.accounts import Account
from bowerbird.model.arrival.ingest import UP_TO_KNOWN, EndReason, IngestRun, KeptPage, PageLink
from bowerbird.storage.bookmarks.upsert import UpsertStore


class Skipped(Struct, frozen=True):
    post_id: str
    """The post. Empty if the entry does not say which it is."""
    state: str
    """unavailable, advertisement, invalid, or another reason."""
    reason: str
    """The reason as a sentence."""


class PageResult(Struct, frozen=True, kw_only=True):
    received: int
    """Entries of the page."""
    inserted: int
    """Posts that are new in the library."""
    updated: int
    """Posts whose text, author, media or labels changed."""
    unchanged: int
    """Posts that the library already has."""
    ignored_deleted: int
    """Posts that the owner deleted from the library. They stay deleted."""
    skipped: list[Skipped]
    """Entries that are not imported."""
    cursor_out: str | None
    """Where the list continues, or null."""
    stop: bool
    """Whether the run can end here."""
    stop_reason: str | None
    """end: the list ends. caught_up: everything below is known. Or null."""
    unreadable: int
    """Parts of the page that could not be read. Do not send it again."""
    errors: list[str]
    """Sentences about the page."""
    is_kept: bool
    """Whether the page is kept for a year and read again after an upgrade."""
    is_unknown_form: bool
    """Whether the source has changed its answers: most posts of the page have a form that the
    server does not know. Nothing is recorded as gone, removed or complete."""


class TakenPage(NamedTuple):
    """A page that is read, and not stored yet."""

    run: IngestRun
    seq: int
    fingerprint: bytes
    read: ReadPage
    kept: KeptPage | None
    captured_at: int
    # Whether the library has only the link of one of the posts.
    has_stubs: bool
    # Whether its posts have no indexes, and are where earlier runs saw them in the list.
    is_known_part: bool


def result_of(
    read: ReadPage, outcome: IntakeOutcome, reason: EndReason | None, *, is_kept: bool
) -> PageResult:
    posts = {post.record.post_id for post in read.posts}
    # Posts that the source does not show are listed as skipped.
    results = [result for post_id, result in outcome.results if post_id in posts]
    return PageResult(
        received=len(read.posts) + len(read.left_out),
        inserted=results.count(ItemResult.NEW),
        updated=results.count(ItemResult.CHANGED),
        unchanged=results.count(ItemResult.UNCHANGED),
        ignored_deleted=results.count(ItemResult.IGNORED_DELETED),
        skipped=[Skipped(one.post_id, one.reason, one.sentence) for one in read.left_out],
        cursor_out=read.cursor_out or None,
        stop=reason is not None,
        stop_reason=reason,
        unreadable=read.unreadable,
        errors=list(read.errors),
        is_kept=is_kept,
        is_unknown_form=read.is_unknown_form,
    )


def stop_reason(taken: TakenPage, results: Sequence[ItemResult]) -> EndReason | None:
    """A single known post is no reason: saving a post again moves it up.

    A post of which the library has only the link is not known.
    """
    run, read = taken.run, taken.read
    if not read.is_listed:
        return None
    if read.proves_end:
        return EndReason.END
    is_known = ItemResult.NEW not in results and not read.unreadable and not taken.has_stubs
    if run.kind not in UP_TO_KNOWN or not is_known:
        return None
    stop_below, indexes = run.stop_below, read.indexes
    is_below = (
        bool(indexes) and stop_below is not None and all(index <= stop_below for index in indexes)
    )
    return EndReason.CAUGHT_UP if is_below or taken.is_known_part else None


def link_of(read: ReadPage, *, is_caught_up: bool) -> PageLink:
    return PageLink(
        cursor_in=read.cursor_in,
        cursor_out=read.cursor_out,
        proves_end=read.proves_end,
        # An entry that no reader understands is a post all the same.
        is_readable=not read.hides_posts,
        lowest=min(read.indexes, default=None),
        highest=max(read.indexes, default=None),
        is_caught_up=is_caught_up,
    )


async def of_known_posts(bookmarks: UpsertStore, account: Account, read: ReadPage) -> ReadPage:
    """Posts that are not shown any more are marked if the library has them.

    The page of a post also has answers to it, which nobody saved.
    """
    searched = read.marks if read.lists_saved_posts else (*read.posts, *read.marks)
    ids = [one.record.post_id for one in searched]
    known = await bookmarks.stored(account, ids) if ids else {}
    marks = tuple(one for one in read.marks if one.record.post_id in known)
    if read.lists_saved_posts:
        return msgspec.structs.replace(read, marks=marks)
    posts = tuple(one for one in read.posts if one.record.post_id in known)
    return msgspec.structs.replace(read, posts=posts, marks=marks, left_out=())
