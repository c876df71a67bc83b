"""Adds the command that helps to a refusal from the library."""

from typing import Final

from bowerbird.errors import Refusal
from bowerbird.library.accounts.accounts import HalfDeleted, NoAccount
from bowerbird.library.accounts.devices import NoLiveDevice
from bowerbird.library.accounts.keys import NoLiveKey

_SUGGESTIONS: Final[dict[type[Refusal], str]] = {
    NoAccount: "To list accounts, run: bowerbird account list",
    HalfDeleted: "To finish, run: bowerbird account delete EMAIL",
    NoLiveKey: "To list keys, run: bowerbird key list EMAIL",
    NoLiveDevice: "To list devices, run: bowerbird device list EMAIL",
}


def with_suggestion(refusal: Refusal) -> Refusal:
    suggestion = _SUGGESTIONS.get(type(refusal))
    if suggestion is None:
        return refusal
    return Refusal(refusal.code, f"{refusal} {suggestion}")
