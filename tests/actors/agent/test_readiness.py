"""Making the model ready: once, until it succeeds."""

from __future__ import annotations

import asyncio

from msgspec.structs import replace

from actors.agent import notices
from actors.agent.readiness import ModelReadiness
from actors.model.http import ModelHttp
from actors.model.lemonade import LemonadeProvider
from actors.output.events import TurnStarted, WarningNoted
from actors.testing import BodyReply, Failure, JsonReply, ScriptedModelServer
from tests.actors.agent.on_loop import on_loop
from tests.actors.agent.scene import FunctionTools, Scene, say


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


def _on_lemonade(scene: Scene, server: ScriptedModelServer) -> None:
    scene.parts = replace(scene.parts, provider=LemonadeProvider(scene.http, server.base_url))


@on_loop
async def test_a_model_that_cannot_be_loaded_is_a_warning_and_the_turn_goes_on() -> None:
    broken = {"POST /load": BodyReply("no", status=500)}
    with ScriptedModelServer([say(answer="ok")], routes=broken) as server:
        async with Scene(server, FunctionTools()) as scene:
            _on_lemonade(scene, server)
            result = await scene.play()
    assert result.result == "ok"
    assert isinstance(scene.events[0], WarningNoted)
    assert isinstance(scene.events[1], TurnStarted)


@on_loop
async def test_a_cancel_while_the_model_loads_ends_the_turn_before_its_first_step() -> None:
    with ScriptedModelServer(routes={"POST /load": Failure("silent")}) as server:
        async with Scene(server, FunctionTools()) as scene:
            _on_lemonade(scene, server)
            turn = asyncio.create_task(scene.play())
            await asyncio.to_thread(server.wait_until, lambda s: len(s.loads) == 1)
            scene.cancel.request()
            result = await turn
            assert scene.parts.readiness.needed
    assert (result.outcome, result.result) == ("cancelled", notices.cancelled(0))
