"""The admin port: an HTTP server on its own thread that serves `/metrics`.

It has no keys, so it must not answer a web page. A page can make its own name resolve to this
machine (DNS rebinding) and then reads what it likes; but the browser still sends that name as
`Host`. So only addresses, `localhost` and the configured name are accepted there.
"""

import ipaddress
import socket
import threading
from collections.abc import Callable, Iterable
from http import HTTPStatus
from socketserver import ThreadingMixIn
from typing import Any, Final
from urllib.parse import urlsplit
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

from prometheus_client import CollectorRegistry, make_wsgi_app

PATH: Final = "/metrics"
# How long a client may send nothing.
_SILENCE_S: Final = 10
_Start = Callable[[str, list[tuple[str, str]]], Any]
_Wsgi = Callable[[dict[str, Any], _Start], Iterable[bytes]]


def start(host: str, port: int, registry: CollectorRegistry) -> None:
    """Listens until the process ends. Raises OSError if that is not possible."""
    family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]

    class Server(_Server):
        address_family = family

    server = Server((str(address[0]), port), _Handler)
    server.set_app(_checked(host, make_wsgi_app(registry)))
    threading.Thread(target=server.serve_forever, name="admin-port", daemon=True).start()


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True

    def server_bind(self) -> None:
        """Without the name lookup of the standard library, which may take seconds."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_name, self.server_port = "admin-port", self.socket.getsockname()[1]
        self.setup_environ()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that disconnects is not worth a traceback."""


class _Handler(WSGIRequestHandler):
    timeout = _SILENCE_S

    def log_message(self, format: str, *args: Any) -> None:
        """Scrapes are not logged."""


def _checked(host: str, metrics: _Wsgi) -> _Wsgi:
    def respond(environ: dict[str, Any], start_response: _Start) -> Iterable[bytes]:
        if not is_allowed(environ.get("HTTP_HOST", ""), host):
            sentence = (
                "This Host is not allowed. Use an IP address, localhost, or the name in "
                "BOWERBIRD_ADMIN_HOST.\n"
            )
            return _refusal(HTTPStatus.FORBIDDEN, sentence, start_response)
        if environ["PATH_INFO"] != PATH:
            sentence = f"The admin port has only {PATH}.\n"
            return _refusal(HTTPStatus.NOT_FOUND, sentence, start_response)
        return metrics(environ, start_response)

    return respond


def is_allowed(sent: str, configured: str) -> bool:
    """Whether the value of `Host` cannot be the name of somebody else's web page."""
    try:
        name = urlsplit(f"//{sent}").hostname or ""
    except ValueError:
        return False
    if name in ("localhost", configured.lower()):
        return bool(name)
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _refusal(status: HTTPStatus, sentence: str, start_response: _Start) -> list[bytes]:
    headers = [("Content-Type", "text/plain; charset=utf-8"), ("Cache-Control", "no-store")]
    start_response(f"{status.value} {status.phrase}", headers)
    return [sentence.encode()]
