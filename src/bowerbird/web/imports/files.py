"""The steps of importing a file: check it, bring it in, see the result."""

from pathlib import Path
from typing import Any, Final

from msgspec.structs import asdict

from bowerbird.assembly import Services
from bowerbird.errors import Refusal
from bowerbird.library.imports.report import (
    COUNTS,
    WORDING,
    FileReport,
    name_of,
    nothing_new,
)
from bowerbird.library.ingest.files import NotKept, ReceivedFile, import_id_of, report_of
from bowerbird.model.arrival import FileImport
from bowerbird.model.jobs import UNFINISHED, JobState
from bowerbird.sources.found import Reason
from bowerbird.web.imports.pages import PATH, ImportPage, day, posts_of
from bowerbird.web.visits import router
from bowerbird.web.visits.formats import size_text
from bowerbird.web.visits.pages import VisitPages, attachment
from bowerbird.web.visits.router import NotOurForm, PageRoute
from bowerbird.web.visits.visit import Visit
from bowerbird.wire.responses.replies import Reply

FILES: Final = f"{PATH}/files"
_WITH_LIKES: Final = "likes"
# How many of the links that are not posts a page shows. A file has all of them.
_LINKS_SHOWN: Final = 100


def routes(services: Services, pages: VisitPages) -> list[PageRoute]:
    steps = _FileSteps(services, pages)
    one = f"{FILES}/{{job_id}}"
    return [
        PageRoute("POST", FILES, steps.check, page=PATH, max_upload_bytes=router.MAX_BODY_BYTES),
        PageRoute("GET", one, steps.shown),
        PageRoute("GET", f"{one}/state", steps.state, is_json=True),
        PageRoute("GET", f"{one}/links", steps.links, is_page=False),
        PageRoute("POST", f"{one}/import", steps.bring_in, page=PATH, again=steps.shown),
        PageRoute("POST", f"{one}/cancel", steps.cancel, page=PATH),
    ]


class _FileSteps:
    def __init__(self, services: Services, pages: VisitPages) -> None:
        self._services = services
        self._pages = pages
        self._start = ImportPage(services, pages)

    async def check(self, visit: Visit) -> Reply:
        async def receive(folder: Path) -> ReceivedFile:
            sent = await router.receive(visit, folder)
            return ReceivedFile(*sent, with_likes=_WITH_LIKES in visit.form)

        try:
            job = await self._services.checked_imports.check(
                visit.account, receive, visit.where.device
            )
        except NotOurForm:
            raise
        except Refusal as refused:
            return await self._start.shown(
                visit, status=refused.status, file_error=router.explained(refused)
            )
        return self._pages.go(f"{FILES}/{job.job_id}")

    async def shown(self, visit: Visit) -> Reply:
        job = await self._job(visit)
        if job.state in UNFINISHED:
            return self._running(visit, job)
        if job.state == JobState.FAILED:
            return self._failed(visit, job)
        if job.is_dry_run:
            return await self._checked(visit, job)
        return self._done(visit, job)

    async def state(self, visit: Visit) -> Reply:
        """The progress for a script, which opens the page again when `mark` changes."""
        job = await self._job(visit)
        return self._pages.json({"mark": _mark(job), "jobs": [_progress(job)]})

    async def links(self, visit: Visit) -> Reply:
        """The links of a file that are not posts, one per line."""
        links = [link for file in report_of(await self._job(visit)).files for link in file.links]
        content = "".join(f"{link}\n" for link in links).encode()
        return attachment("links.txt", "text/plain; charset=utf-8", content)

    async def bring_in(self, visit: Visit) -> Reply:
        job_id = visit.named("job_id")
        import_id = await self._services.checked_imports.run(
            visit.account,
            job_id,
            with_likes=_WITH_LIKES in visit.form,
            client=visit.where.device,
        )
        return self._pages.go(f"{FILES}/{import_id}")

    async def cancel(self, visit: Visit) -> Reply:
        job_id = visit.named("job_id")
        await self._services.checked_imports.cancel(visit.account, job_id)
        return self._pages.go(f"{PATH}?said=import-cancelled")

    async def _job(self, visit: Visit) -> FileImport:
        """Refuses the job of another account as if there were none."""
        job_id = visit.named("job_id")
        return await self._services.file_jobs.get(visit.account, job_id)

    def _running(self, visit: Visit, job: FileImport) -> Reply:
        return self._pages.show(
            visit,
            "import_running.html",
            is_check=job.is_dry_run,
            job=_progress(job),
            mark=_mark(job),
            **_file(job),
        )

    def _failed(self, visit: Visit, job: FileImport) -> Reply:
        report = report_of(job)
        return self._pages.show(
            visit,
            "import_failed.html",
            is_check=job.is_dry_run,
            error=job.error or "",
            undo=self._undo(visit, job) if report.written else None,
            **_file(job),
        )

    async def _checked(self, visit: Visit, job: FileImport) -> Reply:
        is_kept = await self._services.checked_imports.is_kept(visit.account_id, job)
        # The import that followed the check.
        jobs, account = self._services.file_jobs, visit.account
        imported = None if is_kept else await jobs.find(account, import_id_of(job))
        moment = visit.times.moment
        return self._pages.show(
            visit,
            "import_check.html",
            # The page says that the file is no longer kept.
            problem="" if isinstance(visit.refused, NotKept) else visit.problem,
            job_id=job.job_id,
            is_kept=is_kept,
            kept_until=moment(self._services.checked_imports.kept_until(job)),
            import_path="" if imported is None else f"{FILES}/{imported.job_id}",
            # As in the check: without them, it has left them out.
            with_likes=all(
                Reason.NOT_REQUESTED not in one.left_out for one in report_of(job).files
            ),
            **_file(job),
        )

    def _done(self, visit: Visit, job: FileImport) -> Reply:
        return self._pages.show(
            visit, "import_done.html", undo=self._undo(visit, job), **_file(job)
        )

    def _undo(self, visit: Visit, job: FileImport) -> dict[str, Any]:
        report, is_free = report_of(job), visit.account.is_free
        return {
            "run": report.run_id,
            "posts": posts_of(report.run_id),
            "labels": "" if is_free else f"{PATH}/labels/{report.run_id}",
            "until": day(report.undo_until, visit.times),
        }


def _file(job: FileImport) -> dict[str, Any]:
    """The file of a job, with what is known about its content."""
    file = report_of(job).files[0] if report_of(job).files else None
    shown = _content(file) if file else {"name": "The file"}
    links = f"{FILES}/{job.job_id}/links"
    return {"file": shown | {"size": size_text(job.size), "links_path": links}}


def _progress(job: FileImport) -> dict[str, Any]:
    """How much of a file is read."""
    return {
        "id": job.job_id,
        "done": job.done,
        "total": job.size,
        "text": f"{size_text(job.done)} of {size_text(job.size)}",
    }


def _mark(job: FileImport) -> str:
    return "open" if job.state in UNFINISHED else job.state


def _content(file: FileReport) -> dict[str, Any]:
    return asdict(file) | {
        "left_out": sum(file.left_out.values()),
        "outcomes": _outcomes(file),
        "nothing_new": nothing_new(file, "choose it again with “Liked posts too”"),
        "loses_labels": file.labels_left_out > 0,
        "links": file.links[:_LINKS_SHOWN],
        "links_kept": len(file.links),
        "link_count": file.left_out.get(Reason.NOT_A_POST, 0),
    }


def _outcomes(file: FileReport) -> list[dict[str, Any]]:
    counts = [(field, getattr(file, field), text) for field, text in COUNTS.items()]
    reasons = [(one, n, WORDING[Reason(one)].outcome) for one, n in file.left_out.items()]
    return [
        {"name": name_of(field).capitalize(), "count": count, "text": text}
        for field, count, text in (*counts, *reasons)
        if count
    ]
