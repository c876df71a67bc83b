"""`bowerbird check`: finds each kind of damage on both databases, and fixes it."""

from pathlib import Path
from typing import Any

import pytest

from tests.cli.libraries import EMAIL, WRITER, Library, Ran, sqlite_library

NO_PROBLEMS = "No problems found.\n"


@pytest.fixture
def library(empty: Library) -> Library:
    empty.fill(7)
    empty.fill(2, email="bob@example.com")
    return empty


def raw(library: Library, statement: str, owner: str = EMAIL) -> list[tuple[Any, ...]]:
    """Runs a statement on either database; names in braces stand for rows of the owner, alice."""
    is_sqlite = library.settings.is_sqlite
    rows = library.sql("SELECT account_id, email FROM person")
    alice = next(account_id for account_id, email in rows if email == owner)
    numbers = dict(library.sql("SELECT account_id, local_number FROM library"))
    place = numbers[alice] << 40
    names = {
        "alice": f"account_id = {alice}",
        "content_2": f"place = {place + 2}"
        if is_sqlite
        else f"account_id = {alice} AND number = 2",
        "words_2": f"rowid = {place + 2}" if is_sqlite else f"account_id = {alice} AND number = 2",
        "keys": f"{place + 900}" if is_sqlite else f"{alice}, 900",
        "key_names": "place" if is_sqlite else "account_id, number",
        "word_key_names": "rowid" if is_sqlite else "account_id, number",
        "words_key_2": f"{place + 2}" if is_sqlite else f"{alice}, 2",
        "broken": "x'7b22'" if is_sqlite else "'\\x7b22'",
        "other_hash": "x'01'" if is_sqlite else "'\\x01'",
        "id": str(alice),
        "yes": "1" if is_sqlite else "TRUE",
    }
    return [row for one in statement.format(**names).split(";") for row in library.sql(one)]


# A store that claims three vectors of a model that has none.
STORE = (
    "INSERT INTO vector_store VALUES ({id}, {other_hash}, 'tiny', 2, 3, 1, 0, 1, {yes}, NULL, 0)"
)
filling = "{other_hash}, {broken}, 1, {broken}, {broken}"
VECTORS = ";".join(
    f"INSERT INTO vector VALUES ({{id}}, {number}, {filling})"  # noqa: S608 - ours
    for number in (1, 2, 3)
)

DAMAGES = {
    STORE: "vectors of tiny: stored 3, expected 0",
    STORE.replace("2, 3, 1, 0", "2, 3, 3, 0") + ";" + VECTORS.rpartition(";")[0]: (
        "vectors of tiny: stored 3, expected 2"
    ),
    f"{STORE};{VECTORS}".replace(
        "3, 1, 0, 1", "3, 5, 0, 1"
    ): "vectors of tiny: stored 3, expected 4",
    VECTORS: "vectors of no post: stored 3, expected 0",
    "INSERT INTO media_account VALUES ({id}, {yes}, NOT {yes}, 2, 90, 0, 0, 0, 0, 0)": (
        "files of kept images: stored 2, expected 0"
    ),
    "INSERT INTO media_account VALUES ({id}, {yes}, NOT {yes}, 1, 90, 0, 0, 0, 0, 0);"
    "INSERT INTO media_file VALUES ({id}, 'a', {other_hash}, 'image/png', 40, 1, 1, 0)": (
        "bytes of kept images: stored 90, expected 40"
    ),
    "UPDATE word_count SET posts = posts + 2 WHERE {alice} AND word = 'bower'": (
        "posts that contain 'bower': stored 9, expected 7"
    ),
    "INSERT INTO word_count VALUES ({id}, 'stray', 1)": (
        "posts that contain 'stray': stored 1, expected 0"
    ),
    "INSERT INTO word_change VALUES ({id}, 1, '{{\"stray\": 3}}')": (
        "posts that contain 'stray': stored 3, expected 0"
    ),
    "DELETE FROM word_count WHERE {alice}": "posts whose words are counted (and the counts of ",
    "UPDATE library SET unread = unread + 3 WHERE {alice}": "unread: stored 7, expected 4",
    "UPDATE library SET total = 0, fresh = 0 WHERE {alice}": "fresh: stored 0, expected 3",
    "UPDATE library SET archived = 9 WHERE {alice}": "archived: stored 9, expected 1",
    "UPDATE library SET next_number = 3 WHERE {alice}": "next_number: stored 3, expected 8",
    "UPDATE library SET next_label_id = 1 WHERE {alice}": "next_label_id: stored 1, expected 3",
    "UPDATE label SET bookmark_count = 99 WHERE {alice} AND name = 'Birds'": (
        "bookmark_count of label 'Birds': stored 99, expected 5"
    ),
    "UPDATE content SET tags = NULL WHERE {content_2}": "tags of post 2: stored none, expected",
    "DELETE FROM bookmark_label WHERE {alice} AND number = 2 AND label_id = 1": "tags of post 2:",
    "INSERT INTO bookmark_label VALUES ({id}, 1, 900)": (
        "labels attached to no post: stored 1, expected 0"
    ),
    "INSERT INTO bookmark_label VALUES ({id}, 900, 2)": (
        "labels attached to no post: stored 1, expected 0"
    ),
    "DELETE FROM content WHERE {content_2}": (
        "content of post 2: stored none, expected lost: import the post again"
    ),
    "UPDATE content SET rendering = {broken} WHERE {content_2}": (
        "content of post 2: stored invalid JSON"
    ),
    "INSERT INTO content ({key_names}, render_version, rendering) VALUES ({keys}, 1, {broken})": (
        "contents of no post: stored 1, expected 0"
    ),
    "DELETE FROM keyword WHERE {words_2}": "words of post 2: stored none, expected 'bower",
    "INSERT INTO keyword ({word_key_names}, words) VALUES ({keys}, 'stray')": (
        "words of no post: stored 1, expected 0"
    ),
    "DELETE FROM keyword WHERE {words_2};"
    "INSERT INTO keyword ({word_key_names}, words) VALUES ({words_key_2}, 'other words')": (
        "words of post 2: stored other words, expected 'bower"
    ),
    "UPDATE bookmark SET sort_index = 5 WHERE {alice} AND number = 2": "rendering of post 2:",
    "UPDATE bookmark SET imported_at = 5 WHERE {alice} AND number = 2": "rendering of post 2:",
    "UPDATE bookmark SET post_id = '77' WHERE {alice} AND number = 2": "rendering of post 77:",
    "UPDATE bookmark SET author_key = 'x' WHERE {alice} AND number = 2": (
        "author_key of post 2: stored 'x', expected 'bower'"
    ),
    # With the bit of a post that was looked at.
    "UPDATE bookmark SET media = 786433 WHERE {alice} AND number = 2": (
        "media of post 2: stored '786433'"
    ),
    "UPDATE bookmark SET content_hash = {other_hash} WHERE {alice} AND number = 2": (
        "content_hash of post 2:"
    ),
    "DELETE FROM bookmark WHERE {alice} AND number = 2": "contents of no post: stored 1",
}


def is_reported(ran: Ran, owner: str, finding: str, *, ending: str) -> bool:
    return any(
        line.startswith(f"{owner}: ") and finding in line and line.endswith(ending)
        for line in ran.text.splitlines()
    )


@pytest.mark.both
def test_each_kind_of_damage_is_found_and_fixed(empty: Library) -> None:
    # One library with an account per kind: each command opens it once, not once per kind.
    owners = {statement: f"owner{number}@example.com" for number, statement in enumerate(DAMAGES)}
    empty.fill_each(7, owners.values())
    empty.fill(2, email="bob@example.com")
    assert empty.run("check", "--deep").text == NO_PROBLEMS
    for statement, owner in owners.items():
        raw(empty, statement, owner)
    kinds = [(owner, DAMAGES[statement]) for statement, owner in owners.items()]

    found = empty.run("check")

    assert found.code == 1
    assert [kind for kind in kinds if not is_reported(found, *kind, ending=".")] == []
    assert "bob@example.com" not in found.text
    assert found.text.endswith("To fix them, run: bowerbird check --fix\n")

    read_versions = "SELECT account_id, version FROM library"
    versions = dict(empty.sql(read_versions))
    fixed = empty.run("check", "--fix")

    assert fixed.code == 0, fixed.text
    assert [kind for kind in kinds if not is_reported(fixed, *kind, ending=" Fixed.")] == []
    again = empty.run("check", "--deep")
    assert (again.code, again.text) == (0, NO_PROBLEMS)
    raised = [account for account, after in empty.sql(read_versions) if after > versions[account]]
    assert len(raised) == len(kinds)


def test_the_former_name_of_the_option_still_fixes(library: Library) -> None:
    raw(library, "UPDATE library SET unread = unread + 3 WHERE {alice}")

    assert library.run("check", "--mend").code == 0
    assert library.run("check").text == NO_PROBLEMS


def test_the_next_import_restores_lost_content(library: Library) -> None:
    raw(library, "UPDATE content SET rendering = {broken} WHERE {content_2}")
    assert library.run("check", "--fix").code == 0
    library.fill(7)
    assert library.run("check", "--deep").text == NO_PROBLEMS
    lost = (bytes(16),)
    assert lost not in library.sql("SELECT content_hash FROM bookmark")


@pytest.mark.both
def test_rows_of_no_account_are_removed(library: Library) -> None:
    library.sql("INSERT INTO api_call VALUES (77, 202601, 3)")
    library.sql(
        "INSERT INTO label VALUES (77, 1, 'x', 'x', '{}', 0, 0, NULL, NULL, NULL), "
        "(77, 2, 'y', 'y', '{}', 0, 0, NULL, NULL, NULL)"
    )
    library.sql(
        "INSERT INTO smart_view VALUES (77, 'v', 'V', '', '{}', 'null', '[]', 0, 0, 1, TRUE)"
    )
    library.sql("INSERT INTO deleted_view VALUES (77, 'd', '{}', 0)")
    library.sql("INSERT INTO version_use VALUES (77, 'v1', 1)")
    library.sql("INSERT INTO word_count VALUES (77, 'bird', 1)")
    library.sql("INSERT INTO word_change VALUES (77, 1, '{}')")
    library.sql("INSERT INTO source_post VALUES (77, 'x', '', '1', '', 0, NULL, NULL, '', NULL)")
    library.sql("INSERT INTO source_folder VALUES (77, '1', 'x')")
    library.sql("INSERT INTO sunset_notice VALUES (77, 'v1', 'sent', 0)")
    blob = "x''" if library.settings.is_sqlite else "''"
    library.sql(f"INSERT INTO trash VALUES (77, '1', {blob}, 0)")  # noqa: S608 - ours
    library.sql(
        f"INSERT INTO idempotency VALUES (77, 'key', {blob}, 200, '[]', {blob}, 0)"  # noqa: S608 - ours
    )
    library.add_rules(77)
    library.add_jobs(77, "j")
    library.add_digests(77, 1)
    library.sql(
        "INSERT INTO digest_preference"
        " VALUES (77, 'off', 'UTC', 8, FALSE, 0, 0, NULL, FALSE, 0, FALSE)"
    )
    found = library.run("check")
    assert found.code == 1
    for table in (
        *(
            *("version_use", "sunset_notice", "smart_view", "deleted_view", "trash", "idempotency"),
            "job",
        ),
        *("digest", "digest_preference", "source_post", "source_folder"),
        *("word_count", "word_change", "rule", "rule_state", "rule_log"),
    ):
        assert f"The library: {table} rows of no account: stored 1, expected 0." in found.text
    assert "The library: api_call rows of no account: stored 1, expected 0." in found.text
    assert "The library: label rows of no account: stored 2, expected 0." in found.text
    assert library.run("check", "--fix").code == 0
    assert library.run("check").text == NO_PROBLEMS


def test_a_library_without_an_owner_is_reported_and_left_unchanged(library: Library) -> None:
    raw(library, "DELETE FROM person WHERE {alice}")
    posts = library.value("SELECT count(*) FROM bookmark")
    ran = library.run("check", "--fix")
    assert ran.code == 1
    assert "libraries without a person: stored 1, expected 0. Cannot be fixed." in ran.text
    assert library.value("SELECT count(*) FROM bookmark") == posts


def test_an_account_that_is_being_deleted_is_not_reported(library: Library) -> None:
    raw(library, "DELETE FROM bookmark_label WHERE {alice};DELETE FROM library WHERE {alice}")
    assert library.run("check").text == NO_PROBLEMS


def test_only_the_first_20_findings_per_account_are_printed(library: Library) -> None:
    library.fill(60, first=100)
    library.sql("UPDATE bookmark SET author_key = 'x'")
    ran = library.run("check")
    assert ran.text.count(f"{EMAIL}: author_key of post") == 20
    assert f"{EMAIL}: and 47 more." in ran.text
    assert library.run("check", "--fix").code == 0
    assert library.run("check").text == NO_PROBLEMS


@pytest.mark.both
def test_concurrent_writes_are_not_reported_as_damage(empty: Library) -> None:
    empty.fill(5)
    stop = empty.folder.with_name("stop")
    with empty.start(stop, script=WRITER) as writer:
        assert writer.stdout
        writer.stdout.readline()
        ran = [empty.run("check", "--deep", "--fix").text for _ in range(5)]
        stop.touch()
        writer.communicate(timeout=120)
    assert ran == [NO_PROBLEMS] * 5
    assert writer.returncode == 0


def test_a_damaged_database_file_is_reported_and_left_unchanged(tmp_path: Path) -> None:
    library = sqlite_library(tmp_path)
    library.fill(5)
    library.sql("DELETE FROM keyword_data WHERE id > 10")
    ran = library.run("check", "--fix")
    assert ran.code == 1
    assert "corruption found reading blob" in ran.text
    assert "To restore a backup, run: bowerbird restore FILE" in ran.text


@pytest.mark.parametrize("command", ["check", "migrate"])
def test_a_file_that_is_not_a_database_is_reported_in_one_sentence(
    tmp_path: Path, command: str
) -> None:
    (tmp_path / "bowerbird.db").write_bytes(b"nothing of the kind" * 1000)

    ran = sqlite_library(tmp_path).run(command)

    assert ran.code == 1
    assert ran.text == (
        f"Error: Cannot open the library in {tmp_path}: file is not a database. Restore a backup."
    )


def test_a_file_that_cannot_be_opened_is_reported_without_advice_to_restore(tmp_path: Path) -> None:
    (tmp_path / "bowerbird.db").mkdir()

    ran = sqlite_library(tmp_path).run("check")

    assert ran.text == (
        f"Error: Cannot open the library in {tmp_path}: disk I/O error. "
        "Check whether the disk is full or failing."
    )
