"""All routes of /v1, one module per resource, in the order of the OpenAPI document.

Also the health checks: whether the process runs, and whether it can answer requests.
"""

from collections.abc import Sequence
from typing import Final

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, Router

from bowerbird.errors import Refusal
from bowerbird.rest import (
    account,
    bookmarks,
    bulk,
    exports,
    imports,
    labels,
    rules,
    shares,
    views,
    webhooks,
)
from bowerbird.rest.serving import Rest
from bowerbird.storage.database import Database
from bowerbird.wire.routes import ApiRoute

MODULES: Final = (
    *(account, bookmarks, bulk, labels, views, rules),
    *(shares, exports, imports, webhooks),
)


def routes(rest: Rest) -> list[ApiRoute]:
    return [route for module in MODULES for route in module.routes(rest)]


def health(database: Database, paths: Sequence[str]) -> Router:
    async def alive(_: Request) -> Response:
        return PlainTextResponse("ok\n")

    async def ready(_: Request) -> Response:
        try:
            await database.require_ready()
        except Refusal as refused:
            return PlainTextResponse(f"{refused}\n", 503, headers=refused.headers)
        return PlainTextResponse("ready\n")

    return Router(
        [Route(path, ready if path == "/readyz" else alive) for path in paths],
        redirect_slashes=False,
    )
