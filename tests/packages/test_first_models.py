"""`serve` of an installation without models builds them while it runs."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from bowerbird.search.meaning.models import model_folder
from bowerbird.settings import Settings
from tests.support.models import MODEL_DIR
from tests.support.programs.wheels import OFFLINE, copy_models, environment_beside, model_folder_of
from tests.support.serving import Server, serving
from tests.support.waiting import wait_until

EXAMPLE = Path(__file__).parents[2] / "examples" / "posts.json"
# A build has the lowest priority, and the other tests keep every core busy.
PATIENCE_S = 300.0
SENTENCE = "birds that love colours"


@pytest.fixture
def prefix(installed: Path, tmp_path: Path) -> Path:
    """An installation of its own per test, without models."""
    return environment_beside(tmp_path, installed)


@contextmanager
def starting(folder: Path, prefix: Path, **settings: Any) -> Iterator[Server]:
    offline = [f"{name}={value}" for name, value in OFFLINE.items()]
    command = ("env", *offline, str(prefix / "bin" / "python"), "-m", "bowerbird")
    with serving(folder, command=command, **{"model_dir": "", **settings}) as server:
        yield server


@contextmanager
def another_build(prefix: Path) -> Iterator[None]:
    """Holds the lock of a build, as a second node on the same machine would."""
    folder = model_folder_of(prefix)
    folder.mkdir(parents=True)
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def events(server: Server, *names: str) -> list[dict[str, Any]]:
    return [line for line in server.log() if line["event"] in names]


def filled(server: Server) -> str:
    """The key of an account with posts."""
    key = server.new_key()
    server.run("import", "you@example.com", str(EXAMPLE))
    return key


def vectors(server: Server, key: str) -> str:
    return str(server.get("/v1/account", key).json()["data"]["vector_store"]["state"])


def children(process: int) -> list[int]:
    found = Path(f"/proc/{process}/task/{process}/children").read_text(encoding="ascii")
    return [int(child) for child in found.split()]


def test_a_failed_build_is_logged_once_and_everything_else_works(
    prefix: Path, tmp_path: Path
) -> None:
    with starting(tmp_path, prefix) as server:
        [failure] = wait_until(lambda: events(server, "model_not_built"), PATIENCE_S)
        key = filled(server)
        by_word = server.get("/v1/bookmarks", key, q="nest")
        by_meaning = server.get("/v1/bookmarks", key, vector_search_term=SENTENCE)
        steps = events(server, "building_model")

    assert failure["level"] == "warning"
    assert "pip could not install the converter. Everything else works" in failure["reason"]
    assert failure["reason"].endswith("run: bowerbird model")
    assert "No matching distribution" in failure["details"]
    assert [step["step"] for step in steps] == ["Downloading the converter, 27 MB"]
    assert by_word.status_code == 200
    assert by_meaning.status_code == 402
    assert "bowerbird model" in by_meaning.json()["error"]
    assert list(model_folder_of(prefix).iterdir()) == []


def test_models_are_used_as_soon_as_they_are_built(prefix: Path, tmp_path: Path) -> None:
    with ExitStack() as stack:
        other = stack.enter_context(ExitStack())
        other.enter_context(another_build(prefix))
        server = stack.enter_context(starting(tmp_path, prefix))
        key = filled(server)
        before = server.get("/v1/bookmarks", key, vector_search_term=SENTENCE)
        copy_models(model_folder(Settings(model_dir=MODEL_DIR)), prefix)
        # The server's own build waited for the lock. Now it finds complete models.
        other.close()
        [built] = wait_until(lambda: events(server, "model_built"), PATIENCE_S)
        wait_until(lambda: vectors(server, key) == "ready", PATIENCE_S)
        after = server.get("/v1/bookmarks", key, vector_search_term=SENTENCE)

    assert before.status_code == 402
    assert built["folder"] == str(model_folder_of(prefix))
    assert after.json()["data"]


def test_stopping_the_server_stops_the_build(prefix: Path, tmp_path: Path) -> None:
    with another_build(prefix), starting(tmp_path, prefix) as server:
        [build] = wait_until(lambda: children(server.process.pid))
        code = server.stop()

    assert code == 0
    assert not Path(f"/proc/{build}").exists()
    assert events(server, "model_built", "model_not_built") == []


@pytest.mark.parametrize(
    "setting",
    [
        {"model_build": "off"},
        {"model_dir": os.devnull},
        {"embedding_url": "http://localhost:9/v1"},
    ],
    ids=lambda setting: next(iter(setting)),
)
def test_a_setting_prevents_the_build(
    prefix: Path, tmp_path: Path, setting: dict[str, str]
) -> None:
    # The tools are loaded after the build would have started.
    with another_build(prefix), starting(tmp_path, prefix, tool_preload="on", **setting) as server:
        wait_until(lambda: events(server, "tools loaded"), PATIENCE_S)

        assert children(server.process.pid) == []
