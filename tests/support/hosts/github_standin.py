"""A stand-in for GitHub that a real browser can visit: it signs in the same person at once."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from tests.support.hosts.loopback import Handler, on_thread

_ANSWERS: dict[str, Any] = {
    "/login/oauth/access_token": {"access_token": "gho_16C7", "token_type": "bearer"},
    "/api/v3/user": {"login": "octocat", "id": 1, "name": "Octo Cat"},
    "/api/v3/user/emails": [],
}


class _GitHub(Handler):
    def reply(self) -> None:
        if self.command == "POST":
            self.body()
        url = urlsplit(self.path)
        if url.path == "/login/oauth/authorize":
            sent = dict(parse_qsl(url.query))
            back = urlencode({"code": "the-code", "state": sent["state"]})
            self.answer(b"", 302, Location=f"{sent['redirect_uri']}?{back}")
        else:
            self.answer(json.dumps(_ANSWERS[url.path]).encode())


@contextmanager
def github_stand_in() -> Iterator[str]:
    """Its address."""
    with on_thread(_GitHub) as port:
        yield f"http://127.0.0.1:{port}"
