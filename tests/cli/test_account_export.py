"""`bowerbird account export`."""

import json
import stat
from pathlib import Path
from typing import Any

import pytest

from tests.cli.libraries import EMAIL, Library


@pytest.fixture
def target(tmp_path: Path) -> Path:
    (tmp_path / "exports").mkdir()
    return tmp_path / "exports" / "alice.json"


def test_the_file_contains_everything_except_secrets(empty: Library, target: Path) -> None:
    empty.fill(7)
    key = empty.run("key", "create", EMAIL, "--name", "laptop").out.strip()
    empty.sql("INSERT INTO api_call SELECT account_id, 202607, 12 FROM library")
    empty.sql("UPDATE api_key SET last_used_day = 20652")

    ran = empty.run("account", "export", EMAIL, target)

    assert ran.text == f"Wrote 7 posts and all other data of {EMAIL} to {target}.\n"
    document = _read(target)
    assert (document["account"]["email"], document["account"]["plan"]) == (EMAIL, "pro")
    assert [
        (each["name"], each["begins_with"], each["last_used_on"]) for each in document["keys"]
    ] == [("laptop", key[:19], "2026-07-18")]
    assert document["calls"] == [{"month": "2026-07", "calls": 12}]
    assert [(label["label_name"], label["count"]) for label in document["labels"]] == [
        ("apples", 2),
        ("Birds", 5),
    ]
    assert [bookmark["post_id"] for bookmark in document["bookmarks"]] == list("1234567")
    assert key not in target.read_text()
    assert stat.S_IMODE(target.stat().st_mode) == 0o600


def test_an_import_of_the_file_restores_the_bookmarks_exactly(empty: Library, target: Path) -> None:
    empty.fill(1203)
    empty.run("account", "export", EMAIL, target)
    empty.run("account", "create", "bob@example.com")

    ran = empty.run("import", "bob@example.com", target)

    again = target.with_name("bob.json")
    empty.run("account", "export", "bob@example.com", again)
    assert "  new 1203\n  changed 0\n  unchanged 0\n" in ran.out
    found, expected = _read(again)["bookmarks"], _read(target)["bookmarks"]
    # An import is an update.
    assert {one.pop("updated_at") for one in found}.isdisjoint(
        {one.pop("updated_at") for one in expected}
    )
    assert found == expected


def test_the_file_contains_views_and_deleted_bookmarks(empty: Library, target: Path) -> None:
    empty.fill(2)
    empty.add_other_rows(501)

    empty.run("account", "export", EMAIL, target)

    document = _read(target)
    assert [(view["slug"], view["base_query"]) for view in document["views"]] == [
        ("v", {"q": "birds"})
    ]
    assert len(document["trash"]) == 501
    assert document["trash"][-1] == {
        "post_id": "900500",
        "deleted_at": "1970-01-01T00:00:00.000500+00:00",
        "bookmark": {},
    }
    assert len(document["bookmarks"]) == 2


def test_the_file_contains_digests_and_their_preferences(empty: Library, target: Path) -> None:
    empty.fill(1)
    empty.add_other_rows(201)
    empty.sql("UPDATE digest_preference SET hour = 6, unsubscribe_token = 'geheim'")

    empty.run("account", "export", EMAIL, target)

    document = _read(target)
    assert document["digest_preferences"] == {
        "frequency": "weekly",
        "time_zone": "UTC",
        "hour": 6,
        "mail": False,
        "highlight": False,
    }
    assert len(document["digests"]) == 201
    assert document["digests"][-1]["digest_id"] == "daily-2026-01-01"
    assert document["digests"][-1]["saved"] == ["1"]
    assert "geheim" not in target.read_text()


@pytest.mark.both
def test_the_file_contains_devices_and_imports_but_no_token(empty: Library, target: Path) -> None:
    empty.fill(1)
    token = empty.run("device", "create", EMAIL, "--name", "laptop").out.strip()
    link = target.with_name("links.txt")
    link.write_text("https://x.com/ada/status/20\n")
    empty.run("import", EMAIL, link)

    empty.run("account", "export", EMAIL, target)

    document = _read(target)
    (device,) = document["devices"]
    assert (device["name"], device["last_used_at"], device["revoked_at"]) == ("laptop", None, None)
    (run,) = document["imports"]
    assert (run["state"], run["counts"]["new"], run["undone"]["removed"]) == ("finished", 1, 0)
    assert token not in target.read_text()
    assert empty.run("import", EMAIL, target).out.count("  unchanged 2\n") == 1


def test_the_file_contains_posts_that_are_known_only_by_their_id(
    empty: Library, target: Path
) -> None:
    empty.fill(1)
    for post_id in (1, 20):
        empty.sql(
            "INSERT INTO source_post (account_id, source, source_user_id, post_id, seen_run,"  # noqa: S608 - a number
            " changed_at, gone_at, gone_reason, sort_index)"
            f" SELECT account_id, 'x', '', '{post_id}', '', 0, 0, 'Deleted', 5 FROM library"
        )
    empty.run("account", "removed-posts", EMAIL, "hide")
    empty.run("account", "export", EMAIL, target)

    document = _read(target)
    assert document["account"]["removed_posts"] == "hide"
    assert document["unavailable_posts"] == [
        {
            "post_id": "20",
            "gone_at": "1970-01-01T00:00:00.000000+00:00",
            "gone_reason": "Deleted",
            "sort_index": 5,
        }
    ]


def test_a_file_of_the_release_before_can_be_imported(empty: Library, target: Path) -> None:
    empty.fill(2)
    empty.run("account", "export", EMAIL, target)
    document = _read(target)
    for later in ("devices", "unavailable_posts", "imports"):
        del document[later]
    target.write_text(json.dumps(document))
    empty.run("account", "create", "bob@example.com")

    ran = empty.run("import", "bob@example.com", target)

    assert "  new 2\n" in ran.out


def test_an_existing_file_is_overwritten_only_with_force(empty: Library, target: Path) -> None:
    empty.fill(1)
    target.write_text("mine")

    ran = empty.run("account", "export", EMAIL, target)

    assert (ran.code, ran.text) == (
        1,
        f"Error: {target} already exists. To overwrite it, use --force.\n",
    )
    assert target.read_text() == "mine"
    assert empty.run("account", "export", EMAIL, target, "--force").code == 0
    assert len(_read(target)["bookmarks"]) == 1


def test_a_failed_export_leaves_no_file(empty: Library, target: Path) -> None:
    ran = empty.run("account", "export", EMAIL, target)

    assert ran.code == 1
    assert list(target.parent.iterdir()) == []


def test_a_missing_folder_is_reported_in_one_sentence(empty: Library, target: Path) -> None:
    empty.fill(1)

    ran = empty.run("account", "export", EMAIL, target.parent / "no" / "a.json")

    assert ran.code == 1
    assert "No such file or directory: " in ran.text
    assert ran.text.count("\n") <= 1


def _read(file: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(file.read_bytes())
    return document
