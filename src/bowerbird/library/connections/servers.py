"""The address of a server, as people type it."""

from typing import Final
from urllib.parse import urlsplit

from bowerbird.errors import Code, Refusal

_LONGEST: Final = 253
_LONGEST_TEXT: Final = 500


def origin_of(text: str) -> str:
    """`https://host` out of a host, the address of a page there, or `name@host`."""
    text = text.strip()
    if "://" not in text:
        text = f"https://{text.rpartition('@')[2]}"
    try:
        parts = urlsplit(text[:_LONGEST_TEXT])
        host, port = (parts.hostname or "").encode("idna").decode("ascii"), parts.port
    except (ValueError, UnicodeError):
        raise _refused() from None
    is_plain = parts.scheme in ("https", "http") and "@" not in parts.netloc
    is_host = bool(host) and all(each.isalnum() or each in ".-" for each in host)
    if not (is_plain and is_host and len(host) <= _LONGEST):
        raise _refused()
    return f"{parts.scheme}://{host}" + (f":{port}" if port else "")


def _refused() -> Refusal:
    return Refusal(
        Code.INVALID_REQUEST, "Type the address of the server, such as mastodon.example."
    )
