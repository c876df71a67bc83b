"""`bowerbird share`: the operator lists what is shared, stops it and allows it again."""

import json

import pytest

from tests.cli.libraries import EMAIL, Library

pytestmark = pytest.mark.both

INSERT = """
INSERT INTO share (share_id, account_id, address, audience, kind, target, is_on, is_stopped,
                   ends_at, choices, revision, created_at, updated_at)
SELECT '{id}', account_id, '{address}', '{audience}', 'label', '1', TRUE, FALSE, 0,
       '{{"title": "Nests"}}', 1, {at}, {at}
  FROM person
"""


@pytest.fixture
def library(empty: Library) -> Library:
    empty.run("account", "create", EMAIL)
    rows = [("aa", "birds", "public"), ("bb", "hidden-address", "link")]
    for at, (share_id, address, audience) in enumerate(rows):
        empty.sql(INSERT.format(id=share_id, address=address, audience=audience, at=at))
    return empty


def test_secret_addresses_are_not_listed(library: Library) -> None:
    listed = library.run("share", "list", "--json").out

    rows = json.loads(listed)
    assert [(row["id"], row["state"], row["path"]) for row in rows] == [
        ("bb", "open", "secret"),
        ("aa", "open", "/c/birds"),
    ]
    assert "hidden-address" not in listed


def test_a_share_is_stopped_and_allowed_again(library: Library) -> None:
    stopped = library.run("share", "stop", "aa")
    during = json.loads(library.run("share", "list", "--json").out)
    library.run("share", "allow", "aa")
    after = json.loads(library.run("share", "list", "--json").out)

    assert "The share aa is stopped." in stopped.text
    assert [row["state"] for row in during] == ["open", "stopped"]
    assert [row["state"] for row in after] == ["open", "open"]


@pytest.mark.parametrize("share_id", ["cc", "a-b", "é"])
def test_an_unknown_share_is_not_stopped(library: Library, share_id: str) -> None:
    ran = library.run("share", "stop", share_id)

    assert ran.code == 1
    assert "No share has the id" in ran.text
