"""The questions that an upgrade has to answer, each with what was seen."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from endurance.upgrade.ledger import Ledger, is_allowed

_SHOWN = 5


class Verdict(NamedTuple):
    question: str
    is_met: bool
    seen: str


def without(question: str, problems: Sequence[str], seen: str) -> Verdict:
    """Met if there is no problem; otherwise it names the first ones."""
    if not problems:
        return Verdict(question, is_met=True, seen=seen)
    shown = "; ".join(problems[:_SHOWN])
    return Verdict(question, is_met=False, seen=f"{len(problems):,} problems: {shown}")


def of_answers(ledger: Ledger) -> list[Verdict]:
    bad = [f"{a.status} {a.text} ({a.phase})" for a in ledger.answers if not is_allowed(a)]
    refused = sum(answer.status == 503 for answer in ledger.answers)
    total = f"{len(ledger.answers):,} requests, {refused:,} of them 503 with Retry-After"
    return [
        without("Requests fail only with 503 and Retry-After", bad, total),
        without("Lists and searches have the right posts", ledger.wrong, "all that were compared"),
        without(
            "Every write was acknowledged in the end",
            ledger.given_up,
            f"{len(ledger.writes):,} writes",
        ),
    ]


def same(question: str, found: Iterable[str], wanted: Iterable[str]) -> list[str]:
    """The differences of two sets of ids, or ids that are there twice."""
    listed, expected = list(found), set(wanted)
    twice = sorted({one for one in listed if listed.count(one) > 1}) if _has_twice(listed) else []
    missing, extra = sorted(expected - set(listed)), sorted(set(listed) - expected)
    return [
        *[f"{question}: {one} is missing" for one in missing],
        *[f"{question}: {one} does not belong there" for one in extra],
        *[f"{question}: {one} is there twice" for one in twice],
    ]


def _has_twice(listed: Sequence[str]) -> bool:
    return len(listed) != len(set(listed))
