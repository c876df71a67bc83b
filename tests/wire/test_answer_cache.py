"""The response cache stays within its size and never mixes up accounts or requests."""

import itertools
from typing import Any

import msgspec
import pytest

from bowerbird.model.accounts import Account
from bowerbird.wire.responses.answer_cache import AnswerCache, RequestTarget
from bowerbird.wire.responses.replies import Reply

pytestmark = pytest.mark.anyio

ACCOUNT = Account(1, 1, "pro", 5, 1, 0, 0, 0, 0, 0)
ASKED = RequestTarget("/v1/bookmarks", b"", b"", None)


class Kitchen:
    """Builds responses and counts them."""

    def __init__(self, size: int = 100) -> None:
        self.built = 0
        self._size = size

    async def build(self) -> bytes:
        self.built += 1
        return b"%d" % self.built + b"x" * self._size


async def _answers(
    cache: AnswerCache, kitchen: Kitchen, account: Account = ACCOUNT, **asked: Any
) -> Reply:
    return await cache.answer(account, msgspec.structs.replace(ASKED, **asked), kitchen.build)


def _headers(reply: Reply) -> dict[bytes, bytes]:
    return dict(reply.headers)


async def test_the_same_request_is_built_once() -> None:
    cache, kitchen = AnswerCache(1_000_000), Kitchen()

    first, again = await _answers(cache, kitchen), await _answers(cache, kitchen)

    assert kitchen.built == 1
    assert first == again


@pytest.mark.parametrize(
    "change",
    [{"account_id": 2}, {"epoch": 6}, {"version": 2}, {"plan": "free"}],
    ids=lambda change: next(iter(change)),
)
async def test_a_different_account_or_library_state_misses_the_cache(
    change: dict[str, Any],
) -> None:
    cache, kitchen = AnswerCache(1_000_000), Kitchen()
    first = await _answers(cache, kitchen)

    other = await _answers(cache, kitchen, msgspec.structs.replace(ACCOUNT, **change))

    assert kitchen.built == 2
    assert _headers(other)[b"etag"] != _headers(first)[b"etag"]


@pytest.mark.parametrize(
    "change",
    [{"path": "/v1/bookmarks/1"}, {"query_string": b"limit=1"}, {"accept_encoding": b"gzip"}],
    ids=lambda change: next(iter(change)),
)
async def test_a_different_request_misses_the_cache(change: dict[str, Any]) -> None:
    cache, kitchen = AnswerCache(1_000_000), Kitchen()
    first = await _answers(cache, kitchen)

    other = await _answers(cache, kitchen, **change)

    assert kitchen.built == 2
    assert _headers(other)[b"etag"] != _headers(first)[b"etag"]


async def test_irrelevant_differences_still_hit_the_cache() -> None:
    cache, kitchen = AnswerCache(1_000_000), Kitchen()
    await _answers(cache, kitchen)

    used = msgspec.structs.replace(ACCOUNT, calls_this_month=50)
    await _answers(cache, kitchen, used)
    await _answers(cache, kitchen, accept_encoding=b"identity", if_none_match=b'"other"')

    assert kitchen.built == 1


async def test_path_and_query_are_separate_parts_of_the_cache_key() -> None:
    cache, kitchen = AnswerCache(1_000_000), Kitchen()

    for path, query in (("/a", b"b"), ("/ab", b""), ("/", b"ab"), ("/a', b'", b"b")):
        await _answers(cache, kitchen, path=path, query_string=query)

    assert kitchen.built == 4


async def test_a_matching_etag_returns_304_without_building_a_response() -> None:
    cache, kitchen = AnswerCache(0), Kitchen()
    tag = _headers(await _answers(cache, kitchen))[b"etag"]

    reply = await _answers(cache, kitchen, if_none_match=b"W/" + tag)

    assert (reply.status, reply.body, kitchen.built) == (304, b"", 1)
    assert _headers(reply)[b"etag"] == tag


async def test_a_cache_of_size_zero_stores_nothing() -> None:
    cache, kitchen = AnswerCache(0), Kitchen()

    await _answers(cache, kitchen)
    await _answers(cache, kitchen)

    assert kitchen.built == 2


async def test_the_least_recently_used_response_is_evicted_first() -> None:
    # Fits three responses of 2,000 bytes plus the overhead per entry.
    cache, kitchen = AnswerCache(9_500), Kitchen(2_000)
    for query in (b"a", b"b", b"c"):
        await _answers(cache, kitchen, query_string=query)
    await _answers(cache, kitchen, query_string=b"a")

    await _answers(cache, kitchen, query_string=b"d")

    built = kitchen.built
    for query in (b"a", b"c", b"d"):
        await _answers(cache, kitchen, query_string=query)
    assert kitchen.built == built == 4
    await _answers(cache, kitchen, query_string=b"b")
    assert kitchen.built == 5


async def test_a_response_larger_than_half_the_cache_is_not_stored() -> None:
    cache, kitchen = AnswerCache(10_000), Kitchen(6_000)

    await _answers(cache, kitchen)
    await _answers(cache, kitchen)

    assert kitchen.built == 2


async def test_many_responses_stay_within_the_size_limit() -> None:
    cache, kitchen = AnswerCache(50_000), Kitchen(500)
    for number in range(500):
        await _answers(cache, kitchen, query_string=b"%d" % number)

    kept = 0
    for number in itertools.count(499, -1):
        built = kitchen.built
        await _answers(cache, kitchen, query_string=b"%d" % number)
        if kitchen.built != built:
            break
        kept += 1

    assert 20 <= kept <= 100


async def test_compressed_responses_are_returned_compressed() -> None:
    cache, kitchen = AnswerCache(1_000_000), Kitchen(5_000)

    plain = await _answers(cache, kitchen)
    small = await _answers(cache, kitchen, accept_encoding=b"gzip")

    assert len(small.body) < len(plain.body) / 10
    assert _headers(small)[b"content-encoding"] == b"gzip"
    assert _headers(small)[b"content-length"] == b"%d" % len(small.body)


async def test_an_error_while_building_is_not_stored() -> None:
    cache, kitchen = AnswerCache(1_000_000), Kitchen()

    async def refuse() -> bytes:
        raise LookupError

    with pytest.raises(LookupError):
        await cache.answer(ACCOUNT, ASKED, refuse)
    await _answers(cache, kitchen)

    assert kitchen.built == 1
