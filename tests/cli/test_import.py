"""`bowerbird import`."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bowerbird.cli.output import progress_bars
from bowerbird.model.labels import NAME_RULE
from tests.cli.libraries import EMAIL, Library, Ran
from tests.support import make
from tests.support.waiting import wait_until


def _summary(
    file: object, found: int, *, new: int = 0, changed: int = 0, unchanged: int = 0
) -> str:
    return (
        f"{file}: Bowerbird JSON\n  found {found}\n  new {new}\n  changed {changed}\n"
        f"  unchanged {unchanged}\n"
    )


def _invalid(count: int) -> str:
    return f"  left out {count}\n    invalid {count}\n"


def _report(ran: Ran) -> str:
    """The standard output without the line about undoing, which has a random id."""
    return "".join(
        line for line in ran.out.splitlines(keepends=True) if not line.startswith("To undo")
    )


def _remarks(ran: Ran) -> list[str]:
    """The lines on the standard error stream."""
    shown = set(ran.out.splitlines())
    return [line for line in ran.text.splitlines() if line not in shown]


@pytest.fixture
def library(empty: Library) -> Library:
    empty.run("account", "create", EMAIL)
    return empty


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "posts.json"


@pytest.mark.parametrize("separator", ["\n", ",\n"])
def test_an_invalid_record_is_left_out_named(library: Library, file: Path, separator: str) -> None:
    good = [json.dumps(make.post()) for _ in range(3)]
    records = [
        good[0],
        '{"post_id": 7}',
        good[1],
        '{"post_id": "7", "tweet_details": {"posted_at": "soon"}}',
        "{nonsense}",
        json.dumps(make.post(tags=[" "])),
        good[2],
    ]
    text = separator.join(records)
    file.write_text(f"[{text}]" if "," in separator else text)

    ran = library.run("import", EMAIL, file)

    assert ran.code == 1
    assert _report(ran) == _summary(file, 3, new=3) + _invalid(4)
    refusals = _remarks(ran)
    assert refusals[:2] == [
        f"{file}:2: post_id: must be a string, got a number.",
        f"{file}:4: tweet_details.posted_at: 'soon' is not an ISO 8601 date-time.",
    ]
    assert refusals[2] == f"{file}:5: The record is not valid JSON."
    assert refusals[3] == f"{file}:6: tags: a label name must have {NAME_RULE}, got ' '."


def test_prints_the_first_refused_records_and_writes_all_of_them_to_a_file(
    library: Library, file: Path, tmp_path: Path
) -> None:
    file.write_text('{"post_id": "", "tweet_details": {}}\n' * 25)
    refused = tmp_path / "refused.txt"

    ran = library.run("import", EMAIL, file, "--refused", refused)

    assert ran.text.count("posts.json:") == 21
    assert f"and 5 more in {file}; --refused FILE writes all of them.\n" in ran.text
    assert [line.split(":")[1] for line in refused.read_text().splitlines()] == [
        str(number) for number in range(1, 26)
    ]


def test_a_record_that_is_too_large_is_left_out(library: Library, file: Path) -> None:
    large = make.post(text="x" * (18 << 20))
    file.write_text("\n".join(json.dumps(post) for post in (make.post(), large, make.post())))

    ran = library.run("import", EMAIL, file)

    assert (ran.code, _report(ran)) == (1, _summary(file, 2, new=2) + _invalid(1))
    assert _remarks(ran) == [f"{file}:2: The record is larger than 16 MiB."]


def test_a_file_name_that_looks_like_markup_is_printed_literally(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)

    with progress_bars() as advance:
        advance("Reading a[/b].json", 1, 2)

    assert "Reading a[/b].json" in capsys.readouterr().err


def test_characters_that_cannot_be_stored_are_counted(library: Library, file: Path) -> None:
    post = make.post(text="a\0b\ud800c\udc00d😀")
    file.write_text(json.dumps([post]))

    ran = library.run("import", EMAIL, file)

    removed = "  Characters that cannot be stored, removed: 3.\n"
    assert _report(ran) == _summary(file, 1, new=1) + removed
    assert _exported(library)[post["post_id"]]["tweet_details"]["text"] == "abcd😀"


def test_a_missing_file_is_named_before_anything_is_read(library: Library, file: Path) -> None:
    file.write_text(json.dumps(make.post()))

    with library.start("import", EMAIL, file, "missing.json") as process:
        out, err = process.communicate()

    assert (process.returncode, out) == (1, "")
    assert err == "Error: No such file or directory: missing.json\n"
    assert library.value("SELECT count(*) FROM bookmark") == 0


@pytest.fixture
def _children_react_to_sigint() -> Iterator[None]:
    """A shell that starts the suite in the background makes it, and its children, ignore SIGINT."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("_children_react_to_sigint")
def test_an_interrupt_stores_whole_chunks_and_says_so(library: Library, file: Path) -> None:
    file.write_text("\n".join(json.dumps(make.post()) for _ in range(30_000)))

    with library.start("import", EMAIL, file) as process:

        def are_stored() -> bool:
            assert process.poll() is None
            return bool(library.value("SELECT count(*) FROM bookmark") >= 400)

        wait_until(are_stored)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()

    stored = library.value("SELECT count(*) FROM bookmark")
    assert process.returncode == 130
    assert out.startswith(_summary(file, stored, new=stored))
    assert err == (
        "Interrupted. The posts counted here are stored. To continue, run the command again: "
        "posts that are already stored do not change.\n"
    )
    assert stored % 200 == 0
    assert stored < 30_000
    assert library.value("SELECT total FROM library") == stored


def _exported(library: Library) -> dict[str, dict[str, Any]]:
    target = library.folder.parent / "exported.json"
    library.run("account", "export", EMAIL, target, "--force")
    bookmarks = json.loads(target.read_bytes())["bookmarks"]
    return {bookmark["post_id"]: bookmark for bookmark in bookmarks}


def test_the_file_of_refused_records_replaces_none(library: Library, tmp_path: Path) -> None:
    file = tmp_path / "posts.json"
    file.write_text('[{"post_id": "1", "tweet_details": {}}]')

    ran = library.run("import", EMAIL, file, "--refused", file)

    assert ran.code == 1
    assert ran.text == f"Error: {file} already exists. Choose another file for --refused.\n"
    assert file.read_text().startswith("[")


def test_what_is_not_a_regular_file_is_refused_at_once(library: Library, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "socket"))

        names = [tmp_path / "pipe", tmp_path / "folder", Path("/dev/zero"), tmp_path / "socket"]
        said = {name.name: library.run("import", EMAIL, name) for name in names}

    assert {ran.code for ran in said.values()} == {1}
    assert {name: ran.text.rstrip("\n") for name, ran in said.items()} == {
        "pipe": f"Error: {tmp_path}/pipe is a named pipe. To read a pipe, use - and < "
        f"{tmp_path}/pipe.",
        "folder": f"Error: {tmp_path}/folder is a folder. Name the files in it.",
        "zero": "Error: /dev/zero is a socket or a device, not a file.",
        "socket": f"Error: {tmp_path}/socket is a socket or a device, not a file.",
    }


@pytest.mark.parametrize("name", ["-", "/dev/stdin", "/dev/fd/0"])
def test_a_pipe_of_the_shell_is_imported(library: Library, name: str) -> None:
    with library.start("import", EMAIL, name, stdin=subprocess.PIPE) as process:
        output, _ = process.communicate(json.dumps([make.post()]), timeout=60)

    assert (process.returncode, output.splitlines()[2]) == (0, "  new 1")
