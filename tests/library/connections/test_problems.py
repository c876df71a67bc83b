"""What can go wrong with a network: each has a sentence, an end, and a next run."""

import asyncio

import pytest

from bowerbird.clock import MICROSECONDS
from bowerbird.connections.fetching import Fetcher
from bowerbird.connections.records import SourceProblem
from bowerbird.library.connections import connections
from bowerbird.model.arrival import RunState
from bowerbird.model.connections import ANSWER_BYTES_MAX, Problem
from tests.support import waiting
from tests.support.hosts.networks import Networks, Reply, json_reply, playing, status
from tests.support.posts.sources import Desk

pytestmark = pytest.mark.anyio
JSON = {"Content-Type": "application/json"}
BOOKMARKS = "/api/v1/bookmarks"


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        (Reply(500), Problem.SERVER_ERROR),
        (Reply(503, b"", {"Retry-After": "5"}), Problem.SERVER_ERROR),
        (json_reply({"error": "revoked"}, 401), Problem.REVOKED),
        (json_reply({"error": "scope"}, 403), Problem.FORBIDDEN),
        (json_reply({"error": "gone"}, 404), Problem.WRONG_SERVER),
        (json_reply({"error": "slow down"}, 429), Problem.RATE_LIMITED),
        (Reply(302, b"", {"Location": "https://elsewhere.example/"}), Problem.WRONG_SERVER),
        (Reply(307, b"", {"Location": "http://127.0.0.1:1/"}), Problem.WRONG_SERVER),
        (Reply(200, b"<html>", {"Content-Type": "text/html"}), Problem.WRONG_SERVER),
        (Reply(200, b"[]"), Problem.WRONG_SERVER),
        (Reply(200, b"", JSON), Problem.UNREADABLE_ANSWER),
        (Reply(200, b'{"a":', JSON), Problem.UNREADABLE_ANSWER),
        (Reply(200, b'{"not": "a list"}', JSON), Problem.UNREADABLE_ANSWER),
        (Reply(200, b"\xff\xfe[]", JSON), Problem.UNREADABLE_ANSWER),
        (Reply(200, b"[" * 200_000, JSON), Problem.UNREADABLE_ANSWER),
        (Reply(200, b" " * (ANSWER_BYTES_MAX + 1), JSON), Problem.UNREADABLE_ANSWER),
        (Reply(200, b"[]", {**JSON, "Content-Encoding": "gzip"}), Problem.UNREADABLE_ANSWER),
        (json_reply([status(n) for n in range(101)]), Problem.UNREADABLE_ANSWER),
    ],
)
async def test_a_bad_answer_becomes_a_sentence_and_the_next_run_tries_again(
    desk: Desk, networks: Networks, reply: Reply, problem: Problem
) -> None:
    networks.statuses = [status(1)]
    connection = await desk.mastodon()
    networks.answer_once(BOOKMARKS, reply)

    await desk.run()

    found = await desk.one(connection)
    assert (found.problem, found.failures) == (problem, 1)
    assert found.last_run_at == desk.member.clock()
    assert found.next_run_at > desk.member.clock()
    sentence = connections.sentence(found)
    assert sentence.endswith(".")
    assert "{" not in sentence
    assert len(networks.lists()) == 1

    desk.wait(86_400)
    await desk.run()

    found = await desk.one(connection)
    assert (found.problem, found.failures) == ("", 0)
    assert await desk.texts() == ["Status number 1"]


@pytest.mark.parametrize("problem", [one for one in Problem if one])
async def test_every_problem_has_a_sentence(desk: Desk, problem: Problem) -> None:
    connection = await desk.mastodon()
    await desk.sync._stores.connections.fail(  # noqa: SLF001 - each problem once
        desk.account_id, connection, problem, failures=1, now=1, next_run_at=1
    )

    sentence = connections.sentence(await desk.one(connection))
    assert sentence.endswith((".", "(UTC)."))


async def test_entries_that_are_no_posts_are_counted_and_the_rest_is_kept(
    desk: Desk, networks: Networks
) -> None:
    networks.statuses = [{"id": "x"}, {**status(2), "content": None}, status(1)]
    connection = await desk.mastodon()

    await desk.run()

    assert await desk.texts() == ["", "Status number 1"]
    assert (await desk.one(connection)).problem is Problem.NONE


async def test_hostile_texts_stay_texts(desk: Desk, networks: Networks) -> None:
    hostile = {**status(1), "content": '<p>&lt;script&gt;"\u202e\x00</p>'}
    hostile["account"] = {**hostile["account"], "display_name": "</script>\ud83d"}
    networks.statuses = [hostile]
    await desk.mastodon()

    await desk.run()

    assert await desk.texts() == ['<script>"\u202e']


async def test_a_server_that_is_down_is_asked_less_and_less(desk: Desk, networks: Networks) -> None:
    connection = await desk.mastodon()
    networks.answer_always(BOOKMARKS, Reply(502))
    waits = []
    for _ in range(6):
        await desk.run()
        found = await desk.one(connection)
        waits.append((found.next_run_at - desk.member.clock()) // MICROSECONDS)
        desk.member.clock.now = found.next_run_at

    assert waits == [300, 600, 1200, 2400, 3600, 3600]


async def test_a_server_that_does_not_listen_is_unreachable() -> None:
    async with playing() as other:
        port = other.port
    async with Fetcher([f"127.0.0.1:{port}"]) as fetcher:
        with pytest.raises(SourceProblem) as problem:
            await fetcher.get(f"http://127.0.0.1:{port}/")

    assert problem.value.problem is Problem.UNREACHABLE


async def test_a_silent_server_does_not_hold_the_worker(networks: Networks) -> None:
    networks.held[1] = asyncio.Event()
    async with Fetcher([f"127.0.0.1:{networks.port}"], timeout_s=0.2) as fetcher:
        with pytest.raises(SourceProblem) as problem:
            await fetcher.get(f"{networks.address}{BOOKMARKS}")

    assert problem.value.problem is Problem.UNREACHABLE
    networks.held[1].set()


@pytest.mark.parametrize(
    ("url", "addresses"),
    [
        ("https://social.example/", ["10.0.0.1"]),
        ("https://social.example/", ["151.101.1.140", "127.0.0.1"]),
        ("https://social.example/", ["::1"]),
        ("http://social.example/", ["151.101.1.140"]),
        ("https://social.example:8443/", ["151.101.1.140"]),
        ("https://127.0.0.1/", ["127.0.0.1"]),
    ],
)
async def test_no_request_goes_to_a_private_address(url: str, addresses: list[str]) -> None:
    async def resolve(_name: str) -> list[str]:
        return addresses

    async with Fetcher(["localhost:3000"], resolve=resolve) as fetcher:
        with pytest.raises(SourceProblem) as problem:
            await fetcher.get(url, "token")

    assert problem.value.problem is Problem.PRIVATE_ADDRESS


async def test_the_next_page_is_asked_of_the_same_server_whatever_the_header_says(
    desk: Desk, networks: Networks
) -> None:
    connection = await desk.mastodon()
    elsewhere = '<http://169.254.169.254/latest?max_id=7>; rel="next"'
    networks.answer_once(BOOKMARKS, json_reply([status(2)], Link=elsewhere))
    networks.statuses = [status(number) for number in range(8)]

    await desk.run()

    assert [one.query.get("max_id") for one in networks.lists()] == [None, "7"]
    assert (await desk.one(connection)).problem is Problem.NONE


async def test_a_list_without_an_end_is_given_up(desk: Desk, networks: Networks) -> None:
    connection = await desk.mastodon()
    same = f'<{networks.address}/?max_id=1>; rel="next"'
    networks.answer_always(BOOKMARKS, json_reply([status(2)], Link=same))

    await desk.run()

    found = await desk.one(connection)
    assert found.problem is Problem.UNREADABLE_ANSWER
    assert len(networks.lists()) == 2
    [run] = await desk.runs()
    assert (run.state, run.reason, run.is_complete) == (RunState.FINISHED, "gave_up", False)


async def test_a_late_failure_does_not_spoil_a_fresh_connection(
    desk: Desk, networks: Networks
) -> None:
    connection = await desk.mastodon()
    networks.answer_once(BOOKMARKS, json_reply({"error": "The access token is invalid"}, 401))
    networks.held[1] = asyncio.Event()
    reading = asyncio.create_task(desk.step(connection))
    await asked(networks)

    await desk.mastodon()
    networks.held[1].set()

    assert not await reading
    assert (await desk.one(connection)).problem is Problem.NONE


async def test_a_page_that_another_worker_stored_otherwise_fails_only_its_source(
    desk: Desk, networks: Networks
) -> None:
    networks.statuses = [status(number) for number in range(50, 0, -1)]
    connection = await desk.mastodon()
    networks.held[1] = asyncio.Event()
    reading = asyncio.create_task(desk.step(connection))
    await asked(networks)
    networks.statuses.insert(0, status(51))
    assert await desk.step(connection)
    networks.held[1].set()

    assert not await reading

    found = await desk.one(connection)
    assert found.problem is Problem.INTERNAL
    desk.wait(400)
    await desk.run()
    assert (await desk.one(connection)).problem is Problem.NONE
    assert len(await desk.texts()) == 51


async def asked(networks: Networks) -> None:
    """Until a network has received a request for a list."""

    async def is_asked() -> bool:
        return bool(networks.lists())

    await waiting.until(is_asked)


async def test_a_failure_after_a_renewal_is_noted(desk: Desk, networks: Networks) -> None:
    connection = await desk.bluesky()
    networks.sessions = {"other": "refresh-1"}
    networks.answer_once("/app.bsky.bookmark.getBookmarks", json_reply({}, 401))
    networks.answer_once("/app.bsky.bookmark.getBookmarks", Reply(500))

    await desk.run()

    found = await desk.one(connection)
    assert (found.problem, found.version) == (Problem.SERVER_ERROR, connection.version + 1)


async def test_one_bad_source_does_not_stop_the_others(desk: Desk, networks: Networks) -> None:
    networks.answer_once("/verify_credentials", json_reply({"id": "1", "acct": "first"}))
    first = await desk.mastodon()
    desk.wait(1)
    second = await desk.bluesky()
    networks.answer_always(BOOKMARKS, Reply(500))

    await desk.run()

    assert (await desk.one(first)).problem is Problem.SERVER_ERROR
    assert (await desk.one(second)).problem is Problem.NONE
