"""`LemonadeProvider`: a Lemonade server, which must load a model before it answers (gaia 9.3)."""

from __future__ import annotations

import os
from collections.abc import Mapping

from actors.model.http import ModelHttp
from actors.model.lemonade_client import LemonadeClient
from actors.model.openai import OpenAIProvider


class LemonadeProvider(OpenAIProvider):
    """Chat as any OpenAI-compatible server, health and load as Lemonade's own.

    `base_url`, when empty, comes from LEMONADE_BASE_URL, then from the default address (gaia 9.2).
    """

    def __init__(
        self,
        http: ModelHttp,
        base_url: str = "",
        *,
        api_key: str = "",
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        self.client = LemonadeClient(http, base_url, api_key=api_key, environ=environ)
        super().__init__(http, self.client.base_url, api_key=api_key, name="lemonade", local=True)

    async def available(self) -> bool:
        """Whether anything answers at `<base>/health` within 5 s."""
        return await self.client.is_server_running()

    async def prepare(self, model: str, context_size: int) -> None:
        """Have `model` loaded, with a context of `context_size` tokens unless that is 0.

        Does nothing without a model, at a base URL that does not end in `/api/v1` (a plain OpenAI
        server), and where health names that model and size already. Loading may take hours.

        Raises:
            ModelError: the server does not answer or refuses to load.
        """
        if not model or not self.client.base_url.endswith("/api/v1"):
            return
        health = await self.client.health()
        if health.model == model and context_size in (0, health.context_size):
            return
        await self.client.load(model, context_size)
