"""Making the model ready: once, until it succeeds."""

from __future__ import annotations

from actors.agent.readiness import ModelReadiness
from actors.model.http import ModelHttp
from actors.model.lemonade import LemonadeProvider
from actors.testing import BodyReply, JsonReply, ScriptedModelServer
from tests.actors.agent.on_loop import on_loop


@on_loop
async def test_a_failure_is_tried_again_and_a_success_is_not() -> None:
    http, readiness = ModelHttp(), ModelReadiness()
    broken = {"POST /load": BodyReply("no", status=500)}
    with ScriptedModelServer(routes=broken) as server:
        provider = LemonadeProvider(http, server.base_url)
        assert await readiness.ensure(provider, "m", 0) is not None
        assert readiness.needed
    with ScriptedModelServer(routes={"POST /load": JsonReply({})}) as server:
        provider = LemonadeProvider(http, server.base_url)
        assert await readiness.ensure(provider, "m", 0) is None
        assert not readiness.needed
    await http.aclose()
