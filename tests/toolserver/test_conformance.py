"""The official conformance suite, with the requirements of both eras of the protocol."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.types import ASGIApp

from bowerbird.clock import system_clock
from bowerbird.library.accounts.accounts import Accounts
from bowerbird.library.accounts.tokens import Keys
from bowerbird.settings import Settings
from bowerbird.storage.accounts.accounts import AccountStore
from bowerbird.storage.opening import open_database
from bowerbird.toolserver.protocol.exchange import Exchange
from bowerbird.toolserver.protocol.http_endpoint import ToolServer
from bowerbird.wire.auth import Authenticator
from bowerbird.wire.metrics import RequestMetrics
from tests.support.programs import node
from tests.toolserver import suite_tools
from tests.toolserver.loopback import served, with_key

pytestmark = [
    # A program of others, which takes seconds to start.
    pytest.mark.slow,
    # It still tests what the newest revision deprecates.
    pytest.mark.filterwarnings("ignore:.*deprecated as of 2026-07-28"),
]

SUITE = "@modelcontextprotocol/conformance/dist/index.js"
_NO_REQUESTS = "a response cannot carry requests, because no session connects their answers with it"
_NO_SESSION = "no state outlives a request"
# Scenarios that we expect to fail: why, and the message of the suite that shows it.
EXPECTED: dict[str, dict[str, tuple[str, str]]] = {
    "2026-07-28": {},
    "2025-11-25": {
        "tools-call-sampling": (_NO_REQUESTS, "back-channel"),
        "tools-call-elicitation": (_NO_REQUESTS, "back-channel"),
        "elicitation-sep1034-defaults": (_NO_REQUESTS, "back-channel"),
        "elicitation-sep1330-enums": (_NO_REQUESTS, "back-channel"),
        "server-sse-multiple-streams": (_NO_SESSION, "session ID"),
        "resources-subscribe": (_NO_SESSION, "Method not found"),
        "resources-unsubscribe": (_NO_SESSION, "Method not found"),
    },
}


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Our dispatcher with the suite's tools, behind a wrapper that adds a key."""
    folder = tmp_path_factory.mktemp("conformance")

    async def build(port: int) -> ASGIApp:
        database = await open_database(Settings(data_dir=folder))
        account_id = await Accounts(database, system_clock).create("you@example.com", "pro")
        key = (await Keys(database, system_clock).issue(account_id, "suite")).text
        site = f"http://localhost:{port}"
        app = ToolServer(
            "/mcp",
            lambda: Exchange(suite_tools.server(), suite_tools.SCHEMAS).answer,
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

    said = problems(tmp_path / "results")
    assert ran.returncode == 0, f"{said}\n{ran.stdout[-5_000:]}"
    for name, (_, reason) in expected.items():
        (found,) = (
            text for scenario, text in said.items() if scenario.startswith(f"server-{name}-")
        )
        assert reason in found, f"{name} fails for another reason: {found}"


def problems(results: Path) -> dict[str, str]:
    """What the suite says of the checks of each scenario that are not successful."""
    return {
        file.parent.name: "; ".join(
            f"{check.get('errorMessage') or check.get('details')}"
            for check in json.loads(file.read_bytes())
            if check["status"] in ("FAILURE", "WARNING")
        )
        for file in results.rglob("checks.json")
    }
