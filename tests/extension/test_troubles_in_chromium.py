"""X as it behaves: limits, errors, a sign-in that ended, and an empty list."""

import pytest

from tests.extension import flows
from tests.extension.browsers import wait_for_text
from tests.extension.fake_x import Limit
from tests.extension.patience import wait_until
from tests.extension.person import Person, wait_for_panel


def test_a_closed_tab_does_not_end_the_wait_for_a_limit(person: Person) -> None:
    person.x.world.sign_in(saved=150)
    person.x.limit = Limit(pages=4, lasts_s=600)
    tab = person.bookmarks()
    person.start(tab)
    wait_for_panel(tab, "X asks to wait until")

    tab.close()
    flows.end_limit(person)
    person.browser.kill_worker()

    wait_until(lambda: person.ask("view")["isComplete"])
    person.assert_same_library()


def test_start_after_an_interruption_goes_on_where_the_sync_stopped(person: Person) -> None:
    account = person.x.world.sign_in(saved=300)
    person.x.most_listed = 160
    tab = person.bookmarks()
    person.start(tab)
    wait_until(lambda: person.ask("view")["sync"]["seen"] >= 160)
    tab.close()
    wait_until(lambda: person.ask("view")["sync"]["state"] == "interrupted")
    # Bookmarks of the meantime move all pages of the list.
    for _ in range(3):
        account.save(person.x.world.add_post().id)
    person.x.most_listed = None
    person.x.asked.clear()
    # The list may be read to its end before the library answers about the interruption.
    person.library.way.hanging = ".*/finish"

    person.ask("start", kind="full")

    wait_until(lambda: person.ask("view")["sync"]["state"] == "done")
    person.library.way.hanging = ""
    wait_until(lambda: person.library.ends_of_syncs()[-1:] == [("full", "end")])
    person.assert_same_library()
    wait_until(lambda: person.ask("view")["isComplete"])
    # The list has 16 pages, of which 8 were read.
    assert len(person.x.asked_for("Bookmarks")) < 14


TROUBLES = {
    "signed out": (401, 32, "X is signed out", "needs you"),
    "suspended": (403, 64, "X has locked the account", "needs you"),
    "locked": (403, 326, "X has locked the account", "needs you"),
    "down": (503, 0, "X does not answer", "waiting"),
}


@pytest.mark.parametrize("case", TROUBLES)
def test_what_is_wrong_at_x_is_named_and_the_sync_goes_on_afterwards(
    person: Person, case: str
) -> None:
    status, code, title, state = TROUBLES[case]
    person.x.world.sign_in(saved=100)
    person.x.most_listed = 60
    tab = person.bookmarks()
    person.start(tab)
    wait_until(lambda: person.ask("view")["sync"]["seen"] >= 60)

    person.x.failing_with, person.x.failing_code = status, code
    person.x.most_listed = None
    wait_for_panel(tab, title)
    popup = person.popup()
    shown = wait_for_text(popup, title)
    assert state in shown
    popup.close()
    person.x.failing_with = 0
    tab.click_in("panel", "button[data-do=resume]")

    wait_until(lambda: person.ask("view")["isComplete"])
    person.assert_same_library()
    assert person.ask("view")["trouble"] is None


def test_a_sync_stops_when_x_has_not_answered_for_days(person: Person) -> None:
    person.x.world.sign_in(saved=30)
    person.x.failing_with = 503
    tab = person.bookmarks()
    wait_until(lambda: person.ask("view")["trouble"])
    # As after the last of its tries.
    person.set(trouble={"kind": "down", "until": 1, "tries": 12, "at": 1})

    person.start(tab)

    wait_for_panel(tab, "has stopped trying")
    person.x.failing_with = 0
    tab.click_in("panel", "button[data-do=resume]")
    wait_until(lambda: person.ask("view")["isComplete"])
    person.assert_same_library()


def test_a_page_that_asks_to_sign_in_is_named(person: Person) -> None:
    person.x.world.sign_in(saved=30)
    tab = person.bookmarks()
    # Otherwise the sync may read the whole list before its page is loaded again.
    person.assert_same_library()
    person.x.is_signed_out = True

    wait_for_panel(tab, "Start")
    tab.click_in("panel", "button[data-do=start]")

    wait_for_text(person.popup(), "X is signed out")
    person.x.is_signed_out = False
    person.ask("resume")
    wait_until(lambda: person.ask("view")["isComplete"])
    person.assert_same_library()


def test_a_visit_names_the_limit_too(person: Person) -> None:
    person.x.world.sign_in(saved=30)
    person.x.limit = Limit(pages=0, lasts_s=600)

    tab = person.bookmarks()

    wait_for_panel(tab, "X asks to wait until")
    person.x.limit = None
    tab.evaluate("() => location.reload()")
    wait_until(lambda: person.ask("view")["trouble"] is None)


def test_an_empty_list_is_named_and_one_that_had_posts_removes_nothing(person: Person) -> None:
    account = person.x.world.sign_in()
    tab = person.bookmarks()
    person.start(tab)
    wait_for_panel(tab, "X shows no bookmarks for this account.")
    wait_until(lambda: person.ask("view")["isComplete"])
    for _ in range(30):
        account.save(person.x.world.add_post().id)
    person.sync(tab)
    person.assert_same_library()
    kept = person.library.posts()
    account.saved.clear()

    person.start(tab, "button.quiet[data-do=start]")

    wait_for_panel(tab, "although it had posts before")
    assert person.library.posts() == kept


def test_a_new_bookmark_after_a_complete_sync_leaves_the_list_complete(person: Person) -> None:
    account = person.x.world.sign_in(saved=60)
    person.sync().close()
    wait_until(lambda: person.ask("view")["isComplete"])
    account.save(person.x.world.add_post().id)
    pages = len(person.library.pages())

    person.bookmarks()

    person.assert_same_library()
    wait_until(lambda: len(person.library.pages()) > pages and person.waiting() == 0)
    assert person.ask("view")["isComplete"]
    wait_for_text(person.popup(), "up to date")
