"""Embeddings over OpenAI's `/embeddings`: texts in, a vector of numbers for each out.

Any server that speaks that will do: OpenAI's, llama.cpp's with an embedding model, Ollama's and Lemonade's under
`/v1`. Texts go in batches; the vectors come back in the order of the texts, whatever order the server has.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Literal, Protocol

import msgspec
from msgspec import Struct

from actors.errors import ConfigError, ModelReplyError
from actors.model.bearer import json_headers
from actors.model.completion import decode_object
from actors.model.error_body import error_message, has_error
from actors.model.http import ModelHttp

Role = Literal["document", "query"]

BATCH: Final = 64
"""Default for texts in one request; OpenAI takes 2,048, small servers a few."""


class EmbeddingModel(Struct, frozen=True):
    """Which model embeds, and where.

    * `model`: its name, as the server knows it. It is kept with what it has embedded.
    * `base_url`: what comes before `/embeddings`, usually ending in `/v1`.
    * `api_key`: goes as bearer token unless it is empty.
    * `document_prefix`, `query_prefix`: put before each text, for models that want to be told which it is
      (the E5 family: `"passage: "` and `"query: "`).
    * `batch`: how many texts go in one request.

    Raises ConfigError: the name or the address is empty, or `batch` is not above 0.
    """

    model: str
    base_url: str
    api_key: str = ""
    document_prefix: str = ""
    query_prefix: str = ""
    batch: int = BATCH

    def __post_init__(self) -> None:
        for field in ("model", "base_url"):
            if not getattr(self, field).strip():
                raise ConfigError(f"embeddings.{field}", "it is empty")
        if self.batch < 1:
            raise ConfigError("embeddings.batch", f"expected 1 or more, got {self.batch!r}")

    def __repr__(self) -> str:
        """Without the key."""
        return f"EmbeddingModel({self.model!r}, {self.base_url!r})"


class Embedder(Protocol):
    """A way to embed texts."""

    @property
    def model(self) -> str:
        """The model's name, which is kept with what it has embedded."""

    async def embed(self, texts: Sequence[str], role: Role) -> list[list[float]]:
        """A vector for each text, in order, all of one size. Raises ModelError."""


class HttpEmbedder:
    """See the module. Raises ConfigError: the key cannot be sent in a header."""

    def __init__(self, http: ModelHttp, model: EmbeddingModel) -> None:
        self._http = http
        self._model = model
        self._url = f"{model.base_url.rstrip('/')}/embeddings"
        self._headers = json_headers(model.api_key)

    @property
    def model(self) -> str:
        """As it was given."""
        return self._model.model

    async def embed(self, texts: Sequence[str], role: Role) -> list[list[float]]:
        """A vector for each text, in order. Raises ModelError."""
        prefix = self._model.document_prefix if role == "document" else self._model.query_prefix
        vectors: list[list[float]] = []
        for start in range(0, len(texts), self._model.batch):
            batch = [prefix + text for text in texts[start : start + self._model.batch]]
            body = {"model": self._model.model, "input": batch, "encoding_format": "float"}
            answer = await self._http.post(self._url, msgspec.json.encode(body), self._headers)
            vectors += read_embeddings(answer.body, len(batch))
        if len({len(vector) for vector in vectors}) > 1:
            raise ModelReplyError(f"{self._model!r} gave vectors of different sizes")
        return vectors


def read_embeddings(body: bytes, count: int) -> list[list[float]]:
    """The vectors in a reply, in the order of the texts.

    Raises ModelReplyError: it tells of an error, or holds no vector of numbers for each of `count` texts.
    """
    reply = decode_object(body)
    if has_error(reply):
        raise ModelReplyError(error_message(reply["error"]))
    data = reply.get("data")
    if not isinstance(data, list) or len(data) != count:
        found = len(data) if isinstance(data, list) else "none"
        raise ModelReplyError(f"expected {count} embeddings in the reply's data, got {found}")
    vectors: list[list[float] | None] = [None] * count
    for place, item in enumerate(data):
        index = item.get("index", place) if isinstance(item, dict) else place
        if not isinstance(index, int) or not 0 <= index < count or vectors[index] is not None:
            raise ModelReplyError(f"expected an embedding for each text, got index {index!r:.50}")
        vectors[index] = _vector(item, index)
    return [vector for vector in vectors if vector is not None]


def _vector(item: Any, index: int) -> list[float]:
    given = item.get("embedding") if isinstance(item, dict) else None
    try:
        vector = msgspec.convert(given, list[float])
    except msgspec.ValidationError as error:
        raise ModelReplyError(f"embedding {index} is no list of numbers: {error}") from error
    if not vector:
        raise ModelReplyError(f"embedding {index} is empty")
    return vector
