"""Dry runs of imports: their report is the one that the import gives afterwards."""

import io
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from bowerbird.library.imports import file_imports
from bowerbird.library.imports.file_imports import FileImports, ImportOptions
from bowerbird.library.imports.report import FileReport, ImportReport
from bowerbird.requests import limits
from tests.support import make
from tests.support.service import Member

pytestmark = pytest.mark.anyio

_SAMPLES = [folder / "shared/samples" for folder in Path(__file__).parents[3:5]]
_SAMPLE_FILES = sorted(
    file
    for folder in _SAMPLES
    for file in folder.rglob("*.*")
    if file.is_file() and file.suffix in (".json", ".csv", ".js", ".html")
)


async def _import(member: Member, *files: bytes, **options: Any) -> ImportReport:
    account = await member.account()
    importing = FileImports(member.database, member.clock, account, ImportOptions(**options))
    for number, data in enumerate(files):
        await importing.read(io.BytesIO(data), f"file {number}", "test")
    await importing.finish("end")
    return importing.report


async def _both(member: Member, *files: bytes, **options: Any) -> tuple[FileReport, ...]:
    """The reports of the import; the dry run before it gave the same ones."""
    dry = await _import(member, *files, is_dry_run=True, **options)
    real = await _import(member, *files, **options)
    assert list(map(msgspec.to_builtins, dry.files)) == list(map(msgspec.to_builtins, real.files))
    return tuple(real.files)


def _lines(*posts: dict[str, Any]) -> bytes:
    return b"\n".join(map(make.raw, posts))


async def test_a_post_that_is_in_two_files_is_new_in_the_first(alice: Member) -> None:
    link = b"https://x.com/ada/status/20\n"
    text = f"screen_name,full_text,tweet_url\nada,Hello,{link.decode()}".encode()

    first, second, third = await _both(alice, link, text, text)

    assert (first.new, second.changed, third.unchanged) == (1, 1, 1)


async def test_labels_beyond_the_limit_of_a_post_are_predicted(alice: Member) -> None:
    labels = [f"label {number:03}" for number in range(limits.POST_LABELS_MAX + 2)]

    (first,) = await _both(alice, make.raw(make.post(post_id="7", tags=labels)))
    (again,) = await _both(alice, make.raw(make.post(post_id="7", tags=labels)))

    assert (first.labels_left_out, again.labels_left_out) == (2, 2)
    assert first.rows[0].sentence.startswith("Post 7 is imported without 2 of its labels")


async def test_labels_beyond_the_limit_of_an_account_are_predicted(
    alice: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "LABELS_MAX", 300)
    posts = [
        make.post(post_id=str(number), tags=[f"label {number}.{n}" for n in range(90)])
        for number in range(1, 6)
    ]

    (report,) = await _both(alice, _lines(*posts, *posts))

    assert report.labels_left_out == 2 * (5 * 90 - 300)


async def test_labels_that_an_import_creates_are_named(alice: Member) -> None:
    await _import(alice, make.raw(make.post(post_id="6", tags=["Birds"])))
    tagged = _lines(
        make.post(post_id="7", tags=["birds", "Nests"]), make.post(post_id="8", tags=["nests"])
    )

    first, second = await _both(alice, tagged, make.raw(make.post(post_id="9", tags=["NESTS"])))

    assert (first.labels_created, first.new_labels) == (1, ["Nests"])
    assert (second.labels_created, second.new_labels) == (0, [])


async def test_of_many_new_labels_the_first_are_named(alice: Member) -> None:
    posts = [make.post(post_id=str(n), tags=[f"label {n:03}"]) for n in range(1, 301)]

    (report,) = await _both(alice, _lines(*posts))

    assert report.labels_created == 300
    assert report.new_labels == [f"label {n:03}" for n in range(1, 21)]


async def test_a_label_of_the_command_is_predicted(alice: Member) -> None:
    data = _lines(make.post(post_id="7", tags=["a"]), make.post(post_id="7", tags=["b"]))

    (report,) = await _both(alice, data, label="mine")

    assert (report.new, report.changed) == (1, 1)


async def test_a_thread_over_two_files_is_predicted(alice: Member) -> None:
    root = make.post(post_id="70", meta={"tweet_conversation_id": "70"})
    meta = {"tweet_conversation_id": "70", "is_sub_tweet_of_thread": True}
    reply = make.post(post_id="71", meta=meta)
    csv = b"screen_name,full_text,tweet_url\nada,x,https://x.com/ada/status/70\n"
    await _import(alice, make.raw(root))

    await _both(alice, make.raw(reply), csv)


@pytest.mark.skipif(not _SAMPLE_FILES, reason="The sample files are not here.")
async def test_every_sample_is_predicted(alice: Member) -> None:
    files = [file.read_bytes() for file in _SAMPLE_FILES]

    await _both(alice, *files)
    await _both(alice, *files)
    reports = await _both(alice, *files, with_likes=True, label="samples")

    assert all(not report.problem for report in reports)


async def test_a_dry_run_remembers_a_bounded_number_of_posts(
    alice: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_imports, "MAX_REMEMBERED", 1)
    data = "".join(f"https://x.com/ada/status/{n}\n" for n in (20, 21, 20, 21)).encode()

    report = await _import(alice, data, is_dry_run=True)

    assert (report.files[0].new, report.files[0].unchanged) == (3, 1)


async def test_a_dry_run_of_long_posts_uses_a_file(alice: Member) -> None:
    posts = [make.post(post_id=str(n), text=f"{n} {'x' * 100_000}") for n in range(1, 60)]

    (report,) = await _both(alice, json.dumps([*posts, *posts]).encode())

    assert (report.new, report.unchanged) == (59, 59)
