"""Requests of devices to /ingest/v1, of the list of imports, and of codes that connect devices."""

from typing import Annotated, Any, Final, Literal

from msgspec import Meta, Raw, Struct

from bowerbird.model import instants
from bowerbird.requests import limits
from bowerbird.requests.bookmarks import Limit
from bowerbird.requests.fields import InvalidField, LabelName, about, unique

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
