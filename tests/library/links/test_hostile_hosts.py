"""Hosts that are slow, lie, send too much or ask for a pause change nothing in a library."""

from pathlib import Path

import pytest

from bowerbird.clock import MICROSECONDS
from bowerbird.connections.fetching import PUBLIC_BYTES_MAX
from bowerbird.library.links import PAUSES_S, WEEK
from bowerbird.model.posts.networks import LEFT, WAITING, Reason
from tests.support.hosts.image_hosts import ImageHosts
from tests.support.hosts.links import JSON, SERVER, X_HOST, Reader, quoted, x_link, x_url
from tests.support.hosts.networks import status
from tests.support.service import Member

pytestmark = pytest.mark.anyio
LIES = {
    "another post": quoted(x_link(2)),
    "no blockquote": {"html": "<script>alert(1)</script>"},
    "not closed": {"html": "<p>" * 100_000},
    "a list": [[]],
    "nothing": b"",
    "html": b"<!doctype html>",
    "deep": b"[" * 5_000 + b"]" * 5_000,
    "large": b'{"html": "%b"}' % (b"x" * PUBLIC_BYTES_MAX),
}


@pytest.mark.parametrize("lie", LIES)
async def test_an_answer_that_is_not_the_post_is_not_stored(reader: Reader, lie: str) -> None:
    reader.put(x_url(link := x_link(1)), LIES[lie])
    [post_id] = await reader.save(link)
    before = await reader.post(post_id)

    await reader.run()

    assert await reader.post(post_id) == before
    assert await reader.reason(post_id) == (WAITING, Reason.UNREADABLE)
    for _ in range(5):
        reader.member.clock.now += WEEK
        await reader.run()
    assert await reader.reason(post_id) == (LEFT, Reason.UNREADABLE)
    assert len(reader.hosts.requests) == 4


async def test_html_becomes_text(reader: Reader) -> None:
    html = 'a &lt;b&gt;<script>x</script><img src=y onerror=z> <a href="javascript:1">c</a>'
    [post_id] = await reader.save(reader.x_post(1, text=html))
    await reader.run()
    assert await reader.text(post_id) == "a <b> c"


async def test_a_server_cannot_fill_another_post(reader: Reader) -> None:
    other = f"https://{SERVER}/@bird/9"
    mine = reader.status(
        7, uri="https://evil.example/users/a/statuses/1", url="https://evil.example"
    )
    ids = await reader.save(mine, other)
    reader.put(f"https://{SERVER}/api/v1/statuses/9", status(8))

    await reader.run()

    posts = [await reader.post(one) for one in ids]
    assert posts[0]["tweet_details"]["text"] == "Status number 7"
    assert posts[0]["tweet_details"]["link"] == mine
    assert posts[1]["tweet_details"]["text"] == ""


@pytest.mark.parametrize("kind", ["endless", "dripping"])
async def test_endless_answers_end(
    alice: Member, hosts: ImageHosts, tmp_path: Path, kind: str
) -> None:
    reader = Reader(alice, hosts, tmp_path, timeout_s=60.0 if kind == "endless" else 0.3)
    [post_id] = await reader.save(link := x_link(1))
    getattr(hosts, kind).add(x_url(link).removeprefix("https://"))

    await reader.run()

    reason = Reason.UNREADABLE if kind == "endless" else Reason.UNREACHABLE
    assert await reader.reason(post_id) == (WAITING, reason)


async def test_redirects_lead_only_to_hosts_of_the_network(reader: Reader) -> None:
    near, far, server = x_link(1), x_link(2), f"https://{SERVER}/@bird/9"
    moved = x_url(near).replace(X_HOST, "publish.x.com")
    reader.hosts.redirect(x_url(near), moved)
    reader.put(moved, quoted(near))
    reader.hosts.redirect(x_url(far), "https://evil.example/")
    reader.hosts.redirect(f"https://{SERVER}/api/v1/statuses/9", f"http://{SERVER}/")
    ids = await reader.save(near, far, server)

    await reader.run()

    assert [bool(await reader.text(one)) for one in ids] == [True, False, False]
    assert not any(one.startswith("evil.example") for one in reader.hosts.requests)


async def test_private_addresses_are_not_asked(reader: Reader) -> None:
    reader.hosts.names[SERVER] = ["127.0.0.1"]
    [post_id] = await reader.save(reader.status(7))
    await reader.run()
    assert reader.hosts.requests == []
    assert await reader.reason(post_id) == (LEFT, Reason.ADDRESS)


async def test_a_busy_host_is_left_alone_for_all_accounts(reader: Reader, bob: Member) -> None:
    other = Reader(bob, reader.hosts, reader.folder)
    links = [x_link(1), x_link(2)]
    for link in links:
        reader.hosts.put(x_url(link), b"", "429 Busy", f"{JSON}Retry-After: 120\r\n")
    ids = await reader.save(*links)
    [his] = await other.save(links[0])

    await reader.run()
    await other.run()
    assert len(reader.hosts.requests) == 1
    assert await other.reason(his) == (WAITING, Reason.BUSY)
    assert not await reader.is_due()

    for number in (1, 2):
        reader.x_post(number)
    reader.member.clock.now += 121 * MICROSECONDS
    await reader.run()
    await other.run()
    assert [bool(await reader.text(one)) for one in ids] == [True, True]
    assert await other.text(his)


async def test_a_host_without_answers_is_given_up_after_a_week(reader: Reader) -> None:
    links = [x_link(number) for number in range(3)]
    for link in links:
        reader.hosts.put(x_url(link), b"", "503 Down")
    ids = await reader.save(*links)
    start = reader.member.clock.now

    while await reader.is_due() or reader.member.clock.now < start + WEEK:
        await reader.run()
        reader.member.clock.now += PAUSES_S[-1] * MICROSECONDS

    left = (LEFT, Reason.BUSY)
    assert [await reader.reason(one) for one in ids] == [left] * 3
    assert len(reader.hosts.requests) <= 30
