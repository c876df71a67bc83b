"""What the forms of a post's page do with its note and highlights. Each change can be undone."""

from collections.abc import Awaitable, Callable
from typing import Final
from urllib.parse import urlencode

import msgspec

from bowerbird.assembly import Services
from bowerbird.errors import Refusal
from bowerbird.model.bulk import BulkRow
from bowerbird.requests import decoding
from bowerbird.requests.bookmarks import HighlightChange, NewHighlight, UpdateRequest
from bowerbird.web.library.addresses import LIBRARY, of_post, returning, saying
from bowerbird.web.visits.pages import VisitPages
from bowerbird.web.visits.router import PageRoute
from bowerbird.web.visits.visit import Visit
from bowerbird.wire.responses.replies import Reply

PATH: Final = "/p/{post_id}"
# A note of 20,000 characters of four bytes, each written as %XX.
MAX_NOTE_FORM_BYTES: Final = 256 * 1024
_NOT_FOUND: Final = (
    "The text does not have this passage. Copy the words from the post, and paste them unchanged."
)


class NotePages:
    def __init__(self, services: Services, pages: VisitPages) -> None:
        self._flags, self._highlights = services.flags, services.highlights
        self._write = services.write
        self._pages = pages

    def routes(self) -> list[PageRoute]:
        most = MAX_NOTE_FORM_BYTES
        return [
            PageRoute("POST", f"{PATH}/note", self.note, page=LIBRARY, max_form_bytes=most),
            PageRoute(
                *("POST", f"{PATH}/note/json", self.note_by_script),
                is_json=True,
                page=LIBRARY,
                max_form_bytes=most,
            ),
            PageRoute("POST", f"{PATH}/highlights", self.mark, page=LIBRARY),
            PageRoute("POST", f"{PATH}/highlights/comment", self.comment, page=LIBRARY),
            PageRoute("POST", f"{PATH}/highlights/remove", self.unmark, page=LIBRARY),
        ]

    async def note(self, visit: Visit) -> Reply:
        async def change() -> str:
            row = await self._set_note(visit)
            done = "note-saved" if _note(visit).note else "note-removed"
            return self._after(visit, "note-same" if row is None else done, "note", row)

        return await self._change(visit, change)

    async def note_by_script(self, visit: Visit) -> Reply:
        """Saves the note while its page stays open."""
        await self._set_note(visit)
        return self._pages.json({"has_note": bool(_note(visit).note)})

    async def _set_note(self, visit: Visit) -> BulkRow | None:
        account, request = visit.signed_in.account, _note(visit)
        return (await self._write(account, self._flags.update_one, _post_id(visit), request))[1]

    async def mark(self, visit: Visit) -> Reply:
        form = visit.form
        sent: dict[str, object] = {
            name: _text(form[name]) for name in ("field", "quote", "comment") if form.get(name)
        }
        offsets = {name: form[name] for name in ("start", "end") if form.get(name, "").isdecimal()}
        # Longer numbers are no offsets, and take long to read.
        sent |= {name: int(value[:9]) for name, value in offsets.items()}

        async def change() -> str:
            request = decoding.decode(msgspec.json.encode(sent), NewHighlight)
            account, add = visit.signed_in.account, self._highlights.add
            made, row = await self._write(account, add, _post_id(visit), request)
            return self._after(visit, "highlight-added", f"h-{made.id}", row)

        return await self._change(visit, change)

    async def comment(self, visit: Visit) -> Reply:
        place = (_post_id(visit), visit.form.get("highlight", ""))

        async def change() -> str:
            sent = msgspec.json.encode({"comment": _text(visit.form.get("comment", ""))})
            request = decoding.decode(sent, HighlightChange)
            account, update = visit.signed_in.account, self._highlights.update
            _, row = await self._write(account, update, *place, request)
            return self._after(visit, "comment-saved", "highlights", row)

        return await self._change(visit, change)

    async def unmark(self, visit: Visit) -> Reply:
        place = (_post_id(visit), visit.form.get("highlight", ""))

        async def change() -> str:
            account, remove = visit.signed_in.account, self._highlights.remove
            _, row = await self._write(account, remove, *place)
            return self._after(visit, "highlight-removed", "highlights", row)

        return await self._change(visit, change)

    async def _change(self, visit: Visit, change: Callable[[], Awaitable[str]]) -> Reply:
        try:
            return self._pages.go(await change())
        except Refusal as refused:
            is_missing = refused.sentence.startswith("quote: is not in")
            sentence = _NOT_FOUND if is_missing else refused.sentence
            back = (_page(visit), "Back")
            return self._pages.problem(visit, refused.status, "Nothing was changed", sentence, back)

    def _after(self, visit: Visit, said: str, place: str, row: BulkRow | None) -> str:
        """The page of the post at the place of the change, with a message and its undo."""
        change = {} if row is None else {"change": row.change_id}
        return f"{saying(_page(visit), said=said, **change)}#{place}"


def _post_id(visit: Visit) -> str:
    post_id: str = visit.request.path_params["post_id"]
    return post_id


def _page(visit: Visit) -> str:
    """The page of the post, which remembers the list that it was opened from."""
    shown = visit.form.get("page") or _post_id(visit)
    path = of_post(shown if shown.isascii() and shown.isdigit() else _post_id(visit))
    before = returning(visit.form.get("from", ""))
    return f"{path}?{urlencode({'from': before})}" if before else path


def _note(visit: Visit) -> UpdateRequest:
    """The note that a form has. Too long a note, or one of another type, is refused."""
    sent = msgspec.json.encode({"note": _text(visit.form.get("note", ""))})
    return decoding.decode(sent, UpdateRequest)


def _text(text: str) -> str:
    """Forms send line breaks as two characters."""
    return text.replace("\r\n", "\n")
