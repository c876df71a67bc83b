"""The handlers for single posts: their links, and the labels that a person can choose."""

from bowerbird.ingest import bodies, operations
from bowerbird.ingest.operations import SuggestedLabel
from bowerbird.ingest.router import IngestCall, IngestRoute
from bowerbird.library.imports.saving import Saving
from bowerbird.library.ingest.device_use import DeviceUse
from bowerbird.library.ingest.rates import Rates
from bowerbird.library.labels.label_list import LabelList
from bowerbird.requests import limits
from bowerbird.wire import saving as saves
from bowerbird.wire import writes
from bowerbird.wire.responses.answer_cache import RequestTarget
from bowerbird.wire.responses.replies import Reply
from bowerbird.wire.routes import Call
from bowerbird.wire.writes import Writes


class Choosing:
    def __init__(
        self, labels: LabelList, saving: Saving, writes: Writes, *, rates: Rates, use: DeviceUse
    ) -> None:
        self._labels = labels
        self._save = saves.handler(saving, writes)
        self._rates = rates
        self._use = use

    def routes(self) -> list[IngestRoute]:
        return [
            IngestRoute(operations.LIST_LABELS, self._list_labels),
            IngestRoute(operations.SAVE, self._save_posts),
        ]

    async def _list_labels(self, call: IngestCall) -> Reply:
        found = await self._labels.matching(call.account, "", limits.DEVICE_LABELS_MAX)
        return writes.done([SuggestedLabel(one.label_name, one.count) for one in found])

    async def _save_posts(self, call: IngestCall) -> Reply:
        self._rates.count(call.account)
        body = await bodies.received(call, bodies.checked)
        reply = await self._save(
            Call(
                call.account,
                call.method,
                RequestTarget(call.path, call.query_string, b"", None),
                call.path_params,
                body,
                call.headers.get(b"idempotency-key"),
            )
        )
        await self._use.note(call.account)
        return reply
