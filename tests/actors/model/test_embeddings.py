"""Embeddings: what is asked, in which batches, and every reply that is of no use."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
import pytest

from actors.errors import ConfigError, ModelError, ModelHTTPError, ModelReplyError
from actors.model.embeddings import EmbeddingModel, HttpEmbedder, Role, read_embeddings
from actors.model.http import ModelHttp
from actors.testing import JsonReply, RecordedRequest, Reply, ScriptedModelServer


def embedded(
    route: Callable[[RecordedRequest], Reply],
    texts: list[str],
    settings: Mapping[str, Any] | None = None,
    role: Role = "document",
) -> Any:
    """The vectors, and the requests they took."""
    with ScriptedModelServer(routes={"POST /embeddings": route}) as server:

        async def main() -> list[list[float]]:
            http = ModelHttp()
            model = EmbeddingModel("m", server.base_url + "/", **(settings or {}))
            try:
                return await HttpEmbedder(http, model).embed(texts, role)
            finally:
                await http.aclose()

        return asyncio.run(main()), server.requests


def by_length(request: RecordedRequest) -> Reply:
    """A vector with the length of each text, last text first."""
    data = [
        {"object": "embedding", "index": index, "embedding": [len(text), 0.5]}
        for index, text in enumerate(request.json["input"])
    ]
    return JsonReply({"data": data[::-1], "model": "m"})


def test_each_text_has_its_vector_whatever_the_order_of_the_reply() -> None:
    vectors, (request,) = embedded(by_length, ["a", "bbb", "cc"], {"api_key": "sk-1"})
    assert vectors == [[1.0, 0.5], [3.0, 0.5], [2.0, 0.5]]
    assert request.path.endswith("/embeddings")
    assert request.headers["authorization"] == "Bearer sk-1"
    assert request.json == {"model": "m", "input": ["a", "bbb", "cc"], "encoding_format": "float"}


def test_texts_go_in_batches_with_their_prefix() -> None:
    settings = {"batch": 2, "document_prefix": "passage: ", "query_prefix": "query: "}
    vectors, requests = embedded(by_length, ["a", "b", "c"], settings)
    assert [request.json["input"] for request in requests] == [
        ["passage: a", "passage: b"],
        ["passage: c"],
    ]
    assert vectors == [[10.0, 0.5]] * 3
    _, (request,) = embedded(by_length, ["a"], settings, "query")
    assert request.json["input"] == ["query: a"]


def test_no_texts_are_no_request() -> None:
    assert embedded(by_length, []) == ([], [])


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ({"error": {"message": "no such model"}}, "no such model"),
        ({}, "expected 2 embeddings in the reply's data, got none"),
        ({"data": [{"index": 0, "embedding": [1]}]}, "expected 2 embeddings .*, got 1"),
        ({"data": [{"index": 0, "embedding": [1]}] * 2}, "got index 0"),
        ({"data": [{"index": 0, "embedding": [1]}, {"index": 7, "embedding": [1]}]}, "got index 7"),
        ({"data": [{"index": 0, "embedding": [1]}, {"index": "1", "embedding": [1]}]}, "index '1'"),
        ({"data": [{"embedding": [1]}, {"embedding": []}]}, "embedding 1 is empty"),
        (
            {"data": [{"embedding": [1]}, {"embedding": "AAAA"}]},
            "embedding 1 is no list of numbers",
        ),
        ({"data": [{"embedding": [1]}, {"embedding": ["a"]}]}, "embedding 1 is no list of numbers"),
        ({"data": [{"embedding": [1]}, 5]}, "embedding 1 is no list of numbers"),
    ],
)
def test_a_reply_of_no_use_is_told(reply: Any, why: str) -> None:
    with pytest.raises(ModelReplyError, match=why):
        read_embeddings(msgspec.json.encode(reply), 2)


def test_vectors_of_different_sizes_are_refused() -> None:
    def by_text(request: RecordedRequest) -> Reply:
        return JsonReply({"data": [{"embedding": [1.0] * len(request.json["input"][0])}]})

    with pytest.raises(ModelReplyError, match="different sizes"):
        embedded(by_text, ["a", "bb"], {"batch": 1})


def test_a_server_that_fails_is_a_model_error() -> None:
    with pytest.raises(ModelHTTPError):
        embedded(lambda _: JsonReply({"error": "overloaded"}, status=500), ["a"])
    with pytest.raises(ModelError):
        asyncio.run(nowhere())


async def nowhere() -> None:
    """Where nobody listens."""
    http = ModelHttp()
    try:
        await HttpEmbedder(http, EmbeddingModel("m", "http://127.0.0.1:1/v1")).embed(["a"], "query")
    finally:
        await http.aclose()


@pytest.mark.parametrize(
    "settings", [{"model": " "}, {"base_url": ""}, {"batch": 0}], ids=lambda each: next(iter(each))
)
def test_settings_that_cannot_be_are_named(settings: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=next(iter(settings))):
        EmbeddingModel(**{"model": "m", "base_url": "http://x/v1", **settings})


def test_the_key_is_not_shown() -> None:
    assert "hush" not in repr(EmbeddingModel("m", "http://x/v1", api_key="sk-hush"))
