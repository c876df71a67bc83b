"""Sweeps of vectors: which accounts get a build, and which vectors are removed."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from bowerbird import app
from bowerbird.jobs.account_jobs import EmbeddingJobs
from bowerbird.jobs.worker import JobKind, Progress
from bowerbird.library.vectors.builds import JOB, VectorBuilds, VectorSweeps
from bowerbird.model.jobs import Job, JobResponse
from bowerbird.search.meaning.models import Models
from bowerbird.settings import Settings
from bowerbird.storage.upkeep.jobs import JobStore
from bowerbird.storage.words.vectors import VectorStore
from tests.support import make, working, writing
from tests.support.hosts.embedding_service import embedding_service
from tests.support.models import MODEL_DIR, MODELS, ignore
from tests.support.service import Member, Service
from tests.support.waiting import until
from tests.support.writing import DAY

pytestmark = pytest.mark.anyio


def _sweeps(cast: Service, models: Models = MODELS) -> VectorSweeps:
    return VectorSweeps(cast.database, models, cast.clock, pause_s=0)


async def _jobs(cast: Service) -> list[int]:
    jobs = await JobStore(cast.database).latest(100)
    return [job.account_id for job in jobs if job.kind == JOB]


async def _vectors(member: Member) -> int:
    sql = "SELECT count(*) FROM vector WHERE account_id = :account_id"
    rows = await member.database.rows(sql, {"account_id": member.account_id})
    return int(rows[0][0])


async def _stores(member: Member) -> list[Any]:
    return await VectorStore(member.database).stores(member.account_id)


async def _worked(cast: Service, kind: JobKind, **options: int) -> list[JobResponse]:
    """The jobs after a worker has done those that wait."""
    worker = working.worker(cast.database, lambda *_: None, kinds=[kind], **options)  # type: ignore[arg-type] # never run
    async with working.at_work(worker):
        return [
            await working.until(cast.database, job.account_id, job.job_id, "completed", "failed")
            for job in await JobStore(cast.database).latest(10)
        ]


async def test_each_paid_account_with_new_posts_gets_one_job(cast: Service, tmp_path: Path) -> None:
    await cast.alice.save()
    await cast.free.save()
    await cast.bob.save()
    await cast.bob.embed()
    sweeps = _sweeps(cast)

    # Without a model, none does.
    await _sweeps(cast, Models(Settings(model_dir=str(tmp_path / "none")))).start_builds()
    assert await _jobs(cast) == []
    await sweeps.start_builds()
    await sweeps.start_builds()
    assert await _jobs(cast) == [cast.alice.account_id]
    assert sweeps.pending == 1

    await cast.free.set_plan("pro")
    await sweeps.start_builds()
    assert sorted(await _jobs(cast)) == sorted([cast.alice.account_id, cast.free.account_id])


async def test_complete_vectors_that_were_not_marked_as_built_are_marked(cast: Service) -> None:
    posts = [make.post(text=f"note {n}") for n in range(40)]
    await cast.alice.save_all(posts)

    async def stop(_done: int, _total: int) -> None:
        raise asyncio.CancelledError

    # Interrupted after the first batch; then the remaining posts are deleted.
    with pytest.raises(asyncio.CancelledError):
        await VectorBuilds(cast.database, MODELS, cast.clock).build(cast.alice.account_id, stop)
    for post in posts[32:]:
        await cast.alice.remove(post["post_id"])

    await _sweeps(cast).start_builds()

    assert await _jobs(cast) == [cast.alice.account_id]
    assert await cast.alice.embed() == 0
    assert len(await cast.alice.ids(vector_search_term="note", limit="100")) == 32


async def test_a_service_that_is_down_is_probed_without_jobs(cast: Service) -> None:
    await cast.alice.save()
    with embedding_service() as running:
        settings = Settings(embedding_url=running.url, embedding_key="wrong", model_dir=MODEL_DIR)
        models = Models(settings)
        sweeps = _sweeps(cast, models)
        assert models.current is not None
        await sweeps.start_builds()
        assert len(await _jobs(cast)) == 1
        # Fail once, as a job would.
        with pytest.raises(Exception, match="401"):
            await models.current.embed_query("x")
        await cast.bob.save()

        await sweeps.start_builds()
        assert await _jobs(cast) == [cast.alice.account_id]

        running.key = "wrong"
        await sweeps.start_builds()
        assert len(await _jobs(cast)) == 2
        await models.close()


async def test_every_process_reports_why_a_build_fails(cast: Service) -> None:
    await cast.alice.save()
    with embedding_service() as running:
        settings = Settings(embedding_url=running.url, embedding_key="wrong", model_dir=MODEL_DIR)
        working_models, serving_models = Models(settings), Models(settings)
        jobs = EmbeddingJobs(cast.database, working_models, cast.clock)
        await _sweeps(cast, working_models).start_builds()
        [failed] = await _worked(cast, jobs.kind)
        assert failed.state == "failed"
        alice = cast.alice.on(app.build(settings, cast.database, cast.clock, serving_models))

        shown = (await alice.get("/v1/account")).json()["data"]["vector_store"]
        refused = await alice.get("/v1/bookmarks", vector_search_term="x")

        assert serving_models.problem is None
        assert shown["state"] == "unavailable"
        problem = "the embedding service is not usable: it returned status 401"
        assert shown["problem"].startswith(problem)
        assert "(the embedding service is not usable" in refused.json()["error"]
        running.key = "wrong"
        builds = VectorBuilds(cast.database, working_models, cast.clock)
        await builds.build(alice.account_id, ignore)
        shown = (await alice.get("/v1/account")).json()["data"]["vector_store"]
        assert (shown["state"], shown["problem"]) == ("ready", None)
        await alice.client.aclose()
        await working_models.close()
        await serving_models.close()


@pytest.mark.both
async def test_the_worker_embeds_new_posts(cast: Service) -> None:
    post = await cast.alice.save(text="Our kitten sleeps.")
    jobs = EmbeddingJobs(cast.database, MODELS, cast.clock)
    await _sweeps(cast).start_builds()

    [done] = await _worked(cast, jobs.kind)

    assert done.state == "completed"
    assert done.result == b'{"embedded":1}'
    assert (jobs.embedded, jobs.seconds > 0) == (1, True)
    assert await cast.alice.ids(vector_search_term="pets") == [post["post_id"]]


async def test_large_libraries_are_built_in_turns(cast: Service) -> None:
    for member, count in ((cast.alice, 100), (cast.bob, 40)):
        await member.save_all([make.post(text=f"note {n}") for n in range(count)])
    jobs = EmbeddingJobs(cast.database, MODELS, cast.clock, turn_s=0)
    turns: list[int] = []

    async def run(job: Job, progress: Progress) -> bytes | None:
        turns.append(job.account_id)
        return await jobs.kind.run(job, progress)

    await _sweeps(cast).start_builds()
    await _worked(cast, JobKind(JOB, run), lanes=2)

    assert [turns.count(member.account_id) for member in (cast.alice, cast.bob)] == [4, 2]
    assert turns[0] != turns[1] != turns[2] != turns[3]
    for member in (cast.alice, cast.bob):
        (store,) = await _stores(member)
        assert store.is_built


async def test_vectors_are_removed_30_days_after_the_paid_plan_ended(cast: Service) -> None:
    posts = [make.post() for _ in range(3)]
    await cast.alice.save_all(posts)
    await cast.alice.embed()
    # Its vector is stale.
    await cast.alice.save_all([{**posts[0], "tweet_details": {"text": "now about cats"}}])
    sweeps = _sweeps(cast)
    await cast.alice.set_plan("free")
    await sweeps.remove_expired()
    cast.clock.now += 29 * DAY
    await sweeps.remove_expired()
    assert await _vectors(cast.alice) == 3

    cast.clock.now += 2 * DAY
    await sweeps.remove_expired()
    assert await _vectors(cast.alice) == 0
    assert await _stores(cast.alice) == []


async def test_an_account_that_pays_again_within_30_days_keeps_its_vectors(cast: Service) -> None:
    await cast.alice.save(text="Our kitten sleeps.")
    await cast.alice.embed()
    sweeps = _sweeps(cast)
    await cast.alice.set_plan("free")
    await sweeps.remove_expired()
    cast.clock.now += 20 * DAY
    await cast.alice.set_plan("pro")
    await sweeps.remove_expired()
    # The 30 days start again when the plan ends the next time.
    await cast.alice.set_plan("free")
    cast.clock.now += 20 * DAY
    await sweeps.remove_expired()
    await cast.alice.set_plan("pro")

    assert await cast.alice.embed() == 0
    assert len(await cast.alice.ids(vector_search_term="pets")) == 1


@pytest.mark.both
async def test_vectors_of_another_model_go_once_the_current_one_is_built(cast: Service) -> None:
    await cast.alice.save_all([make.post() for _ in range(3)])
    await cast.alice.embed()
    old = await _stores(cast.alice)
    values = {"account_id": cast.alice.account_id, "model": b"successor", "old": old[0].model}

    async def copy(transaction: Any) -> None:
        await transaction.run(
            "INSERT INTO vector_store SELECT account_id, :model, name, dimensions, embedded,"
            " complete_below, invalidations, generation, is_built, unpaid_since, examined_below"
            " FROM vector_store WHERE account_id = :account_id",
            {key: values[key] for key in ("account_id", "model")},
        )

    await cast.database.write(copy)
    await _sweeps(cast).remove_expired()

    # The current model's vectors stay, although the other store is built too.
    assert [store.model for store in await _stores(cast.alice)] == [old[0].model]
    assert await _vectors(cast.alice) == 3


async def _lapsed(cast: Service, posts: list[dict[str, Any]]) -> VectorSweeps:
    """Embeds posts of Alice, whose plan then ended 31 days ago."""
    await cast.alice.save_all(posts)
    await cast.alice.embed()
    await cast.alice.set_plan("free")
    sweeps = _sweeps(cast)
    await sweeps.remove_expired()
    cast.clock.now += 31 * DAY
    return sweeps


async def _until_fewer(member: Member, count: int) -> None:
    async def are_fewer() -> bool:
        return await _vectors(member) < count

    await until(are_fewer)


@pytest.mark.both
async def test_paying_again_during_the_removal_keeps_the_remaining_vectors(cast: Service) -> None:
    alice = cast.alice
    await _lapsed(cast, [make.post(text=f"note {n}") for n in range(150)])
    slow = VectorSweeps(cast.database, MODELS, cast.clock, pause_s=0.5)

    removal = asyncio.create_task(slow.remove_expired())
    await _until_fewer(alice, 150)
    await alice.set_plan("pro")
    (store,) = await _stores(alice)
    assert (store.embedded, store.is_built, store.complete_below) == (50, False, 0)
    assert await alice.embed() == 100
    await removal

    assert await _vectors(alice) == 150
    assert await writing.recount(alice) == []
    assert len(await alice.ids(vector_search_term="note", limit="100")) == 100


async def test_a_build_whose_store_is_removed_starts_again(cast: Service) -> None:
    alice = cast.alice
    sweeps = await _lapsed(cast, [make.post(text=f"note {n}") for n in range(70)])
    await alice.set_plan("pro")
    await alice.save_all([make.post(text=f"new {n}") for n in range(70)])
    reports: list[int] = []

    async def remove(done: int, _total: int) -> None:
        reports.append(done)
        if len(reports) == 1:
            await alice.set_plan("free")
            cast.clock.now += 31 * DAY
            await sweeps.remove_expired()
            cast.clock.now += 31 * DAY
            await sweeps.remove_expired()
            await alice.set_plan("pro")

    await VectorBuilds(cast.database, MODELS, cast.clock).build(alice.account_id, remove)

    (store,) = await _stores(alice)
    assert (store.embedded, store.is_built) == (140, True)
    assert await writing.recount(alice) == []


async def test_a_store_created_again_is_not_served_from_the_cache(cast: Service) -> None:
    alice = cast.alice
    posts = [make.post(text="Our kitten sleeps."), make.post(text="Interest rates rise.")]
    await alice.save_all(posts)
    await alice.embed()
    await alice.ids(vector_search_term="pets")
    sweeps = await _lapsed(cast, posts)
    await sweeps.remove_expired()
    changed = {**posts[1], "tweet_details": {"text": "A puppy and a hamster are lovely pets."}}
    await alice.save_all([changed, make.post(text="Dogs and cats as pets")])
    await alice.set_plan("pro")
    await alice.embed()

    found = await alice.ids(vector_search_term="pets")

    assert len(found) == 3
    assert found[-1] == posts[0]["post_id"]
