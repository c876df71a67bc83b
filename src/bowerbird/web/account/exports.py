"""The page for exports: its form is derived from the request of the API."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec
from msgspec import Struct

from bowerbird.assembly import Services
from bowerbird.errors import Code, Refusal
from bowerbird.exports.tasks import FORMATS
from bowerbird.library.exports.exports import MAX_LISTED, ListedExport
from bowerbird.model.accounts import Account
from bowerbird.model.jobs import JobState
from bowerbird.requests.exports import ExportRequest
from bowerbird.requests.fields import gates_of, metadata_of
from bowerbird.requests.filter_values import read_flag, read_instant
from bowerbird.requests.filters import readers
from bowerbird.web.library.filters import NAMES
from bowerbird.web.visits.formats import in_form, size_text
from bowerbird.web.visits.pages import VisitPages
from bowerbird.web.visits.router import PageRoute
from bowerbird.web.visits.visit import Visit
from bowerbird.wire import writes
from bowerbird.wire.responses.replies import Header, Reply

VIEW: Final = "view"
TAG: Final = "tag"
_DAY: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


class Option(Struct, frozen=True):
    name: str
    text: str
    # flag, choice, date or text.
    kind: str
    value: str = ""
    # Pairs of value and text.
    choices: Sequence[tuple[str, str]] = ()
    # What to suggest while typing.
    suggestions: Sequence[str] = ()


def filters_in(fields: Mapping[str, str]) -> dict[str, str]:
    """The options in an address or form, by their names in the API."""
    return {name: fields[name] for name in _names() if fields.get(name)}


def options(
    account: Account,
    given: Mapping[str, str],
    views: Sequence[tuple[str, str]],
    labels: Sequence[str],
) -> list[Option]:
    """The options that the plan has. `views` are pairs of slug and name."""
    gates = gates_of(ExportRequest)
    names = [name for name in _names() if not account.is_free or name not in gates]
    return [
        _option(name, given.get(name, ""), views, labels) for name in names if name != VIEW or views
    ]


def _names() -> tuple[str, ...]:
    return (VIEW, *readers(ExportRequest))


def _option(
    name: str, value: str, views: Sequence[tuple[str, str]], labels: Sequence[str]
) -> Option:
    if name == VIEW:
        return Option(name, "Smart View", "choice", value, [("", "All posts"), *views])
    words = NAMES[name]
    text = words.exported or words.name
    read = readers(ExportRequest)[name].read
    described = metadata_of(ExportRequest)[name]
    choices = described.get("argument") or described.get("parameter") or {}
    if read is read_flag:
        return Option(name, text, "flag", value)
    if "enum" in choices:
        kinds = [(each, each.capitalize()) for each in choices["enum"]]
        return Option(name, text, "choice", value, [("", "Any"), *kinds])
    # A field for dates cannot show a time or "-7d".
    if read is read_instant and (not value or _DAY.fullmatch(value)):
        return Option(name, text, "date", value)
    return Option(name, text, "text", value, suggestions=labels if name == TAG else ())


PATH: Final = "/exports"
# The complete one first.
_FORMATS: Final = dict(sorted(FORMATS.items(), key=lambda each: each[0] != "json"))
_WHOLE: Final = "whole"
_SUGGESTED: Final = 200


def routes(services: Services, pages: VisitPages) -> list[PageRoute]:
    page = _ExportsPage(services, pages)
    changes = {
        "/{job_id}/cancel": ("cancelled", page.cancel),
        "/{job_id}/delete": ("deleted", page.delete),
        "/{job_id}/again": ("started", page.start_again),
        "": ("started", page.start),
    }
    return [
        PageRoute("GET", PATH, page.shown),
        PageRoute("GET", f"{PATH}/state", page.state, is_json=True),
        PageRoute("GET", f"{PATH}/{{job_id}}/file", page.download),
        *(
            PageRoute(
                *("POST", PATH + path, change),
                page=PATH,
                again=page.shown,
                done=f"{PATH}?said=export-{said}#files",
            )
            for path, (said, change) in changes.items()
        ),
    ]


class _ExportsPage:
    def __init__(self, services: Services, pages: VisitPages) -> None:
        self._services = services
        self._exports = services.exports
        self._pages = pages

    async def shown(self, visit: Visit) -> Reply:
        account, given = visit.account, filters_in(visit.form or visit.query)
        format = visit.sent("format")
        jobs = await self._exports.latest(account)
        views = [(view.slug, view.name) for view in await self._services.views.all(account)]
        uses, _ = await self._services.labels.listed.uses(account)
        return self._pages.show(
            visit,
            "exports.html",
            problem=in_form(visit.problem, {name: words.name for name, words in NAMES.items()}),
            total=account.total,
            is_free=account.is_free,
            options=options(account, given, views, [use.label_name for use in uses[:_SUGGESTED]]),
            is_whole=not given or _WHOLE in visit.sent("posts"),
            formats=_FORMATS,
            chosen=format if format in _FORMATS else "json",
            jobs=[(each, each.job, _progress(each), _size(each)) for each in jobs],
            mark=_mark(jobs),
            max_listed=MAX_LISTED,
        )

    async def start(self, visit: Visit) -> None:
        account, format = visit.account, visit.sent("format")
        if format not in _FORMATS:
            raise Refusal(Code.INVALID_REQUEST, "Choose a format.")
        is_whole = visit.form.get("posts") == _WHOLE
        await self._start(account, format, {} if is_whole else filters_in(visit.form))

    async def start_again(self, visit: Visit) -> None:
        """Repeats an export with the current posts of the library."""
        account, job_id = visit.account, visit.named("job_id")
        format, fields = await self._exports.fields_of(account, job_id)
        await self._start(account, format, fields)

    async def _start(self, account: Account, format: str, fields: Mapping[str, Any]) -> None:
        request = _request(account, fields)
        await self._exports.start(self._services.database, account, format, request)
        self._services.wake_worker()

    async def cancel(self, visit: Visit) -> None:
        await self._exports.cancel(visit.account, visit.named("job_id"))

    async def delete(self, visit: Visit) -> None:
        job_id = visit.named("job_id")
        await self._exports.delete_file(visit.account, job_id)

    async def state(self, visit: Visit) -> Reply:
        """The progress for a script, which opens the page again when `mark` changes."""
        jobs = await self._exports.latest(visit.account)
        running = [_progress(each) for each in jobs if not each.job.is_finished]
        return self._pages.json({"mark": _mark(jobs), "jobs": running})

    async def download(self, visit: Visit) -> Reply:
        """Leads to the file by a link that is valid for five minutes from now."""
        job_id = visit.named("job_id")
        job = await self._exports.get(visit.account, job_id)
        if job.link is None:
            raise Refusal(Code.NOT_FOUND, "The file of this export was deleted.")
        path = f"{self._services.export_addresses.path(job)}/file?token={job.link.token}"
        # At another address that works, the configured one may not.
        origin = self._services.export_addresses.api_origin if self._pages.is_at_site(visit) else ""
        headers: list[Header] = [
            (b"location", f"{origin}{path}".encode("ascii")),
            (b"cache-control", b"no-store"),
            (b"referrer-policy", b"no-referrer"),
        ]
        return Reply(303, headers)


def _request(account: Account, given: Mapping[str, Any]) -> ExportRequest:
    body = msgspec.json.encode(given)
    request = writes.admitted(account, body, ExportRequest, lambda _: None)
    if isinstance(request, Refusal):
        raise request
    return request


def _mark(jobs: list[ListedExport]) -> str:
    return " ".join(each.job.job_id for each in jobs if not each.job.is_finished)


def _size(each: ListedExport) -> str:
    return "" if each.job.file_size is None else size_text(each.job.file_size)


def _progress(each: ListedExport) -> dict[str, Any]:
    done, total = each.job.progress.done, each.job.progress.total
    start = "waiting for its turn" if each.job.status == JobState.PENDING else "starting"
    text = f"{done:,} of {total:,}" if total else start
    return {"id": each.job.job_id, "done": done, "total": total, "text": text}
