"""When a change wakes the worker, which then looks for a job in the database."""

import msgspec
import pytest

from bowerbird.library.bookmarks.bookmarks import Bookmarks
from bowerbird.library.bookmarks.flags import Flags
from bowerbird.library.bookmarks.trash import Trash
from bowerbird.library.bulk.requests import bulk_requests
from bowerbird.library.vectors.semantic_search import SemanticSearch
from bowerbird.library.views.views import Views
from bowerbird.rest.bookmarks import write_routes
from bowerbird.rest.bulk import Changing
from bowerbird.wire.idempotency import Idempotency
from bowerbird.wire.responses.answer_cache import RequestTarget
from bowerbird.wire.routes import Call
from bowerbird.wire.writes import Writes
from tests.support import make
from tests.support.service import Service

pytestmark = pytest.mark.anyio

PATH = "/v1/bookmarks/update"


@pytest.mark.parametrize(
    ("selected", "wakes"),
    [({"tweet_ids": ["1"]}, 0), ({"filter": {"author": "ada"}, "expected_count": 1}, 1)],
)
async def test_only_a_change_of_all_that_match_wakes_the_worker(
    cast: Service, selected: dict[str, object], wakes: int
) -> None:
    await cast.alice.save_all([make.post(post_id="1", author="ada")])
    database, clock = cast.database, cast.clock
    meaning = SemanticSearch(database)
    views = Views(database, Bookmarks(database, meaning, clock), clock)
    writes = Writes(Idempotency(database, clock), "")
    woken: list[bool] = []
    changing = Changing(
        bulk_requests(database, clock, views, meaning, lambda: None),
        writes,
        lambda: woken.append(True),
    )
    table = write_routes(Flags(database, clock), Trash(database, clock), writes, changing)
    (handle,) = [route.handle for route in table if (route.method, route.path) == ("POST", PATH)]
    body = msgspec.json.encode({**selected, "is_read": True})

    reply = await handle(
        Call(await cast.alice.account(), "POST", RequestTarget(PATH, b"", b"", None), {}, body=body)
    )

    assert reply.status == 200
    assert len(woken) == wakes
