"""X changes its answers: nothing is marked, nothing is lost, and the person is told."""

import time

import pytest

from tests.extension import flows
from tests.extension.fake_x import X
from tests.extension.patience import wait_until
from tests.extension.person import Person


def test_a_list_whose_posts_cannot_be_read_is_kept_and_not_called_complete(person: Person) -> None:
    flows.read_a_changed_list(person)


@pytest.mark.parametrize(
    "names",
    [
        {"bookmark_timeline_v2": "saved_posts"},
        {"data": "answer"},
        {"instructions": "commands"},
        {"entries": "rows"},
        {"entryId": "id", "tweet_results": "post_results"},
        {"itemContent": "item"},
        {"legacy": "details"},
    ],
    ids="-".join,
)
def test_an_answer_of_another_form_reaches_the_library(
    person: Person, names: dict[str, str]
) -> None:
    flows.visit_a_list_of_another_form(person, names)


def test_a_list_with_another_name_is_read_all_the_same(person: Person) -> None:
    person.x.world.sign_in(saved=45)
    person.x.operation_names = {"Bookmarks": "SavedPostsTimeline"}

    person.sync()

    person.assert_same_library()
    wait_until(lambda: person.ask("view")["isComplete"])


def test_a_list_with_another_name_and_form_is_kept(person: Person) -> None:
    person.x.operation_names = {"Bookmarks": "BookmarkTimeline"}
    flows.visit_a_list_of_another_form(person, {"bookmark_timeline_v2": "saved_posts"})


def test_other_ids_of_entries_do_not_end_a_sync_early(person: Person) -> None:
    person.x.world.sign_in(saved=45)
    person.x.renamed = {"entryId": "id"}

    tab = person.bookmarks()
    person.start(tab)

    person.assert_same_library()
    wait_until(lambda: person.library.ends_of_syncs()[-1:] == [("full", "end")])


def test_an_error_of_x_is_no_list_and_no_change_of_its_pages(person: Person) -> None:
    person.x.world.sign_in(saved=25)
    person.sync().close()
    wait_until(lambda: person.ask("view")["isComplete"])
    before = person.library.posts()
    person.x.reporting = "Over capacity"
    person.x.delay_s = 0.2
    started = time.monotonic()

    person.bookmarks()
    wait_until(lambda: errors_sent(person))
    wait_until(lambda: not person.ask("view")["isComplete"] and person.waiting() == 0)
    # Its page asks again and again, and each error has another id.
    wait_until(lambda: len(person.x.asked_for("Bookmarks")) > 12)

    assert person.ask("view")["unread"] is None
    assert errors_sent(person) <= 1 + (time.monotonic() - started) // 60
    assert flows.kept_pages(person) == 0
    assert person.library.posts() == before


def test_an_error_of_x_is_sent_although_one_before_it_belonged_to_no_run(person: Person) -> None:
    person.x.world.sign_in(saved=45)
    person.x.has_trace_ids = False
    person.sync().close()
    wait_until(lambda: person.ask("view")["isComplete"])
    person.x.most_listed = 20
    tab = person.bookmarks()
    # The library knows the rest of the list, so that no more of it is sent.
    wait_until(lambda: person.library.ends()[-1:] == [("visit", "caught_up")])
    asked = len(person.x.asked)
    person.x.reporting = "Over capacity"
    person.x.most_listed = None
    # The page has got the error, and asks again.
    wait_until(lambda: len(person.x.asked) > asked + 1)
    assert not errors_sent(person)

    tab.go(f"{X}/i/bookmarks")

    wait_until(lambda: errors_sent(person))


def errors_sent(person: Person) -> int:
    return sum("errors" in page["payload"] for page in person.library.pages())
