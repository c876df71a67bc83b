"""The form for what an account wants while it reads."""

from typing import Final

import msgspec

from bowerbird.library.accounts.accounts import Accounts
from bowerbird.model.labels import clean_name
from bowerbird.web.labels.words import name_problem
from bowerbird.web.visits.pages import VisitPages
from bowerbird.web.visits.router import PageRoute
from bowerbird.web.visits.visit import Visit
from bowerbird.wire.responses.replies import Reply

_ACCOUNT: Final = "/account"
_PATH: Final = "/account/reading"
_INVALID: Final = 400


def routes(accounts: Accounts, pages: VisitPages) -> list[PageRoute]:
    async def choose(visit: Visit) -> Reply:
        sent, reading = visit.form.get("favourite", ""), visit.signed_in.reading
        # A plan without labels has no field for it.
        favourite = clean_name(sent) if sent else reading.favourite
        if favourite is None:
            sentence = name_problem(sent)
            back = (f"{_ACCOUNT}#reading", "Back")
            return pages.problem(visit, _INVALID, "Nothing was changed", sentence, back)
        chosen = msgspec.structs.replace(reading, favourite=favourite)
        await accounts.set_reading(visit.account_id, chosen)
        return pages.go(f"{_ACCOUNT}?said=preferences-saved#reading")

    return [PageRoute("POST", _PATH, choose, page=_ACCOUNT)]
