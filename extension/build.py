"""Packs the extension, one zip per browser: for the stores, and for the page /connect of a service.

`make extension`, `make serve` and `make wheel` run it. It removes what it packed before.
The same files give the same zips: names are sorted, and times and permissions are fixed.
"""

import argparse
import json
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

SOURCE: Final = Path(__file__).parent
# For the type checker, and this script.
_LEFT_OUT: Final = frozenset({"build.py", "types.d.ts", "manifest.json"})
_SUFFIXES: Final = frozenset({".css", ".html", ".js", ".png"})
_FIRST_TIME_OF_ZIP: Final = (1980, 1, 1, 0, 0, 0)
_READABLE: Final = 0o100644 << 16
BROWSERS: Final = ("chromium", "firefox")


def manifest(browser: str, firefox_id: str = "") -> dict[str, Any]:
    """The manifest for one store: the keys of the other browser cause warnings there.

    Who signs the extension for Firefox needs an id under a domain of their own.
    """
    common: dict[str, Any] = json.loads((SOURCE / "manifest.json").read_text(encoding="utf-8"))
    if browser == "chromium":
        del common["background"]["scripts"], common["browser_specific_settings"]
    else:
        del common["background"]["service_worker"], common["minimum_chrome_version"]
        if firefox_id:
            common["browser_specific_settings"]["gecko"]["id"] = firefox_id
    return common


def files() -> Iterator[tuple[str, bytes]]:
    """What is packed besides the manifest, by its name in the zip."""
    for path in sorted(SOURCE.rglob("*")):
        name = path.relative_to(SOURCE).as_posix()
        if path.is_file() and path.suffix in _SUFFIXES and name not in _LEFT_OUT:
            yield name, path.read_bytes()


def build(folder: Path, firefox_id: str = "") -> list[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("bowerbird-*.zip"):
        old.unlink()
    version = manifest("chromium")["version"]
    return [_pack(folder, version, browser, manifest(browser, firefox_id)) for browser in BROWSERS]


def _pack(folder: Path, version: str, browser: str, wanted: dict[str, Any]) -> Path:
    target = folder / f"bowerbird-{browser}-{version}.zip"
    declared = json.dumps(wanted, indent=2).encode() + b"\n"
    with zipfile.ZipFile(target, "w") as packed:
        for name, content in [("manifest.json", declared), *files()]:
            entry = zipfile.ZipInfo(name, _FIRST_TIME_OF_ZIP)
            entry.external_attr = _READABLE
            # Otherwise the system that packs is recorded.
            entry.create_system = 3
            packed.writestr(entry, content, zipfile.ZIP_DEFLATED, compresslevel=9)
    return target


def main() -> int:
    parser = argparse.ArgumentParser(description="Pack the extension for the stores.")
    parser.add_argument("folder", nargs="?", type=Path, default=Path("dist"), help="default: dist")
    parser.add_argument("--firefox-id", default="", help="such as extension@your-domain.org")
    given = parser.parse_args()
    for path in build(given.folder, given.firefox_id):
        print(f"{path} ({path.stat().st_size:,} bytes)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
