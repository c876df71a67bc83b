"""Ready answers: bounded, and never another's."""

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
    """Builds answers and counts how many it had to."""

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
async def test_another_account_or_library_is_built_anew(change: dict[str, Any]) -> None:
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
async def test_another_request_is_built_anew(change: dict[str, Any]) -> None:
    cache, kitchen = AnswerCache(1_000_000), Kitchen()
    first = await _answers(cache, kitchen)

    other = await _answers(cache, kitchen, **change)

    assert kitchen.built == 2
    assert _headers(other)[b"etag"] != _headers(first)[b"etag"]


async def test_what_the_answer_does_not_depend_on_does_not_matter() -> None:
    cache, kitchen = AnswerCache(1_000_000), Kitchen()
    await _answers(cache, kitchen)

    used = msgspec.structs.replace(ACCOUNT, calls_this_month=50)
    await _answers(cache, kitchen, used)
    await _answers(cache, kitchen, accept_encoding=b"identity", if_none_match=b'"other"')

    assert kitchen.built == 1


async def test_parts_of_the_key_cannot_run_into_each_other() -> None:
    cache, kitchen = AnswerCache(1_000_000), Kitchen()

    for path, query in (("/a", b"b"), ("/ab", b""), ("/", b"ab"), ("/a', b'", b"b")):
        await _answers(cache, kitchen, path=path, query_string=query)

    assert kitchen.built == 4


async def test_a_known_tag_needs_no_answer_at_all() -> None:
    cache, kitchen = AnswerCache(0), Kitchen()
    tag = _headers(await _answers(cache, kitchen))[b"etag"]

    reply = await _answers(cache, kitchen, if_none_match=b"W/" + tag)

    assert (reply.status, reply.body, kitchen.built) == (304, b"", 1)
    assert _headers(reply)[b"etag"] == tag


@pytest.mark.parametrize("sent", [b"*", b'"other", W/%b', b'W/"other" ,%b'])
async def test_any_answer_and_a_list_of_tags_are_understood(sent: bytes) -> None:
    cache, kitchen = AnswerCache(1_000_000), Kitchen()
    tag = _headers(await _answers(cache, kitchen))[b"etag"]

    reply = await _answers(cache, kitchen, if_none_match=sent.replace(b"%b", tag))

    assert (reply.status, reply.body, kitchen.built) == (304, b"", 1)
    assert _headers(reply)[b"etag"] == tag


async def test_a_part_of_a_tag_is_no_tag() -> None:
    cache, kitchen = AnswerCache(1_000_000), Kitchen()
    tag = _headers(await _answers(cache, kitchen))[b"etag"]

    assert (await _answers(cache, kitchen, if_none_match=b"x" + tag)).status == 200


async def test_a_cache_of_no_bytes_keeps_nothing() -> None:
    cache, kitchen = AnswerCache(0), Kitchen()

    await _answers(cache, kitchen)
    await _answers(cache, kitchen)

    assert kitchen.built == 2


async def test_the_oldest_answer_goes_first_and_a_used_one_is_young() -> None:
    # Room for three answers of 2,000 bytes with what an entry costs.
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


async def test_an_answer_that_fills_half_the_cache_is_not_kept() -> None:
    cache, kitchen = AnswerCache(10_000), Kitchen(6_000)

    await _answers(cache, kitchen)
    await _answers(cache, kitchen)

    assert kitchen.built == 2


async def test_any_number_of_answers_stays_within_the_bytes() -> None:
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


async def test_compressed_answers_are_kept_compressed() -> None:
    cache, kitchen = AnswerCache(1_000_000), Kitchen(5_000)

    plain = await _answers(cache, kitchen)
    small = await _answers(cache, kitchen, accept_encoding=b"gzip")

    assert len(small.body) < len(plain.body) / 10
    assert _headers(small)[b"content-encoding"] == b"gzip"
    assert _headers(small)[b"content-length"] == b"%d" % len(small.body)


async def test_a_refusal_while_building_is_not_kept() -> None:
    cache, kitchen = AnswerCache(1_000_000), Kitchen()

    async def refuse() -> bytes:
        raise LookupError

    with pytest.raises(LookupError):
        await cache.answer(ACCOUNT, ASKED, refuse)
    await _answers(cache, kitchen)

    assert kitchen.built == 1
