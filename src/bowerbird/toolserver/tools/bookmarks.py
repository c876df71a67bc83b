"""The tools that show saved posts in full, and count them."""

from functools import partial
from typing import Annotated, ClassVar, Final

import msgspec
from msgspec import Meta, Struct

from bowerbird import errors
from bowerbird.assembly import Services
from bowerbird.errors import Code, Refusal
from bowerbird.library.bookmarks.bookmarks import Bookmarks
from bowerbird.library.statistics import Facets
from bowerbird.model import json_depth
from bowerbird.model.accounts import Account
from bowerbird.requests import filters, limits
from bowerbird.requests.bookmarks import (
    CountQuery,
    FacetBy,
    FacetsQuery,
    Limit,
)
from bowerbird.requests.fields import about, unique
from bowerbird.requests.filters import WordFilters
from bowerbird.search.queries import query_language
from bowerbird.toolserver.tools import binding, vocabulary
from bowerbird.toolserver.tools.results import guidance, response_size
from bowerbird.toolserver.tools.results.guidance import EmptyLists
from bowerbird.toolserver.tools.results.posts import Post
from bowerbird.toolserver.tools.results.quoted_text import QUOTED_POSTS, shown_name
from bowerbird.toolserver.tools.tool import READS, BoundTool, Json, Tool

_CHARS: Final = 4_000
_OFFSET_MAX: Final = 10_000_000


class GetArguments(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    post_ids: Annotated[
        list[Annotated[str, Meta(pattern=r"^[0-9]{1,40}$")]],
        Meta(
            min_length=1,
            max_length=limits.TOOL_FULL_POSTS_MAX,
            description="Ids of the posts.",
        ),
    ]
    max_chars: Annotated[
        Annotated[int, Meta(ge=280, le=20_000)] | None,
        about("Maximum length of each text.", parameter={"default": _CHARS}),
    ] = None
    offset: Annotated[
        Annotated[int, Meta(ge=0, le=_OFFSET_MAX)] | None,
        about("next_offset of a post, to read on in its texts.", parameter={"default": 0}),
    ] = None

    def __post_init__(self) -> None:
        unique(self, "post_ids")


class FacetArguments(WordFilters, frozen=True, kw_only=True):
    DEFAULTS: ClassVar[dict[str, bool]] = {"is_unread_only": False, "hide_archived": False}
    UNLISTED: ClassVar = (
        *("is_unread_only", "hide_archived", "unlabelled", "bookmarked_from", "bookmarked_to"),
    )

    by: FacetBy
    limit: Limit = None


class FullPosts(Struct, kw_only=True, omit_defaults=True):
    content_is: str
    bookmarks: Annotated[list[Json], Meta(extra={"items": Post})]
    # Ids that are not in the library, and ids of posts that did not fit.
    not_found: list[str]
    left_out: list[str]
    truncated: bool
    advice: str = ""


class Counts(Struct, kw_only=True, omit_defaults=True):
    count: int
    total: int
    # Archived ones too.
    unread: int
    archived: int
    filters: Json
    advice: str = ""


class FacetCounts(Struct, kw_only=True, omit_defaults=True):
    content_is: str = ""
    facets: list[Json]
    count: int
    total_count: int
    bookmarks: int
    filters: Json
    advice: str = ""


GET: Final = Tool(
    name="get_bookmarks",
    title="Show saved posts in full",
    description=(
        "Returns up to 20 saved posts with all fields: full text, note, highlights, article, "
        "quoted post, counts. A post with truncated true has longer texts: send its next_offset as "
        "offset to read on."
    ),
    takes=GetArguments,
    returns=FullPosts,
    hints=READS,
)
COUNT: Final = Tool(
    name="count_bookmarks",
    title="Count saved posts",
    description=(
        "Counts the posts that match, and all in the library. Without arguments it counts unread "
        "posts that are not archived; unread in the result includes archived posts."
    ),
    takes=WordFilters,
    returns=Counts,
    hints=READS,
)
FACETS: Final = Tool(
    name="facet_bookmarks",
    title="Count saved posts by a property",
    description=(
        "Counts the posts that match by author, label, month and the like, largest count or latest "
        "month first, read and archived posts too. Shows who or what is saved most without reading "
        "a list."
    ),
    takes=FacetArguments,
    returns=FacetCounts,
    hints=READS,
)


def bind(services: Services) -> list[BoundTool]:
    bookmarks = services.bookmarks

    async def get_bookmarks(account: Account, values: GetArguments) -> FullPosts:
        found, not_found = await _found(bookmarks, account, values.post_ids)
        if not found:
            raise errors.not_found("post", ", ".join(values.post_ids[:3]))
        return _details(found, not_found, values)

    async def count_bookmarks(account: Account, values: WordFilters) -> Counts:
        sent = filters.sent(values)
        query = CountQuery(**sent)
        counts = await bookmarks.count(account, query)
        applied = response_size.short_filters(
            vocabulary.in_published_words({**filters.flags_of(values), **sent})
        )
        if not counts.count:
            advice = [await EmptyLists(bookmarks).of_filters(account, sent)]
        else:
            advice = [
                *query_language.parse((values.q or "").strip()).hints,
                *await guidance.of_query(bookmarks, account, query, counts.count),
            ]
        found = msgspec.structs.asdict(counts)
        return Counts(**found, filters=applied, advice=" ".join(advice))

    return [
        binding.reads(GET, get_bookmarks),
        # Without arguments it is free, as in REST: clients use it to check a key.
        binding.reads(COUNT, count_bookmarks, counts=lambda sent: bool(binding.named(sent))),
        binding.reads(FACETS, partial(_facet, services)),
    ]


async def _found(
    bookmarks: Bookmarks, account: Account, post_ids: list[str]
) -> tuple[list[bytes], list[str]]:
    found: list[bytes] = []
    missing: list[str] = []
    for post_id in post_ids:
        try:
            found.append((await bookmarks.get_with_content(account, post_id))[0])
        except Refusal as refused:
            if refused.code is not Code.NOT_FOUND:
                raise
            missing.append(post_id)
    return found, missing


def _details(found: list[bytes], not_found: list[str], values: GetArguments) -> FullPosts:
    offset, max_chars = values.offset or 0, values.max_chars or _CHARS
    posts: list[Json] = [msgspec.json.decode(json_depth.cut(body)) for body in found]
    # Each id occurs once: in not_found, in left_out, or with its post.
    ids_size = response_size.size([*not_found, *(post["post_id"] for post in posts)])
    max_bytes = response_size.MAX_BYTES - response_size.OVERHEAD_BYTES // 2 - ids_size
    first, *others = posts
    parts = [response_size.fitting_part(first, offset, max_chars, max_bytes - len("[]"))]
    parts += [response_size.part_of(post, offset, max_chars) for post in others]
    fitted = response_size.fit(parts, max_bytes)
    left_out = [post["post_id"] for post in posts[len(fitted.records) :]]
    is_cut = any(post["truncated"] for post in fitted.records)
    advice = [response_size.TRUNCATED] if is_cut or fitted.is_truncated else []
    if any("next_offset" in post for post in fitted.records):
        advice.append("Send the id of a post and its next_offset as offset to read on.")
    if left_out:
        advice.append("Call again with the ids in left_out, or with a smaller max_chars.")
    if offset and all(post["text_length"] <= offset for post in fitted.records):
        longest = max(post["text_length"] for post in fitted.records)
        advice.append(f"offset is past the end: the longest text has {longest:,} characters.")
    return FullPosts(
        content_is=QUOTED_POSTS,
        bookmarks=fitted.records,
        not_found=not_found,
        left_out=left_out,
        truncated=is_cut or not fitted.is_complete,
        advice=" ".join(advice),
    )


async def _facet(services: Services, account: Account, values: FacetArguments) -> FacetCounts:
    given = {**FacetArguments.DEFAULTS, **filters.sent(values)}
    query = FacetsQuery(**given, by=values.by, limit=values.limit)
    found = await services.facets.of(account, query)
    advice = _advice(found, values.limit)
    if not found.posts:
        advice = await EmptyLists(services.bookmarks).of_filters(account, given)
    shown = response_size.short_filters(vocabulary.in_published_words(given))
    return _counted(found, values.by, shown, advice)


def _counted(found: Facets, by: str, filters: Json, advice: str) -> FacetCounts:
    whole: list[Json] = msgspec.to_builtins(found.facets)
    if by == "label":
        whole = [{**one, "value": shown_name(one["value"])} for one in whole]
    shown = response_size.fit(whole, response_size.RECORDS_BYTES).records if whole else []
    return FacetCounts(
        content_is=QUOTED_POSTS if shown else "",
        facets=shown,
        count=len(shown),
        total_count=found.values,
        bookmarks=found.posts,
        filters=filters,
        advice=advice,
    )


def _advice(found: Facets, limit: int | None) -> str:
    if not found.values:
        return f"{found.posts} posts match, but none of them has such a value."
    sentences = []
    if found.read is not None:
        sentences.append(f"Only the {found.read} posts saved last of {found.posts} were read.")
    # Who sends a limit wants no more values; total_count has their number.
    if limit is None and len(found.facets) < found.values:
        more = found.values - len(found.facets)
        sentences.append(f"{more} more values; send a larger limit to see them.")
    return " ".join(sentences)
