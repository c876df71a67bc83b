"""A real OpenID provider on loopback: the npm package oidc-provider.

Its sign-in page takes a name: `bob` has an unconfirmed email address, `carol` has none, and any
other name has a confirmed one at example.com.
"""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import parse_qsl, urljoin, urlsplit

import httpx

from bowerbird.settings import Settings
from tests.support.programs import node
from tests.support.waiting import PATIENCE_S

CLIENT_ID = "bowerbird"
# Contains characters that change when it is not form-encoded as OAuth 2 requires.
CLIENT_SECRET = "s+ecret/100%:25"
_MOST_STEPS = 10


@dataclass
class OpenIdProvider:
    issuer: str

    def settings(self) -> Settings:
        return Settings(
            oidc_issuer=self.issuer,
            oidc_client_id=CLIENT_ID,
            oidc_client_secret=CLIENT_SECRET,
            oidc_name="Example ID",
        )

    def visit(self, url: str, name: str) -> dict[str, str]:
        """Signs in as a person does in a browser; an empty name cancels.

        Returns the query string that the provider sends the browser back with.
        """
        with httpx.Client(trust_env=False, timeout=PATIENCE_S) as browser:
            for _ in range(_MOST_STEPS):
                response = browser.get(url)
                if response.status_code == httpx.codes.OK:
                    form = {"name": name} if name else {"cancel": "yes"}
                    response = browser.post(url, data=form)
                assert response.is_redirect, response.text
                url = urljoin(url, response.headers["location"])
                if not url.startswith(self.issuer):
                    return dict(parse_qsl(urlsplit(url).query))
        raise AssertionError(f"the provider did not return the browser: {url}")


@contextmanager
def openid_provider(*redirect_urls: str) -> Iterator[OpenIdProvider]:
    script = node.WANTED / "openid_provider.mjs"
    with subprocess.Popen(
        [node.NODE, script, node.packages(), CLIENT_ID, CLIENT_SECRET, *redirect_urls],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdin
        assert process.stdout
        issuer = process.stdout.readline().strip()
        assert issuer, "the provider did not start"
        try:
            yield OpenIdProvider(issuer)
        finally:
            process.stdin.close()
            process.wait(timeout=PATIENCE_S)
