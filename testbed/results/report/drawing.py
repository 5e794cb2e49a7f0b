"""SVG in a few words. Colours are names of the page's CSS variables (`page.css`).

No style attributes: the live page's policy forbids them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape

Point = tuple[float, float]
Box = tuple[float, float, float, float]  # x, y, width, height


@dataclass
class Drawing:
    """An SVG element that grows."""

    width: float
    parts: list[str] = field(default_factory=list)

    def line(
        self, start: Point, end: Point, colour: str, *, width: float, title: str = "", opacity: float = 1,
        data: str = "",
    ) -> None:  # fmt: skip
        """A straight line; ``title`` is shown under the pointer; ``data`` is what `data` made."""
        at = f'x1="{start[0]:g}" y1="{start[1]:g}" x2="{end[0]:g}" y2="{end[1]:g}"'
        look = f'stroke="var(--{colour})" stroke-width="{width:g}" opacity="{opacity:g}"'
        self.parts.append(f"<line {at} {look}{data}>{_title(title)}</line>")

    def box(
        self, box: Box, fill: str = "", outline: str = "", *, width: float = 1, radius: float = 1, title: str = "",
        data: str = "",
    ) -> None:  # fmt: skip
        """A rectangle, filled or outlined or both."""
        x, y, wide, high = box
        at = f'x="{x:g}" y="{y:g}" width="{wide:g}" height="{high:g}" rx="{radius:g}"'
        stroke = f' stroke="var(--{outline})" stroke-width="{width:g}"' if outline else ""
        look = f'fill="{f"var(--{fill})" if fill else "none"}"{stroke}'
        self.parts.append(f"<rect {at} {look}{data}>{_title(title)}</rect>")

    def dot(self, at: Point, radius: float, fill: str, *, opacity: float = 1, title: str = "") -> None:
        """A filled circle."""
        where = f'cx="{at[0]:g}" cy="{at[1]:g}" r="{radius:g}"'
        self.parts.append(f'<circle {where} fill="var(--{fill})" opacity="{opacity:g}">{_title(title)}</circle>')

    def text(
        self, at: Point, text: str, colour: str = "ink", *, anchor: str = "start", bold: bool = False,
        halo: bool = False,
    ) -> None:  # fmt: skip
        """One line of text; ``at`` is its baseline; a halo keeps what is behind it away from the letters."""
        look = f'fill="var(--{colour})"' + (' font-weight="600"' if bold else "")
        look += ' stroke="var(--raised)" stroke-width="5" paint-order="stroke" stroke-linejoin="round"' if halo else ""
        where = f'x="{at[0]:g}" y="{at[1]:g}" text-anchor="{anchor}"'
        self.parts.append(f"<text {where} {look}>{escape(text)}</text>")

    def svg(self, height: float, label: str, text_size: float = 13) -> str:
        """The element; ``label`` is for those who cannot see it."""
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width:g} {height:g}" role="img" '
            f'aria-label="{escape(label)}" font-family="system-ui, sans-serif" font-size="{text_size:g}">'
            f"{''.join(self.parts)}</svg>"
        )


def data(**values: str) -> str:
    """Attributes by which a script finds a part: ``data(port="s1-eth2")``."""
    return "".join(f' data-{name}="{escape(value)}"' for name, value in values.items())


def _title(text: str) -> str:
    return f"<title>{escape(text)}</title>" if text else ""
