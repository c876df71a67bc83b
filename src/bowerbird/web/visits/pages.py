"""Renders pages for one visitor: never cached, and with the policy of pages that have forms."""

import secrets
from typing import Any
from urllib.parse import urlsplit

from bowerbird.settings import Settings
from bowerbird.web import pages
from bowerbird.web.templating import Templates
from bowerbird.web.visits.visit import Visit
from bowerbird.wire.responses import compression
from bowerbird.wire.responses.replies import Header, Reply


class VisitPages:
    def __init__(self, settings: Settings, templates: Templates) -> None:
        self._templates = templates
        self._is_secure = settings.site_origin.startswith("https://")
        self._base_path = urlsplit(settings.site_origin).path.rstrip("/")

    def show(self, visit: Visit, name: str, *, status: int = 200, **values: Any) -> Reply:
        nonce = secrets.token_urlsafe(16)
        shared = {
            "nonce": nonce,
            "csrf": visit.form_token(),
            "visitor": visit.visitor,
            "theme": visit.theme,
            "here": visit.request.path,
            "is_ip_address": visit.host.is_ip_address,
            "said": visit.query.get("said", ""),
        }
        html = self._templates.render(name, **(shared | values))
        headers = pages.personal_headers(nonce, is_secure=self._is_secure)
        body = html.encode()
        encoding = compression.chosen(visit.request.headers.get(b"accept-encoding", b""))
        if encoding:
            body = compression.compressed(body, encoding)
            headers.append((b"content-encoding", encoding.encode()))
        return Reply(status, headers, body)

    def problem(self, visit: Visit, status: int, title: str, sentence: str) -> Reply:
        return self.show(visit, "problem.html", status=status, title=title, sentence=sentence)

    def go(self, path: str) -> Reply:
        """Sends the browser to another page of this site."""
        headers: list[Header] = [
            (b"location", f"{self._base_path}{path}".encode("ascii")),
            (b"cache-control", b"no-store"),
            (b"referrer-policy", b"same-origin"),
        ]
        return Reply(303, headers)
