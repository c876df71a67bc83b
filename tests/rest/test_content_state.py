"""GET /v1/bookmarks/{post_id} says how much of a post the library has."""

from typing import Any

import pytest

from bowerbird.model.links import SENTENCES, Reason
from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.links import LinkStore
from tests.support import saving, service
from tests.support.service import Member

pytestmark = pytest.mark.anyio


async def meta(member: Member) -> dict[str, Any]:
    found: dict[str, Any] = (await member.get(f"/v1/bookmarks/{saving.X_ID}")).json()["meta"]
    return found


async def test_a_link_is_fetched_and_then_whole_or_gone(database: Database) -> None:
    alice = (await service.build(database, fetch_posts="on")).alice
    await saving.save(alice, links=[saving.X])
    assert await meta(alice) == {"content_state": "fetching"}

    async def gone(transaction: Transaction) -> None:
        hosts = [(saving.X_ID, "")]
        await LinkStore(database).set_hosts(transaction, alice.account_id, hosts)

    await database.write(gone)
    problem = SENTENCES[Reason.NO_SOURCE]
    assert await meta(alice) == {"content_state": "link", "content_problem": problem}

    await alice.save(post_id=saving.X_ID)
    assert await meta(alice) == {"content_state": "whole"}


async def test_a_service_that_asks_nobody_says_so(alice: Member) -> None:
    await saving.save(alice, links=[saving.X])
    assert (await meta(alice))["content_state"] == "link"
