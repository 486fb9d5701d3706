"""`OpenAIProvider`: any server that speaks OpenAI's chat completions.

One POST per call to `<base>/chat/completions`; see `actors.model.completion` for what is sent and how a
reply is read, `actors.model.http` for limits and failures.
"""

from __future__ import annotations

from actors.errors import ModelError, ModelHTTPError, ModelReplyError
from actors.model.bearer import json_headers
from actors.model.completion import encode_request, read_completion
from actors.model.http import ModelHttp, Timeouts
from actors.model.http_reply import HttpReply, HttpStream
from actors.model.provider import ModelReply, ModelRequest, TokenSink
from actors.model.redaction import redact
from actors.model.streamed_reply import StreamedReply

_QUICK = Timeouts(connect_s=5.0, read_s=5.0)


class OpenAIProvider:
    """See the module. `base_url` is what comes before `/chat/completions`, usually ending in `/v1`.

    `api_key`, unless empty, goes as bearer token. `name` and `local` are what the properties say.

    Raises:
        ConfigError: the key cannot be sent in a header.
    """

    def __init__(
        self,
        http: ModelHttp,
        base_url: str,
        *,
        api_key: str = "",
        name: str = "openai",
        local: bool = False,
    ) -> None:
        self._http = http
        self._base_url = base_url.rstrip("/")
        self._chat_url = f"{self._base_url}/chat/completions"
        self._headers = json_headers(api_key)
        self._name = name
        self._local = local

    @property
    def name(self) -> str:
        """What the provider is called in configuration."""
        return self._name

    @property
    def local(self) -> bool:
        """Whether the model runs on this machine, as its maker said."""
        return self._local

    async def available(self) -> bool:
        """Whether anything answers at `<base>/models` within 5 s, be it a refusal."""
        try:
            await self._http.get(f"{self._base_url}/models", self._headers, timeouts=_QUICK)
        except ModelHTTPError:
            return True
        except ModelError:
            return False
        return True

    async def prepare(self, model: str, context_size: int) -> None:
        """Nothing to do: such a server has its models ready."""

    async def generate(self, request: ModelRequest) -> ModelReply:
        """Ask for one whole reply. Raises ModelError."""
        body = encode_request(request, stream=False)
        answer = await self._http.post(self._chat_url, body, self._headers)
        try:
            return read_completion(answer.body)
        except ModelReplyError as exc:
            raise _without_secrets(
                exc, answer
            ) from None  # the cause would tell what this one hides

    async def stream(self, request: ModelRequest, on_token: TokenSink) -> ModelReply:
        """Ask for a reply piece by piece; see `ModelProvider.stream`. Raises ModelError."""
        body = encode_request(request, stream=True)
        reading = StreamedReply()
        async with self._http.stream(self._chat_url, body, self._headers) as answer:
            async for chunk in answer:
                for token in reading.feed(chunk):
                    on_token(token)
                if reading.done:
                    await answer.drain()
                    break
            try:
                return reading.reply()
            except ModelReplyError as exc:
                raise _without_secrets(exc, answer) from None


def _without_secrets(exc: ModelReplyError, answer: HttpReply | HttpStream) -> ModelReplyError:
    return ModelReplyError(redact(str(exc), answer.secrets))
