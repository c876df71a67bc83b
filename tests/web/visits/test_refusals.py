"""Forms that are refused: what their page says, what stays in its fields, and that nothing changes.

The rules themselves are tested in tests/rest and tests/library.
"""

from html import escape
from typing import Any, NamedTuple

import pytest

from tests.support import writing
from tests.support.visiting import form_token
from tests.web.house import House, Reader, rows_of, signed_in, text_of
from tests.web.sign_in import ceremonies
from tests.web.sign_in.ceremonies import ANY_PAGE, account_of

pytestmark = pytest.mark.anyio

LINK = "https://x.com/bowerwatch/status/1945678901234567890"
HOOK = "http://127.0.0.1:9/hook"
PASSKEY = "/account/passkeys/rename"
MARKUP = "<script>alert(1)</script>"
DO = {"do": "save"}
LOOK = {"face": "sans", "width": "wide"}
CSV = {"format": "csv", "posts": "filtered"}
LISTED = {"back": "/library", "list": "/library"}


class Form(NamedTuple):
    path: str
    # The page that has the form; "" if it is the one at its path.
    page: str
    fields: dict[str, str]
    sentence: str
    status: int = 400
    # What was typed and stays in its field.
    kept: tuple[str, ...] = ()


FORMS = [
    *(
        Form("/account/preferences", "/account", {"time_zone": zone}, "There is no such time zone")
        for zone in ("Berlin", "", "../../etc/passwd", "x" * 10_000, "<b>")
    ),
    Form("/account/time-zone", "/account", {"time_zone": "x"}, "time_zone"),
    Form("/account/removed-posts", "/account", {"choice": "delete"}, "Choose keep, hide or trash."),
    Form("/account/removed-posts", "/account", {}, "Choose keep, hide or trash."),
    Form("/account/reading", "/account", {"size": "huge", **LOOK}, "There is no such choice."),
    Form("/account/reading", "/account", {"favourite": "\u3164"}, "A label has 1 to 100"),
    Form("/account/delete", "", {"phrase": "delete"}, "Type “ann@example.com”"),
    Form("/keys", "", {"name": "n" * 101}, "at most 100 printable characters", 400, ("n" * 101,)),
    *(
        Form(PASSKEY, ANY_PAGE, {"passkey": "{passkey}", "name": name}, "1 to 100 printable")
        for name in ("", "   ", "x" * 101, "a\nb", "a\u202eb", "a\x7fb")
    ),
    Form(
        PASSKEY, ANY_PAGE, {"passkey": MARKUP, "name": "x"}, "This passkey no longer exists.", 404
    ),
    Form(
        *("/webhooks", "", {"url": "ftp://example.com", "saved": "on", "q": "bower*"}),
        *("Must be an address such as https://hooks.example.com/b.", 400),
        ("ftp://example.com", "bower*"),
    ),
    Form("/webhooks", "", {"url": HOOK}, "Choose at least one event."),
    Form(
        *("/webhooks", "", {"url": HOOK, "saved": "on", "q": "x" * 1_001}),
        "The query has more than 1,000 characters.",
    ),
    Form("/digests", "", {"frequency": "hourly", "hour": "99"}, "frequency"),
    Form("/exports", "", {**CSV, "media_type": "smell"}, "“Type” must be one of"),
    Form("/exports", "", {**CSV, "bookmarked_from": "soon"}, "“Saved from” must be a date"),
    Form("/exports", "", {**CSV, "view": "none"}, "This Smart View no longer exists.", 404),
    Form("/exports", "", {**CSV, "format": "docx"}, "Choose a format."),
    Form("/import/links", "/import", {"links": " \n "}, "Paste at least one link."),
    Form(
        *("/import/links", "/import", {"links": "https://x.com/a/status/1\n" * 101}),
        "101 links are too many at once. Paste 100 at most.",
    ),
    Form(
        *("/labels/change", "/labels", {"label": "{birds}", "name": "ART", "color": ""}),
        *("already exists.", 400, ("ART",)),
    ),
    Form(
        *("/labels/change", "/labels", {"label": "{birds}", "name": " ", "color": ""}),
        "A label has 1 to 100 characters",
    ),
    Form("/labels/change", "/labels", {"label": "{birds}", "name": "b", "color": "#f00"}, "color"),
    *(
        Form("/labels/merge", "/labels", {"label": "{birds}", "into": name}, "No label is", 404)
        for name in ("nothing", "", "bird")
    ),
    *(
        Form("/save", "", {"link": link}, sentence, 400, (link,))
        for link, sentence in (
            ("https://blog.example/", "is not a link to a post"),
            ("https://t.co/a", "is a short address; open it and save the address of the"),
            ("", "is not a link to a post"),
        )
    ),
    Form(
        *("/save", "", {"link": LINK, "labels": f"birds, {'x' * 120}"}),
        *("A label has at most 100 characters; this one has 120.", 400, (LINK,)),
    ),
    Form("/library/many", "/library", {**LISTED, "read": ""}, "No post is selected."),
    Form("/library/many", "/library", {**LISTED, "p-1": "on"}, "The form has no action."),
    Form(
        *("/library/many", "/library", {**LISTED, "add_label": "", "p-1": "on", "label": " "}),
        "A label has 1 to 100",
    ),
    # Lists that are none of ours.
    *(
        Form("/library/many", "/library", {"trash": "", "all": "yes", "list": path}, "")
        for path in ("/account", "//[", "http://[", "//a\u2100", "/library?q=%00", "/trash")
    ),
    Form("/library/change", "/library", {"explode": "1"}, "The form has no action."),
    Form("/library/change", "/library", {"read": "42"}, "42", 404),
    Form("/library/label", "/library", {"post": "1", "add": ""}, "A label has 1 to 100"),
    Form("/library/demo", "/library", {}, "for an empty library"),
    Form("/trash/delete", "/trash", {"delete": ""}, "No post is selected."),
    Form("/p/1/note", "/p/1", {"note": "x" * 20_001}, "20,000"),
    Form("/p/1/highlights", "/p/1", {"quote": ""}, "Nothing was changed"),
    Form("/p/1/highlights", "/p/1", {"start": "5", "end": "x"}, "Nothing was changed"),
    Form(
        *("/p/1/highlights", "/p/1", {"start": "9" * 400, "end": "9" * 401}, "Nothing was changed")
    ),
    Form("/views", "", {}, "The form has no action."),
    Form(
        *("/rules/new", "", DO | {"name": "N", "when": "arrives", "do0": "add_label", "q": "x:"}),
        sentence="",
        kept=("x:",),
    ),
    *(Form("/sharing", "", {"of": of}, "") for of in ("", "list", "list x", "x y")),
    *(Form("/sharing", "", {"of": of}, "", 404) for of in ("label x", "view x")),
    Form(
        *("/sharing/new", "/sharing/new?label=birds"),
        {"label": "birds", "audience": "public", "name": "N", "is_indexed": "on"},
        "“Name in the address” must have 3 to 40 lowercase letters",
        kept=("N",),
    ),
    Form("/sources/mastodon", "/sources", {"mastodon_server": "x"}, "", 400, ("x",)),
]
OF_FREE = [
    Form("/labels/make", "/labels", {"q": "birds"}, "needs a paid plan", 402),
    Form("/library/label", "/library", {"post": "1", "add": "Birds"}, "needs a paid plan", 402),
    Form("/views", "", {"delete": "x"}, "needs a paid plan", 402),
    Form("/views/new", "", {**DO, "name": "x"}, "", 402),
    Form("/rules/new", "", {**DO, "name": "N", "when": "arrives", "do0": "archive"}, "", 402),
    Form("/webhooks", "", {"url": HOOK, "saved": "on"}, "Webhooks need a paid plan.", 402),
    Form(
        *("/exports", "", {**CSV, "author": "ada"}),
        *("The free plan does not include filters (author).", 402),
    ),
    Form("/save", "", {"link": LINK, "labels": "birds"}, "", 402),
]
# Pages of the free plan, and what they say or do not have.
FREE_PAGES = [
    ("/webhooks", "Webhooks need a paid plan.", ""),
    ("/rules", "Rules need a paid plan.", ""),
    ("/rules/new", "", "Turn the rule on"),
    ("/views/new?q=nest&is_unread_only=true", "needs a paid plan", "Save the view"),
    ("/views/new?tag=x", "The free plan does not include filters (tag).", ""),
    ("/save", "", 'name="labels"'),
    ("/library", "", "tag=Birds"),
    ("/library?limit=2", "The free plan shows the first page.", "Older posts"),
]
OF_OWNER = [
    *(
        Form("/operator/plan", "/operator", {"account": account, "plan": "pro"}, "", status)
        for account, status in (("1", 404), ("x", 400), ("9" * 40, 400), ("", 400))
    ),
    Form("/operator/invitations", "/operator", {"note": MARKUP * 10}, "printable characters"),
    Form("/account/email", "/account", {"email": "nonsense"}, "Invalid email address"),
    Form("/account/email", "/account", {"email": "a@b"}, "Invalid email address"),
    Form("/account/email", "/account", {"email": "free@example.com"}, "already has an account"),
    Form("/account/delete", "", {"phrase": "owner@example.com"}, "bowerbird account owner"),
]


@pytest.fixture
def house_settings() -> dict[str, Any]:
    return {"webhooks_private_hosts": "127.0.0.1:9", "sign_up": "invite"}


async def check(house: House, person: Any, forms: list[Form], **known: str) -> None:
    account_id = account_of(person)
    before = await rows_of(house.database, account_id)
    wrong = []
    for form in forms:
        sent = {name: value.format(**known) for name, value in form.fields.items()}
        answer = await person.send(form.path, form.page or form.path, **sent)
        said = text_of(answer)
        has_all = form.sentence in said and all(
            escape(each, quote=False) in answer.text for each in form.kept
        )
        if answer.status_code != form.status or not has_all or MARKUP in answer.text:
            wrong.append((form.path, sent, answer.status_code, said[:2_000]))
    assert wrong == []
    assert await rows_of(house.database, account_id) == before


async def test_a_refused_form_says_why_keeps_what_was_typed_and_changes_nothing(
    house: House, ann: Reader
) -> None:
    await ann.member.save(post_id="1", text="A nest", tags=["birds", "art"])
    await ceremonies.add(ann.person)
    [[passkey]] = await house.database.rows("SELECT passkey_id FROM passkey", {})
    birds = await writing.label_id(ann.member, "birds")
    await check(house, ann.person, FORMS, passkey=passkey, birds=birds)


async def test_the_free_plan_is_named_by_pages_and_forms(house: House, free: Reader) -> None:
    for _ in range(3):
        await free.member.save(author="ada")
    await free.member.save(post_id="1")
    await check(house, free.person, OF_FREE)
    for path, sentence, absent in FREE_PAGES:
        page = await free.person.open(path)
        assert sentence in text_of(page), path
        assert not absent or absent not in page.text, path


async def test_a_refused_form_of_the_owner_changes_nothing(house: House) -> None:
    owner = await house.owner()
    other = await signed_in(house, "free@example.com")
    await check(house, owner, OF_OWNER)
    await other.member.client.aclose()


async def test_a_form_of_a_tab_that_is_signed_out_offers_to_sign_in(house: House) -> None:
    ann = await signed_in(house, "ann@example.com")
    token = form_token(await ann.page("/labels"))
    ann.person.client.cookies.clear()

    refused = await ann.person.post("/labels/make", csrf=token, q="birds")

    assert refused.status_code == 403
    assert "You are no longer signed in here" in text_of(refused)
    assert 'href="/sign-in?next=/labels"' in refused.text
