"""The twin: the same list, written the ordinary way with FastAPI, SQLAlchemy's ORM and pydantic.

    python -m benchmarks.twin PORT DATABASE

Written to be good at what it is: eager loading, an index for its list, keyset paging, one query
for the key, response models that FastAPI serialises in one go.
"""

import hashlib
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

from fastapi import Depends, FastAPI, HTTPException, Query, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from sqlalchemy import create_engine, event, func, select, tuple_
from sqlalchemy.engine import Engine
from sqlalchemy.orm import Session, joinedload, selectinload, sessionmaker

from benchmarks import serving
from benchmarks.twin_answers import BookmarkAnswer, ListAnswer, ListMeta
from benchmarks.twin_tables import Account, ApiKey, Bookmark


def engine_of(file: Path) -> Engine:
    engine = create_engine(f"sqlite:///{file}")

    @event.listens_for(engine, "connect")
    def prepare(connection: sqlite3.Connection, _: object) -> None:
        cursor = connection.cursor()
        cursor.execute("PRAGMA journal_mode = WAL")
        cursor.execute("PRAGMA cache_size = -16000")
        cursor.close()

    return engine


def key_hash(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()


def session(request: Request) -> Iterator[Session]:
    with request.app.state.sessions() as opened:
        yield opened


SessionDep = Annotated[Session, Depends(session)]
BearerDep = Annotated[HTTPAuthorizationCredentials, Depends(HTTPBearer())]


def current_account(bearer: BearerDep, opened: SessionDep) -> Account:
    found = opened.get(ApiKey, key_hash(bearer.credentials))
    if found is None:
        raise HTTPException(401, "The API key is not valid.")
    return found.account


def list_bookmarks(  # noqa: PLR0917 - FastAPI reads parameters off the signature
    account: Annotated[Account, Depends(current_account)],
    opened: SessionDep,
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
    cursor: str | None = None,
    is_unread_only: bool = True,  # noqa: FBT001, FBT002 - a query parameter
    hide_archived: bool = True,  # noqa: FBT001, FBT002 - a query parameter
) -> ListAnswer:
    wanted = [Bookmark.account_id == account.id]
    if is_unread_only:
        wanted.append(Bookmark.is_read.is_(False))
    if hide_archived:
        wanted.append(Bookmark.is_archived.is_(False))
    total = opened.scalar(select(func.count()).select_from(Bookmark).where(*wanted)) or 0
    page = (
        select(Bookmark)
        .where(*wanted)
        .options(joinedload(Bookmark.author, innerjoin=True), selectinload(Bookmark.tags))
        .order_by(Bookmark.sort_index.desc(), Bookmark.id.desc())
        .limit(limit + 1)
    )
    if cursor is not None:
        sort_index, bookmark_id = map(int, cursor.split("_"))
        page = page.where(tuple_(Bookmark.sort_index, Bookmark.id) < (sort_index, bookmark_id))
    rows = opened.scalars(page).all()
    last = rows[limit - 1] if len(rows) > limit else None
    return ListAnswer(
        data=[BookmarkAnswer.of(row) for row in rows[:limit]],
        meta=ListMeta(
            next_cursor=f"{last.sort_index}_{last.id}" if last else None,
            limit=limit,
            total_count=total,
            count=min(limit, len(rows)),
        ),
    )


def app(file: Path) -> FastAPI:
    twin = FastAPI()
    twin.state.sessions = sessionmaker(engine_of(file))
    twin.get("/v1/bookmarks")(list_bookmarks)
    return twin


if __name__ == "__main__":
    serving.run(app(Path(sys.argv[2])), int(sys.argv[1]))
