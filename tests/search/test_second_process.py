"""Index texts from a second process: the same texts, whatever happens to that process."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bowerbird.search.indexing.second_process import Fields, SecondProcess, index_texts
from tests.search.index_reference import reference_index_text
from tests.search.test_index_text import FIELDS
from tests.search.test_index_tokens import TEXTS
from tests.support.waiting import wait_until

POSTS: list[Fields] = [
    (["Libraries of C++", "das Haus der Bücher"], ["@ada_lovelace", "Ada"]),
    (["날씨가 좋다", "東京都", "\U0001f469\U0001f3fd"], []),
    ([], ["@ada"]),
]
# Does the same as an import that started its process, and then waits.
_PARENT = """
import sys, time
from bowerbird.search.indexing.second_process import SecondProcess
process = SecondProcess(posts_before_start=0)
while not process.is_ready:
    process.index_texts([(["text"], [])])
print(process.process_id, flush=True)
sys.stdin.read()
"""


def _ready(**options: float) -> SecondProcess:
    process = SecondProcess(posts_before_start=0, **options)

    def is_ready() -> bool:
        process.index_texts(POSTS)
        return process.is_ready

    wait_until(is_ready)
    return process


def _id_of(process: SecondProcess) -> int:
    assert process.process_id is not None
    return process.process_id


def _is_running(process_id: int) -> bool:
    try:
        state = Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


@pytest.fixture(scope="module")
def running() -> Iterator[SecondProcess]:
    with closing(_ready()) as process:
        yield process


@given(st.lists(st.tuples(st.lists(FIELDS | TEXTS, max_size=3), st.lists(FIELDS, max_size=2))))
def test_the_second_process_gives_the_texts_of_the_reference(
    running: SecondProcess, posts: list[Fields]
) -> None:
    assert running.index_texts(posts) == [reference_index_text(*post) for post in posts]
    assert running.is_ready


def test_posts_larger_than_a_pipe_come_back_whole(running: SecondProcess) -> None:
    posts: list[Fields] = [([f"word{number} " * 3_000], []) for number in range(40)]

    assert running.index_texts(posts) == index_texts(posts)
    assert running.is_ready


def test_few_posts_start_no_process() -> None:
    with closing(SecondProcess(posts_before_start=7)) as process:
        for _ in range(2):
            assert process.index_texts(POSTS) == index_texts(POSTS)
            assert process.process_id is None
        assert process.index_texts(POSTS) == index_texts(POSTS)
        assert process.process_id is not None


def test_a_killed_process_loses_no_text() -> None:
    with closing(_ready()) as process:
        killed = _id_of(process)
        os.kill(killed, signal.SIGKILL)

        assert process.index_texts(POSTS) == index_texts(POSTS)
        assert process.process_id is None
        assert not _is_running(killed)
        assert process.index_texts(POSTS) == index_texts(POSTS)


def test_a_process_that_does_not_answer_is_ended() -> None:
    with closing(_ready(answer_limit_s=3)) as process:
        stopped = _id_of(process)
        os.kill(stopped, signal.SIGSTOP)

        assert process.index_texts(POSTS * 2_000) == index_texts(POSTS * 2_000)
        assert not _is_running(stopped)


def test_texts_that_no_message_can_hold_are_computed_here() -> None:
    with closing(_ready()) as process:
        posts: list[Fields] = [(["half a pair \ud800"], [])]

        assert process.index_texts(posts) == index_texts(posts)


def test_the_process_imports_no_log_and_no_event_loop(tmp_path: Path) -> None:
    started = subprocess.run(
        (sys.executable, "-X", "importtime", "-P", "-m", "bowerbird.search.indexing"),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        cwd=tmp_path,
        check=True,
    )

    assert b" bowerbird.search.words.tokens\n" in started.stderr
    assert b" structlog\n" not in started.stderr
    assert b" asyncio\n" not in started.stderr


def test_closing_ends_the_process() -> None:
    process = _ready()
    closed = _id_of(process)

    process.close()

    assert not _is_running(closed)
    assert process.index_texts(POSTS) == index_texts(POSTS)


def test_the_process_ends_if_its_import_is_killed() -> None:
    with subprocess.Popen(
        (sys.executable, "-c", _PARENT), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        assert _is_running(child)

        parent.kill()

        wait_until(lambda: not _is_running(child))


def test_ctrl_c_reaches_only_the_import(running: SecondProcess) -> None:
    assert os.getpgid(_id_of(running)) != os.getpgrp()


def test_the_process_does_not_see_our_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOWERBIRD_DATABASE_URL", "postgresql://user:password@host/name")

    with closing(_ready()) as process:
        environment = Path(f"/proc/{_id_of(process)}/environ").read_bytes()

    assert b"BOWERBIRD_" not in environment
