"""bowerbird import."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import zipfile
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


LINK = "https://x.com/ada_b/status/"
# One file of each kind of reader: format, content, posts. tests/sources has all formats.
FILES: dict[str, tuple[str, bytes, int]] = {
    "own.json": ("Bowerbird JSON", json.dumps([make.post(post_id="101")]).encode(), 1),
    "dewey.csv": (
        "Dewey CSV",
        f"Tweet Date,Posted By,Posted By Twitter Handle,Tweet URL,Tweet Content,My Notes,Tags,"
        f"Folder\n2024-01-02,Ada,@ada_b,{LINK}110,Hello,mine,birds,Nests\n".encode(),
        1,
    ),
    "bookmarks.html": (
        "bookmarks file of a browser",
        "<!DOCTYPE NETSCAPE-Bookmark-file-1>\n<DL><p><DT>"
        f'<A HREF="{LINK}115" ADD_DATE="1700000000">T</A>\n'
        '<DT><A HREF="https://other.example/a-page">T</A></DL>'.encode(),
        1,
    ),
    "links.txt": ("list of links", f"{LINK}118\n{LINK}119\n".encode(), 2),
}


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    folder = tmp_path / "files"
    folder.mkdir()
    for name, (_, data, _) in FILES.items():
        (folder / name).write_bytes(data)
    return [folder / name for name in FILES]


def _counts(text: str) -> dict[str, tuple[str, int, int]]:
    """The format, the posts and the new posts of each file."""
    pattern = r"^(\S+): (.+)\n  found (\d+)\n  new (\d+)\n"
    found = re.findall(pattern, text, re.MULTILINE)
    return {Path(name).name: (format, int(n), int(new)) for name, format, n, new in found}


def _stored(library: Library) -> list[tuple[object, ...]]:
    return library.sql("SELECT * FROM bookmark ORDER BY post_id") + library.sql(
        "SELECT version, total FROM library"
    )


def test_a_file_is_predicted_recognised_imported_and_known_again(
    library: Library, files: list[Path]
) -> None:
    before = _stored(library)
    expected = {name: (format, posts, posts) for name, (format, _, posts) in FILES.items()}
    total = sum(posts for _, _, posts in FILES.values())

    dry = library.run("import", EMAIL, *files, "--dry-run")
    assert (_stored(library), library.value("SELECT count(*) FROM label")) == (before, 0)
    assert dry.out.endswith("This was a dry run: nothing was changed.\n")
    ran = library.run("import", EMAIL, *files)
    assert ran.code == 0, ran.text
    assert _counts(dry.out) == _counts(ran.out) == expected
    assert library.value("SELECT count(*) FROM bookmark") == total
    imported = _stored(library)
    again = library.run("import", EMAIL, *files)

    assert (again.code, _stored(library)) == (0, imported)
    assert {new for _, _, new in _counts(again.out).values()} == {0}
    assert "  changed 1" not in again.out
    assert "To undo" not in again.out
    assert library.run("check", "--deep").code == 0


def test_a_zip_archive_of_several_formats_is_imported(
    library: Library, files: list[Path], tmp_path: Path
) -> None:
    archive = tmp_path / "mixed.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as output:
        for file in files:
            output.write(file, f"data/{file.name}")
        output.writestr("photo.jpg", b"\xff\xd8\xff")

    ran = library.run("import", EMAIL, archive)

    total = sum(posts for _, _, posts in FILES.values())
    assert ran.code == 0, ran.text
    assert _counts(ran.out) == {"mixed.zip": ("zip archive", total, total)}
    assert "  'data/dewey.csv' is read as Dewey CSV.\n" in ran.out
    assert library.value("SELECT count(*) FROM bookmark") == total


def test_a_file_of_another_kind_is_refused_once_and_the_others_are_imported(
    library: Library, files: list[Path], tmp_path: Path
) -> None:
    diary = tmp_path / "diary.txt"
    diary.write_text("Dear diary\n" * 1_000)

    ran = library.run("import", EMAIL, diary, files[0])

    assert ran.code == 1
    assert ran.text.count("diary.txt") == 1
    assert (
        f"{diary}: This file cannot be imported. It looks like a text file that begins with "
        "'Dear diary Dear diary" in ran.text
    )
    assert library.value("SELECT count(*) FROM bookmark") == 1


def test_what_is_left_out_is_counted_by_reason_and_named_with_its_line(
    library: Library, tmp_path: Path
) -> None:
    file = tmp_path / "pocket.csv"
    rows = [f"T,https://example.com/{n},1700000000,,unread" for n in range(25)]
    file.write_text("title,url,time_added,tags,status\n" + "\n".join(rows) + "\nT,,1,,unread\n")
    refused, links = tmp_path / "refused.txt", tmp_path / "links.txt"

    ran = library.run("import", EMAIL, file, "--refused", refused, "--links", links)

    assert ran.code == 1
    assert "  left out 26\n    not a post 25\n    invalid 1\n" in ran.out
    assert (
        "  Nothing in this file can be imported. "
        "Left out: 25 links that are not posts and 1 row that cannot be read.\n" in ran.out
    )
    sentence = f"{file}:2: 'https://example.com/0' is not a link to a post.\n"
    assert sentence in ran.text
    assert f"and 6 more in {file}; --refused FILE writes all of them.\n" in ran.text
    assert refused.read_text().startswith(sentence)
    assert len(refused.read_text().splitlines()) == 26
    assert links.read_text().splitlines() == [f"https://example.com/{n}" for n in range(25)]


def test_likes_are_imported_on_request_and_labelled(library: Library, tmp_path: Path) -> None:
    likes = tmp_path / "like.js"
    like = {"tweetId": "130", "fullText": "Hello", "expandedUrl": f"{LINK}130"}
    likes.write_text(f"window.YTD.like.part0 = {json.dumps([{'like': like}])}")

    without = library.run("import", EMAIL, likes)
    ran = library.run("import", EMAIL, likes, "--with-likes")

    assert "    not requested 1\n" in without.out
    sentence = "Only liked posts are in this file; to import them, add --with-likes."
    assert f"  {sentence}\n" in without.out
    assert "  new 1\n" in ran.out
    assert library.sql("SELECT name FROM label") == [("liked",)]


def test_a_label_is_added_to_every_post(library: Library, files: list[Path]) -> None:
    own, dewey = files[0], next(file for file in files if file.name == "dewey.csv")

    ran = library.run("import", EMAIL, own, dewey, "--label", " From  elsewhere ")
    again = library.run("import", EMAIL, own, dewey, "--label", "from elsewhere")

    assert ran.code == 0
    assert "  changed 0\n  unchanged 1\n" in again.out
    names = library.sql("SELECT name, bookmark_count FROM label ORDER BY name")
    assert ("From elsewhere", 2) in names
    assert ("birds", 1) in names


def test_an_invalid_label_is_refused_before_the_import(library: Library, files: list[Path]) -> None:
    ran = library.run("import", EMAIL, *files, "--label", "x" * 101)

    assert (ran.code, ran.text) == (
        1,
        f"Error: --label: '{'x' * 80}…' is not a name for a label. A name has {NAME_RULE}.\n",
    )
    assert library.value("SELECT count(*) FROM bookmark") == 0


def test_labels_that_are_too_long_are_shortened_and_named(library: Library, tmp_path: Path) -> None:
    file = tmp_path / "raindrop.csv"
    long = "t" * 101
    folder = "/".join(["folder " * 7] * 3)
    rows = "".join(f"T,,https://x.com/a/status/{n},{folder},{long},\n" for n in (20, 21))
    file.write_text(f"title,note,url,folder,tags,created\n{rows}")

    ran = library.run("import", EMAIL, file)
    again = library.run("import", EMAIL, file, "--dry-run")

    assert ran.code == 0
    for out in (ran.out, again.out):
        assert "  labels shortened 2\n" in out
        assert f"  A label is shortened to 100 characters: '{'t' * 80}…'.\n" in out
        assert out.count("  A label is shortened to 100 characters: 'folder ") == 1
    names = {name for (name,) in library.sql("SELECT name FROM label")}
    (nested,) = names - {"t" * 99 + "…"}
    assert nested.startswith("…/folder ")
    assert len(nested) <= 100
