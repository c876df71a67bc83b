"""CSV files of each program: which columns become what."""

import pytest
from msgspec import UNSET

from bowerbird.model.arrival import Completeness, OrderSource
from bowerbird.sources.reading import UnknownFile
from tests.support.posts.source_files import report

X = "https://x.com/ada/status/1050118621198921728"


def test_dewey_s_first_header() -> None:
    found = report(
        "Tweet Date,Posted By,Posted By Twitter Handle,Tweet URL,Tweet Content,"
        "My Notes,Tags,Folder\n"
        f'2018-10-10,Ada L.,@ada,{X},"Two\nlines",My note,"a, b",Work/Later\n'
    )

    assert found.name == "Dewey CSV"
    record = found.post.record
    assert record.post_id == "1050118621198921728"
    assert (record.author_username, record.author_details.name) == ("ada", "Ada L.")
    assert record.tweet_details.text == "Two\nlines"
    assert record.tweet_details.posted_at == "2018-10-10T00:00:00+00:00"
    assert record.tags == ["a", "b", "Work/Later"]
    assert record.bookmarked_at is UNSET
    assert found.post.note == "My note"
    assert found.post.order_source is OrderSource.FILE_POSITION
    assert found.post.completeness is Completeness.PREVIEW


def test_dewey_s_second_header() -> None:
    found = report(
        "Tweet Date,Posted By,Posted By Profile Pic,Profile URL,Twitter Handle,Tweet URL,Content,"
        "Tags,Comments,Media\n"
        f"2018-10-10,Ada,https://a.example/p.jpg,https://x.com/ada,ada,{X},Text,,A comment,"
        '"https://m.example/1.jpg, https://m.example/2.mp4"\n'
    )

    record = found.post.record
    assert record.author_details.profile_image == "https://a.example/p.jpg"
    assert record.tweet_details.attachments == [
        {"type": "image", "url": "https://m.example/1.jpg"},
        {"type": "video", "url": "https://m.example/2.mp4"},
    ]
    assert found.post.note == "A comment"
    assert record.tags is UNSET


def test_a_date_that_cannot_be_read_is_taken_from_the_id() -> None:
    found = report(
        f"Tweet Date,Posted By,Tweet URL\nsoon,Ada,{X}\nsoon,Ada,https://x.com/a/status/20\n"
    )

    dates = [post.record.tweet_details.posted_at for post in found.posts]
    assert dates == ["2018-10-10T20:19:24.211000+00:00", ""]


def test_an_exporter_s_long_text_wins_over_the_cut_one() -> None:
    found = report(
        "profile_image_url_https,screen_name,name,full_text,note_tweet_text,tweeted_at,tweet_url\n"
        f"https://a.example/p.jpg,ada,Ada,Cut…,The whole text,Wed Oct 10 20:19:24 +0000 2018,{X}\n"
        f"https://a.example/p.jpg,ada,Ada,Short,,,{X[:-2]}\n"
    )

    assert found.name == "X exporter CSV"
    texts = [post.record.tweet_details.text for post in found.posts]
    assert texts == ["The whole text", "Short"]
    assert found.posts[0].record.tweet_details.posted_at == "2018-10-10T20:19:24+00:00"


def test_an_unknown_service_is_read_by_the_words_of_its_header() -> None:
    found = report(
        "Post ID;Author Handle;Author Name;Post Text;Bookmarked At;Labels;Is Archived\n"
        "1050118621198921728;ada;Ada;Hello;2020-01-02T03:04:05Z;a,b;true\n"
        "none;ada;Ada;Hello;2020-01-02T03:04:05Z;a,b;true\n"
    )

    assert found.name == "CSV of posts"
    record = found.post.record
    assert record.tweet_details.link == X
    assert record.bookmarked_at == "2020-01-02T03:04:05+00:00"
    assert (record.tags, record.is_archived) == (["a", "b"], True)
    assert found.left_out[0].sentence == "Line 3: 'none' is not the id of a post."


def test_raindrop_rows_that_are_not_posts_are_counted() -> None:
    found = report(
        "id,title,note,excerpt,url,folder,tags,created,cover,highlights,favorite\n"
        f'1,"Ada on X: ""Hello"" / X",A note,,{X},Work / Later,"a, b",'
        "2024-01-31T12:34:56.789Z,,,false\n"
        "2,A page,,,https://example.org/,Unsorted,,2024-01-31T12:34:56.789Z,,,false\n"
        "3,Nothing,,,,,,,,,\n"
    )

    assert found.name == "Raindrop CSV"
    record = found.post.record
    assert (record.tweet_details.text, record.author_details.name) == ("Hello", "Ada")
    assert record.bookmarked_at == "2024-01-31T12:34:56.789000+00:00"
    assert record.tags == ["a", "b", "Work/Later"]
    assert found.post.order_source is OrderSource.SAVED_DATE
    assert found.post.completeness is Completeness.STUB
    assert found.post.note == "A note"
    assert found.reasons == {"not_a_post": 1, "invalid": 1}
    assert found.left_out[0].sentence == "Line 3: 'https://example.org/' is not a link to a post."


@pytest.mark.parametrize("comment", ["", "xyz/"])
def test_reddit_s_saved_posts_and_comments(comment: str) -> None:
    found = report(
        f"id,permalink\nabc,https://www.reddit.com/r/python/comments/abc123/title/{comment}\n"
    )

    assert found.name == "Reddit CSV"
    assert found.post.source == "reddit"
    assert found.post.source_id == ("t1_xyz" if comment else "t3_abc123")


def test_mastodon_s_export_has_no_header() -> None:
    found = report(
        "https://example.social/users/ada/statuses/103270115826048975\n"
        "https://misskey.example/notes/9abcdef0\n"
        "https://example.org/about\n"
    )

    assert found.name == "Mastodon CSV"
    assert [post.source_id for post in found.posts] == [
        "example.social/103270115826048975",
        "misskey.example/notes/9abcdef0",
    ]
    assert found.posts[0].record.author_username == "ada@example.social"
    assert found.reasons == {"not_a_post": 1}


def test_a_list_of_links_is_read_line_by_line() -> None:
    found = report(f"https://example.org/\nsome words\n{X}\n")

    assert (found.name, found.ids) == ("list of links", ["1050118621198921728"])
    assert found.reasons == {"not_a_post": 2}


@pytest.mark.parametrize(
    "text",
    [
        '1050118621198921728\n\n"1050118621198921729",\n',
        # The first is not the header of a table.
        "1050118621198921728,\n1050118621198921729,\n",
        '"1050118621198921728";\n"1050118621198921729";\n',
        "1050118621198921728\t\n1050118621198921729\t\n",
    ],
)
def test_ids_of_x_alone_are_a_list(text: str) -> None:
    found = report(text)

    assert (found.name, found.reasons) == ("list of links", {})
    assert found.ids == ["1050118621198921728", "1050118621198921729"]


def test_ids_of_x_between_other_lines_are_no_list() -> None:
    with pytest.raises(UnknownFile):
        report("1050118621198921728\nhello\n1050118621198921729\n")


@pytest.mark.parametrize(
    "link", ["https://bsky.app/profile/ada.example/post/3k2a", "https://redd.it/abc123", X]
)
def test_a_list_with_posts_of_several_networks_is_a_list_of_links(link: str) -> None:
    mastodon = "https://example.social/@ada/103270115826048975"

    found = report(f"{mastodon}\n{link}\nhttps://blog.example/post/12\n")

    assert (found.name, len(found.posts)) == ("list of links", 2)
    assert [one.sentence for one in found.left_out] == [
        "Line 3: 'https://blog.example/post/12' is not a link to a post."
    ]


@pytest.mark.parametrize(
    "path",
    [
        "notes/9abcdef0",
        # Ids of Misskey since November 2024 start with a letter, and a few have no digit at all.
        "notes/acdhkmpxyz",
        "notes/acdhkmpxyzbqrstu",
        "notice/AXhdLkRqPoMnBvCzTy",
        "objects/6b1f4c3e-9d2a-4f51-8f3c-2a7e5d9b0c14",
        "activities/6b1f4c3e-9d2a-4f51-8f3c-2a7e5d9b0c14",
        "p/ada/512345678901234567",
        "@ada/statuses/01HQX5ZJ6M3T2N",
    ],
)
def test_posts_of_other_servers_of_the_fediverse_are_found_in_any_list(path: str) -> None:
    page = "https://example.org/about"

    mixed = report(f"{X}\nhttps://one.example/{path}\n")
    few = report(f"{page}/1\n{page}/2\nhttps://one.example/{path}\n{page}/3\n")

    assert (mixed.name, mixed.reasons) == ("list of links", {})
    assert [post.source_id for post in mixed.posts[1:]] == [f"one.example/{path}"]
    assert (few.name, len(few.posts)) == ("list of links", 1)


@pytest.mark.parametrize(
    "path", ["post/12", "p/12", "comment/12", "notes/shopping", "notes/Introduction", "notice/2024"]
)
def test_a_page_with_a_general_address_is_no_post_in_a_mixed_list(path: str) -> None:
    found = report(f"{X}\nhttps://blog.example/{path}\n")

    assert (found.ids, found.reasons) == (["1050118621198921728"], {"not_a_post": 1})


def test_a_file_in_windows_1252_says_so() -> None:
    found = report(f"title,url,time_added\nCafé,{X},1629980125\n".encode("cp1252"))

    assert found.post.record.tweet_details.text == "Café"
    assert "Windows-1252" in found.notices[0]


@pytest.mark.parametrize("broken", [b"\x00\xdc", b"\x00\xd8", b"\x00"])
def test_half_a_character_in_utf_16_breaks_nothing(broken: bytes) -> None:
    table = f"title,url,time_added\nT,{X},1629980125\nU".encode("utf-16")

    assert report(table + broken).ids == ["1050118621198921728"]


def test_odd_label_names_do_not_lose_the_row() -> None:
    tags = ", ".join(["x" * 500, "\x07bell\x1b", " ", "A", "a", *(f"t{n}" for n in range(200))])
    found = report(f'title,url,time_added,tags\nT,{X},,"{tags.replace(", ", "|")}"\n')

    names = found.post.record.tags
    assert isinstance(names, list)
    assert names[:3] == ["x" * 99 + "…", "bell", "A"]
    assert len(names) == 203


def test_a_deep_folder_keeps_its_inner_names() -> None:
    found = report(f"url,folder,created\n{X},{'/'.join(['outer' * 10] * 5)}/inner,\n")

    names = found.post.record.tags
    assert isinstance(names, list)
    assert names[0].startswith("…/")
    assert names[0].endswith("/inner")
    assert len(names[0]) <= 100


@pytest.mark.parametrize("date", ["9999-12-31", "1066-10-14", "soon", ""])
def test_an_impossible_date_of_saving_is_no_date(date: str) -> None:
    found = report(f"title,url,time_added\nT,{X},{date}\n")

    assert found.post.record.bookmarked_at is UNSET
    assert found.post.order_source is OrderSource.IMPORT
