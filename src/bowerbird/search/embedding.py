"""What turns texts into vectors: the protocol, and the model that comes with the service.

Nothing is loaded before the first text. The work runs on threads: questions on one of ordinary
priority, posts on one that yields the processor to everything else.
"""

import asyncio
import hashlib
import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

import msgspec
from msgspec import Struct

from bowerbird import errors
from bowerbird.search.problems import Problem

if TYPE_CHECKING:
    from bowerbird.search.arrays import Floats

T = TypeVar("T")

MOST_PIECES: Final = 8
_TOKENS: Final = 128
_WINDOW: Final = _TOKENS - 2  # a beginning and an end are added to every piece
_OVERLAP: Final = 32
_BATCH: Final = 16
# More is never looked at: eight pieces end far before, and a question's first tokens too.
_LONGEST_POST: Final = 20_000
_LONGEST_QUESTION: Final = 2_000
_LEAST_PRIORITY: Final = 15
_RETRY_S: Final = 60


class Embedder(Protocol):
    """Makes vectors of length 1. Raises a refusal (503) while it cannot."""

    @property
    def name(self) -> str: ...

    @property
    def identity(self) -> bytes:
        """Sixteen bytes; vectors of equal identity may be compared, and no others."""

    @property
    def problem(self) -> str | None:
        """Why it cannot work at present, as far as is known."""

    async def question(self, text: str) -> "Floats":
        """The vector of what somebody looks for."""

    async def posts(self, texts: Sequence[str]) -> "list[Floats]":
        """A matrix a text, a row a piece of it; no rows for a text without words."""

    async def close(self) -> None: ...


class ModelManifest(Struct, frozen=True):
    """What stands beside a built model."""

    name: str
    identity: str
    dimensions: int
    files: dict[str, str]


class LocalModel:
    """A model in a folder: model.onnx, tokenizer.json, and the manifest with their hashes."""

    def __init__(self, folder: Path, manifest: ModelManifest, *, is_patient: bool) -> None:
        """A patient one lets everything else on the machine go before its posts."""
        self._folder, self._manifest = folder, manifest
        self._loaded: _Loaded | None = None
        self._loading = threading.Lock()
        self._for_questions = ThreadPoolExecutor(1, thread_name_prefix="questions")
        self._for_posts = ThreadPoolExecutor(
            1,
            thread_name_prefix="embedding",
            initializer=_yield_to_others if is_patient else None,
        )
        self._is_closed = False
        self._problem = Problem()

    @property
    def name(self) -> str:
        return self._manifest.name

    @property
    def identity(self) -> bytes:
        return bytes.fromhex(self._manifest.identity)

    @property
    def problem(self) -> str | None:
        return self._problem.text

    def broken_file(self) -> str | None:
        """The first of its files that is missing, or not as it was built."""
        for name, digest in self._manifest.files.items():
            try:
                raw = (self._folder / name).read_bytes()
            except OSError:
                return name
            if hashlib.sha256(raw).hexdigest() != digest:
                return name
        return None

    def _require_whole(self) -> None:
        if broken := self.broken_file():
            raise ValueError(f"{broken} is not as it was built")

    async def question(self, text: str) -> "Floats":
        return await self._on(self._for_questions, lambda model: model.question(text))

    async def posts(self, texts: Sequence[str]) -> "list[Floats]":
        return await self._on(self._for_posts, lambda model: model.posts(texts, self._check))

    def _check(self) -> None:
        """Ends work under way when the service stops: long texts take seconds."""
        if self._is_closed:
            raise errors.stopping()

    async def close(self) -> None:
        self._is_closed = True
        for threads in (self._for_questions, self._for_posts):
            await asyncio.to_thread(partial(threads.shutdown, cancel_futures=True))

    async def _on(self, threads: ThreadPoolExecutor, work: "Callable[[_Loaded], T]") -> T:
        return await asyncio.get_running_loop().run_in_executor(
            threads, lambda: work(self._model())
        )

    def _model(self) -> "_Loaded":
        with self._loading:
            if self._loaded is None:
                try:
                    self._require_whole()
                    self._loaded = _Loaded(self._folder, self._manifest)
                except Exception as error:
                    # Whatever is wrong with the files, the way out is the same.
                    self._problem.note("the embedding model cannot be loaded")
                    raise errors.unavailable(
                        "Search by meaning: the embedding model cannot be loaded. "
                        "The operator mends it with: make model",
                        _RETRY_S,
                    ) from error
                self._problem.clear()
            return self._loaded


class _Loaded:
    """The model itself. Its methods may run on several threads at once."""

    def __init__(self, folder: Path, manifest: ModelManifest) -> None:
        # At first need: the three take 60 MB and a third of a second.
        import onnxruntime  # noqa: PLC0415 - see above
        from tokenizers import Tokenizer  # noqa: PLC0415 - see above

        from bowerbird.search.arrays import np  # noqa: PLC0415 - see above

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        # An arena would keep the memory of the longest batch for good.
        options.enable_cpu_mem_arena = False
        self._session = onnxruntime.InferenceSession(
            folder / "model.onnx", options, providers=["CPUExecutionProvider"]
        )
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._first, self._last = self._tokenizer.encode("").ids
        self._np, self._dimensions = np, manifest.dimensions

    def question(self, text: str) -> "Floats":
        tokens = self._tokens(text[:_LONGEST_QUESTION])[:_WINDOW]
        vector: Floats = self._run([tokens])[0]
        return vector

    def posts(self, texts: Sequence[str], check: Callable[[], None]) -> "list[Floats]":
        """Calls `check` between batches; what it raises ends the work."""
        pieces = [list(windows(self._tokens(text[:_LONGEST_POST]))) for text in texts]
        flat = [piece for of_one in pieces for piece in of_one]
        vectors = self._np.zeros((len(flat), self._dimensions), self._np.float32)
        # Pieces of like length go together: a batch is as slow as its longest.
        order = sorted(range(len(flat)), key=lambda place: len(flat[place]))
        for start in range(0, len(order), _BATCH):
            check()
            batch = order[start : start + _BATCH]
            vectors[batch] = self._run([flat[place] for place in batch])
        ends = list(self._np.cumsum([len(of_one) for of_one in pieces]))
        return [vectors[end - len(of_one) : end] for of_one, end in zip(pieces, ends, strict=True)]

    def _tokens(self, text: str) -> list[int]:
        ids: list[int] = self._tokenizer.encode(text, add_special_tokens=False).ids
        return ids

    def _run(self, pieces: Sequence[Sequence[int]]) -> Any:
        longest = max(map(len, pieces)) + 2
        ids = self._np.zeros((len(pieces), longest), self._np.int64)
        mask = self._np.zeros_like(ids)
        for row, piece in enumerate(pieces):
            whole = [self._first, *piece, self._last]
            ids[row, : len(whole)] = whole
            mask[row, : len(whole)] = 1
        return self._session.run(None, {"input_ids": ids, "attention_mask": mask})[0]


def windows(tokens: Sequence[int]) -> Sequence[Sequence[int]]:
    """The tokens in overlapping pieces, the first few of them; none for no tokens."""
    step = _WINDOW - _OVERLAP
    starts = range(0, max(len(tokens) - _OVERLAP, min(len(tokens), 1)), step)
    return [tokens[start : start + _WINDOW] for start in islice(starts, MOST_PIECES)]


def local_model(
    folder: Path, identity: str | None = None, *, is_patient: bool = True
) -> LocalModel | None:
    """The model of this identity, or the current one; None where it was not built."""
    try:
        name = identity or (folder / "current").read_text(encoding="ascii").strip()
        raw = (folder / name / "manifest.json").read_bytes()
        manifest = msgspec.json.decode(raw, type=ModelManifest)
        return LocalModel(folder / name, manifest, is_patient=is_patient)
    except (OSError, ValueError, msgspec.MsgspecError):
        return None


def _yield_to_others() -> None:
    """Linux gives each thread a priority of its own; elsewhere it stays as it is."""
    if hasattr(os, "setpriority"):
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _LEAST_PRIORITY)
