"""`VectorIndex`: exact search for the nearest vectors (gaia section 11); synchronous, and of use without actors.

    index = VectorIndex(VectorOptions(metric="inner_product", normalize=True, model="e5-small"))
    index.add("note-1", [0.1, 0.9, 0.3])
    for id_, score in index.search([0.2, 0.8, 0.3], 5):
        print(id_, score)
    index.save("notes.vec")

Every vector is looked at, nothing is approximated: rankings are those of float64 arithmetic on the float32
vectors that are stored. Belongs to one thread at a time.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from msgspec import Struct, structs
from numpy.typing import ArrayLike

from actors.errors import InvalidArgument, VectorFileError, VectorNotFound
from actors.store.vector_file import VectorHead, check_text, load_vectors, save_vectors
from actors.store.vector_rows import Floats, VectorRows, squared_norms
from actors.store.vector_search import Ranked, search

Metric = Literal["l2", "inner_product"]

_METRICS: tuple[Metric, ...] = ("l2", "inner_product")


class VectorOptions(Struct, frozen=True, kw_only=True):
    """What an index holds.

    * `metric`: `l2` scores 1 / (1 + squared distance), `inner_product` the product itself.
    * `normalize`: vectors and queries are scaled to length 1 first; with `inner_product` this is the cosine.
    * `model`: the name of the embedding model; files of another one are refused.
    * `dimension`: how many numbers a vector has; 0: as the first one, or as the file.

    Raises InvalidArgument for a metric that is none and a negative dimension.
    """

    metric: Metric = "l2"
    normalize: bool = False
    model: str = ""
    dimension: int = 0

    def __post_init__(self) -> None:
        if self.metric not in _METRICS:
            raise InvalidArgument(
                f"metric is {self.metric!r}, expected one of {', '.join(_METRICS)}"
            )
        if self.dimension < 0:
            raise InvalidArgument(f"dimension is {self.dimension}, expected 0 or more")
        check_text(self.model, "model")


class VectorMatch(NamedTuple):
    """A vector that was found: its id and its score; higher is better."""

    id: str
    score: float


_DEFAULT = VectorOptions()


class VectorIndex:
    """See the module."""

    def __init__(self, options: VectorOptions = _DEFAULT) -> None:
        self._wanted = options
        self._now = options
        self._rows = self._no_rows()

    @property
    def options(self) -> VectorOptions:
        """In force now: the dimension is that of the first vector, and a file has changed the rest."""
        return self._now

    @property
    def dimension(self) -> int:
        """How many numbers a vector has; 0: not known yet."""
        return self._now.dimension

    @property
    def ids(self) -> list[str]:
        """In the order they were added."""
        return [id_ for id_, _ in self._rows]

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, id_: object) -> bool:
        return id_ in self._rows.slots

    # -- vectors ----------------------------------------------------------------------------------

    def add(self, id_: str, vector: ArrayLike) -> None:
        """A new vector. It is kept as float32.

        Raises InvalidArgument: the id is empty or there already, or the vector is empty, of another
        dimension, holds what float32 does not hold finitely, or is all zeros and to be normalised.
        """
        self._check_id(id_)
        if id_ in self._rows.slots:
            raise InvalidArgument(f"there is a vector {id_!r} already; `upsert` takes its place")
        checked = self._vector(vector, f"vector {id_!r}")
        self._have_dimension(len(checked))
        self._rows.append(id_, checked)

    def add_many(self, ids: Sequence[str], vectors: ArrayLike) -> None:
        """New vectors, shape (len(ids), dimension); all or none. Raises as `add`."""
        for id_ in ids:
            self._check_id(id_)
            if id_ in self._rows.slots:
                raise InvalidArgument(
                    f"there is a vector {id_!r} already; `upsert` takes its place"
                )
        if twice := [id_ for id_, times in Counter(ids).items() if times > 1]:
            raise InvalidArgument(f"an id is given twice: {twice[0]!r}")
        checked = self._vectors(vectors, "vectors")
        if len(checked) != len(ids):
            raise InvalidArgument(f"{len(ids)} ids are given, and {len(checked)} vectors")
        if ids:
            self._have_dimension(checked.shape[1])
            self._rows.extend(list(ids), checked)

    def upsert(self, id_: str, vector: ArrayLike) -> None:
        """Put a vector in the place of that id's, or add it. Raises as `add`, but for an id that is there."""
        slot = self._rows.slots.get(id_)
        if slot is None:
            self.add(id_, vector)
        else:
            self._rows.put(slot, self._vector(vector, f"vector {id_!r}"))

    def remove(self, id_: str) -> bool:
        """Whether there was one."""
        return self._rows.remove(id_)

    def get(self, id_: str) -> Floats:
        """A copy of what is stored, normalised if the index does that. Raises VectorNotFound."""
        if id_ not in self._rows.slots:
            raise VectorNotFound(f"there is no vector {id_!r} among {len(self)}")
        return self._rows.vector(id_)

    def clear(self) -> None:
        """Remove all; options stay, the dimension too."""
        self._rows = self._no_rows()

    # -- search -----------------------------------------------------------------------------------

    def search(self, query: ArrayLike, k: int) -> list[VectorMatch]:
        """The best `k`, or all if there are fewer; of equal scores the one added first comes first.

        Raises InvalidArgument: `k` is negative, or the query is none that could be added.
        """
        return self._found(self._vector(query, "the query")[np.newaxis], k)[0]

    def search_many(self, queries: ArrayLike, k: int) -> list[list[VectorMatch]]:
        """As `search` for each row of `queries`, and faster than one by one. Raises as `search`."""
        checked = self._vectors(queries, "queries")
        return self._found(checked, k)

    def _found(self, queries: Floats, k: int) -> list[list[VectorMatch]]:
        if k < 0:
            raise InvalidArgument(f"k is {k}, expected 0 or more")
        ranked = search(self._rows, queries, k, l2=self._now.metric == "l2")
        return [self._matches(each) for each in ranked]

    def _matches(self, ranked: Ranked) -> list[VectorMatch]:
        ids: list[Any] = self._rows.ids
        pairs = zip(ranked.slots.tolist(), ranked.scores.tolist(), strict=True)
        return [VectorMatch(ids[slot], score) for slot, score in pairs]

    # -- files ------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a `.vec` file, whole or not at all. Raises VectorFileError."""
        now = self._now
        head = VectorHead(_METRICS.index(now.metric), now.normalize, now.dimension, now.model)
        save_vectors(Path(path), head, self._rows)

    def load(self, path: str | os.PathLike[str]) -> None:
        """Take a file's vectors in place of those here, with its metric, normalisation and model.

        Raises VectorFileError: it cannot be read, is no such file, or was made by another model than this
        index was set up for (one that names none, too). Raises InvalidArgument: the index was set up for
        another dimension. Nothing has changed then.
        """
        head, rows = load_vectors(Path(path))
        wanted = self._wanted
        if wanted.model and head.model != wanted.model:
            named = f"model {head.model!r}" if head.model else "a model that it does not name"
            raise VectorFileError(
                f"the vectors in {os.fspath(path)!r} are of {named}, this index is for {wanted.model!r}; "
                "embed the texts again"
            )
        if wanted.dimension and head.dimension != wanted.dimension:
            raise InvalidArgument(
                f"the vectors in {os.fspath(path)!r} have dimension {head.dimension}, this index is for "
                f"{wanted.dimension}"
            )
        self._now = VectorOptions(
            metric=_METRICS[head.metric],
            normalize=head.normalised,
            model=head.model,
            dimension=head.dimension,
        )
        self._rows = rows

    # -- checks -----------------------------------------------------------------------------------

    def _no_rows(self) -> VectorRows:
        return VectorRows(self._now.dimension, halved=self._now.metric == "l2")

    def _have_dimension(self, dimension: int) -> None:
        if not self._now.dimension:
            self._now = structs.replace(self._now, dimension=dimension)
            self._rows = self._no_rows()

    def _check_id(self, id_: str) -> None:
        if not id_:
            raise InvalidArgument("the id of a vector is empty")
        check_text(id_, "the id of a vector")

    def _vector(self, given: ArrayLike, what: str) -> Floats:
        """One vector as it is stored or searched for."""
        vector = _floats(given, what)
        if vector.ndim != 1:
            raise InvalidArgument(f"{what} has shape {vector.shape}, expected one row of numbers")
        checked: Floats = self._checked(vector[np.newaxis], what)[0]
        return checked

    def _vectors(self, given: ArrayLike, what: str) -> Floats:
        vectors = _floats(given, what)
        if vectors.size == 0:
            return vectors.reshape(0, self.dimension)
        if vectors.ndim != 2:
            raise InvalidArgument(f"{what} have shape {vectors.shape}, expected rows of numbers")
        return self._checked(vectors, what)

    def _checked(self, vectors: Floats, what: str) -> Floats:
        size, dimension = vectors.shape[1], self.dimension
        if not size:
            raise InvalidArgument(f"{what}: no numbers are given")
        if dimension and size != dimension:
            raise InvalidArgument(f"{what}: size {size}, expected {dimension}")
        if not np.isfinite(vectors).all():
            raise InvalidArgument(f"{what}: a number is not finite, or too great for float32")
        if not self._now.normalize:
            return vectors
        squares = squared_norms(vectors)
        if not squares.all():
            raise InvalidArgument(f"{what}: all numbers are zero, which cannot be normalised")
        scaled: Floats = (vectors / np.sqrt(squares)[:, np.newaxis]).astype(np.float32)
        return scaled


def _floats(given: ArrayLike, what: str) -> Floats:
    try:
        with np.errstate(over="ignore"):  # is found not to be finite
            floats: Floats = np.asarray(given, dtype=np.float32, order="C")
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidArgument(
            f"{what}: expected numbers, got {type(given).__name__}: {error}"
        ) from error
    return floats
