"""`bowerbird key` and `bowerbird device`: create, list and revoke; `bowerbird reingest`."""

import pytest

from bowerbird.model.keys import DEVICE_PREFIX, key_hash, parse_key
from tests.cli.libraries import EMAIL, Library
from tests.support.in_turn import in_turn


@pytest.fixture
def library(empty: Library) -> Library:
    empty.run("account", "create", EMAIL)
    return empty


def test_a_new_key_is_the_only_text_on_standard_output(library: Library) -> None:
    with library.start("key", "create", EMAIL, "--name", "laptop") as process:
        out, err = process.communicate()

    parsed = parse_key(out.removesuffix("\n"))
    assert parsed
    assert parsed.account_id == library.value("SELECT account_id FROM person")
    assert err == "Store this key in a safe place. It cannot be shown again.\n"


def test_only_the_hash_of_a_key_is_stored(library: Library) -> None:
    text = _create(library)

    ((row),) = library.sql("SELECT key_hash, key_id, name FROM api_key")

    assert bytes(row[0]) == key_hash(text)
    assert text not in str(row)


def test_the_list_shows_the_start_and_the_last_use_of_a_key(library: Library) -> None:
    text = _create(library)
    assert _listed(library)[0][3:5] == ["never", text[:19]]

    library.sql("UPDATE api_key SET last_used_day = 20652")

    assert _listed(library)[0][3] == "2026-07-18"
    assert text not in library.run("key", "list", EMAIL).out


@pytest.mark.both
@pytest.mark.parametrize("by_text", [True, False])
def test_revokes_a_key_by_its_text_or_its_id(library: Library, *, by_text: bool) -> None:
    text = _create(library)
    key_id = _listed(library)[0][0]
    _create(library)

    ran = library.run("key", "revoke", EMAIL, text if by_text else key_id)

    assert (ran.code, ran.text) == (0, f"Revoked key {key_id}.\n")
    assert [row[1] for row in _listed(library)] == ["revoked", "live"]


def test_a_key_of_another_account_is_neither_revoked_nor_printed(library: Library) -> None:
    library.run("account", "create", "bob@example.com")
    text = library.run("key", "create", "bob@example.com").out.strip()

    ran = library.run("key", "revoke", EMAIL, text)

    assert ran.code == 1
    assert text not in ran.text
    assert library.value("SELECT count(*) FROM api_key WHERE revoked_at IS NULL") == 1


@in_turn("key", ["nope", "", "ключ", "x\udcff"])
def test_an_unknown_key_is_refused_with_one_sentence(library: Library, key: str) -> None:
    _create(library)

    ran = library.run("key", "revoke", EMAIL, key)

    assert ran.code == 1
    assert ran.text == (
        f"Error: Key {key!a} is not an active key of this account. "
        "To list keys, run: bowerbird key list EMAIL"
    )


@in_turn("name", ["x" * 101, "bell\a"])
def test_a_name_that_cannot_be_printed_in_the_list_is_refused(library: Library, name: str) -> None:
    ran = library.run("key", "create", EMAIL, "--name", name)

    assert (ran.code, ran.text) == (
        1,
        "Error: A key name can have at most 100 printable characters.",
    )


def _create(library: Library, *options: str) -> str:
    return library.run("key", "create", EMAIL, *options).out.splitlines()[-1]


def _listed(library: Library) -> list[list[str]]:
    return [line.split("\t") for line in library.run("key", "list", EMAIL).out.splitlines()]


def test_a_new_token_is_printed_once_and_only_its_hash_is_stored(library: Library) -> None:
    token = library.run("device", "create", EMAIL, "--name", "laptop").out.strip()

    assert parse_key(token, DEVICE_PREFIX)
    assert parse_key(token) is None
    [(stored, name)] = library.sql("SELECT token_hash, name FROM device")
    assert (bytes(stored), name) == (key_hash(token), "laptop")


@pytest.mark.both
def test_devices_are_listed_and_revoked(library: Library) -> None:
    token = library.run("device", "create", EMAIL, "--name", "laptop").out.strip()
    library.run("device", "create", EMAIL, "--name", "phone")

    revoked = library.run("device", "revoke", EMAIL, token).out

    rows = [line.split("\t") for line in library.run("device", "list", EMAIL).out.splitlines()]
    states = {row[5]: (row[1], row[3]) for row in rows if len(row) > 5}
    assert states == {"laptop": ("revoked", "never"), "phone": ("live", "never")}
    assert revoked.startswith("Revoked device ")
    again = library.run("device", "revoke", EMAIL, token)
    assert "That device is not an active device of this account." in again.text


def test_reingest_says_what_it_read(library: Library) -> None:
    out = library.run("reingest", EMAIL).out

    assert out == f"{EMAIL}: 0 of 0 kept pages can be read now; 0 new and 0 changed posts.\n"
    assert library.run("reingest").out == ""
