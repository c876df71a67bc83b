"""Exports and the doctor name the scripts without a font, and the package to install."""

from pathlib import Path

import pytest
import typst

from bowerbird.exports.fonts import (
    PACKAGES,
    SCRIPTS,
    MissingFont,
    font_families,
    missing_font_notes,
    missing_here,
    script_of,
)
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


def note(script: str, package: str) -> str:
    lack = f"This server has no font for {script} text, so the export shows empty boxes."
    elsewhere = "or the Noto fonts from https://fonts.google.com/noto"
    return f"{lack} The operator can install it: apt install {package}, {elsewhere}"


def test_the_script_for_system_packages_installs_the_packages_that_are_named() -> None:
    script = (Path(__file__).parents[2] / "requirements" / "system.sh").read_text(encoding="utf-8")

    assert f'fonts="fontconfig {" ".join(PACKAGES)}"' in script
    assert {package for _, _, package in SCRIPTS.values()} == set(PACKAGES)


def test_this_machine_has_a_font_for_every_script() -> None:
    assert missing_here() == []


@pytest.mark.usefixtures("only_latin")
def test_missing_here_are_named_with_their_package() -> None:
    assert missing_here() == [
        MissingFont("Arabic", "Noto Sans Arabic", "fonts-noto-core"),
        MissingFont("Hebrew", "Noto Sans Hebrew", "fonts-noto-core"),
        MissingFont("Devanagari", "Noto Sans Devanagari", "fonts-noto-core"),
        MissingFont("Thai", "Noto Sans Thai", "fonts-noto-core"),
        MissingFont("CJK", "Noto Sans CJK SC", "fonts-noto-cjk"),
        MissingFont("emoji", "Noto Color Emoji", "fonts-noto-color-emoji"),
    ]


@pytest.mark.usefixtures("only_latin")
def test_an_export_notes_the_scripts_without_a_font(tmp_path: Path) -> None:
    posts = [bookmark(text="Hello, Привет"), bookmark(text="สวัสดี 😀"), bookmark(text="読む")]

    written = export("pdf", tmp_path, posts)

    assert written.notes == [
        note("CJK", "fonts-noto-cjk"),
        note("Hiragana", "fonts-noto-cjk"),
        note("Thai", "fonts-noto-core"),
        note("emoji", "fonts-noto-color-emoji"),
    ]


def test_a_machine_without_fonts_still_prints_latin_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = tmp_path / "fonts.conf"
    settings.write_text(f"<fontconfig><dir>{tmp_path}</dir></fontconfig>")
    monkeypatch.setenv("FONTCONFIG_FILE", str(settings))

    written = export("pdf", tmp_path, [bookmark(text="still here")])

    assert "still here" in Document(written.path).flat


def test_a_few_rare_characters_do_not_count_as_a_missing_script() -> None:
    installed = typst.Fonts().fonts()

    # No installed font has the rarest ideographs.
    (found,) = missing_font_notes("漢字 \U00030123", installed)

    assert found.startswith("This server has no font for some CJK characters, so")


def test_text_with_installed_fonts_gets_no_note() -> None:
    assert (
        missing_font_notes(
            "abc Ω Ж 漢字 かな 한글 عربي עברית हिन्दी ไทย 😀 👩‍💻 ❤️ ★ ∑ \ue000",
            typst.Fonts().fonts(),
        )
        == []
    )


def test_only_installed_font_families_are_used() -> None:
    assert font_families([]) == ["Libertinus Serif"]
    assert font_families(typst.Fonts().fonts())[0] == "Noto Sans"


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
def test_the_script_of_a_letter_is_named(letter: str, script: str) -> None:
    assert script_of(letter) == script
