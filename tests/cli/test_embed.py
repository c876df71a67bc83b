"""`bowerbird embed`: builds an account's vectors by hand."""

import pytest

from tests.cli.libraries import EMAIL, Library
from tests.support.models import MODEL_DIR


@pytest.fixture
def library(empty: Library) -> Library:
    filled = Library({**empty.environment, "BOWERBIRD_MODEL_DIR": MODEL_DIR})
    filled.fill(7)
    return filled


def test_embeds_what_lacks_a_vector_and_no_more(library: Library) -> None:
    assert library.run("embed", EMAIL).out == f"Embedded 7 posts; {EMAIL} has 7.\n"
    assert library.run("embed", EMAIL).out == f"Embedded 0 posts; {EMAIL} has 7.\n"

    library.fill(2, first=100)

    assert library.run("embed", EMAIL).out == f"Embedded 2 posts; {EMAIL} has 9.\n"
    assert library.value("SELECT count(*) FROM vector") == 9
    assert library.run("check", "--deep").out == "Everything is as it must be.\n"


def test_a_free_account_is_told_how_to_change_that(library: Library) -> None:
    library.run("account", "plan", EMAIL, "free")

    ran = library.run("embed", EMAIL)

    assert ran.code == 1
    assert f"bowerbird account plan {EMAIL} pro" in ran.text


def test_nobody_is_told_so(library: Library) -> None:
    assert "No account has the address" in library.run("embed", "nobody@example.com").text


def test_without_a_model_it_says_how_to_get_one(library: Library) -> None:
    none = Library({**library.environment, "BOWERBIRD_MODEL_DIR": str(library.folder / "none")})

    ran = none.run("embed", EMAIL)

    assert ran.code == 1
    assert "make model" in ran.text


def test_deleting_the_account_leaves_no_vector(library: Library) -> None:
    library.run("embed", EMAIL)

    assert library.run("account", "delete", EMAIL, "--yes").code == 0

    assert library.value("SELECT count(*) FROM vector") == 0
    assert library.value("SELECT count(*) FROM vector_store") == 0
