"""Stand-ins on loopback for providers: they send any answer, right or wrong, and record requests.

`StandIn` answers by path. `OpenIdStandIn` is an OpenID provider whose every answer a test can
change.
"""

import asyncio
import json
import ssl
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from joserfc import jwt
from joserfc.jwk import Key, KeySet, RSAKey
from joserfc.jws import JWSRegistry

from bowerbird.openid.providers import configured
from bowerbird.openid.sign_in import Begun, OpenIdClient, Person
from bowerbird.settings import Settings
from tests.support.hosts.loopback import http_answer, listening, read_request

CLIENT_ID = "bowerbird"
REDIRECT_URL = "http://localhost:8080/sign-in/{}/return"
WELL_KNOWN = "/.well-known/openid-configuration"
# Signing is not the point of most tests, and making a key takes a while.
FIRST_KEY = RSAKey.generate_key(2048, {"kid": "first", "use": "sig"}, private=True)


@dataclass
class Request:
    method: str
    target: str
    headers: dict[str, str]
    form: dict[str, str]


Answer = bytes | Callable[[Request], bytes]


@dataclass
class StandIn:
    answers: dict[str, Answer] = field(default_factory=dict)
    requests: list[Request] = field(default_factory=list)
    # Paths whose answer arrives in single bytes and never ends.
    dripping: set[str] = field(default_factory=set)
    url: str = ""

    def paths(self) -> list[str]:
        return [request.target for request in self.requests]

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        method, target, headers, body = await read_request(reader)
        request = Request(method, target, headers, dict(parse_qsl(body.decode())))
        self.requests.append(request)
        answer = self.answers.get(target.partition("?")[0], http_answer({}, "404 Not Found"))
        sent = answer if isinstance(answer, bytes) else answer(request)
        if target in self.dripping:
            await _drip(writer)
        elif sent:
            writer.write(sent)
        else:
            # Silent until the client disconnects.
            await reader.read()


async def _drip(writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
    with suppress(ConnectionError):
        while not writer.is_closing():
            writer.write(b" ")
            await writer.drain()
            await asyncio.sleep(0.02)


@asynccontextmanager
async def serving(stand_in: StandIn, tls: ssl.SSLContext | None = None) -> AsyncIterator[None]:
    async with listening(stand_in.serve, ssl=tls) as port:
        stand_in.url = f"{'https' if tls else 'http'}://127.0.0.1:{port}"
        yield


@dataclass
class SettableClock:
    offset_s: int = 0

    def __call__(self) -> int:
        return time.time_ns() // 1_000 + self.offset_s * 1_000_000


def sign(header: dict[str, Any], claims: dict[str, Any], key: Key) -> str:
    registry = JWSRegistry(algorithms=[header["alg"]], strict_check_header=False)
    return jwt.encode(header, claims, key, registry=registry)


@dataclass
class OpenIdStandIn(StandIn):
    """Correct until a test changes one of the fields; None leaves the claim or field out."""

    document: dict[str, Any] = field(default_factory=dict)
    claims: dict[str, Any] = field(default_factory=dict)
    header: dict[str, Any] = field(default_factory=dict)
    tokens: dict[str, Any] = field(default_factory=dict)
    signing_key: Key = field(default_factory=lambda: FIRST_KEY)
    sign: Callable[[dict[str, Any], dict[str, Any], Any], str] = sign
    published: list[Any] = field(default_factory=lambda: [FIRST_KEY.as_dict(private=False)])
    clock: SettableClock = field(default_factory=SettableClock)

    def prepare(self) -> None:
        self.answers |= {
            WELL_KNOWN: lambda _: http_answer(self.document_bytes()),
            "/keys": lambda _: http_answer({"keys": self.published}),
        }

    def settings(self) -> Settings:
        return Settings(
            oidc_issuer=self.url,
            oidc_client_id=CLIENT_ID,
            oidc_client_secret="secret",
            oidc_name="Example ID",
        )

    def document_bytes(self) -> bytes:
        document = {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "jwks_uri": f"{self.url}/keys",
            "id_token_signing_alg_values_supported": ["RS256"],
        }
        return json.dumps(_changed(document, self.document)).encode()

    def id_token(self, nonce: str) -> str:
        now = int(time.time())
        claims = {
            "iss": self.url,
            "sub": "person-1",
            "aud": CLIENT_ID,
            "iat": now,
            "exp": now + 300,
            "nonce": nonce,
            "email": "ada@example.com",
            "email_verified": True,
            "name": "Ada",
        }
        header = {"alg": "RS256", "kid": self.signing_key.kid, **self.header}
        return self.sign(_changed(header, {}), _changed(claims, self.claims), self.signing_key)

    async def sign_in(self, client: OpenIdClient, **query: str) -> Person:
        begun = await client.begin("oidc")
        return await self.finish(client, begun, **query)

    async def finish(self, client: OpenIdClient, begun: Begun, **query: str) -> Person:
        nonce = dict(parse_qsl(urlsplit(begun.url).query))["nonce"]
        tokens = {"access_token": "opaque", "token_type": "Bearer"}
        if "/token" not in self.answers:
            tokens["id_token"] = self.tokens.get("id_token") or self.id_token(nonce)
            answer = http_answer(_changed(tokens, self.tokens))
            self.answers["/token"] = lambda _: answer
        try:
            returned = {"state": begun.state, "code": "the-code", **query}
            return await client.finish("oidc", begun, returned)
        finally:
            if callable(self.answers["/token"]):
                del self.answers["/token"]


def _changed(given: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    merged = {**given, **changes}
    return {name: value for name, value in merged.items() if value is not None}


@asynccontextmanager
async def openid_stand_in(
    tls: ssl.SSLContext | None = None, **fields: Any
) -> AsyncIterator[OpenIdStandIn]:
    stand_in = OpenIdStandIn(**fields)
    async with serving(stand_in, tls):
        stand_in.prepare()
        yield stand_in


def key_set(*keys: Key) -> list[Any]:
    return list(KeySet(list(keys)).as_dict(private=False)["keys"])


def client_of(provider: OpenIdStandIn, timeout_s: float = 30.0) -> OpenIdClient:
    return OpenIdClient(
        configured(provider.settings()), REDIRECT_URL.format, provider.clock, timeout_s
    )
