"""A stand-in for GitHub that a real browser can visit: it signs in the same person at once."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

_ANSWERS: dict[str, Any] = {
    "/login/oauth/access_token": {"access_token": "gho_16C7", "token_type": "bearer"},
    "/api/v3/user": {"login": "octocat", "id": 1, "name": "Octo Cat"},
    "/api/v3/user/emails": [],
}


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        url = urlsplit(self.path)
        if url.path == "/login/oauth/authorize":
            sent = dict(parse_qsl(url.query))
            back = urlencode({"code": "the-code", "state": sent["state"]})
            self.send_response(302)
            self.send_header("Location", f"{sent['redirect_uri']}?{back}")
            self.end_headers()
            return
        body = json.dumps(_ANSWERS[url.path]).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.do_GET()

    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def github_stand_in() -> Iterator[str]:
    """Its address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()
