"""Reading the whole list of bookmarks: the first time, again, with folders, and interrupted."""

import dataclasses

from tests.extension.browsers import wait_for, wait_for_text
from tests.extension.chromium import Chromium
from tests.extension.fake_x import X
from tests.extension.patience import wait_until
from tests.extension.person import Person, panel, wait_for_panel
from tests.extension.x_account import Form


def test_a_later_sync_stops_scrolling_where_everything_is_known(person: Person) -> None:
    account = person.x.world.sign_in(saved=300)
    tab = person.sync()
    person.assert_same_library()
    for _ in range(25):
        account.save(person.x.world.add_post().id)
    person.x.asked.clear()

    tab.close()
    tab = person.sync()

    person.assert_same_library()
    wait_until(lambda: person.library.ends_of_syncs()[-1:] == [("incremental", "caught_up")])
    assert "Everything below is in your library already." in panel(tab)
    # The whole list has 17 pages.
    assert len(person.x.asked_for("Bookmarks")) < 15


def test_a_slow_library_does_not_count_as_silence_of_x(person: Person, chromium: Chromium) -> None:
    account = person.x.world.sign_in(saved=60)
    person.sync().close()
    person.assert_same_library()
    for _ in range(130):
        account.save(person.x.world.add_post().id)
    tab = chromium.open(f"{X}/i/bookmarks")
    wait_until(lambda: len(person.library.post_ids()) > 60 and person.waiting() == 0)
    person.library.way.hanging = ".*"

    person.start(tab)
    wait_until(lambda: person.waiting() > 0)
    chromium.advance_clock(tab, 90_000)
    wait_for_panel(tab, "to be sent.")
    # The next page of X comes after the panel has looked at its clock.
    person.x.delay_s = 1.5
    asked = len(person.x.asked)
    person.library.way.hanging = ""
    wait_until(lambda: len(person.x.asked) > asked + 1)
    person.x.delay_s = 0

    wait_for_panel(tab, "Up to date")
    person.assert_same_library()


def test_folders_become_labels(person: Person) -> None:
    account = person.x.world.sign_in(saved=45)
    folder = person.x.world.add_folder("Birds & bowers", account.in_order()[10:40])
    person.sync()
    person.assert_same_library()

    tab = person.browser.open(f"{X}/i/bookmarks/{folder.id}")
    person.scroll_to_end(tab)

    wait_until(lambda: person.library.labelled("Birds & bowers") == set(folder.post_ids))
    assert len(person.library.post_ids()) == 45


def test_a_sync_can_be_paused_and_continued(person: Person) -> None:
    person.x.world.sign_in(saved=240)
    # The list must not end before the pause.
    person.x.most_listed = 60
    tab = person.bookmarks()
    person.start(tab)
    wait_for(tab, "() => Number(document.documentElement.dataset.listed) >= 60")

    tab.click_in("panel", "button[data-do=pause]")
    shown = wait_for_panel(tab, "Paused by you")
    person.x.most_listed = None
    wait_for(tab, "() => document.documentElement.dataset.state === 'idle'")
    listed = tab.evaluate("() => Number(document.documentElement.dataset.listed)")
    popup = person.popup()
    wait_for_text(popup, "Paused at")
    popup.close()
    tab.click_in("panel", "button[data-do=resume]")

    wait_for_panel(tab, "Up to date")
    person.assert_same_library()
    assert "Paused at" in shown
    assert listed < 240


def test_a_slow_press_of_a_button_counts_while_the_numbers_change(
    person: Person, chromium: Chromium
) -> None:
    person.x.world.sign_in(saved=600)
    # The sync must not end before the press does.
    person.x.delay_s = 0.3
    person.x.most_listed = 580
    tab = chromium.open(f"{X}/i/bookmarks")
    person.start(tab)
    wait_for_panel(tab, "posts seen")

    # Long enough for the next page to arrive.
    tab.click_in("panel", "button[data-do=pause]", delay_ms=800)

    wait_for_panel(tab, "Paused by you")


def test_a_closed_tab_interrupts_the_sync_and_a_resumed_one_completes_it(person: Person) -> None:
    person.x.world.sign_in(saved=240)
    # The list must not end before the tab is closed.
    person.x.most_listed = 60
    tab = person.bookmarks()
    person.start(tab)
    wait_for(tab, "() => Number(document.documentElement.dataset.listed) >= 60")

    tab.close()
    person.x.most_listed = None
    popup = person.popup()
    shown = wait_for_text(popup, "Interrupted at")
    popup.close()
    wait_until(lambda: person.library.ends_of_syncs()[-1:] == [("full", "interrupted")])
    kept = len(person.library.post_ids())
    tab = person.bookmarks()
    wait_for_panel(tab, "before the end of the list")
    tab.click_in("panel", "button[data-do=resume]")

    wait_for_panel(tab, "Up to date")
    person.assert_same_library()
    assert "The bookmarks tab was closed" in shown
    assert 0 < kept < 240
    wait_until(lambda: person.library.ends_of_syncs()[-1:] == [("full", "end")])


def test_new_operation_ids_of_x_change_nothing(person: Person) -> None:
    account = person.x.world.sign_in(saved=30)
    person.x.change_operation_ids()

    tab = person.sync()
    person.assert_same_library()
    person.x.change_operation_ids()
    before = account.in_order()
    new = person.x.world.add_post()
    tab.go(f"{X}/{new.author.username}/status/{new.id}")
    tab.click("[data-testid=bookmark]")

    person.library.wait_for([new.id, *before])


def test_posts_that_are_gone_on_x_do_not_end_the_list(person: Person) -> None:
    account = person.x.world.sign_in(saved=70)
    gone = account.in_order()[5:50]
    for post_id in gone:
        post = person.x.world.posts[post_id]
        person.x.world.posts[post_id] = dataclasses.replace(post, form=Form.GONE)

    tab = person.sync()

    person.library.wait_for([one for one in account.in_order() if one not in gone])
    assert "70 posts seen" in panel(tab)


def test_a_visit_of_the_bookmarks_page_brings_what_is_new(person: Person) -> None:
    account = person.x.world.sign_in(saved=60)
    person.sync().close()
    person.assert_same_library()
    account.save(person.x.world.add_post().id)

    # X changes the address without loading a page.
    tab = person.browser.open(f"{X}/home")
    tab.click("[data-testid=AppTabBar_Bookmarks_Link]")

    person.assert_same_library()
    tab.close()
    wait_until(lambda: person.library.ends()[-1][0] == "visit")


def test_the_old_name_of_x_works_too(person: Person) -> None:
    person.x.world.sign_in(saved=5)

    person.browser.open("https://twitter.com/i/bookmarks")

    person.assert_same_library()


def test_the_whole_list_shows_what_was_removed_elsewhere(person: Person) -> None:
    person.library.server.run("account", "removed-posts", person.library.email, "trash")
    account = person.x.world.sign_in(saved=45)
    tab = person.sync()
    person.assert_same_library()
    for post_id in (account.in_order()[3], account.in_order()[30]):
        account.remove(post_id)

    person.sync(tab, "button.quiet[data-do=start]")

    person.assert_same_library()
    assert len(person.library.post_ids()) == 43


def test_a_search_within_bookmarks_removes_nothing(person: Person) -> None:
    account = person.x.world.sign_in(saved=30)
    tab = person.sync()
    person.assert_same_library()
    words = person.x.world.posts[account.in_order()[3]].text[:12]

    tab.type("[placeholder='Search Bookmarks']", words)
    tab.evaluate("() => document.activeElement.blur()")
    wait_until(lambda: person.x.asked_for("BookmarkSearchTimeline"))
    wait_until(lambda: "BookmarkSearchTimeline" in [page["op"] for page in person.library.pages()])

    person.assert_same_library()
