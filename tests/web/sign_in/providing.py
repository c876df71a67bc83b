"""What a browser does with providers: starts at a form, and comes back from the provider."""

import re
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx

from bowerbird.clock import MICROSECONDS
from bowerbird.storage.database import Database
from tests.support.hosts.loopback import http_answer
from tests.support.hosts.provider_standins import (
    OpenIdStandIn,
    StandIn,
    openid_stand_in,
    serving,
)
from tests.support.visiting import Visitor
from tests.web.house import House, build
from tests.web.sign_in.ceremonies import ANY_PAGE

_REFRESH = re.compile(r'<meta http-equiv="refresh" content="0; url=([^"]+)">')
GITHUB = {
    "/login/oauth/access_token": http_answer({"access_token": "gho_16C7", "token_type": "bearer"}),
    "/api/v3/user": http_answer({"login": "octocat", "id": 1, "name": "Octo Cat"}),
    "/api/v3/user/emails": http_answer([]),
}


@dataclass
class Street:
    """The service, and two providers that people can sign in with."""

    house: House
    openid: OpenIdStandIn
    github: StandIn

    async def start(
        self, person: Visitor, path: str = "/sign-in/oidc", **fields: Any
    ) -> dict[str, str]:
        """Sends the form; returns the query string of the URL at the provider."""
        shown = await person.send(path, ANY_PAGE, **fields)
        assert shown.status_code == 200, shown.headers.get("location", shown.text)
        found = _REFRESH.search(shown.text)
        assert found, shown.text
        url = unescape(found[1])
        assert url.startswith((self.openid.url, self.github.url))
        return dict(parse_qsl(urlsplit(url).query))

    def prepare(self, nonce: str, **claims: Any) -> None:
        """The next ID token of the provider."""
        now = self.house.clock.now // MICROSECONDS
        self.openid.claims = {"iat": now, "exp": now + 300, "auth_time": now, **claims}
        token = self.openid.id_token(nonce)
        tokens = {"access_token": "opaque", "token_type": "Bearer", "id_token": token}
        self.openid.answers["/token"] = http_answer(tokens)

    async def come_back(
        self, person: Visitor, begun: dict[str, str], provider: str = "oidc", **query: str
    ) -> httpx.Response:
        sent = {"state": begun["state"], "code": "the-code", **query}
        return await person.client.get(f"/sign-in/{provider}/return", params=sent)

    async def go(
        self, person: Visitor, path: str = "/sign-in/oidc", subject: str = "ada", **fields: Any
    ) -> httpx.Response:
        """Starts, signs in at the provider as `subject`, and comes back."""
        begun = await self.start(person, path, **fields)
        if "nonce" in begun:
            self.prepare(begun["nonce"], sub=subject, email=f"{subject}@example.com")
            return await self.come_back(person, begun)
        return await self.come_back(person, begun, "github")

    async def newcomer(self, subject: str = "ada") -> Visitor:
        """Somebody who has created an account with the provider."""
        person = self.house.somebody()
        offered = await self.go(person, subject=subject)
        assert "Create an account?" in offered.text
        created = await person.send("/sign-up/offer", ANY_PAGE)
        assert created.status_code == 303, created.text
        return person

    async def emails(self) -> list[str]:
        return [member.email for member in await self.house.accounts.all()]


@asynccontextmanager
async def street(database: Database, folder: Path, **settings: Any) -> AsyncIterator[Street]:
    github = StandIn(dict(GITHUB))
    async with openid_stand_in() as openid, serving(github):
        yield Street(house(database, folder, openid, github, **settings), openid, github)


def house(
    database: Database, folder: Path, openid: OpenIdStandIn, github: StandIn, **settings: Any
) -> House:
    providers = {
        "oidc_issuer": openid.url,
        "oidc_client_id": "bowerbird",
        "oidc_client_secret": "secret",
        "oidc_name": "Example ID",
        "github_url": github.url,
        "github_client_id": "Iv1.8a61f9b3",
        "github_client_secret": "secret",
    }
    built = build(database, folder, **(providers | settings))
    # The tokens of the stand-in are dated by the clock of the machine.
    built.clock.now = time.time_ns() // 1_000
    return built
