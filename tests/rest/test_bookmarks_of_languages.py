"""A word finds the short posts of its language that have it in another form."""

import pytest

from tests.support.in_turn import in_turn
from tests.support.service import Member

pytestmark = [pytest.mark.anyio, pytest.mark.both]


@in_turn(
    ("text", "q"),
    [
        ("Der Vogel sammelt blaue Flaschendeckel", "blau"),
        ("Boeken in de bibliotheek", "boek"),
        ("De vogel verzamelt blauwe doppen", "vogels"),
        ("Kirjastossa on paljon kirjoja", "kirja"),
        ("Lintu kerää sinisiä pullonkorkkeja", "pullonkorkki"),
        ("I libri della biblioteca dell'arte", "libro"),
        ("El pájaro recoge tapas azules", "azul"),
        ("O pássaro coleciona tampas azuis", "tampa"),
        ("Ptak zbiera niebieskie nakrętki", "nakrętka"),
        ("Könyvtárban olvastam könyveket", "könyv"),
    ],
)
async def test_another_form_of_a_word_finds_a_short_post(alice: Member, text: str, q: str) -> None:
    await alice.save(post_id="1", text=text, author="ada", name="Ada and the Herons")
    await alice.save(post_id="2", text="Another post")

    found = await alice.listed(q=q, highlight="true")

    assert [post["post_id"] for post in found["data"]] == ["1"]
    assert "<mark>" in found["data"][0]["highlight"]["html"]


@in_turn(
    ("author", "name"),
    [("ada", "Ada"), ("the_birds", "All About the Birds"), ("yang", "Ada untuk Hari Ini")],
)
async def test_names_do_not_show_the_language_of_a_post(
    alice: Member, author: str, name: str
) -> None:
    quoted = {"text": "", "author_username": author, "author_details": {"name": name}}
    link = {"type": "link", "url": "https://dan.untuk.example/a"}
    await alice.save(
        post_id="1",
        text="Der Vogel sammelt blaue Flaschendeckel",
        author=author,
        name=name,
        quoted=quoted,
        attachments=[link],
    )

    assert len((await alice.listed(q="blau"))["data"]) == 1
