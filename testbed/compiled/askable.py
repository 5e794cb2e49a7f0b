"""Controllers that C can ask about every flow by itself: decide.h."""

from __future__ import annotations

from abc import abstractmethod
from typing import NoReturn, TypeGuard

from testbed.base.arrays import Ints
from testbed.controller import RateController


class Askable(RateController):
    """A controller in batches that C may ask flow by flow instead, where it has addresses."""

    addresses: Ints | None  # of each flow's `struct decider`, shape (n,)

    @abstractmethod
    def fail(self) -> NoReturn:
        """Raise why one of the deciders has failed."""


def is_askable(controller: RateController) -> TypeGuard[Askable]:
    """Whether C can ask it, so that Python need not be."""
    return isinstance(controller, Askable) and controller.addresses is not None
