"""Files that are cut, changed or made to do harm: no reader raises, invents posts or loses rows."""

import io
import json
import time
import tracemalloc
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import json as msgspec_json

from bowerbird.sources import own_json, reading
from bowerbird.sources.found import Choices, Format, FoundPost
from bowerbird.sources.parsing.html_text import tokens
from bowerbird.sources.reading import FORMATS, UnknownFile, read
from bowerbird.sources.x import files as x_files
from tests.sources import program_files
from tests.support.posts.source_files import Report, report

_NUMBERS: Final = range(1050118621198921700, 1050118621198921712)
_URLS: Final = [f"https://x.com/ada/status/{n}" for n in _NUMBERS]


def _table(header: str, row: str) -> str:
    rows = [row.replace("URL", url).replace("ID", url[-19:]) for url in _URLS]
    return "\n".join([header, *rows, ""])


def _records(**record: Any) -> list[Any]:
    """The same record for each post. `URL` and `ID` stand for those of the post."""
    text = json.dumps(record)
    return [json.loads(text.replace("URL", url).replace("ID", url[-19:])) for url in _URLS]


_URI: Final = "at://did:plc:a/app.bsky.feed.post/ID"
FILES: Final[dict[str, str]] = {
    "dewey": _table(
        "Tweet Date,Posted By,Tweet URL,Tweet Content,Tags,Folder",
        '2018-10-10,Ada,URL,"Two\nlines, ""quoted""",a,F',
    ),
    "exporter": _table("screen_name,full_text,tweet_url,name", 'ada,"Hi, you",URL,Ada'),
    "raindrop": _table("folder,url,title,note,tags,created", '"F",URL,T,N,"a, b",1629980125'),
    "pocket": _table("title,url,time_added,tags,status", "T,URL,1629980125,a|b,archive"),
    "readwise": _table(
        "Title,URL,ID,Document tags,Saved date,Location", "T,URL,x,\"['a']\",2025-01-01,later"
    ),
    "links": "".join(f"{url}?a\n" for url in _URLS),
    "netscape": "<!DOCTYPE NETSCAPE-Bookmark-file-1>\n<DL><p>\n"
    + "".join(f'<DT><A HREF="{url}" ADD_DATE="1700000300" TAGS="a">T</A>\n' for url in _URLS)
    + "</DL>\n",
    "karakeep": json.dumps(
        {"bookmarks": _records(createdAt=1, tags=["a"], content={"type": "link", "url": "URL"})}
    ),
    "linkwarden": json.dumps(
        {"collections": [{"id": 1, "name": "N", "links": _records(url="URL")}]}
    ),
    "likes": "window.YTD.like.part0 = "
    + json.dumps(_records(like={"tweetId": "ID", "fullText": "x"})),
    "mastodon": json.dumps(
        _records(
            uri="https://example.social/users/ada/statuses/ID",
            content="<p>Hi</p>",
            account={"acct": "ada"},
        )
    ),
    "bluesky": json.dumps(
        {"bookmarks": _records(subject={"uri": _URI}, item={"uri": _URI, "record": {"text": "x"}})}
    ),
    "own": json.dumps(_records(post_id="ID", tweet_details={})),
}
WHOLE: Final = {name: report(text, with_likes=True) for name, text in FILES.items()}


def attempt(data: bytes) -> Report | None:
    """None if the file is refused."""
    try:
        return report(data, with_likes=True)
    except UnknownFile:
        return None


def storable(post: FoundPost) -> bool:
    """Whether the importer accepts the record."""
    return bool(own_json.read(msgspec_json.encode(post.record)))


@pytest.mark.parametrize("name", FILES)
def test_the_files_of_this_test_are_read_whole(name: str) -> None:
    assert len(set(WHOLE[name].ids)) == len(_NUMBERS)
    assert WHOLE[name].left_out == []


def test_every_format_has_a_file_here() -> None:
    tested = {found.name for found in WHOLE.values()}
    # One column and Reddit's two are tested by other names below.
    others = {"Mastodon CSV", "Reddit CSV", "bookmarks of an X archive"}
    others |= {"bookmarks of a Mastodon archive", "likes of a Mastodon archive"}
    others |= {file.format for file in program_files.FILES.values()} | {"YouTube playlist CSV"}
    # The formats of X have tests of their own.
    others |= {format.name for format in x_files.FORMATS}

    assert {format.name for format in FORMATS} == tested | others


@pytest.mark.parametrize("name", FILES)
def test_a_cut_file_gives_the_rows_before_the_cut_and_no_others(name: str) -> None:
    data, whole = FILES[name].encode(), WHOLE[name].ids
    for end in range(0, len(data), max(1, len(data) // 150)):
        found = attempt(data[:end])
        if found is None:
            continue
        # A cut inside the last address of a list can leave a shorter one. Nothing can tell.
        ids = found.ids[:-1] if name == "links" else found.ids
        assert ids == whole[: len(ids)]
        # Whatever stands completely before the cut is there.
        complete = sum(data[:end].count(str(n).encode()) > 0 for n in _NUMBERS)
        assert len(found.posts) >= complete - 1


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
@pytest.mark.parametrize("name", FILES)
def test_a_changed_file_never_breaks_a_reader(name: str, data: st.DataObject) -> None:
    encoding = data.draw(st.sampled_from(["utf-8", "utf-16", "cp1252"]))
    changed = bytearray(FILES[name].encode(encoding))
    for _ in range(data.draw(st.integers(1, 4))):
        position = data.draw(st.integers(0, len(changed) - 1))
        piece = data.draw(
            st.binary(max_size=3)
            | st.sampled_from([b'"', b"'", b"\n", b"\x00", b"{", b"]", b"<", b"\\", b"\xff", b","])
        )
        changed[position : position + data.draw(st.integers(0, 3))] = piece
    found = attempt(bytes(changed))

    if found is not None:
        assert all(map(storable, found.posts))
        assert all(item.sentence.endswith(".") for item in found.left_out)


_TABLES: Final = ("dewey", "exporter", "raindrop", "pocket", "readwise", "links")


@pytest.mark.parametrize("name", FILES)
def test_a_broken_row_in_the_middle_leaves_the_others_intact(name: str) -> None:
    # A quotation mark breaks a row of a table, a control character breaks JSON.
    mark = '"' if name in _TABLES else "\x01"
    found = attempt(FILES[name].replace(str(_NUMBERS[5]), f"{mark}no").encode())

    assert found is not None
    expected = WHOLE[name].ids
    assert found.ids == expected[:5] + expected[6:]
    assert len(found.left_out) == 1


@settings(max_examples=80, deadline=None)
@given(
    st.binary(max_size=300)
    | st.text(max_size=200).map(lambda text: text.encode("utf-8", "replace"))
)
def test_no_bytes_break_a_reader(data: bytes) -> None:
    attempt(data)
    for start in (
        "title,url,time_added\n",
        "https://x.com/a/status/1\n",
        '[{"post_id":',
        "<DT><A HREF=",
    ):
        attempt(start.encode() + data)


@pytest.mark.parametrize("format", FORMATS, ids=[format.name for format in FORMATS])
def test_a_reader_survives_a_file_of_another_program(format: Format) -> None:
    for text in FILES.values():
        list(format.read(io.BytesIO(text.encode()[:2000]), Choices()))


@pytest.mark.parametrize("format", FORMATS, ids=[format.name for format in FORMATS])
@settings(max_examples=30, deadline=None)
@given(data=st.binary(max_size=200))
def test_a_reader_survives_any_bytes(format: Format, data: bytes) -> None:
    list(format.read(io.BytesIO(data), Choices()))


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=5,
)


@settings(max_examples=60, deadline=None)
@given(st.data())
@pytest.mark.parametrize("name", ["karakeep", "linkwarden", "likes", "mastodon", "bluesky"])
def test_values_of_the_wrong_type_never_break_a_reader(name: str, data: st.DataObject) -> None:
    prefix, _, text = FILES[name].rpartition("= ")
    document = json.loads(text)
    node = document
    # Walk to a random place, and put a random value there.
    while True:
        keys = list(node) if isinstance(node, dict) else list(range(len(node)))
        key = data.draw(st.sampled_from(keys))
        if not isinstance(node[key], dict | list) or not node[key] or data.draw(st.booleans()):
            break
        node = node[key]
    node[key] = data.draw(_VALUES)
    found = attempt(
        f"{prefix}= {json.dumps(document)}".encode() if prefix else json.dumps(document).encode()
    )

    if found is not None:
        assert all(map(storable, found.posts))


@pytest.mark.parametrize(
    "hostile",
    [
        "<!DOCTYPE NETSCAPE-Bookmark-file-1>" + "<a " * 300_000,
        "<!DOCTYPE NETSCAPE-Bookmark-file-1>" + "<!--" * 200_000,
        "<!DOCTYPE NETSCAPE-Bookmark-file-1><" + "\n" * 900_000,
        "<!DOCTYPE NETSCAPE-Bookmark-file-1><a " + "a" * 900_000 + ">",
        "<!DOCTYPE NETSCAPE-Bookmark-file-1>" + "<DL><DT><H3>x</H3>" * 50_000,
        '{"collections":[{"id":1,"name":"x","links":' + "[" * 300_000,
        '{"bookmarks":[{"createdAt":1,"content":{"type":"link"}}],"' + "x" * 900_000,
        "window.YTD.like.part0 =" + "[" * 300_000,
        "title,url,time_added\n" + '"' * 900_001,
        "title,url,time_added\n" + "," * 900_000,
        "title,url,time_added\n" + '"a\n' * 300_000,
    ],
    ids=range(11),
)
def test_a_file_made_to_do_harm_costs_linear_time(hostile: str) -> None:
    before = time.thread_time()
    attempt(hostile.encode())

    assert time.thread_time() - before < 15


@pytest.mark.parametrize("written", ["<", "<a", "< ", "</", "<!", "<\n", "<a <b"])
def test_signs_that_begin_no_tag_are_one_text(written: str) -> None:
    found = list(tokens([written * 10_000]))

    # The end might have been continued in another piece.
    assert len(found) <= 2
    assert "".join(map(str, found)) == written * 10_000


def test_tags_after_a_sign_that_begins_none_are_found() -> None:
    assert [getattr(one, "name", one) for one in tokens(["1 < 2 <b>x<</b><!-- y --><<p>"])] == [
        *("1 < 2 ", "b", "x<", "b", "<", "p")
    ]


@pytest.mark.parametrize(
    ("beginning", "record"),
    [
        ("title,url,time_added\n", "x\n"),
        ("<!DOCTYPE NETSCAPE-Bookmark-file-1>", "<a>"),
        ('[{"post_id":"20","tweet_details":{}}', ",0"),
    ],
)
def test_a_file_of_unreadable_records_is_not_read_to_its_end(
    beginning: str, record: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "MAX_UNREADABLE", 50)
    found = report(beginning + record * 60)

    assert found.reasons == {"invalid": 51}
    assert found.left_out[-1].sentence == (
        "50 records cannot be read, so the rest of the file was not read."
    )


def test_links_that_are_not_posts_are_all_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MAX_UNREADABLE", 5)
    found = report("title,url,time_added\n" + "x,https://example.org,1\n" * 20)

    assert found.reasons == {"not_a_post": 20}


@pytest.mark.parametrize("name", ["pocket", "netscape", "karakeep", "linkwarden", "likes"])
def test_memory_does_not_grow_with_the_file(name: str) -> None:
    head, row, tail = {
        "pocket": ("title,url,time_added\n", f"{'x' * 8000},{_URLS[0]},1629980125\n", ""),
        "netscape": (
            "<!DOCTYPE NETSCAPE-Bookmark-file-1>\n",
            f'<DT><A HREF="{_URLS[0]}">{"x" * 8000}</A>\n',
            "",
        ),
        "karakeep": (
            '{"bookmarks":[{}',
            ',{"createdAt":1,"title":"%s","content":{"type":"link","url":"https://a.example"}}'
            % ("x" * 8000),
            "]}",
        ),
        "linkwarden": (
            '{"collections":[{"id":1,"name":"N","links":[{}',
            ',{"url":"https://a.example","name":"%s"}' % ("x" * 8000),
            "]}]}",
        ),
        "likes": (
            "window.YTD.like.part0 = [{}",
            ',{"like":{"tweetId":"20","fullText":"%s"}}' % ("x" * 8000),
            "]",
        ),
    }[name]
    data = (head + row * 1_300 + tail).encode()
    file = io.BytesIO(data)
    tracemalloc.start()

    count = sum(1 for _ in read(file, Choices(with_likes=True)).found)

    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert count >= 1_300
    assert peak < 9 << 20 < len(data)
