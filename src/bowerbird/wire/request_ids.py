"""Request ids: the one that the client sent where it is valid, otherwise a new one."""

import itertools
import re
import secrets
from collections.abc import Mapping
from typing import Final

_VALID: Final = re.compile(rb"[A-Za-z0-9_.:-]{1,128}")


class RequestIds:
    def __init__(self) -> None:
        self._start = secrets.token_hex(6)
        self._count = itertools.count(1)

    def of(self, headers: Mapping[bytes, bytes]) -> str:
        sent = headers.get(b"x-request-id")
        if sent is not None and _VALID.fullmatch(sent):
            return sent.decode()
        return f"{self._start}-{next(self._count)}"
