"""The packed extension: what it may do, what it contains, and that it is always the same."""

import json
import re
import subprocess
import sys
import zipfile
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from extension import build

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "extension"
SCRIPTS = sorted(FOLDER.rglob("*.js"))
X = ["https://x.com/*", "https://twitter.com/*"]


def manifest() -> dict[str, Any]:
    read: dict[str, Any] = json.loads((FOLDER / "manifest.json").read_text(encoding="utf-8"))
    return read


def code(script: Path) -> str:
    """A script without its comments, which have types and reasons."""
    text = re.sub(r"/\*.*?\*/", "", script.read_text(encoding="utf-8"), flags=re.DOTALL)
    return re.sub(r"^\s*//.*$", "", text, flags=re.MULTILINE)


def declared_files(declared: dict[str, Any]) -> set[str]:
    """Every file that a manifest names."""
    named = {script for part in declared["content_scripts"] for script in part["js"]}
    named |= set(declared["icons"].values()) | set(declared["action"]["default_icon"].values())
    named |= {declared["action"]["default_popup"]}
    background = declared["background"]
    return (
        named
        | {background[key] for key in ("service_worker",) if key in background}
        | set(background.get("scripts", []))
    )


class _Linked(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.files: list[str] = []
        self.inline = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        address = given.get("src") or (given.get("href") if tag == "link" else None)
        if address:
            self.files.append(address)
        self.inline += tag == "style" or (tag == "script" and "src" not in given)
        self.inline += sum(name == "style" or name.startswith("on") for name in given)


def test_the_extension_asks_for_no_more_than_it_needs() -> None:
    declared = manifest()

    assert declared["permissions"] == ["storage", "alarms", "contextMenus", "activeTab"]
    assert declared["host_permissions"] == X
    assert declared["optional_host_permissions"] == ["https://*/*", "http://*/*"]
    assert all(part["matches"] == X for part in declared["content_scripts"])
    assert not {"web_accessible_resources", "externally_connectable"} & declared.keys()


def test_firefox_is_told_which_data_leaves_the_browser() -> None:
    settings = manifest()["browser_specific_settings"]
    gecko = settings["gecko"]

    # From this version on, Firefox for Android asks about the data, too.
    assert settings["gecko_android"] == {"strict_min_version": "142.0"}
    assert gecko["data_collection_permissions"] == {
        # The code and the token; the number of the X account; bookmarks that are added or removed.
        "required": [
            "authenticationInfo",
            "personallyIdentifyingInfo",
            "websiteActivity",
            "websiteContent",
        ],
        # Opened posts that are not bookmarks, which is off until the person turns it on.
        "optional": ["browsingActivity"],
    }
    assert gecko["strict_min_version"] == "140.0"
    assert "@" in gecko["id"]


def test_only_the_hook_runs_in_the_world_of_the_page() -> None:
    [in_page] = [part for part in manifest()["content_scripts"] if part.get("world") == "MAIN"]

    assert in_page["js"] == ["capture/hook.js"]
    assert in_page["run_at"] == "document_start"


def test_the_hook_and_the_other_parts_name_the_same_operations_of_x() -> None:
    names = r"(?:Bookmark|CreateB|DeleteB|Tweet)\w+"

    found = set(re.findall(names, code(FOLDER / "capture" / "hook.js")))
    assert found == set(re.findall(names, code(FOLDER / "shared" / "x.js")))
    assert len(found) == 8


def test_each_store_gets_a_manifest_of_its_own() -> None:
    chromium, firefox = build.manifest("chromium"), build.manifest("firefox")

    assert chromium["background"].keys() == {"service_worker", "type"}
    assert firefox["background"].keys() == {"scripts", "type"}
    assert "browser_specific_settings" not in chromium
    assert "minimum_chrome_version" not in firefox
    assert chromium["content_scripts"] == firefox["content_scripts"]
    signed = build.manifest("firefox", "extension@birds.test")["browser_specific_settings"]
    assert signed["gecko"]["id"] == "extension@birds.test"


def test_the_zips_are_small_and_always_the_same(tmp_path: Path) -> None:
    first = build.build(tmp_path / "first")
    for path in FOLDER.rglob("*.js"):
        path.touch()
    subprocess.run(
        [sys.executable, FOLDER / "build.py", tmp_path / "second"], check=True, capture_output=True
    )

    assert [path.name for path in first] == sorted(p.name for p in (tmp_path / "second").iterdir())
    for path in first:
        assert path.read_bytes() == (tmp_path / "second" / path.name).read_bytes()
        assert path.stat().st_size < 100_000


def test_the_script_that_packs_explains_itself_and_creates_nothing(tmp_path: Path) -> None:
    asked = [sys.executable, str(FOLDER / "build.py"), "--help"]
    shown = subprocess.run(asked, check=True, capture_output=True, text=True, cwd=tmp_path)

    assert "folder" in shown.stdout
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("browser", build.BROWSERS)
def test_every_file_that_is_named_is_packed(tmp_path: Path, browser: str) -> None:
    [path] = [path for path in build.build(tmp_path) if browser in path.name]
    with zipfile.ZipFile(path) as packed:
        names = set(packed.namelist())
        declared = json.loads(packed.read("manifest.json"))

    assert declared_files(declared) <= names
    assert not {name for name in names if name.endswith((".py", ".ts"))}


@pytest.mark.parametrize("page", sorted(FOLDER.rglob("*.html")), ids=lambda page: page.name)
def test_pages_load_only_files_of_the_extension(page: Path) -> None:
    linked = _Linked()
    linked.feed(page.read_text(encoding="utf-8"))

    assert linked.files
    assert [name for name in linked.files if not (page.parent / name).is_file()] == []
    assert linked.inline == 0


def test_modules_import_only_files_of_the_extension() -> None:
    missing = [
        f"{script.relative_to(FOLDER)}: {name}"
        for script in SCRIPTS
        for name in re.findall(r'^import .*?"([^"]+)";', script.read_text("utf-8"), re.MULTILINE)
        if not (script.parent / name).is_file()
    ]

    assert missing == []


# Each would let a text of a page or of a server become code or markup, or load code from elsewhere.
FORBIDDEN = (
    r"\beval\(",
    r"\bnew Function\b",
    r"\.(inner|outer)HTML\b",
    r"insertAdjacentHTML",
    r"document\.write",
    r"\bimport\(",
    r"importScripts",
    r"setTimeout\(\s*[\"'`]",
    r"executeScript",
)
# The names of what signs a person in to X.
SECRETS = (
    r"document\.cookie",
    r"chrome\.cookies",
    r"csrf",
    r"\bct0\b",
    r"twid",
    r"setRequestHeader",
)


@pytest.mark.parametrize("pattern", FORBIDDEN + SECRETS)
def test_no_script_runs_foreign_code_or_reads_secrets_of_x(pattern: str) -> None:
    assert SCRIPTS
    found = [
        str(script.relative_to(FOLDER))
        for script in SCRIPTS
        if re.search(pattern, code(script), re.IGNORECASE)
    ]

    assert found == []


def test_only_one_module_uses_the_network_and_only_for_the_library() -> None:
    called = re.compile(
        r"(?<![.\w])fetch\(|new XMLHttpRequest|new WebSocket|sendBeacon|EventSource"
    )
    using = [
        str(script.relative_to(FOLDER))
        for script in SCRIPTS
        # The hook wraps the page's own function, and has one of the same name.
        if script.name != "hook.js" and called.search(code(script))
    ]

    assert using == ["background/server.js"]


def test_the_icons_have_the_sizes_that_they_are_named_after() -> None:
    for size, name in manifest()["icons"].items():
        header = (FOLDER / name).read_bytes()[:24]

        assert header[:8] == b"\x89PNG\r\n\x1a\n"
        assert int.from_bytes(header[16:20]) == int.from_bytes(header[20:24]) == int(size)
