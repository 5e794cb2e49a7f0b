"""The live page and the live view of a terminal; both read what the run's server sends on ``/live``."""

from __future__ import annotations

from functools import cache

from testbed.base.web import OFFLINE, Page, fingerprint

SCRIPTS = (
    "units",
    "history",
    "chart",
    "topology",
    "ranks",
    "panels",
    "edit",
    "live",
)  # in order of use: they become one script


@cache
def page() -> Page:
    """The live page: one HTML document that loads nothing and connects to nowhere but its own server."""
    from importlib.resources import files

    def asset(name: str, package: str = "testbed.live.page") -> str:
        return files(package).joinpath(name).read_text(encoding="utf-8")

    palette, _, _ = asset("page.css", "testbed.results.report").partition(
        "\n* {"
    )  # the report's colours, dark and light
    style = palette + "\n" + asset("live.css")
    script = "".join(asset(f"{name}.js") for name in SCRIPTS)
    policy = (
        f"{OFFLINE}; script-src {fingerprint(script)}; style-src {fingerprint(style)}; connect-src 'self'; "
        "img-src data:"
    )
    document = asset("page.html")
    for mark, text in (("STYLE", style), ("SCRIPT", script)):
        document = document.replace(f"%{mark}%", text)
    return Page(document.encode(), policy)
