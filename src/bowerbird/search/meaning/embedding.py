"""Turns texts into vectors: the protocol of an embedder, and the local model.

The model is loaded when the first text arrives. It runs on one thread for search queries, and with
low priority on all cores but one for posts.
"""

import asyncio
import hashlib
import math
import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from itertools import accumulate, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, TypeVar

import msgspec
from msgspec import Struct

from bowerbird import errors
from bowerbird.search.meaning.tokenizing import Tokenizing
from bowerbird.storage.database import Attributes, observed

# The lowest score at which a post still has something to do with a query. Calibrated with
# `python -m benchmarks.search_quality --calibrate` on our own labelled library. A floor should keep
# 98 % of the relevant posts that are among the first ten, and queries about absent topics should
# match less than 2 % of the library. No floor reaches both for every model and language.
_FLOORS: Final = {
    # Keeps 98.4 %; absent topics match 2.03 % of the posts in English, nonsense 1.5 %.
    "all-MiniLM-L6-v2-int8": 0.22,
    # Keeps 96.8 %; absent topics match 1.1 to 1.8 % of all posts, nonsense 2.0 %. No list
    # uses it, because this model never answers alone.
    "universal-sentence-encoder-multilingual-3-int8": 0.15,
}
# The scores of an unknown model have an unknown scale, so none of its results is left out.
NO_FLOOR: Final = -1.0


def of(model: str) -> float:
    return _FLOORS.get(model, NO_FLOOR)


# From this share of a core on, the process is busy with something else.
_BUSY: Final = 0.15
# With 10 for a whole core, embedding works for an eleventh of the time while requests keep a core
# busy, and for a third while they need a fifth of it.
_REST_PER_WORK: Final = 10.0
_MAX_REST_S: Final = 3.0


class Pace:
    """Used by one thread. Setting the event ends a rest."""

    def __init__(self, closing: threading.Event, others: Callable[[], float] | None = None) -> None:
        """`others` returns the CPU time that other threads have used."""
        self._closing = closing
        self._cpu_of_others = others or cpu_of_others
        self._last = self._rested_until = time.perf_counter()
        self._others = self._cpu_of_others()

    def rest(self) -> None:
        """Called between two pieces of work."""
        now, others = time.perf_counter(), self._cpu_of_others()
        elapsed = now - self._last
        share = (others - self._others) / elapsed if elapsed > 0 else 0.0
        if share > _BUSY:
            worked = now - self._rested_until
            self._closing.wait(min(worked * _REST_PER_WORK * min(share, 1.0), _MAX_REST_S))
        # The rest itself belongs to the next measurement: requests are served during it.
        self._last, self._others = now, others
        self._rested_until = time.perf_counter()


# The clocks of the CPU time of all threads that embed posts.
_clocks: list[int] = []


def cpu_of_others() -> float:
    """The CPU time of the threads of this process that embed no posts, in seconds."""
    embedding = 0.0
    for clock in tuple(_clocks):
        try:
            embedding += time.clock_gettime(clock)
        except OSError:  # The thread has ended.
            _clocks.remove(clock)
    return time.process_time() - embedding


_LIFETIME_S: Final = 60.0


class Problem:
    """Expires, because a process without searches would not notice the fix."""

    def __init__(self, lifetime_s: float = _LIFETIME_S) -> None:
        self._lifetime_s = lifetime_s
        self._text: str | None = None
        self._until = 0.0

    def note(self, text: str) -> None:
        self._text, self._until = text, time.monotonic() + self._lifetime_s

    def clear(self) -> None:
        self._text = None

    @property
    def text(self) -> str | None:
        return self._text if time.monotonic() < self._until else None


if TYPE_CHECKING:
    from bowerbird.search.meaning.arrays import Floats

T = TypeVar("T")

# The files in the folder of models that name the versions to use.
CURRENT, MULTILINGUAL = "current", "multilingual"
MAX_PIECES: Final = 8
_TOKENS: Final = 128
_WINDOW: Final = _TOKENS - 2  # the model needs a start token and an end token per piece
_OVERLAP: Final = 32
# With 16 texts per batch, a text took a fifth longer. Embedding gives way between two batches.
_BATCH: Final = 8
# Cutting here saves tokenizing text that does not fit into the pieces anyway.
_MAX_POST_CHARACTERS: Final = 20_000
_MAX_QUERY_CHARACTERS: Final = 2_000
_LOW_PRIORITY: Final = 15
# One core is left to requests.
POST_THREADS: Final = max((os.cpu_count() or 1) - 1, 1)
_RETRY_S: Final = 60


class Embedder(Protocol):
    """Creates vectors of length 1. Raises a Refusal (503) while it cannot."""

    @property
    def name(self) -> str: ...

    @property
    def identity(self) -> bytes:
        """Sixteen bytes. Only vectors of embedders with the same identity can be compared."""

    @property
    def floor(self) -> float:
        """Posts with a lower similarity to a query have nothing to do with it."""

    @property
    def problem(self) -> str | None:
        """Why the embedder cannot work at present, or None if no problem is known."""

    async def embed_query(self, text: str) -> "Floats":
        """The vector of a search query."""

    async def letters_per_piece(self, text: str) -> float:
        """How long the known pieces of a text are. Words that no text has fall into short ones.

        A Latin word that is a piece of its own is known, however short: infinity.
        """

    async def embed_posts(self, texts: Sequence[str]) -> "list[Floats]":
        """One matrix per text, with one row per piece; no rows for a text without words."""

    async def close(self) -> None: ...


def described(embedder: Embedder, texts: str | Sequence[str]) -> Attributes:
    """What traces record of embedding."""
    count = 1 if isinstance(texts, str) else len(texts)
    return {"gen_ai.request.model": embedder.name, "bowerbird.texts": count}


class ModelManifest(Struct, frozen=True):
    """The content of manifest.json in the folder of a built model."""

    name: str
    identity: str
    dimensions: int
    files: dict[str, str]


class LocalModel:
    """A model in a folder: its graph, weights and tokenizer, and the manifest with their hashes."""

    def __init__(self, folder: Path, manifest: ModelManifest, *, is_low_priority: bool) -> None:
        """With `is_low_priority`, embedding posts yields the processor to everything else."""
        self._folder, self._manifest = folder, manifest
        self._loaded: _LoadedModel | None = None
        self._loading = threading.Lock()
        self._for_queries = ThreadPoolExecutor(1, thread_name_prefix="queries")
        self._for_posts = ThreadPoolExecutor(
            POST_THREADS,
            thread_name_prefix="embedding",
            initializer=partial(begin, is_low_priority=is_low_priority),
        )
        self._checking = threading.Lock()
        # Before the first text arrives: it takes as long as loading the model. Not on a thread of
        # low priority, for which the first search would wait.
        self._for_queries.submit(self.broken_file)
        self._closing = threading.Event()
        self._is_low_priority = is_low_priority
        self._problem = Problem()

    @property
    def name(self) -> str:
        return self._manifest.name

    @property
    def identity(self) -> bytes:
        return bytes.fromhex(self._manifest.identity)

    @property
    def floor(self) -> float:
        return of(self.name)

    @property
    def problem(self) -> str | None:
        return self._problem.text

    def broken_file(self) -> str | None:
        """The name of the first file that is missing or damaged."""
        # A thread that comes second waits for the hashes of the first.
        with self._checking:
            for name, digest in self._manifest.files.items():
                try:
                    about = (self._folder / name).stat()
                    found = _digest(self._folder / name, about.st_size, about.st_mtime_ns)
                except OSError:
                    return name
                if found != digest:
                    return name
        return None

    def _check_files(self) -> None:
        if broken := self.broken_file():
            raise ValueError(f"{broken} is missing or damaged")

    @observed("embed query", described)
    async def embed_query(self, text: str) -> "Floats":
        return await self._run_on(self._for_queries, lambda model: model.embed_query(text))

    async def letters_per_piece(self, text: str) -> float:
        return await self._run_on(self._for_queries, lambda model: model.letters_per_piece(text))

    @observed("embed posts", described)
    async def embed_posts(self, texts: Sequence[str]) -> "list[Floats]":
        pieces = await self._run_on(self._for_posts, lambda model: model.pieces(texts))
        # Taking the next one of a list is safe on several threads.
        batches = iter(list(pieces.batches))

        def work(model: _LoadedModel) -> None:
            pace = Pace(self._closing) if self._is_low_priority else None
            for batch in batches:
                # Gives way to requests.
                if pace is not None:
                    pace.rest()
                if self._closing.is_set():
                    raise errors.stopping()
                model.embed(pieces, batch)

        await asyncio.gather(*(self._run_on(self._for_posts, work) for _ in range(POST_THREADS)))
        return pieces.by_post

    async def close(self) -> None:
        self._closing.set()
        for threads in (self._for_queries, self._for_posts):
            await asyncio.to_thread(partial(threads.shutdown, cancel_futures=True))

    async def _run_on(self, threads: ThreadPoolExecutor, work: "Callable[[_LoadedModel], T]") -> T:
        loop = asyncio.get_running_loop()
        try:
            working = loop.run_in_executor(threads, lambda: work(self._load_once()))
        except RuntimeError:
            if self._closing.is_set():
                raise errors.stopping() from None
            raise
        return await working

    def _load_once(self) -> "_LoadedModel":
        with self._loading:
            if self._loaded is None:
                try:
                    self._check_files()
                    self._loaded = _LoadedModel(self._folder, self._manifest)
                except Exception as error:
                    # The fix is the same, whatever is wrong with the files.
                    self._problem.note("the embedding model cannot be loaded")
                    raise errors.unavailable(
                        "Search by meaning: the embedding model cannot be loaded. "
                        "The operator can fix this with: bowerbird model",
                        _RETRY_S,
                    ) from error
                self._problem.clear()
            return self._loaded


@cache
def _digest(file: Path, _size: int, _changed: int) -> str:
    """Read once per process, unless the file changes."""
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


class _Pieces(NamedTuple):
    """The tokens of the pieces of some posts, how many each post has, and a vector for each."""

    tokens: Sequence[Sequence[int]]
    counts: Sequence[int]
    vectors: "Floats"

    @property
    def batches(self) -> Iterator[Sequence[int]]:
        """Of similar length: a batch takes as long as its longest piece."""
        order = sorted(range(len(self.tokens)), key=lambda place: len(self.tokens[place]))
        return (order[start : start + _BATCH] for start in range(0, len(order), _BATCH))

    @property
    def by_post(self) -> "list[Floats]":
        ends = accumulate(self.counts)
        return [
            self.vectors[end - count : end] for count, end in zip(self.counts, ends, strict=True)
        ]


class _LoadedModel:
    """The model in memory. Its methods are safe to call from several threads."""

    def __init__(self, folder: Path, manifest: ModelManifest) -> None:
        # The tokenizer's own threads would have the priority of the first caller.
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
        # Imported late: with the tokenizer's, they take 60 MB and a third of a second.
        import onnxruntime  # noqa: PLC0415 - see above

        from bowerbird.search.meaning.arrays import np  # noqa: PLC0415 - see above

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        # An arena would never give back the memory of the largest batch.
        options.enable_cpu_mem_arena = False
        self._session = onnxruntime.InferenceSession(
            folder / "model.onnx", options, providers=["CPUExecutionProvider"]
        )
        self._tokenizing = Tokenizing(folder / "tokenizer.json")
        self._np, self._dimensions = np, manifest.dimensions

    def embed_query(self, text: str) -> "Floats":
        (tokens,) = self._tokenizing.tokens([text[:_MAX_QUERY_CHARACTERS]])
        vector: Floats = self._run([tokens[:_WINDOW]])[0]
        return vector

    def letters_per_piece(self, text: str) -> float:
        text = text[:_MAX_QUERY_CHARACTERS]
        encoded = self._tokenizing.encode(text)
        pieces = [text[start:end] for start, end in encoded.offsets]
        parts = Counter(encoded.words)
        for word, piece in zip(encoded.words, pieces, strict=True):
            if parts[word] == 1 and len(piece) > 1 and piece.isascii() and piece.isalpha():
                return math.inf
        letters = [sum(map(str.isalnum, piece)) for piece in pieces]
        return sum(letters) / max(sum(map(bool, letters)), 1)

    def pieces(self, texts: Sequence[str]) -> "_Pieces":
        tokens = self._tokenizing.tokens([text[:_MAX_POST_CHARACTERS] for text in texts])
        by_post = [list(windows(each)) for each in tokens]
        pieces = [piece for post in by_post for piece in post]
        vectors = self._np.zeros((len(pieces), self._dimensions), self._np.float32)
        return _Pieces(pieces, [len(post) for post in by_post], vectors)

    def embed(self, pieces: "_Pieces", batch: Sequence[int]) -> None:
        pieces.vectors[batch] = self._run([pieces.tokens[place] for place in batch])

    def _run(self, pieces: Sequence[Sequence[int]]) -> Any:
        longest = max(map(len, pieces)) + 2
        ids = self._np.zeros((len(pieces), longest), self._np.int64)
        mask = self._np.zeros_like(ids)
        for row, piece in enumerate(pieces):
            whole = [self._tokenizing.first, *piece, self._tokenizing.last]
            ids[row, : len(whole)] = whole
            mask[row, : len(whole)] = 1
        return self._session.run(None, {"input_ids": ids, "attention_mask": mask})[0]


def windows(tokens: Sequence[int]) -> Sequence[Sequence[int]]:
    """Splits tokens into overlapping pieces, and returns at most `MAX_PIECES` of them."""
    step = _WINDOW - _OVERLAP
    starts = range(0, max(len(tokens) - _OVERLAP, min(len(tokens), 1)), step)
    return [tokens[start : start + _WINDOW] for start in islice(starts, MAX_PIECES)]


def local_model(
    folder: Path, pointer: str = CURRENT, *, identity: str = "", is_low_priority: bool = True
) -> LocalModel | None:
    """The model with this identity, or the one that a file names; None if it was not built."""
    try:
        name = identity or (folder / pointer).read_text(encoding="ascii").strip()
        raw = (folder / name / "manifest.json").read_bytes()
        manifest = msgspec.json.decode(raw, type=ModelManifest)
        return LocalModel(folder / name, manifest, is_low_priority=is_low_priority)
    except (OSError, ValueError, msgspec.MsgspecError):
        return None


def begin(*, is_low_priority: bool) -> None:
    """Lowers the priority of the calling thread, where the system can: on Linux."""
    if hasattr(time, "pthread_getcpuclockid"):
        _clocks.append(time.pthread_getcpuclockid(threading.get_ident()))
    if is_low_priority and hasattr(os, "setpriority"):
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _LOW_PRIORITY)
