"""/save: saves a post by its link. A bookmarklet and the share sheet of a phone send one too.

With scripts, saving.js shows the same form as a dialog on every page.

Also the forms of the demo library.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import quote, urlencode

import msgspec

from bowerbird.assembly import Services
from bowerbird.connections.published import endpoint_of
from bowerbird.errors import Code, Refusal
from bowerbird.library.demo import Demo
from bowerbird.model.accounts import Account
from bowerbird.model.labels import name_key
from bowerbird.model.posts.bookmarks import Post, PostDetails, time_in_id
from bowerbird.model.posts.networks import name_of, named
from bowerbird.requests.bookmarks import UpdateRequest
from bowerbird.requests.limits import NOTE_MAX
from bowerbird.requests.saving import SaveRequest
from bowerbird.sources import post_links
from bowerbird.sources.found import FoundPost
from bowerbird.sources.post_links import MAX_LINK_CHARACTERS, PostLink
from bowerbird.web.library import post_parts
from bowerbird.web.library.addresses import LIBRARY, of_post, saying, sender
from bowerbird.web.library.lists import ListPages
from bowerbird.web.library.suggesting import name_problem, shown, suggested
from bowerbird.web.notes import MAX_NOTE_FORM_BYTES
from bowerbird.web.visits.formats import Times
from bowerbird.web.visits.pages import VisitPages
from bowerbird.web.visits.router import PageRoute
from bowerbird.web.visits.visit import Visit
from bowerbird.wire import writes
from bowerbird.wire.responses.replies import Reply

PATH: Final = "/save"
PREVIEW: Final = "/save/preview"
# The parameters of the share target and of the bookmarklet, the most exact first.
SHARED: Final = ("url", "text", "title")
_ADDRESS: Final = re.compile(r"(?:https?|at)://[^\s<>\"']{1,2048}", re.IGNORECASE)
_END: Final = ".,;:!?)]}\u2019\u201d\uff09\u300d"
_READ: Final = 4_000
_SUGGESTED: Final = 200
_SHOWN: Final = 700


class SavePage:
    def __init__(self, services: Services, lists: ListPages, pages: VisitPages) -> None:
        self._saving = services.saving
        self._links = services.links
        self._bookmarks = services.bookmarks
        self._labels = services.labels
        self._flags, self._write = services.flags, services.write
        self._suggestions = services.suggestions
        self._lists = lists
        self._pages = pages

    def routes(self) -> list[PageRoute]:
        return [
            PageRoute("GET", PATH, self.show),
            PageRoute(
                *("POST", PATH, self.save),
                page=PATH,
                again=self.show,
                max_form_bytes=MAX_NOTE_FORM_BYTES,
            ),
            PageRoute("GET", PREVIEW, self.preview, is_json=True),
        ]

    async def preview(self, visit: Visit) -> Reply:
        """The text of a post that is not saved yet; "" if its network publishes none."""
        site = visit.request.headers.get(b"sec-fetch-site", b"same-origin")
        # A page of another site must not make this server ask anybody.
        post = post_links.parse(visit.asked("link")) if site == b"same-origin" else None
        account = visit.account
        found = None if post is None else await self._links.preview(account, post)
        record = found.record if isinstance(found, FoundPost) else None
        text = "" if record is None else record.tweet_details.text
        author = (post and post.author_username) or (record and record.author_username) or ""
        labels = await self._fitting(account, author, text) if record is not None else []
        return self._pages.json({"text": text[:_SHOWN], "labels": labels})

    async def save(self, visit: Visit) -> Reply:
        account, link = visit.account, _typed_link(visit)
        request = _request(account, link, visit.sent("labels"))
        note = _note(visit)
        before = await self._labels_of(account, link)
        result, _ = await self._saving.save_now(account, request.items, request.labels or ())
        [item] = result.results
        if item.error is not None or item.post_id is None:
            problem = item.error.message if item.error else ""
            raise Refusal(Code.INVALID_REQUEST, problem.removeprefix("links[0]: "))
        left_out = {name_key(name) for name in item.labels_left_out or ()}
        wanted = {name_key(name) for name in request.labels or ()} - left_out
        said = "link-saved" if before is None else _said(wanted, wanted - before)
        if before is None and note.note:
            await self._write(account, self._flags.update_one, item.post_id, note)
        # A dialog goes back to the page under it.
        path = sender(visit.sent("back"), of_post(item.post_id))
        return self._pages.go(saying(path, said=said, post=item.post_id))

    async def _labels_of(self, account: Account, link: str) -> set[str] | None:
        """The keys of the labels of a known post."""
        post = post_links.parse(link)
        body = await self._found(account, post)
        if not body:
            return None
        [bookmark] = post_parts.bookmarks_in(body)
        return {name_key(name) for name in bookmark.get("tags") or ()}

    async def _found(self, account: Account, post: PostLink | None) -> bytes | None:
        """The post in the library, under this or another address of it."""
        if post is None:
            return None
        known = None
        if post.network == post_links.BLUESKY:
            known = await self._saving.addresses.known(account, post.source_id)
        return await self._bookmarks.found(account, known.post_id if known else post.post_id)

    async def show(self, visit: Visit) -> Reply:
        account = visit.account
        link = _typed_link(visit) if visit.refused else shared_link(visit.query)
        post = post_links.parse(link) if link else None
        uses, _ = await self._labels.listed.uses(account)
        known = await self._found(account, post)
        return self._pages.show(
            visit,
            "save.html",
            link=link,
            post=None if post is None else _words(post, visit.times),
            known=await self._known(visit, known) if known else None,
            fitting=await self._suggested(visit, post, known),
            shared=None if known else _shared(visit.query, link),
            back=sender(visit.sent("back"), ""),
            note=visit.sent("note"),
            note_max=NOTE_MAX,
            preview_path=_preview_path(post) if self._links.is_on and not known else "",
            not_a_post=_not_a_post(link) if link and post is None else "",
            supported=named("or"),
            labels=visit.sent("labels"),
            label_names=[use.label_name for use in uses[:_SUGGESTED]],
            can_label=not account.is_free,
        )

    async def _suggested(
        self, visit: Visit, post: PostLink | None, known: bytes | None
    ) -> list[dict[str, Any]]:
        account = visit.account
        if known is not None:
            [bookmark] = post_parts.bookmarks_in(known)
            return await suggested(self._suggestions, account, str(bookmark["post_id"]))
        if post is None:
            return []
        words = _shared(visit.query, post.link) or {}
        return await self._fitting(account, post.author_username, " ".join(words.values()))

    async def _fitting(self, account: Account, author: str, text: str) -> list[dict[str, Any]]:
        if account.is_free:
            return []
        return shown(await self._suggestions.of_new(account, author, text))

    async def _known(self, visit: Visit, body: bytes) -> dict[str, Any]:
        """A post of the library, as the form shows it."""
        [bookmark] = post_parts.bookmarks_in(body)
        parts = await self._lists.parts(visit)
        return {
            **parts.in_line(bookmark, "bookmarked_at"),
            "posted": parts.nearby(bookmark)["date"],
            "since": visit.times.day_of(str(bookmark.get("bookmarked_at") or "")),
        }


def bookmarklet(address: str) -> str:
    """A bookmark that opens /save for the page that is shown. `address` is that of our site."""
    # In a window of its own, which cannot reach the page.
    code = f"open('{address}{PATH}?url='+encodeURIComponent(location.href),'_blank','noopener')"
    return "javascript:void " + quote(code, safe="'()?=+,:/.")


def shared_link(fields: Mapping[str, str]) -> str:
    """The first link to a post in what was shared, or else the first link, or ''."""
    found = [link for name in SHARED for link in _links(fields.get(name, ""))]
    return next((link for link in found if post_links.parse(link)), found[0] if found else "")


def _links(text: str) -> Iterator[str]:
    for match in _ADDRESS.finditer(text[:_READ]):
        link = match.group().rstrip(_END)
        if len(link) <= MAX_LINK_CHARACTERS:
            yield link


def _words(post: PostLink, times: Times) -> dict[str, Any]:
    source = "" if post.network == post_links.X else post.network
    dated = Post(
        post_id=post.post_id,
        tweet_details=PostDetails(),
        source=source,
        source_id=post.source_id,
    )
    return {
        "posted": times.day_of(time_in_id(dated)),
        "network": name_of(post.network),
        "author": post.author_username,
        "link": post.link if post.link.startswith("http") else "",
    }


def _shared(fields: Mapping[str, str], link: str) -> dict[str, str] | None:
    """The title and the text that a share sheet sent with the link."""
    found = {
        name: " ".join(fields.get(name, "")[:_READ].replace(link, " ").split())[:_SHOWN]
        for name in ("title", "text")
    }
    return found if any(found.values()) else None


def _not_a_post(link: str) -> str:
    if post_links.is_short(link):
        return f"This is {post_links.SHORT_ADVICE}"
    return (
        "This is not a link to a post, so it cannot be saved. A link to a post of "
        f"{named('or')} can."
    )


def _typed_link(visit: Visit) -> str:
    return visit.sent("link").strip()


def _note(visit: Visit) -> UpdateRequest:
    note = visit.sent("note").replace("\r\n", "\n").strip()
    if len(note) > NOTE_MAX:
        raise Refusal(Code.INVALID_REQUEST, f"A note has at most {NOTE_MAX:,} characters.")
    return UpdateRequest(note=note)


def _preview_path(post: PostLink | None) -> str:
    has_source = post is not None and endpoint_of(post) is not None
    return f"{PREVIEW}?{urlencode({'link': post.link})}" if post and has_source else ""


def _said(wanted: set[str], added: set[str]) -> str:
    """The message about a post that was there already."""
    if added:
        return f"labels-added-{len(added)}"
    return "labels-there" if wanted else "link-known"


def _request(account: Account, link: str, labels: str) -> SaveRequest:
    """The form as a request of the API, which has all its rules."""
    names = list(dict.fromkeys(name.strip() for name in labels.split(",") if name.strip()))
    if problem := next(filter(None, map(name_problem, names)), ""):
        raise Refusal(Code.INVALID_REQUEST, problem)
    body = {"links": [link], **({"labels": names} if names else {})}
    request = writes.admitted(account, msgspec.json.encode(body), SaveRequest, lambda _: None)
    if isinstance(request, Refusal):
        raise request
    return request


FILL: Final = "/library/demo"
REMOVE: Final = "/library/demo/remove"


def demo_routes(demo: Demo) -> list[PageRoute]:
    return [
        PageRoute(
            *("POST", FILL, lambda visit: demo.fill(visit.account)),
            page=LIBRARY,
            back=(LIBRARY, "To the library"),
            done=f"{LIBRARY}?said=demo-filled",
        ),
        PageRoute(
            *("POST", REMOVE, lambda visit: demo.remove(visit.account)),
            page=LIBRARY,
            done=f"{LIBRARY}?said=demo-removed",
        ),
    ]
