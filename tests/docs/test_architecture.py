"""docs/architecture.md names modules, layers and tables that exist; docs/adr has an index."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "bowerbird"
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"][
    "importlinter"
]["contracts"]


def lines_of(contract: dict[str, list[str]]) -> list[list[str]]:
    """The layers from top to bottom; parentheses only mark a layer as optional."""
    return [re.findall(r"\w+", line) for line in contract["layers"]]


def test_every_module_exists() -> None:
    named = set(re.findall(r"`([\w/]+\.py)`", PAGE))

    assert len(named) > 20
    assert [name for name in named if not any((r / name).exists() for r in (SOURCE, ROOT))] == []


def test_the_layers_are_those_of_the_contract() -> None:
    [drawing] = re.findall(r"```\n(.*?)```", PAGE, re.DOTALL)
    drawn = [line.split("  ")[0].strip() for line in drawing.splitlines()]

    assert [re.findall(r"\w+", line) for line in drawn if line] == lines_of(CONTRACTS[0])


@pytest.mark.parametrize("contract", CONTRACTS[1:], ids=lambda contract: contract["containers"][0])
def test_the_packages_of_a_layer_are_those_of_its_contract(contract: dict[str, list[str]]) -> None:
    layer = contract["containers"][0].rpartition(".")[2]
    [table] = re.findall(rf"\| `{layer}` \| Content \|\n\| --- \| --- \|\n((?:\|.*\n)+)", PAGE)
    first_cells = [line.partition(" | ")[0] for line in table.splitlines()]

    assert [re.findall(r"\w+", cell) for cell in first_cells] == lines_of(contract)


def test_every_table_is_described() -> None:
    statements = "".join(
        file.read_text(encoding="utf-8") for file in SOURCE.glob("storage/migrations/*/*.sql")
    )
    tables = set(re.findall(r"CREATE (?:VIRTUAL )?TABLE (\w+)", statements))
    section = PAGE.partition("## Tables")[2].partition("\n\n`person`")[0]
    first_cells = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]

    described = {name for cell in first_cells for name in re.findall(r"`(\w+)`", cell)}

    assert described == {*tables, "schema_migration"}


def test_every_decision_record_is_listed() -> None:
    folder = ROOT / "docs" / "adr"
    records = sorted(path.name for path in folder.glob("[0-9]*.md"))
    index = (folder / "README.md").read_text(encoding="utf-8")

    assert re.findall(r"^- \[\d{4}\]\((.+?)\) .+\?$", index, re.MULTILINE) == records
