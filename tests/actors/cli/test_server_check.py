"""Doctor asks real servers, and takes every answer."""

from __future__ import annotations

from actors.cli.server_check import model_names, probe, servers
from actors.testing.model_server import ScriptedModelServer, unused_port
from actors.testing.replies import BodyReply, Failure, JsonReply, Reply


def finding_of(reply: Reply) -> tuple[str, str]:
    with ScriptedModelServer(routes={"GET /models": reply}) as server:
        finding = probe("a server", f"http://127.0.0.1:{server.port}/v1/", timeout_s=5)
    return finding.mark, finding.text.partition(": ")[2]


def test_a_server_with_models_names_three() -> None:
    listing = {"data": [{"id": name} for name in "abcde"]}
    assert finding_of(JsonReply(listing)) == ("ok", "answers, has a, b, c and 2 more")


def test_a_server_without_models_is_well() -> None:
    assert finding_of(JsonReply({"data": []})) == ("ok", "answers, lists no models")


def test_an_error_status_is_noted() -> None:
    assert finding_of(JsonReply({}, status=401)) == ("note", "answers with status 401")


def test_a_web_page_is_noted() -> None:
    page = BodyReply("<html>", content_type="text/html")
    assert finding_of(page) == ("note", "answers, but not as a model server")


def test_a_server_that_hangs_up_is_noted() -> None:
    mark, text = finding_of(Failure("close"))
    assert mark == "note"
    assert text.startswith("no answer (")


def test_nobody_there_says_what_to_do() -> None:
    finding = probe("a server", f"http://127.0.0.1:{unused_port()}/v1")
    assert finding.mark == "note"
    assert "--base-url" in finding.advice


def test_an_address_that_is_none_is_noted() -> None:
    assert probe("a server", "http://[").mark == "note"


def test_the_key_goes_to_the_configured_server_only() -> None:
    with ScriptedModelServer() as first, ScriptedModelServer() as second:
        list(servers([("configured", first.base_url), ("other", second.base_url)], api_key="k"))
    assert first.requests[0].headers["authorization"] == "Bearer k"
    assert "authorization" not in second.requests[0].headers


def test_listings_of_other_forms_have_no_names() -> None:
    assert model_names([]) == []
    assert model_names({"data": 7}) == []
    assert model_names({"data": ["x", {"id": 7}, {"id": "m"}]}) == ["m"]
