"""Which addresses are posts, and of which network."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bowerbird.model.posts.networks import BLUESKY, MASTODON, NETWORKS, REDDIT, X
from bowerbird.sources.found import FIRST_FOREIGN_ID
from bowerbird.sources.post_links import (
    FORMS,
    MAX_LINK_CHARACTERS,
    bluesky_post,
    is_short,
    parse,
    parse_fediverse,
    x_post,
)


@pytest.mark.parametrize(
    ("address", "post_id", "author"),
    [
        ("https://x.com/jack/status/20", "20", "jack"),
        ("https://mobile.twitter.com/jack/status/20?s=21&t=abc", "20", "jack"),
        ("https://X.COM/Jack_1/status/20#top", "20", "Jack_1"),
        ("https://x.com/jack/status/20/video/2", "20", "jack"),
        ("https://twitter.com/statuses/20", "20", ""),
        ("https://x.com/i/web/status/20", "20", ""),
        ("https://twitter.com/#!/jack/status/20", "20", "jack"),
        ("x.com/jack/status/20", "20", "jack"),
        ("  https://x.com/jack/status/20\n", "20", "jack"),
        ("https://fxtwitter.com/jack/status/20/en", "20", "jack"),
        ("https://nitter.net/jack/status/20#m", "20", "jack"),
        ("https://x.com:443/jack/status/9223372036854775807", "9223372036854775807", "jack"),
    ],
)
def test_an_address_of_x_gives_id_and_author(address: str, post_id: str, author: str) -> None:
    link = parse(address)

    assert link is not None
    assert (link.network, link.post_id, link.author_username) == ("x", post_id, author)
    assert link.link == f"https://x.com/{author or 'i'}/status/{post_id}"


@pytest.mark.parametrize(
    "address",
    [
        "",
        "https://x.com/jack",
        "https://x.com/jack/status/abc",
        "https://x.com/jack/status/020",
        "https://x.com/jack/status/9223372036854775808",
        "https://x.com/jack/status/20/followers/all",
        "https://x.com/jack/status/٢٠",
        "https://x.com.example.org/jack/status/20",
        "https://example.org/?u=https://x.com/jack/status/20",
        "https://x.com@example.org/jack/status/20",
        "https://example.org@x.com/jack/status/20",
        "https://x.com:8443/jack/status/20",
        "https://[x.com/jack/status/20",
        "javascript://x.com/jack/status/20",
        "https://medium.com/@jack/20",
        "https://www.reddit.com/r/python/",
        "https://bsky.app/profile/jack.example",
        "at://did:plc:abc/app.bsky.graph.list/3k",
        "https://localhost/@jack/20",
        "https://www.youtube.com/watch?list=Bower-Bird_",
        "https://youtu.be/tooshort",
        "https://youtube.com.example.org/watch?v=Bower-Bird_",
        "https://www.tumblr.com/tagged/20231",
        "https://www.tumblr.com/post/731234567890123456",
        "https://www.linkedin.com/in/ada-lovelace",
        "https://www.linkedin.com/feed/update/urn:li:groupPost:1-7254567890123456789",
        "https://www.instagram.com/reels/audio/123456789/",
        "https://www.facebook.com/permalink.php?story_fbid=10150000000000001",
    ],
)
def test_other_addresses_are_not_posts(address: str) -> None:
    assert parse(address) is None


# Posts by network, id and author, with all their addresses.
POSTS = {
    ("mastodon", "example.social/1032", "ada@example.social"): """
        https://example.social/@ada/1032
        https://example.social/users/ada/statuses/1032
    """,
    ("bluesky", "at://did:plc:abc/app.bsky.feed.post/3kx", ""): """
        https://bsky.app/profile/did:plc:abc/post/3kx
        at://did:plc:abc/app.bsky.feed.post/3kx
    """,
    ("reddit", "t3_abc123", ""): """
        https://www.reddit.com/r/python/comments/abc123/a_title/
        https://redd.it/abc123
        https://www.reddit.com/comments/ABC123/
    """,
    ("reddit", "t1_xyz", ""): """
        https://www.reddit.com/r/python/comments/abc123/a_title/xyz/
        https://www.reddit.com/r/python/comments/abc123/comment/xyz/?context=3
    """,
    ("reddit", "t3_abc123", "ada"): """
        https://www.reddit.com/user/ada/comments/abc123/title/
    """,
    ("youtube", "Bower-Bird_", ""): """
        https://www.youtube.com/watch?v=Bower-Bird_
        https://m.youtube.com/watch?app=desktop&v=Bower-Bird_&t=12s
        https://youtu.be/Bower-Bird_?si=abcdefghijk
        https://www.youtube.com/shorts/Bower-Bird_?feature=share
        https://www.youtube-nocookie.com/embed/Bower-Bird_?rel=0
    """,
    ("tiktok", "7300000000000000001", "ada.l"): """
        https://www.tiktok.com/@ada.l/video/7300000000000000001?is_from_webapp=1
        https://m.tiktok.com/@ada.l/photo/7300000000000000001
    """,
    ("tiktok", "7300000000000000001", ""): """
        https://www.tiktokv.com/share/video/7300000000000000001/
        https://m.tiktok.com/v/7300000000000000001.html
        https://www.tiktok.com/embed/v2/7300000000000000001
        https://www.tiktok.com/@/video/7300000000000000001
    """,
    ("tumblr", "731234567890123456", "ada-birds"): """
        https://www.tumblr.com/ada-birds/731234567890123456/a-bower?source=share
        https://ada-birds.tumblr.com/post/731234567890123456
        https://tumblr.com/blog/view/ada-birds/731234567890123456
    """,
    ("linkedin", "activity:7254567890123456789", ""): """
        https://www.linkedin.com/feed/update/urn:li:activity:7254567890123456789
        https://linkedin.com/feed/update/urn%3Ali%3Aactivity%3A7254567890123456789/?a=b
        https://de.linkedin.com/posts/activity-7254567890123456789-Ab1_
    """,
    ("linkedin", "activity:7254567890123456789", "ada-lovelace"): """
        https://www.linkedin.com/posts/ada-lovelace_an-activity-activity-7254567890123456789-A?utm_source=share
        https://www.linkedin.com/posts/ada-lovelace_activity-7254567890123456789-Ab1c/
    """,
    ("instagram", "Bower-Bird_", ""): """
        https://www.instagram.com/p/Bower-Bird_/?igsh=MzRlODBiNWFlZA==
        https://www.instagram.com/reels/Bower-Bird_/
        https://instagr.am/p/Bower-Bird_/
    """,
    ("instagram", "Bower-Bird_", "ada.birds"): """
        https://www.instagram.com/ada.birds/reel/Bower-Bird_/
    """,
    ("threads", "Bower-Bird_", "ada_birds"): """
        https://www.threads.net/@ada_birds/post/Bower-Bird_?xmt=abc
        https://www.threads.com/@ada_birds/post/Bower-Bird_/media
    """,
    ("threads", "Bower-Bird_", ""): """
        https://www.threads.net/t/Bower-Bird_/
    """,
    ("facebook", "10150000000000001", "ada.birds"): """
        https://www.facebook.com/ada.birds/posts/10150000000000001
        https://m.facebook.com/ada.birds/posts/a-bower/10150000000000001?__tn__=-R
        https://de-de.facebook.com/ada.birds/videos/10150000000000001/
    """,
    ("facebook", "10150000000000001", ""): """
        https://www.facebook.com/permalink.php?story_fbid=10150000000000001&id=42
        https://m.facebook.com/story.php?id=42&refid=1&story_fbid=10150000000000001
        https://www.facebook.com/42/posts/10150000000000001
        https://www.facebook.com/groups/birds/permalink/10150000000000001/
        https://www.facebook.com/watch/?ref=saved&v=10150000000000001
        https://www.facebook.com/reel/10150000000000001
        https://www.facebook.com/photo/?fbid=10150000000000001&set=a.1
    """,
}


@pytest.mark.parametrize(("network", "source_id", "author"), POSTS)
def test_all_addresses_of_a_post_of_another_network_give_the_same_id(
    network: str, source_id: str, author: str
) -> None:
    links = [parse(address) for address in POSTS[network, source_id, author].split()]

    assert {(link.network, link.source_id, link.author_username) for link in links if link} == {
        (network, source_id, author)
    }
    ids = {link.post_id for link in links if link}
    assert len(ids) == 1
    assert None not in links


def test_the_id_of_a_foreign_post_never_changes() -> None:
    link = parse("https://example.social/@ada/1032")

    assert link is not None
    assert link.post_id == "135361118254772506857014054252837077854"


@pytest.mark.parametrize(
    ("address", "link"),
    [
        ("https://youtu.be/Bower-Bird_?t=1", "https://www.youtube.com/watch?v=Bower-Bird_"),
        (
            "https://m.tiktok.com/@ada/video/7300000000000000001?a=b",
            "https://www.tiktok.com/@ada/video/7300000000000000001",
        ),
        (
            "https://m.tiktok.com/v/7300000000000000001.html",
            "https://www.tiktokv.com/share/video/7300000000000000001/",
        ),
        (
            "https://ada.tumblr.com/post/731234567890123456/a-bower",
            "https://www.tumblr.com/ada/731234567890123456",
        ),
        (
            "https://www.linkedin.com/posts/ada_x-ugcPost-7254567890123456789-Ab1c?utm_source=share",
            "https://www.linkedin.com/feed/update/urn:li:ugcPost:7254567890123456789/",
        ),
        (
            "https://www.instagram.com/ada/reel/Bower-Bird_/?igsh=abc",
            "https://www.instagram.com/p/Bower-Bird_/",
        ),
        (
            "https://www.threads.net/@ada/post/Bower-Bird_",
            "https://www.threads.com/@ada/post/Bower-Bird_",
        ),
        (
            "https://m.facebook.com/story.php?id=42&refid=1&story_fbid=7",
            "https://www.facebook.com/permalink.php?story_fbid=7&id=42",
        ),
    ],
)
def test_an_address_is_stored_without_parameters_for_tracking(address: str, link: str) -> None:
    found = parse(address)

    assert found is not None
    assert found.link == link
    assert parse(link) is not None


def test_every_network_of_the_table_has_a_name_and_addresses() -> None:
    with_forms = {form.network for forms in FORMS.values() for form in forms}

    assert {*NETWORKS} == with_forms | {X, MASTODON, BLUESKY, REDDIT}
    assert all(one.name for one in NETWORKS.values())


def test_paths_of_other_fediverse_servers_count_only_in_lists_of_such_posts() -> None:
    address = "https://misskey.example/notes/9abcdef0"

    assert parse(address) is None
    link = parse_fediverse(address)
    assert link is not None
    assert (link.network, link.source_id) == ("mastodon", "misskey.example/notes/9abcdef0")


def test_a_bluesky_post_is_shown_under_the_name_of_its_author() -> None:
    link = bluesky_post("at://did:plc:abc/app.bsky.feed.post/3kx", "ada.example")

    assert link is not None
    assert link.link == "https://bsky.app/profile/ada.example/post/3kx"


@pytest.mark.parametrize(
    "address",
    [
        "https://vm.tiktok.com/ZMabc123/",
        "vt.tiktok.com/ZSabc",
        "https://www.tiktok.com/t/ZTabc/",
        "https://fb.watch/aBc_123/",
        "https://www.facebook.com/share/p/1AbCdEf/",
        "https://t.co/a1B2",
        "https://lnkd.in/eAbCd",
        "https://www.reddit.com/r/birds/s/AbCdEf/",
    ],
)
def test_a_short_address_names_no_post(address: str) -> None:
    assert parse(address) is None
    assert is_short(address)


@pytest.mark.parametrize(
    "address", ["https://t.co/", "https://youtu.be/Bower-Bird_", "https://[", ""]
)
def test_other_addresses_are_not_short(address: str) -> None:
    assert not is_short(address)


def test_an_address_over_two_kilobytes_is_none() -> None:
    address = "https://x.com/jack/status/20?"

    assert parse(address + "a" * (MAX_LINK_CHARACTERS - len(address)))
    assert parse(address + "a" * (MAX_LINK_CHARACTERS - len(address) + 1)) is None


@pytest.mark.parametrize("post_id", ["", "0", "-1", "1.5", "²", "9" * 19, "9" * 5000])
def test_a_number_that_x_cannot_give_is_no_id(post_id: str) -> None:
    assert x_post(post_id) is None


_PIECES = st.sampled_from(
    [
        *("https://", "at://", "x.com", "bsky.app", "reddit.com", "redd.it", "example.social"),
        *("/", "@", "status", "/statuses/", "/users/", "20", "?", "#!", "[", "]", ":", "%", "\x00"),
        *("/r/", "/comments/", "/profile/", "/post/", "did:plc:a", "\udc80", "..", "-" * 300),
        *("youtu.be", "instagram.com/p/", "www.facebook.com", "/permalink.php?story_fbid=1&id=2"),
        *("tumblr.com", "/ada/12345", "linkedin.com/posts/", "ada_activity-712345678901234567"),
    ]
)


@given(st.text() | st.lists(_PIECES | st.text(max_size=3), max_size=20).map("".join))
def test_no_text_breaks_the_parser(address: str) -> None:
    for link in (parse(address), parse_fediverse(address)):
        if link is not None:
            assert link.post_id.isascii()
            assert link.post_id.isdigit()
            assert len(link.post_id) <= 40
            assert (int(link.post_id) >= FIRST_FOREIGN_ID) == (link.network != "x")
            again = parse_fediverse(link.link)
            assert again is not None
            assert again.post_id == link.post_id


@pytest.mark.parametrize(
    "hostile",
    [
        "https://x.com/" + "a/" * 1000,
        "https://" + "a." * 1000,
        "https://x.com/a/status/" + "1" * 2000,
        "https://www.facebook.com/permalink.php?" + "id=1&" * 400,
        "https://www.youtube.com/watch?" + "v=1&" * 500,
        "https://www.linkedin.com/posts/" + "activity-" * 200,
    ],
)
def test_a_hostile_address_costs_next_to_nothing(hostile: str) -> None:
    before = time.thread_time()
    for _ in range(200):
        parse_fediverse(hostile[:MAX_LINK_CHARACTERS])

    assert time.thread_time() - before < 1
