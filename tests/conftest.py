"""The rules every test runs under: nothing hangs, and nothing is left behind.

* `time_limit`: see `tests/time_limit.py`. `@pytest.mark.time_limit(seconds)` changes the 60 s.
* `nothing_left`: see `tests/leftovers.py`. After every test no thread, child process, asyncio task or
  descriptor is there that was not there before it, and no ResourceWarning or lost task error came out of
  it. `@pytest.mark.leaves("why")` lets one test off. Fixtures of module or session scope are set up before
  the snapshot of the first test that uses them and so are exempt by themselves.
  What a library opens once per process and keeps is opened by `opened_once`.
"""

from __future__ import annotations

import gc
import importlib.util
import logging
import signal
from collections.abc import Generator, Iterator

import pytest

from tests.leftovers import LostErrors, leftovers, take_snapshot
from tests.time_limit import LastResort, alarm, limit_of

_last_resort = pytest.StashKey[LastResort]()
_failed = pytest.StashKey[bool]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--cases DIR`: other case files for the conformance tests."""
    parser.addoption(
        "--cases", metavar="DIR", help="conformance cases: DIR/gaia/*.json, DIR/vix/*.json"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register the markers and keep the real stderr.

    A shell has its background jobs ignore SIGINT, and so would every program that a test interrupts.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    config.addinivalue_line(
        "markers", "time_limit(seconds): bound of each phase of the test, 60 s by default"
    )
    config.addinivalue_line(
        "markers", "leaves(reason): the test may leave threads or descriptors behind"
    )
    config.stash[_last_resort] = LastResort()


def pytest_unconfigure(config: pytest.Config) -> None:
    """Give the copy of stderr back."""
    config.stash[_last_resort].close()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """The last resort spans the whole test."""
    last_resort = item.config.stash[_last_resort]
    last_resort.arm(limit_of(item))
    try:
        return (yield)
    finally:
        last_resort.disarm()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None]:
    """The alarm of the set-up."""
    with alarm(limit_of(item), "set-up"):
        yield


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None]:
    """The alarm of the test itself."""
    with alarm(limit_of(item), "the test"):
        yield


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None]:
    """The alarm of the tear-down."""
    with alarm(limit_of(item), "tear-down"):
        yield


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Remember whether the test itself failed."""
    report = yield
    if call.when == "call":
        item.stash[_failed] = report.failed
    return report


@pytest.fixture(scope="session")
def lost_errors() -> Iterator[LostErrors]:
    """What asyncio and aiohttp log about things nobody waited for."""
    handler = LostErrors()
    logger = logging.getLogger("asyncio")
    logger.addHandler(handler)
    yield handler
    logger.removeHandler(handler)


@pytest.fixture(scope="session")
def opened_once() -> None:
    """Let libraries open what they open once per process and keep, before the first snapshot."""
    if importlib.util.find_spec("uvloop") is not None:
        importlib.import_module("uvloop").new_event_loop().close()  # libuv's pipe for signals


@pytest.fixture(scope="module", autouse=True)
def frozen_past() -> None:
    """Take all older objects out of the collector's sight, so that a collection per test costs little."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def nothing_left(
    request: pytest.FixtureRequest, lost_errors: LostErrors, opened_once: None, frozen_past: None
) -> Iterator[None]:
    """Fail a test that leaves something behind."""
    lost_errors.take()
    before = take_snapshot()
    yield
    if request.node.get_closest_marker("leaves") is not None:
        return
    if request.node.stash.get(_failed, False):
        return  # its traceback holds its frames, and they hold whatever it had open
    found = leftovers(before) + lost_errors.take()
    if found:
        pytest.fail("the test left behind:\n  " + "\n  ".join(found), pytrace=False)
