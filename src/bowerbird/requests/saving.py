"""Requests that save posts: of keys and devices; the list of imports, and codes for devices."""

import re
from functools import cached_property
from typing import Annotated, Any, ClassVar, Final, Literal

from msgspec import Meta, Raw, Struct

from bowerbird import errors
from bowerbird.errors import Code, Refusal
from bowerbird.model import instants
from bowerbird.model.posts.bookmarks import NOTE_MAX
from bowerbird.model.posts.networks import named
from bowerbird.requests import decoding, limits
from bowerbird.requests.bookmarks import Limit
from bowerbird.requests.fields import Gate, InvalidField, LabelName, about, unique
from bowerbird.requests.filter_values import read_flag
from bowerbird.requests.filters import Flag
from bowerbird.sources import own_json, post_links
from bowerbird.sources.file_posts import FilePost, found_post
from bowerbird.sources.found import FoundPost

# Each item of these can fail alone.
ITEMS: Final = frozenset({"posts", "links"})
_WEB: Final = re.compile(r"https?://", re.IGNORECASE)
SUPPORTED: Final = named("and")

Labels = Annotated[
    Annotated[list[LabelName], Meta(max_length=limits.SAVED_LABELS_MAX)] | None,
    about(
        "Names of labels to add to every saved post. New labels are created. Needs a paid plan.",
        ["birds"],
        gate=Gate.LABELLING,
        argument={"description": "Labels to add to all of them. Needs a paid plan."},
    ),
]
Links = Annotated[
    Annotated[list[str], Meta(max_length=limits.SAVED_MAX)] | None,
    about(
        f"Links to posts of {SUPPORTED}.",
        ["https://x.com/bowerwatch/status/1945678901234567890"],
        argument={"description": "Links to posts of X, Mastodon, Bluesky, YouTube and others."},
    ),
]


class DetailsToSave(Struct, frozen=True, kw_only=True):
    """Only describes the field; `own_json` reads it."""

    text: Annotated[str | None, about("The full text.")] = None
    link: Annotated[str | None, about("URL of the original post.")] = None
    posted_at: Annotated[str | None, about("When it was published: ISO 8601.")] = None
    attachments: Annotated[list[dict[str, Any]] | None, about("As in a bookmark.")] = None
    article: Annotated[dict[str, Any] | None, about("As in a bookmark.", nullable=True)] = None
    quoted_tweet: Annotated[dict[str, Any] | None, about("As in a bookmark.", nullable=True)] = None
    meta: Annotated[dict[str, Any] | None, about("As in a bookmark.")] = None


class PostToSave(Struct, frozen=True, kw_only=True):
    """Only describes an item of `posts`; `own_json` reads it."""

    post_id: Annotated[
        str, Meta(pattern=r"^[0-9]{1,40}$", description="Identifier of the post: digits, as text.")
    ]
    tweet_details: Annotated[
        DetailsToSave, about("The post itself, as in a bookmark. Every field is optional.")
    ]
    author_id: Annotated[str | None, about("Identifier of the author.")] = None
    author_username: Annotated[str | None, about("The author's handle, without @.")] = None
    author_details: Annotated[
        dict[str, Any] | None, about("name, username and profile_image of the author.")
    ] = None
    bookmarked_at: Annotated[
        str | None, about("When the post was bookmarked: ISO 8601. Default: now.")
    ] = None
    imported_at: Annotated[str | None, about("When it was imported: ISO 8601. Default: now.")] = (
        None
    )
    sort_index: Annotated[
        int | None, about("Position in the default order. Default: by bookmarked_at.")
    ] = None
    tags: Annotated[
        list[str] | None,
        about(
            "Names of all labels of the post; null removes them. Without this field the post "
            "keeps its labels. Needs a paid plan.",
            nullable=True,
        ),
    ] = None
    note: Annotated[
        Annotated[str, Meta(max_length=NOTE_MAX)] | None,
        about("The owner's note. Without this field the post keeps its note.", nullable=True),
    ] = None
    highlights: Annotated[
        list[dict[str, Any]] | None,
        about("Highlights as in a bookmark. They are added to those of the post.", nullable=True),
    ] = None
    is_read: Annotated[bool | None, about("Default: as it is, and false for a new post.")] = None
    is_archived: Annotated[bool | None, about("Default: as it is, and false for a new post.")] = (
        None
    )


class SaveQuery(Struct, frozen=True, kw_only=True):
    """The query string of POST /bookmarks."""

    preview: Annotated[
        Flag,
        about(
            "Stores nothing, and returns for each link what its network publishes about the post. "
            f"For up to {limits.PREVIEWED_MAX} links; takes a second or more for each.",
            example=True,
            parameter={"type": "boolean", "default": False},
        ),
    ] = None

    def __post_init__(self) -> None:
        _ = self.is_preview

    @property
    def is_preview(self) -> bool:
        return self.preview is not None and read_flag("preview", self.preview)


class ItemToSave(Struct, frozen=True, kw_only=True):
    """One item of a request: a post to save, or why it cannot be saved."""

    # Where it is in the request, for messages: "links[0]".
    place: str
    found: FoundPost | None = None
    refusal: Refusal | None = None


class SaveRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, dict=True):
    """POST /bookmarks. Each item is read separately, so that one can fail alone."""

    ITEMS: ClassVar = ITEMS
    SCHEMA: ClassVar[dict[str, Any]] = {"anyOf": [{"required": ["posts"]}, {"required": ["links"]}]}

    posts: Annotated[
        Annotated[list[Raw], Meta(max_length=limits.SAVED_MAX)] | None,
        about(
            "Posts in the format of a bookmark. Only post_id and tweet_details are required.",
            items=PostToSave,
        ),
    ] = None
    links: Links = None
    labels: Labels = None

    def __post_init__(self) -> None:
        check_number(self.posts, self.links)
        if self.labels:
            unique(self, "labels")
        # Read here, before a transaction is open.
        _ = self.items

    @cached_property
    def items(self) -> list[ItemToSave]:
        """The posts, then the links."""
        posts = [read_post(f"posts[{n}]", bytes(raw)) for n, raw in enumerate(self.posts or ())]
        return [*posts, *read_links(self.links)]


def check_number(posts: list[Any] | None, links: list[str] | None) -> None:
    number = len(posts or ()) + len(links or ())
    if not number:
        raise InvalidField("links", "must have at least one link, unless posts has a post")
    if number > limits.SAVED_MAX:
        raise InvalidField(
            "links",
            f"must have at most {limits.SAVED_MAX} items together with posts, got {number:,}; "
            "split the request",
        )


def read_post(place: str, raw: bytes) -> ItemToSave:
    try:
        decoding.check_item(raw)
        incoming = own_json.read(raw).incoming
    except Refusal as refused:
        return ItemToSave(place=place, refusal=decoding.within(place, refused))
    except own_json.InvalidRecord as problem:
        return invalid(place, str(problem))
    link = incoming.record.tweet_details.link
    if link and not _WEB.match(link):
        return invalid(
            place,
            f"tweet_details.link: must begin with https:// or http://, got {errors.shown(link)}.",
        )
    return ItemToSave(place=place, found=own_json.found_post(incoming, line=0))


def read_links(links: list[str] | None) -> list[ItemToSave]:
    return [_read_link(f"links[{n}]", address) for n, address in enumerate(links or ())]


def invalid(place: str, problem: str) -> ItemToSave:
    return ItemToSave(place=place, refusal=Refusal(Code.INVALID_REQUEST, f"{place}: {problem}"))


def _read_link(place: str, address: str) -> ItemToSave:
    try:
        decoding.check_text(address)
    except Refusal as refused:
        problem = refused.sentence.removeprefix("body: ")
        return invalid(place, f"{errors.shown(address)} {problem}")
    link = post_links.parse(address)
    if link is None and post_links.is_short(address):
        return invalid(place, f"{errors.shown(address)} is {post_links.SHORT_ADVICE}")
    if link is None:
        return invalid(
            place,
            f"{errors.shown(address)} is not a link to a post. Supported are posts of {SUPPORTED}.",
        )
    return ItemToSave(place=place, found=found_post(FilePost(link=link, line=0)))


_Moment = Annotated[str, Meta(max_length=40)]
_PostId = Annotated[str, Meta(pattern=r"^[0-9]{1,40}$(?!\n)")]
_SourceUser = Annotated[str, Meta(pattern=r"^[A-Za-z0-9_.:-]{0,64}$(?!\n)")]


_FLAG: Final = {"type": "boolean", "enum": [True, False], "default": False}


class NewRun(Struct, frozen=True, kw_only=True):
    """A run over a list of saved posts, of a device or of the service itself."""

    source: str
    kind: str
    source_user_id: str = ""
    client: str = ""
    confirm_source_user: bool = False


class RunRequest(NewRun, frozen=True, kw_only=True):
    """POST /ingest/v1/runs."""

    source: Annotated[Literal["x"], about("Where the posts come from.")]
    kind: Annotated[
        Literal["full", "incremental", "visit", "file", "api"],
        about(
            "full reads the whole list; incremental stops at the first known page; visit does too, "
            "and has the pages that somebody opened."
        ),
    ]
    source_user_id: Annotated[
        _SourceUser, about("The account of the source, so that two are not mixed up.")
    ] = ""
    client: Annotated[
        Annotated[str, Meta(max_length=200)], about("Name and version of the program.")
    ] = ""
    confirm_source_user: Annotated[
        bool, about("The user confirms that the device now sends posts of this account.")
    ] = False


class PageRequest(Struct, frozen=True, kw_only=True):
    """POST /ingest/v1/runs/{run_id}/pages."""

    seq: Annotated[int, Meta(ge=0, le=1_000_000, description="Number of the page in its run.")]
    format: Annotated[Literal["x.graphql", "x.api2", "bookmark"], about("What the payload is.")]
    payload: Annotated[
        Raw,
        about("The answer of the source, unchanged: as JSON, or as a text that contains it."),
    ]
    op: Annotated[
        Annotated[str, Meta(pattern=r"^[A-Za-z0-9_.]{0,64}$(?!\n)")],
        about("Name of the source's operation, such as Bookmarks."),
    ] = ""
    request_url: Annotated[
        Annotated[str, Meta(max_length=32_000, pattern=r"^[\x20-\x7e]*$(?!\n)")],
        about("URL of the request that the source answered."),
    ] = ""
    captured_at: Annotated[
        _Moment | None, about("When the answer was captured: ISO 8601. Default: now.")
    ] = None

    def __post_init__(self) -> None:
        _check_moment("captured_at", self.captured_at)


class Event(Struct, frozen=True, kw_only=True):
    """The user saved a post at the source, or removed it."""

    type: Annotated[Literal["added", "removed"], about("added or removed.")]
    post_id: Annotated[_PostId, about("The post.")]
    at: Annotated[_Moment, about("When it happened: ISO 8601. The last event of a post wins.")]
    payload: Annotated[
        Any, about("The post itself, if the client has it: a TweetResultByRestId or a bookmark.")
    ] = None
    labels: Annotated[
        Annotated[list[LabelName], Meta(max_length=limits.SAVED_LABELS_MAX)] | None,
        about(
            "Names of labels to add to an added post. New labels are created. Needs a paid plan: "
            "on the free plan the post is stored without them."
        ),
    ] = None

    def __post_init__(self) -> None:
        _check_moment("at", self.at)
        if self.labels and self.type != "added":
            raise InvalidField("labels", "can be given only to a post that was added")
        if self.labels:
            unique(self, "labels")


class Events(Struct, frozen=True, kw_only=True):
    """POST /ingest/v1/events. The body is the list itself."""

    events: Annotated[list[Event], Meta(min_length=1, max_length=limits.INGEST_EVENTS_MAX)]


class FinishRequest(Struct, frozen=True, kw_only=True):
    """POST /ingest/v1/runs/{run_id}/finish."""

    reason: Annotated[
        Literal["end", "caught_up", "interrupted", "gave_up"],
        about("Why the run ends. An interrupted run can be continued."),
    ]
    confirm_removals: Annotated[
        bool, about("The user confirms that posts missing from the list are removed.")
    ] = False


class FileQuery(Struct, frozen=True, kw_only=True):
    """POST /ingest/v1/files."""

    dry_run: Annotated[
        Literal["true", "false"] | None,
        about("Say what would happen, and change nothing.", example=True, parameter=_FLAG),
    ] = None
    with_likes: Annotated[
        Literal["true", "false"] | None,
        about("Import liked posts too.", example=False, parameter=_FLAG),
    ] = None


def _check_moment(field: str, text: str | None) -> None:
    if text is not None and instants.parse(text) is None:
        raise InvalidField(field, "must be an ISO 8601 date-time")


class ImportsQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """GET /imports."""

    limit: Limit = None
    cursor: Annotated[
        str | None,
        about(
            "next_cursor of the previous page, unchanged.",
            "",
            argument={"maxLength": limits.CURSOR_MAX},
        ),
    ] = None


class RedeemRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """POST /connect/redeem."""

    code: Annotated[
        Annotated[str, Meta(max_length=64)], about("The connect code, such as K7QM-2XRD.")
    ]
    # Its own rule bounds it further.
    name: Annotated[
        Annotated[str, Meta(max_length=1_000)], about("How the list of devices names the device.")
    ] = ""
