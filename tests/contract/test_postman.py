"""The Postman collection that a public generator makes from the document runs without errors."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from tests.contract.test_document_examples import FROM_ANSWERS, ORDER
from tests.support.models import MODEL_DIR
from tests.support.programs import examples, node
from tests.support.published import SPEC, document
from tests.support.serving import serving

_CONVERT: Final = "openapi-to-postmanv2/bin/openapi2postmanv2.js"
_NEWMAN: Final = "newman/bin/newman.js"
_SIGNED: Final = ("downloadExport", "sandboxDownloadExport")
_NAMES: Final = {
    (method.upper(), path): operation["operationId"]
    for path, item in document()["paths"].items()
    for method, operation in item.items()
}


def _requests(items: list[Any]) -> Iterator[tuple[str, Any]]:
    """Each request of a collection by the name of its operation."""
    for item in items:
        if "request" not in item:
            yield from _requests(item["item"])
            continue
        asked = item["request"]
        parts = [f"{{{one[1:]}}}" if one[0] == ":" else one for one in asked["url"]["path"]]
        yield _NAMES[asked["method"], f"/{'/'.join(parts)}"], item


def _is_of_an_answer(item: Any) -> bool:
    """Whether its id must come from an earlier answer, so that the example's is unknown."""
    return any(one["key"] in FROM_ANSWERS for one in item["request"]["url"].get("variable", ()))


def test_newman_runs_the_generated_collection(tmp_path: Path) -> None:
    file = tmp_path / "collection.json"
    options = "requestParametersResolution=Example,parametersResolution=Example"
    made = node.run(_CONVERT, "-s", SPEC, "-o", file, "-O", options)
    assert file.exists(), made.stdout + made.stderr
    collection = json.loads(file.read_text(encoding="utf-8"))
    requests = dict(_requests(collection["item"]))
    assert requests.keys() == set(_NAMES.values())
    collection["item"] = [
        {**requests[name], "name": name}
        for name in sorted(requests, key=lambda one: ORDER.index(one) if one in ORDER else -1)
    ]
    file.write_text(json.dumps(collection), encoding="utf-8")
    (tmp_path / "posts.json").write_text(json.dumps(examples.POSTS), encoding="utf-8")

    with serving(tmp_path, model_dir=MODEL_DIR) as server:
        key = server.new_key()
        server.run("import", "you@example.com", str(tmp_path / "posts.json"))
        server.run("embed", "you@example.com")
        report = tmp_path / "report.json"
        variables = {"baseUrl": f"http://127.0.0.1:{server.port}", "bearerToken": key}
        given = [word for one in variables.items() for word in ("--env-var", "=".join(one))]
        ran = node.run(
            *(_NEWMAN, "run", file, *given),
            *("--reporters", "json", "--reporter-json-export", report),
        )

    assert report.exists(), ran.stdout + ran.stderr
    answers = {
        one["item"]["name"]: one["response"]["code"]
        for one in json.loads(report.read_text(encoding="utf-8"))["run"]["executions"]
    }
    assert answers.keys() == requests.keys()
    refused = {name: status for name, status in answers.items() if status >= 400}
    unknown = {name for name, item in requests.items() if _is_of_an_answer(item)}
    # What the example of an id or of a signed link names is not in this library.
    assert refused == {**dict.fromkeys(unknown, 404), **dict.fromkeys(_SIGNED, 403)}
