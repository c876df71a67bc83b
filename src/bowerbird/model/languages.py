"""The languages of posts: codes of BCP 47 without script or region, and their names."""

import re
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


def code_of(tag: str) -> str | None:
    """The code in a tag such as en-GB, UNKNOWN if that is no language; None if it is no tag."""
    found = _PRIMARY.fullmatch(tag.strip().lower()) if len(tag) <= MAX_CHARACTERS else None
    if found is None:
        return None
    code = found[1]
    return UNKNOWN if code in _NONE or _PRIVATE.fullmatch(code) else _NOW.get(code, code)


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
