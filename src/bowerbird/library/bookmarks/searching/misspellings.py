"""What a word that no post has may have been meant to be."""

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct

from bowerbird.model.words import Form
from bowerbird.search.queries.spelling import edits_of, splits_of

TYPO_WEIGHT: Final = 0.6
_FORMS_MAX: Final = 6
_SIGILS: Final = "#@"


class Guesses(Struct, frozen=True):
    """Words that may have been meant; which of them exist is not known yet."""

    typed: str
    edits: Sequence[str]
    # Two words instead of one, and one instead of two neighbours.
    splits: Sequence[tuple[str, str]]
    joins: Sequence[tuple[str, str]]

    @property
    def tokens(self) -> set[str]:
        parts = {part for pair in self.splits for part in pair}
        return {*self.edits, *parts, *map("".join, self.joins)}

    def likeliest(self, counts: Mapping[str, int]) -> tuple[list[Form], str, str]:
        """The forms to search for, the text that they replace, and the likeliest one."""
        for pair in self.joins:
            if (joined := "".join(pair)) in counts:
                return [Form((joined,))], " ".join(pair), joined
        edits = sorted((e for e in self.edits if e in counts), key=lambda e: (-counts[e], e))
        if edits:
            forms = [Form((edit,), TYPO_WEIGHT) for edit in edits[:_FORMS_MAX]]
            return forms, self.typed, edits[0]
        splits = [pair for pair in self.splits if all(part in counts for part in pair)]
        if splits:
            best = max(splits, key=lambda pair: min(counts[part] for part in pair))
            return [Form(best)], self.typed, " ".join(best)
        return [], self.typed, ""


def guesses_for(word: str, beside: Sequence[tuple[str, str]]) -> Guesses:
    """`beside` has the pairs of neighbours in the query that the word is part of."""
    sigil = word[:1] if word[:1] in _SIGILS else ""
    edits = [sigil + edit for edit in edits_of(word[len(sigil) :])]
    joins = [pair for pair in beside if not any(part[0] in _SIGILS for part in pair)]
    return Guesses(word, edits, [] if sigil else splits_of(word), joins)
