"""Creates and reads digests at a given time, with the same code as the worker."""

from datetime import datetime
from typing import Any

from bowerbird.library.digests.creation import DigestCreation
from bowerbird.library.digests.emails import DigestEmails
from bowerbird.mail import Mailer
from bowerbird.settings import Settings
from tests.support import writing
from tests.support.hosts.smtp import MailServer
from tests.support.service import Member

# A Monday on which the digest of 13 to 19 July 2026 is due in UTC.
MONDAY = "2026-07-20T08:00:00+00:00"


def instant(text: str) -> int:
    moment = datetime.fromisoformat(text)
    assert moment.tzinfo, "say of which zone"
    return round(moment.timestamp() * 1_000_000)


async def prefer(member: Member, at: str, **fields: Any) -> None:
    member.clock.now = instant(at)
    response = await writing.send(member, "PATCH", "/v1/digests/preferences", fields)
    assert response.status_code == 200, response.text


def making(member: Member, **given: Any) -> DigestCreation:
    return DigestCreation(member.database, member.clock, **given)


async def make(member: Member, at: str = MONDAY, **given: Any) -> None:
    """Does the work of a worker for an account that is due."""
    member.clock.now = instant(at)
    await making(member, **given).create_due(member.account_id)


def mail(member: Member, server: MailServer, **settings: Any) -> DigestEmails:
    known = {"smtp_url": server.url, "mail_from": "Bowerbird <birds@example.org>"}
    mailer = Mailer(Settings(**{**known, **settings}))
    return DigestEmails(member.database, member.clock, mailer.send, "https://birds.example.org")


async def ids(member: Member) -> list[str]:
    """The account's digests, newest first."""
    shown = (await member.get("/v1/digests", limit=100)).json()["data"]
    return [digest["digest_id"] for digest in shown]


async def shown(member: Member, digest_id: str = "latest", **params: Any) -> dict[str, Any]:
    response = await member.get(f"/v1/digests/{digest_id}", **params)
    assert response.status_code == 200, response.text
    digest: dict[str, Any] = response.json()["data"]
    return digest


def post_ids(part: dict[str, Any]) -> list[str]:
    return [post["post_id"] for post in part["posts"]]
