"""GET /v1/exports/{job_id}/file with a valid link, whole or in part, and the bounds per day."""

import asyncio
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

import httpx
import pytest

from bowerbird import errors
from bowerbird.clock import MICROSECONDS, day_of
from bowerbird.jobs.exports import ExportJobs
from bowerbird.library.accounts.accounts import AccountDeletion
from bowerbird.library.exports.links import SECRET, Links
from bowerbird.requests import limits
from bowerbird.settings import Settings
from bowerbird.storage.database import Readable, Writable
from bowerbird.storage.files import Files
from bowerbird.storage.libraries import EXPORTS, DailyUseStore, DayUse
from bowerbird.storage.sign_in import SecretStore
from tests.support import make, working, writing
from tests.support.exporting import begin, export, fetch, finished
from tests.support.in_turn import in_turn
from tests.support.service import Member, Service
from tests.support.toolcalls import refusal
from tests.support.waiting import PATIENCE_S

pytestmark = pytest.mark.anyio


@pytest.fixture
async def made(cast: Service) -> tuple[dict[str, Any], bytes]:
    """An export of one post, and the content of its file."""
    await cast.alice.save(text="a" * 100)
    job = await export(cast, cast.alice)
    return job, (await fetch(cast, job)).content


def token_of(job: dict[str, Any]) -> str:
    return str(parse_qs(urlsplit(job["download_url"]).query)["token"][0])


async def test_the_download_has_a_file_name_and_type(
    cast: Service, made: tuple[dict[str, Any], bytes]
) -> None:
    job, content = made

    response = await fetch(cast, job)

    assert response.status_code == 200
    assert response.headers["content-type"] == "application/json"
    assert response.headers["content-disposition"] == (
        'attachment; filename="bowerbird-2026-07-18.json"; '
        "filename*=UTF-8''bowerbird-2026-07-18.json"
    )
    assert response.headers["content-length"] == str(len(content))
    assert response.headers["accept-ranges"] == "bytes"
    assert response.headers["cache-control"] == "private, no-store"
    assert response.headers["x-content-type-options"] == "nosniff"


async def test_the_file_is_named_after_the_view(cast: Service) -> None:
    view = await writing.view(cast.alice, 'Vögel: "alle"/x')
    job = await export(cast, cast.alice, view=view.rpartition("/")[2])

    response = await fetch(cast, job)

    assert response.headers["content-disposition"] == (
        'attachment; filename="bowerbird-vogel-alle-x-2026-07-18.json"; '
        "filename*=UTF-8''bowerbird-V%C3%B6gel%20alle%20x-2026-07-18.json"
    )


async def test_the_file_of_a_view_in_another_script_has_a_name_in_ascii_too(cast: Service) -> None:
    for name, plain in (("日本語", "view"), ("日本 7", "7")):
        created = await writing.send(cast.alice, "POST", "/v1/views", {"name": name})
        job = await export(cast, cast.alice, view=created.json()["data"]["slug"])
        disposition = (await fetch(cast, job)).headers["content-disposition"]
        assert f'filename="bowerbird-{plain}-2026-07-18.json"' in disposition
        assert quote(name) in disposition


async def test_a_head_request_ignores_ranges_and_opens_no_file(
    cast: Service, made: tuple[dict[str, Any], bytes], tmp_path: Path
) -> None:
    job, content = made
    parts = urlsplit(job["download_url"])
    for file in (tmp_path / "files").rglob("*.json"):
        # Opening a directory would fail.
        file.unlink()
        file.mkdir()

    for asked in ("bytes=0-3", "bytes=99999999-"):
        response = await cast.nobody.head(f"{parts.path}?{parts.query}", headers={"Range": asked})

        assert (response.status_code, response.content) == (200, b"")
        assert response.headers["content-length"] == str(len(content))
        assert "content-range" not in response.headers


async def test_a_known_etag_returns_304(cast: Service, made: tuple[dict[str, Any], bytes]) -> None:
    job, content = made
    tag = (await fetch(cast, job)).headers["etag"]

    for known in (tag, f'"other", W/{tag}', "*"):
        same = await fetch(cast, job, **{"If-None-Match": known, "Range": "bytes=0-3"})
        assert (same.status_code, same.content, same.headers["etag"]) == (304, b"", tag)
    other = await fetch(cast, job, **{"If-None-Match": '"other"'})
    assert (other.status_code, other.content) == (200, content)


@in_turn(
    ("asked", "first", "end"),
    [
        ("bytes=0-9", 0, 10),
        ("bytes=10-", 10, None),
        ("bytes=-7", -7, None),
        ("bytes=5-99999999", 5, None),
        ("bytes=-99999999", 0, None),
        ("Bytes= 3-3", 3, 4),
    ],
)
async def test_a_range_returns_part_of_the_file(
    cast: Service, made: tuple[dict[str, Any], bytes], asked: str, first: int, end: int | None
) -> None:
    job, content = made

    response = await fetch(cast, job, Range=asked)

    expected = content[first:end]
    begins = len(content) + first if first < 0 else first
    told = f"bytes {begins}-{begins + len(expected) - 1}/{len(content)}"
    assert (response.status_code, response.content) == (206, expected)
    assert response.headers["content-range"] == told
    assert response.headers["content-length"] == str(len(expected))


@in_turn("asked", ["bytes=1-2,4-5", "lines=1-2", "bytes=-", "bytes=9-3", "x"])
async def test_anything_but_a_single_valid_range_returns_the_whole_file(
    cast: Service, made: tuple[dict[str, Any], bytes], asked: str
) -> None:
    job, content = made

    response = await fetch(cast, job, Range=asked)

    assert (response.status_code, response.content) == (200, content)


@in_turn("asked", ["bytes=99999999-", "bytes=-0"])
async def test_a_range_past_the_end_is_refused(
    cast: Service, made: tuple[dict[str, Any], bytes], asked: str
) -> None:
    job, content = made

    response = await fetch(cast, job, Range=asked)

    assert (response.status_code, response.json()["code"]) == (416, "RANGE_NOT_SATISFIABLE")
    assert response.headers["content-range"] == f"bytes */{len(content)}"


async def test_an_interrupted_download_can_be_resumed(
    cast: Service, made: tuple[dict[str, Any], bytes]
) -> None:
    job, content = made
    tag = (await fetch(cast, job)).headers["etag"]

    same = await fetch(cast, job, **{"Range": "bytes=4-", "If-Range": tag})
    other = await fetch(cast, job, **{"Range": "bytes=4-", "If-Range": '"other"'})

    assert (same.status_code, same.content) == (206, content[4:])
    assert (other.status_code, other.content) == (200, content)


@in_turn("bend", [0, 10, 11, 20, 30, 47])
async def test_a_tampered_link_is_refused(
    cast: Service, made: tuple[dict[str, Any], bytes], bend: int
) -> None:
    job, _ = made
    token = token_of(job)
    bent = token[:bend] + ("A" if token[bend] != "A" else "B") + token[bend + 1 :]

    for tried in (bent, token[:-1], token + "A", "", "ü", "x" * 5000, "%00"):
        response = await cast.nobody.get(
            f"/v1/exports/{job['job_id']}/file", params={"token": tried}
        )
        assert response.status_code in (400, 403), tried
    without = await cast.nobody.get(f"/v1/exports/{job['job_id']}/file")
    assert (without.status_code, without.json()["code"]) == (403, "LINK_EXPIRED")


async def test_a_link_opens_no_other_job(cast: Service, made: tuple[dict[str, Any], bytes]) -> None:
    first, _ = made
    second = await export(cast, cast.alice)
    theirs = await export(cast, cast.bob)

    for other in (second, theirs):
        response = await cast.nobody.get(
            f"/v1/exports/{other['job_id']}/file?token={token_of(first)}"
        )
        assert (response.status_code, response.json()["code"]) == (403, "LINK_EXPIRED")


async def test_a_link_to_an_unfinished_job_returns_404(cast: Service) -> None:
    job = await begin(cast.alice)
    token = await Links(cast.database, cast.clock).token(
        cast.alice.account_id, job["job_id"], cast.clock() + MICROSECONDS
    )

    response = await cast.nobody.get(f"/v1/exports/{job['job_id']}/file?token={token}")

    assert (response.status_code, response.json()["code"]) == (404, "NOT_FOUND")


async def test_a_missing_file_returns_404(
    cast: Service, made: tuple[dict[str, Any], bytes], tmp_path: Path
) -> None:
    job, _ = made
    for file in (tmp_path / "files").rglob("*.json"):
        file.unlink()

    response = await fetch(cast, job)

    assert (response.status_code, response.json()["code"]) == (404, "NOT_FOUND")


async def test_a_link_ends_with_its_account(cast: Service) -> None:
    job = await export(cast, cast.bob)
    assert (await fetch(cast, job)).status_code == 200

    # A worker has not removed the file yet.
    await AccountDeletion(cast.database).start(cast.bob.account_id)

    assert (await fetch(cast, job)).status_code == 404


async def test_links_survive_one_rotation_of_the_secret(
    cast: Service, made: tuple[dict[str, Any], bytes]
) -> None:
    job, content = made
    secrets = SecretStore(cast.database)

    assert await secrets.rotate(SECRET, cast.clock(), cast.clock() + 1)
    assert (await fetch(cast, job)).content == content
    assert not await secrets.rotate(SECRET, cast.clock(), cast.clock())
    assert await secrets.rotate(SECRET, cast.clock(), cast.clock() + 1)
    assert (await fetch(cast, job)).status_code == 403


async def test_links_are_never_built_from_the_host_header(cast: Service) -> None:
    job = await export(cast, cast.alice)

    response = await cast.alice.client.get(
        f"/v1/exports/{job['job_id']}", headers={"Host": "evil.example"}
    )

    assert "evil" not in response.text


async def test_reading_stops_when_the_client_disconnects(cast: Service) -> None:
    await cast.alice.save(text="a" * 3_000_000)
    job = await export(cast, cast.alice)
    parts = urlsplit(job["download_url"])
    sent: list[dict[str, Any]] = []
    has_left = asyncio.Event()

    async def receive() -> dict[str, Any]:
        await has_left.wait()
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message)
        if len(sent) == 2:
            has_left.set()
            # A disconnected client accepts no more data.
            await asyncio.Event().wait()

    scope = {
        "type": "http",
        "method": "GET",
        "path": parts.path,
        "query_string": parts.query.encode(),
        "headers": [],
    }
    async with asyncio.timeout(PATIENCE_S):
        await cast.app.asgi(scope, receive, send)

    assert len(sent) == 2
    assert len(asyncio.all_tasks()) <= 2


TOO_LARGE = (
    "The files of an account's exports may have 2 GB per day (UTC), and this one would exceed "
    "that. Export fewer posts, or retry tomorrow."
)


async def _use(member: Member, *, uses: int = 0, size: int = 0) -> None:
    store = DailyUseStore(member.database, EXPORTS)
    day = day_of(member.clock())
    await member.database.write(
        lambda t: store.add(Writable(t, member.account_id), day, uses=uses, size=size)
    )


async def _used(member: Member) -> DayUse:
    store = DailyUseStore(member.database, EXPORTS)
    return await store.used(Readable(member.database, member.account_id), day_of(member.clock()))


async def _start(member: Member, format: str = "json", key: str | None = None) -> httpx.Response:
    return await writing.send(member, "POST", f"/v1/exports/{format}", {}, key)


def _files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.suffix in (".json", ".csv", ".pdf")]


async def test_an_account_can_start_twenty_exports_per_day(cast: Service) -> None:
    alice = cast.alice

    responses = await asyncio.gather(*[_start(alice) for _ in range(25)])

    assert sorted(response.status_code for response in responses) == [202] * 20 + [429] * 5
    refused = next(response for response in responses if response.status_code == 429)
    assert refused.json()["code"] == "EXPORT_COUNT_LIMIT"
    assert refused.json()["error"] == (
        "This account has started 20 exports today (UTC), the maximum. Retry tomorrow."
    )
    assert (await _start(cast.bob)).status_code == 202
    cast.clock.now += int(refused.headers["retry-after"]) * MICROSECONDS
    assert (await _start(alice)).status_code == 202


async def test_refused_and_repeated_requests_do_not_count_as_exports(alice: Member) -> None:
    await writing.send(alice, "POST", "/v1/exports/json", {"view": "none"})
    await writing.send(alice, "POST", "/v1/exports/json", {"nothing": 1})
    for _ in range(3):
        await _start(alice, key="k")

    assert await _used(alice) == DayUse(1, 0)


async def test_an_account_with_the_daily_bytes_cannot_start_an_export(alice: Member) -> None:
    await alice.save()
    await _use(alice, size=limits.EXPORT_BYTES_PER_DAY)

    response = await _start(alice)
    said = await refusal(alice, "create_export", format="csv")

    assert writing.refused(response) == (429, "EXPORT_SIZE_LIMIT")
    assert response.json()["error"] == (
        "The exports of this account have written 2 GB of files today (UTC), the maximum. "
        "Retry tomorrow."
    )
    assert 0 < int(response.headers["retry-after"]) <= 86_400
    assert said.startswith("EXPORT_SIZE_LIMIT: The exports of this account have written 2 GB")


@pytest.mark.parametrize("format", ["json", "csv"])
async def test_a_file_beyond_the_daily_bytes_fails_its_export_and_is_removed(
    cast: Service, tmp_path: Path, format: str
) -> None:
    await cast.alice.save_all([make.post() for _ in range(300)])
    await _use(cast.alice, size=limits.EXPORT_BYTES_PER_DAY - 20_000)

    (job,) = await finished(cast, cast.alice, await begin(cast.alice, format))

    assert (job["status"], job["error"]) == ("failed", TOO_LARGE)
    assert job["file_size"] is None
    assert _files(tmp_path) == []
    # The rejected file does not count.
    assert (await _used(cast.alice)).bytes == limits.EXPORT_BYTES_PER_DAY - 20_000


async def test_the_bytes_of_a_file_count_exactly(cast: Service) -> None:
    await cast.alice.save()
    sizes = [(await export(cast, cast.alice, format))["file_size"] for format in ("json", "csv")]

    assert await _used(cast.alice) == DayUse(2, sum(sizes))
    await _use(cast.alice, size=limits.EXPORT_BYTES_PER_DAY - sum(sizes) - sizes[0])
    assert (await export(cast, cast.alice))["file_size"] == sizes[0]
    assert (await _start(cast.alice)).json()["code"] == "EXPORT_SIZE_LIMIT"


class FullFiles(Files):
    async def move(self, name: str, source: Path) -> None:
        del name, source
        raise errors.unavailable("The bucket is full.")


async def test_a_file_that_was_not_stored_does_not_count(cast: Service, tmp_path: Path) -> None:
    files = FullFiles(Settings(data_dir=tmp_path))
    kind = ExportJobs(cast.database, files, cast.clock, tmp_path).kind
    job = await begin(cast.alice)

    async with working.at_work(working.worker(cast.database, kind.run, kinds=[kind])):
        failed = await working.until(cast.database, cast.alice.account_id, job["job_id"], "failed")

    assert failed.error == "The bucket is full."
    assert (await _used(cast.alice)).bytes == 0
