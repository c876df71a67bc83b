"""`bowerbird device create`, `list` and `revoke`, and `bowerbird reingest`."""

import pytest

from bowerbird.model.keys import DEVICE_PREFIX, key_hash, parse_key
from tests.cli.libraries import EMAIL, Library

pytestmark = pytest.mark.both


@pytest.fixture
def library(empty: Library) -> Library:
    empty.run("account", "create", EMAIL)
    return empty


def test_a_new_token_is_printed_once_and_only_its_hash_is_stored(library: Library) -> None:
    token = library.run("device", "create", EMAIL, "--name", "laptop").out.strip()

    assert parse_key(token, DEVICE_PREFIX)
    assert parse_key(token) is None
    [(stored, name)] = library.sql("SELECT token_hash, name FROM device")
    assert (bytes(stored), name) == (key_hash(token), "laptop")


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
