"""/highlights: all notes and highlights of an account, by post, and one of them each day.

Also what the forms of a post's page do with its note and highlights. Each change can be undone.
"""

import re
from collections.abc import AsyncIterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final, get_args
from urllib.parse import urlencode

from markupsafe import Markup, escape

from bowerbird.assembly import Services
from bowerbird.errors import Refusal
from bowerbird.library.bookmarks.annotated_posts import AnnotatedPost, Kind
from bowerbird.model.accounts import Account
from bowerbird.model.bulk import BulkRow
from bowerbird.requests import decoding
from bowerbird.requests.bookmarks import HighlightChange, NewHighlight, UpdateRequest
from bowerbird.search.queries.term_spans import Span
from bowerbird.web.library import post_parts
from bowerbird.web.library.addresses import LIBRARY, of_post, returning, saying
from bowerbird.web.library.lists import ListPages
from bowerbird.web.library.post_parts import PostParts, note_markup
from bowerbird.web.library.reading import NOT_IN_TEXT
from bowerbird.web.visits.pages import VisitPages, attachment
from bowerbird.web.visits.router import PageRoute
from bowerbird.web.visits.visit import Visit
from bowerbird.wire.responses.replies import Reply

PATH: Final = "/highlights"
DOWNLOAD: Final = f"{PATH}/download"
AGAIN: Final = f"{PATH}/again"
_LEFT_OUT: Final = "not-again"
_KINDS: Final[dict[Kind, str]] = {"both": "Both", "highlights": "Highlights", "notes": "Notes"}
# The page of the post has the rest.
_NOTE_SHOWN: Final = 2_000
_MANY: Final = 999
_SIGNS: Final = re.compile(r"([\\`*_\[\]<>#~|])")

Values = dict[str, Any]


class HighlightPages:
    def __init__(self, services: Services, lists: ListPages, pages: VisitPages) -> None:
        self._posts = services.annotated
        self._lists = lists
        self._pages = pages
        self._clock = services.clock

    def routes(self) -> list[PageRoute]:
        return [
            PageRoute("GET", PATH, self.show),
            PageRoute("GET", DOWNLOAD, self.download),
            PageRoute("POST", AGAIN, self.again, page=PATH),
        ]

    async def show(self, visit: Visit) -> Reply:
        account, kind = visit.account, _kind(visit)
        search, cursor = visit.asked("q").strip(), visit.query.get("cursor") or None
        problem, counts = "", await self._posts.counts(account)
        parts = await self._lists.parts(visit)
        posts: Sequence[AnnotatedPost] = ()
        older = ""
        try:
            page = await self._posts.page(account, kind, search, cursor)
            posts = page.posts
            older = _url(q=search, show=kind, cursor=page.next_cursor) if page.next_cursor else ""
        except Refusal as refused:
            if cursor:
                # Not one of this list.
                return self._pages.go(_url(q=search, show=kind))
            problem = refused.sentence
        is_first = cursor is None and not search
        return self._pages.show(
            visit,
            "highlights.html",
            status=400 if problem else 200,
            problem=problem,
            counts=counts,
            search=search,
            kind=kind,
            kinds=[(name, text, _url(q=search, show=name)) for name, text in _KINDS.items()],
            posts=[_row(one, kind, parts) for one in posts],
            older=older,
            newest="" if cursor is None else _url(q=search, show=kind),
            download=f"{DOWNLOAD}?{urlencode({'show': kind})}",
            daily=await self.daily(visit, parts) if is_first else None,
            left_out=visit.asked("post") if visit.query.get("said") == _LEFT_OUT else "",
        )

    async def again(self, visit: Visit) -> Reply:
        """Leaves the post of a day out from now on, or takes that back."""
        account, post_id = visit.account, visit.sent("post")
        is_wanted = visit.form.get("again") == "true"
        await self._posts.show_again(account, post_id, is_wanted=is_wanted)
        if is_wanted:
            return self._pages.go(_url(said="again"))
        return self._pages.go(_url(said=_LEFT_OUT, post=post_id))

    async def daily(self, visit: Visit, parts: PostParts | None = None) -> Values | None:
        """What `daily.html` takes: the note or highlight of the day, or another one."""
        account, skipped = visit.account, _skipped(visit)
        day = visit.times.local(self._clock()).date()
        found, chosen = await self._posts.of_day(account, day, skipped)
        if not found:
            return None
        [bookmark] = post_parts.bookmarks_in(found)
        post = (parts or await self._lists.parts(visit)).annotated(bookmark)
        passages = post["highlights"]
        passage = passages[chosen % len(passages)] if passages else None
        return {
            "post": post,
            "passage": passage,
            "note": "" if passage else note_markup(post["note"][:_NOTE_SHOWN]),
            "place": f"h-{passage['id']}" if passage else "note",
            "another": _url(another=str(skipped + 1)),
        }

    async def download(self, visit: Visit) -> Reply:
        account, kind = visit.account, _kind(visit)
        parts = await self._lists.parts(visit)
        day = visit.times.local(self._clock()).date().isoformat()
        written = self._written(account, kind, parts)
        return attachment(f"highlights-{day}.md", "text/markdown; charset=utf-8", stream=written)

    async def _written(
        self, account: Account, kind: Kind, parts: PostParts
    ) -> AsyncIterator[bytes]:
        """The file, some posts at a time."""
        yield b"# Highlights and notes\n"
        async for bookmarks in self._posts.all(account, kind):
            posts = post_parts.bookmarks_in(b",".join(bookmarks))
            yield "".join(_written(parts.annotated(one), kind) for one in posts).encode()


def _kind(visit: Visit) -> Kind:
    sent = visit.asked("show")
    return next((kind for kind in get_args(Kind) if kind == sent), "both")


def _skipped(visit: Visit) -> int:
    sent = visit.asked("another")
    return min(int(sent[:4]), _MANY) if sent.isascii() and sent.isdigit() else 0


def _url(**values: str) -> str:
    kept = {name: value for name, value in values.items() if value and value != "both"}
    return f"{PATH}?{urlencode(kept)}" if kept else PATH


def _row(one: AnnotatedPost, kind: Kind, parts: PostParts) -> Values:
    """A post with those of its notes and highlights that are shown, and the found words marked."""
    [bookmark] = post_parts.bookmarks_in(one.bookmark)
    post, found = parts.annotated(bookmark), one.found
    note = "" if kind == "highlights" else post["note"]
    passages = [] if kind == "notes" else post["highlights"]
    if found:
        passages = [
            each for each in passages if found.get(each["quote"]) or found.get(each["comment"])
        ]
        note = note if found.get(note) else ""
    return post | {
        "highlights": [
            each | {name: _marked(each[name], found) for name in ("quote", "comment")}
            for each in passages
        ],
        "note": _marked(note, found, _NOTE_SHOWN) if found else note_markup(note[:_NOTE_SHOWN]),
        "is_cut": len(note) > _NOTE_SHOWN,
        "is_text": bool(found),
    }


def _marked(text: str, found: Mapping[str, Sequence[Span]], most: int | None = None) -> Markup:
    """Escaped text with the found words marked."""
    spans = [span for span in found.get(text, ()) if most is None or span[1] <= most]
    end = len(text) if most is None else most
    edges = [0, *(edge for span in spans for edge in span), end]
    pieces = [escape(text[start:stop]) for start, stop in pairwise(edges)]
    pieces[1::2] = [Markup("<mark>{}</mark>").format(piece) for piece in pieces[1::2]]
    return Markup("").join(pieces)


def _written(post: Values, kind: Kind) -> str:
    """A post in Markdown. Texts of others are escaped; the owner's note is Markdown already."""
    title = _line(post["line"]) or "Without text"
    url = post["original"]
    lines = [f"\n## {_line(post['name'])}: {f'[{title}](<{url}>)' if url else title}"]
    if kind != "notes":
        for each in post["highlights"]:
            lines.append("\n".join(f"> {_plain(line)}" for line in each["quote"].splitlines()))
            if each["comment"]:
                lines.append(_plain(each["comment"]))
    if post["note"] and kind != "highlights":
        lines.append(post["note"])
    return "\n\n".join(lines) + "\n"


def _line(text: str) -> str:
    return _plain(" ".join(text.split()))


def _plain(text: str) -> str:
    return _SIGNS.sub(r"\\\1", text)


_POST: Final = "/p/{post_id}"
# A note of 20,000 characters of four bytes, each written as %XX.
MAX_NOTE_FORM_BYTES: Final = 256 * 1024


class NotePages:
    def __init__(self, services: Services, pages: VisitPages) -> None:
        self._flags, self._highlights = services.flags, services.highlights
        self._write = services.write
        self._pages = pages

    def routes(self) -> list[PageRoute]:
        most = MAX_NOTE_FORM_BYTES
        marks = {"": self.mark, "/comment": self.comment, "/remove": self.unmark}
        return [
            PageRoute(
                *("POST", f"{_POST}/note", self.note),
                page=LIBRARY,
                back=_back,
                max_form_bytes=most,
            ),
            PageRoute(
                *("POST", f"{_POST}/note/json", self.note_by_script),
                is_json=True,
                page=LIBRARY,
                max_form_bytes=most,
            ),
            *(
                PageRoute("POST", f"{_POST}/highlights{path}", change, page=LIBRARY, back=_back)
                for path, change in marks.items()
            ),
        ]

    async def note(self, visit: Visit) -> Reply:
        row = await self._set_note(visit)
        done = "note-saved" if _note(visit).note else "note-removed"
        return self._after(visit, "note-same" if row is None else done, "note", row)

    async def note_by_script(self, visit: Visit) -> Reply:
        """Saves the note while its page stays open."""
        row = await self._set_note(visit)
        change = "" if row is None else row.change_id
        return self._pages.json({"has_note": bool(_note(visit).note), "change": change})

    async def _set_note(self, visit: Visit) -> BulkRow | None:
        request = _note(visit)
        change = self._write(visit.account, self._flags.update_one, _post_id(visit), request)
        return (await change)[1]

    async def mark(self, visit: Visit) -> Reply:
        form = visit.form
        sent: dict[str, object] = {
            name: _text(form[name]) for name in ("field", "quote", "comment") if form.get(name)
        }
        offsets = {name: form[name] for name in ("start", "end") if form.get(name, "").isdecimal()}
        # Longer numbers are no offsets, and take long to read.
        sent |= {name: int(value[:9]) for name, value in offsets.items()}
        request, add = decoding.convert(sent, NewHighlight), self._highlights.add
        try:
            made, row = await self._write(visit.account, add, _post_id(visit), request)
        except Refusal as refused:
            if not refused.sentence.startswith("quote: is not in"):
                raise
            # The page of the post shows the form again, with what was typed.
            if visit.keep_unsent(_page(visit).partition("?")[0]):
                return self._pages.go(f"{_page(visit)}#mark")
            raise Refusal(refused.code, NOT_IN_TEXT) from None
        return self._after(visit, "highlight-added", f"h-{made.id}", row)

    async def comment(self, visit: Visit) -> Reply:
        place = (_post_id(visit), visit.sent("highlight"))
        sent = {"comment": _text(visit.sent("comment"))}
        request, update = decoding.convert(sent, HighlightChange), self._highlights.update
        _, row = await self._write(visit.account, update, *place, request)
        return self._after(visit, "comment-saved", "highlights", row)

    async def unmark(self, visit: Visit) -> Reply:
        place = (_post_id(visit), visit.sent("highlight"))
        _, row = await self._write(visit.account, self._highlights.remove, *place)
        return self._after(visit, "highlight-removed", "highlights", row)

    def _after(self, visit: Visit, said: str, place: str, row: BulkRow | None) -> Reply:
        """Returns to the post at the place of the change, with a message and its undo."""
        change = {} if row is None else {"change": row.change_id}
        return self._pages.go(f"{saying(_page(visit), said=said, **change)}#{place}")


def _post_id(visit: Visit) -> str:
    post_id: str = visit.named("post_id")
    return post_id


def _page(visit: Visit) -> str:
    """The page of the post, which remembers the list that it was opened from."""
    shown = visit.form.get("page") or _post_id(visit)
    path = of_post(shown if shown.isascii() and shown.isdigit() else _post_id(visit))
    before = returning(visit.sent("from"))
    return f"{path}?{urlencode({'from': before})}" if before else path


def _back(visit: Visit) -> tuple[str, str]:
    return _page(visit), "Back"


def _note(visit: Visit) -> UpdateRequest:
    """The note that a form has. Too long a note, or one of another type, is refused."""
    return decoding.convert({"note": _text(visit.sent("note"))}, UpdateRequest)


def _text(text: str) -> str:
    """Forms send line breaks as two characters."""
    return text.replace("\r\n", "\n")
