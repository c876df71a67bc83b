"""What the documents say is what the code does."""

import dataclasses
import importlib
import re
import subprocess
import tomllib
from dataclasses import fields
from pathlib import Path
from typing import Final
from urllib.parse import unquote

import pytest

from bowerbird import __version__
from bowerbird.cli import program
from bowerbird.cli.commands.spec import generated_files
from bowerbird.connections import networks
from bowerbird.errors import CATALOGUE, Code
from bowerbird.library.connections import connections
from bowerbird.model.connections import Network, Problem
from bowerbird.requests import limits
from bowerbird.search.queries import query_fields
from bowerbird.settings import PREFIX, BadSetting, Settings
from bowerbird.storage.migrations import available
from tests.support.engines import external_postgres
from tests.support.offenders import Offenders

ROOT = Path(__file__).parents[2]

DOCS = ROOT / "docs"

COMMANDS = program.load_all()

PAGES = sorted(
    [*ROOT.glob("*.md"), *DOCS.rglob("*.md"), *ROOT.glob("spec/*.md"), *ROOT.glob("deploy/*.md")]
)

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


def test_every_example_and_every_name_of_a_field_of_the_search_is_documented() -> None:
    page = text_of(DOCS / "api.md")
    written = [code for code, _ in query_fields.EXAMPLES]
    written += [f"{name}:" for name in query_fields.NAMES]

    assert [code for code in written if f"`{code}" not in page] == []


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
    known = {*SETTINGS, *(f"{name}_FILE" for name in SECRETS), external_postgres.VARIABLE}
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


UPGRADING = (ROOT / "docs" / "upgrading.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("dialect", ["sqlite", "postgres"])
def test_every_migration_that_matters_for_an_upgrade_is_listed(dialect: str) -> None:
    rows = re.findall(
        r"^\| `(\d{4}_\w+)` \| (yes|no)\b[^|]* \| ([^|]+\.) \|", UPGRADING, re.MULTILINE
    )
    if dialect == "sqlite":
        rows = [row for row in rows if not row[2].startswith("PostgreSQL only: ")]
    steps = available(dialect)
    expected = [
        (step.name.removesuffix(".sql"), "yes" if step.is_compatible else "no") for step in steps
    ][-len(rows) :]

    assert [(name, is_compatible) for name, is_compatible, _ in rows] == expected
    assert all(step.is_compatible or f"`{step.name[:-4]}`" in UPGRADING for step in steps)


def test_every_version_is_an_entry_of_the_changelog_with_a_date() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    entries = re.findall(r"^## (.+)$", changelog, re.MULTILINE)

    dated = [re.fullmatch(r"\[(\d+)\.(\d+)\.(\d+)\] - (\d{4}-\d\d-\d\d)", one) for one in entries]
    assert None not in dated
    versions = [tuple(map(int, one.groups()[:3])) for one in dated if one]
    assert versions == sorted(set(versions), reverse=True)
    assert entries[0].startswith(f"[{__version__}] ")
    assert versions[-1] == (0, 2, 0)


# In the name of the file, in the title, and in the column of a table.
COMMIT = re.compile(r"(?:commit |from |to |`|\| )([0-9a-f]{7,8}(?:-changed)?)\b")


def test_every_result_names_commits_of_the_history() -> None:
    known = run("rev-list", "HEAD").split()
    assert run("rev-parse", "--is-shallow-repository") == "false", "run: git fetch --unshallow"
    abbreviated = {commit[:length] for commit in known for length in (7, 8)}
    results = [*ROOT.glob("benchmarks/results/*.md"), *ROOT.glob("endurance/results/*.md")]
    offenders = Offenders()

    for result in results:
        of_name = re.fullmatch(r"\d{4}-\d\d-\d\d-([0-9a-f]+)(?:-[a-z-]+)?", result.stem)
        named = {of_name[1] if of_name else result.stem, *COMMIT.findall(result.read_text())}
        with offenders.check(result.name):
            assert named <= abbreviated

    assert offenders == {}
    assert len(results) > 5


def run(*arguments: str) -> str:
    ran = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
    return ran.stdout.strip()


_DOCUMENT: Final = ROOT / "docs" / "sources.md"

_SERVERS: Final = {
    Network.MASTODON: "https://mastodon.example",
    Network.BLUESKY: networks.BLUESKY_SERVER,
    Network.X: "https://api.x.com",
}

# Those whose sentence depends on the network. The other rows have Mastodon.
_OWN: Final = {(Network.BLUESKY, Problem.FORBIDDEN), (Network.X, Problem.FORBIDDEN)}


def quoted() -> list[str]:
    text = _DOCUMENT.read_text(encoding="utf-8")
    table = text.partition("| The page says |")[2].partition("\n\n")[0]
    return re.findall(r"^\| ([^|]+) \|", table, re.MULTILINE)[1:]


def test_each_sentence_is_quoted_once() -> None:
    shown = [
        connections.of_problem(network, problem, _SERVERS[network])
        for problem in Problem
        for network in Network
        if problem is not Problem.NONE
        and (network is Network.MASTODON or (network, problem) in _OWN)
    ]

    assert sorted(quoted()) == sorted(shown)


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


PAGE_SECURITY = (Path(__file__).parents[2] / "SECURITY.md").read_text(encoding="utf-8")

ROWS = re.findall(r"^\| (.+?) \| ([\d,]+) ?(\S*) \| `(.+?)` \| .+ \|$", PAGE_SECURITY, re.MULTILINE)

UNITS = {
    "": 1,
    "seconds": 1,
    "levels": 1,
    "tokens": 1,
    "KiB": 1 << 10,
    "MiB": 1 << 20,
    "MB": 10**6,
    "GB": 10**9,
}

# Bounds of single values, which the OpenAPI document states at their fields.
OF_FIELDS = {
    "PAGE_DEFAULT",
    # Stated in the row of REMOVALS_MAX.
    "REMOVALS_MAX_PERCENT",
    "BUCKETS_MAX",
    "CURSOR_MAX",
    "LABEL_ID_MAX",
    "LABEL_METADATA_MAX",
    "LABEL_NAME_MAX",
    "MAX_DEPTH",
    "MAX_NAME_CHARACTERS",
    "MAX_VALUES",
    # Entered on a page.
    "INVITATION_NOTE_MAX",
    "PASSKEY_NAME_MAX",
    "SENT_SLUG_MAX",
    "SHARE_NAME_MAX",
    "SHARE_TITLE_MAX",
    "SLUG_MAX",
    "TEXT_MAX",
    "TOOL_FULL_POSTS_MAX",
    "TOOL_POST_IDS_MAX",
    "VIEW_NAME_MAX",
}


def _actual(place: str) -> object:
    if place.startswith(PREFIX):
        return getattr(Settings(), place.removeprefix(PREFIX).lower())
    module, _, name = place.rpartition(".")
    return getattr(importlib.import_module(f"bowerbird.{module}"), name)


@pytest.mark.parametrize(("what", "number", "unit", "place"), ROWS, ids=[row[3] for row in ROWS])
def test_a_stated_bound_is_the_one_in_force(what: str, number: str, unit: str, place: str) -> None:
    factor = UNITS[unit]
    if place.endswith("_MB"):
        factor = 1
    assert int(number.replace(",", "")) * factor == _actual(place), what


def test_every_row_of_the_table_is_checked() -> None:
    table = PAGE_SECURITY.split("## What is bounded")[1].split("\n## ")[0]

    assert len(ROWS) == len(re.findall(r"^\| ", table, re.MULTILINE)) - 2


def test_every_bound_on_requests_is_stated() -> None:
    stated = {place.rpartition(".")[2] for *_, place in ROWS}

    assert {name for name in vars(limits) if name.isupper()} - OF_FIELDS - stated == set()


def test_every_setting_that_bounds_something_is_stated() -> None:
    stated = {place for *_, place in ROWS}
    bounding = re.compile(r"max_|_timeout_s$|_mb$|_per_month$|_connections$")
    names = {
        PREFIX + field.name.upper() for field in fields(Settings) if bounding.search(field.name)
    }

    # How long a stop waits is no bound on what somebody may use.
    assert names - stated == {"BOWERBIRD_STOP_TIMEOUT_S"}
