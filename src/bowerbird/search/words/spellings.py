"""Words that people spell in two ways: British and American, umlauts, and Arabic letters.

Each function takes a word as the index folds it, unless it says otherwise, and returns one
spelling for all of them; None if there is only one.
"""

import re
from collections.abc import Mapping
from typing import Final

_OUR: Final = re.compile(
    "(colo|favo|hono|labo|neighbo|behavio|flavo|harbo|humo|rumo|tumo|vapo|vigo|armo|cando|clamo|"
    "endeavo|fervo|glamo|odo|parlo|ranco|rigo|savio|savo|splendo|valo|ardo|demeano|arbo)"
    "ur(?=$|s|ed|ing|ful|less|ite|able|al|ly|hood|er|y|ist|is|iz|ous)"
)
_ISE: Final = re.compile("([a-z]{3,})is(e|es|ed|ing|er|ers|ation|ations|able)")
# What comes before -ise in words that have no spelling with z.
_STEMS_IN_ISE: Final = """
    prom exerc adv dev rev surpr enterpr comprom compr disgu prem prec conc expert franch
    merchand parad pra cru bru superv telev improv advert dem exc desp treat chem mala repr turquo
    torto porpo appra chast circumc inc likew otherw env prov unw apr upra sunr stepw clockw
"""
_ALWAYS_ISE: Final = frozenset(_STEMS_IN_ISE.split())
_YSE: Final = re.compile("(anal|paral|catal|dial|hydrol|electrol)ys(e|ed|es|ing|er|ers)")
_RE: Final = re.compile(
    "(cent|epicent|theat|amphitheat|lit|millilit|met|kilomet|centimet|millimet|nanomet|fib|calib|"
    "sab|spect|lust|scept|sepulch|meag|somb|goit|manoeuv|maneuv)re(s|d)?"
)
_OGUE: Final = re.compile("(catalog|dialog|analog|monolog|prolog|epilog|travelog|homolog)ue(s|d)?")
_ENCE: Final = re.compile("(def|off|lic|pret)ence(s|d)?")
_DOUBLE_L: Final = re.compile(
    "(travel|cancel|model|label|level|fuel|signal|total|marvel|counsel|channel|jewel|quarrel|dial|"
    "equal|initial|pedal|rival|shovel|tunnel|panel|chisel|duel|funnel|libel|pencil|stencil|ravel|"
    "unravel|spiral|parcel|enamel)l(ed|ing|er|ers|ings)"
)
_ENDINGS: Final = ((_YSE, "yz"), (_RE, "er"), (_OGUE, ""), (_ENCE, "ense"), (_DOUBLE_L, ""))
_AE: Final = re.compile(
    "(an|p|encyclop|orthop|h|leuk|arch|gyn|pal|f|medi|isch|)ae(?=sth|diatr|dia|dic|mi|mo|ma|olog|"
    "co|o|ces|cal|val)"
)
_OE: Final = re.compile("(f|di?arrh|an?m|man|hom|c|)oe(?=t[ua]|str|a|so|dem|b|uv|o|li)")
_PAIRS: Final = """
    grey:gray greys:grays greyscale:grayscale tyre:tire tyres:tires programme:program
    programmes:programs aluminium:aluminum aeroplane:airplane aeroplanes:airplanes
    jewellery:jewelry mould:mold moulds:molds mouldy:moldy plough:plow ploughs:plows
    sceptic:skeptic sceptics:skeptics sceptical:skeptical scepticism:skepticism
    pyjamas:pajamas pyjama:pajama cosy:cozy judgement:judgment judgements:judgments
    acknowledgement:acknowledgment acknowledgements:acknowledgments ageing:aging kerb:curb
    kerbs:curbs enrol:enroll enrols:enrolls enrolment:enrollment fulfil:fulfill
    fulfils:fulfills fulfilment:fulfillment skilful:skillful wilful:willful
    instalment:installment instalments:installments practise:practice practised:practiced
    practising:practicing doughnut:donut doughnuts:donuts whisky:whiskey whiskies:whiskeys
    moustache:mustache moustaches:mustaches mum:mom mums:moms maths:math yoghurt:yogurt
    yoghurts:yogurts artefact:artifact artefacts:artifacts sulphur:sulfur burnt:burned
    learnt:learned dreamt:dreamed leapt:leaped omelette:omelet omelettes:omelets
    speciality:specialty specialities:specialties gaol:jail
"""
_WHOLE_WORDS: Final[Mapping[str, str]] = dict(pair.split(":") for pair in _PAIRS.split())
# A cheap test first: few words are British.
_MAYBE_BRITISH: Final = re.compile(
    "our|[aou]e|ll(?:ed|ing|ings|ers?)$|(?:[iy]s(?:e[drs]?|ers|ing|ations?|able)|re[ds]?|ogue[ds]?|ence[ds]?)$"
)


def american(word: str) -> str | None:
    """The American spelling of a British word."""
    found = _WHOLE_WORDS.get(word)
    if found is None:
        if not _MAYBE_BRITISH.search(word):
            return None
        found = _OUR.sub(r"\1r", word) if "our" in word else word
        found = _by_ending(found)
        if "ae" in found or "oe" in found:
            found = _OE.sub(r"\1e", _AE.sub(r"\1e", found))
    return None if found == word else found


def _by_ending(word: str) -> str:
    if (match := _ISE.fullmatch(word)) and match[1] not in _ALWAYS_ISE:
        return f"{match[1]}iz{match[2]}"
    for pattern, ending in _ENDINGS:
        if match := pattern.fullmatch(word):
            suffix = match[2] or ""
            return match[1] + ending + ("ed" if suffix == "d" and ending in ("er", "") else suffix)
    return word


_DIGRAPHS: Final = {"\u00e4": "ae", "\u00f6": "oe", "\u00fc": "ue", "\u00f8": "oe", "\u00e5": "aa"}
_UMLAUT: Final = re.compile("[\u00e4\u00f6\u00fc\u00f8\u00e5]")
# Between consonants, or at the beginning of a word before one. "qu" is no umlaut.
_DIGRAPH: Final = re.compile(
    "(?<![aeiouyq])(?:([aou])e(?=[bcdfghklmnprstvwxz])|ae(?=u))|aa(?=[bdghklmnrst])"
)
# Words of English that have such a pair of letters, and would become another word without it.
_ENGLISH_WORDS: Final = """
    guest guests poet poets poem poems poetic poetry does goes shoes toes heroes fuel fuels
    duel duels cruel blues clues values issues queue coed phoenix aerial aero oboe michael rafael
    israel maestro influence influencer fluent truest suede
"""
_NO_UMLAUT: Final = frozenset(_ENGLISH_WORDS.split())
_MIN_DIGRAPH_LETTERS: Final = 4


def with_digraphs(word: str) -> str | None:
    """An unfolded word with its umlauts written as two letters: muenchen."""
    lowered = word.lower()
    found = _UMLAUT.sub(lambda match: _DIGRAPHS[match[0]], lowered)
    return None if found == lowered else found


def without_digraphs(word: str) -> str | None:
    """A word with ae, oe and ue as the index folds the umlauts: mueller becomes muller."""
    if len(word) < _MIN_DIGRAPH_LETTERS or word in _NO_UMLAUT:
        return None
    found = _DIGRAPH.sub(lambda match: match[1] or "a", word)
    return None if found == word else found


# Letters that are written alike: teh marbuta, alef maksura, and those of Persian keyboards.
_ARABIC_LETTERS: Final = str.maketrans(
    "\u0629\u0649\u06cc\u06a9\u06c1", "\u0647\u064a\u064a\u0643\u0647"
)
_ARTICLE: Final = re.compile(
    "(?:[\u0648\u0641]?[\u0628\u0643\u0644]?\u0627\u0644|[\u0648\u0641]?\u0644\u0644)"
    "(?=[\u0621-\u064a]{3})"
)
# "And" or "so" before a word: only of long words, because many words begin with this letter.
_CONJUNCTION: Final = re.compile("[\u0648\u0641](?=[\u0621-\u064a]{4})")


def arabic_letters(word: str) -> str:
    return word.translate(_ARABIC_LETTERS)


def without_article(word: str) -> str:
    """An Arabic word without its article, and the particles before it."""
    return _ARTICLE.sub("", word, count=1) if _ARTICLE.match(word) else word


def without_conjunction(word: str) -> str:
    return word[1:] if _CONJUNCTION.match(word) else word


# "The", "and", "in", "to", "from", "that" and "as" are written together with a Hebrew word.
_HEBREW_PREFIX: Final = re.compile(
    "[\u05d4\u05d5\u05d1\u05dc\u05de\u05e9\u05db](?=[\u05d0-\u05ea]{3})"
)
_HEBREW_ARTICLE: Final = "\u05d4"


def without_hebrew_prefix(word: str) -> str:
    return word[1:] if _HEBREW_PREFIX.match(word) else word


def without_hebrew_article(word: str) -> str:
    return without_hebrew_prefix(word) if word.startswith(_HEBREW_ARTICLE) else word
