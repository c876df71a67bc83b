"""The JSON bodies of writes: each field read once, each mistake named."""

import re
from collections.abc import Callable, Collection, Mapping
from typing import Any, Final

from bowerbird import errors

Body = Callable[[], Any]
"""Gives a request's JSON when it is asked for: a plan speaks before a body is read."""

MOST_IDS: Final = 1_000
_UNSTORABLE: Final = re.compile("[\x00\ud800-\udfff]")


def as_object(body: Any) -> Mapping[str, Any]:
    if not isinstance(body, dict):
        raise errors.invalid("body", "must be a JSON object")
    return body


def only(body: Mapping[str, Any], known: Collection[str]) -> None:
    """Refuses a field nobody reads: it is more likely misspelt than meant."""
    for name in body:
        if name not in known:
            accepted = ", ".join(known)
            raise errors.invalid(errors.shown(name), f"is not a field here; {accepted} are")


def text(body: Mapping[str, Any], name: str, *, most: int) -> str | None:
    value = body.get(name)
    if value is None:
        return None
    if not isinstance(value, str):
        raise errors.invalid(name, f"must be a string, got {_shown(value)}")
    if len(value) > most:
        raise errors.invalid(name, f"must have at most {most} characters, got {len(value)}")
    if _UNSTORABLE.search(value):
        raise errors.invalid(name, "holds U+0000, which no database can keep")
    return value


def flag(body: Mapping[str, Any], name: str) -> bool | None:
    value = body.get(name)
    if value is None or isinstance(value, bool):
        return value
    raise errors.invalid(name, f"must be true or false, got {_shown(value)}")


def post_ids(body: Mapping[str, Any], name: str = "tweet_ids") -> list[str]:
    """Each id once, in the order given."""
    values = body.get(name)
    if not isinstance(values, list) or not 1 <= len(values) <= MOST_IDS:
        raise errors.invalid(name, f"must be an array of 1 to {MOST_IDS:,} post ids")
    for position, value in enumerate(values):
        if isinstance(value, int | float) and not isinstance(value, bool):
            raise errors.invalid(
                f"{name}[{position}]", "must be a string: a JSON number would lose digits"
            )
        if not isinstance(value, str) or not value:
            raise errors.invalid(f"{name}[{position}]", f"must be a post id, got {_shown(value)}")
    return list(dict.fromkeys(values))


def _shown(value: Any) -> str:
    return errors.shown(value) if isinstance(value, str) else errors.shown(str(value))
