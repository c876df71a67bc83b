"""Jobs that keep images: started by a sweep, in turns, and continued by the next worker."""

from pathlib import Path

import pytest

from bowerbird.clock import system_clock
from bowerbird.jobs.account_jobs import media_jobs
from bowerbird.model.jobs import JobResponse
from bowerbird.model.posts.media import KIND
from bowerbird.storage.upkeep.jobs import JobStore
from tests.support import make, waiting, working
from tests.support.hosts.image_hosts import ImageHosts, X
from tests.support.posts.keeping import Shelf, image
from tests.support.service import Member

pytestmark = pytest.mark.anyio


async def jobs_of(shelf: Shelf) -> list[JobResponse]:
    return await JobStore(shelf.member.database).of_kind(shelf.member.account_id, KIND, 10)


@pytest.mark.both
async def test_a_new_post_has_its_images_after_the_next_sweep(
    alice: Member, bob: Member, hosts: ImageHosts, tmp_path: Path
) -> None:
    shelf, other = Shelf(alice, hosts, tmp_path), Shelf(bob, hosts, tmp_path)
    await shelf.switch()
    await other.switch(is_keeping=False)
    await bob.save(attachments=[image(shelf.picture("b"))])
    worker = working.worker(alice.database, shelf.jobs.kind.run, kinds=[shelf.jobs.kind])

    async def has(count: int) -> bool:
        return (await shelf.state()).kept == count

    async with working.at_work(worker):
        # The sweep adds no job while the one of the switch runs.
        await waiting.until(lambda: ended(shelf))
        await alice.save(attachments=[image(shelf.picture("a"))])
        await shelf.jobs.sweep()
        await waiting.until(lambda: has(1))
        await alice.save(attachments=[image(shelf.picture("c"))])
        await waiting.until(lambda: ended(shelf))
        await shelf.jobs.sweep()
        await waiting.until(lambda: has(2))
        await waiting.until(lambda: ended(shelf))
        before = len(await jobs_of(shelf))
        await shelf.jobs.sweep()

    assert len(await jobs_of(shelf)) == before
    assert {job.state for job in await jobs_of(shelf)} == {"completed"}
    assert (await other.state()).total == 0


async def ended(shelf: Shelf) -> bool:
    return all(job.state not in ("pending", "processing") for job in await jobs_of(shelf))


async def test_many_images_leave_turns_to_others(
    alice: Member, bob: Member, hosts: ImageHosts, tmp_path: Path
) -> None:
    shelf, other = Shelf(alice, hosts, tmp_path), Shelf(bob, hosts, tmp_path)
    urls = [f"https://{X}/{number}.png" for number in range(2_000)]
    content = hosts.answers[shelf.picture("one").removeprefix("https://")]
    hosts.answers |= {url.removeprefix("https://"): content for url in urls}
    await alice.save_all(
        [
            make.post(attachments=[image(url) for url in urls[n : n + 40]])
            for n in range(0, 2_000, 40)
        ]
    )
    own = shelf.picture("own")
    await bob.save(attachments=[image(own)])
    # The clock of jobs decides which account was served longest ago.
    jobs = media_jobs(alice.database, shelf.keeping, system_clock, turn_s=0.05)
    worker = working.worker(alice.database, jobs.kind.run, kinds=[jobs.kind], lanes=1)

    async def is_kept() -> bool:
        return await other.content(own) is not None

    async with working.at_work(worker):
        await shelf.switch()
        await waiting.until(lambda: counted(shelf), 30)
        await other.switch()
        await waiting.until(is_kept, 30)

    state = await shelf.state()
    assert state.total == 2_000
    assert 0 < state.kept < 2_000
    assert len(shelf.stored()) == 1
    [job] = await jobs_of(shelf)
    assert job.state == "pending"


async def counted(shelf: Shelf) -> bool:
    return (await shelf.state()).kept > 0
