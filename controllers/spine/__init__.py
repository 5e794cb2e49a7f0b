"""SPINE, reconstructed: AIMD whose parameters a policy sets when a watcher asks for it (Tian et al., CoNEXT 2022).

The paper's code is not public but for its kernel executor, so all else - networks, inputs, training, weights - is of
this project and says nothing about the authors' system beyond its idea. `policies` has the shipped policy, with the
command, the seeds and the log of its training; docs/explanation/spine.md what is known and what came out.
"""

from __future__ import annotations

from .controller import Spine

__all__ = ["Spine"]
