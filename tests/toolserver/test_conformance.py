"""The official conformance suite, with the requirements of both eras of the protocol."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.types import ASGIApp

from bowerbird.clock import system_clock
from bowerbird.library.accounts.accounts import Accounts
from bowerbird.library.accounts.keys import Keys
from bowerbird.settings import Settings
from bowerbird.storage.accounts.accounts import AccountStore
from bowerbird.storage.opening import open_database
from bowerbird.toolserver.protocol.exchange import Exchange
from bowerbird.toolserver.protocol.http_endpoint import ToolServer
from bowerbird.wire.auth import Authenticator
from bowerbird.wire.metrics import RequestMetrics
from tests.support import node
from tests.toolserver import suite_tools
from tests.toolserver.loopback import served, with_key

SUITE = "@modelcontextprotocol/conformance/dist/index.js"
_ONE_ANSWER = "a POST has one JSON answer: there is no stream that could carry anything beside it"
_NO_SESSION = "no state outlives a request, so there is nothing that could be subscribed to"
# Scenarios that we expect to fail, each with the reason.
EXPECTED = {
    "2026-07-28": {
        "tools-call-with-progress": _ONE_ANSWER,
    },
    "2025-11-25": {
        "logging-set-level": "the server sends no log messages: " + _ONE_ANSWER,
        "tools-call-with-logging": _ONE_ANSWER,
        "tools-call-with-progress": _ONE_ANSWER,
        "tools-call-sampling": _ONE_ANSWER,
        "tools-call-elicitation": _ONE_ANSWER,
        "elicitation-sep1034-defaults": _ONE_ANSWER,
        "elicitation-sep1330-enums": _ONE_ANSWER,
        "server-sse-multiple-streams": _ONE_ANSWER,
        "resources-subscribe": _NO_SESSION,
        "resources-unsubscribe": _NO_SESSION,
    },
}


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Our dispatcher with the suite's tools, behind a wrapper that adds a key."""
    folder = tmp_path_factory.mktemp("conformance")

    async def build(port: int) -> ASGIApp:
        database = await open_database(Settings(data_dir=folder))
        account_id = await Accounts(database, system_clock).create("you@example.com", "pro")
        key = (await Keys(database, system_clock).create(account_id, "suite")).text
        site = f"http://localhost:{port}"
        app = ToolServer(
            "/mcp",
            lambda: Exchange(suite_tools.server(), suite_tools.SCHEMAS),
            authenticate=Authenticator(AccountStore(database), system_clock, site),
            origins={site},
            metrics=RequestMetrics(),
            upgrade_url=f"{site}/upgrade",
        )
        return with_key(app, key)

    with served(build) as where:
        yield where


@pytest.mark.parametrize("requirements", EXPECTED)
def test_the_server_meets_the_requirements_of_each_revision(
    address: str, requirements: str, tmp_path: Path
) -> None:
    expected = EXPECTED[requirements]
    baseline = tmp_path / "expected.yaml"
    lines = ["server:", *(f"  - {name}" for name in expected)] if expected else ["server: []"]
    baseline.write_text("\n".join([*lines, ""]), encoding="utf-8")

    ran = node.run(
        SUITE,
        *("server", "--url", address, "--requirements", requirements),
        *("--expected-failures", baseline, "--output-dir", tmp_path / "results"),
    )

    assert ran.returncode == 0, failures(tmp_path / "results") + ran.stdout[-5_000:]


def failures(results: Path) -> str:
    """Every failed check with the error message of the suite."""
    checks = [
        check for file in results.rglob("checks.json") for check in json.loads(file.read_bytes())
    ]
    failed = [check for check in checks if check["status"] == "FAILURE"]
    return "".join(f"{check['id']}: {check.get('errorMessage')}\n" for check in failed)
