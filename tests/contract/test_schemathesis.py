"""A started server keeps what spec/openapi.json promises, whatever a client sends."""

import copy
import json
from collections.abc import Iterator
from typing import Any, Final

import pytest
import schemathesis
from schemathesis import BaseSchema, Case, Config
from schemathesis.specs.openapi.checks import negative_data_rejection, positive_data_acceptance

from bowerbird.openapi.headers import IDEMPOTENCY_KEY
from tests.support import make
from tests.support.models import MODEL_DIR
from tests.support.published import document
from tests.support.serving import Server, http, serving


def _api(mode: str, **generation: Any) -> BaseSchema:
    fixed = {"mode": mode, "max-examples": 10, "deterministic": True, "database": "none"}
    config = {
        "generation": fixed | generation,
        # The document's examples are polite.
        "phases": {"stateful": {"enabled": False}, "examples": {"enabled": mode == "positive"}},
        # The endpoint with the most ways to be asked.
        "operations": [
            {"include-name": "GET /v1/bookmarks", "generation": {"max-examples": 60} | generation},
            # The same handlers once more; a few are enough to see that they are bound well, and
            # the values at each limit are sent to the endpoints of the API.
            {
                "include-path-regex": "^/v1/sandbox/",
                "generation": {"max-examples": 5} | generation,
                "phases": {"coverage": {"enabled": False}},
            },
        ],
    }
    return schemathesis.openapi.from_dict(_asked(), config=Config.from_dict(config))


def _asked() -> dict[str, Any]:
    """The document without the header that decides about no answer; it has tests of its own."""
    asked: dict[str, Any] = copy.deepcopy(document())
    for item in asked["paths"].values():
        for operation in item.values():
            operation["parameters"] = [
                given for given in operation["parameters"] if given["name"] != "X-Request-Id"
            ]
    return asked


hostile: Final = _api("negative")
# U+0000 is a character of JSON Schema's strings, but of no database's.
polite: Final = _api("positive", **{"allow-x00": False})

# Texts by their schema, though not every text was given out by a list.
CONDITIONAL: Final = ("cursor", "sort_cursor", "bucket", "token")
# Names of what the library of `target` holds, so that polite requests find something.
REAL: Final = {"post_id": "7", "label_id": "1", "slug": "mine", "digest_id": "latest"}


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """A server with a paying account and some posts: its address, and a key to call it with."""
    folder = tmp_path_factory.mktemp("server")
    records = [
        make.post(post_id=str(number), text=f"katze {number}", tags=["x"], is_read=number % 2 == 0)
        for number in range(1, 60)
    ]
    # One that a digest can speak of; the others are of today.
    records[0]["bookmarked_at"] = "2020-01-01"
    (folder / "posts.json").write_text(json.dumps(records), encoding="utf-8")
    with serving(folder, model_dir=MODEL_DIR) as server:
        yield _target(server)


def _target(server: Server) -> dict[str, Any]:
    server.run("account", "create", "you@example.com", "--plan", "pro")
    server.run("import", "you@example.com", str(server.folder / "posts.json"))
    server.run("embed", "you@example.com")
    server.run("digest", "you@example.com")
    key = server.run("key", "create", "you@example.com").splitlines()[-1]
    base_url = f"http://127.0.0.1:{server.port}"
    headers = {"Authorization": f"Bearer {key}"}
    made = http.post(f"{base_url}/v1/views", json={"name": "Mine"}, headers=headers)
    assert made.status_code == 201
    begun = http.post(f"{base_url}/v1/exports/json", headers=headers)
    assert begun.status_code == 202
    REAL["job_id"] = begun.json()["data"]["job_id"]
    return {"base_url": base_url, "headers": headers}


def _simulate_nothing(case: Case[Any]) -> None:
    """Failures on request are no failures, and have tests of their own."""
    case.headers.pop("X-Service-Sandbox-Error", None)
    # The document shows one key everywhere; sent twice it rightly means one request.
    if case.headers.get("Idempotency-Key") == IDEMPOTENCY_KEY["example"]:
        del case.headers["Idempotency-Key"]


@hostile.parametrize()
def test_no_request_gets_an_answer_that_is_not_published(
    case: Case[Any], target: dict[str, Any]
) -> None:
    _simulate_nothing(case)
    # More is accepted than the document describes: bare dates, and empty values as absent ones.
    case.call_and_validate(
        **target, excluded_checks=[negative_data_rejection, positive_data_acceptance]
    )


@polite.parametrize()
def test_every_request_the_document_describes_is_served(
    case: Case[Any], target: dict[str, Any]
) -> None:
    _simulate_nothing(case)
    for name in CONDITIONAL:
        case.query.pop(name, None)
    if "/sandbox/" in case.path:
        # Its vector store is not built.
        case.query.pop("vector_search_term", None)
    if case.query.get("sort_by") == "relevance":
        case.query["q"] = "katze"

    if case.method != "DELETE":
        names = REAL.keys() & case.path_parameters.keys()
        case.path_parameters.update({name: REAL[name] for name in names})

    if case.method == "GET":
        case.call_and_validate(**target)
    else:
        # A schema does not tell which names are trimmed to nothing, nor which filters exclude
        # each other.
        case.call_and_validate(**target, excluded_checks=[positive_data_acceptance])
