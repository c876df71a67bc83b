"""The requests in docs/sandbox.md return the responses that it shows."""

import json
import re
import shlex
from pathlib import Path

import pytest

from bowerbird.openapi.sandbox_routes import SIMULATED
from bowerbird.sandbox.router import LIMITS, MAX_ANSWER_BYTES, MAX_CONCURRENT, MAX_TOUCHED
from tests.support import trying
from tests.support.in_turn import in_turn
from tests.support.trying import Visitor

pytestmark = pytest.mark.anyio

PAGE = (Path(__file__).parents[2] / "docs" / "sandbox.md").read_text(encoding="utf-8")
ORIGIN = "http://localhost:8080"
EXCHANGES = re.findall(r"^\$ curl -s (.+)\n(.+)$", PAGE, re.MULTILINE)


@in_turn(("command", "shown"), EXCHANGES)
async def test_a_request_returns_what_is_said(visitor: Visitor, command: str, shown: str) -> None:
    url, *options = shlex.split(command)
    arguments = dict(zip(options[::2], options[1::2], strict=True))
    name, _, value = arguments.get("-H", "").partition(": ")

    response = await visitor.client.request(
        "POST" if "-d" in arguments else "GET",
        url.removeprefix(ORIGIN),
        content=arguments.get("-d"),
        headers={name: value} if name else {},
    )

    assert response.json() == json.loads(shown)


def test_the_page_has_requests() -> None:
    assert len(EXCHANGES) >= 3


def test_the_documented_numbers_are_correct() -> None:
    assert f"a library of {len(trying.posts())} posts" in PAGE
    assert f"handles up to {MAX_CONCURRENT} concurrent requests" in PAGE
    assert f"at most {MAX_TOUCHED:,} posts in all" in PAGE
    assert f"at most {MAX_ANSWER_BYTES // 1024 // 1024} MiB" in PAGE
    assert (LIMITS.body_s, LIMITS.response_s) == (10, 30)
    assert len(trying.labels()) == 10
    for value, code in SIMULATED.items():
        assert re.search(rf"`{value}` \| \d+ `{code}`", PAGE)
