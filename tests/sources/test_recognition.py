"""Which files are refused, and with which sentence."""

import hashlib
import io
import struct
import zipfile

import pytest

from bowerbird.sources.parsing.json_values import outline
from bowerbird.sources.reading import UnknownFile
from tests.support.posts.source_files import report


def refusal(data: bytes) -> str:
    with pytest.raises(UnknownFile) as caught:
        report(data)
    return str(caught.value)


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"", "an empty file"),
        (b" \n", "an empty file"),
        (b"%PDF-1.7\n", "a PDF"),
        (b"\x89PNG\r\n\x1a\n", "an image (PNG)"),
        (b"\xff\xd8\xff\xe0", "an image (JPEG)"),
        (b"SQLite format 3\x00", "an SQLite database"),
        (b"\x1f\x8b\x08", "a gzip file: unpack it first"),
        (b"\x00\x01\x02\x03" * 100, "a file that is not text"),
        (hashlib.shake_256(b"random").digest(2_000), "a file that is not text"),
        (b'{"a": [{"b": 1}, {"b', "a JSON file that is cut off: it ends in the middle"),
        (b"[", "a JSON file that is cut off: it ends in the middle"),
        pytest.param(b"[" * 5_000, "a JSON file without any fields", id="deep"),
        (b"<!DOCTYPE html><html><p>x</p>", "an HTML page that is not a bookmarks file"),
        (b"<?xml version='1.0'?><a/>", "an XML file"),
        (
            b"Name,Colour,Size,Weight,Price\n1,2,3,4,5\n",
            (
                "a CSV file in an unknown format, "
                "with the columns 'name', 'colour', 'size', 'weight' and 1 more"
            ),
        ),
        (b'{"a": [{"b": 1}]}', "a JSON file in an unknown format, with the field 'a'"),
        (
            b'[{"b": 1, "a": {"c": 2}}]',
            "a JSON file in an unknown format, with the fields 'a', 'b'",
        ),
        (b"[1, 2]", "a JSON file without any fields"),
        (b"Dear diary", "a text file that begins with 'Dear diary'"),
        (
            b'window.YTD.tweets.part0 = [{"tweet": {"id_str": "20"}}]',
            "the part 'tweets' of an X archive, which has no bookmarks",
        ),
    ],
)
def test_an_unknown_file_is_refused_in_one_sentence(data: bytes, kind: str) -> None:
    sentence = refusal(data)

    assert sentence.startswith(f"This file cannot be imported. It looks like {kind}.")
    assert sentence.count(". ") >= (1 if "first" in kind else 2)


@pytest.mark.parametrize(
    ("data", "closest"),
    [
        (
            b"title,time_added\nT,1700000000\n",
            "Pocket CSV, which also has 'url'.",
        ),
        (
            b'[{"extended": "", "toread": "no"}]',
            "Closest to it: Pinboard JSON, which also has 'href'.",
        ),
    ],
)
def test_an_unknown_file_is_compared_with_the_known_formats(data: bytes, closest: str) -> None:
    sentence = refusal(data)

    assert closest in sentence
    assert sentence.endswith(
        "A column or field with links, or a text with one per line, is enough."
    )


def test_a_sentence_shows_no_control_characters() -> None:
    sentence = refusal(b"a\x1b[31m,b" + b"x" * 5000 + b"\n")

    assert sentence.isprintable()
    assert len(sentence) < 400


def test_a_zip_without_known_files_names_those_it_has() -> None:
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w") as archive:
        archive.writestr("photo.jpg", b"\xff\xd8\xff")
        archive.writestr("notes.txt", b"Dear diary")

    assert refusal(output.getvalue()) == (
        "This zip archive has no file that can be imported. "
        "It has 2 other files: 'photo.jpg', 'notes.txt'."
    )


def test_a_damaged_zip_is_refused() -> None:
    assert refusal(b"PK\x03\x04" + b"\x00" * 100) == (
        "This zip archive is damaged and cannot be read."
    )
    assert refusal(struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 0, 0, 0, 0, 0)) == (
        "This zip archive has no file that can be imported. It is empty."
    )


def test_an_outline_lists_the_keys_of_cut_json() -> None:
    found = outline('{"bookmarks": [{"content": {"url": "a,b:{", "x": [1]}, "n": {"deep')

    assert found.has("bookmarks", "bookmarks[].content.url", "bookmarks[].n")
    assert not found.has("bookmarks[].n.deep")
    assert not found.has("b")


@pytest.mark.parametrize("end", ["", "\\", "\\u00"], ids=["text", "backslash", "escape"])
def test_an_outline_of_a_text_that_is_cut_inside_a_string_reads_it_once(end: str) -> None:
    # With one attempt per quotation mark, this would take minutes.
    cut = '{"kept": 1, "text": "' + '\\"' * 130_000 + end

    assert sorted(outline(cut)) == ["", "kept", "text"]
