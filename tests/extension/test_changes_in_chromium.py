"""Single posts: saved and removed on X, and saved with the extension's own buttons."""

import json

import pytest

from tests.extension import flows
from tests.extension.browsers import Tab, wait_for_text
from tests.extension.chromium import Chromium
from tests.extension.fake_x import BLUESKY, MASTODON, X
from tests.extension.library import body_of
from tests.extension.patience import wait_until
from tests.extension.person import Person
from tests.extension.x_account import Post


def post_page(person: Person, post: Post) -> Tab:
    return person.browser.open(f"{X}/{post.author.username}/status/{post.id}")


def test_a_bookmark_on_x_reaches_the_library_by_itself_and_so_does_its_removal(
    person: Person,
) -> None:
    account = person.x.world.sign_in(saved=3)
    person.sync()
    person.assert_same_library()
    before = account.in_order()
    post = person.x.world.add_post()

    tab = post_page(person, post)
    tab.click("[data-testid=bookmark]")
    person.library.wait_for([post.id, *before])
    assert person.library.posts()[0]["tweet_details"]["text"] == post.text
    tab.click("[data-testid=removeBookmark]")

    wait_until(lambda: person.library.posts()[0].get("removed_at"))
    assert person.library.post_ids() == [post.id, *before]


@pytest.mark.parametrize("path", ["search", "profile"])
def test_a_bookmark_made_in_any_list_of_x_arrives_whole(person: Person, path: str) -> None:
    flows.save_from_a_feed(person, path)


def test_a_post_that_no_answer_showed_arrives_as_a_link(person: Person) -> None:
    person.x.world.sign_in()
    post = person.x.world.add_post()
    tab = person.browser.open(f"{X}/home")

    tab.evaluate("(id) => window.save(id)", post.id)

    person.library.wait_for([post.id])
    assert person.library.posts()[0]["tweet_details"]["link"].endswith(f"/status/{post.id}")


def test_a_removed_bookmark_follows_the_setting_of_the_account(person: Person) -> None:
    person.library.server.run("account", "removed-posts", person.library.email, "trash")
    account = person.x.world.sign_in(saved=3)
    tab = person.sync()
    person.assert_same_library()
    [_, *others] = account.in_order()

    tab.click("[data-testid=removeBookmark]")

    person.library.wait_for(others)


def test_saving_and_removing_again_and_again_ends_as_on_x(person: Person) -> None:
    person.library.server.run("account", "removed-posts", person.library.email, "trash")
    account = person.x.world.sign_in(saved=3)
    person.sync().close()
    person.assert_same_library()
    post = person.x.world.add_post()
    tab = post_page(person, post)

    for _ in range(3):
        tab.click("[data-testid=bookmark]")
        tab.click("[data-testid=removeBookmark]")
    tab.click("[data-testid=bookmark]")

    wait_until(lambda: len(person.x.asked_for("CreateBookmark")) == 4)
    wait_until(lambda: len(person.library.events()) == 7)
    person.library.wait_for(account.in_order())


def test_a_post_is_saved_with_labels_by_the_button_on_its_page(person: Person) -> None:
    person.x.world.sign_in()
    post = person.x.world.add_post()
    tab = post_page(person, post)

    tab.click_in("save", "button")
    tab.type_in("save", "#labels", "birds, to read")
    tab.click_in("save", "button.main")

    person.library.wait_for([post.id])
    wait_until(lambda: person.library.posts()[0]["tweet_details"]["text"] == post.text)
    assert person.library.posts()[0]["tags"] == ["birds", "to read"]
    # Nothing changed on X.
    assert person.x.world.viewer.saved == {}


def test_saving_a_post_that_only_the_list_showed_sends_no_list_again(person: Person) -> None:
    account = person.x.world.sign_in(saved=5)
    tab = person.sync()
    person.assert_same_library()
    wait_until(lambda: person.waiting() == 0)
    [first, *_] = account.in_order()
    person.x.failing_with = 429
    before = len(person.library.way.requests)

    # X changes the address without loading a page, and cannot load the post.
    tab.evaluate("(id) => history.pushState({}, '', `/someone/status/${id}`)", first)
    tab.click_in("save", "button")
    tab.type_in("save", "#labels", "birds")
    tab.click_in("save", "button.main")

    wait_until(lambda: person.library.labelled("birds") == {first})
    wait_until(lambda: person.waiting() == 0)
    assert person.library.pages(before) == []


# Addresses, and what is sent of them: nothing if it is not the page of a single post.
ADDRESSES = {
    "https://x.com/ada/article/1990000000000000000": "https://x.com/ada/status/1990000000000000000",
    "https://www.reddit.com/r/birds/comments/1abcd2/owls/": "Reddit",
    "https://old.reddit.com/r/birds/comments/1abcd2/": "Reddit",
    "https://www.youtube.com/watch?v=dQw4w9WgXcQ&t=3": "https://www.youtube.com/watch?v=dQw4w9WgXcQ",
    "https://www.youtube.com/shorts/dQw4w9WgXcQ": "YouTube",
    "https://youtu.be/dQw4w9WgXcQ": "YouTube",
    "https://www.tiktok.com/@ada/video/7300000000000000000": "TikTok",
    "https://www.linkedin.com/feed/update/urn:li:activity:7250000000000000000/": "LinkedIn",
    "https://www.linkedin.com/posts/ada_owls-activity-7250000000000000000-aBcD": "LinkedIn",
    "https://www.threads.com/@ada/post/DAbCdEfGhIj": "Threads",
    "https://www.instagram.com/p/DAbCdEfGhIj/": "Instagram",
    "https://www.instagram.com/ada/reel/DAbCdEfGhIj/": "Instagram",
    "https://mastodon.example/@ada/112233445566778899": "Mastodon",
    "https://www.youtube.com/@ada/112233": "",
    "https://www.youtube.com/watch": "",
    "https://www.tiktok.com/@ada/112233": "",
    "https://www.reddit.com/r/birds/": "",
    "https://medium.com/@ada/112233": "",
    "https://evil.example/?https://x.com/ada/status/20": "",
}


def test_the_popup_knows_the_posts_of_each_network_by_their_address(person: Person) -> None:
    script = """async (addresses) => {
      const { postAt } = await import("/background/links.js");
      return addresses.map((address) => postAt(address));
    }"""

    found = person.browser.desk().evaluate(script, list(ADDRESSES))

    for (address, wanted), post in zip(ADDRESSES.items(), found, strict=True):
        if not wanted:
            assert post is None, address
        elif wanted.startswith("https:"):
            assert post["link"] == wanted
        else:
            assert (post["network"], post["link"]) == (wanted, address)


def test_posts_of_mastodon_and_bluesky_are_saved_by_their_link(
    person: Person, chromium: Chromium
) -> None:
    mastodon = f"https://{MASTODON}/@ada/112233445566778899"
    bluesky = f"https://{BLUESKY}/profile/ada.example/post/3kabcdefghijk"

    for link in (mastodon, bluesky):
        popup = chromium.open_popup_over(link)
        popup.type("#labels", "elsewhere")
        popup.click("form[aria-label='Save this post'] button")
        wait_for_text(popup, "Saved in your library.")
        popup.close()

    sent = [json.loads(body_of(one)) for one in person.library.way.sent_to("/ingest/v1/bookmarks")]
    assert [body["links"] for body in sent] == [[mastodon], [bluesky]]
    found = {(post["tweet_details"]["link"], *post["tags"]) for post in person.library.posts()}
    assert found == {(mastodon, "elsewhere"), (bluesky, "elsewhere")}
