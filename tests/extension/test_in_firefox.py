"""The extension in Firefox."""

from tests.extension import flows
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


def test_a_first_sync_of_a_thousand_posts_copies_the_whole_list(firefox_person: Person) -> None:
    flows.sync_a_thousand_posts(firefox_person)


def test_a_background_script_that_firefox_ends_goes_on_where_it_was(
    firefox_person: Person,
) -> None:
    flows.kill_the_worker_during_a_sync(firefox_person)


def test_a_second_x_account_is_refused_until_the_person_confirms_it(
    firefox_person: Person,
) -> None:
    flows.confirm_a_second_x_account(firefox_person)


def test_an_answer_of_another_form_reaches_the_library(firefox_person: Person) -> None:
    flows.visit_a_list_of_another_form(firefox_person, {"bookmark_timeline_v2": "saved_posts"})


def test_a_sync_waits_for_each_limit_of_x_and_goes_on_where_it_stopped(
    firefox_person: Person,
) -> None:
    flows.sync_over_several_limits(firefox_person)


def test_a_limit_outlasts_the_browser_and_the_sync_goes_on_by_itself(
    firefox_person: Person,
) -> None:
    flows.restart_during_a_limit(firefox_person)


def test_a_bookmark_made_in_the_home_timeline_arrives_whole(firefox_person: Person) -> None:
    flows.save_from_a_feed(firefox_person, "home")


def test_the_body_of_an_article_is_read_when_its_page_shows_it(firefox_person: Person) -> None:
    flows.read_an_article(firefox_person)


def test_malformed_messages_of_a_hostile_page_have_no_effect(firefox_person: Person) -> None:
    flows.send_malformed_messages(firefox_person)


def test_posts_that_a_page_forges_reach_only_the_library_and_only_for_its_account(
    firefox_person: Person,
) -> None:
    flows.forge_posts(firefox_person)


def test_a_page_cannot_fill_the_queue_with_opened_posts(firefox_person: Person) -> None:
    flows.flood_the_queue(firefox_person)
