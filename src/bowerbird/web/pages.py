"""Pages for people: made once from their templates, sent each time under a fresh nonce."""

import secrets
from typing import Final
from urllib.parse import urlsplit

from msgspec import Struct

from bowerbird.settings import Settings
from bowerbird.wire import compression
from bowerbird.wire.answer_cache import RequestTarget
from bowerbird.wire.replies import Header, Reply

# Stands in the made page where each answer puts its own nonce.
NONCE: Final = "nonce-of-this-answer"
_FIXED: Final[list[Header]] = [
    (b"content-type", b"text/html; charset=utf-8"),
    # Not kept with a tag: body and policy carry the same nonce, and a 304 would part them.
    (b"cache-control", b"no-cache"),
    (b"vary", b"Accept, Accept-Encoding"),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (
        b"permissions-policy",
        (
            b"accelerometer=(), camera=(), display-capture=(), geolocation=(), gyroscope=(), "
            b"magnetometer=(), microphone=(), payment=(), usb=()"
        ),
    ),
]
_HSTS: Final[Header] = (b"strict-transport-security", b"max-age=31536000")


class HtmlPage(Struct, frozen=True):
    body: bytes
    # Origins that the page's scripts may call, besides its own.
    calls: tuple[str, ...] = ()
    is_secure: bool = False
    status: int = 200

    def answer(self, asked: RequestTarget) -> Reply:
        nonce = secrets.token_urlsafe(16)
        body = self.body.replace(NONCE.encode(), nonce.encode())
        headers = [*_FIXED, (b"content-security-policy", self._policy(nonce).encode())]
        if self.is_secure:
            headers.append(_HSTS)
        encoding = compression.chosen(asked.accept_encoding)
        if encoding:
            body = compression.compressed(body, encoding)
            headers.append((b"content-encoding", encoding.encode()))
        return Reply(self.status, headers, body)

    def _policy(self, nonce: str) -> str:
        calls = f"connect-src 'self' {' '.join(self.calls)}; " if self.calls else ""
        return (
            f"default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; "
            f"img-src 'self'; {calls}base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
            "require-trusted-types-for 'script'; trusted-types 'none'"
        )


def page(settings: Settings, html: str, *, is_live: bool = False, status: int = 200) -> HtmlPage:
    """`is_live` lets the page's scripts call the API."""
    return HtmlPage(
        body=html.encode(),
        calls=(origin(settings.api_origin),) if is_live else (),
        is_secure=settings.site_origin.startswith("https://"),
        status=status,
    )


def origin(address: str) -> str:
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc}"
