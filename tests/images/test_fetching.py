"""An image is fetched from an allowed host at a public address, and checked byte by byte."""

import asyncio
import gc
from pathlib import Path

import httpx2
import pytest

from bowerbird import outgoing
from bowerbird.images import fetching
from bowerbird.images.fetching import NotFetched, Reason
from bowerbird.images.hosts import AllowedHosts
from tests.support.hosts.image_hosts import (
    BLUESKY,
    INSTANCE,
    PUBLIC,
    REDDIT,
    ImageHosts,
    X,
    image_hosts,
)
from tests.support.hosts.loopback import http_answer
from tests.support.posts import pictures

pytestmark = pytest.mark.anyio
URL = f"https://{X}/media/a.jpg"
PRIVATE = (
    *("127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1"),
    *("0.0.0.0", "224.0.0.1", "255.255.255.255", "240.0.0.1", "192.0.2.1"),  # noqa: S104
    *("::1", "::", "fe80::1", "fe80::1%eth0", "fc00::1", "ff02::1", "2001:db8::1"),
    *("::ffff:127.0.0.1", "::ffff:8.8.8.8", "::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b:1::a00:1"),
    *("2002:7f00:1::", "2001:0:7f00:1::", "not an address", ""),
)


async def refused(
    hosts: ImageHosts, url: str, *, instance: str = "", timeout_s: float = 30.0
) -> Reason:
    async with hosts.fetcher(timeout_s) as fetcher:
        with pytest.raises(NotFetched) as problem:
            await fetcher.fetch(url, instance)
    return problem.value.reason


async def test_an_image_is_fetched_from_the_address_that_was_checked(hosts: ImageHosts) -> None:
    content = pictures.png(30, 20)
    hosts.put(f"{URL}?name=large", content)

    async with hosts.fetcher() as fetcher:
        image = await fetcher.fetch(f"{URL}?name=large#part")

    assert (image.content, image.format.type) == (content, "image/png")
    assert (image.format.width, image.format.height) == (30, 20)
    assert hosts.requests == [f"{X}/media/a.jpg?name=large"]
    assert hosts.connected_to == [PUBLIC]
    assert hosts.resolved == [X]


async def test_a_connection_serves_one_host_only(hosts: ImageHosts) -> None:
    for host in (X, BLUESKY, REDDIT):
        hosts.put(f"https://{host}/a", pictures.png())

    async with hosts.fetcher() as fetcher:
        for host in (X, BLUESKY, REDDIT, X):
            await fetcher.fetch(f"https://{host}/a")
        assert len(hosts.open) == 3


async def test_a_connection_that_its_host_ends_meanwhile_is_replaced(hosts: ImageHosts) -> None:
    hosts.serves_once = True
    hosts.put(URL, pictures.png())

    async with hosts.fetcher() as fetcher:
        await fetcher.fetch(URL)
        await fetcher.fetch(URL)

    assert hosts.connected_to == [PUBLIC, PUBLIC]


async def test_an_answer_that_comes_without_a_request_is_not_that_of_the_next_one(
    hosts: ImageHosts,
) -> None:
    hosts.put(URL, pictures.png())
    readers: list[asyncio.StreamReader] = []

    async def connect(address: str, port: int, name: str) -> outgoing.Streams:
        streams = await hosts.connect(address, port, name)
        readers.append(streams[0])
        return streams

    fetcher = fetching.Fetcher(AllowedHosts(), resolve=hosts.resolve, connect=connect)
    async with fetcher:
        await fetcher.fetch(URL)
        readers[0].feed_data(http_answer(b"", "408 Request Timeout"))
        await fetcher.fetch(URL)

    assert hosts.connected_to == [PUBLIC, PUBLIC]


@pytest.mark.parametrize("more", [http_answer(b"another"), b"no answer"])
async def test_a_connection_with_more_than_one_answer_is_not_used_again(
    hosts: ImageHosts, more: bytes
) -> None:
    hosts.put(URL, pictures.png())
    hosts.answers[f"{X}/two"] = http_answer(pictures.png()) + more

    async with hosts.fetcher() as fetcher:
        with pytest.raises(NotFetched):
            await fetcher.fetch(f"https://{X}/two")
        await fetcher.fetch(URL)

    assert hosts.connected_to == [PUBLIC, PUBLIC]


async def test_the_host_is_named_as_in_the_url(hosts: ImageHosts) -> None:
    async def connect(address: str, port: int, name: str) -> outgoing.Streams:
        assert (address, port, name) == (PUBLIC, 8443, "2606:4700::1111")
        return await hosts.connect(address, port, X)

    url = httpx2.URL("https://[2606:4700::1111]:8443/a")
    sending = outgoing.OutgoingRequests(resolve=hosts.resolve, connect=connect)
    async with sending, sending.response("GET", url, {}):
        pass

    assert hosts.heads[0]["host"] == "[2606:4700::1111]:8443"


async def test_the_certificate_must_be_that_of_the_host(tmp_path: Path) -> None:
    async with image_hosts(tmp_path, ["other.example"]) as hosts:
        hosts.put(URL, pictures.png())

        assert await refused(hosts, URL) is Reason.UNREACHABLE
        assert hosts.requests == []


@pytest.mark.parametrize("address", PRIVATE)
async def test_a_name_with_a_private_address_is_refused(hosts: ImageHosts, address: str) -> None:
    hosts.names[X] = [PUBLIC, address]

    assert await refused(hosts, hosts.put(URL, pictures.png())) is Reason.ADDRESS
    assert hosts.connected_to == []


async def test_an_answer_that_changes_later_changes_nothing(hosts: ImageHosts) -> None:
    """The name is resolved once per request, and the connection goes to that address."""
    hosts.put(URL, pictures.png())
    hosts.names[X] = ["8.8.4.4"]
    async with hosts.fetcher() as fetcher:
        await fetcher.fetch(URL)
        hosts.names[X] = ["127.0.0.1"]
        with pytest.raises(NotFetched) as problem:
            await fetcher.fetch(URL)

    assert problem.value.reason is Reason.ADDRESS
    assert hosts.connected_to == ["8.8.4.4"]


@pytest.mark.parametrize(
    "url",
    [
        "https://evil.example/a.png",
        f"https://evil.example/?{X}",
        f"https://{X}.evil.example/a.png",
        f"https://{X}@evil.example/a.png",
        f"https://evil.example#@{X}/",
        f"https://evil.example\\@{X}/",
        f"http://{X}/a.png",
        f"https://{X}:8443/a.png",
        f"https://user:word@{X}/a.png",
        "https://127.0.0.1/a.png",
        "https://[::1]/a.png",
        "https://2130706433/a.png",
        "https://0x7f.1/a.png",
        "https://localhost/a.png",
        "file:///etc/passwd",
        "data:image/png;base64,AAAA",
        f"https://{X}/" + "a" * 3_000,
        "https://",
        "https://[/",
        "",
    ],
)
async def test_other_urls_are_not_requested(hosts: ImageHosts, url: str) -> None:
    assert await refused(hosts, url) is Reason.HOST
    assert hosts.resolved == []


async def test_pictures_may_come_from_the_server_of_a_post(hosts: ImageHosts) -> None:
    own = hosts.put(f"https://{INSTANCE}/a.png", pictures.png())
    below = hosts.put(f"https://files.{INSTANCE}/a.png", pictures.png())

    async with hosts.fetcher() as fetcher:
        for url in (own, below):
            assert (await fetcher.fetch(url, INSTANCE)).format.type == "image/png"
    assert await refused(hosts, own) is Reason.HOST
    assert await refused(hosts, own, instance="other.example") is Reason.HOST
    assert await refused(hosts, "https://evil.example/a", instance="l.example") is Reason.HOST
    assert await refused(hosts, "https://127.0.0.1/a", instance="127.0.0.1") is Reason.HOST


async def test_redirects_are_followed_and_checked(hosts: ImageHosts) -> None:
    hosts.put(f"https://{BLUESKY}/end", pictures.GIF)
    hosts.redirect(f"https://{X}/2", f"https://{BLUESKY}/end", "308 Permanent Redirect")
    hosts.redirect(f"https://{X}/1", "/2")
    hosts.redirect(f"https://{X}/0", "1", "301 Moved Permanently")
    hosts.redirect(f"https://{X}/more", f"https://{X}/0")

    async with hosts.fetcher() as fetcher:
        assert (await fetcher.fetch(f"https://{X}/0")).format.type == "image/gif"
    assert await refused(hosts, f"https://{X}/more") is Reason.REDIRECTS


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        ("https://127.0.0.1/", Reason.HOST),
        ("http://127.0.0.1:8080/admin", Reason.HOST),
        ("https://localhost.example/", Reason.HOST),
        ("//evil.example/", Reason.HOST),
        (f"http://{X}/plain", Reason.HOST),
        ("https://[", Reason.REDIRECTS),
        (f"https://{REDDIT}/inside", Reason.ADDRESS),
    ],
)
async def test_a_redirect_leads_nowhere_else(
    hosts: ImageHosts, target: str, reason: Reason
) -> None:
    hosts.names[REDDIT] = ["127.0.0.1"]
    hosts.put(f"https://{REDDIT}/inside", pictures.png())

    assert await refused(hosts, hosts.redirect(URL, target)) is reason
    assert hosts.requests == [URL.removeprefix("https://")]


async def test_an_endless_body_is_cut_off(hosts: ImageHosts) -> None:
    hosts.endless.add(URL.removeprefix("https://"))

    assert await refused(hosts, URL, timeout_s=30) is Reason.SIZE
    assert hosts.sent < 2 * fetching.MAX_BYTES


async def test_a_body_that_drips_ends_with_the_time(hosts: ImageHosts) -> None:
    hosts.dripping.add(URL.removeprefix("https://"))

    assert await refused(hosts, URL, timeout_s=0.5) is Reason.TIME


@pytest.mark.parametrize(
    ("content", "headers", "reason"),
    [
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "Content-Type: image/png\r\n", Reason.TYPE),
        (b"<html><script>1</script>", "Content-Type: image/jpeg\r\n", Reason.TYPE),
        (b"", "Content-Type: image/jpeg\r\n", Reason.TYPE),
        (pictures.png(), "Content-Encoding: gzip\r\n", Reason.TYPE),
        (pictures.png_bomb(60_000, 60_000), "", Reason.PIXELS),
        (pictures.png_bomb(2**31 - 1, 1), "", Reason.PIXELS),
    ],
)
async def test_other_content_is_refused(
    hosts: ImageHosts, content: bytes, headers: str, reason: Reason
) -> None:
    assert await refused(hosts, hosts.put(URL, content, headers=headers)) is reason


async def test_the_type_comes_from_the_bytes(hosts: ImageHosts) -> None:
    hosts.put(URL, pictures.WEBP, headers="Content-Type: text/html\r\n")

    async with hosts.fetcher() as fetcher:
        assert (await fetcher.fetch(URL)).format.type == "image/webp"


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        ("404 Not Found", Reason.GONE),
        ("410 Gone", Reason.GONE),
        ("403 Forbidden", Reason.REFUSED),
        ("204 No Content", Reason.REFUSED),
        ("304 Not Modified", Reason.REFUSED),
        ("302 Found", Reason.REFUSED),
        ("429 Too Many Requests", Reason.BUSY),
        ("503 Service Unavailable", Reason.BUSY),
    ],
)
async def test_a_status_says_whether_to_ask_again(
    hosts: ImageHosts, status: str, reason: Reason
) -> None:
    assert await refused(hosts, hosts.put(URL, b"", status)) is reason


async def test_an_answer_that_is_not_http_is_a_failure_of_the_network(hosts: ImageHosts) -> None:
    hosts.answers[URL.removeprefix("https://")] = b"SSH-2.0-OpenSSH\r\n\r\n"

    assert await refused(hosts, URL) is Reason.UNREACHABLE


@pytest.mark.parametrize(
    "answer",
    [
        b"Transfer-Encoding: chunked\r\n\r\n{size:x}\r\n{image}\r\n0\r\n\r\n",
        b"Connection: close\r\nContent-Length: {size}\r\n\r\n{image}",
        b"X: y\r\nX: z\r\nContent-Length: {size}\r\n\r\n{image}",
    ],
)
@pytest.mark.parametrize("before", [b"", b"HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n"])
async def test_answers_of_every_shape_are_read(
    hosts: ImageHosts, answer: bytes, before: bytes
) -> None:
    image = pictures.png()
    size = len(image)
    head, _, rest = answer.partition(b"{image}")
    filled = head.decode().format(size=size).encode() + image + rest
    hosts.answers[URL.removeprefix("https://")] = before + b"HTTP/1.1 200 OK\r\n" + filled

    async with hosts.fetcher() as fetcher:
        for _ in range(2):
            assert (await fetcher.fetch(URL)).content == image


@pytest.mark.parametrize(
    "answer",
    [
        b"Content-Length: 1\r\n\r\naHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nb",
        b"Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n",
        b"Content-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        b"X: " + b"y" * 4 * outgoing.HEAD_BYTES_MAX,
        b"Transfer-Encoding: chunked\r\n\r\n0\r\nX: " + b"y" * 4 * outgoing.HEAD_BYTES_MAX,
    ],
)
async def test_an_answer_whose_end_is_in_doubt_is_a_failure_of_the_network(
    hosts: ImageHosts, answer: bytes
) -> None:
    hosts.answers[URL.removeprefix("https://")] = b"HTTP/1.1 200 OK\r\n" + answer

    assert await refused(hosts, URL) is Reason.UNREACHABLE


async def test_a_name_without_an_address_is_a_failure_of_the_network() -> None:
    async def fails(_: str) -> list[str]:
        raise OSError("no such name")

    fetcher = fetching.Fetcher(AllowedHosts(), resolve=fails)
    with pytest.raises(NotFetched) as problem:
        await fetcher.fetch(URL)

    assert problem.value.reason is Reason.UNREACHABLE


async def test_no_cookie_is_sent_back(hosts: ImageHosts) -> None:
    hosts.put(URL, pictures.png(), headers="Set-Cookie: a=b; Path=/\r\n")

    async with hosts.fetcher() as fetcher:
        await fetcher.fetch(URL)
        await fetcher.fetch(URL)

    assert all("cookie" not in head for head in hosts.heads)


@pytest.mark.parametrize("delay_s", [0.0, 0.001, 0.003, 0.006, 0.01])
async def test_a_cancelled_fetch_leaves_no_connection(hosts: ImageHosts, delay_s: float) -> None:
    hosts.dripping.add(URL.removeprefix("https://"))

    async with hosts.fetcher() as fetcher:
        for _ in range(5):
            fetch = asyncio.create_task(fetcher.fetch(URL))
            # Sleep on purpose: the end must be able to come at any moment of a handshake.
            await asyncio.sleep(delay_s)
            fetch.cancel()
            await asyncio.gather(fetch, return_exceptions=True)

    gc.collect()
    await asyncio.wait_for(hosts.until_idle(), 30)


async def test_few_connections_stay_open_however_many_hosts_there_are(tmp_path: Path) -> None:
    names = [f"a{number}.{INSTANCE}" for number in range(2 * outgoing.CONNECTIONS_KEPT_MAX)]
    async with image_hosts(tmp_path, names) as hosts:
        for name in names:
            hosts.put(f"https://{name}/a", pictures.png())

        async with hosts.fetcher() as fetcher:
            for name in names:
                await fetcher.fetch(f"https://{name}/a", INSTANCE)
            while len(hosts.open) > outgoing.CONNECTIONS_KEPT_MAX:
                await asyncio.wait(hosts.open, return_when=asyncio.FIRST_COMPLETED, timeout=30)
                assert len(hosts.open) < len(names)
