"""The controller as portable C99 with doubles: ``adpg.h`` and ``adpg.c`` as they are, and the trees as constants.

In closed loop it decides as the rack's controller does.
"""

from __future__ import annotations

from pathlib import Path
from string import Template

from ...learned.trees_in_c import source
from ..observation import AdpgConfig
from ..tree import Trees

SOURCE = Path(__file__).with_name("portable")
FILES = ("adpg.h", "adpg.c")
TEMPLATES = ("example.c", "README.md")  # where the options are filled in


def exported(trees: Trees, config: AdpgConfig) -> dict[str, str]:
    """Name to text of the files of the export."""
    files = {name: (SOURCE / name).read_text(encoding="utf-8") for name in FILES}
    files["adpg_trees.c"] = source(trees, "adpg_trees", "adpg")
    for name in TEMPLATES:
        files[name] = Template((SOURCE / name).read_text(encoding="utf-8")).substitute(
            beta=repr(config.beta),
            target=repr(config.target),
            reference_rtt=repr(config.reference_rtt),
            start_rate=repr(config.start_rate),
            ramp=repr(config.ramp),
            trees=len(trees.leaves),
            depth=trees.feature.shape[1],
        )
    return files
