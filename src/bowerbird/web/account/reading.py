"""The choices about reading: how posts look in this browser, and what the account wants.

The page of a post and the account have the same form. Takes the time zone of the first browser, and
what happens to posts that are removed at their source.
"""

from typing import Any, Final

import msgspec

from bowerbird.errors import Code, Refusal
from bowerbird.library.accounts.accounts import Accounts
from bowerbird.library.digests.digests import Digests
from bowerbird.model.accounts import Reading, RemovedPostsChoice
from bowerbird.model.labels import clean_name
from bowerbird.requests import decoding
from bowerbird.requests.exports import PreferencesRequest
from bowerbird.web.library.addresses import saying, sender
from bowerbird.web.library.suggesting import name_problem
from bowerbird.web.media import show_images
from bowerbird.web.visits.pages import VisitPages
from bowerbird.web.visits.router import PageRoute
from bowerbird.web.visits.visit import LOOKS, Visit, is_look
from bowerbird.wire.responses.replies import Reply

_ACCOUNT: Final = "/account"
_PATH: Final = "/account/reading"
_ZONE: Final = "/account/time-zone"
_REMOVED: Final = "/account/removed-posts"
_WORDS: Final = {
    "size": "Size of the text",
    "face": "Typeface",
    "width": "Width of the lines",
}
# The order of a row, which is not that of the table of choices: that starts with the default.
_ROWS: Final = {
    "size": ("small", "medium", "large", "largest"),
    "face": ("serif", "sans"),
    "width": ("narrow", "normal", "wide"),
}


def reading_form(visit: Visit) -> dict[str, Any]:
    """What reading_form.html takes."""
    visitor, look = visit.signed_in, visit.look
    return {
        "star": visitor.star,
        "marks_read": visitor.reading.marks_read,
        "looks": [
            (name, _WORDS[name], _ROWS[name], look.get(name, LOOKS[name][0])) for name in LOOKS
        ],
    }


def routes(accounts: Accounts, digests: Digests, pages: VisitPages) -> list[PageRoute]:
    async def choose(visit: Visit) -> Reply:
        reading = _chosen(visit)
        _keep_look(visit)
        await accounts.set_reading(visit.account_id, reading)
        if visit.is_of_script:
            return pages.json({})
        back = sender(visit.sent("back"), "")
        if back:
            return pages.go(saying(back, said="preferences-saved"))
        return pages.go(f"{_ACCOUNT}?said=preferences-saved#reading")

    async def take_zone(visit: Visit) -> Reply:
        """The time zone of the browser, unless the account has chosen one."""
        named = msgspec.json.encode({"time_zone": visit.sent("time_zone")})
        sent = decoding.decode(named, PreferencesRequest)
        if not visit.signed_in.is_zone_chosen:
            await digests.change_preferences(visit.account, sent)
        return pages.json({})

    async def choose_removed(visit: Visit) -> Reply:
        choice = visit.sent("choice")
        if choice not in list(RemovedPostsChoice):
            raise Refusal(Code.INVALID_REQUEST, "Choose keep, hide or trash.")
        await accounts.set_removed_posts(str(visit.account_id), choice)
        return pages.go(f"{_ACCOUNT}?said=preferences-saved#removed")

    return [
        PageRoute("POST", _PATH, choose, page=_ACCOUNT),
        PageRoute("POST", _REMOVED, choose_removed, page=_ACCOUNT),
        PageRoute("POST", _ZONE, take_zone, page=_ACCOUNT, is_json=True),
    ]


def _keep_look(visit: Visit) -> None:
    """How posts look in this browser."""
    look = [visit.sent(name) for name in LOOKS]
    if any(look):
        if not is_look(look):
            raise Refusal(Code.INVALID_REQUEST, "There is no such choice.")
        visit.keep_look(look)
    if "has_images" in visit.form:
        show_images(visit, is_shown="images" in visit.form)


def _chosen(visit: Visit) -> Reading:
    # Only the account page has a field for the label, and only on a plan with labels.
    sent, reading = visit.sent("favourite"), visit.signed_in.reading
    favourite = clean_name(sent) if sent else reading.favourite
    if favourite is None:
        raise Refusal(Code.INVALID_REQUEST, name_problem(sent))
    return Reading(favourite, marks_read="marks_read" in visit.form)
