"""docs/scaling.md says what a connection pooler has to know."""

import re

import pytest

from bowerbird.storage.postgres.database import Limits
from tests.deploy.named_settings import DEPLOY
from tests.support import databases
from tests.support.postgres import ThrowawayPostgres

pytestmark = pytest.mark.anyio

PAGE = (DEPLOY.parent / "docs" / "scaling.md").read_text(encoding="utf-8")
# PgBouncer knows these, and the driver sends the second.
KNOWN_TO_POOLERS = {"application_name", "client_encoding"}


async def test_the_parameters_of_a_connection_are_ignored_and_set_for_the_role(
    postgres: ThrowawayPostgres,
) -> None:
    async with databases.fresh_postgres(postgres, Limits()) as database:
        rows = await database.rows(
            "SELECT s.name, s.setting || coalesce(s.unit, '') FROM pg_settings AS s"
            " WHERE s.source = 'client'",
            {},
        )
    sent = {name: value for name, value in rows if name not in KNOWN_TO_POOLERS}
    [ignored] = re.findall(r"^ignore_startup_parameters = (.+)$", PAGE, re.MULTILINE)
    pairs = re.findall(r"^ALTER ROLE bowerbird SET (\w+) = '?([\w]+)'?;$", PAGE, re.MULTILINE)

    assert set(ignored.split(", ")) == sent.keys()
    in_milliseconds = {"5s": "5000ms"}
    assert {name: in_milliseconds.get(value, value) for name, value in pairs} == sent
