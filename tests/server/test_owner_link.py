"""The link with which the owner signs in, printed by `bowerbird serve`."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner

from bowerbird.cli import program
from tests.support import serving
from tests.support.serving import Server
from tests.support.visiting import form_token
from tests.support.waiting import PATIENCE_S, wait_until

LINK = re.compile(r"^  (http://localhost:\d+/link)#(\S+)$", re.MULTILINE)
INVITED = "To sign in as the owner, open this link within 15 minutes. It works once:"


@contextmanager
def library(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[dict[str, Any]]:
    """The settings of an empty library that is ready to be served."""
    if kind == "sqlite":
        yield {"data_dir": tmp_path / "data"}
        return
    postgres = request.getfixturevalue("postgres")
    with postgres.fresh_database() as url:
        settings = {"database_url": url, "data_dir": tmp_path / "data"}
        serving.command("migrate", environment=serving.environment_of(**settings))
        yield settings


@pytest.fixture(params=["sqlite", "postgres"])
def settings(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[dict[str, Any]]:
    with library(request.param, request, tmp_path) as found:
        yield found


def enter(server: Server, address: str, token: str) -> httpx.Response:
    """Opens a link in a browser and presses its button."""
    with httpx.Client(headers={"Accept": "text/html"}, timeout=PATIENCE_S) as browser:
        page = browser.get(address)
        fields = {"csrf": form_token(page.text), "token": token, "email": "you@example.com"}
        origin = f"http://localhost:{server.port}"
        return browser.post(address, data=fields, headers={"Origin": origin})


def test_the_printed_link_signs_the_owner_in_and_is_not_printed_again(
    settings: dict[str, Any], tmp_path: Path
) -> None:
    with serving.serving(tmp_path, "--workers", "2", **settings) as server:
        output = server.output()
        assert output.count(INVITED) == 1
        [(address, token)] = LINK.findall(output)
        entered = enter(server, address, token)
        assert entered.status_code == 303, entered.text
        assert enter(server, address, token).status_code == 410
        # Only the terminal shows it, never the log.
        wait_until(lambda: any(line.get("status") == 410 for line in server.log()))
        assert token not in server.errors()

    with serving.serving(tmp_path, **settings) as again:
        assert INVITED not in again.output()
        assert not LINK.search(again.output())


def test_the_link_of_an_unfinished_sign_in_is_printed_at_the_next_start(tmp_path: Path) -> None:
    tokens = []
    for _ in range(2):
        with serving.serving(tmp_path) as server:
            [(_, token)] = LINK.findall(server.output())
            tokens.append(token)

    assert tokens[0] != tokens[1]


def test_a_link_says_if_no_server_answers_at_its_address(tmp_path: Path) -> None:
    with serving.serving(tmp_path) as server:
        server.run("account", "create", "you@example.com")
        known, unknown = (
            CliRunner(env=server.environment | {"BOWERBIRD_PORT": str(port)}).invoke(
                program, ["account", "link", "you@example.com"]
            )
            for port in (server.port, serving.free_port())
        )

    assert f"It is for a server at http://localhost:{server.port}." in known.stderr
    assert "BOWERBIRD_PORT" not in known.stderr
    assert "No server answers there now. If yours has another port" in unknown.stderr
