"""`LemonadeClient`: the endpoints of a Lemonade server (gaia 9.2), one method each.

Knows no conversation and no agent; `LemonadeProvider` uses it to make a model ready. Every method runs
on the event loop of its `ModelHttp`, raises `ModelError` unless it says otherwise, and may be cancelled.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote

import msgspec
from msgspec import Struct, field

from actors.errors import ModelError, ModelHTTPError
from actors.model.base_url import lemonade_url
from actors.model.bearer import json_headers
from actors.model.completion import decode_object
from actors.model.http import ModelHttp, Timeouts
from actors.model.streamed_reply import StreamedReply

_QUICK = Timeouts(connect_s=5.0, read_s=5.0)  # is anybody there
_SHORT = Timeouts(connect_s=10.0, read_s=10.0)  # other questions about the server
_LOAD = Timeouts(connect_s=30.0, read_s=12_000.0)  # a model may have to be fetched first


class Health(Struct, frozen=True):
    """What GET /health says. `running` is false when nothing answers; `raw` is the whole answer.

    `model` and `context_size` are those of the first loaded model, empty and 0 if there is none.
    """

    running: bool
    status: str = ""
    model: str = ""
    context_size: int = 0
    raw: dict[str, Any] = field(default_factory=dict)


class ServerStatus(Struct, frozen=True):
    """Health, and the models the server lists (none where it would not say)."""

    health: Health
    models: tuple[dict[str, Any], ...] = ()


class LemonadeClient:
    """See the module.

    `base_url` and `model`, when empty, come from LEMONADE_BASE_URL and LEMONADE_MODEL in `environ`, then
    from the defaults of gaia 9.2. `model` is the one loaded last through this client.
    """

    def __init__(
        self,
        http: ModelHttp,
        base_url: str = "",
        *,
        model: str = "",
        api_key: str = "",
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        self._http = http
        self._headers = json_headers(api_key)
        self.base_url = lemonade_url(base_url, environ)
        self.model = model or environ.get("LEMONADE_MODEL", "")

    async def health(self, timeouts: Timeouts = _SHORT) -> Health:
        """Ask for the server's health. Never raises ModelError: an answer that is none is in `status`."""
        try:
            raw = await self._get("/health", timeouts=timeouts)
        except ModelHTTPError as exc:
            return Health(running=True, status=str(exc))
        except ModelError:
            return Health(running=False)
        return _read_health(raw)

    async def is_server_running(self) -> bool:
        """Whether something answers, asked for at most 5 s."""
        return (await self.health(_QUICK)).running

    async def ready(self) -> bool:
        """Whether the server says its status is `ok`, asked for at most 5 s."""
        return (await self.health(_QUICK)).status == "ok"

    async def status(self) -> ServerStatus:
        """Health and models together; a failure to list models leaves them out."""
        health = await self.health()
        if not health.running:
            return ServerStatus(health)
        try:
            return ServerStatus(health, tuple(await self.models()))
        except ModelError:
            return ServerStatus(health)

    async def models(self, *, show_all: bool = False) -> list[dict[str, Any]]:
        """The models on the server, with `show_all` also those it could fetch."""
        reply = await self._get("/models?show_all=true" if show_all else "/models")
        listed = reply.get("data")
        return (
            [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
        )

    async def model_details(self, model: str) -> dict[str, Any]:
        """What the server knows of one model."""
        return await self._get(f"/models/{quote(model, safe='')}")

    async def load(self, model: str, context_size: int = 0) -> dict[str, Any]:
        """Load a model, with a context of `context_size` tokens if that is above 0. Waits up to 12,000 s."""
        body: dict[str, Any] = {"model_name": model}
        if context_size > 0:
            body["ctx_size"] = context_size
        reply = await self._post("/load", body, timeouts=_LOAD)
        self.model = model
        return reply

    async def unload(self) -> dict[str, Any]:
        """Unload what is loaded, and forget `model`."""
        reply = await self._post("/unload", {})
        self.model = ""
        return reply

    async def stats(self) -> dict[str, Any]:
        """Numbers of the last request: tokens, time to the first one, tokens per second."""
        return await self._get("/stats")

    async def system_info(self, *, verbose: bool = False) -> dict[str, Any]:
        """The machine and what can compute on it."""
        return await self._get("/system-info?verbose=true" if verbose else "/system-info")

    async def set_params(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Change generation parameters of the server (POST /params)."""
        return await self._post("/params", params)

    async def check_model_loaded(self, model: str) -> bool:
        """Whether the server lists `model`; upper and lower case are the same."""
        wanted = model.casefold()
        return any(str(each.get("id", "")).casefold() == wanted for each in await self.models())

    async def validate_context_size(self, tokens: int) -> tuple[bool, str]:
        """Whether the loaded model's window holds `tokens`, and a sentence about it.

        True also where the server does not say how large its window is.
        """
        window = (await self.health()).context_size
        if 0 < window < tokens:
            return False, (
                f"the model server has a context of {window} tokens and {tokens} are needed; "
                f"load the model again with ctx_size {tokens}"
            )
        known = f"the model server has a context of {window} tokens" if window else "not reported"
        return True, f"context size: {known}"

    async def chat_completions(self, body: Mapping[str, Any]) -> str:
        """POST /chat/completions as it is (gaia 9.4): the raw text of the answer."""
        encoded = msgspec.json.encode(body)
        reply = await self._http.post(f"{self.base_url}/chat/completions", encoded, self._headers)
        return reply.body.decode("utf-8", errors="replace")

    async def chat_completions_streaming(
        self, body: Mapping[str, Any], on_token: Callable[[str], None]
    ) -> tuple[bytes, list[dict[str, Any]]]:
        """The same with `stream` set: the raw bytes, and the tool calls put together (gaia 2.4)."""
        encoded = msgspec.json.encode({**body, "stream": True})
        reading, raw = StreamedReply(), bytearray()
        url = f"{self.base_url}/chat/completions"
        async with self._http.stream(url, encoded, self._headers) as answer:
            async for chunk in answer:
                raw += chunk
                for token in reading.feed(chunk):
                    on_token(token)
        return bytes(raw), reading.tool_calls

    async def _get(self, path: str, *, timeouts: Timeouts = _SHORT) -> dict[str, Any]:
        reply = await self._http.get(f"{self.base_url}{path}", self._headers, timeouts=timeouts)
        return decode_object(reply.body)

    async def _post(
        self, path: str, body: Mapping[str, Any], *, timeouts: Timeouts | None = None
    ) -> dict[str, Any]:
        encoded = msgspec.json.encode(body)
        url = f"{self.base_url}{path}"
        reply = await self._http.post(url, encoded, self._headers, timeouts=timeouts)
        return decode_object(reply.body) if reply.body.strip() else {}


def _read_health(raw: dict[str, Any]) -> Health:
    loaded = raw.get("all_models_loaded")
    first = loaded[0] if isinstance(loaded, list) and loaded else None
    first = first if isinstance(first, dict) else {}
    options = first.get("recipe_options")
    size = options.get("ctx_size") if isinstance(options, dict) else 0
    return Health(
        running=True,
        status=_text(raw.get("status")),
        model=_text(first.get("model_name")),
        context_size=size if isinstance(size, int) and not isinstance(size, bool) else 0,
        raw=raw,
    )


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
