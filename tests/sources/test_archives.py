"""Zip archives: known files are read, hostile archives stay within the bounds."""

import io
import json
import struct
import tracemalloc
import warnings
import zipfile

import pytest

from bowerbird.sources import reading
from bowerbird.sources.reading import UnknownFile
from tests.support.posts.source_files import report

LIKE = b'window.YTD.like.part0 = [{"like": {"tweetId": "20"}}]'
POCKET = b"title,url,time_added\nT,https://x.com/ada/status/21,1629980125\n"


def packed(*members: tuple[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    output = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(output, "w", method) as archive:
        # Python warns of a second file with the same name.
        warnings.simplefilter("ignore")
        for name, data in members:
            archive.writestr(name, data)
    return output.getvalue()


def test_every_known_file_is_read_and_the_others_are_named() -> None:
    found = report(
        packed(
            ("data/like.js", LIKE),
            ("export.csv", POCKET),
            ("data/tweets.js", b"window.YTD.tweets.part0 = []"),
            ("data/photo.jpg", b"\xff\xd8\xff"),
            ("data/", b""),
        ),
        with_likes=True,
    )

    assert found.ids == ["20", "21"]
    assert found.notices == [
        "'data/like.js' is read as likes of an X archive.",
        "'export.csv' is read as Pocket CSV.",
        "Not imported: 2 other files: 'data/tweets.js', 'data/photo.jpg'.",
    ]


def test_a_sentence_about_a_row_names_its_file() -> None:
    found = report(packed(("a.csv", POCKET + b"T,https://example.org,1\n")))

    assert [item.sentence for item in found.left_out] == [
        "'a.csv': Line 3: 'https://example.org' is not a link to a post."
    ]


def test_files_with_the_same_name_are_all_read() -> None:
    found = report(packed(("a.csv", POCKET), ("a.csv", POCKET.replace(b"/21", b"/22"))))

    assert found.ids == ["21", "22"]
    assert found.notices[0] == "The archive has 2 files named 'a.csv'. All are read."


def test_files_of_the_same_shape_with_another_meaning_are_not_read() -> None:
    row = b"id,permalink\nabc,https://www.reddit.com/r/python/comments/abc123/t/\n"
    votes = b"id,permalink,direction\nabc,https://www.reddit.com/r/a/comments/abc125/t/,up\n"
    found = report(
        packed(
            ("saved_posts.csv", row),
            ("hidden_posts.csv", row.replace(b"123", b"124")),
            ("post_votes.csv", votes),
        )
    )

    assert [post.source_id for post in found.posts] == ["t3_abc123"]


def test_a_hostile_name_is_only_shown() -> None:
    found = report(packed(("../../etc/\x1bcron.csv", POCKET)))

    assert found.ids == ["21"]
    assert all(sentence.isprintable() for sentence in found.notices)


def test_a_file_without_a_name_is_read() -> None:
    assert report(packed(("a.csv", POCKET)).replace(b"a.csv", b"\x00.csv")).ids == ["21"]


@pytest.mark.parametrize("name", ["inner.zip", "inner.csv"])
def test_an_archive_inside_an_archive_is_not_opened(name: str) -> None:
    found = report(packed((name, packed(("a.csv", POCKET))), ("b.csv", POCKET)))

    assert found.ids == ["21"]
    assert [item.sentence for item in found.left_out] == [
        f"'{name}' cannot be read: an archive inside an archive is not opened."
    ]


def test_an_encrypted_file_is_named() -> None:
    data = bytearray(packed(("a.csv", POCKET), ("b.csv", POCKET)))
    directory = data.index(b"PK\x01\x02")
    data[directory + 8] |= 1
    found = report(bytes(data))

    assert found.ids == ["21"]
    assert [item.sentence for item in found.left_out] == [
        "'a.csv' cannot be read: it is encrypted."
    ]


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_methods_without_a_bound_on_memory_are_not_read(method: int) -> None:
    found = report(packed(("a.csv", POCKET), method=method))

    assert "method that is not supported" in found.left_out[0].sentence


def bomb(rows: int) -> bytes:
    """A file that unpacks to a thousand times its size. Its one post comes first."""
    return POCKET + b"," * 99 + (b" " * 65_535 + b"\n") * rows


def test_a_bomb_is_stopped_while_it_is_read_with_little_memory() -> None:
    data = packed(("bomb.csv", bomb(3200)), ("b.csv", POCKET))
    assert len(data) < 1 << 20
    tracemalloc.start()

    found = report(data)

    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 8 << 20
    assert found.ids == ["21", "21"]
    assert "'bomb.csv' cannot be read: it unpacks to more than 200 times its size." in (
        found.left_out[-1].sentence
    )


def test_a_size_in_the_directory_is_not_believed() -> None:
    data = bytearray(packed(("a.csv", bomb(320))))
    directory = data.index(b"PK\x01\x02")
    # Says that the file is packed into 100 MB, so that the ratio looks harmless.
    struct.pack_into("<L", data, directory + 20, 100 << 20)
    found = report(bytes(data))

    assert found.ids == ["21"]
    assert found.left_out


def test_all_files_together_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MAX_READ_BYTES", 600)
    found = report(packed(*((f"{n}.csv", POCKET) for n in range(5))))

    assert 0 < len(found.posts) < 5
    assert "the files of the archive unpack to more than" in found.left_out[-1].sentence


def test_the_bound_holds_for_many_files_and_does_not_hide_the_one_that_is_wanted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Each of them stays below the bound of the ratio, and is not even of a known kind.
    monkeypatch.setattr(reading, "MAX_LOOK_BYTES", 4 << 20)
    monkeypatch.setattr(reading, "MAX_READ_BYTES", 1 << 20)
    unpacked = 0
    read = zipfile.ZipExtFile.read

    def counted(file: zipfile.ZipExtFile, size: int = -1) -> bytes:
        nonlocal unpacked
        data = read(file, size)
        unpacked += len(data)
        return data

    monkeypatch.setattr(zipfile.ZipExtFile, "read", counted)
    bombs = [(f"{number}.json", b" " * (1 << 20)) for number in range(100)]

    # Longer than what is looked at of it.
    wanted = POCKET + POCKET.splitlines(keepends=True)[1] * 2_000

    found = report(packed(*bombs, ("a.csv", wanted)))

    assert unpacked <= (4 << 20) + 3 * len(wanted)
    assert (set(found.ids), found.left_out) == ({"21"}, [])
    assert found.notices[-1].startswith("Not imported: 100 other files: '0.json'")


def test_much_is_looked_at_if_an_archive_has_few_files() -> None:
    # What tells it from other files comes late.
    late = {"notes": "n" * 100_000, "log": {"version": "1.2", "entries": []}}

    found = report(packed(*[("photo.jpg", b"x")] * 2_000, ("a.har", json.dumps(late).encode())))

    assert found.notices[0] == "'a.har' is read as recording of a browser (HAR)."


def test_media_in_an_archive_do_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MAX_READ_BYTES", 1000)
    found = report(packed(("photo.jpg", b"x" * 100_000), ("a.csv", POCKET)))

    assert found.ids == ["21"]
    assert not found.left_out


def test_an_archive_with_too_many_files_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MAX_MEMBERS", 3)

    with pytest.raises(UnknownFile, match="it has more than 3 files"):
        report(packed(*((f"{n}.csv", POCKET) for n in range(4))))


def test_a_directory_that_is_too_long_is_not_read_into_memory() -> None:
    data = bytearray(packed(("a.csv", POCKET)))
    end = data.index(b"PK\x05\x06")
    struct.pack_into("<L", data, end + 12, 1 << 30)
    data[end:end] = b"\x00" * (5 << 20)

    with pytest.raises(UnknownFile):
        report(bytes(data))

    many = packed(*((f"{n:0200}.csv", b"") for n in range(20_000)), method=zipfile.ZIP_STORED)
    with pytest.raises(UnknownFile, match="its list of files is too long"):
        report(many)


def test_a_damaged_file_keeps_the_records_before_the_damage() -> None:
    rows = b"".join(b"T,https://x.com/a/status/%d,1\n" % n for n in range(1, 20_000))
    data = bytearray(packed(("a.csv", POCKET + rows), method=zipfile.ZIP_STORED))
    data[200_000] ^= 0xFF
    found = report(bytes(data))

    assert len(found.posts) > 19_000
    assert "the file is damaged" in found.left_out[-1].sentence


def test_archives_cut_or_changed_anywhere_never_raise() -> None:
    data = packed(("a.csv", POCKET), ("like.js", LIKE))
    for position in range(len(data)):
        changed = bytearray(data)
        changed[position] ^= 0xFF
        for hostile in (data[:position], bytes(changed)):
            try:
                found = report(hostile, with_likes=True)
            except UnknownFile:
                continue
            # The check sum of a file is compared at its end, after its records.
            assert set(found.ids) <= {"20", "21"} or found.left_out
