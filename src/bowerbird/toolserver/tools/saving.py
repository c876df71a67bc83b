"""The tool that saves posts and links."""

from collections.abc import Awaitable
from functools import cached_property
from typing import Annotated, Any, ClassVar, Final

import msgspec
from msgspec import UNSET, Meta, Struct

from bowerbird import errors
from bowerbird.assembly import Services
from bowerbird.library.imports.saving import RESULTS, PreparedSave, SavedItem
from bowerbird.library.imports.saving import Saved as SavedPosts
from bowerbird.model.accounts import Account
from bowerbird.model.arrival import Completeness, OrderSource
from bowerbird.model.posts.bookmarks import ImportRecord
from bowerbird.requests import limits, sentences
from bowerbird.requests.fields import InvalidField, about, unique
from bowerbird.requests.saving import (
    ITEMS,
    ItemToSave,
    Labels,
    Links,
    PostToSave,
    check_number,
    invalid,
    read_links,
    read_post,
)
from bowerbird.storage.database import Transaction
from bowerbird.toolserver.tools import binding
from bowerbird.toolserver.tools.bulk import Undoable, undoable
from bowerbird.toolserver.tools.results import response_size
from bowerbird.toolserver.tools.results.quoted_text import HIDDEN, has_hidden
from bowerbird.toolserver.tools.tool import WRITES_IDEMPOTENTLY, BoundTool, Json, Tool

# The fields of a bookmark, as a record has them or as get_bookmarks returns them.
_FIELDS: Final = (
    *PostToSave.__struct_encode_fields__,
    *ImportRecord.__struct_encode_fields__,
    *("text_length", "truncated", "next_offset", "score", "copies", "highlight"),
)
_MEANT: Final = {
    "author": "author_username",
    "text": "tweet_details.text",
    "labels": "tags",
    "saved_at": "bookmarked_at",
}
# Tried in this order: the maximum length of a reason or a label, and the number of labels.
_STEPS: Final = ((140, 3), (100, 1), (60, 0))


class PostArguments(Struct, frozen=True, kw_only=True):
    """Only describes an item of `posts`; it may have every field of a bookmark."""

    post_id: Annotated[str, about("Id of the post: digits.")]
    tweet_details: Annotated[
        dict[str, Any],
        about(
            "The post itself.",
            argument={
                "type": "object",
                "properties": {
                    "text": {"type": "string", "description": "Its full text."},
                    "link": {"type": "string", "description": "Its address."},
                    "posted_at": {"type": "string", "description": "When it was published."},
                },
            },
        ),
    ]
    author_username: Annotated[str | None, about("Handle of the author.")] = None


class SaveArguments(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, dict=True):
    ITEMS: ClassVar = ITEMS
    # Accepted in the shape of the API; agents have links.
    UNLISTED: ClassVar = ("posts",)

    links: Links = None
    posts: Annotated[
        Annotated[list[Any], Meta(max_length=limits.SAVED_MAX)] | None,
        about("Posts with their text, if you have it.", items=PostArguments),
    ] = None
    labels: Labels = None
    idempotency_key: binding.IdempotencyKey = None

    def __post_init__(self) -> None:
        check_number(self.posts, self.links)
        if self.labels:
            unique(self, "labels")
            if any(map(has_hidden, self.labels)):
                raise InvalidField("labels", HIDDEN)
        _ = self.items

    @cached_property
    def items(self) -> list[ItemToSave]:
        """The posts, then the links, as in the REST API."""
        posts = [_post(f"posts[{n}]", sent) for n, sent in enumerate(self.posts or ())]
        return [*posts, *read_links(self.links)]


class Item(Struct, kw_only=True, omit_defaults=True):
    """The outcome of an item: posts first, then links."""

    index: int
    ok: bool
    post_id: str | None = None
    result: Annotated[str, Meta(extra_json_schema={"enum": list(RESULTS)})] | None = None
    labels_left_out: list[str] | None = None
    error: str = ""


class Saved(Undoable, kw_only=True, omit_defaults=True):
    results: Annotated[list[Json], Meta(extra={"items": Item})]
    succeeded: int
    failed: int
    truncated: bool
    advice: str = ""


SAVE: Final = Tool(
    name="save_bookmarks",
    title="Save posts",
    description=(
        "Saves posts, usually by their links. A link alone stores author and address; a later "
        "import adds the text. Saving again does no harm, and brings back a deleted post. An item "
        "can fail alone."
    ),
    takes=SaveArguments,
    returns=Saved,
    hints=WRITES_IDEMPOTENTLY,
)


def bind(services: Services) -> list[BoundTool]:
    saving = services.saving

    def prepare(account: Account, values: SaveArguments) -> Awaitable[PreparedSave]:
        return saving.prepare(account, values.items, values.labels or ())

    def save(
        transaction: Transaction, account: Account, _: SaveArguments, prepared: PreparedSave
    ) -> Awaitable[SavedPosts]:
        return saving.save(transaction, account, prepared)

    return [
        binding.writes(
            services, SAVE, save, prepare=prepare, shown=_outcome, counts=lambda _: False
        )
    ]


def _post(place: str, sent: Any) -> ItemToSave:
    for name in sent if isinstance(sent, dict) else ():
        if name not in _FIELDS:
            near = _MEANT.get(name) or sentences.meant(name, _FIELDS)
            meant = f" Did you mean {near}?" if near else ""
            return invalid(place, f"Unknown field {errors.shown(name)}.{meant}")
    try:
        raw = msgspec.json.encode(sent)
    except (UnicodeEncodeError, RecursionError):
        return invalid(place, "The post is not valid JSON.")
    item = read_post(place, raw)
    if item.found is None:
        return item
    # A model may have shortened or invented a text. So it only fills gaps, and any other source
    # replaces it.
    found = msgspec.structs.replace(item.found, own=None, completeness=Completeness.STUB)
    if found.order_source is OrderSource.IMPORT and found.record.bookmarked_at is not UNSET:
        found = msgspec.structs.replace(found, order_source=OrderSource.SAVED_DATE)
    return ItemToSave(place=place, found=found)


def _outcome(made: SavedPosts) -> Saved:
    saved, row = made
    results: list[Json] = msgspec.to_builtins([_item(one) for one in saved.results])
    short = _fitted(results)
    outcome = Saved(
        results=short,
        succeeded=saved.succeeded,
        failed=saved.failed,
        truncated=short is not results,
        advice="" if short is results else response_size.TRUNCATED,
    )
    return undoable(outcome, row)


def _item(saved: SavedItem) -> Item:
    return Item(
        index=saved.index,
        ok=saved.ok,
        post_id=saved.post_id,
        result=saved.result,
        labels_left_out=saved.labels_left_out,
        error=f"{saved.error.code}: {saved.error.message}" if saved.error else "",
    )


def _fitted(results: list[Json]) -> list[Json]:
    """Keeps every outcome, with shorter reasons and fewer names of labels if they do not fit."""
    short = results
    for chars, items in _STEPS:
        if response_size.size(short) <= response_size.RECORDS_BYTES:
            break
        short = [response_size.truncate_all(one, chars, items) for one in results]
    return short
