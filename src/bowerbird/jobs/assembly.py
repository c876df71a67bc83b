"""Builds the worker with all kinds of jobs, and the search by meaning that some of them share."""

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final, Self

import msgspec

from bowerbird.clock import Clock
from bowerbird.jobs.account_jobs import (
    EmbeddingJobs,
    changes,
    deletions,
    digest_jobs,
    link_jobs,
    media_jobs,
    reindex_jobs,
    rule_jobs,
    source_jobs,
    webhook_jobs,
)
from bowerbird.jobs.exports import ExportJobs
from bowerbird.jobs.worker import JobKind, Paused, Progress, Recurring, Worker
from bowerbird.library.connections.syncing import Sync
from bowerbird.library.digests.creation import DigestTopics
from bowerbird.library.digests.digests import Digests
from bowerbird.library.links import LinkReading
from bowerbird.library.media.keeping import Keeping
from bowerbird.library.upkeep.corrections import EVERY_S, SegmentMerging
from bowerbird.library.vectors.semantic_search import SemanticSearch
from bowerbird.library.webhooks.delivering import Delivering
from bowerbird.model.jobs import Job
from bowerbird.search.meaning.models import Models
from bowerbird.settings import Settings
from bowerbird.storage.database import Database
from bowerbird.storage.files import Files
from bowerbird.wire.metrics import RequestMetrics

if TYPE_CHECKING:
    from bowerbird.telemetry.traces import Traces

_SCHEMA_EVERY_S: Final = 10.0


@dataclass(frozen=True, slots=True)
class Searching:
    """Search by meaning: models, search and embedding jobs, one of each per process."""

    models: Models
    meaning: SemanticSearch
    jobs: EmbeddingJobs

    def on(self, database: Database, clock: Clock) -> Self:
        """A copy that shares models and cached vectors, with embedding jobs on another database."""
        return replace(self, jobs=EmbeddingJobs(database, self.models, clock))


def build_searching(
    settings: Settings, database: Database, clock: Clock, models: Models | None = None
) -> Searching:
    models = models or Models(settings)
    meaning = SemanticSearch(database, models, settings.vector_cache_mb * 1024 * 1024)
    return Searching(models, meaning, EmbeddingJobs(database, models, clock))


def build_worker(
    settings: Settings,
    database: Database,
    files: Files,
    clock: Clock,
    searching: Searching,
    *,
    traces: "Traces | None" = None,
) -> Worker:
    """Runs the jobs, inside a server or in a process of its own."""
    exports = ExportJobs(database, files, clock, settings.data_dir, searching.meaning)
    topics = DigestTopics(database, searching.meaning)
    digests = digest_jobs(database, settings, clock, topics.of)
    digest_json = partial(Digests(database, clock, can_mail=False).get, format="json")
    parts = (
        exports,
        digests,
        searching.jobs,
        media_jobs(database, Keeping(database, files, clock, settings), clock),
        source_jobs(database, Sync(database, clock, settings), clock),
        link_jobs(database, LinkReading(database, clock, settings), clock),
        rule_jobs(database, clock, searching.meaning),
        webhook_jobs(database, Delivering(database, clock, settings, digest=digest_json), clock),
        reindex_jobs(database, clock),
    )
    kinds = [changes(database, clock), *(part.kind for part in parts)]
    recurring = [
        *(each for part in parts for each in part.recurring),
        deletions(database, files),
        Recurring("word index", EVERY_S, SegmentMerging(database).run),
    ]
    if not settings.is_sqlite:
        # After this finds a newer schema that does not fit, the database refuses all jobs.
        recurring.append(Recurring("schema", _SCHEMA_EVERY_S, database.require_ready))
    if traces is not None:
        kinds = [_traced(kind, traces) for kind in kinds]
    return Worker(database, kinds, recurring, clock)


def _traced(kind: JobKind, traces: "Traces") -> JobKind:
    async def run(job: Job, progress: Progress) -> bytes | None:
        with traces.job(job.kind, job.job_id, job.tries):
            try:
                return await kind.run(job, progress)
            except Paused as paused:
                end_of_turn = paused
        # Outside of the span, where it would count as an error.
        raise end_of_turn

    return msgspec.structs.replace(kind, run=run)


def show_embedding(metrics: RequestMetrics, jobs: EmbeddingJobs) -> None:
    """Adds the progress of embedding to the metrics."""
    metrics.follow(
        "bowerbird_posts_pending_embedding",
        "Posts of paid accounts without a vector, when last counted.",
        lambda: jobs.pending,
        is_counter=False,
    )
    metrics.follow("bowerbird_posts_embedded", "Posts embedded.", lambda: jobs.embedded)
    metrics.follow(
        "bowerbird_embedding_seconds", "Time spent embedding posts.", lambda: jobs.seconds
    )
