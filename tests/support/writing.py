"""Short functions for writes through the API, and for comparing the state before and after."""

from collections.abc import Sequence
from typing import Any

import httpx

from bowerbird.library.bookmarks.writing.upsert import Upsert
from bowerbird.library.upkeep.checks import Checks
from bowerbird.model.arrival import Counts
from bowerbird.sources import own_json
from bowerbird.storage.database import Transaction
from bowerbird.storage.labels import LabelStore
from bowerbird.storage.libraries import LibraryStore
from tests.support import make
from tests.support.service import Member

SECOND = 1_000_000
HOUR = 3_600 * SECOND
DAY = 24 * HOUR


async def send(
    member: Member, method: str, path: str, body: Any = None, key: str | None = None
) -> httpx.Response:
    headers = {} if key is None else {"Idempotency-Key": key}
    return await member.client.request(method, path, json=body, headers=headers)


def without_change(response: httpx.Response) -> Any:
    """The answer to a write that has changed something, without the change for its undo."""
    answer = response.json()
    assert answer["meta"].pop("change")["state"] == "done"
    return answer


async def add(member: Member, name: Any, *post_ids: Any) -> httpx.Response:
    body = {"tweet_ids": list(post_ids), "label_name": name}
    return await send(member, "POST", "/v1/labels/add", body)


async def remove(member: Member, name: Any, *post_ids: Any) -> httpx.Response:
    body = {"tweet_ids": list(post_ids), "label_name": name}
    return await send(member, "POST", "/v1/labels/remove", body)


async def batch(member: Member, *operations: Any) -> httpx.Response:
    return await send(member, "POST", "/v1/labels/batch", {"operations": list(operations)})


def operation(op: Any, name: Any, *post_ids: Any) -> dict[str, Any]:
    return {"op": op, "tweet_ids": list(post_ids), "label_name": name}


async def labels(member: Member) -> dict[str, int]:
    """Label name -> count, in the order of the response."""
    shown = (await member.get("/v1/labels")).json()["data"]
    return {label["label_name"]: label["count"] for label in shown}


async def label_id(member: Member, name: str) -> str:
    shown = (await member.get("/v1/labels")).json()["data"]
    return next(str(label["id"]) for label in shown if label["label_name"] == name)


async def create_labels(member: Member, count: int) -> None:
    """Creates labels without posts, more than the API allows if asked to."""
    store, libraries = LabelStore(member.database), LibraryStore(member.database)

    async def work(transaction: Transaction) -> None:
        library = await libraries.lock(transaction, member.account_id)
        labels = [library.new_label(f"made {number:06}") for number in range(count)]
        await store.insert(library, labels, 0)
        await libraries.advance(library, Counts())

    await member.database.write(work)


async def save_unbounded(member: Member, post_id: str, names: Sequence[str]) -> None:
    """Saves a post with more labels than allowed, as earlier releases did."""
    incoming = own_json.read(make.raw(make.post(post_id=post_id, tags=names))).incoming
    upsert = Upsert(member.database, member.clock)

    async def work(transaction: Transaction) -> None:
        await upsert.restore(transaction, member.account_id, [incoming])

    await member.database.write(work)


async def tags(member: Member, post_id: str) -> list[str] | None:
    shown: list[str] | None = (await bookmark(member, post_id))["tags"]
    return shown


async def bookmark(member: Member, post_id: str) -> dict[str, Any]:
    response = await member.get(f"/v1/bookmarks/{post_id}")
    assert response.status_code == 200, response.text
    shown: dict[str, Any] = response.json()["data"]
    return shown


async def view(member: Member, name: str = "Mine", **fields: Any) -> str:
    """Creates a Smart View; returns its path."""
    response = await send(member, "POST", "/v1/views", {"name": name, **fields})
    assert response.status_code == 201, response.text
    return response.headers["location"]


async def version(member: Member) -> int:
    return (await member.account()).version


async def recount(member: Member) -> list[Any]:
    """The inconsistencies that `bowerbird check` finds; empty after every write."""
    checks = Checks(member.database, fixes=False, is_deep=True)
    return list(await checks.account(await member.account(), lambda _: None))


def refused(response: httpx.Response) -> tuple[int, str]:
    return response.status_code, response.json()["code"]


def sentence(response: httpx.Response) -> str:
    text: str = response.json()["error"]
    return text
