"""The page for imports: files, links, earlier imports. A file is checked, then brought in."""

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
from bowerbird.library.imports.runs import Run
from bowerbird.library.imports.saving import SaveResult, summary
from bowerbird.library.ingest.files import NotKept, ReceivedFile, import_id_of, report_of
from bowerbird.model.accounts import Account
from bowerbird.model.arrival import VISIT, FileImport, RunState, UndoCounts
from bowerbird.model.connections import NAMES
from bowerbird.model.jobs import UNFINISHED, JobState
from bowerbird.model.posts.networks import named
from bowerbird.requests import limits, saving
from bowerbird.sources.found import Reason
from bowerbird.web.imports.saving import bookmarklet
from bowerbird.web.library.addresses import everything
from bowerbird.web.visits import router
from bowerbird.web.visits.formats import Times, size_text
from bowerbird.web.visits.pages import VisitPages, attachment
from bowerbird.web.visits.router import NotOurForm, PageRoute
from bowerbird.web.visits.visit import Visit
from bowerbird.wire.responses.replies import Reply

PATH: Final = "/import"
_PER_PAGE: Final = 20
_DIGITS: Final = 10
_WRITTEN: Final = ("new", "changed")
_STATES: Final = {
    RunState.RUNNING: ("running", "busy"),
    RunState.FINISHED: ("", ""),
    RunState.INTERRUPTED: ("stopped before its end", "hold"),
    RunState.UNDOING: ("partly undone", "hold"),
    RunState.UNDONE: ("undone", ""),
}
# A visit of a list does not have to reach its end.
_OF_VISITS: Final = (RunState.RUNNING, RunState.FINISHED, RunState.INTERRUPTED)


def routes(services: Services, pages: VisitPages) -> list[PageRoute]:
    page = ImportPage(services, pages)
    return [
        PageRoute("GET", PATH, page.shown),
        PageRoute("POST", f"{PATH}/links", page.save_links, page=PATH),
        PageRoute("POST", f"{PATH}/fetch", page.fetch, page=PATH),
        PageRoute("GET", f"{PATH}/fetch/{{total}}", page.fetching, is_json=True),
        PageRoute("POST", f"{PATH}/undo", page.undo, page=PATH, again=page.shown),
    ]


class ImportPage:
    def __init__(self, services: Services, pages: VisitPages) -> None:
        self._services = services
        self._pages = pages

    async def shown(self, visit: Visit, *, status: int = 0, **more: Any) -> Reply:
        account, times = visit.account, visit.times
        cursor = visit.asked("before")
        earlier = await self._services.imports.list(account, _PER_PAGE, cursor or None)
        values = {
            "file_error": "",
            "max_size": f"{limits.INGEST_FILE_BYTES_MAX // 1_000_000} MB",
            "max_links": limits.SAVED_MAX,
            "bookmarklet": bookmarklet(f"{visit.host.origin}{self._pages.path('')}"),
            "networks": named("or"),
            "links": "",
            "links_error": "",
            "saved": None,
            "bare": await self._bare(visit),
            "waiting": await self._waiting(account, times),
            "unread": await self._services.kept_pages.of_unknown_form(visit.account_id),
            "runs": [_row(one, times) for one in earlier.runs],
            "run_count": earlier.total_count,
            "older": earlier.next_cursor or "",
            "is_first": not cursor,
            **await self._message(visit),
        }
        return self._pages.show(visit, "import.html", status=status, **(values | more))

    async def save_links(self, visit: Visit) -> Reply:
        text = visit.sent("links")
        links = [line.strip() for line in text.splitlines() if line.strip()]
        if not links or len(links) > limits.SAVED_MAX:
            error = (
                f"{len(links):,} links are too many at once. Paste {limits.SAVED_MAX} at most."
                if links
                else "Paste at least one link."
            )
            return await self.shown(visit, status=400, links=text, links_error=error)
        try:
            result, _ = await self._services.saving.save_now(
                visit.account, saving.read_links(links)
            )
        except Refusal as refused:
            return await self.shown(
                visit, status=refused.status, links=text, links_error=refused.sentence
            )
        return await self.shown(visit, **_saved(links, result))

    async def fetch(self, visit: Visit) -> Reply:
        """Asks again for the text of every post that is only a link."""
        links, account = self._services.links, visit.account
        if links.is_on and not (await links.counts(account)).waiting:
            await links.ask_again_soon(account)
        return self._pages.go(f"{PATH}#bare")

    async def fetching(self, visit: Visit) -> Reply:
        """The progress since a page was opened on which so many links waited."""
        total = visit.named("total")
        counts = await self._services.links.counts(visit.account)
        whole = int(total) if total.isascii() and total.isdecimal() and len(total) < _DIGITS else 0
        job = {
            "id": "links",
            "done": max(whole - counts.waiting, 0),
            "total": whole,
            "text": _links_left(counts.waiting),
        }
        return self._pages.json({"mark": "open" if counts.waiting else "done", "jobs": [job]})

    async def _bare(self, visit: Visit) -> dict[str, Any] | None:
        """How many posts are only links, if the service asks for their texts."""
        if not self._services.links.is_on:
            return None
        counts = await self._services.links.counts(visit.account)
        if not counts.waiting and not counts.left:
            return None
        return {
            "waiting": counts.waiting,
            "left": counts.left,
            "text": _links_left(counts.waiting),
        }

    async def _waiting(self, account: Account, times: Times) -> list[dict[str, Any]]:
        """The files that are being read or can still be imported."""
        try:
            found = await self._services.checked_imports.waiting(account)
        except Refusal:
            # The files may be on another machine, and the rest of the page needs none of them.
            return []
        until = self._services.checked_imports.kept_until
        return [
            {
                "id": job.job_id,
                "name": _name(job),
                "is_checked": job.state not in UNFINISHED,
                "is_broken": job.state == JobState.FAILED,
                "state": _progress(job),
                "until": None if job.state in UNFINISHED else times.moment(until(job)),
            }
            for job in found
        ]

    async def undo(self, visit: Visit) -> Reply:
        run_id = visit.sent("run")
        outcome = await self._services.imports.undo(visit.account, run_id)
        return self._pages.go(f"{PATH}?undone={outcome.run_id}#earlier")

    async def _message(self, visit: Visit) -> dict[str, str]:
        """About the import that was just undone, if the address names one."""
        run_id = visit.asked("undone")
        if not run_id:
            return {}
        try:
            run = await self._services.imports.get(visit.account, run_id)
        except Refusal:
            return {}
        return {"message": _undone_sentence(run)} if run.state is RunState.UNDONE else {}


def _name(job: FileImport) -> str:
    files = report_of(job).files
    return files[0].name if files else "A file"


def _progress(job: FileImport) -> str:
    if job.state in UNFINISHED:
        return "being checked" if job.is_dry_run else "being imported"
    if job.state == JobState.FAILED:
        return "could not be read"
    new, changed = (sum(getattr(one, name) for one in report_of(job).files) for name in _WRITTEN)
    return (
        f"checked: {new:,} new, {changed:,} changed" if new or changed else "checked: nothing new"
    )


def _links_left(count: int) -> str:
    return "1 link is left to read." if count == 1 else f"{count:,} links are left to read."


def _saved(links: list[str], result: SaveResult) -> dict[str, Any]:
    """What became of the links. Those that failed stay in the field."""
    failed = [item for item in result.results if item.error is not None]
    return {
        "links": "\n".join(links[item.index] for item in failed),
        "saved": {
            "sentence": summary(result.results),
            "problems": [
                item.error.message.removeprefix(f"links[{item.index}]: ")
                for item in failed
                if item.error is not None
            ],
        },
    }


def _row(one: Run, times: Times) -> dict[str, Any]:
    has_written = one.counts.new or one.counts.changed
    is_visit = one.kind == VISIT and one.state in _OF_VISITS
    text, kind = ("while you browsed", "") if is_visit else _STATES[one.state]
    if one.state is RunState.UNDONE:
        text = f"undone: {_undone(one.undone)}"
    return {
        "id": one.run_id,
        "source": NAMES.get(one.source, one.source),
        "new": one.counts.new,
        "changed": one.counts.changed,
        "started_at": times.moment_of(one.started_at),
        "state": text,
        "state_kind": kind,
        "undo_until": times.day_of(one.undo_until),
        # They are known as long as the import can be undone.
        "posts": posts_of(one.run_id) if one.undo_until and has_written else "",
    }


def posts_of(run_id: str) -> str:
    """The list of the posts that an import added or changed."""
    return everything(import_run=run_id)


def _undone_sentence(one: Run) -> str:
    return f"The import is undone: {_undone(one.undone)}."


def _undone(counts: UndoCounts) -> str:
    removed = "1 post" if counts.removed == 1 else f"{counts.removed:,} posts"
    parts = [f"{removed} removed"]
    if counts.restored:
        parts.append(f"{counts.restored:,} as before")
    if counts.kept:
        parts.append(f"{counts.kept:,} kept, because you changed them since")
    return ", ".join(parts)


FILES: Final = f"{PATH}/files"
_WITH_LIKES: Final = "likes"
# How many of the links that are not posts a page shows. A file has all of them.
_LINKS_SHOWN: Final = 100


def file_routes(services: Services, pages: VisitPages) -> list[PageRoute]:
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
        return self._pages.json({"mark": _mark(job), "jobs": [_read_so_far(job)]})

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
            job=_read_so_far(job),
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
            "until": visit.times.day_of(report.undo_until),
        }


def _file(job: FileImport) -> dict[str, Any]:
    """The file of a job, with what is known about its content."""
    file = report_of(job).files[0] if report_of(job).files else None
    shown = _content(file) if file else {"name": "The file"}
    links = f"{FILES}/{job.job_id}/links"
    return {"file": shown | {"size": size_text(job.size), "links_path": links}}


def _read_so_far(job: FileImport) -> dict[str, Any]:
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
