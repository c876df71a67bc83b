"""The baseline: the same list, written in the usual way with FastAPI, SQLAlchemy and pydantic.

    python -m benchmarks.yardsticks.baseline PORT DATABASE

It is a good implementation of its kind: eager loading, an index for the list, keyset paging, one
query for the key, and response models that FastAPI serialises in one step.
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

from benchmarks.yardsticks import serving
from benchmarks.yardsticks.baseline_responses import BookmarkResponse, ListMeta, ListResponse
from benchmarks.yardsticks.baseline_tables import Account, ApiKey, Bookmark


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
    with request.app.state.sessions() as database_session:
        yield database_session


SessionDep = Annotated[Session, Depends(session)]
BearerDep = Annotated[HTTPAuthorizationCredentials, Depends(HTTPBearer())]


def current_account(bearer: BearerDep, database_session: SessionDep) -> Account:
    found = database_session.get(ApiKey, key_hash(bearer.credentials))
    if found is None:
        raise HTTPException(401, "The API key is invalid.")
    return found.account


def list_bookmarks(  # noqa: PLR0917 - FastAPI reads the parameters from the signature
    account: Annotated[Account, Depends(current_account)],
    database_session: SessionDep,
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
    cursor: str | None = None,
    is_unread_only: bool = True,  # noqa: FBT001, FBT002 - a query parameter
    hide_archived: bool = True,  # noqa: FBT001, FBT002 - a query parameter
) -> ListResponse:
    conditions = [Bookmark.account_id == account.id]
    if is_unread_only:
        conditions.append(Bookmark.is_read.is_(False))
    if hide_archived:
        conditions.append(Bookmark.is_archived.is_(False))
    total = (
        database_session.scalar(select(func.count()).select_from(Bookmark).where(*conditions)) or 0
    )
    page = (
        select(Bookmark)
        .where(*conditions)
        .options(joinedload(Bookmark.author, innerjoin=True), selectinload(Bookmark.tags))
        .order_by(Bookmark.sort_index.desc(), Bookmark.id.desc())
        .limit(limit + 1)
    )
    if cursor is not None:
        sort_index, bookmark_id = map(int, cursor.split("_"))
        page = page.where(tuple_(Bookmark.sort_index, Bookmark.id) < (sort_index, bookmark_id))
    rows = database_session.scalars(page).all()
    last = rows[limit - 1] if len(rows) > limit else None
    return ListResponse(
        data=[BookmarkResponse.of(row) for row in rows[:limit]],
        meta=ListMeta(
            next_cursor=f"{last.sort_index}_{last.id}" if last else None,
            limit=limit,
            total_count=total,
            count=min(limit, len(rows)),
        ),
    )


def app(file: Path) -> FastAPI:
    baseline = FastAPI()
    baseline.state.sessions = sessionmaker(engine_of(file))
    baseline.get("/v1/bookmarks")(list_bookmarks)
    return baseline


if __name__ == "__main__":
    serving.run(app(Path(sys.argv[2])), int(sys.argv[1]))
