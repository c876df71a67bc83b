"""`bowerbird account create`, `list`, `plan` and `delete`."""

import asyncio
from pathlib import Path

import pytest

from bowerbird.cli.context import opened_library
from bowerbird.storage.accounts.account_removal import AccountRemoval
from bowerbird.storage.accounts.accounts import AccountStore
from tests.cli.libraries import EMAIL, Library, sqlite_library
from tests.support.in_turn import in_turn

_OWNED = (
    *("person", "library", "api_key", "api_call", "bookmark", "label", "bookmark_label"),
    *("idempotency", "trash", "smart_view", "deleted_view", "job", "version_use", "sunset_notice"),
    *("digest", "digest_preference", "rule", "rule_state", "rule_log"),
)


def test_a_created_account_is_described_and_only_its_id_is_on_stdout(empty: Library) -> None:
    ran = empty.run("account", "create", EMAIL)

    assert ran.code == 0
    account_id = empty.value("SELECT account_id FROM person")
    assert ran.out == f"{account_id}\n"
    place = empty.folder if empty.settings.is_sqlite else "PostgreSQL"
    assert ran.text == (
        f"Created the account {EMAIL} with the plan pro in {place}. Its id:\n{account_id}\n"
        f"To create a key for it, run: bowerbird key create {EMAIL}\n"
    )


def test_new_accounts_get_the_default_plan_unless_another_is_given(empty: Library) -> None:
    empty.run("account", "create", "one@example.com")
    hosted = Library({**empty.environment, "BOWERBIRD_DEFAULT_PLAN": "free"})
    hosted.run("account", "create", "two@example.com")
    hosted.run("account", "create", "three@example.com", "--plan", "pro")

    assert _listed(empty) == [
        ("one@example.com", "pro"),
        ("two@example.com", "free"),
        ("three@example.com", "pro"),
    ]


def test_the_address_of_an_account_can_be_changed(empty: Library) -> None:
    empty.run("account", "create", EMAIL)
    empty.run("account", "create", "taken@example.com")

    refused = empty.run("account", "email", EMAIL, "Taken@Example.com")
    malformed = empty.run("account", "email", EMAIL, "nonsense")
    ran = empty.run("account", "email", EMAIL, " ada@example.org ")

    assert (refused.code, refused.text) == (1, "Error: Taken@Example.com already has an account.")
    assert malformed.code == 1
    assert (ran.code, ran.text) == (0, f"{EMAIL} is now ada@example.org.\n")
    assert [email for email, _ in _listed(empty)] == ["ada@example.org", "taken@example.com"]


@pytest.mark.both
def test_an_account_without_an_address_is_named_by_its_id(empty: Library, tmp_path: Path) -> None:
    account_id = empty.run("account", "create", EMAIL).out.strip()
    empty.sql("UPDATE person SET email = '', email_key = 'account 1'")

    for command in (
        ("key", "create", account_id),
        ("key", "list", account_id),
        ("device", "create", account_id),
        ("account", "plan", account_id, "free"),
        ("account", "link", account_id),
        ("account", "owner", account_id),
        ("account", "export", account_id, tmp_path / "all.json"),
        ("reingest",),
        ("check",),
        ("jobs", "list"),
        ("account", "email", account_id, "new@example.com"),
        ("account", "delete", "new@example.com", "--yes"),
    ):
        ran = empty.run(*command)
        assert ran.code == 0, (command, ran.text)
    assert _listed(empty) == []


@in_turn("name", ["1", "9" * 19, "9" * 30, "٣"])
def test_an_unknown_id_is_refused(empty: Library, name: str) -> None:
    empty.run("account", "create", EMAIL)

    ran = empty.run("account", "plan", name, "free")

    assert ran.code == 1
    assert ran.text.startswith("Error: ")
    assert "Traceback" not in ran.text


@pytest.mark.both
def test_the_first_account_is_the_owners_and_the_owner_can_change(empty: Library) -> None:
    for email in ("one@example.com", "two@example.com"):
        empty.run("account", "create", email)
    owners = "SELECT email FROM person WHERE is_owner"
    assert empty.sql(owners) == [("one@example.com",)]

    ran = empty.run("account", "owner", "two@example.com")

    assert (ran.code, ran.text) == (0, "two@example.com is now the owner.\n")
    assert empty.sql(owners) == [("two@example.com",)]
    refused = empty.run("account", "owner", "three@example.com")
    assert refused.code == 1
    assert "No account has the address" in refused.text
    assert empty.sql(owners) == [("two@example.com",)]


def test_a_link_is_printed_alone_and_only_its_hash_is_stored(empty: Library) -> None:
    empty.run("account", "create", EMAIL)

    ran = empty.run("account", "link", EMAIL)

    assert ran.code == 0
    address, _, token = ran.out.strip().partition("#")
    assert address == "http://localhost:8080/link"
    assert "It works once, within 15 minutes." in ran.text
    assert "It is for a server at http://localhost:8080." in ran.text
    assert "set BOWERBIRD_PORT here too" in ran.text
    stored = empty.sql("SELECT kind, link_hash, detail FROM one_time_link")
    assert [row[0] for row in stored] == ["account"]
    assert token.encode() not in bytes(stored[0][1])
    assert empty.sql("SELECT kind FROM activity WHERE kind = 'link created'")


@pytest.mark.parametrize("again", [EMAIL, EMAIL.upper(), f"  {EMAIL} "])
def test_an_email_address_has_one_account_in_any_case(empty: Library, again: str) -> None:
    empty.run("account", "create", EMAIL)

    ran = empty.run("account", "create", again)

    assert (ran.code, ran.text) == (1, f"Error: {again.strip()} already has an account.")
    assert len(_listed(empty)) == 1


@in_turn(
    "email",
    [
        *("", "ada", "@example.com", "ada@", "a da@example.com", "ada@x\udcff", "a@b@c", "a\0@b"),
        *("a@b", "a@b."),
    ],
)
def test_an_invalid_email_address_is_refused(empty: Library, email: str) -> None:
    ran = empty.run("account", "create", email)

    assert (ran.code, ran.text) == (
        1,
        f"Error: Invalid email address {email!a}. Example: you@example.com.",
    )


def test_the_list_is_tab_separated_for_programs(empty: Library) -> None:
    empty.fill(3)

    row = empty.run("account", "list").out.removesuffix("\n").split("\t")

    assert row[1:4] == [EMAIL, "pro", "3"]
    assert len(row) == 5


def test_changing_the_plan_changes_the_version_of_the_library(empty: Library) -> None:
    empty.run("account", "create", EMAIL)
    before = empty.value("SELECT version FROM library")

    ran = empty.run("account", "plan", EMAIL.upper(), "free")

    assert ran.code == 0
    assert _listed(empty) == [(EMAIL, "free")]
    assert empty.value("SELECT version FROM library") > before


@in_turn(
    "command",
    [
        ("account", "plan", "nobody@example.com", "pro"),
        ("account", "delete", "nobody@example.com", "--yes"),
        ("account", "export", "nobody@example.com", "nobody.json"),
        ("account", "link", "nobody@example.com"),
        ("save", "nobody@example.com", "https://x.com/ada/status/20"),
        ("digest", "nobody@example.com"),
        ("key", "create", "nobody@example.com"),
        ("key", "list", "nobody@example.com"),
        ("key", "revoke", "nobody@example.com", "1"),
    ],
)
def test_an_unknown_email_address_is_refused_with_one_sentence(
    empty: Library, command: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    ran = empty.run(*command)

    assert ran.code == 1
    assert ran.text == (
        "Error: No account has the address 'nobody@example.com'. "
        "To list accounts, run: bowerbird account list"
    )
    assert not list(tmp_path.glob("*nobody*"))


def test_a_deletion_asks_for_confirmation(empty: Library) -> None:
    empty.fill(2)

    assert empty.run("account", "delete", EMAIL, answer="n\n").code == 1
    assert len(_listed(empty)) == 1
    assert empty.run("account", "delete", EMAIL, answer="y\n").code == 0
    assert _listed(empty) == []


@pytest.mark.both
def test_a_deletion_removes_all_rows_of_one_account_and_none_of_another(empty: Library) -> None:
    empty.fill(450)
    empty.run("key", "create", EMAIL)
    empty.add_other_rows(450)
    empty.add_version_use()
    before = _rows(empty)
    empty.fill(450, email="bob@example.com")
    empty.run("key", "create", "bob@example.com")
    empty.add_other_rows(450, email="bob@example.com")
    empty.add_version_use(email="bob@example.com")

    ran = empty.run("account", "delete", EMAIL, "--yes")

    assert ran.text == f"Deleted {EMAIL} and 450 posts.\n"
    assert _rows(empty) == before
    assert [email for email, _ in _listed(empty)] == ["bob@example.com"]
    assert empty.run("check", "--deep").text == "No problems found.\n"


def test_an_interrupted_deletion_hides_the_account_until_the_next(empty: Library) -> None:
    empty.fill(30)
    asyncio.run(_start_deletion(empty))

    assert _listed(empty) == []
    assert empty.run("key", "create", EMAIL).text == (
        f"Error: The account of {EMAIL} is partly deleted. "
        "To finish, run: bowerbird account delete EMAIL"
    )
    assert empty.run("account", "delete", EMAIL, "--yes").code == 0
    assert set(_rows(empty).values()) == {0}
    assert empty.run("account", "create", EMAIL).code == 0


def test_an_account_without_its_local_number_can_be_deleted(tmp_path: Path) -> None:
    library = sqlite_library(tmp_path)
    library.fill(3)
    library.sql("DELETE FROM local_account")

    ran = library.run("account", "delete", EMAIL, "--yes")

    assert (ran.code, ran.text) == (0, f"Deleted {EMAIL} and 3 posts.\n")
    assert library.value("SELECT count(*) FROM person") == 0
    assert library.run("check", "--fix").code == 0
    assert set(_rows(library).values()) == {0}


def test_a_local_account_number_is_never_used_twice(tmp_path: Path) -> None:
    library = sqlite_library(tmp_path)
    library.fill(1)
    library.run("account", "delete", EMAIL, "--yes")
    library.fill(1)

    assert library.value("SELECT local_number FROM library") == 2


def _listed(library: Library) -> list[tuple[str, str]]:
    rows = [line.split("\t") for line in library.run("account", "list").out.splitlines()]
    return [(row[1], row[2]) for row in rows]


def _rows(library: Library) -> dict[str, int]:
    """The number of rows per table, of all accounts together."""
    owned = (*_OWNED, "content", "keyword")
    return {table: library.value(f"SELECT count(*) FROM {table}") for table in owned}  # noqa: S608 - our own names


async def _start_deletion(library: Library) -> None:
    async with opened_library(library.settings) as opened:
        account_id = await AccountStore(opened.database).id_of_email(EMAIL)
        assert account_id
        removal = AccountRemoval(opened.database, account_id)
        await removal.hide()
        await removal.remove_bookmarks(10)


def test_a_deletion_overwrites_the_texts_in_the_database_file(tmp_path: Path) -> None:
    library = sqlite_library(tmp_path / "data")
    library.run("account", "create", EMAIL)
    posts = tmp_path / "posts.jsonl"
    posts.write_text(
        "".join(
            f'{{"post_id": "{n}", "tweet_details": {{"text": "zephyr {n} zenith"}}}}\n'
            for n in range(1, 600)
        )
    )
    library.run("import", EMAIL, posts)
    assert b"zephyr" in _bytes(library)

    library.run("account", "delete", EMAIL, "--yes")

    assert b"zephyr" not in _bytes(library)
    assert b"zenith" not in _bytes(library)


def _bytes(library: Library) -> bytes:
    return b"".join(file.read_bytes() for file in library.folder.rglob("*") if file.is_file())
