"""The folder of an answer: advice.html, advice.json, and what to do as files."""

from __future__ import annotations

from pathlib import Path

from testbed.advise import answer, page
from testbed.advise.advice import Advice
from testbed.advise.change import change
from testbed.base.atomic import atomic_write
from testbed.base.json_text import json_text
from testbed.results import folder as results

PAGE, DATA = "advice.html", "advice.json"


def write(folder: Path, advice: Advice) -> Path:
    """All of it; returns where the page is. Raises TestbedError."""
    made = change(advice)
    files = {
        **(made.files if made else {}),
        DATA: f"{json_text(answer.as_dict(advice))}\n",
        PAGE: page.render(advice, made),
    }
    for name, text in files.items():
        atomic_write(folder / name, text.encode())
    results.give_to_caller([folder, *(folder / name for name in files)])
    return folder / PAGE
