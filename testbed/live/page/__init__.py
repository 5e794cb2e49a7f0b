"""The live page and the live view of a terminal; both read what the run's server sends on ``/live``."""

from __future__ import annotations

from functools import cache

SCRIPTS = (
    "units",
    "history",
    "chart",
    "topology",
    "ranks",
    "panels",
    "live",
)  # in order of use: they become one script


@cache
def page() -> bytes:
    """The live page: one HTML document that loads nothing and connects to nowhere but its own server."""
    from base64 import b64encode
    from hashlib import sha256
    from importlib.resources import files

    def asset(name: str, package: str = "testbed.live.page") -> str:
        return files(package).joinpath(name).read_text(encoding="utf-8")

    def fingerprint(text: str) -> str:
        return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"

    palette, _, _ = asset("page.css", "testbed.results.report").partition(
        "\n* {"
    )  # the report's colours, dark and light
    style = palette + "\n" + asset("live.css")
    script = "".join(asset(f"{name}.js") for name in SCRIPTS)
    policy = (
        f"default-src 'none'; script-src {fingerprint(script)}; style-src {fingerprint(style)}; "
        "connect-src 'self'; img-src data:"
    )
    document = asset("page.html")
    for mark, text in (("POLICY", policy), ("STYLE", style), ("SCRIPT", script)):
        document = document.replace(f"%{mark}%", text)
    return document.encode()
