"""matplotlib's SVG in half of its bytes: a style stands once, coordinates to a hundredth of a point, no metadata."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from xml.etree import ElementTree as ET

import matplotlib as mpl
from matplotlib.figure import Figure

SVG = "http://www.w3.org/2000/svg"
NAMESPACES = {"": SVG, "xlink": "http://www.w3.org/1999/xlink"}
PLACES = ("d", "x", "y", "transform")
LONG = re.compile(r"-?\d+\.\d{3,}")
INSTEAD = re.compile(r"'[^']*', ")  # fonts that are named before sans-serif
SETTINGS = {"svg.fonttype": "none", "svg.hashsalt": "testbed", "axes.spines.top": False, "axes.spines.right": False}


@contextmanager
def drawing(file: Path, title: str, size: tuple[float, float], **settings: float) -> Iterator[Figure]:
    """A figure of so many inches, which is written at the end."""
    with mpl.rc_context(SETTINGS | settings):  # type: ignore[arg-type]
        drawn, written = Figure(size, layout="constrained"), io.StringIO()
        yield drawn
        drawn.savefig(written, format="svg", metadata={"Title": title})
    file.write_text(_compact(written.getvalue()), encoding="utf-8")


def _compact(svg: str) -> str:
    """The same picture; its text has to be text, not outlines, which are scaled by small numbers."""
    for prefix, uri in NAMESPACES.items():
        ET.register_namespace(prefix, uri)
    root, classes = ET.fromstring(svg), dict[str, str]()
    for metadata in root.findall("metadata", NAMESPACES):
        root.remove(metadata)
    for one in root.iter():
        _shorten(one, classes)
        if f"#{one.get('id')}" not in svg:
            one.attrib.pop("id", None)
    for styles in root.iterfind(".//style", NAMESPACES):
        styles.text = "\n".join([styles.text or "", *(f".{name}{{{style}}}" for style, name in classes.items())])
    return ET.tostring(root, encoding="unicode")


def _shorten(one: ET.Element, classes: dict[str, str]) -> None:
    for name in one.attrib.keys() & set(PLACES):
        one.set(name, " ".join(LONG.sub(_rounded, one.attrib[name]).split()))
    clip = one.attrib.pop("clip-path", "")
    style = INSTEAD.sub("", one.attrib.pop("style", "")) + (f"; clip-path: {clip}" if clip else "")
    if style:
        one.set("class", classes.setdefault(style.strip("; "), f"c{len(classes)}"))
    one.tail = "\n"
    one.text = one.text and one.text.strip()


def _rounded(number: re.Match[str]) -> str:
    return f"{float(number[0]):.2f}".rstrip("0").rstrip(".")
