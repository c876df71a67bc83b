"""/digests: the list of digests with their schedule, and /digests/{digest_id} to read one."""

from datetime import date
from typing import Any, Final
from urllib.parse import quote, urlencode

from bowerbird.errors import Refusal
from bowerbird.library.digests import wording
from bowerbird.library.digests.digests import Digests
from bowerbird.library.digests.responses import (
    DigestPost,
    DigestResponse,
    DigestSummary,
    MailResponse,
)
from bowerbird.library.digests.wording import Section
from bowerbird.model import instants
from bowerbird.model.digests import Frequency, MailState, period_of
from bowerbird.model.instants import zone_of
from bowerbird.requests import decoding
from bowerbird.requests.exports import DigestsQuery, PreferencesRequest
from bowerbird.web.library.addresses import everything, of_post
from bowerbird.web.library.texts import language_of
from bowerbird.web.notes import HighlightPages
from bowerbird.web.visits.formats import ENGLISH, Moment, Times
from bowerbird.web.visits.pages import VisitPages
from bowerbird.web.visits.router import PageRoute
from bowerbird.web.visits.visit import Visit
from bowerbird.wire.responses.replies import Reply

PATH: Final = "/digests"
DIGEST: Final = "/digests/{digest_id}"
_PER_PAGE: Final = 30
_LABELS_NAMED: Final = 3
_HOUR_DIGITS: Final = 2
_MAILED: Final = {
    MailState.NONE: "Not sent by email",
    MailState.WAITING: "The email has not been sent yet",
    MailState.SENDING: "The email is being sent",
    MailState.SENT: "Sent by email",
    MailState.UNCLEAR: "It is not known whether the email arrived",
    MailState.FAILED: "The email could not be sent",
    MailState.REFUSED: "The mail server rejected the email",
}


class DigestPages:
    def __init__(self, digests: Digests, highlights: HighlightPages, pages: VisitPages) -> None:
        self._digests = digests
        self._highlights = highlights
        self._pages = pages

    def routes(self) -> list[PageRoute]:
        return [
            PageRoute("GET", PATH, self.list),
            PageRoute("POST", PATH, self.change, page=PATH, again=self.list),
            PageRoute("GET", DIGEST, self.show),
        ]

    async def list(self, visit: Visit) -> Reply:
        account, times = visit.account, visit.times
        asked = DigestsQuery(limit=_PER_PAGE, cursor=visit.query.get("cursor") or None)
        try:
            found = await self._digests.list(account, asked)
        except Refusal:
            # The cursor is not one of this list.
            return self._pages.go(PATH)
        preferences = await self._digests.preferences(account)
        return self._pages.show(
            visit,
            "digests.html",
            digests=[_listed(each, times) for each in found.digests],
            total=found.total_count,
            older=f"{PATH}?{urlencode({'cursor': found.next_cursor})}" if found.next_cursor else "",
            is_first=asked.cursor is None,
            daily=await self._highlights.daily(visit) if asked.cursor is None else None,
            next_at=times.moment_of(preferences.next_digest_at),
            digest=preferences,
            time_zone=preferences.time_zone,
            can_mail=preferences.mail_available,
        )

    async def change(self, visit: Visit) -> Reply:
        account = visit.account
        can_mail = (await self._digests.preferences(account)).mail_available
        await self._digests.change_preferences(account, preferences(visit, can_mail=can_mail))
        return self._pages.go(f"{PATH}?said=preferences-saved#schedule")

    async def show(self, visit: Visit) -> Reply:
        account, times = visit.account, visit.times
        digest_id = visit.named("digest_id")
        digest = await self._digests.get(account, digest_id, "json")
        earlier = await self._digests.before(account, digest.digest_id)
        preferences = await self._digests.preferences(account)
        parts = _Parts(times, self._pages.path(""), can_filter=not account.is_free)
        return self._pages.show(
            visit,
            "digest.html",
            title=_title(digest, times),
            span="Week of" if digest.kind == Frequency.WEEKLY else "Day",
            opening=wording.opening(digest),
            labels=parts.labels(digest),
            introduction=digest.introduction or "",
            sections=parts.sections(digest),
            highlight=parts.highlight(digest),
            earlier=_listed(earlier, times) if earlier else None,
            made_at=times.moment_of(digest.made_at),
            mailed=_mail_sentence(digest.mail),
            next_at=times.moment_of(preferences.next_digest_at),
        )


class _Parts:
    """The content of one digest as its page shows it."""

    def __init__(self, times: Times, base_path: str, *, can_filter: bool) -> None:
        self._times = times
        self._base_path = base_path
        self._can_filter = can_filter

    def labels(self, digest: DigestResponse) -> list[dict[str, Any]]:
        return [
            {
                "name": name,
                "count": count,
                "url": self._of_period(digest, tag=name) if self._can_filter else "",
            }
            for name, count in wording.labels(digest)[:_LABELS_NAMED]
        ]

    def sections(self, digest: DigestResponse) -> list[dict[str, Any]]:
        """What was saved comes last: it is known best."""
        found = [self._section(each, digest) for each in wording.sections(digest)]
        return sorted(found, key=lambda each: each["is_saved"])

    def highlight(self, digest: DigestResponse) -> dict[str, Any] | None:
        found = digest.highlight
        if found is None:
            return None
        return {**self._post(found.post), "text": found.text, "comment": found.comment}

    def _section(self, section: Section, digest: DigestResponse) -> dict[str, Any]:
        is_saved = section.heading == "Saved"
        return {
            "heading": section.heading,
            "note": section.note,
            "posts": [self._post(post) for post in section.posts],
            "is_saved": is_saved,
            "more": max(section.more, 0),
            "count": digest.saved.count if is_saved else len(section.posts),
            "url": self._of_period(digest) if is_saved and self._can_filter else "",
        }

    def _post(self, post: DigestPost) -> dict[str, Any]:
        text = post.title or post.text
        return {
            "url": self._base_path + of_post(post.post_id),
            "text": text,
            "language": language_of(text),
            "name": wording.author_of(post),
            "is_article": bool(post.title),
            "saved": _day(post.bookmarked_at, self._times),
            "is_read": post.is_read,
        }

    def _of_period(self, digest: DigestResponse, **filters: str) -> str:
        """The list of what was saved in the period."""
        period = period_of(digest.digest_id)
        assert period is not None
        zone = zone_of(digest.time_zone)
        # Both bounds are outside of what the filter finds.
        bounds = {
            "bookmarked_from": self._times.exact(period.start(zone) - 1),
            "bookmarked_to": self._times.exact(period.end(zone)),
        }
        return self._base_path + everything(**bounds, **filters)


def _listed(digest: DigestSummary, times: Times) -> dict[str, Any]:
    return {
        "url": f"{PATH}/{quote(digest.digest_id)}",
        "title": _title(digest, times),
        "kind": digest.kind,
        "saved_count": digest.saved_count,
        "mailed": digest.mail.state == MailState.SENT,
    }


def _title(digest: DigestSummary, times: Times) -> str:
    words = times.words
    if words.language == ENGLISH:
        return digest.title
    first, last = (date.fromisoformat(day) for day in (digest.first_day, digest.last_day))
    return words.day(first) if first == last else f"{words.day(first)} \u2013 {words.day(last)}"


def _day(text: str, times: Times) -> Moment:
    return times.day(instants.parse(text) or 0)


def _mail_sentence(mail: MailResponse) -> str:
    return _MAILED[mail.state]


def preferences(visit: Visit, *, can_mail: bool) -> PreferencesRequest:
    """The schedule or the time zone in a form, read by the rules of the API."""
    sent: dict[str, Any] = {
        name: visit.form[name].strip() for name in ("time_zone", "frequency") if name in visit.form
    }
    if hour := visit.sent("hour"):
        is_number = hour.isascii() and hour.isdigit() and len(hour) <= _HOUR_DIGITS
        sent["hour"] = int(hour) if is_number else hour
        # A switch that is off is not sent, and neither is one that cannot be used.
        sent["highlight"] = "highlight" in visit.form
        if can_mail and visit.signed_in.email:
            sent["mail"] = "mail" in visit.form
    return decoding.convert(sent, PreferencesRequest)
