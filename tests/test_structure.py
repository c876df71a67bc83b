"""Files stay short and say what they hold. There is no list of exceptions, and none may start."""

import ast
import re
import subprocess
from graphlib import TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parents[1]
MOST_LINES = 600
# Names that say nothing, so that anything ends up behind them.
DRAWERS = {
    *("util", "utils", "helper", "helpers", "common", "misc", "base"),
    *("manager", "managers", "service", "services", "lib", "shared"),
}
IMPORTED = re.compile(r"^ *from (bowerbird[\w.]*) import (\([^)]*\)|.*)", re.MULTILINE)
WRITTEN_BY_HAND = {".py", ".sql", ".html", ".css", ".js", ".lua", ".sh"}


def files() -> list[Path]:
    """Everything that is or would be committed."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    found = {Path(name) for name in listed.split("\0") if name}
    return sorted(path for path in found if (ROOT / path).is_file())


FILES = files()
MODULES = [
    path for path in FILES if path.parts[:2] == ("src", "bowerbird") and path.suffix == ".py"
]


def lines(path: Path) -> int:
    return len((ROOT / path).read_text(encoding="utf-8").splitlines())


def test_files_are_short() -> None:
    too_long = {
        str(path): count
        for path in FILES
        if path.suffix in WRITTEN_BY_HAND and (count := lines(path)) > MOST_LINES
    }

    assert too_long == {}


def test_no_module_is_a_drawer() -> None:
    drawers = [
        str(path) for path in MODULES if DRAWERS & {path.stem, *(part for part in path.parts[2:-1])}
    ]

    assert drawers == []


def test_every_module_opens_with_its_purpose() -> None:
    silent = [
        str(path)
        for path in MODULES
        if not ast.get_docstring(ast.parse((ROOT / path).read_text(encoding="utf-8")))
    ]

    assert silent == [], "say in a sentence or two what the module is for"


def test_no_modules_import_each_other_even_late_or_for_types() -> None:
    dotted = {path: ".".join(path.with_suffix("").parts[1:]) for path in MODULES}
    names = {path: name.removesuffix(".__init__") for path, name in dotted.items()}
    modules = set(names.values())
    imports: dict[str, set[str]] = {}
    for path, name in names.items():
        imports[name] = set()
        text = re.sub("#.*", "", (ROOT / path).read_text(encoding="utf-8"))
        for origin, words in IMPORTED.findall(text):
            found = {f"{origin}.{word}" for word in re.findall(r"\w+", words)}
            imports[name] |= (found & modules) | ({origin} if found - modules else set()) - {name}

    # Its error names the modules of a circle.
    TopologicalSorter(imports).prepare()


def test_every_statement_file_is_in_the_package() -> None:
    declared = (ROOT / "pyproject.toml").read_text(encoding="utf-8")

    assert '"sql/*/*.sql", "migrations/*/*.sql"' in declared
    depths = {
        path.relative_to("src/bowerbird/storage").parts[0]: len(path.parts)
        for path in FILES
        # The operator of a cluster runs the other one with psql.
        if path.suffix == ".sql" and path != Path("deploy/citus.sql")
    }
    assert depths.keys() == {"sql", "migrations"}
    assert max(depths.values()) <= 6


def test_no_caller_can_forget_a_transaction() -> None:
    texts = {path: (ROOT / path).read_text(encoding="utf-8") for path in MODULES}
    optional = [
        f"{path}:{node.lineno}"
        for path, text in texts.items()
        # Parsing every module takes seconds, and few have the word.
        if "Transaction" in text
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.arg)
        and node.annotation
        and "Transaction | None" in ast.unparse(node.annotation)
    ]

    assert optional == [], "write two functions instead: one reads within the transaction"
