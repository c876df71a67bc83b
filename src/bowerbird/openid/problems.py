"""Why a sign-in failed: a sentence for the person, and a reason for the operator's log.

Sentences never repeat text from a provider, except an error code of harmless characters.
"""

import re
from typing import Any, Final

from bowerbird.openid.providers import Provider

_LONGEST_SENTENCE: Final = 300
_CODE: Final = re.compile(r"[a-z][a-z0-9_]{0,49}")
_BY_CODE: Final = {
    "access_denied": "You cancelled the sign-in at {title}.",
    "server_error": "{title} cannot sign people in at the moment. Try again in a few minutes.",
    "temporarily_unavailable": (
        "{title} cannot sign people in at the moment. Try again in a few minutes."
    ),
    "invalid_grant": "The sign-in at {title} has expired or was already used. Start again.",
    "bad_verification_code": "The sign-in at {title} has expired or was already used. Start again.",
    "invalid_client": "{title} rejected the client ID or secret of this site. Tell its operator.",
    "unauthorized_client": (
        "{title} rejected the client ID or secret of this site. Tell its operator."
    ),
    "incorrect_client_credentials": (
        "{title} rejected the client ID or secret of this site. Tell its operator."
    ),
    "redirect_uri_mismatch": "{title} does not know the address of this site. Tell its operator.",
    "unverified_user_email": "Confirm your email address at {title} first, then start again.",
}
CANCELLED: Final = "access_denied"


class ProviderProblem(Exception):  # noqa: N818 - named for what it is
    """A sign-in failed. `sentence` is for the person; `reason` is for the log, without secrets."""

    def __init__(self, sentence: str, reason: str) -> None:
        super().__init__(sentence[:_LONGEST_SENTENCE])
        self.sentence = sentence[:_LONGEST_SENTENCE]
        self.reason = reason


def unknown_provider() -> ProviderProblem:
    return ProviderProblem("This site has no sign-in with that provider.", "unknown_provider")


def expired() -> ProviderProblem:
    return ProviderProblem(
        "This sign-in has expired or was started in another browser. Start again.", "state"
    )


def unreachable(provider: Provider, reason: str) -> ProviderProblem:
    return ProviderProblem(f"{provider.title} did not answer. Try again in a few minutes.", reason)


def unusable(provider: Provider, reason: str) -> ProviderProblem:
    return ProviderProblem(
        f"{provider.title} sent an answer that this site cannot use. Start again, and tell the "
        "operator of this site if it happens again.",
        reason,
    )


def unverified(provider: Provider, reason: str) -> ProviderProblem:
    return ProviderProblem(
        f"The answer of {provider.title} could not be verified, so you are not signed in. "
        "Start again.",
        reason,
    )


def not_asked_again(provider: Provider) -> ProviderProblem:
    return ProviderProblem(
        f"{provider.title} did not ask you to sign in again, so nothing was changed. Start again.",
        "not_asked_again",
    )


def refused(provider: Provider, code: Any) -> ProviderProblem:
    """The provider answered with an error code of OAuth 2."""
    if not (isinstance(code, str) and _CODE.fullmatch(code)):
        return ProviderProblem(f"{provider.title} refused the sign-in.", "refused")
    sentence = _BY_CODE.get(code, "{title} refused the sign-in with the error {code}.")
    # `replace` because a title may contain braces.
    filled = sentence.replace("{code}", code).replace("{title}", provider.title)
    return ProviderProblem(filled, code)
