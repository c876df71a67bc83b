"""The highlights of a stored post, and its texts with their marks.

A stored post is not trusted: a passage with unexpected types is left out.
"""

from collections.abc import Sequence
from typing import Any, Final

from markupsafe import Markup
from msgspec import Struct

from bowerbird.web.library.dates import Dates
from bowerbird.web.library.texts import LinkedTexts, Mark, language_of

Values = dict[str, Any]
_FIELDS: Final = ("text", "article")


class Paragraph(Struct, frozen=True):
    """A part of a text, and the offset at which it starts."""

    start: int
    text: Markup


class Passages:
    def __init__(self, bookmark: Values) -> None:
        stored = bookmark.get("highlights")
        self._stored = [
            one for one in (stored if isinstance(stored, list) else ()) if _is_passage(one)
        ]

    def marked(self, texts: LinkedTexts, text: str) -> Markup:
        return texts.with_marks(text, self._marks("text"))

    def paragraphs(self, texts: LinkedTexts, body: str) -> Sequence[Paragraph]:
        waiting = sorted(self._marks("article"), key=lambda one: one.start, reverse=True)
        open_marks: list[Mark] = []
        found, start = [], 0
        for line in body.split("\n"):
            end = start + len(line)
            # Few marks are looked at for each line, however many lines and marks there are.
            while waiting and waiting[-1].start < end:
                open_marks.append(waiting.pop())
            open_marks = [one for one in open_marks if one.end > start] if open_marks else []
            if line.strip():
                inside = [
                    Mark(max(one.start - start, 0), min(one.end, end) - start, one.id)
                    for one in open_marks
                ]
                found.append(Paragraph(start, texts.with_marks(line, inside)))
            start = end + 1
        return found

    def listed(self, dates: Dates) -> list[Values]:
        """The highlights in the order of the text; those that are lost come last."""
        ordered = sorted(
            self._stored,
            key=lambda one: (
                _is_lost(one),
                _FIELDS.index(one["field"]),
                0 if _is_lost(one) else one["start"],
            ),
        )
        return [
            {
                "id": one["id"],
                "quote": one["quote"],
                "language": language_of(one["quote"]),
                "comment": one.get("comment") or "",
                "is_lost": _is_lost(one),
                "date": dates.of(one.get("created_at") or ""),
            }
            for one in ordered
        ]

    def _marks(self, field: str) -> list[Mark]:
        return [
            Mark(one["start"], one["end"], one["id"])
            for one in self._stored
            if one["field"] == field and not _is_lost(one)
        ]


def _is_passage(one: object) -> bool:
    if not isinstance(one, dict) or one.get("field") not in _FIELDS:
        return False
    texts = (one.get("id"), one.get("quote"), one.get("comment") or "", one.get("created_at") or "")
    return all(isinstance(text, str) for text in texts)


def _is_lost(one: Values) -> bool:
    return not isinstance(one.get("start"), int) or not isinstance(one.get("end"), int)
