"""On every route, the sandbox responds with the same fields and headers as the API."""

from itertools import chain
from typing import Any

import httpx
import pytest

from tests.support import writing
from tests.support.offenders import Offenders
from tests.support.programs import trying
from tests.support.published import document
from tests.support.service import Service
from tests.support.working import at_work, until

pytestmark = pytest.mark.anyio

SANDBOX = "/v1/sandbox"
ROUTES = sorted(
    (method, path)
    for path, item in document()["paths"].items()
    if path.startswith(SANDBOX)
    for method in item
)
# The second is for requests that add a label, because alice's library keeps it.
POST_ID, OTHER_ID = (post["post_id"] for post in trying.posts()[:2])
# Query string, path parameters and body.
Request = tuple[str, dict[str, str], Any]
_LABELLING = {"label_name": "shape", "tweet_ids": [OTHER_ID]}
SUCCEEDING: dict[str, Request] = {
    "/bookmarks": ("?limit=3", {}, None),
    "/bookmarks/{post_id}": ("", {"post_id": POST_ID}, None),
    "/labels": ("", {}, None),
    "/labels/add": ("", {}, _LABELLING),
    "/labels/remove": ("", {}, {"label_name": "birds", "tweet_ids": [POST_ID]}),
    "/labels/batch": ("", {}, {"operations": [{"op": "add", **_LABELLING}, {"op": "add"}]}),
    "/views": ("", {}, None),
    "/views/{slug}": ("", {"slug": "birds"}, None),
    "/views/{slug}/bookmarks": ("?limit=3", {"slug": "birds"}, None),
    "/exports/pdf": ("", {}, {"tag": "birds"}),
    "/exports/csv": ("", {}, {"tag": "birds"}),
    "/exports/json": ("", {}, {"tag": "birds"}),
    "/exports/markdown": ("", {}, {"tag": "birds"}),
    "/exports/netscape": ("", {}, {"tag": "birds"}),
}
FAILING: dict[str, Request] = {
    "/bookmarks": ("?limit=0", {}, None),
    "/bookmarks/{post_id}": ("", {"post_id": "404"}, None),
    "/labels/add": ("", {}, {}),
    "/labels/remove": ("", {}, {**_LABELLING, "label_name": "never"}),
    "/labels/batch": ("", {}, {"operations": 1}),
    "/views/{slug}": ("", {"slug": "none"}, None),
    "/views/{slug}/bookmarks": ("?bucket=none", {"slug": "birds"}, None),
    "/exports/pdf": ("", {}, {"colour": "red"}),
    "/exports/csv": ("", {}, {"view": "none"}),
    "/exports/json": ("", {}, []),
    "/exports/markdown": ("", {}, {"colour": "red"}),
    "/exports/netscape": ("", {}, {"view": "none"}),
    "/exports/{job_id}": ("", {"job_id": "none"}, None),
    "/exports/{job_id}/file": ("?token=none", {"job_id": "none"}, None),
}
# A request to these succeeds only after an export was created.
AFTER_AN_EXPORT = ("/exports/{job_id}", "/exports/{job_id}/file")

SUCCEEDING_ROUTES = [
    (method.upper(), path.removeprefix(SANDBOX))
    for method, path in ROUTES
    if path.removeprefix(SANDBOX) in SUCCEEDING
]


@pytest.fixture
async def same_library(cast: Service) -> Service:
    """The service, where Alice has the same library as the sandbox."""
    await cast.alice.save_all(trying.posts())
    for view in trying.views():
        response = await writing.send(cast.alice, "POST", "/v1/views", view)
        assert response.status_code == 201
    for name, metadata in trying.labels().items():
        path = f"/v1/labels/{await writing.label_id(cast.alice, name)}"
        response = await writing.send(cast.alice, "PATCH", path, {"metadata": metadata})
        assert response.status_code == 200
    return cast


async def _both(cast: Service, method: str, path: str, request: Request) -> list[httpx.Response]:
    query, values, body = request
    target = path.format(**values) + query
    api = await cast.alice.client.request(method, f"/v1{target}", json=body)
    sandbox = await cast.nobody.request(method, f"{SANDBOX}{target}", json=body)
    return [api, sandbox]


def _field_types(value: Any, path: str = "") -> set[tuple[str, str]]:
    """The path and type of every field. All elements of an array share one path."""
    if isinstance(value, dict):
        inner = [_field_types(item, f"{path}.{name}") for name, item in value.items()]
    elif isinstance(value, list):
        inner = [_field_types(item, f"{path}[]") for item in value]
    else:
        inner = []
    return {(path, type(value).__name__)}.union(*inner)


def _headers(response: httpx.Response) -> set[str]:
    return set(response.headers) - {"content-length", "content-encoding"}


def test_every_route_of_the_sandbox_is_compared() -> None:
    published = {(method.upper(), path.removeprefix(SANDBOX)) for method, path in ROUTES}

    assert published == {*SUCCEEDING_ROUTES, *(("GET", path) for path in AFTER_AN_EXPORT)}


async def test_a_success_has_the_same_fields(same_library: Service) -> None:
    offenders = Offenders()
    for method, path in SUCCEEDING_ROUTES:
        api, sandbox = await _both(same_library, method, path, SUCCEEDING[path])
        with offenders.check((method, path)):
            _require_same_fields(api, sandbox)

    assert offenders == {}


async def test_an_export_has_the_same_fields_and_the_same_file(same_library: Service) -> None:
    created = await _both(same_library, "POST", "/exports/json", ("", {}, {"tag": "birds"}))
    paths = [httpx.URL(response.json()["data"]["poll_url"]).path for response in created]

    waiting = [await same_library.alice.get(paths[0]), await same_library.nobody.get(paths[1])]
    async with at_work(same_library.app.worker):
        job_id = paths[0].rpartition("/")[2]
        await until(same_library.database, same_library.alice.account_id, job_id, "completed")
    same_library.clock.now += 2_000_000
    completed = [await same_library.alice.get(paths[0]), await same_library.nobody.get(paths[1])]
    links = [response.json()["data"]["download_url"] for response in completed]
    files = [await same_library.nobody.get(httpx.URL(link).raw_path.decode()) for link in links]

    _require_same_fields(*waiting)
    _require_same_fields(*completed)
    bookmarks = [file.json() for file in files]
    for one in chain.from_iterable(bookmarks):
        # Each library was filled at another time.
        del one["updated_at"]
    assert bookmarks[0] == bookmarks[1]
    assert files[0].status_code == files[1].status_code == 200
    assert _headers(files[1]) - _headers(files[0]) == {"x-service-environment"}
    assert _headers(files[0]) <= _headers(files[1])


def _require_same_fields(api: httpx.Response, sandbox: httpx.Response) -> None:
    assert api.status_code == sandbox.status_code < 300
    assert _field_types(sandbox.json()) - _field_types(api.json()) == {(".meta.sandbox", "bool")}
    # Nothing of the sandbox is kept, so nothing can be undone.
    api_fields = {
        field for field in _field_types(api.json()) if not field[0].startswith(".meta.change")
    }
    assert api_fields <= _field_types(sandbox.json())
    assert _headers(sandbox) - _headers(api) == {"x-service-environment"}
    assert _headers(api) <= _headers(sandbox)


async def test_an_error_has_the_same_fields(same_library: Service) -> None:
    offenders = Offenders()
    for method, path in ((method, path.removeprefix(SANDBOX)) for method, path in ROUTES):
        # A route that accepts every parameter fails with a wrong method.
        used, request = (method, FAILING[path]) if path in FAILING else ("put", SUCCEEDING[path])
        api, sandbox = await _both(same_library, used, path, request)
        with offenders.check((used, path)):
            assert api.status_code == sandbox.status_code >= 400
            assert sandbox.json().pop("meta") == {"sandbox": True}
            assert {**api.json(), "meta": {"sandbox": True}}.keys() == sandbox.json().keys()
            assert api.json()["code"] == sandbox.json()["code"]
            assert _headers(sandbox) - _headers(api) == {"x-service-environment"}
            assert _headers(api) <= _headers(sandbox)

    assert offenders == {}


def test_the_openapi_operations_match() -> None:
    offenders = Offenders()
    for method, path in ROUTES:
        sandbox = document()["paths"][path][method]
        api = document()["paths"][path.replace(SANDBOX, "/v1")][method]
        with offenders.check((method, path)):
            _require_same_operation(api, sandbox)

    assert offenders == {}


def _require_same_operation(api: dict[str, Any], sandbox: dict[str, Any]) -> None:
    assert sandbox["security"] == []
    assert _body(sandbox) == _body(api)
    assert _parameters(api) <= _parameters(sandbox)
    assert _parameters(sandbox) - _parameters(api) == {("header", "X-Service-Sandbox-Error")}
    # The sandbox ignores Idempotency-Key, so these errors cannot occur.
    idempotency_errors = {"409", "422"}
    assert api["responses"].keys() - idempotency_errors <= sandbox["responses"].keys()
    for status, response in sandbox["responses"].items():
        assert "X-Service-Environment" in response["headers"]
        if status != "304":
            for media in response["content"].values():
                # A file has only a media type and no schema.
                mark = {"$ref": "#/components/schemas/SandboxMark"}
                assert not media or mark in media["schema"]["allOf"]


def _body(operation: dict[str, Any]) -> Any:
    """Without the example: the sandbox has other posts."""
    body = operation.get("requestBody")
    return body and (body["required"], body["content"]["application/json"]["schema"])


def _parameters(operation: dict[str, Any]) -> set[tuple[str, str]]:
    return {(parameter["in"], parameter["name"]) for parameter in operation["parameters"]}
