"""The vectors of an account: the state of its vector store, and single vectors."""

from typing import Final

from msgspec import Struct

# The kind of the jobs that create vectors.
BUILD: Final = "embed"
# How many posts are stored together, and compared together. A multiple of 64 that is no power of
# two: with 4,096, rows of a matrix share places of the processor's cache, and 4,000 is not aligned.
PART_POSTS: Final = 63 * 64


class VectorStoreState(Struct, frozen=True):
    """The state of the vectors of one account and model, as one query read it."""

    # The identity of the model. Only vectors of the same model can be compared.
    model: bytes
    name: str
    # 0 until the first vector is written.
    dimensions: int
    embedded: int
    complete_below: int
    invalidations: int
    generation: int
    # Set when every bookmark has had a vector once. Search then works while new posts wait.
    is_built: bool
    # Every bookmark below this number was looked at for its language.
    examined_below: int = 0
    # The vectors of the second model, if the account needs them, however far their build is.
    second: "VectorStoreState | None" = None

    @property
    def built_second(self) -> "VectorStoreState | None":
        """The vectors of the second model, if they can answer a search."""
        second = self.second
        return second if second is not None and second.is_built and second.dimensions else None

    @property
    def version(self) -> tuple[bytes | int, ...]:
        """Changes whenever the answer to a search by meaning may change."""
        second = () if self.second is None else self.second.version
        return (self.model, self.generation, self.is_built, *second)

    def missing(self, total: int) -> int:
        """How many of an account's posts lack a vector of a model that the account needs."""
        embedded = self.embedded
        if self.second is not None:
            embedded = min(embedded, self.second.embedded)
        return max(total - embedded, 0)


class UnembeddedPost(Struct, frozen=True):
    """A bookmark without a vector of its present text."""

    number: int
    content_hash: bytes
    rendering: bytes


class NewVector(Struct, frozen=True):
    """The vectors of a text: a scale and a row of bytes per piece."""

    number: int
    # The hash of the bookmark when it was read. If it has changed since, it is embedded again.
    content_hash: bytes
    text_hash: bytes
    scales: bytes
    vectors: bytes


class ListedVectorStore(Struct, frozen=True):
    """The progress of an account's vectors, as the operator sees it."""

    account_id: int
    model: bytes
    name: str
    embedded: int
    # Posts of the account.
    total: int
    # None if the account is partly deleted.
    email: str | None
