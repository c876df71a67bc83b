"""Finds the language of a text from its script, its letters and its words.

A language is an ISO 639 code. A short Latin text may be as likely in two languages: then it is both
codes, joined by a plus sign, which `likely_languages` splits.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from string import ascii_letters
from typing import Final

from bowerbird.search.words.token_folding import fold
from bowerbird.search.words.word_lists import ENGLISH, FUNCTION_WORDS, OTHER_FUNCTION_WORDS

# The beginning of a text shows its language as well as the whole: characters, and words.
_SAMPLE_CHARACTERS: Final = 1_000
MAX_WORDS: Final = 60
# A post in a Latin script often has a few words of another one, such as a name.
_MIN_SHARE: Final = 0.4
_COUNTED_LETTERS: Final = 24

# Runs of letters, because a match for each letter takes several times as long.
_NOT_LATIN: Final = re.compile(
    "[\u0370-\u1cff\u2d00-\u2d7f\u3040-\u30ff\u3131-\u318e\u3400-\u9fff\ua960-\uabff\uac00-\ud7ff"
    "\uf900-\ufaff\ufb1d-\ufdfb\ufe70-\ufefc\uff66-\uffdc\U00020000-\U0003ffff]+"
)
_LATIN: Final = re.compile("[A-Za-z\u00c0-\u024f\u1e00-\u1eff]+")
_SCRIPTS: Final = {
    "el": "\u0370-\u03ff\u1f00-\u1fff",
    "ru": "\u0400-\u052f\u1c80-\u1c8f",
    "hy": "\u0530-\u058f\ufb13-\ufb17",
    "he": "\u0590-\u05ff\ufb1d-\ufb4f",
    "ar": "\u0600-\u06ff\u0750-\u077f\u08a0-\u08ff\ufb50-\ufdfb\ufe70-\ufefc",
    "hi": "\u0900-\u097f\ua8e0-\ua8ff",
    "bn": "\u0980-\u09ff",
    "pa": "\u0a00-\u0a7f",
    "gu": "\u0a80-\u0aff",
    "ta": "\u0b80-\u0bff",
    "te": "\u0c00-\u0c7f",
    "kn": "\u0c80-\u0cff",
    "ml": "\u0d00-\u0d7f",
    "si": "\u0d80-\u0dff",
    "th": "\u0e00-\u0e7f",
    "lo": "\u0e80-\u0eff",
    "bo": "\u0f00-\u0fff",
    "my": "\u1000-\u109f\uaa60-\uaa7f",
    "ka": "\u10a0-\u10ff\u1c90-\u1cbf\u2d00-\u2d2f",
    "ko": "\u1100-\u11ff\u3131-\u318e\ua960-\ua97f\uac00-\ud7ff",
    "am": "\u1200-\u139f\u2d80-\u2ddf",
    "km": "\u1780-\u17ff",
    "zh": "\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff",
    "ja": "\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9f",
}
_SCRIPT: Final = re.compile("|".join(f"(?P<{name}>[{marks}])" for name, marks in _SCRIPTS.items()))

# Letters that one language of a script has and the largest one does not.
_CYRILLIC: Final = {
    "uk": frozenset("іїєґ"),
    "be": frozenset("ў"),
    "sr": frozenset("јљњћђџ"),
    "bg": frozenset(),
}
_NOT_BULGARIAN: Final = frozenset("ыэёіїєўј")
_URDU: Final = frozenset("\u0679\u0688\u0691\u06ba\u06d2")
_PERSIAN: Final = frozenset("\u067e\u0686\u0698\u06af\u06cc\u06a9")
# Of each text.
_MAX_CHARACTERS: Final = 600
# This many characters usually have more than MAX_WORDS words.
_ENOUGH_CHARACTERS: Final = 500
# With so many ASCII letters for each other character, a text is not of another script.
_LATIN_SHARE: Final = 2
_NOT_LETTERS: Final = bytes(set(range(128)) - set(ascii_letters.encode()))
_NOT_ASCII: Final = re.compile(r"[^\x00-\x7f]+")
# What the language of a Latin text is sure with: so many of its function words, and such a share.
_SURE_WORDS: Final = 2
_SURE_SHARE: Final = 0.12
_ADDRESS: Final = re.compile(r"\bhttps?://\S+")
# Languages that are not written in Latin letters: their Latin words are taken for English.
OTHER_SCRIPTS: Final = frozenset(_SCRIPTS) | {"uk", "be", "sr", "bg", "ur", "fa", "mr", "ne"}


def language_of(text: str) -> str:
    """The language of a text, or the two likeliest."""
    sample = text[:_SAMPLE_CHARACTERS]
    return language_of_words(fold(sample).split(), [sample])


def language_of_words(words: Sequence[str], fields: Sequence[str]) -> str:
    """The language of texts whose folded words are known already."""
    if all(map(str.isascii, fields)):
        return of_latin_words(words, "")
    sample = " ".join(fields)[:_SAMPLE_CHARACTERS]
    return _of_other_script(sample) or of_latin_words(words, sample)


def language_of_texts(texts: Sequence[str]) -> str:
    """The language that `language_of` finds for the beginnings of all texts. Faster for Latin."""
    sample = " ".join([text[:_MAX_CHARACTERS] for text in texts])[:_SAMPLE_CHARACTERS]
    others = ""
    if not sample.isascii():
        ascii_characters = sample.encode("ascii", "ignore")
        letters = len(ascii_characters.translate(None, _NOT_LETTERS))
        if letters < (len(sample) - len(ascii_characters)) * _LATIN_SHARE:
            return language_of(sample)
        others = "".join(_NOT_ASCII.findall(sample))
    words = fold(sample[:_ENOUGH_CHARACTERS]).split()
    # The last word may be cut.
    if len(words) <= MAX_WORDS:
        words = fold(sample).split()
    # Only letters that are not ASCII show a language.
    return of_latin_words(words, others)


def sure_language(text: str) -> str:
    """The language of a text if its script or its words leave no doubt; otherwise ""."""
    sample = text[:_ENOUGH_CHARACTERS]
    if "://" in sample:
        sample = _ADDRESS.sub(" ", sample)
    words = fold(sample).split()[:MAX_WORDS]
    if sample.isascii() and len(_FUNCTION_WORDS.intersection(words)) < _SURE_WORDS:
        return ""
    language = language_of_words(words, [sample])
    if language in OTHER_SCRIPTS:
        return language
    own = FUNCTION_WORDS.get(language, frozenset()).intersection(words)
    return language if len(own) >= max(_SURE_WORDS, _SURE_SHARE * len(words)) else ""


def script_of(character: str) -> str | None:
    """The main language of the script of a character; None for Latin letters and signs."""
    return _SCRIPT_OF[character]


class _Scripts(dict[str, str | None]):
    """The script of each character, found on first use."""

    _max_entries = 65_536  # bounds the memory that hostile text can use

    def __missing__(self, character: str) -> str | None:
        found = _SCRIPT.match(character)
        script = found.lastgroup if found else None
        if len(self) < self._max_entries:
            self[character] = script
        return script


_SCRIPT_OF: Final = _Scripts()


def _of_other_script(sample: str) -> str | None:
    if sample.isascii():
        return None
    letters = "".join(_NOT_LATIN.findall(sample))
    if not letters:
        return None
    latin = sum(map(len, _LATIN.findall(sample)))
    if len(letters) < _MIN_SHARE * (len(letters) + latin):
        return None
    some = letters[:: len(letters) // _COUNTED_LETTERS + 1]
    scripts = Counter(script for letter in some if (script := script_of(letter)))
    if not scripts:
        return None
    if scripts["ja"] and scripts["zh"] + scripts["ja"] >= len(some) / 2:
        return "ja"
    script = scripts.most_common(1)[0][0]
    return _within_script(script, sample)


def _within_script(script: str, sample: str) -> str:
    if script == "ru":
        return _cyrillic(frozenset(sample.lower()), sample)
    if script == "ar":
        letters = frozenset(sample)
        return "ur" if letters & _URDU else "fa" if letters & _PERSIAN else "ar"
    if script == "hi":
        words = frozenset(sample.split())
        found = [code for code in ("mr", "ne") if words & OTHER_FUNCTION_WORDS[code]]
        return found[0] if found else "hi"
    return script


def _cyrillic(letters: frozenset[str], sample: str) -> str:
    for code, own in _CYRILLIC.items():
        if letters & own:
            return code
    words = frozenset(sample.lower().split())
    is_bulgarian = not letters & _NOT_BULGARIAN and len(words & OTHER_FUNCTION_WORDS["bg"]) > len(
        words & OTHER_FUNCTION_WORDS["ru"]
    )
    return "bg" if is_bulgarian else "ru"


# The rest is for languages of Latin letters. Function words, letters and endings show them.

# If two have the same evidence, the one that more people write comes first.
_WRITERS: Final = "en es pt fr de it id tr nl pl vi sv ro cs hu fi da no ca lt et"
_BY_WRITERS: Final = {language: rank for rank, language in enumerate(_WRITERS.split())}
_LETTERS: Final = {
    "de": "ßäöü",
    "es": "ñ¿¡áéíóú",
    "pt": "ãõçêâáéíóúàô",
    "fr": "œçéèêëàâùîïôû",
    "it": "èéàòùì",
    "nl": "ëï",
    "tr": "ğışçöü\u0130",
    "hu": "őűáéíöüóú",
    "pl": "łąężźćśńó",
    "cs": "ěřůčšžýáíéúťďň",
    "ro": "ășțşţâî",
    "vi": "ơưđăạảấầẩẫậắằẳẵặẹẻẽếềểễệịỉĩọỏốồổỗộớờởỡợụủũứừửữựỳỷỹỵáàâêôéíóòùúãõ",
    "sv": "åäö",
    "da": "øåæ",
    "no": "øåæ",
    "fi": "äö",
    "et": "õäöü",
    "lt": "ėįųčšžąęū",
    "ca": "·çèàòïüéíóú",
}
# Of words that are no function words: two to four letters, folded as the index folds them.
_ENDINGS: Final = {
    "en": "ing ings tion ed ly ness ment able ful ous ity ght ough ers tes ses ves ies ck nd sh th",
    "de": "ung ngen keit heit lich isch sche chen cht sch elt ern tte ete ach uch erin tzt zen",
    "nl": "eek oek eken lijk heid tje tjes elt elen uis aar aan oor uit eid eren uwe jn jk",
    "fr": "eaux eau eux aux ment ais ait ez oir ique elle ette eur eurs aire ies ees ent",
    "es": "os as ado ada idos cion dad iendo ando aje ero era illo illa ales ules anza",
    "pt": "os as ado ada cao oes agem nha nho ncia eira eiro uis ais iona endo ando dade em",
    "it": "zione ato ata ati are ere ire ggio ini oni tti cchi etto etta ella esco eca eche ri ni",
    "sv": "arna orna erna ning het igt iga ade are ckor ngen",
    "da": "erne ene else hed lig ede ning nde eren",
    "no": "ene else het lig ing eren ning",
    "fi": "ssa sta lla lta lle ksi iin aan een nen oja eja ita oita jen ista issa taa kaa kki ksen "
    "tti uu ia lin",
    "hu": "ban ben bol nak nek rol val vel hoz hez eket okat akat ott ett tam tem sag seg unk nk "
    "asz esz ok ek ony",
    "tr": "lar ler lari leri dan den nin nun lik luk yor dir mak mek inda inde iyor acak",
    "pl": "iego ego ych ich ami owy owe ski skie cie iem rze ki cki tki ac iej ie szy zy",
    "cs": "eho ych ich ova eni osti ny ske sky mi ky ali",
    "ro": "ului ul lui ele elor lor rea asca esc este iile uri",
    "ca": "cio ions tat tats ment eix atge",
    "id": "kan nya lah akan",
    "lt": "as is us os ai iai ius oje uose yti",
    "et": "ud vad mine sse ga ks de ust",
}  # fmt: skip
# Of a word whose ending counts.
_MIN_LETTERS: Final = 4
# So many show their language by endings; more words have function words among them.
_FEW_WORDS: Final = 12
_MIN_SHARE_OF_WORDS: Final = 0.1
# What a sign counts that only one language has.
_WORD_VOTE: Final = 120
_LETTER_VOTE: Final = 60
# For each letter of the ending.
_ENDING_VOTE: Final = 20
# Signs that more languages have count less.
_SHARING: Final = 0.7
# Most texts without accents are English, even if nothing shows it.
_ENGLISH_VOTE: Final = 30
# Every language has words that are signs of another one. Its own texts have more of them.
_MIN_VOTE_PER_WORD: Final = 12
_MIN_VOTE_PER_WORD_WITH_LETTERS: Final = 8
_MIN_VOTE_WITHOUT_ENGLISH: Final = 130
# A second language with at least this share of the votes of the first is likely too.
_LIKELY_SHARE: Final = 0.6
_AND: Final = "+"


def likely_languages(language: str) -> list[str]:
    """The codes in what the functions here give, the likeliest first."""
    return language.split(_AND)


def of_latin_words(words: Sequence[str], sample: str) -> str:
    """The code of the likeliest language, or those of the two likeliest, joined by a plus sign."""
    words = words[:MAX_WORDS]
    found = _FUNCTION_WORDS.intersection(words)
    if sample.isascii() and _is_clearly_english(found, len(words)):
        return ENGLISH
    letters = _ALL_LETTERS.intersection(sample.lower())
    sigil_words = [word for word in words if word[0] in "#@"]
    names = [word[1:] for word in sigil_words]
    others = set(words[:_FEW_WORDS]).difference(found, names, sigil_words)
    votes: dict[str, int] = {ENGLISH: _ENGLISH_VOTE}
    _count(votes, found.difference(names), _LANGUAGES_OF_WORD)
    _count(votes, _endings(others), _LANGUAGES_OF_ENDING)
    _count(votes, letters, _LANGUAGES_OF_LETTER)
    needed = _MIN_VOTE_PER_WORD_WITH_LETTERS if letters else _MIN_VOTE_PER_WORD
    return _likeliest(votes, needed * len(words), is_plain=not letters)


def _is_clearly_english(function_words: frozenset[str], words: int) -> bool:
    """Fast, because most posts are English."""
    if words > _FEW_WORDS and len(function_words) <= _MIN_SHARE_OF_WORDS * words:
        return True
    return len(function_words & _ONLY_ENGLISH) > len(function_words - _ENGLISH_WORDS)


_Votes = Sequence[tuple[str, int]]


def _count(votes: dict[str, int], signs: Iterable[str], languages: Mapping[str, _Votes]) -> None:
    for sign in signs:
        for language, vote in languages[sign]:
            votes[language] = votes.get(language, 0) + vote


def _endings(words: Iterable[str]) -> list[str]:
    """The longest known ending of each word."""
    found = []
    for word in words:
        if len(word) >= _MIN_LETTERS:
            for ending in (word[-4:], word[-3:], word[-2:]):
                if ending in _LANGUAGES_OF_ENDING:
                    found.append(ending)
                    break
    return found


def _likeliest(votes: Mapping[str, int], needed: int, *, is_plain: bool) -> str:
    ranked = sorted(votes, key=_BY_WRITERS.__getitem__)
    ranked.sort(key=votes.__getitem__, reverse=True)
    first, count = ranked[0], votes[ranked[0]]
    if count <= needed or len(ranked) == 1:
        return ENGLISH
    if is_plain and first != ENGLISH and count < _MIN_VOTE_WITHOUT_ENGLISH:
        return f"{first}{_AND}{ENGLISH}"
    second = ranked[1]
    return f"{first}{_AND}{second}" if votes[second] >= _LIKELY_SHARE * count else first


def _languages_by(
    lists: Mapping[str, Iterable[str]], vote: Callable[[str], int]
) -> dict[str, _Votes]:
    found: dict[str, list[str]] = {}
    for language, signs in lists.items():
        for sign in signs:
            found.setdefault(sign, []).append(language)
    return {
        sign: [(language, round(vote(sign) / len(languages) ** _SHARING)) for language in languages]
        for sign, languages in found.items()
    }


_LANGUAGES_OF_WORD: Final = _languages_by(FUNCTION_WORDS, lambda _: _WORD_VOTE)
_FUNCTION_WORDS: Final = frozenset(_LANGUAGES_OF_WORD)
_ENGLISH_WORDS: Final = FUNCTION_WORDS[ENGLISH]
_ONLY_ENGLISH: Final = frozenset(
    word for word in _ENGLISH_WORDS if len(_LANGUAGES_OF_WORD[word]) == 1
)
_LANGUAGES_OF_LETTER: Final = _languages_by(_LETTERS, lambda _: _LETTER_VOTE)
_ALL_LETTERS: Final = frozenset(_LANGUAGES_OF_LETTER)
_LANGUAGES_OF_ENDING: Final = _languages_by(
    {language: frozenset(endings.split()) for language, endings in _ENDINGS.items()},
    lambda ending: _ENDING_VOTE * len(ending),
)
