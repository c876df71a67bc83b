"""/welcome: shown once after the first sign-in, and reachable later."""

import pytest

from tests.web.house import House, Reader

pytestmark = pytest.mark.anyio


def open_steps(page: str) -> list[str]:
    steps = page.split('<details name="begin"')[1:]
    return [step.split("<summary>")[1].split("<")[0] for step in steps if step.startswith(" open")]


async def test_a_new_person_is_welcomed_once(house: House) -> None:
    account_id = await house.accounts.create("me@example.com")
    person = house.somebody()

    async def sign_in() -> str:
        token = await house.links.create_for(account_id)
        entered = await person.send("/link", "/link", token=token)
        assert entered.headers["location"] == "/welcome?said=signed-in"
        return (await person.open("/welcome?said=signed-in")).text

    first = await sign_in()
    assert "<h1>Welcome</h1>" in first
    assert open_steps(first) == ["A passkey for this device"]
    again = await sign_in()
    assert "<h1>Welcome</h1>" not in again
    assert "How you sign in" in again
    assert 'href="/welcome"' in again
    assert "<h1>Welcome</h1>" in (await person.open("/welcome")).text


async def test_each_step_can_be_skipped_and_says_when_it_is_done(ann: Reader) -> None:
    assert open_steps(await ann.page("/welcome?step=posts")) == ["Bring your posts"]
    assert open_steps(await ann.page("/welcome?step=agent")) == ["Connect an agent or a program"]
    assert open_steps(await ann.page("/welcome?step=<b>")) == ["A passkey for this device"]
    await ann.member.save(post_id="1")

    page = await ann.page("/welcome")

    # The reader has a key.
    assert page.count('<li class="done">') == 2
    assert "To the library" in page
    assert "Look at the demo instead" not in page
    # Any site can link to it.
    back = await ann.person.open("/welcome?said=%C3%A9%0A")
    assert back.status_code == 200
