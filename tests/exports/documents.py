"""Reads what a PDF holds."""

import ctypes
import unicodedata
from pathlib import Path

import pypdfium2  # type: ignore[import-untyped]  # it brings no types
import pypdfium2.raw as pdfium  # type: ignore[import-untyped]  # it brings no types


class Document:
    def __init__(self, path: Path) -> None:
        self._pdf = pypdfium2.PdfDocument(path)
        self.pages = [_text(page) for page in self._pdf]
        self.text = "\n".join(self.pages)
        self.metadata = self._pdf.get_metadata_dict()
        self.is_tagged = bool(pdfium.FPDFCatalog_IsTagged(self._pdf))
        self.bookmarks = [bookmark.get_title() for bookmark in self._pdf.get_toc()]

    @property
    def flat(self) -> str:
        """The text without line ends, marks of direction, and places where a line may end."""
        kept = (letter for letter in self.text if unicodedata.category(letter) != "Cf")
        return " ".join("".join(kept).split())

    def holds(self, words: str) -> bool:
        """Whether a reader's search would find the words."""
        return any(_found(page, words) for page in self._pdf)

    def links(self) -> list[str]:
        return [link for page in self._pdf for link in _links(self._pdf, page)]


def _text(page: pypdfium2.PdfPage) -> str:
    return str(page.get_textpage().get_text_bounded())


def _found(page: pypdfium2.PdfPage, words: str) -> bool:
    return page.get_textpage().search(words).get_next() is not None


def _links(pdf: pypdfium2.PdfDocument, page: pypdfium2.PdfPage) -> list[str]:
    found, place, link = [], ctypes.c_int(0), pdfium.FPDF_LINK()
    while pdfium.FPDFLink_Enumerate(page, place, link):
        action = pdfium.FPDFLink_GetAction(link)
        if action and pdfium.FPDFAction_GetType(action) == pdfium.PDFACTION_URI:
            address = ctypes.create_string_buffer(5_000)
            pdfium.FPDFAction_GetURIPath(pdf, action, address, len(address))
            found.append(address.value.decode())
    return found
