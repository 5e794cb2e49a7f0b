"""The form of thresholds: who sees it, and what it sends."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from testbed.errors import BadInput
from testbed.live.edit import Edited
from testbed.live.page import page
from testbed.live.server import Edits, LiveServer

pytest.importorskip("playwright")

from playwright.sync_api import Browser, expect

from tests.support.browsing import visit
from tests.support.replayed import EVENTS, of_queues, served

PORT = "s1-eth9"


@contextmanager
def serving(events: list[dict[str, Any]], edits: Edits | None) -> Iterator[str]:
    server = LiveServer("127.0.0.1", 0)
    server.page, server.edits = page(), edits
    server.start()
    for event in events:
        if event["event"] == "scene":
            event["data"]["editable"] = edits is not None
        if event["event"] != "end":
            server.publish(event["event"], served(event))
    try:
        yield server.url
    finally:
        server.close()


def test_thresholds_are_set_for_who_has_the_token(browser: Browser) -> None:
    asked: list[dict[str, Any]] = []

    def edit(settings: dict[str, Any]) -> Edited:
        asked.append(settings)
        if len(asked) > 1:
            raise BadInput("Kmin 1 MB would be above Kmax")
        return Edited(1, 2e-3, "set q3.kmin=10 kB")

    with serving(of_queues(), Edits("token", edit)) as url, visit(browser, f"{url}/#token") as seen:
        form, told = seen.page.locator("#thresholds"), seen.page.locator("#edited")
        expect(form).to_be_visible()
        where = form.locator("[name=where]")
        assert where.locator("option").all_inner_texts() == [
            "all queues", f"all of {PORT}", "q3 everywhere", f"q3 of {PORT}", "q7 everywhere", f"q7 of {PORT}",
        ]  # fmt: skip
        form.locator("button").click()
        expect(told).to_have_text("nothing to set")
        where.select_option(f"q3 of {PORT}")
        form.locator("[name=kmin]").fill(" 10 kB ")
        form.locator("[name=pmax]").fill("5 %")
        form.locator("[name=pmax]").press("p")  # no key of the page
        form.locator("[name=pmax]").fill("5 %")
        form.locator("button").click()
        expect(told).to_have_text("set q3.kmin=10 kB at 2.00 ms")
        form.locator("button").click()
        expect(told).to_have_text("Kmin 1 MB would be above Kmax")
        assert asked == [{f"{PORT}.q3.kmin": "10 kB", f"{PORT}.q3.pmax": "5 %"}] * 2
        expect(seen.page.locator("#pause")).to_have_text("Pause")


@pytest.mark.parametrize(("edits", "anchor"), [(None, "#token"), (Edits("token", lambda _: Edited(1)), "")])
def test_there_is_no_form_for_others(browser: Browser, edits: Edits | None, anchor: str) -> None:
    with serving(copy.deepcopy(EVENTS), edits) as url, visit(browser, f"{url}/{anchor}") as seen:
        expect(seen.page.locator("#connection")).to_have_text("live")
        expect(seen.page.locator("h1")).to_have_text("incast-8 \u00b7 dcqcn + static")
        expect(seen.page.locator("#edit")).to_be_hidden()
        expect(seen.page.locator("#queues")).to_be_hidden()
        assert seen.errors == []
