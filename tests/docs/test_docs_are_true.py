"""The documents match the code."""

import dataclasses
import re
from pathlib import Path
from urllib.parse import unquote

import pytest

from bowerbird.cli import program
from bowerbird.cli.commands.spec import generated_files
from bowerbird.errors import CATALOGUE, Code
from bowerbird.settings import PREFIX, BadSetting, Settings
from tests.support.offenders import Offenders

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
COMMANDS = program.load_all()
PAGES = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md"), *(ROOT / "spec").glob("*.md")])
NOTES = sorted((ROOT / "benchmarks").rglob("*.md"))
SETTINGS = [PREFIX + field.name.upper() for field in dataclasses.fields(Settings)]
SECRETS = [
    PREFIX + field.name.upper()
    for field in dataclasses.fields(Settings)
    if field.metadata["secret"]
]


def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def test_generated_files_are_up_to_date() -> None:
    offenders = Offenders()
    for path, generated in generated_files().items():
        with offenders.check(path):
            assert text_of(ROOT / path) == generated

    assert offenders == {}, "run: make generate"


def test_every_code_has_a_meaning() -> None:
    assert set(CATALOGUE) == set(Code)


def test_every_code_is_documented() -> None:
    page = text_of(DOCS / "errors.md")
    rows = {
        code: f"| {code} | {CATALOGUE[code].status} | {CATALOGUE[code].when} |" for code in Code
    }

    assert [code for code, row in rows.items() if row not in page] == []


def test_every_setting_is_documented() -> None:
    page = text_of(DOCS / "settings.md")

    assert [name for name in SETTINGS if f"| `{name}`" not in page] == []


def test_every_secret_is_documented_with_its_file_variable() -> None:
    page = text_of(DOCS / "settings.md")

    assert [name for name in SECRETS if f"`{name}_FILE`" not in page] == []


def test_a_misspelt_setting_prevents_the_start() -> None:
    with pytest.raises(BadSetting, match="BOWERBIRD_DATABSE_URL is not a setting"):
        Settings.from_env({"BOWERBIRD_DATABSE_URL": "x"})


def test_every_setting_that_a_page_names_exists() -> None:
    known = {*SETTINGS, *(f"{name}_FILE" for name in SECRETS)}
    offenders = {}
    for page in PAGES:
        named = set(re.findall(rf"\b{PREFIX}[A-Z_]+[A-Z]\b", text_of(page)))
        # A page may quote the error message for a misspelt setting.
        misspelt = set(re.findall(rf"({PREFIX}\w+) is not a setting", text_of(page)))
        if wrong := (named - known) ^ misspelt:
            offenders[name_of(page)] = wrong

    assert offenders == {}


def test_every_command_that_a_page_names_exists() -> None:
    unknown = {}
    for page in PAGES:
        shown = re.findall(r"^(?:\$ |    )?bowerbird ([a-z][a-z-]*)", text_of(page), re.MULTILINE)
        quoted = re.findall(r"`bowerbird ([a-z][a-z-]*)", text_of(page))
        if wrong := {*shown, *quoted} - COMMANDS.keys():
            unknown[name_of(page)] = wrong

    assert unknown == {}


def test_every_link_has_a_target() -> None:
    targets = [
        (page, unquote(target.split("#")[0]))
        for page in [*PAGES, *NOTES]
        for target in re.findall(r"\]\(([^)\s]+)\)", text_of(page))
        if "://" not in target
    ]
    dead = [
        (name_of(page), target)
        for page, target in targets
        if target and not (page.parent / target).exists()
    ]

    assert dead == []


def words_of_commands() -> list[list[str]]:
    found: list[list[str]] = []
    for name, command in COMMANDS.items():
        children = getattr(command, "commands", None)
        found += [[name, child] for child in children] if children else [[name]]
    return found


def test_every_command_has_an_example_in_its_help() -> None:
    offenders = Offenders()
    for words in words_of_commands():
        command = COMMANDS[words[0]]
        for word in words[1:]:
            command = command.commands[word]  # type: ignore[attr-defined] # a group, because it has children
        with offenders.check(" ".join(words)):
            assert command.help
            assert "Example:" in command.help
            assert f"bowerbird {' '.join(words)}" in command.help

    assert offenders == {}
