"""The fake X, a real server, and browsers with the extension; tests of this folder share them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.extension import chromium as chromium_browser
from tests.extension import fake_x as stand_in
from tests.extension import firefox as firefox_browser
from tests.extension import library as real_libraries
from tests.extension import x_answers
from tests.extension.browsers import EXTENSION, Browser
from tests.extension.chromium import Chromium
from tests.extension.fake_x import FakeX
from tests.extension.firefox import Firefox
from tests.extension.library import Libraries
from tests.extension.patience import PATIENCE_S
from tests.extension.person import Person
from tests.extension.x_account import World


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            # Several times the patience for one thing.
            item.add_marker(pytest.mark.timeout(4 * PATIENCE_S))


@pytest.fixture(scope="package")
def shared_x(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FakeX]:
    with stand_in.fake_x(tmp_path_factory.mktemp("x")) as x:
        yield x


@pytest.fixture
def x(shared_x: FakeX) -> FakeX:
    """The fake X, on a new day."""
    shared_x.world = World()
    shared_x.operation_ids = dict(x_answers.OPERATION_IDS)
    shared_x.delay_s = 0.0
    shared_x.most_listed = None
    shared_x.limit = None
    shared_x.failing_with = 0
    shared_x.failing_code = 0
    shared_x.is_signed_out = False
    shared_x.operation_names = {}
    shared_x.reporting = ""
    shared_x.has_trace_ids = True
    shared_x.renamed = {}
    shared_x.asked.clear()
    return shared_x


@pytest.fixture(scope="package")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Libraries]:
    with real_libraries.libraries(tmp_path_factory.mktemp("libraries")) as running:
        yield running


@pytest.fixture(scope="package")
def chromium(shared_x: FakeX, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    folder = tmp_path_factory.mktemp("chromium")
    with chromium_browser.chromium(EXTENSION, shared_x.port, folder) as browser:
        yield browser


@pytest.fixture(scope="package")
def firefox(shared_x: FakeX, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Firefox]:
    folder = tmp_path_factory.mktemp("firefox")
    with firefox_browser.firefox(EXTENSION, shared_x.proxy_port, folder) as browser:
        yield browser


@pytest.fixture
def person(chromium: Chromium, x: FakeX, libraries: Libraries) -> Iterator[Person]:
    """Somebody with Chromium, an empty library, and the extension connected to it."""
    yield from _person(chromium, x, libraries)


@pytest.fixture
def firefox_person(firefox: Firefox, x: FakeX, libraries: Libraries) -> Iterator[Person]:
    yield from _person(firefox, x, libraries)


def _person(browser: Browser, x: FakeX, libraries: Libraries) -> Iterator[Person]:
    person = Person(browser, x, libraries.new())
    person.connect_directly()
    try:
        yield person
    finally:
        browser.close_tabs()
        person.forget()
