"""Labels that fit the posts of an import: look at them, and add them as one change with undo."""

from typing import Any, Final

from bowerbird.assembly import Services
from bowerbird.errors import Refusal
from bowerbird.library.access import plans
from bowerbird.library.labels.import_labels import FittingLabel, LabelsOfImport
from bowerbird.requests.labels import ImportLabelling
from bowerbird.web.bulk.pages import BulkPages
from bowerbird.web.imports.pages import PATH
from bowerbird.web.imports.rows import posts_of
from bowerbird.web.library import post_parts
from bowerbird.web.library.addresses import of_post
from bowerbird.web.visits.pages import VisitPages
from bowerbird.web.visits.router import PageRoute
from bowerbird.web.visits.visit import Visit
from bowerbird.wire.responses.replies import Reply

LABELS: Final = f"{PATH}/labels/{{run_id}}"
# The names of the boxes begin with it, followed by the id of a label.
_BOX: Final = "label-"


class ImportLabelPages:
    def __init__(self, services: Services, many: BulkPages, pages: VisitPages) -> None:
        self._labels = services.import_labels
        self._many = many
        self._pages = pages

    def routes(self) -> list[PageRoute]:
        return [
            PageRoute("GET", LABELS, self.look, page=PATH),
            PageRoute("POST", LABELS, self.apply, page=PATH),
        ]

    async def look(self, visit: Visit, *, status: int = 200, problem: str = "") -> Reply:
        run_id = visit.request.path_params["run_id"]
        found = await self._labels.of_run(visit.signed_in.account, run_id)
        return self._pages.show(
            visit,
            "import_labels.html",
            status=status,
            problem=problem,
            run_id=run_id,
            posts_url=posts_of(run_id),
            sentence=_sentence(found),
            labels=[_shown(one) for one in found.labels],
            note=found.notice or "",
        )

    async def apply(self, visit: Visit) -> Reply:
        account, run_id = visit.signed_in.account, visit.request.path_params["run_id"]
        plans.check_writes(account)
        chosen = [name.removeprefix(_BOX) for name in visit.form if name.startswith(_BOX)]
        if not chosen:
            return await self.look(visit, status=400, problem="Choose at least one label.")
        try:
            request = ImportLabelling(label_ids=chosen)
            change = await self._labels.change(account, run_id, request)
            row = await self._many.changes.run(account, change)
        except Refusal as refused:
            return await self.look(visit, status=refused.status, problem=refused.sentence)
        return await self._many.after(visit, row)


def _sentence(found: LabelsOfImport) -> str:
    if not found.compared:
        return "Every post of this import has a label."
    posts = "1 post" if found.compared == 1 else f"{found.compared:,} posts"
    if not found.count:
        return f"None of the {posts} without a label has a clear one."
    have = "has" if found.count == 1 else "have"
    return f"{found.count:,} of {posts} without a label {have} a clear one."


def _shown(one: FittingLabel) -> dict[str, Any]:
    return {
        **post_parts.label(one.label_name, one.color),
        "box": f"{_BOX}{one.label_id}",
        "count": "1 post" if one.count == 1 else f"{one.count:,} posts",
        "examples": [
            {"url": of_post(each.post_id), "name": each.author_username, "text": each.text}
            for each in one.examples
        ],
    }
