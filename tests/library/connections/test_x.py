"""Bookmarks at X, through the person's own app: with consent, within a budget, with folders."""

import base64

import msgspec
import pytest

from bowerbird.clock import MICROSECONDS
from bowerbird.errors import Refusal
from bowerbird.library.connections import x_lists
from bowerbird.model.connections import ConnectionState, Problem
from bowerbird.storage.connections import ConnectionStore
from bowerbird.storage.database import Writable
from tests.support import ingesting
from tests.support.hosts.networks import X_USER, Networks, Reply, json_reply, tweet
from tests.support.posts.sources import Desk
from tests.support.service import Service

pytestmark = pytest.mark.anyio


async def test_nothing_is_read_before_the_cost_is_agreed(desk: Desk, networks: Networks) -> None:
    networks.tweets = [tweet(1)]
    connection = await desk.x(is_confirmed=False)

    await desk.run()

    assert connection.state is ConnectionState.PRICED
    assert networks.lists() == []
    await desk.connections.run_now(desk.account_id, connection.connection_id)
    await desk.run()
    assert await desk.texts() == ["Tweet number 1"]


async def test_the_estimate_says_both_prices() -> None:
    estimate = x_lists.of_first_run(1_234)

    assert (estimate.posts, estimate.cost, estimate.owned_cost) == (1_234, "$6.17", "$1.23")
    assert x_lists.of_first_run(0).cost == "$5.00"


async def test_the_sign_in_asks_for_the_scopes_with_pkce_and_the_secret_goes_to_x_only(
    desk: Desk, networks: Networks
) -> None:
    begun = await desk.connecting.begin_x(desk.account_id, "client", "sec/ret")

    assert begun.url.startswith("https://x.com/i/oauth2/authorize?")
    assert "scope=bookmark.read+tweet.read+users.read+offline.access" in begun.url
    assert "code_challenge_method=S256" in begun.url
    assert "sec" not in begun.url.partition("state=")[0]
    assert "sec/ret" not in begun.attempt
    connection = await desk.back_from_x(begun)

    [exchange] = [one for one in networks.received if one.path == "/2/oauth2/token"]
    basic = base64.b64encode(b"client:sec%2Fret").decode()
    assert exchange.headers["authorization"] == f"Basic {basic}"
    assert exchange.form["redirect_uri"] == desk.connecting.x_return_url
    assert len(exchange.form["code_verifier"]) > 40
    assert (connection.source_user_id, connection.name) == (X_USER, "@alice")
    with pytest.raises(Refusal, match="used already"):
        await desk.back_from_x(begun)


async def test_an_app_without_a_secret_names_itself(desk: Desk, networks: Networks) -> None:
    begun = await desk.connecting.begin_x(desk.account_id, "public-client", "")
    await desk.back_from_x(begun)

    [exchange] = [one for one in networks.received if one.path == "/2/oauth2/token"]
    assert exchange.form["client_id"] == "public-client"
    assert "authorization" not in exchange.headers


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ({"state": "other", "code": "c"}, "started elsewhere"),
        ({"code": "c"}, "started elsewhere"),
        ({"state": "", "error": "access_denied"}, "started elsewhere"),
        ({"state": "own", "error": "access_denied"}, "You cancelled at X"),
        ({"state": "own"}, "X sent no code"),
        ({"state": "own", "code": "unknown"}, "X did not accept the sign-in"),
    ],
)
async def test_a_return_that_is_not_as_it_must_be_connects_nothing(
    desk: Desk, query: dict[str, str], sentence: str
) -> None:
    begun = await desk.connecting.begin_x(desk.account_id, "client", "")
    state = begun.url.partition("state=")[2].partition("&")[0]
    sent = {**query, "state": state} if query.get("state") == "own" else query

    with pytest.raises(Refusal, match=sentence):
        await desk.connecting.finish_x(desk.account_id, begun.attempt, sent)

    [unfinished] = await desk.all()
    assert unfinished.state is ConnectionState.UNFINISHED


async def test_the_return_of_another_account_is_refused(desk: Desk) -> None:
    begun = await desk.connecting.begin_x(desk.account_id, "client", "")
    state = begun.url.partition("state=")[2].partition("&")[0]

    with pytest.raises(Refusal, match="started elsewhere"):
        await desk.connecting.finish_x(1, begun.attempt, {"state": state, "code": "c"})


async def test_pages_of_90_are_read_with_all_fields(desk: Desk, networks: Networks) -> None:
    networks.tweets = [tweet(number) for number in range(200, 0, -1)]
    connection = await desk.x()

    await desk.run()

    assert await desk.texts() == [f"Tweet number {number}" for number in range(200, 0, -1)]
    assert [one.query.get("pagination_token") for one in networks.lists()] == [None, "90", "180"]
    asked = networks.lists()[0].query
    assert asked["max_results"] == "90"
    assert "note_tweet" in asked["tweet.fields"]
    assert "referenced_tweets.id.author_id" in asked["expansions"]
    found = await desk.one(connection)
    assert (found.total, found.spent) == (200, 200)

    networks.tweets.insert(0, tweet(201))
    await desk.an_hour_later()

    assert len(networks.lists()) == 5
    # X charges a post once per day.
    assert (await desk.one(connection)).spent == 201


async def test_folders_become_labels(desk: Desk, networks: Networks) -> None:
    networks.tweets = [tweet(number) for number in range(5, 0, -1)]
    networks.folders = {"Birds": [tweet(2)["id"], tweet(4)["id"]], "Empty": []}
    await desk.x()

    await desk.run()

    listed = (await desk.member.listed())["data"]
    tags = {one["tweet_details"]["text"]: one["tags"] for one in listed}
    assert tags == {
        f"Tweet number {number}": ["Birds"] if number in (2, 4) else None
        for number in range(5, 0, -1)
    }
    before = len(networks.received)

    await desk.an_hour_later()

    # Folders cost requests, so they are read once per day, and only after new posts.
    assert len(networks.received) == before + 1


async def test_each_step_reads_one_page_of_a_folder_and_another_worker_can_go_on(
    desk: Desk, networks: Networks
) -> None:
    networks.tweets = [tweet(number) for number in range(5, 0, -1)]
    networks.folders = {f"Folder {n}": [tweet(n)["id"]] for n in range(1, 4)}
    connection = await desk.x()
    # The list, the names of the folders, and three folders.
    for following in (True, True, True, True, False):
        before = len(networks.received)
        worker = Desk(desk.member, networks, desk.folder)

        assert await worker.step(connection) is following
        assert len(networks.received) == before + 1

    found = await desk.one(connection)
    assert (found.run_id, found.problem, found.folders_left) == ("", "", "")
    # The folders have posts that were read today already.
    assert found.spent == 5
    listed = (await desk.member.listed())["data"]
    assert [one["tags"] for one in listed][2:] == [["Folder 3"], ["Folder 2"], ["Folder 1"]]


async def test_folders_that_cannot_be_read_cost_no_posts(desk: Desk, networks: Networks) -> None:
    networks.tweets = [tweet(1)]
    networks.answer_always("/folders", json_reply({"title": "Forbidden"}, 403))
    connection = await desk.x()

    await desk.run()

    found = await desk.one(connection)
    assert (found.problem, found.total, found.run_id) == ("", 1, "")


async def test_the_budget_of_a_day_is_not_exceeded(desk: Desk, networks: Networks) -> None:
    networks.tweets = [tweet(number) for number in range(300, 0, -1)]
    connection = await desk.x()
    await desk.bound(connection, 200)

    await desk.run()

    found = await desk.one(connection)
    assert (found.problem, found.spent) == (Problem.BUDGET, 180)
    assert len(networks.lists()) == 2
    assert found.next_run_at // MICROSECONDS % 86_400 == 0
    await desk.an_hour_later()
    assert len(networks.lists()) == 2

    desk.wait(86_400)
    await desk.run()

    assert (await desk.one(connection)).problem is Problem.NONE
    assert await desk.texts() == [f"Tweet number {number}" for number in range(300, 0, -1)]


async def test_runs_of_a_day_count_each_post_once_and_those_of_the_next_day_again(
    desk: Desk, networks: Networks
) -> None:
    networks.tweets = [tweet(number) for number in range(100, 0, -1)]
    connection = await desk.x()
    desk.wait(86_400 - desk.member.clock() // MICROSECONDS % 86_400)
    await desk.run()

    for _ in range(23):
        await desk.an_hour_later()

    found = await desk.one(connection)
    assert (found.spent, found.problem) == (100, Problem.NONE)
    assert len(networks.lists()) == 2 + 23
    await desk.an_hour_later()
    assert (await desk.one(connection)).spent == 90


async def test_posts_that_the_extension_read_were_free(
    cast: Service, desk: Desk, networks: Networks
) -> None:
    networks.tweets = [tweet(number) for number in range(3, 0, -1)]
    laptop = await ingesting.device(cast, desk.member)
    run = await laptop.start("full", source_user_id=X_USER)
    page = {
        "format": "x.api2",
        "payload": {"data": networks.tweets, "meta": {"result_count": 3}},
        "request_url": f"https://api.x.com/2/users/{X_USER}/bookmarks?max_results=90",
    }
    assert (await laptop.send(run["run_id"], 0, page))["inserted"] == 3
    await laptop.finish(run["run_id"])
    connection = await desk.x()

    await desk.run()

    assert (await desk.one(connection)).spent == 3


async def test_a_rate_limit_waits_until_x_allows_more(desk: Desk, networks: Networks) -> None:
    networks.tweets = [tweet(number) for number in range(100, 0, -1)]
    connection = await desk.x()
    assert await desk.step(connection)
    reset = desk.member.clock() // MICROSECONDS + 700
    networks.answer_once(
        "/bookmarks", json_reply({"title": "Too Many"}, 429, x_rate_limit_reset=str(reset))
    )

    assert not await desk.step(connection)

    found = await desk.one(connection)
    assert found.problem is Problem.RATE_LIMITED
    assert found.next_run_at // MICROSECONDS == reset + 2
    assert found.spent == 90
    desk.wait(702)
    await desk.run()
    assert len(await desk.texts()) == 100
    # The page before was not read again.
    assert [one.query.get("pagination_token") for one in networks.lists()] == [None, "90", "90"]


async def test_tokens_are_renewed_before_they_expire_and_stored_before_they_are_used(
    desk: Desk, networks: Networks
) -> None:
    networks.tweets = [tweet(1)]
    connection = await desk.x()
    await desk.run()
    desk.wait(7_200)
    # The new tokens are issued, and then the API is down.
    networks.answer_once("/bookmarks", Reply(503))

    await desk.run()

    found = await desk.one(connection)
    assert found.problem is Problem.SERVER_ERROR
    assert found.version == connection.version + 1
    desk.wait(400)
    await desk.run()
    assert (await desk.one(connection)).problem is Problem.NONE
    refreshes = [one.form for one in networks.received if one.path == "/2/oauth2/token"][1:]
    assert [one["refresh_token"] for one in refreshes] == ["x-refresh-1"]
    assert networks.received[-1].token == "x-access-2"


async def test_tokens_lost_after_their_renewal_ask_again(desk: Desk, networks: Networks) -> None:
    """A process is killed after X has answered, and before it could store the answer."""
    connection = await desk.x()
    networks.new_x_tokens()
    desk.wait(7_200)

    await desk.run()

    assert (await desk.one(connection)).problem is Problem.REVOKED
    again = await desk.connecting.begin_x_again(desk.account_id, connection.connection_id)
    await desk.back_from_x(again)
    await desk.run()
    [found] = await desk.all()
    assert (found.connection_id, found.problem) == (connection.connection_id, "")
    assert found.state is ConnectionState.ACTIVE


@pytest.mark.parametrize("is_connected_too", [False, True])
async def test_connecting_again_as_another_user_of_x_changes_nothing(
    desk: Desk, networks: Networks, *, is_connected_too: bool
) -> None:
    networks.tweets = [tweet(number) for number in range(100, 0, -1)]
    bob = json_reply({"data": {"id": "77", "name": "Bob", "username": "bob"}})
    if is_connected_too:
        networks.answer_once("/users/me", bob)
        await desk.x(is_confirmed=False)
    connection = await desk.x()
    await desk.step(connection)
    before = await desk.all()
    again = await desk.connecting.begin_x_again(desk.account_id, connection.connection_id)
    networks.answer_once("/users/me", bob)

    with pytest.raises(Refusal) as refused:
        await desk.back_from_x(again)

    assert refused.value.sentence == (
        "You are signed in at X as @bob, but this source is @alice. Sign in there as @alice, or "
        "connect @bob separately."
    )
    assert await desk.all() == before


async def test_a_run_ends_when_its_connection_becomes_one_of_another_user(
    desk: Desk, networks: Networks
) -> None:
    networks.tweets = [tweet(number) for number in range(100, 0, -1)]
    connection = await desk.x()
    await desk.step(connection)
    found = await desk.one(connection)
    assert found.run_id
    store = ConnectionStore(desk.member.database)
    same = msgspec.structs.replace(found, name="@alice2")
    other = msgspec.structs.replace(found, source_user_id="77", name="@bob")

    for changed, run_id in ((same, found.run_id), (other, "")):
        assert await desk.member.database.write(
            lambda later, changed=changed: store.connected(  # type: ignore[misc]
                Writable(later, desk.account_id), changed
            )
        )
        assert (await desk.one(connection)).run_id == run_id


async def test_a_token_that_x_refuses_is_renewed_once(desk: Desk, networks: Networks) -> None:
    networks.tweets = [tweet(1)]
    connection = await desk.x()
    networks.answer_once("/bookmarks", json_reply({"title": "Unauthorized"}, 401))

    await desk.run()

    assert (await desk.one(connection)).problem is Problem.NONE
    networks.answer_always("/bookmarks", json_reply({"title": "Unauthorized"}, 401))
    await desk.an_hour_later()
    assert (await desk.one(connection)).problem is Problem.REVOKED


@pytest.mark.parametrize(
    ("status", "problem"),
    [(402, Problem.CREDITS), (403, Problem.FORBIDDEN), (404, Problem.WRONG_SERVER)],
)
async def test_other_refusals_are_told_apart(
    desk: Desk, networks: Networks, status: int, problem: Problem
) -> None:
    connection = await desk.x()
    networks.answer_once("/bookmarks", json_reply({"title": "no"}, status))

    await desk.run()

    assert (await desk.one(connection)).problem is problem


async def test_an_attempt_that_was_left_does_not_use_up_a_place(desk: Desk) -> None:
    for _ in range(12):
        await desk.connecting.begin_x(desk.account_id, "client", "")

    assert len(await desk.all()) == 1


async def test_posts_that_were_deleted_here_do_not_make_later_runs_read_more(
    desk: Desk, networks: Networks
) -> None:
    networks.tweets = [tweet(number) for number in range(200, 0, -1)]
    connection = await desk.x()
    await desk.run()
    for number in (199, 100, 5):
        deleted = await desk.member.client.delete(f"/v1/bookmarks/{tweet(number)['id']}")
        assert deleted.status_code == 200
    before = len(networks.lists())

    await desk.an_hour_later()

    assert len(networks.lists()) == before + 1
    assert (await desk.one(connection)).new == 0
    assert len(await desk.texts()) == 197
