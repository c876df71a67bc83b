"""What a browser does with passkeys, with an authenticator in software."""

from typing import Any, cast

import httpx

from tests.support.hosts.authenticator import Authenticator, Json
from tests.support.visiting import Visitor

# It has a form for everybody, so it gives a token to everybody.
ANY_PAGE = "/link"


async def options(person: Visitor, path: str, **fields: Any) -> Json:
    """What the service wants from the authenticator."""
    answered = await person.send(path, ANY_PAGE, **fields)
    assert answered.status_code == 200, answered.text
    return cast("Json", answered.json()["publicKey"])


async def add(person: Visitor, name: str = "Laptop", **lies: Any) -> Authenticator:
    """Adds a passkey to the account of somebody who is signed in."""
    authenticator = Authenticator(**lies)
    added = await try_to_add(person, authenticator, name)
    assert added.headers.get("location") == "/account?said=passkey-added#methods", added.text
    return authenticator


async def try_to_add(
    person: Visitor, authenticator: Authenticator, name: str = "Laptop"
) -> httpx.Response:
    wanted = await options(person, "/account/passkeys/options", name=name)
    credential = authenticator.create(wanted)
    return await person.send("/account/passkeys", ANY_PAGE, credential=credential, name=name)


async def sign_in(person: Visitor, authenticator: Authenticator, **fields: Any) -> httpx.Response:
    wanted = await options(person, "/sign-in/passkey/options")
    credential = authenticator.sign(wanted)
    return await person.send("/sign-in/passkey", ANY_PAGE, credential=credential, **fields)


async def prove(person: Visitor, authenticator: Authenticator, **fields: Any) -> httpx.Response:
    wanted = await options(person, "/reauthenticate/options")
    credential = authenticator.sign(wanted)
    return await person.send("/reauthenticate", ANY_PAGE, credential=credential, **fields)


def account_of(person: Visitor) -> int:
    return int(person.session[:16], 16)
