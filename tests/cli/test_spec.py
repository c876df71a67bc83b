"""`bowerbird spec` writes only into a checkout of the project."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from bowerbird.cli import program

OURS = '[project]\nname = "bowerbird"\n'


@pytest.mark.parametrize(
    ("described", "has_folder"),
    [
        (None, True),
        (OURS, False),
        ('[project]\nname = "another"\n', True),
        ("project = 1\n", True),
        ("[project\n", True),
        ("\udcff", True),
    ],
)
@pytest.mark.parametrize("option", ["--write", "--check", "--publish"])
def test_a_folder_that_is_not_the_project_is_left_alone(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    option: str,
    described: str | None,
    *,
    has_folder: bool,
) -> None:
    monkeypatch.chdir(tmp_path)
    if described is not None:
        (tmp_path / "pyproject.toml").write_text(described, "utf-8", errors="surrogateescape")
    if has_folder:
        (tmp_path / "spec").mkdir()
    before = sorted(tmp_path.rglob("*"))

    ran = CliRunner().invoke(program, ["spec", option])

    assert ran.exit_code == 1
    assert ran.output == (
        f"Error: {tmp_path} is not a checkout of bowerbird (a folder with its pyproject.toml and "
        "spec/). Change to one, or run bowerbird spec without an option to print the document.\n"
    )
    assert sorted(tmp_path.rglob("*")) == before


def test_the_files_of_a_checkout_are_written_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text(OURS, encoding="utf-8")
    (tmp_path / "spec").mkdir()

    first = CliRunner().invoke(program, ["spec", "--write"])
    second = CliRunner().invoke(program, ["spec", "--write"])

    assert first.exit_code == second.exit_code == 0
    assert "wrote spec/openapi.json\n" in first.output
    assert second.output == ""
    assert CliRunner().invoke(program, ["spec", "--check"]).exit_code == 0


def test_the_document_is_printed_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    ran = CliRunner().invoke(program, ["spec"])

    assert json.loads(ran.stdout)["openapi"].startswith("3.")
    assert list(tmp_path.iterdir()) == []
