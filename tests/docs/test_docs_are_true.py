"""The documents say what the code does."""

import dataclasses
import re
from pathlib import Path
from urllib.parse import unquote

import pytest

from bowerbird.cli import commands
from bowerbird.cli.spec import generated_files
from bowerbird.errors import CATALOGUE, Code
from bowerbird.settings import PREFIX, BadSetting, Settings

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md"), *(ROOT / "spec").glob("*.md")])
SETTINGS = [PREFIX + field.name.upper() for field in dataclasses.fields(Settings)]
SECRETS = [
    PREFIX + field.name.upper()
    for field in dataclasses.fields(Settings)
    if field.metadata["secret"]
]


def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@pytest.mark.parametrize("path", generated_files())
def test_what_is_made_from_the_code_is_unchanged(path: str) -> None:
    assert text_of(ROOT / path) == generated_files()[path], "run: make generate"


def test_every_code_has_a_meaning() -> None:
    assert set(CATALOGUE) == set(Code)


@pytest.mark.parametrize("code", Code)
def test_every_code_is_documented(code: Code) -> None:
    row = f"| {code} | {CATALOGUE[code].status} | {CATALOGUE[code].when} |"

    assert row in text_of(DOCS / "errors.md")


@pytest.mark.parametrize("name", SETTINGS)
def test_every_setting_is_documented(name: str) -> None:
    assert f"| `{name}`" in text_of(DOCS / "settings.md")


@pytest.mark.parametrize("name", SECRETS)
def test_every_secret_says_that_it_may_come_from_a_file(name: str) -> None:
    assert f"`{name}_FILE`" in text_of(DOCS / "settings.md")


def test_a_misspelt_setting_stops_the_start() -> None:
    with pytest.raises(BadSetting, match="BOWERBIRD_DATABSE_URL is not a setting"):
        Settings.from_env({"BOWERBIRD_DATABSE_URL": "x"})


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_setting_that_a_page_names_exists(page: Path) -> None:
    named = set(re.findall(rf"\b{PREFIX}[A-Z_]+[A-Z]\b", text_of(page)))
    # A page may show what the program says of a misspelt one.
    misspelt = set(re.findall(rf"({PREFIX}\w+) is not a setting", text_of(page)))
    known = {*SETTINGS, *(f"{name}_FILE" for name in SECRETS)}

    assert named - known == misspelt


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_command_that_a_page_names_exists(page: Path) -> None:
    shown = re.findall(r"^(?:\$ |    )?bowerbird ([a-z][a-z-]*)", text_of(page), re.MULTILINE)
    quoted = re.findall(r"`bowerbird ([a-z][a-z-]*)", text_of(page))

    assert {*shown, *quoted} - commands.commands.keys() == set()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\(([^)\s]+)\)", text_of(page))
    local = [unquote(target.split("#")[0]) for target in targets if "://" not in target]

    assert [target for target in local if target and not (page.parent / target).exists()] == []


def words_of_commands() -> list[list[str]]:
    found: list[list[str]] = []
    for name, command in commands.commands.items():
        children = getattr(command, "commands", None)
        found += [[name, child] for child in children] if children else [[name]]
    return found


@pytest.mark.parametrize("words", words_of_commands(), ids=" ".join)
def test_every_command_has_an_example_in_its_help(words: list[str]) -> None:
    command = commands.commands[words[0]]
    for word in words[1:]:
        command = command.commands[word]  # type: ignore[attr-defined] # a group, as its children say

    assert command.help
    assert "Example:" in command.help
    assert f"bowerbird {' '.join(words)}" in command.help
