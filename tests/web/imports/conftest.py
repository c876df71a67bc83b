"""The service of the sign-in tests, and files that a person sends to it."""

import json

import httpx

from tests.support import make
from tests.support.visiting import Visitor, form_token
from tests.web.house import House

FORM = "multipart/form-data; boundary=b"


def posts(*post_ids: str) -> bytes:
    return json.dumps([make.post(post_id=post_id) for post_id in post_ids]).encode()


def part(name: str, value: str | bytes, filename: str | None = None) -> bytes:
    named = "" if filename is None else f'; filename="{filename}"'
    head = f'--b\r\nContent-Disposition: form-data; name="{name}"{named}\r\n\r\n'.encode()
    return head + (value if isinstance(value, bytes) else value.encode()) + b"\r\n"


def form(*parts: bytes) -> bytes:
    return b"".join(parts) + b"--b--\r\n"


async def token_of(person: Visitor, page: str = "/import") -> str:
    return form_token((await person.open(page)).text)


async def post_form(
    person: Visitor, body: object, content_type: str = FORM, **headers: str
) -> httpx.Response:
    sent = {"Origin": person.origin, "Content-Type": content_type} | headers
    return await person.client.post("/import/files", content=body, headers=sent)  # type: ignore[arg-type] # bytes or pieces


async def send_file(
    person: Visitor, content: bytes, name: str = "posts.json", *fields: bytes
) -> httpx.Response:
    """Chooses a file on the page and sends it, as a browser does."""
    token = part("csrf", await token_of(person))
    return await post_form(person, form(token, *fields, part("file", content, name)))


async def checked(
    house: House, person: Visitor, content: bytes, name: str = "posts.json", *fields: bytes
) -> httpx.Response:
    """The page of the check, once the file is read."""
    started = await send_file(person, content, name, *fields)
    assert started.status_code == 303, started.text
    await house.service.file_imports.finished()
    return await person.open(started.headers["location"])


async def brought_in(house: House, person: Visitor, check: httpx.Response) -> httpx.Response:
    """The page of the result, after the button on the page of the check."""
    path = check.request.url.path
    started = await person.post(f"{path}/import", csrf=form_token(check.text))
    assert started.status_code == 303, started.text
    await house.service.file_imports.finished()
    return await person.open(started.headers["location"])
