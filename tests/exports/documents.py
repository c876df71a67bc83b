"""Reads the text, the links and the metadata of a PDF."""

import ctypes
import unicodedata
from pathlib import Path

import pypdfium2  # type: ignore[import-untyped]  # it ships without types
import pypdfium2.raw as pdfium  # type: ignore[import-untyped]  # it ships without types


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
        """The text without line ends, direction marks and zero-width spaces."""
        visible = (letter for letter in self.text if unicodedata.category(letter) != "Cf")
        return " ".join("".join(visible).split())

    def contains(self, words: str) -> bool:
        """Whether the search of a PDF viewer finds the words."""
        return any(_page_contains(page, words) for page in self._pdf)

    def images(self) -> list[int]:
        """The number of images on each page."""
        kinds = [[each.type for each in page.get_objects()] for page in self._pdf]
        return [page.count(pdfium.FPDF_PAGEOBJ_IMAGE) for page in kinds]

    def links(self) -> list[str]:
        return [link for page in self._pdf for link in _links(self._pdf, page)]


def _text(page: pypdfium2.PdfPage) -> str:
    return str(page.get_textpage().get_text_bounded())


def _page_contains(page: pypdfium2.PdfPage, words: str) -> bool:
    return page.get_textpage().search(words).get_next() is not None


def _links(pdf: pypdfium2.PdfDocument, page: pypdfium2.PdfPage) -> list[str]:
    links, position, link = [], ctypes.c_int(0), pdfium.FPDF_LINK()
    while pdfium.FPDFLink_Enumerate(page, position, link):
        action = pdfium.FPDFLink_GetAction(link)
        if action and pdfium.FPDFAction_GetType(action) == pdfium.PDFACTION_URI:
            address = ctypes.create_string_buffer(5_000)
            pdfium.FPDFAction_GetURIPath(pdf, action, address, len(address))
            links.append(address.value.decode())
    return links
