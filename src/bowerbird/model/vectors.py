"""How far the vectors of an account are."""

from typing import Final

from msgspec import Struct

# The kind of the jobs that make vectors.
BUILD: Final = "embed"


class VectorStoreState(Struct, frozen=True):
    """The vectors of one account and model, as one read finds them."""

    # Names what made the vectors; only those of one model can be compared.
    model: bytes
    name: str
    # 0 until the first vector is written.
    dimensions: int
    embedded: int
    complete_below: int
    invalidations: int
    generation: int
    # Once every bookmark had a vector; later ones are awaited while it serves.
    is_built: bool


class UnembeddedPost(Struct, frozen=True):
    """A bookmark without a vector."""

    number: int
    content_hash: bytes
    rendering: bytes


class NewVector(Struct, frozen=True):
    """What a text became: a scale and a row of eight-bit numbers for each of its pieces."""

    number: int
    # Of the whole bookmark when it was read: what changed since is embedded another time.
    content_hash: bytes
    text_hash: bytes
    scales: bytes
    vectors: bytes
