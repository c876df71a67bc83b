"""`bowerbird import` with files of other programs."""

import json
import re
import zipfile
from pathlib import Path

import pytest

from bowerbird.model.labels import NAME_RULE
from tests.cli.files import FILES
from tests.cli.libraries import EMAIL, Library


@pytest.fixture
def library(empty: Library) -> Library:
    empty.run("account", "create", EMAIL)
    return empty


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    folder = tmp_path / "files"
    folder.mkdir()
    for name, (_, data, *_) in FILES.items():
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


def test_every_format_is_predicted_recognised_imported_and_known_again(
    library: Library, files: list[Path]
) -> None:
    before = _stored(library)
    expected = {name: (format, posts, posts) for name, (format, _, posts, _) in FILES.items()}
    total = sum(posts for _, _, posts, _ in FILES.values())

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

    total = sum(posts for _, _, posts, _ in FILES.values())
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


def test_likes_are_imported_on_request_and_labelled(library: Library, files: list[Path]) -> None:
    likes = next(file for file in files if file.name == "like.js")

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


def test_notes_are_imported_and_counted(
    library: Library, files: list[Path], tmp_path: Path
) -> None:
    dewey = next(file for file in files if file.name == "dewey.csv")

    ran = library.run("import", EMAIL, dewey)

    assert "  notes 1\n" in ran.out
    library.run("account", "export", EMAIL, tmp_path / "all.json")
    bookmarks = json.loads((tmp_path / "all.json").read_bytes())["bookmarks"]
    assert [one["note"] for one in bookmarks if "note" in one] == ["mine"]
    assert "  new 0\n  changed 0\n" in library.run("import", EMAIL, dewey).out


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
