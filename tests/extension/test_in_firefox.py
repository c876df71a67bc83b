"""The extension in Firefox."""

from tests.extension.browsers import wait_for, wait_for_text
from tests.extension.fake_x import SECRETS, X
from tests.extension.library import body_of
from tests.extension.patience import wait_until
from tests.extension.person import Person


def test_a_line_pasted_into_the_popup_connects_firefox(firefox_person: Person) -> None:
    person = firefox_person
    person.forget()
    popup = person.popup()
    shown = wait_for_text(popup, "not connected")
    popup.close()

    person.connect()

    assert "Connect your library" in shown
    assert len(person.library.device_ids()) == 2


def test_a_first_sync_and_a_later_one_copy_the_list(firefox_person: Person) -> None:
    person = firefox_person
    account = person.x.world.sign_in(saved=250)

    tab = person.sync()
    person.assert_same_library()
    account.save(person.x.world.add_post().id)
    person.sync(tab)

    person.assert_same_library()
    wait_until(lambda: person.library.ends_of_syncs()[-1:] == [("incremental", "caught_up")])
    assert [asked for asked in person.x.asked if not asked.is_of_page] == []
    for request in person.library.way.requests:
        assert not [one for one in SECRETS if one.encode() in request.raw + body_of(request)]
        assert "cookie" not in request.headers


def test_a_bookmark_is_added_and_removed(firefox_person: Person) -> None:
    person = firefox_person
    person.library.server.run("account", "removed-posts", person.library.email, "trash")
    person.x.world.sign_in()
    post = person.x.world.add_post()
    tab = person.browser.open(f"{X}/{post.author.username}/status/{post.id}")

    tab.click("[data-testid=bookmark]")
    person.library.wait_for([post.id])
    assert person.library.posts()[0]["tweet_details"]["text"] == post.text
    tab.click("[data-testid=removeBookmark]")

    person.library.wait_for([])


def test_folders_new_operation_ids_and_a_revoked_token_work_as_in_chromium(
    firefox_person: Person,
) -> None:
    person = firefox_person
    account = person.x.world.sign_in(saved=5)
    folder = person.x.world.add_folder("Birds", account.in_order()[:3])
    person.x.change_operation_ids()

    tab = person.browser.open(f"{X}/i/bookmarks/{folder.id}")
    person.bookmarks()
    wait_until(lambda: person.library.labelled("Birds") == set(folder.post_ids))
    person.library.wait_for(account.in_order())
    for device_id in person.library.device_ids():
        person.library.server.run("device", "revoke", person.library.email, device_id)
    post = person.x.world.add_post()
    tab.go(f"{X}/{post.author.username}/status/{post.id}")
    tab.click("[data-testid=bookmark]")

    wait_for_text(person.popup(), "This browser was disconnected")
    person.connect_again()
    person.library.wait_for(account.in_order())
    # Firefox asks before it lets the extension send which posts are opened.
    popup = person.popup()
    popup.click("button[aria-label=Settings]")
    popup.click("#opened")
    wait_until(lambda: person.ask("view")["readsOpened"])


def test_what_waits_survives_an_outage_and_a_restart(firefox_person: Person) -> None:
    person = firefox_person
    account = person.x.world.sign_in(saved=60)
    person.library.way.cut()
    tab = person.sync()
    post = person.x.world.add_post()
    tab.go(f"{X}/{post.author.username}/status/{post.id}")
    tab.click("[data-testid=bookmark]")
    wait_for(tab, "() => document.querySelector('[data-testid=removeBookmark]') !== null")
    popup = person.popup()
    shown = wait_for_text(popup, "Your library does not answer")
    popup.close()

    person.browser.restart()
    person.library.way.open()

    person.library.wait_for(account.in_order())
    wait_until(lambda: person.waiting() == 0)
    assert "none is lost" in shown
