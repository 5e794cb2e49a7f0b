"""One run in a sandbox of its own, followed from outside."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from testbed.capture.files import Capture
from testbed.engines.engine import Stoppable
from testbed.engines.kernel.faults.fault import NO_FAULT, Fault
from testbed.engines.kernel.sandbox import Sandbox
from testbed.engines.messages import followed
from testbed.experiment.resolved import Resolved
from testbed.live.observers import Observer
from testbed.results import arrow
from testbed.results.record import RunRecord


def follow(
    resolved: Resolved,
    netem: bool,
    observer: Observer,
    fault: Fault = NO_FAULT,
    *,
    running: list[Stoppable] | None = None,
    name: str = "",
    captures: Sequence[Capture] = (),
) -> RunRecord:
    """One run in a sandbox of its own, which is in ``running`` meanwhile; ``name`` identifies it to the observer."""
    # Before the sandbox is forked, so that the next one has them as well.
    import testbed.engines.kernel.emulation  # noqa: F401

    arrow.load()
    work = partial(_work, resolved, netem, fault, captures=captures, name=name)
    sandbox = Sandbox(work, without=observer.descriptors)
    return followed(sandbox, observer, [] if running is None else running, name)


def _work(  # type: ignore[no-untyped-def]
    resolved: Resolved, netem: bool, fault: Fault, connection, *, captures: Sequence[Capture], name: str
) -> None:
    from testbed.engines.kernel.emulation import emulate  # which imports mininet: other commands do without

    emulate(resolved, netem, connection, fault, captures=captures, name=name)
