"""testbed: emulate a rack with real packets and try congestion control in it.

From Python, as from the command line (docs/reference/python.md)::

    run = testbed.run("incast-8", controller=MyCc, duration="10 ms", engine="virtual")
    run.summary.su, run.flows, run.figure("queue")

What each name needs is imported when it is first asked for, so that ``import testbed`` is quick; ``__init__.pyi`` has
their types.
"""

from typing import Any

__version__ = "0.1.0"

_HOMES = {
    "run": "testbed.runs.python",
    "load": "testbed.runs.python",
    "sweep": "testbed.runs.python",
    "compare": "testbed.runs.python",
    "Run": "testbed.results.opened",
    "Sweep": "testbed.runs.python",
    "Compared": "testbed.runs.python",
    "TestbedError": "testbed.errors",
    "BadInput": "testbed.errors",
    "PluginFailed": "testbed.errors",
}
__all__ = ["__version__", *_HOMES]  # noqa: PLE0604 - names all


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'testbed' has no attribute '{name}'")
    from importlib import import_module

    value = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
