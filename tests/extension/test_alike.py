"""What the extension does alike in Chromium and in Firefox."""

from collections.abc import Callable

import pytest

from tests.extension import flows
from tests.extension.person import Person

each = pytest.mark.parametrize("flow", flows.ALIKE, ids=lambda flow: flow.__name__)


@each
def test_in_chromium(person: Person, flow: Callable[[Person], None]) -> None:
    flow(person)


@each
def test_in_firefox(firefox_person: Person, flow: Callable[[Person], None]) -> None:
    flow(firefox_person)
