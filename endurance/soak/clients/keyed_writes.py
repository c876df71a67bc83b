"""Sends writes with an Idempotency-Key and enters them in the ledger when they are answered."""

import json
from collections.abc import Collection, Sequence
from typing import Any, Final

from endurance.soak.clients.client import Answer
from endurance.soak.clients.load import Setting
from endurance.soak.known_posts import Holder
from endurance.soak.ledger import Effect, Write, digest

_OK: Final = frozenset({200, 201})


class KeyedWrites:
    def __init__(self, setting: Setting, holder: Holder) -> None:
        self._ledger, self._account = setting.ledger, holder.name
        self._client = setting.client(holder)

    def send(
        self,
        kind: str,
        request: tuple[str, str],
        body: dict[str, Any],
        *,
        key: str,
        effects: Sequence[Effect],
        expected: Collection[int] = _OK,
    ) -> Answer:
        """Repeats the request with the same key until it is answered."""
        payload = json.dumps(body).encode()
        headers = {"Content-Type": "application/json", "Idempotency-Key": key}
        answer = self._client.send(kind, *request, payload, expected=expected, headers=headers)
        self.acknowledge(kind, request, payload, answer, key=key, effects=effects)
        return answer

    def acknowledge(
        self,
        kind: str,
        request: tuple[str, str],
        payload: bytes,
        answer: Answer,
        *,
        key: str,
        effects: Sequence[Effect],
    ) -> None:
        method, path = request
        self._ledger.acknowledge(
            Write(
                account=self._account,
                kind=kind,
                method=method,
                path=path,
                body=payload.decode(),
                key=key,
                status=answer.status,
                digest=digest(answer.body),
                effects=effects,
            )
        )
