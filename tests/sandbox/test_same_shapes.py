"""Route by route: what the sandbox answers has the shape of what the API answers."""

import re
from typing import Any

import httpx
import pytest

from tests.support import trying, writing
from tests.support.offenders import Offenders
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
# For each route a request that succeeds, and one that the API refuses: path values and a body.
Asked = tuple[str, dict[str, str], Any]
_LABELLING = {"label_name": "shape", "tweet_ids": [OTHER_ID]}
SUCCEEDING: dict[str, Asked] = {
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
}
REFUSED: dict[str, Asked] = {
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
    "/exports/{job_id}": ("", {"job_id": "none"}, None),
    "/exports/{job_id}/file": ("?token=none", {"job_id": "none"}, None),
}
# Asked for what has to be made first; below.
MADE_FIRST = ("/exports/{job_id}", "/exports/{job_id}/file")

SUCCEEDING_ROUTES = [
    (method.upper(), path.removeprefix(SANDBOX))
    for method, path in ROUTES
    if path.removeprefix(SANDBOX) in SUCCEEDING
]


@pytest.fixture
async def twins(cast: Service) -> Service:
    """alice has what the sandbox has."""
    await cast.alice.save_all(trying.posts())
    for view in trying.views():
        response = await writing.send(cast.alice, "POST", "/v1/views", view)
        assert response.status_code == 201
    for name, metadata in trying.labels().items():
        path = f"/v1/labels/{await writing.label_id(cast.alice, name)}"
        response = await writing.send(cast.alice, "PATCH", path, {"metadata": metadata})
        assert response.status_code == 200
    return cast


async def _both(cast: Service, method: str, path: str, asked: Asked) -> list[httpx.Response]:
    query, values, body = asked
    target = path.format(**values) + query
    real = await cast.alice.client.request(method, f"/v1{target}", json=body)
    trial = await cast.nobody.request(method, f"{SANDBOX}{target}", json=body)
    return [real, trial]


def _shape(value: Any, place: str = "") -> set[tuple[str, str]]:
    """Every field's place and type. Elements of an array count together."""
    if isinstance(value, dict):
        inner = [_shape(item, f"{place}.{name}") for name, item in value.items()]
    elif isinstance(value, list):
        inner = [_shape(item, f"{place}[]") for item in value]
    else:
        inner = []
    return {(place, type(value).__name__)}.union(*inner)


def _headers(response: httpx.Response) -> set[str]:
    return set(response.headers) - {"content-length", "content-encoding"}


def test_the_contracts_routes_are_published() -> None:
    published = {(method.upper(), path.removeprefix(SANDBOX)) for method, path in ROUTES}

    assert published == {
        ("GET", "/bookmarks"),
        ("GET", "/bookmarks/{post_id}"),
        ("GET", "/labels"),
        ("POST", "/labels/add"),
        ("POST", "/labels/remove"),
        ("POST", "/labels/batch"),
        ("GET", "/views"),
        ("GET", "/views/{slug}"),
        ("GET", "/views/{slug}/bookmarks"),
        ("POST", "/exports/pdf"),
        ("POST", "/exports/csv"),
        ("POST", "/exports/json"),
        ("GET", "/exports/{job_id}"),
        ("GET", "/exports/{job_id}/file"),
    }
    assert published == {*SUCCEEDING_ROUTES, *(("GET", path) for path in MADE_FIRST)}


async def test_a_success_has_the_same_shape(twins: Service) -> None:
    offenders = Offenders()
    for method, path in SUCCEEDING_ROUTES:
        real, trial = await _both(twins, method, path, SUCCEEDING[path])
        with offenders.check((method, path)):
            _require_same_shape(real, trial)

    assert offenders == {}


async def test_an_export_and_its_file_have_the_same_shape(twins: Service) -> None:
    created = await _both(twins, "POST", "/exports/json", ("", {}, {"tag": "birds"}))
    paths = [httpx.URL(answer.json()["data"]["poll_url"]).path for answer in created]

    waiting = [await twins.alice.get(paths[0]), await twins.nobody.get(paths[1])]
    async with at_work(twins.app.worker):
        job_id = paths[0].rpartition("/")[2]
        await until(twins.database, twins.alice.account_id, job_id, "completed")
    twins.clock.now += 2_000_000
    completed = [await twins.alice.get(paths[0]), await twins.nobody.get(paths[1])]
    links = [answer.json()["data"]["download_url"] for answer in completed]
    files = [await twins.nobody.get(httpx.URL(link).raw_path.decode()) for link in links]

    _require_same_shape(*waiting)
    _require_same_shape(*completed)
    assert files[0].json() == files[1].json()
    assert files[0].status_code == files[1].status_code == 200
    assert _headers(files[1]) - _headers(files[0]) == {"x-service-environment"}
    assert _headers(files[0]) <= _headers(files[1])


def _require_same_shape(real: httpx.Response, trial: httpx.Response) -> None:
    assert real.status_code == trial.status_code < 300
    assert _shape(trial.json()) - _shape(real.json()) == {(".meta.sandbox", "bool")}
    assert _shape(real.json()) <= _shape(trial.json())
    assert _headers(trial) - _headers(real) == {"x-service-environment"}
    assert _headers(real) <= _headers(trial)


async def test_a_refusal_has_the_same_shape(twins: Service) -> None:
    offenders = Offenders()
    for method, path in ((method, path.removeprefix(SANDBOX)) for method, path in ROUTES):
        # A route without an invalid request is asked with a method that it does not allow.
        used, asked = (method, REFUSED[path]) if path in REFUSED else ("put", SUCCEEDING[path])
        real, trial = await _both(twins, used, path, asked)
        with offenders.check((used, path)):
            assert real.status_code == trial.status_code >= 400
            assert trial.json().pop("meta") == {"sandbox": True}
            assert {**real.json(), "meta": {"sandbox": True}}.keys() == trial.json().keys()
            assert real.json()["code"] == trial.json()["code"]
            assert _headers(trial) - _headers(real) == {"x-service-environment"}
            assert _headers(real) <= _headers(trial)

    assert offenders == {}


def test_an_operation_is_published_as_its_twin_is() -> None:
    offenders = Offenders()
    for method, path in ROUTES:
        trial = document()["paths"][path][method]
        real = document()["paths"][path.replace(SANDBOX, "/v1")][method]
        with offenders.check((method, path)):
            _require_same_publication(real, trial)

    assert offenders == {}


def _require_same_publication(real: dict[str, Any], trial: dict[str, Any]) -> None:
    assert trial["security"] == []
    assert trial.get("requestBody") == real.get("requestBody")
    assert _parameters(real) <= _parameters(trial)
    assert _parameters(trial) - _parameters(real) == {("header", "X-Service-Sandbox-Error")}
    keyed = {"409", "422"}
    assert real["responses"].keys() - keyed <= trial["responses"].keys()
    for status, response in trial["responses"].items():
        assert "X-Service-Environment" in response["headers"]
        if status != "304":
            for media in response["content"].values():
                # Of a file the document tells no more than its type.
                mark = {"$ref": "#/components/schemas/SandboxMark"}
                assert not media or mark in media["schema"]["allOf"]


def _parameters(operation: dict[str, Any]) -> set[tuple[str, str]]:
    return {(parameter["in"], parameter["name"]) for parameter in operation["parameters"]}


def test_names_of_operations_are_their_own() -> None:
    names = [
        operation["operationId"]
        for item in document()["paths"].values()
        for operation in item.values()
    ]

    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[a-zA-Z]+", name) for name in names)
