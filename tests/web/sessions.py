"""Signs in to a server with plain requests, for browsers that start signed in."""

import ssl

import httpx
from playwright.sync_api import StorageState, StorageStateCookie

from tests.support.serving import Server
from tests.support.visiting import form_token
from tests.support.waiting import PATIENCE_S

# Without the CA certificates, which take long to load and are not needed for plain HTTP.
_NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def address(server: Server, path: str) -> str:
    return f"http://localhost:{server.port}{path}"


def link(server: Server, email: str = "me@example.com") -> str:
    """A link for the account, as the command line prints it."""
    printed = server.run("account", "link", email)
    [url] = [word for word in printed.split() if "/link#" in word]
    return url


def signed_in_state(server: Server, email: str = "me@example.com") -> StorageState:
    """What a browser holds after the link of the account: the cookies of its session."""
    url, _, token = link(server, email).partition("#")
    with httpx.Client(verify=_NO_TLS, trust_env=False, timeout=PATIENCE_S) as client:
        fields = {"csrf": form_token(client.get(url).text), "token": token}
        entered = client.post(url, data=fields, headers={"Origin": url.removesuffix("/link")})
        assert entered.headers.get("location") == "/welcome?said=signed-in", entered.text
        kept = [_cookie(name, value) for name, value in client.cookies.items()]
    return {"cookies": kept, "origins": []}


def _cookie(name: str, value: str) -> StorageStateCookie:
    return {
        "name": name,
        "value": value,
        "domain": "localhost",
        "path": "/",
        "expires": -1,
        "httpOnly": True,
        "secure": False,
        "sameSite": "Lax",
    }
