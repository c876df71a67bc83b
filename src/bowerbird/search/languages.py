"""The language of a text, by its script and its most common words."""

import re
from collections import Counter
from typing import Final

_SCRIPTS: Final = (
    (re.compile("[\u3040-\u30ff]"), "ja"),
    (re.compile("[\uac00-\ud7af]"), "ko"),
    (re.compile("[\u4e00-\u9fff]"), "zh"),
    (re.compile("[\u0e00-\u0e7f]"), "th"),
    (re.compile("[\u0600-\u06ff]"), "ar"),
    (re.compile("[\u0590-\u05ff]"), "he"),
    (re.compile("[\u0900-\u097f]"), "hi"),
    (re.compile("[\u0370-\u03ff]"), "el"),
    (re.compile("[\u0400-\u04ff]"), "ru"),
)
_COMMON: Final = {
    "en": "the and of to is that for with this it was you are not have from they what be an",
    "de": "der die das und ist nicht ein eine mit für auf von zu den dem im sich auch wir ich es",
    "es": "el la los las de que y en un una por con para es no se del lo como más al",
    "fr": "le la les des et est une dans pour que qui pas sur avec au aux ce sont du en plus il",
    "it": "il lo gli le di che è un una per con non del della sono nel anche si alla dei come",
    "pt": "o os as do da que em um uma para com não por mais dos das é no na ao se",
    "nl": "het een en van is niet dat op te zijn voor met die aan ook maar wat naar bij er",
    "pl": "nie się jest na do że w z i to jak ale po co tak za od przez dla był",
    "tr": "bir ve bu için ile çok da de ama daha gibi olan var ne kadar değil en sonra",
    "sv": "och att det som en på är av för med inte till den har jag ett om kan",
    "vi": "và của là không có một những được trong cho với người các này khi đã",
}
_LANGUAGES_OF: Final[dict[str, list[str]]] = {}
for _language, _words in _COMMON.items():
    for _word in _words.split():
        _LANGUAGES_OF.setdefault(_word, []).append(_language)
_WORD: Final = re.compile(r"[^\W\d_]+")
# Enough to tell the languages apart, and quick.
_MAX_CHARACTERS: Final = 600
_MIN_WORDS: Final = 2
_MIN_LETTERS: Final = 2


def language_of(text: str, lang: str | None = None) -> str:
    """An ISO 639-1 code: `lang` if it is known, else the script's, else by common words.

    English if nothing says otherwise.
    """
    if lang and lang[:2] not in ("un", "qm", "qh", "zx"):
        return lang[:2].lower()
    text = text[:_MAX_CHARACTERS]
    letters = sum(map(str.isalpha, text))
    for pattern, language in _SCRIPTS:
        found = len(pattern.findall(text))
        if found >= _MIN_LETTERS and 4 * found >= letters:
            return language
    counts: Counter[str] = Counter()
    for word in _WORD.findall(text.lower()):
        counts.update(_LANGUAGES_OF.get(word, ()))
    if not counts:
        return "en"
    language, count = counts.most_common(1)[0]
    return language if count >= _MIN_WORDS and count > counts["en"] else "en"
