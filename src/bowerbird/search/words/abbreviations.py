"""Abbreviations and what they stand for, in both directions: k8s and Kubernetes."""

from collections import defaultdict
from collections.abc import Iterator
from typing import Final

from bowerbird.model.words import STEM_WEIGHT, Form

_LONG_FORMS: Final = """
    k8s: kubernetes; k3s: kubernetes; i18n: internationalization, internationalisation; l10n:
    localization, localisation; a11y: accessibility; o11y: observability; g11n: globalization;
    p13n: personalization; i14y: interoperability; c14n: canonicalization; v12n: virtualization;
    n11n: normalization; a16z: andreessen horowitz; js: javascript; ts: typescript; py: python;
    postgres: postgresql; db: database; ml: machine learning; ai: artificial intelligence;
    llm: large language model; llms: large language models; nlp: natural language processing;
    rag: retrieval augmented generation; ux: user experience; ui: user interface; oss: open source;
    repo: repository; docs: documentation; config: configuration; auth: authentication;
    infra: infrastructure; admin: administrator; vpn: virtual private network;
    iot: internet of things; vr: virtual reality; cli: command line; tdd: test driven development;
    seo: search engine optimization; vc: venture capital; nyc: new york city;
    eu: european union; uk: united kingdom; usa: united states; diy: do it yourself;
    faq: frequently asked questions; ww2: second world war; tv: television
"""
# Shorter words are abbreviated in another way.
_LEAST_LETTERS: Final = 10
_ENDS: Final = 2


def _table() -> dict[str, list[tuple[str, ...]]]:
    found: defaultdict[str, list[tuple[str, ...]]] = defaultdict(list)
    for entry in " ".join(_LONG_FORMS.split()).split("; "):
        short, _, texts = entry.partition(": ")
        for text in texts.split(", "):
            found[short].append(tuple(text.split()))
            if " " not in text:
                found[text].append((short,))
    return dict(found)


_TABLE: Final = _table()


def forms_of(word: str) -> Iterator[Form]:
    """The abbreviation of a folded word, or what it is one of."""
    for tokens in _TABLE.get(word, ()):
        yield Form(tokens, STEM_WEIGHT)
    if len(word) >= _LEAST_LETTERS and word.isascii() and word.isalpha():
        yield Form((f"{word[0]}{len(word) - _ENDS}{word[-1]}",), STEM_WEIGHT)
