"""Names for requests: the caller's own where it sends one, else one of ours."""

import itertools
import re
import secrets
from collections.abc import Mapping
from typing import Final

_SENT: Final = re.compile(rb"[A-Za-z0-9_.:-]{1,128}")


class RequestIds:
    def __init__(self) -> None:
        self._start = secrets.token_hex(6)
        self._count = itertools.count(1)

    def of(self, headers: Mapping[bytes, bytes]) -> bytes:
        sent = headers.get(b"x-request-id", b"")
        if _SENT.fullmatch(sent):
            return sent
        return f"{self._start}-{next(self._count)}".encode()
