"""All routes of /v1, one module per resource. The OpenAPI document has them in this order."""

from typing import Final

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
from bowerbird.wire.routes import ApiRoute

MODULES: Final = (
    *(account, bookmarks, bulk, labels, views, rules),
    *(shares, exports, imports, webhooks),
)


def routes(rest: Rest) -> list[ApiRoute]:
    return [route for module in MODULES for route in module.routes(rest)]
