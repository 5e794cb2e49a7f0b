"""Which code decided: reported by the process that ran it, compared with the experiment's controller."""

from __future__ import annotations

import inspect
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from testbed.base.code import digest
from testbed.compiled.flows import CompiledFlows
from testbed.controller import RateController
from testbed.experiment.sharing import Sharing
from testbed.registry import Plugin


@dataclass(frozen=True)
class Identity:
    """A plugin class as a process has it in memory."""

    name: str
    form: str  # qualified name of the class
    file: str
    sha256: str  # of the file now
    runs_as: str = field(default="", compare=False)  # machine code or Python

    @classmethod
    def all_of(cls, controller: RateController) -> list[Identity]:
        """The classes that are behind a controller: one, or those that share the flows."""
        return [cls.of(part) for part in controller.parts] if isinstance(controller, Sharing) else [cls.of(controller)]

    @classmethod
    def of(cls, controller: RateController) -> Identity:
        """The class that is behind a controller."""
        form = controller.form if isinstance(controller, CompiledFlows) else type(controller)
        runs_as = controller.runs_as if isinstance(controller, CompiledFlows) else "Python"
        return replace(cls._of(form, getattr(form, "name", form.__name__)), runs_as=runs_as)

    @classmethod
    def wanted(cls, plugin: Plugin) -> Identity:
        """The class that the experiment names."""
        return cls._of(plugin.form, plugin.name)

    @classmethod
    def _of(cls, form: type, name: str) -> Identity:
        file = Path(inspect.getfile(form))
        return cls(name, form.__qualname__, str(file), digest(file))

    def as_dict(self) -> dict[str, str]:
        """For JSON."""
        return asdict(self)
