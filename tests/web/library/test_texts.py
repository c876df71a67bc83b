"""Texts of others: escaped, with links only where they are safe."""

import re
import time
from functools import cache
from html import unescape
from html.parser import HTMLParser
from typing import Any

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bowerbird.model.posts.networks import ContentState, PostContent
from bowerbird.settings import Settings
from bowerbird.web.library import post_parts
from bowerbird.web.library.addresses import Address, everything
from bowerbird.web.library.post_parts import PostParts
from bowerbird.web.library.suggesting import name_problem
from bowerbird.web.library.texts import LINKS_MAX, LinkedTexts, Mark, language_of, marked, web_url
from bowerbird.web.templating import Templates
from bowerbird.web.visits.formats import Dates, Times

TEXTS = LinkedTexts("")
PARTS = PostParts(TEXTS, Dates(Times("UTC"), 1784362873841838), "", "author", {}, star="a")
HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "javascript:alert(1)",
    "</article></li><form action=//evil.example>",
    'https://a.example/"onclick=alert(1)',
    "@a\u202e#b",
    "&lt;script&gt;",
    "{{ 7 * 7 }}",
)
hostile = st.one_of(st.sampled_from(HOSTILE), st.text(max_size=30))
anything = st.recursive(
    st.one_of(hostile, st.none(), st.booleans(), st.integers(-9, 10**12)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=4,
)


@pytest.mark.parametrize(
    ("text", "links"),
    [
        ("see https://a.example/x.", ["https://a.example/x"]),
        ("(https://a.example/x_(y))", ["https://a.example/x_(y)"]),
        ("http://a.example, https://b.example!", ["http://a.example", "https://b.example"]),
        ("javascript:alert(1) ftp://a.example data:text/html,x", []),
        ("mail me@a.example or a/b#c", []),
        ("#1 #9", []),
        ("by @ada_l.", [everything(q="@ada_l")]),
        ("@ada@a.example", [everything(q="@ada@a.example")]),
        ("#birds and #تصميم", [everything(q="#birds"), everything(q="#تصميم")]),
        ('https://a.example/"onclick="x', ["https://a.example/"]),
    ],
)
def test_links_are_made_of_urls_mentions_and_hashtags(text: str, links: list[str]) -> None:
    assert [unescape(each) for each in re.findall(r'href="([^"]*)"', TEXTS.linked(text))] == links


@given(st.lists(hostile, max_size=6).map(" ".join))
@example("<script> #birds <b> https://a.example <i>")
def test_marked_up_text_contains_only_its_own_links(text: str) -> None:
    html = TEXTS.linked(text)

    tags = re.findall(r"<[^>]*>", html)
    more = '(?: rel="noreferrer" dir="ltr"| dir="(?:ltr|auto)")?'
    own = rf'<a href="(?:https?://|/library\?)[^"<>]*"{more}>|</a>'
    assert all(re.fullmatch(own, tag) for tag in tags)
    if "://" not in text:
        assert unescape(re.sub(r"</?a[^>]*>", "", html)) == text


@given(hostile)
def test_a_url_is_linked_only_if_it_is_of_the_web(text: str) -> None:
    url = web_url(text)

    assert not url or re.fullmatch(r"https?://[^/\s\"<>\\][^\s\"<>\\]*", url, re.IGNORECASE)


def test_a_long_hostile_text_takes_no_time() -> None:
    for part in (
        "https://a.example/" + ")" * 50_000,
        "#" + "1" * 100_000,
        "@a@" * 40_000,
        "\n" * 99,
    ):
        assert TEXTS.preview(part * 2)


@pytest.mark.parametrize("html", ["<b>x</b>", "<mark class=x>", "a > b", "<mark", 7, None])
def test_a_snippet_with_other_markup_is_not_used(html: object) -> None:
    assert marked(html) is None


def test_the_script_of_a_text_names_its_language() -> None:
    texts = ["plain", "日本の", "한국", "中文", "這個", "العربية", "فارسی گ", "ہے", "naïve"]
    found = [language_of(each) for each in texts]
    assert found == [None, "ja", "ko", "zh", "zh-Hant", "ar", "fa", "ur", None]


def test_names_in_text_from_right_to_left_keep_their_sign_in_front() -> None:
    plain, mixed = TEXTS.linked("@ada #birds"), TEXTS.linked("رأي @ada في #birds و #تصميم")

    assert "dir=" not in plain
    assert '" dir="ltr">@ada</a>' in mixed
    assert '" dir="auto">#birds</a>' in mixed
    assert '" dir="auto">#تصميم</a>' in mixed


class _Tags(HTMLParser):
    """Collects what the text of a post could add to a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.addresses: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.addresses |= {
            value or "" for name, value in attrs if name in ("href", "action", "src")
        }


POST = st.fixed_dictionaries(
    {
        "post_id": st.just("1"),
        "author_username": anything,
        "author_details": st.one_of(anything, st.fixed_dictionaries({"name": hostile})),
        "tags": st.one_of(anything, st.lists(hostile, max_size=2)),
        "note": anything,
        "highlights": st.one_of(
            anything,
            st.lists(
                st.fixed_dictionaries(
                    {
                        "id": anything,
                        "field": st.sampled_from(["text", "article", "odd"]),
                        "quote": anything,
                        "start": st.one_of(anything, st.integers(0, 9)),
                        "end": st.one_of(anything, st.integers(0, 20)),
                        "comment": anything,
                        "created_at": anything,
                    }
                ),
                max_size=3,
            ),
        ),
        "source": anything,
        "gone_at": anything,
        "gone_reason": anything,
        "bookmarked_at": anything,
        "highlight": st.one_of(
            anything, st.fixed_dictionaries({"field": st.just("text"), "html": hostile})
        ),
        "tweet_details": st.fixed_dictionaries(
            {
                "text": anything,
                "link": anything,
                "posted_at": anything,
                "meta": anything,
                "article": st.one_of(
                    anything,
                    st.dictionaries(
                        st.sampled_from(["title", "plain_text", "preview_text", "cover_image"]),
                        hostile,
                    ),
                ),
                "quoted_tweet": st.one_of(
                    anything,
                    st.dictionaries(
                        st.sampled_from(["text", "link", "author_username", "posted_at"]), hostile
                    ),
                ),
                "attachments": st.lists(
                    st.fixed_dictionaries(
                        {
                            "type": st.sampled_from(["image", "video", "poll", "link", "odd"]),
                            "url": anything,
                            "alt_text": anything,
                            "title": anything,
                            "description": anything,
                            "domain": anything,
                            "choices": anything,
                            "ends_at": anything,
                            "duration_ms": anything,
                        }
                    ),
                    max_size=3,
                ),
            }
        ),
    }
)
# What the templates of a list and of a post need besides posts.
FRAME: dict[str, Any] = {
    "star": "a",
    "density": "",
    "densities": [],
    "reading": {"star": "a", "marks_read": True, "looks": [("size", "Size", ("small",), "small")]},
    **dict.fromkeys(("theme", "message", "problem", "undo_post", "search", "clear_url"), ""),
    **dict.fromkeys(("edit_url", "save_url", "newer", "pending", "relaxed", "hidden_url"), ""),
    **dict.fromkeys(
        ("meant", "meant_url", "list_before", "undo_annotation", "order", "marked"), ""
    ),
    **dict.fromkeys(("panels", "clear_filters"), ""),
    **dict.fromkeys(("hints", "chips", "buckets", "kept_fields", "orders", "opened"), ()),
    "suggested": (),
    **dict.fromkeys(("side_views", "side_labels", "label_names", "states"), ()),
    **dict.fromkeys(("is_owner", "is_compact", "is_best", "is_cut", "is_archive"), False),
    **dict.fromkeys(("is_unread_only", "hides_archived", "can_show_images", "can_pick_all"), True),
    **dict.fromkeys(("can_group", "by_day"), True),
    **dict.fromkeys(("label_total", "labels_shown", "account_total", "hidden", "total"), 1),
    **dict.fromkeys(("here", "back", "older"), "/library"),
    **dict.fromkeys(("email", "nonce", "csrf", "title", "heading", "search_words"), "n"),
    "shows_images": False,
    "unsent": {},
    "undo": None,
    "mode": "both",
    "shown_count": 1,
    "previous": "/p/0",
    "following": "/p/2",
    "note_max": 20_000,
    "drafts": "note 1 ",
    "quote_max": 2_000,
    "name_problem": name_problem,
}
TEMPLATES = Templates(Settings(), has_sandbox=False)


def _pages(bookmark: dict[str, Any]) -> list[str]:
    [stored] = post_parts.bookmarks_in(msgspec.json.encode(bookmark))
    listed = PARTS.in_list(stored, "bookmarked_at", is_searched=True)
    line = PARTS.in_line(stored, "posted_at", is_searched=True)
    post = PARTS.on_page(stored)
    near = [PARTS.nearby(stored)]
    shown = {
        "post": post,
        "network": post["source"],
        "content": PostContent(ContentState.WHOLE),
        "strand": [post, post | {"handle": "b"}],
        "near": near,
    }
    return [
        TEMPLATES.render("library.html", **FRAME | {"groups": [("Today", [listed])]}),
        TEMPLATES.render("library.html", **FRAME | {"groups": [("", [line])], "is_compact": True}),
        TEMPLATES.render("post.html", **FRAME | shown, json=str(bookmark)),
    ]


PLAIN = {
    "post_id": "1",
    "tags": ["a"],
    "note": "# h\n## h\n### h\n#### h\n> q\n\n- a\n\n2. b\n\n```\nc\n```\n---\n`c` **b** *i* ~~s~~ https://a.example\nb",
    "highlights": [
        {"id": "a", "field": "text", "quote": "日", "start": 0, "end": 1, "comment": "c"},
        {"id": "b", "field": "article", "quote": "p", "start": None, "end": None},
    ],
    "author_username": "a",
    "author_details": {"name": "A"},
    "source": "mastodon",
    "gone_reason": "r",
    "tweet_details": {
        "text": "日 https://a.example @b",
        "link": "https://a.example",
        "article": {"title": "t", "plain_text": "p", "cover_image": "https://a.example"},
        "quoted_tweet": {
            "text": "q",
            "link": "https://a.example",
            "posted_at": "2026-01-01",
            "author_username": "b",
            "author_details": {"name": "B"},
            "article": {"title": "t"},
            "attachments": [{"type": "image", "url": "https://a.example", "alt_text": "a"}],
        },
        "attachments": [
            {"type": "video", "url": "https://a.example", "duration_ms": 9000, "alt_text": "a"},
            {"type": "poll", "choices": ["a"], "ends_at": "2026-01-01"},
            {
                "type": "link",
                "url": "https://a.example",
                "title": "t",
                "description": "d",
                "domain": "a",
            },
        ],
        "posted_at": "2026-01-01",
    },
    "gone_at": "2026-01-01",
    "removed_at": "2026-01-01",
    "highlight": {"field": "text", "html": "<mark>a</mark>"},
}


@cache
def _known() -> list[_Tags]:
    """What the pages of a harmless post with every part may contain."""
    return [_parsed(page) for page in _pages(PLAIN)]


def _parsed(page: str) -> _Tags:
    parsed = _Tags()
    parsed.feed(page)
    return parsed


FIXED = ("post_id", "type", "field", "id")
SHOWN_IF_VALID = ("gone_at", "removed_at", "posted_at", "ends_at", "link", "url")


def _filled(value: Any, text: str, fixed: tuple[str, ...] = FIXED) -> Any:
    """The value with another text in every field except these."""
    if isinstance(value, dict):
        return {key: v if key in fixed else _filled(v, text, fixed) for key, v in value.items()}
    if isinstance(value, list):
        return [_filled(each, text, fixed) for each in value]
    return text if isinstance(value, str) else value


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_markup_in_all_fields_stays_text(text: str) -> None:
    check(_filled(PLAIN, text))
    # Some texts are shown only beside a valid date or link, or without an article or a handle.
    readable = _filled(PLAIN, text, FIXED + SHOWN_IF_VALID)
    check(readable)
    quoted = {**readable["tweet_details"]["quoted_tweet"], "author_username": ""}
    details = {**readable["tweet_details"], "article": None, "quoted_tweet": quoted}
    check({**readable, "author_username": "", "tweet_details": details})


@settings(max_examples=25, deadline=None)
@given(POST)
def test_no_stored_value_of_any_type_becomes_markup(bookmark: dict[str, Any]) -> None:
    check(bookmark)


def check(bookmark: dict[str, Any]) -> None:
    # A harmless post with every part has all tags and attributes that templates can write.
    for page, known in zip(_pages(bookmark), _known(), strict=True):
        found = _parsed(page)
        assert found.tags <= known.tags | {"div", "bdi", "time", "mark"}
        assert found.attributes <= known.attributes | {"dir", "lang", "datetime", "open"}
        for address in found.addresses:
            assert re.match(r"https?://[^/]|/|#|$", address, re.IGNORECASE), address
            assert not address.startswith("//")


def test_an_address_keeps_its_filters_and_leaves_the_page() -> None:
    address = Address("/library", {"q": "a b", "cursor": "x", "tag": "", "density": "compact"})

    assert address.url() == "/library?q=a+b&cursor=x&density=compact"
    assert address.changed(tag="B").url() == "/library?tag=B&q=a+b&density=compact"
    assert address.continued("y").url() == "/library?q=a+b&cursor=y&density=compact"
    assert address.fields("q") == [("density", "compact")]


@given(
    text=st.lists(hostile, max_size=6).map(" ".join),
    marks=st.lists(st.tuples(st.integers(0, 60), st.integers(1, 60)), max_size=4),
)
def test_marks_change_nothing_but_the_marked_words(text: str, marks: list[tuple[int, int]]) -> None:
    spans = [Mark(start, start + size, f"m{n}") for n, (start, size) in enumerate(marks)]

    html = TEXTS.with_marks(text, spans)

    assert re.sub(r"</?mark[^>]*>", "", html) == TEXTS.linked(text)
    names = re.findall(r' id="h-(m\d)"', html)
    assert len(set(names)) == len(names)


def test_a_passage_is_marked_where_it_is() -> None:
    html = TEXTS.with_marks("a <b> c", [Mark(2, 5, "x"), Mark(3, 7, "y")])

    first = '<mark class="hl" data-highlight="x" id="h-x">&lt;</mark>'
    assert html == (
        f'a {first}<mark class="hl" data-highlight="x">b&gt;</mark>'
        '<mark class="hl" data-highlight="y" id="h-y"> c</mark>'
    )


def test_a_text_gets_so_many_links_and_stays_whole() -> None:
    shown = TEXTS.linked("@ab " * (LINKS_MAX + 1))

    assert shown.count("<a ") == LINKS_MAX
    assert shown.endswith("</a> @ab ")
    assert TEXTS.with_marks("@ab " * (LINKS_MAX + 1), [Mark(0, 4, "h")]).count("<a ") == LINKS_MAX


HUGE = ("@ab " * 250_000, ("http://a" + ")" * 1_990 + " ") * 500, "a\n" * 500_000)


@pytest.mark.parametrize("text", HUGE, ids=["handles", "links", "lines"])
def test_a_huge_post_takes_no_time(text: str) -> None:
    marks = [
        {"id": f"h{n}", "field": field, "quote": "a", "start": n * 9, "end": n * 9 + 5}
        for n in range(50)
        for field in ("text", "article")
    ]
    details = {
        "text": text,
        "article": {"plain_text": text, "preview_text": text},
        "quoted_tweet": {"text": text},
    }
    bookmark = {"post_id": "1", "tweet_details": details, "highlights": marks}
    started = time.thread_time()

    PARTS.in_list(bookmark, "bookmarked_at")
    PARTS.on_page(bookmark)
    PARTS.on_page(bookmark, is_part=True)

    assert time.thread_time() - started < 6


def test_lost_passages_of_any_type_are_listed() -> None:
    stored = [
        {"id": "a", "field": "text", "quote": "one", "start": "x"},
        {"id": "b", "field": "text", "quote": "two"},
    ]

    assert len(PARTS.on_page({"highlights": stored})["highlights"]) == 2
