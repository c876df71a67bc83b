"""The local embedding model, tested with its real weights."""

import asyncio
import hashlib
import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from io import FileIO
from pathlib import Path

import pytest

from bowerbird.errors import Code, Refusal
from bowerbird.search.meaning.arrays import np
from bowerbird.search.meaning.embedding import MAX_PIECES, LocalModel, local_model, windows
from bowerbird.search.meaning.models import Models, model_folder
from bowerbird.settings import Settings
from tests.support.models import MODEL_DIR, MODELS
from tests.support.waiting import PATIENCE_S

pytestmark = pytest.mark.anyio


def _version(folder: Path) -> Path:
    """The folder of the current model."""
    return folder / (folder / "current").read_text(encoding="ascii").strip()


def _folder() -> Path:
    return model_folder(Settings(model_dir=MODEL_DIR))


def _model() -> LocalModel:
    model = MODELS.current
    assert isinstance(model, LocalModel), "the model is not built: bowerbird model"
    return model


async def test_related_texts_are_nearer_than_unrelated_ones() -> None:
    texts = ["A bird builds its nest.", "Where do sparrows raise their young?", "Diesel engines."]
    rows = await _model().embed_posts([*texts, "a text of several words " * 200])
    bird, nest, engine = (one[0] for one in rows[:3])

    assert bird @ nest > bird @ engine + 0.2
    ((alone,),) = await _model().embed_posts(texts[:1])
    assert alone @ await _model().embed_query(texts[0]) > 0.999
    assert rows[3].shape == (MAX_PIECES, 384)
    for matrix in rows:
        assert np.allclose(np.linalg.norm(matrix, axis=1), 1, atol=1e-3)


async def test_other_texts_in_a_batch_barely_change_a_vector() -> None:
    texts = [f"text number {n} " + "padding " * (n * 7 % 50) for n in range(8)]

    together = await _model().embed_posts(texts)
    alone = [(await _model().embed_posts([text]))[0] for text in texts]

    # Eight-bit activations are scaled per batch, so the vectors are not exactly equal.
    assert all(float(a[0] @ b[0]) > 0.97 for a, b in zip(together, alone, strict=True))


async def test_a_text_without_words_has_no_pieces() -> None:
    empty, blank, word = await _model().embed_posts(["", " \n\t ", "word"])

    assert (len(empty), len(blank), len(word)) == (0, 0, 1)


async def test_a_query_finds_the_last_piece_of_a_long_text() -> None:
    filler = "The committee met on Tuesday and adopted the minutes of the last meeting. " * 12
    (rows,) = await _model().embed_posts([filler + "Penguins huddle together against the cold."])
    query = await _model().embed_query("penguins in winter")

    assert len(rows) > 1
    assert int(np.argmax(rows @ query)) == len(rows) - 1


@pytest.mark.parametrize(
    ("length", "pieces"), [(0, 0), (1, 1), (126, 1), (127, 2), (220, 2), (221, 3), (9_999, 8)]
)
def test_pieces_overlap_and_cover_the_whole_text(length: int, pieces: int) -> None:
    found = windows(list(range(length)))

    assert len(found) == pieces
    assert all(len(piece) <= 126 for piece in found)
    if 0 < length < 700:
        assert {token for piece in found for token in piece} == set(range(length))


class ReadTexts(list[str]):
    """Sets an event when the model has read the last text and starts to embed."""

    def __init__(self, texts: list[str]) -> None:
        super().__init__(texts)
        self.are_read = threading.Event()

    def __iter__(self) -> Iterator[str]:
        yield from super().__iter__()
        self.are_read.set()


async def test_queries_are_embedded_while_posts_are_being_embedded() -> None:
    texts = ReadTexts(["a long text of many words " * 60] * 12)
    posts = asyncio.create_task(_model().embed_posts(texts))
    await asyncio.to_thread(texts.are_read.wait, PATIENCE_S)

    await _model().embed_query("birds")

    assert not posts.done()
    await posts


async def test_posts_are_embedded_with_low_priority() -> None:
    own = os.getpriority(os.PRIO_PROCESS, 0)
    model = local_model(_folder())
    assert model is not None
    await model.embed_posts(["word"])

    (thread,) = [
        each
        for each in threading.enumerate()
        if each.name.startswith("embedding_0")
        and os.getpriority(os.PRIO_PROCESS, each.native_id or 0) > own
    ]

    assert os.getpriority(os.PRIO_PROCESS, thread.native_id or 0) == 15
    assert os.getpriority(os.PRIO_PROCESS, 0) == own
    await model.close()


async def test_closing_the_model_stops_long_work(tmp_path: Path) -> None:
    shutil.copytree(_folder(), tmp_path / "model")
    model = local_model(tmp_path / "model", is_low_priority=False)
    assert model is not None
    texts = ReadTexts(["a long text of many words " * 200] * 200)
    long = asyncio.create_task(model.embed_posts(texts))
    await asyncio.to_thread(texts.are_read.wait, PATIENCE_S)

    await model.close()

    with pytest.raises(Refusal, match="stopping"):
        await long


def test_a_missing_model_is_reported_and_found_once_it_is_built(tmp_path: Path) -> None:
    models = Models(Settings(model_dir=str(tmp_path / "model")))
    assert models.current is None
    assert "bowerbird model" in str(models.problem)
    assert models.of(bytes(16), "x") is None

    shutil.copytree(_folder(), tmp_path / "model")
    assert models.problem is None
    assert models.current is not None


async def test_a_damaged_model_is_reported_with_the_fix(tmp_path: Path) -> None:
    shutil.copytree(_folder(), tmp_path / "model")
    file = _version(tmp_path / "model") / "model.onnx"
    file.write_bytes(file.read_bytes()[:-1] + b"?")
    model = local_model(tmp_path / "model")
    assert model is not None
    assert model.broken_file() == "model.onnx"

    with pytest.raises(Refusal, match="bowerbird model") as refused:
        await model.embed_query("birds")

    assert refused.value.code is Code.SERVICE_UNAVAILABLE
    assert model.problem
    await model.close()


async def test_the_files_of_a_model_are_read_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(_folder(), tmp_path / "model")
    hashed = Counter[str]()
    file_digest = hashlib.file_digest

    def counted(file: FileIO, name: str) -> object:
        hashed[file.name] += 1
        time.sleep(0.1)
        return file_digest(file, name)

    monkeypatch.setattr(hashlib, "file_digest", counted)
    model = local_model(tmp_path / "model")
    assert model is not None

    # While the check at the start goes on.
    await asyncio.gather(model.embed_query("birds"), model.embed_posts(["birds"]))
    assert await asyncio.to_thread(model.broken_file) is None

    assert set(hashed.values()) == {1}
    await model.close()


async def test_an_older_model_is_still_available(tmp_path: Path) -> None:
    shutil.copytree(_folder(), tmp_path / "model")
    manifest = _version(tmp_path / "model") / "manifest.json"
    newer = tmp_path / "model" / ("ab" * 16)
    shutil.copytree(manifest.parent, newer)
    fields = json.loads(manifest.read_text())
    (newer / "manifest.json").write_text(json.dumps({**fields, "identity": newer.name}))
    (tmp_path / "model" / "current").write_text(newer.name)
    models = Models(Settings(model_dir=str(tmp_path / "model")))

    assert models.current is not None
    assert models.current.identity.hex() == newer.name
    older = models.of(bytes.fromhex(manifest.parent.name), "all-MiniLM-L6-v2-int8")
    assert older is not None
    assert older.identity.hex() == manifest.parent.name
    await models.close()


def test_onnxruntime_stores_no_identifier_of_the_machine(tmp_path: Path) -> None:
    code = "import bowerbird, onnxruntime"
    environment = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}

    subprocess.run([sys.executable, "-c", code], env=environment, check=True)

    assert list(tmp_path.rglob("*")) == []
