"""How good search is on a labelled collection: `python -m benchmarks.search_quality FOLDER`.

A folder holds corpus.jsonl and queries.jsonl (objects with _id and text, a title if there is
one) and qrels.tsv (query, document and grade, one line each; a first line of names is skipped).
Collections lie outside the repository: their texts are other people's.
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
_SLACK: Final = 0.01
WAYS: Final[dict[str, tuple[str, ...]]] = {
    "words": ("q",),
    "meaning": ("vector_search_term",),
    "both": ("q", "vector_search_term"),
}


class _Collection(NamedTuple):
    """Texts by id, questions by id, and the grade of each right answer."""

    documents: dict[str, str]
    questions: dict[str, str]
    grades: dict[str, dict[str, float]]


class _Quality(NamedTuple):
    ndcg: float
    recall: float


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.search_quality")
    parser.add_argument("folder", type=Path, nargs="+", help="a labelled collection")
    rows = [row for folder in parser.parse_args().folder for row in _measured(folder)]
    report.show(rows)
    return 1 if any(row.is_held is False for row in rows) else 0


def _measured(folder: Path) -> list[Row]:
    collection = _read(folder)
    found = asyncio.run(_qualities(collection))
    best = max(found["words"].ndcg, found["meaning"].ndcg)
    size = f"{len(collection.documents):,} documents, {len(collection.questions):,} questions"
    return [
        Row(
            work=f"{folder.name}, by {way}",
            measured=f"nDCG@10 {quality.ndcg:.3f}, recall@100 {quality.recall:.3f}",
            bar=f"≥ {best:.3f} - {_SLACK}" if way == "both" else "",
            is_held=quality.ndcg >= best - _SLACK if way == "both" else None,
            detail=size,
        )
        for way, quality in found.items()
    ]


async def _qualities(collection: _Collection) -> dict[str, _Quality]:
    with tempfile.TemporaryDirectory() as folder:
        database = await open_database(Settings(data_dir=Path(folder)))
        models = Models(Settings.from_env(_model_setting()), is_patient=False)
        try:
            account, _ = await library.new_account(database, 0)
            ids = [str(number) for number in range(1, len(collection.documents) + 1)]
            await _import(Upsert(database, system_clock), account, collection, ids)
            builds = VectorBuilds(database, models, system_clock)
            await builds.build(account.account_id, _told)
            current = await AccountStore(database).by_id(account.account_id, 0)
            assert current
            bookmarks = Bookmarks(database, SemanticSearch(database, models))
            names = dict(zip(ids, collection.documents, strict=True))
            return {way: await _quality(bookmarks, current, collection, names, way) for way in WAYS}
        finally:
            await models.close()
            await database.close()


async def _quality(
    bookmarks: Bookmarks,
    account: Account,
    collection: _Collection,
    names: Mapping[str, str],
    way: str,
) -> _Quality:
    gains, recalls = [], []
    for key, grades in track(collection.grades.items(), description=f"Searching by {way}"):
        given = dict.fromkeys(WAYS[way], collection.questions[key])
        query = ListQuery(**given, sort_by=RELEVANCE, limit=_FOUND)
        page = await bookmarks.list(account, query)
        found = msgspec.json.decode(b"[%b]" % page.body)
        ranked = [names[bookmark["post_id"]] for bookmark in found]
        gains.append(_gain(ranked, grades))
        recalls.append(len(grades.keys() & set(ranked)) / len(grades))
    return _Quality(sum(gains) / len(gains), sum(recalls) / len(recalls))


def _gain(ranked: Sequence[str], grades: Mapping[str, float]) -> float:
    """nDCG@10."""
    gained = sum(
        grades.get(name, 0) / math.log2(place + 2) for place, name in enumerate(ranked[:_FIRST])
    )
    best = sorted(grades.values(), reverse=True)[:_FIRST]
    return gained / sum(grade / math.log2(place + 2) for place, grade in enumerate(best))


async def _import(
    intake: Upsert, account: Account, collection: _Collection, ids: Sequence[str]
) -> None:
    texts = list(collection.documents.values())
    for first in track(range(0, len(texts), _CHUNK), description="Importing"):
        pairs = list(zip(ids, texts, strict=True))[first : first + _CHUNK]
        await intake.take(account, [read(_post(key, text)).incoming for key, text in pairs])


def _post(post_id: str, text: str) -> bytes:
    return msgspec.json.encode({"post_id": post_id, "tweet_details": {"text": text}})


async def _told(done: int, total: int) -> None:
    print(f"\rEmbedding {done:,} of {total:,}", end="" if done < total else "\n", flush=True)


def _read(folder: Path) -> _Collection:
    documents = {line["_id"]: _text(line) for line in _lines(folder / "corpus.jsonl")}
    questions = {line["_id"]: _text(line) for line in _lines(folder / "queries.jsonl")}
    grades: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for line in (folder / "qrels.tsv").read_text(encoding="utf-8").splitlines():
        query, document, grade = line.split("\t")
        # The names of the columns name no question.
        if query in questions and document in documents and float(grade) > 0:
            grades[query][document] = float(grade)
    return _Collection(documents, questions, dict(grades))


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
