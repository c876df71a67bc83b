"""Measures search quality on labelled collections: `python -m benchmarks.search_quality FOLDER`.

The folder contains corpus.jsonl and queries.jsonl (objects with _id, text and optionally title)
and qrels.tsv (one line per relevant document: query, document, grade; a header line is skipped).
Collections are not part of the repository, because other people own their texts.

--own measures our own labelled library (tests/search_quality) per kind of query and lists every
miss. --calibrate prints the similarities from which a model's floor is chosen.
"""

import argparse
import asyncio
import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec
from rich.progress import track

from benchmarks import report
from benchmarks.figures import Row
from benchmarks.search_quality import floor_calibration, own_library, searchable_library
from benchmarks.search_quality.searchable_library import SearchableLibrary

_FIRST: Final = 10
_FOUND: Final = 100
_TOLERANCE: Final = 0.01
SEARCHES: Final[dict[str, tuple[str, ...]]] = {
    "words": ("q",),
    "meaning": ("vector_search_term",),
    "both": ("q", "vector_search_term"),
}


class _Collection(NamedTuple):
    """Texts by id, queries by id, and the grade of each relevant document per query."""

    documents: dict[str, str]
    queries: dict[str, str]
    grades: dict[str, dict[str, float]]


class _Quality(NamedTuple):
    ndcg: float
    recall: float


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.search_quality")
    parser.add_argument("folder", type=Path, nargs="*", help="a labelled collection")
    parser.add_argument("--own", action="store_true", help="our own labelled library")
    parser.add_argument("--calibrate", action="store_true", help="similarities for the floor")
    options = parser.parse_args()
    if not (options.folder or options.own or options.calibrate):
        parser.error("name a folder, or --own, or --calibrate")
    if options.calibrate:
        asyncio.run(floor_calibration.print_figures())
    is_met = asyncio.run(own_library.measure()) if options.own else True
    rows = [row for folder in options.folder for row in _measure(folder)]
    if rows:
        report.print_table(rows)
    return 0 if is_met and all(row.is_met is not False for row in rows) else 1


def _measure(folder: Path) -> list[Row]:
    collection = _read(folder)
    qualities = asyncio.run(_qualities(collection))
    best = max(qualities["words"].ndcg, qualities["meaning"].ndcg)
    size = f"{len(collection.documents):,} documents, {len(collection.queries):,} queries"
    return [
        Row(
            work=f"{folder.name}, by {search}",
            measured=f"nDCG@10 {quality.ndcg:.3f}, recall@100 {quality.recall:.3f}",
            target=f"≥ {best:.3f} - {_TOLERANCE}" if search == "both" else "",
            is_met=quality.ndcg >= best - _TOLERANCE if search == "both" else None,
            detail=size,
        )
        for search, quality in qualities.items()
    ]


async def _qualities(collection: _Collection) -> dict[str, _Quality]:
    names = {str(number): name for number, name in enumerate(collection.documents, start=1)}
    posts = [_post(key, collection.documents[name]) for key, name in names.items()]
    async with searchable_library.filled(posts) as library:
        return {search: await _quality(library, collection, names, search) for search in SEARCHES}


async def _quality(
    library: SearchableLibrary, collection: _Collection, names: Mapping[str, str], search: str
) -> _Quality:
    gains, recalls = [], []
    for key, grades in track(collection.grades.items(), description=f"Searching by {search}"):
        terms = dict.fromkeys(SEARCHES[search], collection.queries[key])
        found = await library.search(terms, _FOUND)
        ranked = [names[post_id] for post_id in found.post_ids]
        gains.append(_ndcg(ranked, grades))
        recalls.append(len(grades.keys() & set(ranked)) / len(grades))
    return _Quality(sum(gains) / len(gains), sum(recalls) / len(recalls))


def _ndcg(ranked: Sequence[str], grades: Mapping[str, float]) -> float:
    """nDCG@10."""
    gain = sum(
        grades.get(name, 0) / math.log2(rank + 2) for rank, name in enumerate(ranked[:_FIRST])
    )
    best = sorted(grades.values(), reverse=True)[:_FIRST]
    return gain / sum(grade / math.log2(rank + 2) for rank, grade in enumerate(best))


def _post(post_id: str, text: str) -> bytes:
    return msgspec.json.encode({"post_id": post_id, "tweet_details": {"text": text}})


def _read(folder: Path) -> _Collection:
    documents = {line["_id"]: _text(line) for line in _lines(folder / "corpus.jsonl")}
    queries = {line["_id"]: _text(line) for line in _lines(folder / "queries.jsonl")}
    grades: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for line in (folder / "qrels.tsv").read_text(encoding="utf-8").splitlines():
        query, document, grade = line.split("\t")
        # Also skips the header, because its first column is not the id of a query.
        if query in queries and document in documents and float(grade) > 0:
            grades[query][document] = float(grade)
    return _Collection(documents, queries, dict(grades))


def _lines(file: Path) -> Iterator[dict[str, Any]]:
    for line in file.read_bytes().splitlines():
        yield msgspec.json.decode(line)


def _text(line: Mapping[str, Any]) -> str:
    return "\n".join(part for part in (line.get("title"), line["text"]) if part)


if __name__ == "__main__":
    raise SystemExit(main())
