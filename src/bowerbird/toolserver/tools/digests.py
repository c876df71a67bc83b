"""The tools that list and read digests, and change how often the user gets one."""

from typing import Annotated, Final

import msgspec
from msgspec import Meta, Struct

from bowerbird.assembly import Services
from bowerbird.library.digests.digests import LATEST, PreferencesResponse, rendered
from bowerbird.library.digests.responses import DigestResponse
from bowerbird.model.accounts import Account
from bowerbird.model.digests import Frequency
from bowerbird.requests.exports import DigestsQuery, PreferencesRequest
from bowerbird.requests.fields import about
from bowerbird.toolserver.tools import binding
from bowerbird.toolserver.tools.results import response_size
from bowerbird.toolserver.tools.results.quoted_text import QUOTED_POSTS, shown_text
from bowerbird.toolserver.tools.tool import DESTROYS, READS, BoundTool, Json, Tool

_SECTIONS: Final = ("saved", "unread", "a_year_ago")
# Tried in this order: the maximum length of a text, and the maximum number of labels per post.
_STEPS: Final = ((280, 20), (280, 10), (140, 10), (100, 8))
_QUOTED: Final = f"Content: {QUOTED_POSTS}.\n\n"
_NONE_YET: Final = (
    "There is no digest yet. The user's preferences decide when the next one is written."
)
_LEFT_OUT: Final = "The digest does not fit in one result: texts were truncated, or posts left out."
_ADVICE: Final = f"{_LEFT_OUT} get_bookmarks and list_bookmarks return them."


class GetArguments(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    digest_id: Annotated[
        Annotated[str, Meta(max_length=40)] | None,
        about("digest_id from list_digests, or latest."),
    ] = None


_NO_MAIL: Final = "This service cannot send email yet; digests are only on the website."


class Preferences(Struct, kw_only=True, omit_defaults=True):
    frequency: Frequency
    time_zone: str
    hour: int
    mail: bool
    highlight: bool = False
    mail_available: bool
    next_digest_at: str | None = None
    advice: str = ""


class Summary(Struct, kw_only=True, omit_defaults=True):
    # Only if the posts follow.
    content_is: str = ""
    digest_id: str
    kind: str
    title: str
    first_day: str
    last_day: str
    saved_count: int


class DigestList(Struct, kw_only=True, omit_defaults=True):
    digests: list[Summary]
    count: int
    total_count: int
    next_cursor: str | None
    preferences: Preferences
    advice: str = ""


class SavedPart(Struct, kw_only=True, omit_defaults=True):
    count: int
    by_label: list[Json]
    by_author: list[Json]
    posts: list[Json]


class PostsPart(Struct, kw_only=True, omit_defaults=True):
    count: int
    posts: list[Json]


class DigestContent(Summary, kw_only=True):
    introduction: str | None = None
    saved: SavedPart
    unread: PostsPart
    a_year_ago: PostsPart
    # A post saved long ago.
    forgotten: Json | None = None
    highlight: Json | None = None
    truncated: bool
    advice: str = ""


LIST: Final = Tool(
    name="list_digests",
    title="List digests",
    description=("Lists the user's digests, newest first, and the preferences for them."),
    takes=DigestsQuery,
    returns=DigestList,
    hints=READS,
)
GET: Final = Tool(
    name="get_digest",
    title="Read a digest",
    description=(
        "Returns a digest, the newest without digest_id: what was saved in its period, unread "
        "posts worth reading, posts saved a year ago, and a forgotten one."
    ),
    takes=GetArguments,
    returns=DigestContent,
    hints=READS,
)
PREFERENCES: Final = Tool(
    name="update_digest_preferences",
    title="Change digest preferences",
    description=(
        "Changes how often the user gets a digest, when, and whether by email. Without arguments "
        "it only returns the preferences."
    ),
    takes=PreferencesRequest,
    returns=Preferences,
    # The preferences before are not kept.
    hints=DESTROYS,
)


def bind(services: Services) -> list[BoundTool]:
    digests = services.digests

    async def list_digests(account: Account, values: DigestsQuery) -> DigestList:
        page = await digests.list(account, values)
        return DigestList(
            digests=msgspec.convert(page.digests, list[Summary], from_attributes=True),
            count=len(page.digests),
            total_count=page.total_count,
            next_cursor=page.next_cursor,
            preferences=_preferences(await digests.preferences(account)),
            advice="" if page.total_count else _NONE_YET,
        )

    async def get_digest(account: Account, values: GetArguments) -> DigestContent:
        return _content(await digests.get(account, values.digest_id or LATEST, "json"))

    return [
        binding.reads(LIST, list_digests),
        binding.reads(GET, get_digest),
        binding.writes(services, PREFERENCES, digests.update_preferences, shown=_changed),
    ]


def markdown(digest: DigestResponse) -> str:
    """The digest as Markdown, within the maximum size of a result."""
    max_bytes = response_size.MAX_BYTES
    text = f"{_QUOTED}{rendered(digest, 'markdown').markdown}"
    while len(text.encode()) > response_size.MAX_BYTES:
        # Markdown syntax adds to the size of the record.
        max_bytes = max_bytes * 3 // 4
        short = msgspec.convert(_shrink(msgspec.to_builtins(digest), max_bytes), DigestResponse)
        text = f"{_QUOTED}{rendered(short, 'markdown').markdown}\n{_LEFT_OUT}\n"
    return shown_text(text)


def _content(digest: DigestResponse) -> DigestContent:
    fields: Json = msgspec.to_builtins(digest)
    names = DigestContent.__struct_fields__
    whole = {name: fields[name] for name in names if fields.get(name) is not None}
    short = _shrink(whole, response_size.RECORDS_BYTES)
    state: Json = {"content_is": QUOTED_POSTS, "truncated": short is not whole}
    return msgspec.convert(
        {**short, **state, "advice": "" if short is whole else _ADVICE}, DigestContent
    )


def _shrink(digest: Json, max_bytes: int) -> Json:
    """The digest itself if it fits, otherwise a shorter one with the same sections."""
    short = digest
    for chars, labels in _STEPS:
        if response_size.size(short) <= max_bytes:
            return short
        short = response_size.truncate_all(digest, chars, labels)
    while response_size.size(short) > max_bytes:
        longest = max((short[name]["posts"] for name in _SECTIONS), key=len)
        if not longest:
            return {**short, "forgotten": None}
        longest.pop()
    return short


def _changed(preferences: PreferencesResponse) -> Preferences:
    changed = _preferences(preferences)
    if changed.mail and not changed.mail_available:
        changed.advice = _NO_MAIL
    return changed


def _preferences(preferences: PreferencesResponse) -> Preferences:
    shown = msgspec.convert(preferences, Preferences, from_attributes=True)
    if shown.next_digest_at is not None:
        shown.next_digest_at = response_size.second(shown.next_digest_at)
    return shown
