"""Finds the likely languages of a Latin text from its function words, letters and endings."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from bowerbird.search.words.word_lists import ENGLISH, FUNCTION_WORDS

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
# The beginning of a text shows its language as well as the whole.
MAX_WORDS: Final = 60
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
    """The codes in what the functions of `languages` give, the likeliest first."""
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
