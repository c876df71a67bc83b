"""Bookmarks on a Mastodon server come into the library, first all of them and then the new ones."""

import pytest

from bowerbird.errors import Refusal
from bowerbird.library.imports.runs import ImportRuns
from bowerbird.library.ingest.runs import IngestRuns
from bowerbird.model.connections import Problem
from bowerbird.requests.saving import NewRun
from tests.support.hosts.networks import ALICE_TOKEN, Networks, Reply, json_reply, status
from tests.support.posts.sources import Desk
from tests.support.service import Member

pytestmark = pytest.mark.anyio


async def test_a_first_run_reads_all_in_the_order_of_saving(desk: Desk, networks: Networks) -> None:
    networks.statuses = [status(number) for number in range(95, 0, -1)]
    connection = await desk.mastodon()

    await desk.run()

    assert await desk.texts() == [f"Status number {number}" for number in range(95, 0, -1)]
    assert [one.query.get("max_id") for one in networks.lists()] == [None, "40", "80"]
    assert {one.query["limit"] for one in networks.lists()} == {"40"}
    assert {one.token for one in networks.received} == {ALICE_TOKEN}
    found = await desk.one(connection)
    assert (found.name, found.problem, found.run_id) == (
        f"alice@127.0.0.1:{networks.port}",
        "",
        "",
    )
    assert (found.new, found.changed, found.total) == (95, 0, 95)
    assert found.last_run_at == desk.member.clock()
    assert found.next_run_at == desk.member.clock() + 3_600_000_000


async def test_a_later_run_stops_at_the_first_known_page(desk: Desk, networks: Networks) -> None:
    networks.statuses = [status(number) for number in range(120, 0, -1)]
    connection = await desk.mastodon()
    await desk.run()
    before = len(networks.lists())
    networks.statuses[:0] = [status(122), status(121)]

    await desk.an_hour_later()

    # The first page has two new posts, the second none.
    assert len(networks.lists()) == before + 2
    assert (await desk.texts())[:3] == [f"Status number {number}" for number in (122, 121, 120)]
    found = await desk.one(connection)
    assert (found.new, found.total) == (2, 122)

    await desk.an_hour_later()

    assert len(networks.lists()) == before + 3
    assert (await desk.one(connection)).new == 0
    assert (await desk.one(connection)).total == 122


async def test_other_sources_do_not_hide_what_is_known(desk: Desk, networks: Networks) -> None:
    networks.statuses = [status(number) for number in range(60, 0, -1)]
    networks.answer_once("/verify_credentials", json_reply({"id": "8", "acct": "daily"}))
    daily = await desk.mastodon()
    await desk.bound(daily, 90, 86_400)
    await desk.run()
    others = IngestRuns(desk.member.database, desk.member.clock)
    account = await desk.member.account()
    new = NewRun(source="x", kind="incremental", source_user_id="1")
    for _ in range(60):
        desk.wait(60)
        await desk.member.database.write(lambda later: others.start(later, account, new))
    before = len(networks.lists())
    desk.wait(86_400)

    await desk.run()

    # One page, although more runs than a look at the latest ones covers came in between.
    assert len(networks.lists()) == before + 1


async def test_nothing_is_read_before_the_next_run_is_due(desk: Desk, networks: Networks) -> None:
    networks.statuses = [status(1)]
    await desk.mastodon()
    await desk.run()
    desk.wait(3_599)

    await desk.run()

    assert len(networks.lists()) == 1
    assert desk.account_id not in await desk.sync.due_accounts(0)


async def test_the_posts_of_a_run_can_be_undone_together(desk: Desk, networks: Networks) -> None:
    networks.statuses = [status(2), status(1)]
    await desk.mastodon()
    await desk.run()
    imports = ImportRuns(desk.member.database, desk.member.clock)
    account = await desk.member.account()
    [listed] = (await imports.list(account, 10, None)).runs
    assert (listed.source, listed.kind, listed.client) == ("mastodon", "api", "Bowerbird")
    assert (listed.state, listed.reason, listed.counts.new) == ("finished", "end", 2)

    await imports.undo(account, listed.run_id)

    assert await desk.texts() == []
    # Unless the source is paused, the next run reads the list again.
    await desk.an_hour_later()
    assert await desk.texts() == ["Status number 2", "Status number 1"]


async def test_a_boost_and_its_original_are_one_post(desk: Desk, networks: Networks) -> None:
    networks.statuses = [{**status(9), "content": "", "reblog": status(1)}, status(1)]
    await desk.mastodon()

    await desk.run()

    assert await desk.texts() == ["Status number 1"]


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        ("", "Type the address of the server"),
        ("not a host", "Type the address of the server"),
        ("ftp://social.example", "Type the address of the server"),
        ("https://user:word@social.example", "Type the address of the server"),
        ("http://169.254.169.254", "is not a public address"),
        ("https://127.0.0.1", "is not a public address"),
        ("localhost", "is not a public address"),
    ],
)
async def test_an_address_that_is_no_public_server_is_refused(
    desk: Desk, networks: Networks, typed: str, sentence: str
) -> None:
    with pytest.raises(Refusal, match=sentence):
        await desk.connecting.mastodon(desk.account_id, typed, ALICE_TOKEN)

    assert networks.received == []
    assert await desk.all() == []


@pytest.mark.parametrize("typed", ["{}", "{}/", "{}/@alice"])
async def test_the_address_of_a_page_names_its_server(
    desk: Desk, networks: Networks, typed: str
) -> None:
    address = typed.format(networks.address)
    connection = await desk.connecting.mastodon(desk.account_id, address, ALICE_TOKEN)

    assert connection.server == networks.address


async def test_a_wrong_token_is_refused_with_what_to_do(desk: Desk) -> None:
    with pytest.raises(Refusal, match="did not accept the token"):
        await desk.mastodon("wrong")

    assert await desk.all() == []


@pytest.mark.parametrize(
    "reply",
    [
        Reply(404, b"", {}),
        Reply(200, b"<html>", {"Content-Type": "text/html"}),
        json_reply({"id": "<b>", "acct": "x"}),
        json_reply({"name": "no account"}),
        Reply(302, b"", {"Location": "http://169.254.169.254/"}),
    ],
)
async def test_a_server_of_another_kind_is_not_connected(
    desk: Desk, networks: Networks, reply: Reply
) -> None:
    networks.answer_once("/verify_credentials", reply)

    with pytest.raises(Refusal, match=r"did not answer as Mastodon does|cannot be read"):
        await desk.mastodon()

    # In particular, the redirect was not followed.
    assert len(networks.received) == 1


async def test_connecting_an_account_again_renews_access(desk: Desk, networks: Networks) -> None:
    first = await desk.mastodon()
    networks.mastodon_tokens = {"another"}
    desk.wait(3_600)
    await desk.run()
    assert (await desk.one(first)).problem is Problem.REVOKED

    again = await desk.mastodon("another")
    await desk.run()

    assert again.connection_id == first.connection_id
    assert (await desk.one(first)).problem is Problem.NONE


async def test_accounts_have_their_own_sources(desk: Desk, networks: Networks, bob: Member) -> None:
    networks.statuses = [status(1)]
    connection = await desk.mastodon()
    other = Desk(bob, networks, desk.folder)
    account = await bob.account()

    for change in (
        other.connections.one(bob.account_id, connection.connection_id),
        other.connections.pause(bob.account_id, connection.connection_id),
        other.connections.run_now(bob.account_id, connection.connection_id),
        other.connections.disconnect(account, connection.connection_id),
    ):
        with pytest.raises(Refusal, match="There is no source"):
            await change
    await other.run()

    assert await other.all() == []
    assert await other.texts() == []
    assert [one.connection_id for one in await desk.all()] == [connection.connection_id]


async def test_an_account_has_ten_sources_at_most(desk: Desk, networks: Networks) -> None:
    for number in range(10):
        networks.answer_once(
            "/verify_credentials", json_reply({"id": str(number), "acct": f"a{number}"})
        )
        await desk.mastodon()

    with pytest.raises(Refusal, match="has 10 sources, the maximum"):
        await desk.mastodon()
