"""`bowerbird share`: the operator lists what is shared, stops it and allows it again."""

import json
from pathlib import Path

import pytest

from tests.cli.libraries import EMAIL, Library, post

INSERT = """
INSERT INTO share (share_id, account_id, address, audience, kind, target, is_on, is_stopped,
                   ends_at, choices, revision, created_at, updated_at)
SELECT '{id}', account_id, '{address}', '{audience}', 'label', '1', TRUE, FALSE, 0,
       '{{"title": "Nests"}}', 1, {at}, {at}
  FROM person
"""
# The label of the first account, and a view that it has shared.
LABEL = """
UPDATE share SET target = (
    SELECT min(l.label_id) FROM label AS l JOIN share AS s ON s.account_id = l.account_id
)
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


@pytest.mark.both
def test_what_an_account_shares_moves_to_another_switched_off(
    library: Library, tmp_path: Path
) -> None:
    # The label of both.
    tagged = json.loads(post(7)) | {"tags": ["nests"]}
    posts, whole = tmp_path / "posts.jsonl", tmp_path / "whole.json"
    posts.write_text(json.dumps(tagged))
    library.run("account", "create", "other@example.com")
    for email in (EMAIL, "other@example.com"):
        assert library.run("import", email, posts).code == 0
    library.sql(LABEL)
    library.sql("UPDATE share SET kind = 'view', target = 'lost' WHERE share_id = 'bb'")
    assert library.run("account", "export", EMAIL, whole).code == 0

    moved = library.run("share", "import", "other@example.com", whole)

    # The view is not there.
    assert moved.text == "Added 1 of 2 shares, switched off.\n"
    listed = json.loads(library.run("share", "list", "--json").out)
    new = [row for row in listed if row["id"] not in ("aa", "bb")]
    # The name is that of the other account.
    assert {(row["state"], row["path"], row["title"]) for row in new} == {
        ("closed", "secret", "Nests")
    }
    addresses = [row[0] for row in library.sql("SELECT address FROM share")]
    assert len(set(addresses)) == 3


def test_a_private_feed_of_a_list_moves_too(library: Library, tmp_path: Path) -> None:
    whole = tmp_path / "whole.json"
    library.run("account", "create", "other@example.com")
    library.sql("DELETE FROM share WHERE share_id = 'aa'")
    library.sql("UPDATE share SET kind = 'list', target = 'all', audience = 'feed'")
    assert library.run("account", "export", EMAIL, whole).code == 0

    moved = library.run("share", "import", "other@example.com", whole)

    assert moved.text == "Added 1 of 1 shares, switched off.\n"


def test_a_file_without_shares_is_refused(library: Library, tmp_path: Path) -> None:
    file = tmp_path / "account.json"
    for text in ("", "[]", '{"shares": 3}', '{"labels": [3], "shares": []}'):
        file.write_text(text)
        refused = library.run("share", "import", EMAIL, file)
        assert refused.code == 1
        assert "has no shares of an account." in refused.text


def test_invalid_shares_and_those_of_missing_labels_are_left_out(
    library: Library, tmp_path: Path
) -> None:
    file = tmp_path / "account.json"
    # The account has a label whose name is the id of a deleted one.
    (posts := tmp_path / "posts.jsonl").write_text(
        json.dumps(json.loads(post(7)) | {"tags": ["404"]})
    )
    assert library.run("import", EMAIL, posts).code == 0
    listed = {"audience": "feed", "kind": "list", "target": "unread"}
    shares = [
        {"audience": "link", "kind": "label", "target": "404", "title": "Lost"},
        {"audience": "link", "kind": "x", "target": "1"},
        listed | {"title": 7},
        3,
        listed | {"title": "Kept"},
    ]
    file.write_text(json.dumps({"labels": [], "shares": shares}))

    moved = library.run("share", "import", EMAIL, file)

    assert moved.text == "Added 1 of 5 shares, switched off.\n"
    rows = json.loads(library.run("share", "list", "--json").out)
    assert [row["title"] for row in rows if row["id"] not in ("aa", "bb")] == ["Kept"]


@pytest.mark.parametrize("share_id", ["cc", "a-b", "é"])
def test_an_unknown_share_is_not_stopped(library: Library, share_id: str) -> None:
    ran = library.run("share", "stop", share_id)

    assert ran.code == 1
    assert "No share has the id" in ran.text
