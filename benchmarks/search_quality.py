"""Measures search quality on a labelled collection: `python -m benchmarks.search_quality FOLDER`.

The folder contains corpus.jsonl and queries.jsonl (objects with _id, text and optionally title)
and qrels.tsv (one line per relevant document: query, document, grade; a header line is skipped).
Collections are not part of the repository, because other people own their texts.
"""

import argparse
import asyncio
import math
import os
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec
from rich.progress import track

from benchmarks import library, report
from benchmarks.figures import Row
from bowerbird.clock import system_clock
from bowerbird.library.bookmarks.bookmarks import Bookmarks
from bowerbird.library.bookmarks.upsert import Upsert
from bowerbird.library.vectors.builds import VectorBuilds
from bowerbird.library.vectors.semantic_search import SemanticSearch
from bowerbird.model.accounts import Account
from bowerbird.model.filters import RELEVANCE
from bowerbird.requests.bookmarks import ListQuery
from bowerbird.search.models import Models
from bowerbird.settings import Settings
from bowerbird.sources.own_json import read
from bowerbird.storage.accounts.accounts import AccountStore
from bowerbird.storage.opening import open_database

_CHUNK: Final = 1_000
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
    parser.add_argument("folder", type=Path, nargs="+", help="a labelled collection")
    rows = [row for folder in parser.parse_args().folder for row in _measure(folder)]
    report.print_table(rows)
    return 1 if any(row.is_met is False for row in rows) else 0


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
    with tempfile.TemporaryDirectory() as folder:
        database = await open_database(Settings(data_dir=Path(folder)))
        models = Models(Settings.from_env(_model_setting()), is_low_priority=False)
        try:
            account, _ = await library.new_account(database, 0)
            ids = [str(number) for number in range(1, len(collection.documents) + 1)]
            await _import(Upsert(database, system_clock), account, collection, ids)
            builds = VectorBuilds(database, models, system_clock)
            await builds.build(account.account_id, _print_progress)
            current = await AccountStore(database).by_id(account.account_id, 0)
            assert current
            bookmarks = Bookmarks(database, SemanticSearch(database, models))
            names = dict(zip(ids, collection.documents, strict=True))
            return {
                search: await _quality(bookmarks, current, collection, names, search)
                for search in SEARCHES
            }
        finally:
            await models.close()
            await database.close()


async def _quality(
    bookmarks: Bookmarks,
    account: Account,
    collection: _Collection,
    names: Mapping[str, str],
    search: str,
) -> _Quality:
    gains, recalls = [], []
    for key, grades in track(collection.grades.items(), description=f"Searching by {search}"):
        terms = dict.fromkeys(SEARCHES[search], collection.queries[key])
        query = ListQuery(**terms, sort_by=RELEVANCE, limit=_FOUND)
        page = await bookmarks.list(account, query)
        found = msgspec.json.decode(b"[%b]" % page.body)
        ranked = [names[bookmark["post_id"]] for bookmark in found]
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


async def _import(
    upsert: Upsert, account: Account, collection: _Collection, ids: Sequence[str]
) -> None:
    texts = list(collection.documents.values())
    for first in track(range(0, len(texts), _CHUNK), description="Importing"):
        pairs = list(zip(ids, texts, strict=True))[first : first + _CHUNK]
        await upsert.take(account, [read(_post(key, text)).incoming for key, text in pairs])


def _post(post_id: str, text: str) -> bytes:
    return msgspec.json.encode({"post_id": post_id, "tweet_details": {"text": text}})


async def _print_progress(done: int, total: int) -> None:
    print(f"\rEmbedding {done:,} of {total:,}", end="" if done < total else "\n", flush=True)


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


def _model_setting() -> dict[str, str]:
    name = "BOWERBIRD_MODEL_DIR"
    return {name: os.environ[name]} if name in os.environ else {}


if __name__ == "__main__":
    raise SystemExit(main())
