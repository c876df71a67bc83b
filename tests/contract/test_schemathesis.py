"""A running server conforms to spec/openapi.json for any request."""

import copy
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest
import schemathesis
from schemathesis import BaseSchema, Case, Config
from schemathesis.checks import CheckFunction, load_all_checks
from schemathesis.generation.feedback import FeedbackSources
from schemathesis.pytest._test_builder import build_operation_test
from schemathesis.python._constants.orchestrator import make_constants_value_source
from schemathesis.specs.openapi.checks import (
    negative_data_rejection,
    positive_data_acceptance,
    response_schema_conformance,
)

from tests.contract.test_document_examples import FROM_ANSWERS, ORDER
from tests.support import make
from tests.support.models import MODEL_DIR
from tests.support.programs import examples
from tests.support.published import document
from tests.support.serving import Server, http, serving


def _api(mode: str, **generation: Any) -> BaseSchema:
    fixed = {"mode": mode, "max-examples": 10, "deterministic": True, "database": "none"}
    config = {
        "generation": fixed | generation,
        # The document's examples are valid requests, so only the positive mode sends them.
        "phases": {"stateful": {"enabled": False}, "examples": {"enabled": mode == "positive"}},
        # The endpoint with the most parameters.
        "operations": [
            {"include-name": "GET /v1/bookmarks", "generation": {"max-examples": 60} | generation},
            # The sandbox uses the same handlers, so a few examples are enough to test the routing.
            # The API endpoints are tested with boundary values.
            {
                "include-path-regex": "^/v1/sandbox/",
                "generation": {"max-examples": 5} | generation,
                "phases": {"coverage": {"enabled": False}},
            },
        ],
    }
    return schemathesis.openapi.from_dict(
        _document_without_request_id(), config=Config.from_dict(config)
    )


def _only_examples() -> BaseSchema:
    others = {name: {"enabled": False} for name in ("coverage", "fuzzing", "stateful")}
    config = {"generation": {"mode": "positive", "database": "none"}, "phases": others}
    return schemathesis.openapi.from_dict(document(), config=Config.from_dict(config))


def _document_without_request_id() -> dict[str, Any]:
    """The document without X-Request-Id, which never affects a response and has its own tests."""
    asked: dict[str, Any] = copy.deepcopy(document())
    for item in asked["paths"].values():
        for operation in item.values():
            operation["parameters"] = [
                given for given in operation["parameters"] if given["name"] != "X-Request-Id"
            ]
    return asked


hostile: Final = _api("negative")
# JSON Schema strings may contain U+0000, but no database can store it.
polite: Final = _api("positive", **{"allow-x00": False})

# The schema allows any string here, but the server accepts only values that it issued.
CONDITIONAL: Final = ("cursor", "sort_cursor", "bucket", "token")
# The example of the document. The schema does not name the fields that there are.
FIELDS: Final = "post_id,updated_at,tweet_details.text"
ROOT: Final = Path(__file__).parents[2]
# Ids that exist in the library of `target`, so that valid requests find something.
REAL: Final = {"post_id": "7", "label_id": "1", "slug": "mine", "digest_id": "latest"}


# The operations by their labels, such as "GET /v1/bookmarks".
NAMES: Final = {
    f"{method.upper()} {path}": operation["operationId"]
    for path, item in document()["paths"].items()
    for method, operation in item.items()
}
LABELS: Final = list(NAMES)


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """The address and key of a server with a paid account and some posts."""
    folder = tmp_path_factory.mktemp("server")
    records = [
        make.post(post_id=str(number), text=f"katze {number}", tags=["x"], is_read=number % 2 == 0)
        for number in range(1, 60)
    ]
    # Digests cover past days only, and the other posts are from today.
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


def _remove_special(case: Case[Any]) -> None:
    """Simulated errors would look like real ones; they have their own tests."""
    case.headers.pop("X-Service-Sandbox-Error", None)
    # An example key that is sent again with another body would be refused.
    if str(case.headers.get("Idempotency-Key")).endswith("-8f14e45f-ceea-467f"):
        del case.headers["Idempotency-Key"]


def _send(
    schema: BaseSchema,
    label: str,
    send: Callable[[Case[Any], dict[str, Any]], None],
    target: dict[str, Any],
) -> None:
    """Sends all cases of an operation, as schemathesis would that collects the tests itself.

    It would draw the cases of every operation at collection, in each of the test processes.
    """
    load_all_checks()
    method, path = label.split(" ")
    built = build_operation_test(
        config=schema.config,
        operation=schema[path][method],
        test_func=lambda case: send(case, target),
        given_kwargs={},
        feedback=FeedbackSources(constants_value_source=make_constants_value_source(schema)),
    )
    built()


@pytest.mark.parametrize("label", LABELS)
def test_every_response_matches_the_document(label: str, target: dict[str, Any]) -> None:
    _send(hostile, label, _send_hostile, target)


def _left_out(case: Case[Any]) -> list[CheckFunction]:
    """The checks that an answer cannot meet: the caller leaves required fields out."""
    return [response_schema_conformance] if "fields" in case.query else []


def _send_hostile(case: Case[Any], target: dict[str, Any]) -> None:
    _remove_special(case)
    # The server accepts more than the document describes: bare dates, and empty values.
    case.call_and_validate(
        **target,
        excluded_checks=[negative_data_rejection, positive_data_acceptance, *_left_out(case)],
    )


@pytest.mark.parametrize("label", LABELS)
def test_every_documented_request_succeeds(label: str, target: dict[str, Any]) -> None:
    _send(polite, label, _send_polite, target)


def _send_polite(case: Case[Any], target: dict[str, Any]) -> None:
    _remove_special(case)
    if case.query.get("fields") != FIELDS:
        case.query.pop("fields", None)
    for name in CONDITIONAL:
        case.query.pop(name, None)
    # A schema cannot express that a time starts before it ends.
    for what in ("posted", "bookmarked"):
        if f"{what}_from" in case.query:
            case.query.pop(f"{what}_to", None)
    if case.query.get("sort_by") == "relevance":
        case.query["q"] = "katze"

    if case.method != "DELETE":
        names = REAL.keys() & case.path_parameters.keys()
        case.path_parameters.update({name: REAL[name] for name in names})

    if case.method == "GET":
        case.call_and_validate(**target, excluded_checks=_left_out(case))
    else:
        # A schema cannot express which names are empty after trimming, or which filters exclude
        # each other.
        case.call_and_validate(**target, excluded_checks=[positive_data_acceptance])


def test_every_example_is_accepted_as_it_is(tmp_path: Path) -> None:
    """In the order of the recorded examples, with the keys for retries."""
    answers: dict[str, int] = {}

    def send(case: Case[Any], target: dict[str, Any]) -> None:
        answer = case.call_and_validate(**target, excluded_checks=_left_out(case))
        answers[f"{case.method} {case.path}"] = answer.status_code

    schema = _only_examples()
    (tmp_path / "posts.json").write_text(json.dumps(examples.POSTS), encoding="utf-8")
    with serving(tmp_path, model_dir=MODEL_DIR) as server:
        target = _target(server)
        for label in sorted(LABELS, key=_place):
            _send(schema, label, send, target)

    assert answers.keys() == set(LABELS)
    assert {label: status for label, status in answers.items() if status >= 400} == {
        # Ids of an earlier answer, and signed links.
        label: 403 if label.endswith("/file") else 404
        for label in LABELS
        if label.endswith("/file") or any(f"{{{name}}}" in label for name in FROM_ANSWERS)
    }


def test_the_command_of_schemathesis_reports_no_rejected_example(tmp_path: Path) -> None:
    """With schemathesis.toml of this repository."""
    (tmp_path / "posts.json").write_text(json.dumps(examples.POSTS), encoding="utf-8")
    with serving(tmp_path, model_dir=MODEL_DIR) as server:
        target = _target(server)
        command = [str(Path(sys.executable).with_name("schemathesis"))]
        command += ["--config-file", str(ROOT / "schemathesis.toml")]
        command += ["run", str(ROOT / "spec/openapi.json"), "--url", target["base_url"]]
        command += ["--phases", "examples"]
        command += ["--header", f"Authorization: {target['headers']['Authorization']}"]
        # It keeps what failed in the current folder, and would send it again.
        run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    assert run.returncode == 0, run.stdout
    assert f"{len(LABELS)} passed" in run.stdout


def _place(label: str) -> int:
    return ORDER.index(NAMES[label]) if NAMES[label] in ORDER else -1
