"""Values that the examples of many pages share."""

from typing import Any, Final

Values = dict[str, Any]


def moment(iso: str, text: str) -> dict[str, str]:
    return {"iso": iso, "text": text}


TODAY: Final = moment("2026-08-19T09:14:00+02:00", "today, 09:14")
MARCH: Final = moment("2026-03-03T17:40:00+01:00", "3 Mar 2026")
AUGUST: Final = moment("2026-08-12T08:02:00+02:00", "12 Aug 2026")
SEPTEMBER: Final = moment("2026-09-01T00:00:00+02:00", "1 September")
KEY: Final = "bwr_7hVq2LmXw0sRt9ZcB4nYpKe6JdGu1aFo8iT3xA9fQ2kLmNp"

FRAME: Final[Values] = {
    "email": "nora.van.der.meer@example.org",
    "is_owner": True,
    "csrf": "c5rf",
    "drafts": "note 1 ",
    "message": "",
    "unsent": {},
    "problem": "",
}
