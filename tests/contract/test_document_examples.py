"""A program that imports the document and sends every example as it is gets no error."""

from collections.abc import Iterator
from typing import Any, Final

import httpx
import pytest

from bowerbird.storage.database import Database
from tests.support import service
from tests.support.offenders import Offenders
from tests.support.programs import examples
from tests.support.published import INGEST, SPEC, document, resolved
from tests.support.service import Service

pytestmark = pytest.mark.anyio

Json = dict[str, Any]
# Their ids come from an earlier answer, and expire or belong to one account.
FROM_ANSWERS: Final = (
    *("job_id", "change_id", "run_id", "highlight_id", "digest_id", "rule_id", "share_id"),
    "webhook_id",
)
# Each step uses what earlier ones have left, as the recorded answers do.
ORDER: Final = [name for name, _, _ in examples.STEPS]


@pytest.fixture
async def cast(sqlite: Database) -> Service:
    built = await service.build(sqlite, sandbox="on")
    await built.alice.save_all(examples.POSTS)
    await built.alice.embed()
    return built


def imported() -> Iterator[tuple[str, Json]]:
    """Each operation as a request with the examples of all its parameters, and of its body."""
    for path, item in document()["paths"].items():
        for method, operation in item.items():
            if any(f"{{{name}}}" in path for name in FROM_ANSWERS):
                continue
            places: dict[str, Json] = {"path": {}, "query": {}, "header": {}}
            for parameter in map(resolved, operation["parameters"]):
                places[parameter["in"]][parameter["name"]] = _text(parameter["example"])
            request: Json = {
                "method": method,
                "url": path.format(**places["path"]),
                "params": places["query"],
                "headers": places["header"],
            }
            if "requestBody" in operation:
                body = operation["requestBody"]["content"]["application/json"]["example"]
                request["json"] = body
            yield operation["operationId"], request


def _text(example: Any) -> str:
    return str(example).lower() if isinstance(example, bool) else str(example)


async def sent(client: httpx.AsyncClient, requests: list[tuple[str, Json]]) -> Offenders:
    offenders = Offenders()
    for name, request in requests:
        answer = await client.request(**request)
        with offenders.check(name):
            assert answer.is_success, answer.text
            # A key of its own: no answer of another request is replayed.
            assert "idempotency-replayed" not in answer.headers
    return offenders


async def test_every_example_of_the_sandbox_works(cast: Service) -> None:
    requests = [one for one in imported() if one[0].startswith("sandbox")]

    assert len(requests) > 10
    assert await sent(cast.nobody, requests) == {}


async def test_every_example_of_the_api_works_in_the_library_of_examples(cast: Service) -> None:
    of_api = [one for one in imported() if not one[0].startswith("sandbox")]
    of_api.sort(key=lambda one: ORDER.index(one[0]))

    assert len(of_api) > 20
    assert await sent(cast.alice.client, of_api) == {}


async def test_a_single_parameter_works_alone_too(cast: Service) -> None:
    offenders = Offenders()
    for name, request in imported():
        if name not in ("listBookmarks", "sandboxListBookmarks", "sandboxListViewBookmarks"):
            continue
        client = cast.nobody if name.startswith("sandbox") else cast.alice.client
        for parameter, value in request["params"].items():
            answer = await client.get(request["url"], params={parameter: value})
            with offenders.check((name, parameter)):
                assert answer.is_success, answer.text

    assert offenders == {}


def test_every_write_has_a_key_of_its_own_in_its_example() -> None:
    """Also across both documents: an account has its keys once, whichever surface it calls."""
    keys = [
        parameter["example"]
        for spec in (SPEC, INGEST)
        for item in document(spec)["paths"].values()
        for operation in item.values()
        for parameter in operation.get("parameters", ())
        if parameter.get("name") == "Idempotency-Key"
    ]

    assert len(keys) > 20
    assert len(set(keys)) == len(keys)
