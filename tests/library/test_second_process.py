"""An import whose index texts come from a second process."""

import io
import os
import signal
import threading
from collections.abc import Sequence
from contextlib import closing

import pytest

from bowerbird.library.bookmarks.writing.bookmark_row import SearchableTexts
from bowerbird.library.imports.file_imports import FileImports, ImportOptions
from bowerbird.library.imports.planning import Index
from bowerbird.search.indexing.second_process import SecondProcess
from tests.support import make
from tests.support.service import Member
from tests.support.waiting import wait_until

pytestmark = pytest.mark.anyio

POSTS = [make.post(post_id=str(number), text=f"common number{number}") for number in range(1, 701)]


class _Killed:
    """Waits for the process in its first call, and kills it in its third one."""

    def __init__(self, process: SecondProcess) -> None:
        self._process = process
        # An import calls it from several threads.
        self._lock = threading.Lock()
        self.calls = 0

    def __call__(self, posts: Sequence[SearchableTexts]) -> list[str]:
        with self._lock:
            self.calls += 1
            if self.calls == 1:
                wait_until(lambda: self._process.index_texts(posts) and self._process.is_ready)
            if self.calls == 3:
                assert self._process.process_id is not None
                os.kill(self._process.process_id, signal.SIGKILL)
            return self._process.index_texts(posts)


async def _import(member: Member, index: Index) -> int:
    imports = FileImports(
        member.database, member.clock, await member.account(), ImportOptions(), index=index
    )
    file = await imports.read(io.BytesIO(b"\n".join(map(make.raw, POSTS))), "file", "test")
    await imports.finish("end")
    return file.new


async def _total(member: Member, query: str) -> int:
    total: int = (await member.listed(q=query, limit=1))["meta"]["total_count"]
    return total


async def test_an_import_finds_all_words_if_its_second_process_is_killed(alice: Member) -> None:
    with closing(SecondProcess(posts_before_start=0)) as process:
        index = _Killed(process)

        assert await _import(alice, index) == len(POSTS)

        assert index.calls > 3
        assert process.process_id is None
    assert await _total(alice, "common") == len(POSTS)
    for number in (1, 200, 201, 400, 401, 700):
        assert await _total(alice, f'"number{number}"') == 1
