"""The bodies of pages: compressed, too large, broken, or anything else."""

import asyncio
import gzip
import json
import os
from typing import Any

import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bowerbird.requests import limits
from tests.support import ingesting, writing
from tests.support.ingesting import Sender, data, listed
from tests.support.service import Member

pytestmark = pytest.mark.anyio
LARGEST = limits.INGEST_PAGE_BYTES_MAX


@pytest.mark.parametrize("encoding", ["gzip", "zstd"])
async def test_a_page_may_be_compressed(laptop: Sender, alice: Member, encoding: str) -> None:
    run_id = (await laptop.start())["run_id"]
    raw = json.dumps({"seq": 0, **listed([3, 2])}).encode()
    packed = gzip.compress(raw) if encoding == "gzip" else zstandard.compress(raw)

    response = await _send_raw(laptop, run_id, packed, encoding)

    assert response.status_code == 200, response.text
    assert len(await alice.ids()) == 2


@pytest.mark.parametrize("encoding", ["gzip", "zstd"])
async def test_a_page_that_is_larger_when_decompressed_is_refused(
    laptop: Sender, encoding: str
) -> None:
    run_id = (await laptop.start())["run_id"]
    raw = b"".join(os.urandom(50).ljust(1_000) for _ in range(LARGEST // 1_000 + 1))
    packed = gzip.compress(raw) if encoding == "gzip" else zstandard.compress(raw)

    response = await _send_raw(laptop, run_id, packed, encoding)

    assert writing.refused(response) == (413, "PAYLOAD_TOO_LARGE")
    assert writing.sentence(response) == "The body is larger than 8 MiB."


@pytest.mark.parametrize("encoding", ["gzip", "zstd"])
async def test_a_page_of_more_than_100_times_what_was_sent_is_refused_above_1_mib(
    laptop: Sender, encoding: str
) -> None:
    run_id = (await laptop.start())["run_id"]
    page = json.dumps({"seq": 0, **listed([3, 2])}).encode()

    statuses = []
    for size in (1024 * 1024, 1024 * 1024 + 1):
        raw = page.ljust(size)
        packed = gzip.compress(raw) if encoding == "gzip" else zstandard.compress(raw)
        assert 100 * len(packed) < size
        response = await _send_raw(laptop, run_id, packed, encoding)
        statuses.append(response.status_code)

    assert statuses == [200, 413]
    assert writing.sentence(response) == (
        "The body is larger than 1 MiB and more than 100 times what was sent. "
        "Send it with less compression."
    )


@pytest.mark.parametrize("as_text", [False, True])
async def test_a_page_with_over_100_000_values_is_refused(laptop: Sender, *, as_text: bool) -> None:
    run_id = (await laptop.start())["run_id"]
    payload = "[" + '[""],' * 50_000 + "1]"
    page = {**listed([3, 2]), "seq": 0, "payload": payload if as_text else json.loads(payload)}

    response = await _send_raw(laptop, run_id, gzip.compress(json.dumps(page).encode()), "gzip")

    assert writing.refused(response) == (400, "INVALID_REQUEST")
    assert writing.sentence(response) == "body: has more than 100,000 values; split the request."


@pytest.mark.parametrize(
    ("body", "encoding"),
    [
        (b"not gzip", "gzip"),
        (gzip.compress(b"{}", mtime=0)[:-4], "gzip"),
        (gzip.compress(b"{}", mtime=0) + b"more", "gzip"),
        (b"not zstd", "zstd"),
        (zstandard.compress(b"{}")[:-1], "zstd"),
        (zstandard.compress(b"{}") + b"more", "zstd"),
        (b"{}", "br"),
    ],
)
async def test_a_broken_compression_is_refused(laptop: Sender, body: bytes, encoding: str) -> None:
    run_id = (await laptop.start())["run_id"]

    response = await _send_raw(laptop, run_id, body, encoding)

    assert writing.refused(response) == (400, "INVALID_REQUEST")
    # Not a sentence about the JSON in it.
    assert encoding == "br" or encoding in writing.sentence(response)


async def test_a_page_above_8_mib_is_refused_and_one_of_7_mib_is_not(laptop: Sender) -> None:
    run_id = (await laptop.start())["run_id"]
    head = b'{"seq":0,"format":"x.graphql","payload":{"data":{"x":"'

    large = await _send_raw(laptop, run_id, head + b"x" * LARGEST + b'"}}}')
    fitting = await _send_raw(laptop, run_id, head + b"x" * (7 << 20) + b'"}}}')

    assert writing.refused(large) == (413, "PAYLOAD_TOO_LARGE")
    assert fitting.status_code == 200
    assert data(fitting)["unreadable"] == 1


async def test_no_body_is_a_server_error(laptop: Sender) -> None:
    run_id = (await laptop.start())["run_id"]
    loop = asyncio.get_running_loop()

    @settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
    @given(
        st.one_of(
            st.binary(max_size=200),
            st.text(max_size=200).map(_as_payload),
            st.recursive(
                st.none() | st.booleans() | st.integers() | st.text(max_size=20),
                lambda inner: (
                    st.lists(inner, max_size=4)
                    | st.dictionaries(
                        st.sampled_from(
                            ["data", "bookmark_timeline_v2", "timeline", "instructions"]
                        )
                        | st.text(max_size=8),
                        inner,
                        max_size=4,
                    )
                ),
            ).map(_as_payload),
        )
    )
    def send(body: bytes) -> None:
        laptop.clock.now += ingesting.MINUTE
        sending = _send_raw(laptop, run_id, body)
        response = asyncio.run_coroutine_threadsafe(sending, loop).result(30)
        assert response.status_code in (200, 400, 422), response.text

    await asyncio.to_thread(send)


def _as_payload(value: Any) -> bytes:
    page = {"seq": abs(hash(str(value))) % 1_000_000, "format": "x.graphql", "op": "Bookmarks"}
    return json.dumps({**page, "payload": value}).encode()


async def _send_raw(sender: Sender, run_id: str, body: bytes, encoding: str = "") -> Any:
    headers = {"Content-Encoding": encoding} if encoding else {}
    path = f"/ingest/v1/runs/{run_id}/pages"
    return await sender.client.post(path, content=body, headers=headers)
