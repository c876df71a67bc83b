"""Clients that public generators make from the document work against a running server."""

import importlib
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.support import make, serving
from tests.support.programs import node
from tests.support.published import SPEC
from tests.support.serving import Server

CHOICES = [{"label": "owls"}, "wrens"]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, str]]:
    """A server, and the key of an account with three posts; the newest one has a poll."""
    folder = tmp_path_factory.mktemp("clients")
    posts = [make.post(post_id=str(n), posted_at=f"2026-01-0{n}T00:00:00Z") for n in (1, 2, 3)]
    posts[2]["tweet_details"]["attachments"] = [{"type": "poll", "url": "", "choices": CHOICES}]
    (folder / "posts.json").write_text(json.dumps(posts), encoding="utf-8")
    with serving.serving(folder) as server:
        key = server.new_key()
        server.run("import", "you@example.com", str(folder / "posts.json"))
        yield server, key


def test_the_python_client_parses_every_bookmark(
    library: tuple[Server, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server, key = library
    (tmp_path / "config.yaml").write_text("post_hooks: []\n", encoding="utf-8")
    generated = subprocess.run(
        [
            *(sys.executable, "-m", "openapi_python_client", "generate", "--meta", "none"),
            *("--path", SPEC, "--output-path", tmp_path / "generated_client"),
            # Without warnings: a warning means that a part of the document was dropped.
            *("--config", tmp_path / "config.yaml", "--fail-on-warning"),
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    assert generated.returncode == 0, generated.stdout + generated.stderr
    monkeypatch.syspath_prepend(tmp_path)

    def api(module: str) -> Any:
        return importlib.import_module(f"generated_client.{module}")

    address = f"http://127.0.0.1:{server.port}"
    client = api("client").AuthenticatedClient(base_url=address, token=key)
    with client:
        listed = api("api.bookmarks.list_bookmarks").sync(
            client=client, sort_by=api("models").ListBookmarksSortBy.POSTED_AT
        )
        counted = [
            api("api.bookmarks.count_bookmarks").sync(client=client, posted_from=start).data.count
            for start in ("-7d", date(2026, 1, 2), datetime(2026, 1, 2, 12, tzinfo=UTC))
        ]
        labelled = api("api.labels.add_label").sync_detailed(
            client=client, body=api("models").LabelRequest(tweet_ids=["1"], label_name="parsed")
        )
        refused = api("api.bookmarks.get_bookmark").sync(client=client, post_id="99")

    assert [post.post_id for post in listed.data] == ["3", "2", "1"]
    assert listed.data[0].tweet_details.attachments[0].choices == CHOICES
    assert listed.meta.total_count == 3
    assert counted == [0, 2, 1]
    assert labelled.status_code == 200
    assert (refused.status, refused.code) == (False, "NOT_FOUND")


def test_the_typescript_client_is_typed_and_works(
    library: tuple[Server, str], tmp_path: Path
) -> None:
    server, key = library
    output = {"path": str(tmp_path / "generated"), "module": {"extension": ".ts"}}
    plugins = ["@hey-api/client-fetch", "@hey-api/sdk", "@hey-api/typescript"]
    config = {"input": str(SPEC), "output": output, "plugins": plugins}
    file = tmp_path / "openapi-ts.config.mjs"
    file.write_text(f"export default {json.dumps(config)};\n", encoding="utf-8")
    generated = node.run("@hey-api/openapi-ts/bin/run.js", "-f", file, CI="true")
    assert generated.returncode == 0, generated.stdout + generated.stderr
    (tmp_path / "package.json").write_text('{"type": "module"}', encoding="utf-8")
    script = shutil.copy(node.WANTED / "generated_client.ts", tmp_path)

    options = ("--noEmit", "--strict", "--skipLibCheck", "--allowImportingTsExtensions")
    typing = ("--target", "esnext", "--module", "nodenext", "--types", "node")
    roots = ("--typeRoots", node.packages() / "@types")
    typed = node.run("typescript-checker/bin/tsc", *options, *typing, *roots, script)
    assert typed.returncode == 0, typed.stdout
    ran = subprocess.run(
        [node.NODE, "--no-warnings", script],
        env={"ADDRESS": f"http://127.0.0.1:{server.port}", "KEY": key},
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )

    assert ran.returncode == 0, ran.stderr
    said = json.loads(ran.stdout)
    assert said["cursor"].startswith("c")
    del said["cursor"]
    assert said == {
        "ids": ["3", "2"],
        "choices": CHOICES,
        "labelled": 200,
        "count": 1,
        "code": "INVALID_REQUEST",
    }


def test_spectral_finds_no_problems() -> None:
    ran = node.run(
        "@stoplight/spectral-cli/dist/index.js",
        *("lint", SPEC, "--ruleset", node.WANTED / "spectral.yaml"),
        *("--fail-severity", "hint"),
    )

    assert ran.returncode == 0, ran.stdout[-5_000:] + ran.stderr
    assert "No results with a severity" in ran.stdout
