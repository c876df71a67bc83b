"""Renders pages for one visitor: never cached, and with the policy of pages that have forms."""

import secrets
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec

from bowerbird.errors import Refusal
from bowerbird.settings import Settings
from bowerbird.web import pages
from bowerbird.web.templating import Templates
from bowerbird.web.visits.hosts import is_ip_address
from bowerbird.web.visits.messages import MESSAGES
from bowerbird.web.visits.visit import Visit
from bowerbird.wire.responses import compression
from bowerbird.wire.responses.replies import Header, Reply

_JSON: Final[list[Header]] = [
    (b"content-type", b"application/json"),
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"cross-origin-resource-policy", b"same-origin"),
]


class VisitPages:
    def __init__(self, settings: Settings, templates: Templates) -> None:
        self._templates = templates
        parts = urlsplit(settings.site_origin)
        self._is_secure = parts.scheme == "https"
        self._origin = f"{parts.scheme}://{parts.netloc}".lower()
        self._base_path = parts.path.rstrip("/")
        self.site = settings.site_origin
        self._passkey_site = "" if is_ip_address(parts.netloc) else settings.site_origin

    def show(self, visit: Visit, name: str, *, status: int = 200, **values: Any) -> Reply:
        nonce = secrets.token_urlsafe(16)
        visitor = visit.visitor
        shared = {
            "nonce": nonce,
            "csrf": visit.form_token(),
            "email": visitor.email if visitor else "",
            # Of one account: others may use the same browser.
            "drafts": f"note {visitor.account.account_id} " if visitor else "",
            "is_signed_in": visitor is not None,
            "is_owner": visitor is not None and visitor.is_owner,
            "theme": visit.theme,
            "time_lang": visit.date_words.attributes,
            "message": MESSAGES.get(visit.query.get("said", ""), ""),
            "problem": "",
            "unsent": visit.take_unsent(),
            # A passkey belongs to the name of the site: another address cannot use it.
            "has_passkeys": self.is_at_site(visit) and bool(self._passkey_site),
            "passkey_site": self._passkey_site,
        }
        html = self._templates.render(name, **(shared | values))
        headers = pages.personal_headers(nonce, is_secure=self._is_secure)
        body = html.encode()
        encoding = compression.chosen(visit.request.headers.get(b"accept-encoding", b""))
        if encoding:
            body = compression.compressed_quickly(body, encoding)
            headers.append((b"content-encoding", encoding.encode()))
        return Reply(status, headers, body)

    def part(self, name: str, **values: Any) -> str:
        """A part of a page, which is the same for each time that it is shown."""
        return self._templates.render(name, **values)

    def problem(
        self,
        visit: Visit,
        status: int,
        heading: str,
        sentence: str,
        action: tuple[str, str] = ("/", "Home"),
    ) -> Reply:
        """A page that says why nothing was done. `action` is the path and text of a next step."""
        path, text = action
        return self.show(
            visit,
            "problem.html",
            status=status,
            heading=heading,
            sentence=sentence,
            action={"path": path, "text": text},
        )

    def json(self, value: Any, *, status: int = 200) -> Reply:
        """An answer to a script of one of these pages."""
        return Reply(status, list(_JSON), msgspec.json.encode(value))

    def refusal_as_json(self, refused: Refusal) -> Reply:
        reply = self.json({"error": refused.sentence}, status=refused.status)
        headers = [(k.lower().encode(), v.encode()) for k, v in refused.headers.items()]
        return msgspec.structs.replace(reply, headers=[*reply.headers, *headers])

    def is_at_site(self, visit: Visit) -> bool:
        """Whether the browser has opened the configured address, not another one that works."""
        return visit.host.origin == self._origin

    def path(self, path: str) -> str:
        """A path of this site, as the browser knows it."""
        return f"{self._base_path}{path}"

    def go(self, path: str) -> Reply:
        """Sends the browser to another page of this site."""
        headers: list[Header] = [
            (b"location", self.path(path).encode("ascii")),
            (b"cache-control", b"no-store"),
            (b"referrer-policy", b"same-origin"),
        ]
        return Reply(303, headers)
