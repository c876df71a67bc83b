"""/p/{post_id}: one post with all that is stored about it."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any, Final
from urllib.parse import urlencode, urlsplit

import msgspec
from msgspec import Struct

from bowerbird.assembly import Services
from bowerbird.errors import Refusal
from bowerbird.model import json_depth
from bowerbird.model.accounts import Account
from bowerbird.model.posts.networks import name_of
from bowerbird.requests.bookmarks import FlagsRequest, SimilarQuery
from bowerbird.requests.limits import HIGHLIGHT_QUOTE_MAX, NOTE_MAX, PAGE_MAX
from bowerbird.web.account.reading import reading_form
from bowerbird.web.library import post_parts
from bowerbird.web.library.addresses import LIBRARY, of_post, returning
from bowerbird.web.library.changes import UNDO, BulkPages
from bowerbird.web.library.lists import ListPages
from bowerbird.web.library.post_parts import PostParts
from bowerbird.web.library.suggesting import name_problem, suggested
from bowerbird.web.media import ShownImages
from bowerbird.web.visits.pages import VisitPages
from bowerbird.web.visits.router import PageRoute
from bowerbird.web.visits.visit import Visit
from bowerbird.wire.responses import envelope
from bowerbird.wire.responses.envelope import content_meta
from bowerbird.wire.responses.replies import Reply

PATH: Final = "/p/{post_id}"
_SIMILAR_SHOWN: Final = 5
NOT_IN_TEXT: Final = (
    "The text does not have this passage. Copy the words from the post, and paste them unchanged."
)
# Before the post: the posts that it answers, as far as they are saved.
_ANSWERED_SHOWN: Final = 5


class _Id(Struct):
    post_id: str


_ids: Final = msgspec.json.Decoder(list[_Id]).decode


class ReadingPage:
    def __init__(
        self,
        services: Services,
        lists: ListPages,
        pages: VisitPages,
        *,
        many: BulkPages,
        images: ShownImages,
        counted: Callable[[Visit], Awaitable[Mapping[str, Any]]],
    ) -> None:
        """`counted`: the sidebar as it is after a change."""
        self._counted = counted
        self._write, self._flags = services.write, services.flags
        self._images = images
        self._bookmarks = services.bookmarks
        self._suggestions = services.suggestions
        self._lists = lists
        self._many = many
        self._pages = pages

    def routes(self) -> list[PageRoute]:
        return [
            PageRoute("GET", PATH, self.show),
            PageRoute("GET", f"{PATH}/json", self.json, is_page=False),
            PageRoute("GET", f"{PATH}/content", self.content, is_json=True),
        ]

    async def content(self, visit: Visit) -> Reply:
        """Whether the text of a post has come, for a page that waits for it."""
        account, post_id = visit.account, visit.named("post_id")
        found = await self._bookmarks.contents.of(account, post_id)
        return self._pages.json({"mark": found.state, "jobs": []})

    async def json(self, visit: Visit) -> Reply:
        """The bookmark as the API returns it, for the person who is signed in."""
        post_id = visit.named("post_id")
        body, content = await self._bookmarks.get_with_content(visit.account, post_id)
        answer = envelope.success_of_one(body, content_meta(content))
        return self._pages.json(msgspec.Raw(answer))

    async def show(self, visit: Visit) -> Reply:
        account, post_id = visit.account, visit.named("post_id")
        body, content = await self._bookmarks.get_with_content(account, post_id)
        [bookmark] = post_parts.bookmarks_in(body)
        parts = await self._lists.parts(visit)
        await self._images.add(account, parts, [bookmark], with_videos=True)
        before = self._list_before(visit)
        strand, thread = await self._strand(account, bookmark, parts)
        # Before it is marked read, which may take it out of the list.
        known = visit.asked("beside")
        beside = await self._beside(account, post_id, strand, before, known)
        opened = _opened(visit, thread)
        if opened and visit.is_opened_by_person:
            # A post can be read while it cannot be marked; the script of the page tries again.
            with suppress(Refusal):
                post_ids = [each["post_id"] for each in opened]
                await self._write(account, self._flags.update, post_ids, FlagsRequest(is_read=True))
                visit.sidebar = await self._counted(visit)
                body = await self._bookmarks.get(account, post_id)
                [bookmark] = post_parts.bookmarks_in(body)
                opened = []
        # A long note takes up to 0.4 s to render; other requests go on during that time.
        post = await asyncio.to_thread(parts.on_page, bookmark)
        said = visit.asked("said")
        return self._pages.show(
            visit,
            "post.html",
            title=f"{post['name']}: {post['line'][:80]}" if post["line"] else post["name"],
            here=LIBRARY,
            back=_with_list(post_id, before, beside),
            list_before=before,
            previous=beside[0] and _with_list(beside[0], before, ("", post_id)),
            following=beside[1] and _with_list(beside[1], before, (post_id, "")),
            opened=opened,
            opened_fresh=sum(not each.get("is_archived") for each in opened),
            marked=" ".join(each["post_id"] for each in thread) if len(thread) > 1 else "",
            note_max=NOTE_MAX,
            quote_max=HIGHLIGHT_QUOTE_MAX,
            not_in_text=NOT_IN_TEXT,
            name_problem=name_problem,
            post=post,
            star=parts.star,
            content=content,
            network=name_of(post["source"]),
            strand=strand,
            near=await self._near(account, post_id, strand, parts),
            suggested=await suggested(self._suggestions, account, post_id),
            json=msgspec.json.format(json_depth.cut(body), indent=2).decode(),
            **self._images.values(visit),
            reading=reading_form(visit),
            undo=UNDO.get(said),
            undo_post=visit.asked("post"),
            **await self._many.values(visit),
        )

    def _list_before(self, visit: Visit) -> str:
        """The list that the page was opened from: as its URL says, or else the browser."""
        if named := returning(visit.asked("from")):
            return named
        sent = visit.request.headers.get(b"referer", b"").decode("latin-1")
        site = visit.host.origin + self._pages.path("")
        if not sent.startswith(f"{site}/"):
            return ""
        parts = urlsplit(sent.removeprefix(site))
        return returning(f"{parts.path}?{parts.query}" if parts.query else parts.path)

    async def _beside(
        self,
        account: Account,
        post_id: str,
        strand: Sequence[dict[str, Any]],
        before: str,
        known: str,
    ) -> tuple[str, str]:
        """The posts before and after it in the page of the list that it was opened from.

        Not those that its page shows already. `known` has those that the page before knew: posts
        leave a list when they are read.
        """
        if not before:
            return "", ""
        previous, _, following = known.partition(" ")
        try:
            found = await self._lists.found_at(account, before)
        except Refusal:
            return "", ""
        shown = {part["id"] for part in strand} - {post_id}
        ids = [each.post_id for each in _ids(b"[%b]" % found) if each.post_id not in shown]
        if post_id not in ids:
            return previous, following
        place = ids.index(post_id)
        earlier = ids[place - 1] if place else ""
        return previous or earlier, following or "".join(ids[place + 1 : place + 2])

    async def _strand(
        self, account: Account, bookmark: dict[str, Any], parts: PostParts
    ) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        """The saved posts of its thread, or those that it answers, and the post itself.

        Then those that are read as one: of the thread, or only the post.
        """
        meta = _meta(bookmark)
        first_id = meta.get("tweet_conversation_id")
        if (meta.get("tweet_is_thread") or meta.get("is_sub_tweet_of_thread")) and isinstance(
            first_id, str
        ):
            found = post_parts.bookmarks_in(await self._bookmarks.thread(account, first_id))
            author = _author(bookmark)
            found = [each for each in found if _author(each) == author]
            if any(each["post_id"] == bookmark["post_id"] for each in found):
                await self._images.add(account, parts, found, with_videos=True)
                return [parts.on_page(each, is_part=True) for each in found], found
        strand = [bookmark]
        seen = {bookmark["post_id"]}
        while len(strand) <= _ANSWERED_SHOWN:
            answered = _meta(strand[0]).get("tweet_reply_to_tweet_id")
            if not isinstance(answered, str) or answered in seen:
                break
            body = await self._bookmarks.found(account, answered)
            if body is None:
                break
            seen.add(answered)
            strand = [*post_parts.bookmarks_in(body), *strand]
        await self._images.add(account, parts, strand[:-1], with_videos=True)
        return [parts.on_page(each, is_part=True) for each in strand], [bookmark]

    async def _near(
        self, account: Account, post_id: str, strand: Sequence[dict[str, Any]], parts: PostParts
    ) -> list[dict[str, Any]]:
        """Similar posts, if the plan includes them and the vectors are ready.

        Not those that the page shows already.
        """
        if account.is_free:
            return []
        vectors = await self._bookmarks.vector_state(account)
        if vectors.store is None:
            return []
        shown = {each["id"] for each in strand}
        most = _SIMILAR_SHOWN + len(shown)
        try:
            found = await self._bookmarks.similar(
                account, post_id, SimilarQuery(limit=min(most, PAGE_MAX)), vectors
            )
        except Refusal:
            # The post is worth reading without them.
            return []
        others = (
            each for each in post_parts.bookmarks_in(found.body) if each["post_id"] not in shown
        )
        return [parts.nearby(each) for each in islice(others, _SIMILAR_SHOWN)]


def _with_list(post_id: str, before: str, beside: tuple[str, str]) -> str:
    if not before:
        return of_post(post_id)
    known = {"beside": " ".join(beside)} if any(beside) else {}
    return f"{of_post(post_id)}?{urlencode({'from': before, **known})}"


def _opened(visit: Visit, posts: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The posts that opening the page marks read: none after somebody has changed them there."""
    if not visit.signed_in.reading.marks_read or {"said", "change"} & set(visit.query):
        return []
    return [each for each in posts if not each.get("is_read")]


def _author(bookmark: dict[str, Any]) -> str:
    handle = bookmark.get("author_username")
    return handle.lower() if isinstance(handle, str) else ""


def _meta(bookmark: dict[str, Any]) -> dict[str, Any]:
    details = bookmark.get("tweet_details")
    meta = details.get("meta") if isinstance(details, dict) else None
    return meta if isinstance(meta, dict) else {}
