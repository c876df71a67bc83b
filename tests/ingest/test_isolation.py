"""No device reaches anything of another account, and a deleted account leaves nothing."""

from pathlib import Path

import pytest

from bowerbird.library.accounts.accounts import Accounts
from bowerbird.settings import Settings
from bowerbird.storage.files import Files
from tests.ingest.test_kept_pages import counts
from tests.support import ingesting
from tests.support.ingesting import data, listed, post_id
from tests.support.service import Member, Service

pytestmark = pytest.mark.anyio


async def test_a_run_of_another_account_does_not_exist(
    cast: Service, alice: Member, bob: Member
) -> None:
    mine, theirs = await ingesting.device(cast, alice), await ingesting.device(cast, bob)
    run_id = (await theirs.start())["run_id"]
    await theirs.send(run_id, 0, listed([1]))
    file = await theirs.client.post("/ingest/v1/files", content=b"%PDF")
    await cast.app.file_imports.finished()

    answers = [
        await mine.get(f"/runs/{run_id}"),
        await mine.post(f"/runs/{run_id}/pages", {"seq": 0, **listed([1])}),
        await mine.post(f"/runs/{run_id}/pages", {"seq": 1, **listed([2], 1)}),
        await mine.post(f"/runs/{run_id}/finish", {"reason": "end"}),
        await mine.client.get(file.headers["location"]),
    ]

    assert [answer.status_code for answer in answers] == [404] * 5
    assert data(await mine.get("/status"))["last_run"] is None
    assert (await mine.start())["known_head"] == []
    assert (await alice.ids(), await bob.ids()) == ([], [post_id(1)])
    assert data(await theirs.get(f"/runs/{run_id}"))["state"] == "running"


async def test_the_same_posts_in_two_accounts_are_independent(
    cast: Service, alice: Member, bob: Member
) -> None:
    mine, theirs = await ingesting.device(cast, alice), await ingesting.device(cast, bob)
    await mine.read_list("full", [3, 2, 1])
    await theirs.read_list("full", [3, 2, 1])
    cast.clock.now += ingesting.DAY

    await mine.read_list("full", [3, 1])

    assert await mine.removed() == [post_id(2)]
    assert await theirs.removed() == []


async def test_a_deleted_account_leaves_nothing(
    cast: Service, alice: Member, bob: Member, tmp_path: Path
) -> None:
    mine, theirs = await ingesting.device(cast, alice), await ingesting.device(cast, bob)
    for sender in (mine, theirs):
        run_id = (await sender.start())["run_id"]
        await sender.send(run_id, 0, listed([1]))
        await sender.send(run_id, 1, {**listed([2], 1), "payload": "{"})
        await sender.client.post("/ingest/v1/files", content=b"%PDF")
    await cast.app.file_imports.finished()
    before = await counts(bob)

    files = Files(Settings(data_dir=tmp_path))
    await Accounts(cast.database, cast.clock).delete("alice@example.com", files)

    assert set((await counts(alice)).values()) == {0}
    assert await counts(bob) == before
    assert (await mine.get("/status")).status_code == 401
