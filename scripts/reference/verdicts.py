"""docs/reference/verdicts.md, of the code that judges."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterator
from types import ModuleType

from scripts.reference.markdown import REFERENCE, entries
from testbed.engines.lab.operator import verdict as lab
from testbed.fidelity import invariants
from testbed.fidelity import verdict as judged
from testbed.fidelity.invariants import CHECKS
from testbed.fidelity.verdict import LIMITS, Limit

UNKNOWN = "..."
PAGE = re.compile(r"docs/(\w+/)(\w+\.md)")
FILE = REFERENCE / "verdicts.md"

INTRODUCTION = """\
# Verdicts

*Written by `make schema` from `testbed/fidelity` and `testbed/engines/lab`; change it there.*

Every reason that a verdict can give, and what to do about it. The table of a run, `testbed watch`, the report and
`summary.json` (`verdict`) say *reason: how much; what to do*.
[What a verdict is worth](../explanation/fidelity.md#how-it-is-checked).

| verdict | exit code | means |
|---|---|---|
| `clean` | 0 | nothing but the experiment shaped the figures, within the limits below |
| `degraded` | 3 | the results are written, and are partly about this machine: do not publish them |
| `failed` | 1 | the run ended by an error, which is printed; what was measured until then is kept |

*In no figure: ...* beside a verdict is something before the window, of which no figure is taken.
"""
LATE = """
## The emulation fell behind, or what was asked cannot be judged

In brackets is the most that a clean run may have, then come why that much, and what to do on each engine that it can be
said of; on the kernel's, where nothing is said: raise --dilation, by as much as the verdict says. *(w)*: of the
measurement window.
"""
BROKEN = """
## Something else than the experiment shaped the result

Counters of both ends do not agree: behind each reason is what was compared. The verdict adds *the result is not the
experiment's*.
"""
OTHER = """
## Other reasons
"""


def text() -> str:
    """The page."""
    late = entries(map(_limit, LIMITS))
    broken = list(_broken([row for one in CHECKS for row in _check(one)]))
    others = entries((what, "", remedy) for what, remedy in (*_said(judged, "judge"), *_said(lab, "complete")))
    tables = (PAGE.sub(_link, "\n".join(one)) for one in (late, broken, others))
    return INTRODUCTION + "".join(f"{head}\n{one}" for head, one in zip((LATE, BROKEN, OTHER), tables, strict=True))


def _broken(rows: list[tuple[str, str, str]]) -> Iterator[str]:
    """A list for each remedy."""
    for remedy in dict.fromkeys(row[2] for row in rows):
        yield f"**What to do:** {remedy}.\n"
        yield from entries((what, "", compared) for what, compared, its in rows if its == remedy)


def _link(page: re.Match[str]) -> str:
    return f"[{page[2]}](../{page[1]}{page[2]})"


def _limit(one: Limit) -> tuple[str, str, str]:
    engines = {"kernel": one.remedy, "live": one.in_live or one.in_virtual, "virtual": one.in_virtual}
    engines |= {"fluid": one.in_fluid, "lab": one.in_lab}
    names: dict[str, list[str]] = {}
    for engine, remedy in engines.items():
        if remedy:
            names.setdefault(remedy, []).append(engine)
    remedies = ". ".join(f"*{', '.join(engines)}:* {remedy}" for remedy, engines in names.items())
    most = one.show(one.limit) if one.limit else "none"
    return f"`{one.what}`{' *(w)*' * one.by_part}", most, f"{one.why}. {remedies}"


def _check(check: Callable[..., object]) -> Iterator[tuple[str, str, str]]:
    """A row for each remedy, with all that is said with it."""
    compared = (inspect.getdoc(check) or "").partition("\n\n")[0].replace("\n", " ")
    said = list(dict.fromkeys(_said(invariants, check.__name__)))
    for remedy in dict.fromkeys(remedy for _, remedy in said):
        yield ", ".join(what for what, its in said if its == remedy), compared, remedy


def _said(module: ModuleType, function: str) -> Iterator[tuple[str, str]]:
    """What a function of a module can say, and the remedy, and what those that it calls there can."""
    code = ast.parse(inspect.getsource(getattr(module, function)))
    local = {ast.unparse(one.targets[0]): one.value for one in ast.walk(code) if isinstance(one, ast.Assign)}
    for call in (one for one in ast.walk(code) if isinstance(one, ast.Call)):
        given, called = {one.arg: one.value for one in call.keywords}, ast.unparse(call.func)
        if called == "Reason":
            what, remedy = (_text(module, given[key], local) for key in ("what", "remedy"))
            if remedy != UNKNOWN:  # else it repeats another
                yield f"`{what}`", remedy
        elif called == "_differences":
            whats = [_text(module, what, local) for what in call.args[:2]]
            yield from ((f"`{what}`", invariants.QUIET) for what in whats if what)
        elif called.startswith("_") and hasattr(module, called):
            yield from _said(module, called)


def _text(module: ModuleType, said: ast.expr, local: dict[str, ast.expr]) -> str:
    """A text of the source; what is only known in a run is `...`."""
    match said:
        case ast.Constant(value=str(value)):
            return value
        case ast.Name(id=name) if name in local:
            return _text(module, local[name], local)
        case ast.Name(id=name) if hasattr(module, name):
            return str(getattr(module, name))
        case ast.JoinedStr(values=parts):
            return "".join(_text(module, part, local) for part in parts)
    return UNKNOWN
