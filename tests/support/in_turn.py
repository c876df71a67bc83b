"""Runs one test for all rows of a table on one library, instead of one library per row.

Only for requests and commands that do not change the library, so that rows stay independent.
"""

import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from tests.support.offenders import Offenders

_LONGEST_NAME = 200
Test = Callable[..., Any]


def in_turn(names: str | Sequence[str], rows: Iterable[Any]) -> Callable[[Test], Test]:
    """Like `pytest.mark.parametrize`, but a failure names every row that fails."""
    given = (names,) if isinstance(names, str) else tuple(names)
    table = [(row,) if isinstance(names, str) else tuple(row) for row in rows]
    calls = [dict(zip(given, row, strict=True)) for row in table]

    def decorate(test: Test) -> Test:
        async def each_awaited(**fixtures: Any) -> None:
            offenders = Offenders()
            for call in calls:
                with offenders.check(_name(call)):
                    await test(**fixtures, **call)
            _require_none(offenders)

        def each(**fixtures: Any) -> None:
            offenders = Offenders()
            for call in calls:
                with offenders.check(_name(call)):
                    test(**fixtures, **call)
            _require_none(offenders)

        whole: Any = each_awaited if inspect.iscoroutinefunction(test) else each
        signature = inspect.signature(test)
        fixtures = [one for name, one in signature.parameters.items() if name not in given]
        # Pytest reads the requested fixtures from the signature.
        whole.__signature__ = signature.replace(parameters=fixtures)
        whole.__name__, whole.__module__ = test.__name__, test.__module__
        return whole  # type: ignore[no-any-return] # one of the two above

    return decorate


def _name(call: dict[str, Any]) -> str:
    return repr(tuple(call.values()))[:_LONGEST_NAME]


def _require_none(offenders: Offenders) -> None:
    assert not offenders, "\n".join(f"{row}: {why}" for row, why in offenders.items())
