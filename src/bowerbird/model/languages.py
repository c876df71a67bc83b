"""The languages of posts: codes of BCP 47 without script or region, and their names."""

import re
import unicodedata
from typing import Final

from msgspec import UNSET, UnsetType

UNKNOWN: Final = ""
"""The language of a post that nothing shows."""

UNDETERMINED: Final = "und"
"""What BCP 47 calls a language that is not known."""

MAX_CHARACTERS: Final = 35
_PRIMARY: Final = re.compile(r"([a-z]{2,3})(?:[-_][a-z0-9_-]*)?", re.ASCII)
# No language, several, or one without a code. X uses qaa to qtz for posts without text.
_NONE: Final = frozenset({UNDETERMINED, "zxx", "mul", "mis", "art", "xx"})
_PRIVATE: Final = re.compile("q[a-t][a-z]")
# Codes that were replaced, which X still uses, and those that mean the same.
_NOW: Final = {
    "iw": "he",
    "in": "id",
    "ji": "yi",
    "jw": "jv",
    "mo": "ro",
    "nb": "no",
    "fil": "tl",
    "cmn": "zh",
}
# In the language itself. Others are shown by their code.
NAMES: Final = {
    "am": "አማርኛ",
    "ar": "العربية",
    "be": "Беларуская",
    "bg": "Български",
    "bn": "বাংলা",
    "bo": "བོད་སྐད་",
    "bs": "Bosanski",
    "ca": "Català",
    "cs": "Čeština",
    "cy": "Cymraeg",
    "da": "Dansk",
    "de": "Deutsch",
    "el": "Ελληνικά",
    "en": "English",
    "eo": "Esperanto",
    "es": "Español",
    "et": "Eesti",
    "eu": "Euskara",
    "fa": "فارسی",
    "fi": "Suomi",
    "fr": "Français",
    "ga": "Gaeilge",
    "gl": "Galego",
    "gu": "ગુજરાતી",
    "he": "עברית",
    "hi": "हिन्दी",
    "hr": "Hrvatski",
    "ht": "Kreyòl ayisyen",
    "hu": "Magyar",
    "hy": "Հայերեն",
    "id": "Indonesia",
    "is": "Íslenska",
    "it": "Italiano",
    "ja": "日本語",
    "jv": "Jawa",
    "ka": "ქართული",
    "km": "ខ្មែរ",
    "kn": "ಕನ್ನಡ",
    "ko": "한국어",
    "lo": "ລາວ",
    "lt": "Lietuvių",
    "lv": "Latviešu",
    "ml": "മലയാളം",
    "mr": "मराठी",
    "ms": "Melayu",
    "my": "မြန်မာ",
    "ne": "नेपाली",
    "nl": "Nederlands",
    "nn": "Nynorsk",
    "no": "Norsk",
    "pa": "ਪੰਜਾਬੀ",
    "pl": "Polski",
    "pt": "Português",
    "ro": "Română",
    "ru": "Русский",
    "si": "සිංහල",
    "sk": "Slovenčina",
    "sl": "Slovenščina",
    "sq": "Shqip",
    "sr": "Српски",
    "sv": "Svenska",
    "sw": "Kiswahili",
    "ta": "தமிழ்",
    "te": "తెలుగు",
    "th": "ไทย",
    "tl": "Tagalog",
    "tr": "Türkçe",
    "uk": "Українська",
    "ur": "اردو",
    "vi": "Tiếng Việt",
    "yi": "ייִדיש",
    "zh": "中文",
}

_ENGLISH: Final = """
am amharic, ar arabic, be belarusian, bg bulgarian, bn bengali, bo tibetan, bs bosnian,
ca catalan, cs czech, cy welsh, da danish, de german, el greek, en english, eo esperanto,
es spanish, et estonian, eu basque, fa persian, fi finnish, fr french, ga irish, gl galician,
gu gujarati, he hebrew, hi hindi, hr croatian, ht haitian, hu hungarian, hy armenian,
id indonesian, is icelandic, it italian, ja japanese, jv javanese, ka georgian, km khmer,
kn kannada, ko korean, lo lao, lt lithuanian, lv latvian, ml malayalam, mr marathi, ms malay,
my burmese, ne nepali, nl dutch, no norwegian, pa punjabi, pl polish, pt portuguese,
ro romanian, ru russian, si sinhala, sk slovak, sl slovenian, sq albanian, sr serbian,
sv swedish, sw swahili, ta tamil, te telugu, th thai, tl filipino, tr turkish, uk ukrainian,
ur urdu, vi vietnamese, yi yiddish, zh chinese, fa farsi, zh mandarin, nl flemish, und unknown
"""
_BY_NAME: Final[dict[str, str]] = {}


def code_of(tag: str) -> str | None:
    """The code in a tag such as en-GB, UNKNOWN if that is no language; None if it is no tag."""
    found = _PRIMARY.fullmatch(tag.strip().lower()) if len(tag) <= MAX_CHARACTERS else None
    if found is None:
        return None
    code = found[1]
    return UNKNOWN if code in _NONE or _PRIVATE.fullmatch(code) else _NOW.get(code, code)


def code_called(text: str) -> str | None:
    """The code of a language by its code, or its name in English or in itself, without accents."""
    if not _BY_NAME:
        pairs = [pair.split() for pair in _ENGLISH.split(",")]
        named = [*((name, code) for code, name in NAMES.items()), *((n, c) for c, n in pairs)]
        _BY_NAME.update((_plain(name), code) for name, code in named)
    if len(text) > MAX_CHARACTERS:
        return None
    return code_of(_BY_NAME.get(_plain(text), text))


def _plain(name: str) -> str:
    letters = unicodedata.normalize("NFKD", name.strip()).casefold()
    return "".join(letter for letter in letters if not unicodedata.combining(letter))


def stated(*tags: object) -> str | UnsetType:
    """The first of the tags that a source gives a post, if it names a language."""
    for tag in tags:
        if isinstance(tag, str) and code_of(tag):
            return tag.strip()
    return UNSET


def name_of(code: str) -> str:
    return NAMES.get(code, code or "unknown")


def named_like(text: str) -> list[str]:
    """The codes that start like the text, and those of languages whose names do."""
    start = text.casefold()
    return [
        code
        for code, name in NAMES.items()
        if code.startswith(start) or name.casefold().startswith(start)
    ]
