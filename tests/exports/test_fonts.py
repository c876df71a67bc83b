"""The scripts that a machine cannot set are named, with the package that brings their font."""

from pathlib import Path

import pytest
import typst

from bowerbird.exports.fonts import Missing, chain, missing_fonts, notes, script_of
from tests.exports.documents import Document
from tests.exports.files import bookmark, export


@pytest.fixture
def only_latin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine with Noto Sans and no other font."""
    folder = tmp_path / "fonts"
    folder.mkdir()
    for font in typst.Fonts(include_embedded_fonts=False).fonts():
        if font.family == "Noto Sans" and font.path:
            link = folder / Path(font.path).name
            if not link.exists():
                link.symlink_to(font.path)
    settings = tmp_path / "fonts.conf"
    settings.write_text(f"<fontconfig><dir>{folder}</dir></fontconfig>")
    monkeypatch.setenv("FONTCONFIG_FILE", str(settings))


def lack(script: str, package: str) -> str:
    sentence = f"{script} text has no font on this server and is shown as empty boxes"
    return f"{sentence}; install {package}: sh requirements/system.sh fonts"


def test_this_machine_has_a_font_for_every_script() -> None:
    assert missing_fonts() == []


@pytest.mark.usefixtures("only_latin")
def test_missing_fonts_are_named_with_their_package() -> None:
    assert missing_fonts() == [
        Missing("Arabic", "fonts-noto-core"),
        Missing("Hebrew", "fonts-noto-core"),
        Missing("Devanagari", "fonts-noto-core"),
        Missing("Thai", "fonts-noto-core"),
        Missing("CJK", "fonts-noto-cjk"),
        Missing("emoji", "fonts-noto-color-emoji"),
    ]


@pytest.mark.usefixtures("only_latin")
def test_an_export_names_the_scripts_it_lacks(tmp_path: Path) -> None:
    posts = [bookmark(text="Hello, Привет"), bookmark(text="สวัสดี 😀"), bookmark(text="読む")]

    made = export("pdf", tmp_path, posts)

    assert made.notes == [
        lack("CJK", "fonts-noto-cjk"),
        lack("Hiragana", "fonts-noto-cjk"),
        lack("Thai", "fonts-noto-core"),
        lack("Emoji", "fonts-noto-color-emoji"),
    ]


def test_a_machine_without_fonts_still_sets_latin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = tmp_path / "fonts.conf"
    settings.write_text(f"<fontconfig><dir>{tmp_path}</dir></fontconfig>")
    monkeypatch.setenv("FONTCONFIG_FILE", str(settings))

    made = export("pdf", tmp_path, [bookmark(text="still here")])

    assert "still here" in Document(made.path).flat


def test_rare_signs_of_a_script_are_not_its_whole() -> None:
    installed = typst.Fonts().fonts()

    # Rare ideographs are in no font of the system.
    (found,) = notes("漢字 \U00030123", installed)

    assert found.startswith("Some CJK characters have no font on this server and are shown as")


def test_text_that_can_be_set_needs_no_note() -> None:
    assert (
        notes(
            "abc Ω Ж 漢字 かな 한글 عربي עברית हिन्दी ไทย 😀 👩‍💻 ❤️ ★ ∑ \ue000",
            typst.Fonts().fonts(),
        )
        == []
    )


def test_the_families_are_those_that_are_installed() -> None:
    assert chain([]) == ["Libertinus Serif"]
    assert chain(typst.Fonts().fonts())[0] == "Noto Sans"


@pytest.mark.parametrize(
    ("letter", "script"),
    [
        ("ก", "Thai"),
        ("一", "CJK"),
        ("あ", "Hiragana"),
        ("한", "Hangul"),
        ("😀", "emoji"),
        ("க", "Tamil"),
    ],
)
def test_a_letter_tells_its_script(letter: str, script: str) -> None:
    assert script_of(letter) == script
