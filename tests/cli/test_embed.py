"""`bowerbird embed`."""

import pytest

from tests.cli.libraries import EMAIL, Library
from tests.support.models import MODEL_DIR


@pytest.fixture
def library(empty: Library) -> Library:
    filled = Library({**empty.environment, "BOWERBIRD_MODEL_DIR": MODEL_DIR})
    filled.fill(7)
    return filled


@pytest.mark.both
def test_embeds_only_posts_without_a_vector(library: Library) -> None:
    assert library.run("embed", EMAIL).out == f"Embedded 7 posts; {EMAIL} has 7.\n"
    assert library.run("embed", EMAIL).out == f"Embedded 0 posts; {EMAIL} has 7.\n"

    library.fill(2, first=100)

    assert library.run("embed", EMAIL).out == f"Embedded 2 posts; {EMAIL} has 9.\n"
    assert library.value("SELECT count(*) FROM vector") == 9
    assert library.run("check", "--deep").out == "No problems found.\n"


def test_a_free_account_is_refused_with_the_command_that_changes_its_plan(library: Library) -> None:
    library.run("account", "plan", EMAIL, "free")

    ran = library.run("embed", EMAIL)

    assert ran.code == 1
    assert f"bowerbird account plan {EMAIL} pro" in ran.text


def test_a_missing_model_is_reported_with_the_command_that_builds_it(library: Library) -> None:
    modelless = Library(
        {**library.environment, "BOWERBIRD_MODEL_DIR": str(library.folder / "none")}
    )

    ran = modelless.run("embed", EMAIL)

    assert ran.code == 1
    assert "bowerbird model" in ran.text
