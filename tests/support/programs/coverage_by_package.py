"""Prints the test coverage of each package, lines and branches together.

Run as `python -m tests.support.programs.coverage_by_package` after `coverage combine`; `make test`
does so when CI is set.
"""

import json
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any, Final

from coverage import Coverage

_PARTS: Final = ("num_statements", "covered_lines", "num_branches", "covered_branches")


def package_of(file: str) -> str:
    """`library` for src/bowerbird/library/x.py, `bowerbird` for src/bowerbird/x.py."""
    parts = Path(file).parts
    inside = parts[parts.index("src") + 1 :]
    return inside[1] if inside[0] == "bowerbird" and len(inside) > 2 else inside[0]


def percent(counts: Counter[str]) -> float:
    whole = counts["num_statements"] + counts["num_branches"]
    return 100 * (counts["covered_lines"] + counts["covered_branches"]) / whole if whole else 100.0


def measured() -> dict[str, Any]:
    coverage = Coverage()
    coverage.load()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "coverage.json"
        coverage.json_report(outfile=str(file))
        found: dict[str, Any] = json.loads(file.read_bytes())
    return found


def main() -> None:
    packages: dict[str, Counter[str]] = {}
    for file, of_file in measured()["files"].items():
        counts = packages.setdefault(package_of(file), Counter())
        counts.update({part: of_file["summary"][part] for part in _PARTS})
    for name, counts in sorted(packages.items()):
        print(f"{name:16}{counts['num_statements']:7} statements{percent(counts):7.1f} %")  # noqa: T201 - its purpose


if __name__ == "__main__":
    main()
