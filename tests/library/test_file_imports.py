"""Imports of files: how much is in memory, what is written, and what other people do not see."""

import asyncio
import io
import json
import tracemalloc
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from bowerbird.errors import TooManyWaiting
from bowerbird.library.imports import intake
from bowerbird.library.imports.file_imports import FileImports, ImportOptions
from bowerbird.library.imports.intake import CHUNK_POSTS, chunks
from bowerbird.library.imports.planning import plan
from bowerbird.library.imports.report import ImportReport
from bowerbird.library.imports.runs import ImportRuns
from bowerbird.model.arrival import RunState
from bowerbird.sources.found import Found, FoundPost, LeftOut, Reason
from bowerbird.sources.reading import read
from tests.support import make
from tests.support.engines.watched_writes import BUSY, WatchedWrites
from tests.support.service import Member
from tests.support.waiting import until

pytestmark = [pytest.mark.anyio, pytest.mark.both]


async def _import(member: Member, data: bytes, **options: Any) -> ImportReport:
    account = await member.account()
    importing = FileImports(member.database, member.clock, account, ImportOptions(**options))
    await importing.read(io.BytesIO(data), "file", "test")
    await importing.finish("end")
    return importing.report


class _Lines:
    """A file of many lines that is nowhere in memory."""

    def __init__(self, line: bytes, count: int) -> None:
        self._line, self._count, self._left = line, count, count

    def read(self, size: int) -> bytes:
        lines = min(max(size // len(self._line), 1), self._left)
        self._left -= lines
        return self._line * lines

    def seek(self, offset: int, whence: int = 0) -> int:
        assert (offset, whence) == (0, 0)
        self._left = self._count
        return 0


@pytest.mark.parametrize(
    ("line", "count"),
    [
        (make.raw(make.post(text="x" * 5_000)) + b"\n", 3_000),
        (b"https://x.com/ada/status/20\nhttps://x.com/ada\n", 6_000),
    ],
)
def test_memory_does_not_grow_with_the_file(line: bytes, count: int) -> None:
    file = _Lines(line, count)
    tracemalloc.start()

    posts = sum(len(chunk.posts) for chunk in chunks(read(file).found))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert posts == count
    assert peak < 8 << 20


async def test_a_list_keeps_its_order_from_chunk_to_chunk_and_is_compared_once(
    alice: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    planned: list[int] = []

    def counting(found: Any, *values: Any, **options: Any) -> Any:
        planned.append(len(found))
        return plan(found, *values, **options)

    monkeypatch.setattr(intake, "plan", counting)
    ids = [str(9_000 - number) for number in range(2 * CHUNK_POSTS + 20)]
    # One link again, which is in the chunk before: it has to be compared after that is written.
    links = [*ids[: CHUNK_POSTS + 10], ids[5], *ids[CHUNK_POSTS + 10 :]]

    report = await _import(
        alice, "".join(f"https://x.com/i/status/{id}\n" for id in links).encode()
    )

    assert (report.files[0].new, report.files[0].unchanged) == (len(ids), 1)
    listed = await alice.ids(limit="100", is_unread_only="false")
    assert listed == ids[:100]
    # None was compared again inside the transaction that writes it.
    assert sum(planned) == len(links)


async def test_the_title_of_a_page_does_not_stand_in_for_the_text(alice: Member) -> None:
    link = "https://x.com/jack/status/20"
    page = f'<!DOCTYPE NETSCAPE-Bookmark-file-1><DL><DT><A HREF="{link}">jack on X</A></DL>'
    quoting = page.replace("jack on X", "jack on X: &quot;just setting&quot; / X")
    table = f"screen_name,full_text,tweet_url\njack,just setting up my twttr,{link}\n"

    async def text_after(data: str) -> str:
        await _import(alice, data.encode())
        (post,) = (await alice.listed())["data"]
        return str(post["tweet_details"]["text"])

    assert await text_after(page) == ""
    assert await text_after(quoting) == "just setting"
    assert await text_after(table) == "just setting up my twttr"
    assert await text_after(quoting) == "just setting up my twttr"


def test_a_chunk_has_bounded_posts_and_bounded_remarks() -> None:
    def found() -> Iterator[Found]:
        for number in range(3_000):
            yield LeftOut(line=number, reason=Reason.INVALID, sentence="x")
        for number in range(1_000):
            record = msgspec.convert(make.post(post_id=str(number + 1)), type=_record_type())
            yield FoundPost(record=record, line=number)

    made = list(chunks(found()))

    assert max(len(chunk.remarks) for chunk in made) == 1_000
    assert max(len(chunk.posts) for chunk in made) == CHUNK_POSTS
    assert sum(len(chunk.posts) for chunk in made) == 1_000


def test_a_chunk_of_long_posts_has_few_of_them() -> None:
    long = (make.post(post_id=str(number), text="x" * (300 << 10)) for number in range(1, 5))
    found = [FoundPost(record=msgspec.convert(one, type=_record_type()), line=1) for one in long]

    assert [len(chunk.posts) for chunk in chunks(found)] == [2, 2]


def _record_type() -> Any:
    return FoundPost.__annotations__["record"]


async def test_an_import_goes_on_after_too_many_changes_have_waited(alice: Member) -> None:
    account = await alice.account()
    importing = FileImports(alice.database, alice.clock, account, ImportOptions())
    watched = WatchedWrites(alice.database)
    data = b"\n".join(make.raw(make.post(post_id=str(n + 1))) for n in range(1_000))

    async def occupy() -> None:
        watched.refuse(2, BUSY)

    importing.on_start = occupy
    await importing.read(io.BytesIO(data), "file", "test")
    watched.refuse(1, BUSY)
    await importing.finish("end")

    assert watched.refusals == 0
    run = await ImportRuns(alice.database, alice.clock).get(account, importing.report.run_id)
    assert (run.state, run.counts.new) == (RunState.FINISHED, 1_000)


async def test_an_import_that_is_stopped_does_not_wait_for_other_changes(alice: Member) -> None:
    account = await alice.account()
    importing = FileImports(alice.database, alice.clock, account, ImportOptions())
    watched = WatchedWrites(alice.database)
    data = b"\n".join(make.raw(make.post(post_id=str(n + 1))) for n in range(1_000))

    async def occupy() -> None:
        watched.refuse(1_000, BUSY)

    importing.on_start = occupy
    reading = asyncio.create_task(importing.read(io.BytesIO(data), "file", "test"))

    async def has_tried_again() -> bool:
        return 0 < watched.refusals < 998

    await until(has_tried_again)
    reading.cancel()

    with pytest.raises(asyncio.CancelledError):
        await reading
    tried = watched.refusals
    with pytest.raises(TooManyWaiting):
        await importing.finish("interrupted")
    assert watched.refusals == tried - 1


async def test_the_end_of_an_interrupted_import_waits_for_no_changes(alice: Member) -> None:
    importing = FileImports(alice.database, alice.clock, await alice.account(), ImportOptions())
    await importing.read(io.BytesIO(make.raw(make.post(post_id="1"))), "file", "test")
    watched = WatchedWrites(alice.database)
    watched.refuse(1_000, BUSY)

    with pytest.raises(TooManyWaiting):
        await importing.finish("interrupted")

    assert watched.refusals == 999


async def test_a_dry_run_takes_no_transaction_and_is_not_listed(alice: Member) -> None:
    watched = WatchedWrites(alice.database)

    report = await _import(alice, make.raw(make.post()), is_dry_run=True)

    assert (report.run_id, report.files[0].new, len(watched.rows)) == ("", 1, 0)
    runs = await ImportRuns(alice.database, alice.clock).list(await alice.account(), 10, None)
    assert runs.total_count == 0


async def test_a_file_of_another_kind_starts_no_run(alice: Member) -> None:
    report = await _import(alice, b"Dear diary")

    assert (report.run_id, report.is_complete) == ("", False)
    assert report.files[0].problem.startswith("This file cannot be imported.")


async def test_the_report_is_json(alice: Member) -> None:
    data = b"title,url,time_added,tags,status\nT,https://example.com,1,,unread\n"
    report = json.loads(msgspec.json.encode(await _import(alice, data)))

    (file,) = report["files"]
    assert file["format"] == "Pocket CSV"
    assert file["left_out"] == {"not_a_post": 1}
    assert file["rows"] == [
        {
            "line": 2,
            "reason": "not_a_post",
            "sentence": "'https://example.com' is not a link to a post.",
            "link": "https://example.com",
        }
    ]
    assert file["links"] == ["https://example.com"]


async def test_an_old_export_does_not_empty_a_post_that_was_completed_since(alice: Member) -> None:
    link = {"link": "https://x.com/ada/status/1"}
    stub = {**make.post(post_id="1", is_read=False), "tags": None, "tweet_details": link}
    await alice.save(post_id="1", text="completed", author="ada", tags=["kept"])
    before = (await alice.get("/v1/bookmarks/1")).json()["data"]

    report = await _import(alice, make.raw(stub))

    assert report.files[0].unchanged == 1
    assert (await alice.get("/v1/bookmarks/1")).json()["data"] == before


async def test_a_link_in_an_export_keeps_the_labels_and_the_author_of_a_link(alice: Member) -> None:
    stub = {"post_id": "1", "tweet_details": {"link": "https://x.com/ada/status/1"}}
    await _import(alice, make.raw({**stub, "author_username": "ada", "tags": ["kept"]}))

    await _import(alice, make.raw({**stub, "tags": None, "is_read": True}))

    post = (await alice.get("/v1/bookmarks/1")).json()["data"]
    assert (post["author_username"], post["tags"], post["is_read"]) == ("ada", ["kept"], True)
