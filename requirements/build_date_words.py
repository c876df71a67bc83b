"""Writes the date formats of the languages that the website knows, from Unicode CLDR.

Run it to add a language or to update the data (docs/adr/0029):

    uv run --with babel==2.18.0 requirements/build_date_words.py

Babel reads the skeletons of CLDR and their patterns. It is not used by the service itself.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

TARGET = Path(__file__).parents[1] / "src/bowerbird/web/visits/date_words.json"
LANGUAGES = (
    *("af", "am", "ar", "az", "be", "bg", "bn", "bs", "ca", "cs", "cy", "da", "de", "el"),
    *("es", "et", "eu", "fa", "fi", "fil", "fr", "ga", "gl", "gu", "he", "hi", "hr", "hu"),
    *("hy", "id", "is", "it", "ja", "ka", "kk", "km", "kn", "ko", "lo", "lt", "lv", "mk"),
    *("ml", "mn", "mr", "ms", "my", "nb", "ne", "nl", "nn", "pa", "pl", "pt", "pt_PT", "ro"),
    *("ru", "si", "sk", "sl", "sq", "sr", "sr_Latn", "sv", "sw", "ta", "te", "th", "tr", "uk"),
    *("ur", "uz", "vi", "zh", "zh_Hant", "zu"),
)
# In a pattern: a quoted text, a field of the date, or any other text.
_PART = re.compile(r"'((?:[^']|'')*)'|([a-zA-Z])\2*|[^a-zA-Z']+")
_FIELDS = {"d": "{d}", "dd": "{d:02}", "M": "{m}", "MM": "{m:02}", "L": "{m}", "y": "{y}"}
_NAMES = {"MMM": "{name}", "LLL": "{alone}", "LLLL": "{alone}"}
_TIMES = {"H": "{h}", "HH": "{h:02}", "mm": "{min:02}"}
_FIELD_OF = _FIELDS | _NAMES | _TIMES


def _template(pattern: str) -> str:
    """A CLDR pattern as a template of `str.format`."""

    def part(found: re.Match[str]) -> str:
        if found[1] is not None:
            return found[1].replace("''", "'")
        return _FIELD_OF[found[0]] if found[2] else found[0]

    return _PART.sub(part, pattern)


def _words(name: str) -> dict[str, object]:
    from babel import Locale  # noqa: PLC0415 - not a dependency

    locale = Locale.parse(name)
    patterns = {
        key: locale.datetime_skeletons[skeleton].pattern
        for key, skeleton in (
            ("day", "yMMMd"),
            ("short", "MMMd"),
            ("month", "yMMM"),
            ("time", "Hm"),
        )
    }
    width = "wide" if "LLLL" in patterns["month"] else "abbreviated"
    return {
        **{key: _template(pattern) for key, pattern in patterns.items()},
        "both": locale.datetime_formats["medium"].replace("'", ""),
        "months": [locale.months["format"]["abbreviated"][month] for month in range(1, 13)],
        "alone": [locale.months["stand-alone"][width][month] for month in range(1, 13)],
        # From Monday.
        "weekdays": [locale.days["format"]["abbreviated"][day] for day in range(7)],
        "is_rtl": locale.text_direction == "rtl",
    }


def main() -> None:
    if len(sys.argv) > 1:
        print(json.dumps(_words(sys.argv[1])))
        return
    found = {}
    for name in LANGUAGES:
        # In a process of its own: a language that Babel has loaded changes the aliases of others.
        run = [sys.executable, __file__, name]
        made = subprocess.run(run, check=True, capture_output=True, text=True)
        found[name.replace("_", "-")] = json.loads(made.stdout)
    lines = (f"{json.dumps(k)}: {json.dumps(v, ensure_ascii=False)}" for k, v in found.items())
    TARGET.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
