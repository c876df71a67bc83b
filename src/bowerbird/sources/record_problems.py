"""Says in our words why a record cannot be decoded. The decoder's words are those of a program."""

import re
from typing import Final

# The decoder ends its message with the path of the field: " - at `$.tweet_details.text`".
_MESSAGE: Final = re.compile(r"^(?P<problem>.*?)(?: - at `\$\.?(?P<path>.*)`)?$", re.DOTALL)
_MISSING: Final = re.compile(r"Object missing required field `(?P<name>.*)`")
_TYPE: Final = re.compile(r"Expected `(?P<expected>[^`]+)`(?:, got `(?P<got>[^`]+)`)?")
_BOUND: Final = re.compile(r"Expected `(?:int|float)` (?P<sign>[<>]=?) (?P<bound>\S+)")
_LENGTH: Final = re.compile(r"Expected `\w+` of length (?P<sign>[<>]=?) (?P<bound>\d+)")
_NAMES: Final = {
    "str": "a string",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "array": "an array",
    "object": "an object",
    "null": "null",
}
_GOT: Final = {**_NAMES, "int": "a number", "float": "a number with a fraction"}
_SIGNS: Final = {"<=": "at most", "<": "less than", ">=": "at least", ">": "more than"}
_BROKEN: Final = ("JSON is malformed", "Input data was truncated")
# Python's own decoder says where a record is broken.
_PLACE_IN_JSON: Final = re.compile(r"line \d+ column \d+ \(char \d+\)$")


def sentence_of(message: str) -> str:
    """The message of the decoder as a sentence that names the field."""
    parted = _MESSAGE.match(message)
    assert parted
    path = parted["path"] or ""
    problem = parted["problem"].rstrip(".")
    if missing := _MISSING.fullmatch(problem):
        path = f"{path}.{missing['name']}" if path else missing["name"]
        problem = "is required"
    else:
        problem = _said(problem)
    return f"{path}: {problem}." if path else f"{_begun(problem)}."


def _begun(problem: str) -> str:
    """A sentence about the record as a whole."""
    return f"The record {problem}" if problem.startswith(("must ", "is ")) else problem


def _said(problem: str) -> str:
    if "matching regex" in problem:
        return "must be a string of 1 to 40 digits"
    for pattern, words in ((_LENGTH, "must have {} {} characters"), (_BOUND, "must be {} {}")):
        if bounded := pattern.fullmatch(problem):
            return words.format(_SIGNS[bounded["sign"]], bounded["bound"])
    if typed := _TYPE.fullmatch(problem):
        expected = " or ".join(_NAMES.get(one, one) for one in typed["expected"].split(" | "))
        return f"must be {expected}" + (
            f", got {_GOT.get(got, got)}" if (got := typed["got"]) else ""
        )
    if "out of range" in problem:
        return "must be a smaller number"
    if problem.startswith(_BROKEN) or _PLACE_IN_JSON.search(problem):
        return "is not valid JSON"
    return problem.replace("`", "'")
