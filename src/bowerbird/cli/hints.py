"""Which command helps after a refusal that the library gives."""

from typing import Final

from bowerbird.errors import Refusal
from bowerbird.library.accounts.accounts import HalfDeleted, NoAccount
from bowerbird.library.accounts.keys import NoLiveKey

_HINTS: Final[dict[type[Refusal], str]] = {
    NoAccount: "See them with: bowerbird account list",
    HalfDeleted: "Finish that with: bowerbird account delete EMAIL",
    NoLiveKey: "See them with: bowerbird key list EMAIL",
}


def hinted(refusal: Refusal) -> Refusal:
    hint = _HINTS.get(type(refusal))
    return refusal if hint is None else Refusal(refusal.code, f"{refusal} {hint}")
