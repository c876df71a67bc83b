"""Any arguments lead to a result or a clear error, never to an internal error."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bowerbird.toolserver.assembly import TOOLS
from tests.support import databases, make
from tests.support import service as services
from tests.support.service import Member
from tests.support.toolcalls import message, post

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=20),
    st.sampled_from(["1001", "owl", "a\x00b", "-7d", "2026-01-31", "x" * 2_000, "'; --", "%"]),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(max_size=8) | st.sampled_from(["op", "q", "name"]), inner)
    ),
    max_leaves=8,
)


@pytest.fixture(scope="module")
def running(
    sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[asyncio.Runner, Member]]:
    with asyncio.Runner() as runner:
        opened = databases.fresh_sqlite(sqlite_template, tmp_path_factory.mktemp("any"))
        built = runner.run(services.build(runner.run(opened.__aenter__())))
        runner.run(built.alice.save_all([make.post(post_id="1001", text="owl")]))
        yield runner, built.alice
        runner.run(built.alice.client.aclose())
        runner.run(opened.__aexit__(None, None, None))


# A few calls per tool: tests/requests/test_decoding.py reads many more arguments without a server.
@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_no_arguments_cause_an_internal_error(
    running: tuple[asyncio.Runner, Member], tool: Any, data: st.DataObject
) -> None:
    runner, alice = running
    names = st.sampled_from([*tool.arguments, "surplus"])
    arguments = data.draw(st.dictionaries(names, VALUES, max_size=5))
    # This test must not wait for exports.
    arguments.pop("wait_s", None)
    sent = message("tools/call", {"name": tool.name, "arguments": arguments})

    answer = runner.run(post(alice.client, sent)).json()

    result = answer["result"]
    if result["isError"]:
        assert "INTERNAL_ERROR" not in result["content"][0]["text"]
        assert result["content"][0]["text"].split(": ")[0].isupper()
    else:
        assert result["structuredContent"]
